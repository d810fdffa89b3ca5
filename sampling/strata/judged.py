"""How far the errors of a design's draws really reach: it is drawn thousands of times.

The normal quantile fails where one stratum carries most of the variance with one or two samples and a skewed
spread: the error of a draw is then far from normal. So the strata of most variance are drawn, and what all
others add, small and of many, is taken as normal, as is what simulated time varies beyond durations.
(docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from statistics import NormalDist

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Strata
from sampling.strata.variance import total_variance

#: How often a design is drawn.
DRAWS = 4000
#: So many strata are drawn, those of most variance.
MOST_DRAWN = 64
#: Of draws with noise, which is normal by assumption, so many fewer may be within a limit: of 4,000 draws a
#: share of 0.95 is off by 0.0034 (one standard error).
NOISE_SLACK = 0.005
# The mean of more launches than this is as good as normal; of a larger stratum no launch is drawn twice.
_MANY = 256
_LARGE = 1 << 20
_MOST_NUMBERS_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class Judged:
    """The errors of repeated draws, in ns of the estimated total.

    Attributes
    ----------
    group : (s,) of the strata.
    drawn : (k,) the strata that are drawn, ascending.
    off_ns : (draws, k) the error of each one's total.
    rest : (s,) variance of the profile's time in strata that are not drawn; 0 in those that are.
    noise, own_noise : (s,) what the declared spread of simulated time adds to the variance, in the whole
        total and in the group's own.
    scores : (draws,) standard normal numbers, evenly spread and shuffled.
    """

    group: IntArray
    drawn: IntArray
    off_ns: FloatArray
    rest: FloatArray
    noise: FloatArray
    own_noise: FloatArray
    scores: FloatArray = field(repr=False)

    def errors_ns(self, *, with_noise: bool = False, group: int | None = None) -> FloatArray:
        """Return (draws,) the absolute errors of the total, or of one group's own."""
        here: BoolArray = np.full(len(self.group), True) if group is None else self.group == group
        noise = (self.noise if group is None else self.own_noise)[here].sum() if with_noise else 0.0
        deviation_ns = np.sqrt(self.rest[here].sum() + noise)
        return np.asarray(np.abs(self.off_ns[:, here[self.drawn]].sum(axis=1) + deviation_ns * self.scores))

    def share_within(self, limit_ns: float, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return the share of draws whose error is at most the limit, but for rounding."""
        errors_ns = self.errors_ns(with_noise=with_noise, group=group)
        return float((errors_ns <= limit_ns * (1 + 1e-12)).mean())

    def reach_ns(self, confidence: float, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return the least error that this share of the draws does not exceed; see `NOISE_SLACK`."""
        errors_ns = self.errors_ns(with_noise=with_noise, group=group)
        confidence -= NOISE_SLACK if with_noise else 0
        last = min(int(np.ceil(confidence * len(errors_ns) * (1 - 1e-12))), len(errors_ns)) - 1
        return float(np.partition(errors_ns, last)[last])


def judged(
    counts: DurationCounts, strata: Strata, cycles: CycleSpread | None, rng: np.random.Generator
) -> Judged:
    """Draw a design so often.

    Parameters
    ----------
    cycles : how simulated time is declared to vary; None: it does not.
    """
    variance = total_variance(strata)
    noise, own_noise = np.zeros((2, len(strata)))
    if cycles is not None:
        noise = np.maximum(total_variance(strata, cycles.of(strata)) - variance, 0)
        own_noise = np.maximum(total_variance(strata, cycles.of_own_totals().of(strata)) - variance, 0)
    side = np.minimum(strata.samples, strata.launches - strata.samples)
    drawn = np.flatnonzero((variance > 0) & (side <= _MANY))
    drawn = np.sort(drawn[np.argsort(-variance[drawn], kind="stable")[:MOST_DRAWN]])
    off_ns = np.zeros((DRAWS, len(drawn)))
    for column, stratum in enumerate(drawn.tolist()):
        off_ns[:, column] = _errors_ns(counts, strata, stratum, int(side[stratum]), rng)
    rest = variance.copy()
    rest[drawn] = 0
    return Judged(strata.group, drawn, off_ns, rest, noise, own_noise, rng.permutation(_normal_scores()))


def _errors_ns(
    counts: DurationCounts, strata: Strata, stratum: int, side: int, rng: np.random.Generator
) -> FloatArray:
    """Return (draws,) the errors of a stratum's estimated total, N/m sum (x - mu) over the launches drawn.

    Where fewer are left than drawn, it is minus the sum over those.
    """
    pairs = slice(int(strata.start[stratum]), int(strata.stop[stratum]))
    launches, count = int(strata.launches[stratum]), counts.count[pairs]
    weight = launches / int(strata.samples[stratum]) * (1 if side == strata.samples[stratum] else -1)
    from_mean_ns = (counts.duration_ns[pairs] - strata.mean_ns[stratum]) * weight
    if side == 1 or launches > _LARGE:
        place = rng.integers(0, launches, (DRAWS, side))
        return np.asarray(from_mean_ns[np.searchsorted(np.cumsum(count), place, side="right")].sum(axis=1))
    parts = np.array_split(np.arange(DRAWS), 1 + DRAWS * len(count) // _MOST_NUMBERS_AT_ONCE)
    drawn = (rng.multivariate_hypergeometric(count, side, len(part), method="count") for part in parts)
    return np.concatenate([times @ from_mean_ns for times in drawn])


@cache
def _normal_scores() -> FloatArray:
    """Return (draws,) the quantiles of the normal distribution in the middle of as many equal parts."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((index + 0.5) / DRAWS) for index in range(DRAWS)])
