"""How far the errors of a design's draws really reach: judged by drawing it thousands of times.

The normal quantile fails where one stratum carries most of the variance with one or two samples and a skewed
spread: the error of a draw is then far from normal. Here the strata that make it so are drawn; what the
others add, small and of many, is taken as normal. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.repeated_draws import drawn_errors, fewer_side
from sampling.strata.strata import WHOLE_WORKLOAD, Strata
from sampling.strata.variance import summed_by_group, total_variance

#: How often a design is drawn to be judged, for its total and for kernel groups.
DRAWS = 4000
GROUP_DRAWS = 2000
# Strata of which none has a third moment of more than this, over the error's own, and whose third moments add
# up to no more than that, are as good as normal together.
_STANDS_OUT = 0.001
_NEARLY_NORMAL = 0.01
_MOST_NUMBERS_AT_ONCE = 1 << 21
# Of very many groups each is drawn less often, down to 400 times.
_MOST_GROUP_NUMBERS = 1 << 25


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of repeated draws, in ns of the estimated total; all (draws,).

    Attributes
    ----------
    drawn_ns : of the strata that are drawn.
    scores : standard normal numbers, evenly spread and shuffled.
    deviation_ns : the standard deviation of all other strata together.
    noise_ns : that of what simulated time varies beyond the profile's durations.
    """

    drawn_ns: FloatArray
    scores: FloatArray
    deviation_ns: float
    noise_ns: float = 0.0

    def sizes_ns(self, *, with_noise: bool = False) -> FloatArray:
        """Return (draws,) the absolute errors."""
        deviation_ns = np.hypot(self.deviation_ns, self.noise_ns if with_noise else 0.0)
        return np.asarray(np.abs(self.drawn_ns + deviation_ns * self.scores))

    def share_within(self, limit_ns: float, *, with_noise: bool = False) -> float:
        """Return the share of draws whose error is at most the limit, but for rounding."""
        return float((self.sizes_ns(with_noise=with_noise) <= limit_ns * (1 + 1e-12)).mean())

    def _sampling_error(self, confidence: float, *, with_noise: bool) -> float:
        """Return one standard error of the share of draws within a limit that the confidence keeps.

        What is taken as normal is spread evenly, and adds none. What is drawn moves over the limit only those
        draws that are near it, whose share grows with its standard deviation.
        """
        drawn = float(self.drawn_ns.std())
        if not drawn:
            return 0.0
        moved = drawn / np.hypot(drawn, np.hypot(self.deviation_ns, self.noise_ns if with_noise else 0.0))
        return float(np.sqrt(confidence * (1 - confidence) / len(self.drawn_ns) * moved))

    def keeps(self, limit_ns: float, confidence: float) -> bool:
        """Return whether a share of ``confidence`` of the draws stays within the limit.

        It must do so by two standard errors; with noise, which is normal by assumption, it may miss by two.
        """
        error = self._sampling_error(confidence, with_noise=False)
        # Even scores are off by half of one of them.
        enough = confidence + 2 * error - 0.5 / len(self.drawn_ns)
        reaches_ns = (self.reach_ns(confidence, with_noise=noisy) for noisy in (False, True))
        return self.share_within(limit_ns) >= enough and max(reaches_ns) <= limit_ns * (1 + 1e-12)

    def reach_ns(self, confidence: float, *, with_noise: bool = False) -> float:
        """Return the least error that this share of the draws does not exceed.

        With noise, which is normal by assumption, a share less by two standard errors is enough.
        """
        sizes_ns = self.sizes_ns(with_noise=with_noise)
        if with_noise:
            confidence -= 2 * self._sampling_error(confidence, with_noise=True) + 0.5 / len(sizes_ns)
        last = _place(confidence, len(sizes_ns))
        return float(np.partition(sizes_ns, last)[last])


def workload_errors(
    counts: DurationCounts,
    strata: Strata,
    rng: np.random.Generator,
    cycles: CycleSpread | None = None,
    draws: int = DRAWS,
) -> Errors:
    """Draw a design so often, and return the errors of its estimated totals.

    Parameters
    ----------
    cycles : how simulated time is declared to vary; None: there is no noise.
    """
    variance = total_variance(strata)
    noise = _noise_variance(strata, variance, cycles).sum()
    rows = _far_from_normal(counts, strata, variance)
    drawn_ns = np.zeros(draws)
    for chunk in _chunks(strata, rows, draws):
        drawn_ns += drawn_errors(counts, strata, chunk, draws, rng).sum(axis=1)
    others = np.delete(variance, rows).sum()
    return Errors(
        drawn_ns, rng.permutation(_normal_scores(draws)), float(np.sqrt(others)), float(np.sqrt(noise))
    )


@dataclass(frozen=True, slots=True)
class GroupReaches:
    """How far the errors of kernel groups' own totals reach, over these totals; all (groups,).

    Attributes
    ----------
    plain, with_noise : the least error that a share of ``confidence`` of the draws does not exceed, without
        and with what simulated time varies beyond durations; of a group that was not drawn a bound from its
        variance and range, not above the limit.
    drawn : whether it was drawn.
    """

    plain: FloatArray
    with_noise: FloatArray
    drawn: BoolArray


def group_reaches(
    counts: DurationCounts,
    strata: Strata,
    confidence: float,
    limit: float,
    rng: np.random.Generator,
    cycles: CycleSpread | None = None,
    wanted: BoolArray | None = None,
    errors_to_spare: int = 0,
) -> GroupReaches:
    """Return how far groups' errors reach; those that cannot reach beyond the limit are not drawn.

    Parameters
    ----------
    wanted : (groups,) the only ones that may be drawn; None: all.
    errors_to_spare : by how many standard errors of their number the share of draws must be more.

    By Chebyshev's inequality no error exceeds its standard deviation / sqrt(1 - confidence) more often than
    in 1 - confidence of the draws, and none exceeds what the shortest or longest launches alone would give.
    """
    groups, total_ns = len(counts.groups), np.maximum(counts.group_duration_ns, 1).astype(np.float64)
    variance = total_variance(strata)
    noise = _noise_variance(strata, variance, None if cycles is None else cycles.of_own_totals())
    of_group = summed_by_group(strata.group, variance, groups)
    noise_of_group = summed_by_group(strata.group, noise, groups)
    range_ns = summed_by_group(strata.group, _most_error_ns(counts, strata), groups)
    cautious = np.sqrt(1 / (1 - confidence))
    noise_ns = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(noise_of_group)
    plain = np.minimum(cautious * np.sqrt(of_group), range_ns) / total_ns
    with_noise = np.minimum(cautious * np.sqrt(of_group + noise_of_group), range_ns + noise_ns) / total_ns
    drawn = (with_noise > limit) & (of_group > 0) & (True if wanted is None else wanted)
    # The noise alone is normal by assumption.
    still = of_group == 0
    with_noise[still] = noise_ns[still] / total_ns[still]
    rows = np.flatnonzero(drawn[strata.group] & (variance > 0))
    draws = int(np.clip(_MOST_GROUP_NUMBERS // max(fewer_side(strata)[rows].sum(), 1), 400, GROUP_DRAWS))
    spare = errors_to_spare * np.sqrt(confidence * (1 - confidence) / draws)
    last = _place(confidence + spare, draws)
    for chunk in _chunks(strata, rows, draws):
        errors_ns = drawn_errors(counts, strata, chunk, draws, rng)
        first = np.flatnonzero(np.diff(strata.group[chunk], prepend=-1))
        errors_ns = np.add.reduceat(errors_ns, first, axis=1)
        found = strata.group[chunk[first]]
        plain[found] = np.partition(np.abs(errors_ns), last, axis=0)[last] / total_ns[found]
        even = np.broadcast_to(_normal_scores(draws), errors_ns.T.shape)
        errors_ns += rng.permuted(even, axis=1).T * np.sqrt(noise_of_group[found])
        with_noise[found] = np.partition(np.abs(errors_ns), last, axis=0)[last] / total_ns[found]
    # Noise makes no error smaller; that of a few draws may.
    return GroupReaches(plain, np.maximum(plain, with_noise), drawn)


def _place(confidence: float, draws: int) -> int:
    """Return which of the sorted errors is the least that a share of ``confidence`` does not exceed."""
    return min(int(np.ceil(confidence * draws * (1 - 1e-12))), draws) - 1


def _noise_variance(strata: Strata, variance: FloatArray, cycles: CycleSpread | None) -> FloatArray:
    """Return (s,) what the spread of simulated time adds to the variance of each stratum's total."""
    if cycles is None:
        return np.zeros(len(strata))
    return np.maximum(total_variance(strata, cycles.of(strata)) - variance, 0.0)


@cache
def _normal_scores(draws: int) -> FloatArray:
    """Return (draws,) the quantiles of the normal distribution in the middle of as many equal parts."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((index + 0.5) / draws) for index in range(draws)])


def _farthest_ns(counts: DurationCounts, strata: Strata) -> FloatArray:
    """Return (s,) how far the durations of each stratum are from its mean at most."""
    if WHOLE_WORKLOAD in strata.group:
        low, high = counts.duration_ns.min(keepdims=True), counts.duration_ns.max(keepdims=True)
    else:
        low, high = counts.duration_ns[strata.start], counts.duration_ns[strata.stop - 1]
    return np.asarray(np.maximum(high - strata.mean_ns, strata.mean_ns - low))


def _most_error_ns(counts: DurationCounts, strata: Strata) -> FloatArray:
    """Return (s,) a bound on the error of each stratum's total: all that a draw is known by farthest off."""
    scale = strata.launches / strata.samples * fewer_side(strata)
    return np.asarray(scale * _farthest_ns(counts, strata))


def _far_from_normal(counts: DurationCounts, strata: Strata, variance: FloatArray) -> IntArray:
    """Return the strata whose third moments are too large, together, to take their errors as normal.

    |E (x - mu)^3| <= max |x - mu| sigma^2, so the skewness of a mean of k launches is at most
    max |x - mu| / sigma / sqrt(k), and that of a sum adds up by shares of its variance to the power 3/2.
    """
    rows = np.flatnonzero(variance > 0)
    side = fewer_side(strata)[rows]
    skewness = _farthest_ns(counts, strata)[rows] / strata.std_ns[rows] / np.sqrt(side)
    third = (variance[rows] / variance.sum()) ** 1.5 * skewness
    order = np.argsort(third, kind="stable")
    stands_out = third[order] > _STANDS_OUT
    return np.sort(rows[order[stands_out | (np.cumsum(third[order]) > _NEARLY_NORMAL)]])


def _chunks(strata: Strata, rows: IntArray, draws: int) -> Iterator[IntArray]:
    """Yield the rows, cut between kernel groups so that a chunk's draws fit in memory."""
    if not len(rows):
        return
    numbers = np.cumsum(np.maximum(fewer_side(strata)[rows], 1)) * draws
    chunk = numbers // _MOST_NUMBERS_AT_ONCE
    is_first = np.diff(strata.group[rows], prepend=-2) != 0
    # A group goes with its first stratum.
    chunk = np.maximum.accumulate(np.where(is_first, chunk, 0))
    yield from np.split(rows, np.flatnonzero(np.diff(chunk)) + 1)
