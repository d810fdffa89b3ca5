"""What the intervals were calibrated on: which sizes, and how many of the public targets they hold.

The constants of `interval` were set by the errors of the public benchmarks of GPU scale-model simulation:
from 8 and 16 SMs to 32, 64 and 128, and from 4 and 8 chiplets to 16. The counts here are of 16 of those
benchmarks, the ones that the tests count again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scalemodel.measurements import Scaling
from scalemodel.prediction.interval import LEVELS, calibration

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
# At each of the levels of `interval`.
_HELD = {"additive": (42, 43, 44), "published": (41, 43, 44), "equations": (37, 40, 43)}
_HELD_OF_THREE = {"additive": (24, 25, 28), "published": (25, 25, 28), "equations": (18, 21, 26)}


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
