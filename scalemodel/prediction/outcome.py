"""What a prediction gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from scalemodel.findings import Finding
from scalemodel.prediction.classification import Classification
from scalemodel.prediction.cliff import CurveStep


class Region(StrEnum):
    """Where a target lies on the miss-rate curve. [GPU scale-model simulation, section V-C]"""

    LARGEST = "largest model"
    TREND = "trend"
    BETWEEN = "between sizes of a cliff"
    AT = "at the cliff"
    BEYOND = "beyond the cliff"


class Bounds(StrEnum):
    """What ``low`` and ``high`` of a prediction are.

    ``interval``: set by the errors of the public benchmarks. ``interval by back-cast``: set by how well each
    model is predicted by those before it. ``interval not calibrated``: twice the first, as a cliff lies
    between the models. ``bracket``: what a cliff gains at least and at most, of no level. ``none``: neither.
    """

    SIMULATED = "as simulated"
    INTERVAL = "interval"
    BACK_CAST = "interval by back-cast"
    NOT_CALIBRATED = "interval not calibrated"
    BRACKET = "bracket"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one rule says of one target.

    Attributes
    ----------
    target : the size.
    method : the rule's name.
    ipc : None where there is no point.
    low, high : the interval, or the bracket where the note says so. Low alone: open at the top; neither:
        there is none.
    region : where the target lies.
    note : what is to be said of it, empty where nothing is.
    bounds : what low and high are.
    is_beyond : whether the models or the target are others than the intervals were calibrated on.
    """

    target: int
    method: str
    ipc: float | None
    low: float | None
    high: float | None
    region: Region
    note: str
    bounds: Bounds = Bounds.NONE
    is_beyond: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """All predictions for one benchmark.

    Attributes
    ----------
    name : the benchmark's.
    models : sizes of the scale models that were used, ascending.
    confidence : of the intervals.
    predictions : target by target in the order asked, the rules in theirs.
    cliff : the one applied, the first above the largest model and on the way to the targets; None where there
        is none.
    correction : C [Eq. 1] of the smallest and the largest model; 1, as the rules use it, where a cliff lies
        between the models.
    back_cast : rule -> largest |ln(actual / predicted)| of a model from the two before, None where one has no
        prediction; empty with two models, and where a cliff lies between them: it is not used there.
    classification : linear, sub-linear or super-linear.
    findings : what concerns the whole.
    """

    name: str
    models: tuple[int, ...]
    confidence: float
    predictions: tuple[Prediction, ...]
    cliff: CurveStep | None
    correction: float
    back_cast: Mapping[str, float | None]
    classification: Classification
    findings: tuple[Finding, ...]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that cast doubt on the predictions."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")
