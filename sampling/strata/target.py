"""What is asked of a plan, whatever the method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from sampling.errors import OptionError
from sampling.text import Wording

#: Below this a bound is finer than the rounding of the sums it is made of.
LEAST_EPSILON = 1e-9
#: More than any profile has; a double still counts them.
MOST_LAUNCHES = 2**53
#: Beyond it a quantile is of tails that nobody has seen.
MOST_CONFIDENCE = 0.999999
_BELOW_ONE = math.nextafter(1, 0)


def normal_quantile(confidence: float) -> float:
    """Return z of a two-sided interval: 1.959964 at 0.95 (the papers print 1.96)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / 2)


@dataclass(frozen=True)
class Target:
    """The promise a plan has to keep; all fractions."""

    #: Bound on the relative error of the total, and the share of draws that must meet it.
    epsilon: float = 0.05
    confidence: float = 0.95
    #: Of the method joint alone: the bound of every kernel group's own total (None: none), and the least
    #: samples of a stratum.
    group_epsilon: float | None = 0.25
    min_samples: int = 1
    #: How simulated cycles per profiled nanosecond are declared to vary, as coefficients of variation: within
    #: a kernel, and between kernels.
    noise_floor: float = 0.05
    kernel_spread: float = 0.3
    #: Whether joint may pool small kernel groups.
    pool: bool = True

    def __post_init__(self) -> None:
        between = "a fraction between 0 and 1"
        limits = {
            "epsilon": (LEAST_EPSILON, _BELOW_ONE, between),
            "group_epsilon": (LEAST_EPSILON, _BELOW_ONE, between),
            "confidence": (1e-9, MOST_CONFIDENCE, between),
            "min_samples": (1, MOST_LAUNCHES, "1 to 2^53"),
            "noise_floor": (0, _BELOW_ONE, "a fraction from 0, below 1"),
            "kernel_spread": (0, 10, "a fraction from 0 to 10"),
        }
        for name, (least, most, meaning) in limits.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                hint = f"; did you mean {value / 100:g}?" if meaning == between and 1 < value < 100 else ""
                said = f"{least:g} or more" if 0 < value < least else meaning
                said = f"{most!r} at most" if most < value < 1 else said
                raise OptionError(Wording(f"`{name}` is {said}, not {{:.15g}}{hint}", value))

    @cached_property
    def z(self) -> float:
        """The two-sided normal quantile of the confidence."""
        return normal_quantile(self.confidence)
