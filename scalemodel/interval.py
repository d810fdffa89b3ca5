"""How far a prediction can be off: calibrated on the public benchmarks, at three levels.

|ln(actual / predicted)| <= q k with k = log2(T/L), q taken from the errors of the public benchmarks at the
three levels; with three or more models from what predicting a model from those before it gets wrong. This
project's own: the paper gives no interval (docs/methods.md, 10 Scale model).

The constants were set by the errors of the public benchmarks of GPU scale-model simulation: from 8 and 16 SMs
to 32, 64 and 128, and from 4 and 8 chiplets to 16. What the intervals hold is counted over 16 of those
benchmarks, which the tests count again. Programs whose efficiency changes more from one model to the next
than any of these are beyond what q was taken from: there the interval reaches from nothing more lost, or
gained, to twice what the trend loses or gains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scalemodel.errors import OptionError
from scalemodel.measurements import Scaling

# Back-casts agree by chance too: nothing below 3 % is taken from them.
_LEAST_BACK_CAST = 0.03
_CLIFF_BETWEEN_MODELS = 2.0

_SIZES: Mapping[Scaling, tuple[int, ...]] = {
    Scaling.STRONG: (8, 16, 32, 64, 128),
    Scaling.WEAK: (8, 16, 32, 64, 128),
    Scaling.CHIPLET: (4, 8, 16),
}
_MOST_MODELS = 3
# C of the benchmarks' models for a doubling: from that of bfs up, under chiplets to that of bs.
_LEAST_CORRECTION = 0.886
_MOST_CORRECTION = {Scaling.STRONG: 1.02, Scaling.WEAK: 1.02, Scaling.CHIPLET: 1.31}
#: Benchmarks that were counted; their targets from two models, and from 8, 16 and 32 SMs.
BENCHMARKS, TARGETS, TARGETS_OF_THREE = 16, 44, 28
# At each of the levels.
_HELD = {"additive": (42, 43, 44), "published": (41, 43, 44), "equations": (37, 40, 43)}
_HELD_OF_THREE = {"additive": (24, 25, 28), "published": (25, 25, 28), "equations": (18, 21, 26)}


class Bounds(StrEnum):
    """What ``low`` and ``high`` of a prediction are.

    ``interval``: set by the errors of the public benchmarks. ``interval by back-cast``: set by how well each
    model is predicted by those before it. ``interval not calibrated``: twice the first, as a cliff lies
    between the models. ``interval measured``: of predictions launch by launch, of no level. ``bracket``: what
    a cliff gains at least and at most, of no level. ``none``: neither.
    """

    SIMULATED = "as simulated"
    INTERVAL = "interval"
    BACK_CAST = "interval by back-cast"
    NOT_CALIBRATED = "interval not calibrated"
    MEASURED = "interval measured"
    BRACKET = "bracket"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of one level: q of two models, and F, the multiple of the back-cast of three or more."""

    confidence: float
    per_doubling: float
    per_back_cast: float


LEVELS = (Calibration(0.80, 0.037, 1.09), Calibration(0.90, 0.065, 1.37), Calibration(0.95, 0.12, 2.5))
DEFAULT_CONFIDENCE = 0.9


def calibration(confidence: float) -> Calibration:
    """Return the constants of a level; raise OptionError if there are none for it."""
    for level in LEVELS:
        if math.isclose(confidence, level.confidence):
            return level
        if math.isclose(confidence, 100 * level.confidence):
            what = f"the confidence is a fraction, not {confidence:g}"
            raise OptionError(what, remedy=f"give {level.confidence:g}")
    what = f"the intervals were calibrated at 0.8, 0.9 and 0.95, not at {confidence:g}"
    raise OptionError(what, remedy="give one of them")


def calibrated_up_to(scaling: Scaling, models: Sequence[int]) -> int:
    """Return the largest target that the public benchmarks were predicted at from these models; else 0."""
    sizes = _SIZES[scaling]
    is_calibrated = len(models) <= _MOST_MODELS and tuple(models) == sizes[: len(models)]
    return sizes[-1] if is_calibrated else 0


def beyond_benchmarks(scaling: Scaling, correction: float) -> str | None:
    """Return how IPC of an SM changes where it does more than any benchmark's; None where it does not.

    Parameters
    ----------
    correction : C of the models, for a doubling.
    """
    most = _MOST_CORRECTION[scaling]
    if _LEAST_CORRECTION <= correction <= most:
        return None
    verb, limit = ("falls", 1 - _LEAST_CORRECTION) if correction < 1 else ("rises", most - 1)
    change = abs(correction - 1)
    by = f"{100 * change:.0f} %" if change < 10 else "more than 1,000 %"
    one = "a chiplet" if scaling is Scaling.CHIPLET else "an SM"
    return f"IPC of {one} {verb} by {by} a doubling, the benchmarks' by at most {100 * limit:.0f} %"


def targets_held(rule: str, confidence: float, *, of_three: bool) -> int:
    """Return how many lie in a rule's intervals of a level: of `TARGETS_OF_THREE`, else of `TARGETS`."""
    return (_HELD_OF_THREE if of_three else _HELD)[rule][LEVELS.index(calibration(confidence))]


def half_width(
    level: Calibration, doublings: float, back_cast: float | None, *, cliff_between_models: bool
) -> float:
    """Return the half-width in ln IPC, infinite for none, so many doublings above the largest model.

    Parameters
    ----------
    back_cast : the rule's, where there are three or more models; infinite where it has failed.
    """
    if cliff_between_models:
        return _CLIFF_BETWEEN_MODELS * level.per_doubling * doublings
    if back_cast is None:
        return level.per_doubling * doublings
    return level.per_back_cast * doublings * max(_LEAST_BACK_CAST, back_cast)
