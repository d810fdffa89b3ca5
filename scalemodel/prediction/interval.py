"""How far a prediction can be off: calibrated on the public benchmarks, at three levels.

|ln(actual / predicted)| <= q k with k = log2(T/L), q taken from the errors of the public benchmarks at the
three levels; with three or more models from what predicting a model from those before it gets wrong. This
project's own: the paper gives no interval (docs/methods.md, 10 Scale model).

The constants were set by the errors of the public benchmarks of GPU scale-model simulation: from 8 and 16 SMs
to 32, 64 and 128, and from 4 and 8 chiplets to 16. What the intervals hold is counted over 16 of those
benchmarks, which the tests count again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalemodel.errors import OptionError
from scalemodel.measurements import Scaling
from scalemodel.prediction.cliff import CurveStep
from scalemodel.prediction.outcome import Bounds

# Back-casts agree by chance too: nothing below 3 % is taken from them.
_LEAST_BACK_CAST = 0.03
_CLIFF_BETWEEN_MODELS = 2.0

_SIZES: Mapping[Scaling, tuple[int, ...]] = {
    Scaling.STRONG: (8, 16, 32, 64, 128),
    Scaling.WEAK: (8, 16, 32, 64, 128),
    Scaling.CHIPLET: (4, 8, 16),
}
_MOST_MODELS = 3
BENCHMARKS = 16
TARGETS = 44
"""Of the benchmarks counted, from two models."""
TARGETS_OF_THREE = 28
"""From 8, 16 and 32 SMs."""
# At each of the levels.
_HELD = {"additive": (42, 43, 44), "published": (41, 43, 44), "equations": (37, 40, 43)}
_HELD_OF_THREE = {"additive": (24, 25, 28), "published": (25, 25, 28), "equations": (18, 21, 26)}


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of one level.

    Attributes
    ----------
    confidence : the level, a fraction.
    per_doubling : q, of |ln(actual / predicted)| with two models.
    per_back_cast : F, the multiple of the back-cast with three or more.
    """

    confidence: float
    per_doubling: float
    per_back_cast: float


LEVELS = (Calibration(0.80, 0.037, 1.09), Calibration(0.90, 0.065, 1.37), Calibration(0.95, 0.12, 2.5))
DEFAULT_CONFIDENCE = 0.9


def calibration(confidence: float) -> Calibration:
    """Return the constants of a level.

    Raises
    ------
    OptionError : there are none for it.
    """
    for level in LEVELS:
        if math.isclose(confidence, level.confidence):
            return level
        if math.isclose(confidence, 100 * level.confidence):
            raise OptionError(
                f"the confidence is a fraction, not {confidence:g}", remedy=f"give {level.confidence:g}"
            )
    raise OptionError(
        f"the intervals were calibrated at 0.8, 0.9 and 0.95, not at {confidence:g}",
        remedy="give one of them",
    )


def calibrated_up_to(scaling: Scaling, models: Sequence[int]) -> int:
    """Return the largest target that the public benchmarks were predicted at from these models; else 0.

    They were from the two smallest sizes and from the three smallest.
    """
    sizes = _SIZES[scaling]
    is_calibrated = len(models) <= _MOST_MODELS and tuple(models) == sizes[: len(models)]
    return sizes[-1] if is_calibrated else 0


def targets_held(rule: str, confidence: float, *, of_three: bool) -> int:
    """Return how many of the public targets lie in a rule's intervals of a level.

    Parameters
    ----------
    of_three : of `TARGETS_OF_THREE`, from the back-cast of three models; else of `TARGETS`, from two.
    """
    return (_HELD_OF_THREE if of_three else _HELD)[rule][LEVELS.index(calibration(confidence))]


@dataclass(frozen=True, slots=True)
class Spread:
    """What the half-width of a rule's intervals follows from.

    Attributes
    ----------
    level : the constants.
    back_cast : the rule's, where there are three or more models; infinite where it has failed.
    cliff_between_models : whether a cliff lies between them: twice as wide, from the two models' constant.
    calibrated_up_to : the largest target that such intervals were calibrated on, 0 where none was.
    """

    level: Calibration
    back_cast: float | None = None
    cliff_between_models: bool = False
    calibrated_up_to: int = 0

    @property
    def bounds(self) -> Bounds:
        """What low and high are, where there is nothing but the half-width to them."""
        if self.cliff_between_models:
            return Bounds.NOT_CALIBRATED
        return Bounds.INTERVAL if self.back_cast is None else Bounds.BACK_CAST

    def half_width(self, doublings: float) -> float:
        """Return the half-width in ln IPC, infinite for none, so many doublings above the largest model."""
        if self.cliff_between_models:
            return _CLIFF_BETWEEN_MODELS * self.level.per_doubling * doublings
        if self.back_cast is None:
            return self.level.per_doubling * doublings
        return self.level.per_back_cast * doublings * max(_LEAST_BACK_CAST, self.back_cast)


def gains_of_cliff(step: CurveStep, f_mem: float) -> tuple[float, float]:
    """Return the least and the most that IPC gains at a cliff: 1/(1 - f (1 - r)) and 1/(1 - f).

    The stalls go away with the misses that go, or altogether [Eq. 3], as where the cache's bandwidth was
    what the warps waited for.
    """
    return 1 / (1 - f_mem * (1 - step.left)), 1 / (1 - f_mem)


def most_gain_unknown(step: CurveStep, peak_ratio: float | None) -> float | None:
    """Return the most that IPC can gain at a cliff of unknown f_mem; None where nothing bounds it.

    Parameters
    ----------
    peak_ratio : peak IPC over the trend's, where the peak is known.
    """
    bounds = [bound for bound in (step.ratio, peak_ratio) if bound is not None]
    # A trend above the peak leaves nothing to gain.
    return max(1.0, min(bounds)) if bounds else None
