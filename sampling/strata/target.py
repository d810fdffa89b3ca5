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
#: Beyond this a double cannot tell the normal quantile from infinity.
MOST_CONFIDENCE = 1 - 1e-12
#: Below this the quantile is as good as 0, and any bound with it.
LEAST_CONFIDENCE = 1e-9
#: Beyond this spread between kernels a sample of them says nothing of the others.
MOST_KERNEL_SPREAD = 10.0
# Student's t is the normal quantile to five digits from here on.
_AS_GOOD_AS_NORMAL = 1e5
#: More than any profile has; a double still counts them.
MOST_LAUNCHES = 2**53


def normal_quantile(confidence: float) -> float:
    """Return z of a two-sided interval: 1.959964 at 0.95 (the papers print 1.96)."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / 2)


def student_quantile(confidence: float, freedom: float) -> float:
    """Return t of a two-sided interval with Student's distribution; importing SciPy takes longer than a plan.

    With t = sqrt(nu) tan(a) the share within t is 2 c times the integral of cos(x)^(nu - 1) from 0 to a;
    c = Gamma((nu + 1)/2) / (sqrt(pi) Gamma(nu/2)): by Gauss and Legendre, the angle by bisection.
    """
    if freedom > _AS_GOOD_AS_NORMAL:
        return normal_quantile(confidence)
    # A shell completes the names of options without numpy.
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(48)
    c = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        share = c * angle * float(weights @ np.cos(angle * (nodes + 1) / 2) ** (freedom - 1))
        low, high = (angle, high) if share < confidence else (low, angle)
    return math.sqrt(freedom) * math.tan(high)


@dataclass(frozen=True)
class Target:
    """The promise a plan has to keep; all fractions.

    Attributes
    ----------
    epsilon : bound on the relative error of the total.
    confidence : share of draws that must meet it.
    group_epsilon, min_samples, pool : of the method joint alone: the bound of every kernel group's own total
        (None: none), the least samples of a stratum, and whether small kernel groups may be pooled.
    noise_floor, kernel_spread : how simulated cycles per profiled nanosecond are declared to vary, as
        coefficients of variation: within a kernel, and between kernels.
    """

    epsilon: float = 0.05
    confidence: float = 0.95
    group_epsilon: float | None = 0.25
    min_samples: int = 1
    noise_floor: float = 0.05
    kernel_spread: float = 0.3
    pool: bool = True

    def __post_init__(self) -> None:
        # A confidence of 1 is not meant as 1 %, so that is not suggested.
        fractions = (
            ("epsilon", self.epsilon, 1, LEAST_EPSILON),
            ("group_epsilon", self.group_epsilon, 1, LEAST_EPSILON),
            ("confidence", self.confidence, 2, LEAST_CONFIDENCE),
        )
        for name, value, least_per_cent, least in fractions:
            if value is None:
                continue
            if not 0 < value < 1:
                hint = f"; did you mean {value / 100:g}?" if least_per_cent <= value < 100 else ""
                raise OptionError(Wording(f"`{name}` is a fraction between 0 and 1, not {value:g}{hint}"))
            if value < least:
                raise OptionError(Wording(f"`{name}` is at least {least:g}, not {value:g}"))
        if self.confidence > MOST_CONFIDENCE:
            raise OptionError(Wording("`confidence` is at most 1 - 1e-12, not {:.17g}", self.confidence))
        if not 1 <= self.min_samples <= MOST_LAUNCHES:
            raise OptionError(Wording("`min_samples` is 1 to 2^53, not {}", self.min_samples))
        if not 0 <= self.noise_floor < 1:
            raise OptionError(
                Wording("`noise_floor` is a fraction from 0, below 1, not {:g}", self.noise_floor)
            )
        if not 0 <= self.kernel_spread <= MOST_KERNEL_SPREAD:
            said = Wording(
                "`kernel_spread` is a fraction from 0 to {:g}, not {:g}",
                MOST_KERNEL_SPREAD,
                self.kernel_spread,
            )
            raise OptionError(said)

    @cached_property
    def z(self) -> float:
        """The two-sided normal quantile of the confidence."""
        return normal_quantile(self.confidence)
