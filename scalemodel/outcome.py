"""What a prediction gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from scalemodel.classification import Classification
from scalemodel.cliff import CurveStep
from scalemodel.findings import Finding


class Region(StrEnum):
    """Where a target lies on the miss-rate curve. [GPU scale-model simulation, section V-C]"""

    LARGEST = "largest model"
    TREND = "trend"
    BETWEEN = "between sizes of a cliff"
    AT = "at the cliff"
    BEYOND = "beyond the cliff"


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
    """

    target: int
    method: str
    ipc: float | None
    low: float | None
    high: float | None
    region: Region
    note: str


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
    noted_steps : the steps of the curve on the way that are cliffs or near ones.
    correction : C [Eq. 1] of the smallest and the largest model.
    back_cast : rule -> largest |ln(actual / predicted)| of a model from the two before, None where one has no
        prediction; empty with two models.
    classification : linear, sub-linear or super-linear.
    findings : what concerns the whole.
    """

    name: str
    models: tuple[int, ...]
    confidence: float
    predictions: tuple[Prediction, ...]
    cliff: CurveStep | None
    noted_steps: tuple[CurveStep, ...]
    correction: float
    back_cast: Mapping[str, float | None]
    classification: Classification
    findings: tuple[Finding, ...]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that cast doubt on the predictions."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")
