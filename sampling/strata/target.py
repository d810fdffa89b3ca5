"""What is asked of a plan, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from sampling.errors import OptionError

#: Below this a bound is finer than the rounding of the sums it is made of.
LEAST_EPSILON = 1e-9
#: Beyond this a double cannot tell the normal quantile from infinity.
MOST_CONFIDENCE = 1 - 1e-12
#: Below this the quantile is as good as 0, and any bound with it.
LEAST_CONFIDENCE = 1e-9
#: More than any profile has; a double still counts them.
MOST_LAUNCHES = 2**53


def normal_quantile(confidence: float) -> float:
    """Return z of a two-sided interval: 1.959964 at 0.95 (the papers print 1.96)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / 2)


@dataclass(frozen=True)
class Target:
    """The promise a plan has to keep; all fractions.

    Attributes
    ----------
    epsilon : bound on the relative error of the total.
    confidence : share of draws that must meet it.
    with_replacement : draw with replacement, as the papers' derivations assume.
    group_epsilon, min_samples, noise_floor : of the method joint alone: the bound of every kernel group's own
        total (None: none), the least samples of a stratum, and the spread, as a fraction of its mean, that
        a stratum has in simulated time beyond its spread in profiled time.
    """

    epsilon: float = 0.05
    confidence: float = 0.95
    with_replacement: bool = False
    group_epsilon: float | None = 0.25
    min_samples: int = 2
    noise_floor: float = 0.05

    def __post_init__(self) -> None:
        _check_fraction("--epsilon", self.epsilon, 1)
        if self.group_epsilon is not None:
            _check_fraction("--group-epsilon", self.group_epsilon, 1)
        # A confidence of 1 is not meant as 1 %, so that is not suggested.
        _check_fraction("--confidence", self.confidence, 2)
        if self.confidence > MOST_CONFIDENCE:
            raise OptionError(f"--confidence is at most 1 - 1e-12, not {self.confidence:.17g}")
        for flag, value in (("--epsilon", self.epsilon), ("--group-epsilon", self.group_epsilon)):
            if value is not None and value < LEAST_EPSILON:
                raise OptionError(f"{flag} is at least {LEAST_EPSILON:g}, not {value:g}")
        if self.confidence < LEAST_CONFIDENCE:
            raise OptionError(f"--confidence is at least {LEAST_CONFIDENCE:g}, not {self.confidence:g}")
        if not 1 <= self.min_samples <= MOST_LAUNCHES:
            raise OptionError(f"--min-samples is 1 to 2^53, not {self.min_samples}")
        if not 0 <= self.noise_floor < 1:
            raise OptionError(f"--noise-floor is a fraction from 0, below 1, not {self.noise_floor:g}")

    @cached_property
    def z(self) -> float:
        """The two-sided normal quantile of the confidence."""
        return normal_quantile(self.confidence)


def _check_fraction(flag: str, value: float, least_per_cent: float) -> None:
    if 0 < value < 1:
        return
    hint = f"; did you mean {value / 100:g}?" if least_per_cent <= value < 100 else ""
    raise OptionError(f"{flag} is a fraction between 0 and 1, not {value:g}{hint}")
