"""Random draws inside strata, all strata at once: those of a plan, those of many to judge a design.

**Nested draws.** Each stratum has one order in which its launches are drawn, from a key that the seed and its
place make: the same seed with larger sizes draws the same launches and more. The order is a row of hashes of
key and number, by SplitMix64 [Steele, Lea, Flood, OOPSLA 2014], without those that were there before.

**Judged draws.** The normal quantile fails where one stratum carries most of the variance with one or two
samples and a skewed spread: the error of a draw is then far from normal. So a design is drawn thousands of
times: the strata of most variance as they are, and what all others add, small and of many, is taken as
normal, as is what simulated time varies beyond durations. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.parallel import Stream, generator
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.strata import CycleSpread, Strata, total_variance

#: How often a design is drawn to be judged.
DRAWS = 4000
#: So many strata are drawn then, those of most variance.
MOST_DRAWN = 64
#: Of draws with noise, which is normal by assumption, so many fewer may be within a limit: of 4,000 draws a
#: share of 0.95 is off by 0.0034 (one standard error).
NOISE_SLACK = 0.005
# The mean of more launches than this is as good as normal; of a larger stratum no launch is drawn twice.
_MANY = 256
_LARGE = 1 << 20
_MOST_NUMBERS_AT_ONCE = 1 << 21

UIntArray = NDArray[np.uint64]
# The constants of SplitMix64: the golden ratio, and those of its mixing.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
# Standard deviations by which more positions are hashed than are needed on average.
_SLACK = 4.0


@dataclass(frozen=True, slots=True)
class Draw:
    """Drawn launches; all arrays (n,), in the order of the strata."""

    #: Index into the strata.
    stratum: IntArray
    #: Index of the launch's (group, duration) pair in the reduction.
    pair: IntArray
    #: Which launch of that pair it is, in id order, from 0.
    occurrence: IntArray


def draw(counts: DurationCounts, strata: Strata, seed: int) -> Draw:
    """Draw uniformly, so that the same seed (0 or more) draws the same launches and more of larger sizes."""
    rng = generator(seed, Stream.DRAW)
    key = int(rng.integers(0, 2**64, dtype=np.uint64))
    identity = stratum_keys(key, (strata.group, strata.start, strata.launches))
    stratum, position, _ = first_launches(identity, strata.launches, strata.samples)
    pair, occurrence = _launches(counts, counts.launches_before[strata.start[stratum]] + position)
    return Draw(stratum, pair, occurrence)


def _launches(counts: DurationCounts, place: IntArray) -> tuple[IntArray, IntArray]:
    """Return pair and occurrence of the launches at some places (n,) among all of the reduction's."""
    pair = np.searchsorted(counts.launches_before, place, side="right") - 1
    return pair, place - counts.launches_before[pair]


def estimate_total_ns(counts: DurationCounts, strata: Strata, drawn: Draw) -> float:
    """Return sum of N_i times the mean duration of the draw from stratum i. [Allegro section IV-C]"""
    weight = strata.launches / strata.samples
    return float(np.dot(weight[drawn.stratum], counts.duration_ns[drawn.pair]))


def weights(strata: Strata, drawn: Draw) -> FloatArray:
    """Return (n,) how many launches each drawn one stands for: N/m."""
    return np.asarray((strata.launches / strata.samples)[drawn.stratum])


def errors_of_draws(
    counts: DurationCounts,
    strata: Strata,
    samples: IntArray,
    rng: np.random.Generator,
    by_rank: IntArray | None = None,
) -> FloatArray:
    """Return (d,) the errors in ns of the totals that d independent draws estimate.

    A stratum is off by N/m sum (x - mu) over the launches drawn of it. Where fewer are left than are drawn,
    those are drawn instead, and it is minus the sum over them.

    Parameters
    ----------
    samples : (d, s) the sizes of the strata in each draw.
    by_rank : (n,) durations in place of the reduction's own, by (group, duration, id).
    """
    draws, of_each = samples.shape
    first, last = (counts.launches_before[pairs] for pairs in (strata.start, strata.stop))
    mean_ns = strata.mean_ns
    if by_rank is not None:
        before = np.concatenate([[0], np.cumsum(by_rank)])
        mean_ns = (before[last] - before[first]) / strata.launches
    side = np.minimum(samples, strata.launches - samples)
    weight = np.where(side == samples, 1, -1) * (strata.launches / samples)
    key = stratum_keys(int(rng.integers(0, 2**64, dtype=np.uint64)), [np.arange(side.size)])
    row, position, _ = _unsorted(key, np.tile(strata.launches, draws), side.ravel())
    stratum = row % of_each
    place = first[stratum] + position
    drawn_ns = counts.duration_ns[_launches(counts, place)[0]] if by_rank is None else by_rank[place]
    off_ns = weight.ravel()[row] * (drawn_ns - mean_ns[stratum])
    return np.asarray(np.bincount(row // of_each, off_ns, minlength=draws), dtype=np.float64)


def mixed(state: UIntArray) -> UIntArray:
    """Return SplitMix64's mixing of each state: all bits depend on all bits. [Steele, Lea, Flood]"""
    state = (state ^ (state >> np.uint64(30))) * _FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * _SECOND_FACTOR
    return state ^ (state >> np.uint64(31))


def stratum_keys(seed: int, parts: Sequence[IntArray]) -> UIntArray:
    """Return (s,) a 64-bit key of each stratum, from a seed below 2^64 and the numbers (s,) of its place."""
    key = np.full(len(parts[0]), seed, dtype=np.uint64)
    for part in parts:
        key = mixed((key ^ part.astype(np.uint64)) + _STEP)
    return key


def first_launches(
    key: UIntArray, launches: IntArray, samples: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first ``samples[i]`` launches of each stratum's order.

    Parameters
    ----------
    key : (s,) of `stratum_keys`.
    launches, samples : (s,) how many the stratum has, and how many are drawn, at most as many.

    Returns
    -------
    stratum, position, rank : (n,) each, by stratum and position; rank is the place in the order of drawing.
        In a stratum that is drawn whole the order is that of the positions.
    """
    stratum, position, rank = _unsorted(key, launches, samples)
    order = np.argsort((np.cumsum(launches) - launches)[stratum] + position)
    return stratum[order], position[order], rank[order]


def _unsorted(key: UIntArray, launches: IntArray, samples: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the same, in any order."""
    whole = np.flatnonzero(samples == launches)
    counted = _counted(launches[whole])
    found = [np.stack([np.repeat(whole, launches[whole]), counted, counted])]
    missing = np.flatnonzero(samples < launches)
    hashed = _numbers_needed(launches[missing], samples[missing])
    while len(missing):
        of_stratum, where, place = _distinct(key[missing], launches[missing], hashed)
        enough = np.bincount(of_stratum, minlength=len(missing)) >= samples[missing]
        taken = enough[of_stratum] & (place < samples[missing][of_stratum])
        found.append(np.stack([missing[of_stratum[taken]], where[taken], place[taken]]))
        missing, hashed = missing[~enough], 2 * hashed[~enough]
    stratum, position, rank = np.concatenate(found, axis=1)
    return stratum, position, rank


def _numbers_needed(launches: IntArray, samples: IntArray) -> IntArray:
    """Return (s,) how many positions to hash so that mostly enough are distinct: the coupon collector's."""
    left = launches - samples
    mean = launches * np.log1p(samples / np.maximum(left, 1))
    deviation = np.sqrt(launches * (samples / np.maximum(left, 1)))
    return np.ceil(np.where(samples == 1, 1, mean + _SLACK * np.minimum(deviation, mean))).astype(np.int64)


def _counted(sizes: IntArray) -> IntArray:
    """Return 0 .. size - 1 for each size, one after another."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def _distinct(key: UIntArray, launches: IntArray, hashed: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return stratum, position and rank of what is distinct among so many hashed positions of each."""
    stratum = np.repeat(np.arange(len(key)), hashed)
    number = mixed(key[stratum] + (_counted(hashed).astype(np.uint64) + np.uint64(1)) * _STEP)
    # 53 bits fill a double: a position's chance is off by less than N / 2^53 of itself.
    position = ((number >> np.uint64(11)) * 2.0**-53 * launches[stratum]).astype(np.int64)
    base = np.cumsum(launches) - launches
    # The numbers stand in the order of drawing, and the first of equal ones is found.
    _, first = np.unique(base[stratum] + position, return_index=True)
    first.sort()
    stratum, position = stratum[first], position[first]
    return stratum, position, np.arange(len(first)) - np.searchsorted(stratum, stratum)


@dataclass(frozen=True, eq=False)
class Judged:
    """The errors of repeated draws, in ns of the estimated total."""

    #: (s,) of the strata.
    group: IntArray
    #: (k,) the strata that are drawn, ascending, and (draws, k) the error of each one's total.
    drawn: IntArray
    off_ns: FloatArray
    #: (s,) variance of the profile's time in strata that are not drawn; 0 in those that are.
    rest: FloatArray
    #: (s,) what the declared spread of simulated time adds to the variance, in the whole total and in the
    #: group's own.
    noise: FloatArray
    own_noise: FloatArray
    #: (draws,) standard normal numbers, evenly spread and shuffled.
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
    """Draw a design so often, with simulated time as it is declared to vary (None: it does not)."""
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
