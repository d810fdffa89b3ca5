"""What is asked of a plan, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

#: Below this a bound is finer than the rounding of the sums it is made of.
LEAST_EPSILON = 1e-9
#: More than any profile has; a double still counts them.
MOST_LAUNCHES = 2**53
#: Beyond it a quantile is of tails that nobody has seen.
MOST_CONFIDENCE = 0.999999


def normal_quantile(confidence: float) -> float:
    """Return z of a two-sided interval: 1.959964 at 0.95 (the papers print 1.96)."""
    # Not at the head: a request is made before anything is computed.
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - (1 - confidence) / 2)


@dataclass(frozen=True)
class Target:
    """The promise a plan has to keep; all fractions. `PlanRequest` has it checked, and its defaults."""

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

    @cached_property
    def z(self) -> float:
        """The two-sided normal quantile of the confidence."""
        return normal_quantile(self.confidence)
