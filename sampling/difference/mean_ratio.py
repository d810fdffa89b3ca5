"""The ratio of two mean durations with its interval. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.text import Wording

#: With fewer launches on a side a kernel has no interval.
LEAST_LAUNCHES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Durations:
    """The durations of some kernels in one recording; all (k,).

    Attributes
    ----------
    launches : 0 for a kernel that the recording lacks.
    total_ns : exact.
    variance : the population variance of durations over the square of their mean; 0 where that is 0.
    """

    launches: IntArray
    total_ns: IntArray
    variance: FloatArray

    @property
    def mean_ns(self) -> FloatArray:
        """(k,) NaN for a kernel without launches."""
        mean = np.full(len(self.launches), np.nan)
        np.divide(self.total_ns, self.launches, out=mean, where=self.launches > 0)
        return mean

    @property
    def share(self) -> FloatArray:
        """(k,) of the total duration; 0 where that is 0."""
        return np.asarray(self.total_ns / max(int(self.total_ns.sum()), 1))

    def ordered(self, order: IntArray) -> Durations:
        """Return the same kernels in another order, (k,) their indices."""
        return Durations(self.launches[order], self.total_ns[order], self.variance[order])


@dataclass(frozen=True, slots=True, eq=False)
class MeanRatios:
    """Mean durations after over before; all (k,), NaN where there is none.

    Attributes
    ----------
    low, high : the ends of the interval.
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray

    def ordered(self, order: IntArray) -> MeanRatios:
        """Return those of the same kernels in another order, (k,) their indices."""
        return MeanRatios(self.ratio[order], self.low[order], self.high[order])


def mean_ratios(before: Durations, after: Durations, confidence: float) -> MeanRatios:
    """Return the ratio of each kernel's mean durations, with an interval where both sides tell a spread.

    The interval is of the logarithm of the ratio, by the delta method and Welch's degrees of freedom; the
    larger of the two relative variances counts for both sides, because a side of few launches may by chance
    show none of the slow ones. It takes launches as independent of each other.

    Raises
    ------
    OptionError : the confidence is no fraction between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise OptionError(Wording("`confidence` is a fraction between 0 and 1, not {:g}", confidence))
    from scipy.special import stdtrit

    ratio = np.full(len(before.launches), np.nan)
    np.divide(after.mean_ns, before.mean_ns, out=ratio, where=before.mean_ns > 0)
    fewest = np.minimum(before.launches, after.launches)
    known = np.flatnonzero((fewest >= LEAST_LAUNCHES) & (ratio > 0))
    sizes = [side.launches[known].astype(np.float64) for side in (before, after)]
    samples = [side.variance[known] * n / (n - 1) for side, n in zip((before, after), sizes, strict=True)]
    larger = np.maximum(*samples)
    # Without any spread nothing tells how far the means may be off: no interval, never +- 0.
    known, larger, sizes = known[larger > 0], larger[larger > 0], [n[larger > 0] for n in sizes]
    parts = [larger / n for n in sizes]
    variance = parts[0] + parts[1]
    freedom = variance**2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    reach = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
    low, high = np.full((2, len(ratio)), np.nan)
    low[known], high[known] = ratio[known] * np.exp(-reach), ratio[known] * np.exp(reach)
    return MeanRatios(ratio, low, high)
