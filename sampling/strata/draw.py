"""Random draws inside strata, all strata at once: those of a plan, those of many to judge a design.

**Nested**: each stratum has one order in which its launches are drawn, hashes of its place and the seed by
SplitMix64 [Steele, Lea, Flood, OOPSLA 2014], so that the same seed with larger sizes draws the same and more.

**Judged**: where one stratum carries most of the variance with one or two samples and a skewed spread, the
error is far from normal. So a design is drawn thousands of times: the strata of most variance as they are;
what all others add, and what simulated time varies beyond durations, is taken as normal.
(docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from sampling.arrays import GOLDEN_RATIO, BoolArray, FloatArray, HashArray, IntArray, mixed
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
    key = int(generator(seed, Stream.DRAW).integers(0, 2**64, dtype=np.uint64))
    identity = stratum_keys(key, (strata.group, strata.start, strata.launches))
    stratum, position = first_launches(identity, strata.launches, strata.samples)
    order = np.argsort((np.cumsum(strata.launches) - strata.launches)[stratum] + position)
    stratum, position = stratum[order], position[order]
    place = counts.launches_before[strata.start[stratum]] + position
    pair = np.searchsorted(counts.launches_before, place, side="right") - 1
    return Draw(stratum, pair, place - counts.launches_before[pair])


def weights(strata: Strata, draw: Draw) -> FloatArray:
    """Return (n,) how many launches each drawn one stands for: N/m."""
    return np.asarray((strata.launches / strata.samples)[draw.stratum])


def estimate_total_ns(counts: DurationCounts, strata: Strata, draw: Draw) -> float:
    """Return sum of N_i times the mean duration of the draw from stratum i. [Allegro section IV-C]"""
    return float(np.dot(weights(strata, draw), counts.duration_ns[draw.pair]))


def errors_of_draws(
    counts: DurationCounts,
    strata: Strata,
    samples: IntArray,
    rng: np.random.Generator,
    by_rank: IntArray | None = None,
) -> FloatArray:
    """Return (d,) the errors in ns of the totals that d independent draws estimate.

    ``samples`` (d, s) are the sizes of the strata in each draw, ``by_rank`` (n,) durations in place of the
    reduction's own, by (group, duration, id). A stratum is off by N/m sum (x - mu) over the launches drawn of
    it. Where fewer are left than are drawn, those are drawn instead, and it is minus the sum over them.
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
    row, position = first_launches(key, np.tile(strata.launches, draws), side.ravel())
    stratum = row % of_each
    place = first[stratum] + position
    if by_rank is None:
        drawn_ns = counts.duration_ns[np.searchsorted(counts.launches_before, place, side="right") - 1]
    else:
        drawn_ns = by_rank[place]
    off_ns = weight.ravel()[row] * (drawn_ns - mean_ns[stratum])
    return np.asarray(np.bincount(row // of_each, off_ns, minlength=draws), dtype=np.float64)


def stratum_keys(seed: int, parts: Sequence[IntArray]) -> HashArray:
    """Return (s,) a 64-bit key of each stratum, from a seed below 2^64 and the numbers (s,) of its place."""
    key = np.full(len(parts[0]), seed, dtype=np.uint64)
    for part in parts:
        key = mixed((key ^ part.astype(np.uint64)) + GOLDEN_RATIO)
    return key


def first_launches(key: HashArray, launches: IntArray, samples: IntArray) -> tuple[IntArray, IntArray]:
    """Return stratum and position of the first ``samples[i]`` launches in each stratum's order of drawing.

    All arguments are (s,), ``key`` of `stratum_keys`; the launches found (n,) come in any order.
    """
    census = np.flatnonzero(samples == launches)
    parts = [np.stack([np.repeat(census, launches[census]), _counted(launches[census])])]
    open_ = np.flatnonzero(samples < launches)
    # How many numbers to hash so that mostly enough positions are distinct: the coupon collector's.
    left = np.maximum(launches - samples, 1)
    mean, deviation = launches * np.log1p(samples / left), np.sqrt(launches * (samples / left))
    needed = np.where(samples == 1, 1, mean + _SLACK * np.minimum(deviation, mean))
    hashed = np.ceil(needed[open_]).astype(np.int64)
    while len(open_):
        n, m = launches[open_], samples[open_]
        stratum = np.repeat(np.arange(len(open_)), hashed)
        number = mixed(
            key[open_][stratum] + (_counted(hashed).astype(np.uint64) + np.uint64(1)) * GOLDEN_RATIO
        )
        # 53 bits fill a double: a position's chance is off by less than N / 2^53 of itself.
        position = ((number >> np.uint64(11)) * 2.0**-53 * n[stratum]).astype(np.int64)
        # The numbers stand in the order of drawing, and the first of equal ones counts.
        _, first = np.unique((np.cumsum(n) - n)[stratum] + position, return_index=True)
        first.sort()
        stratum, position = stratum[first], position[first]
        rank = np.arange(len(first)) - np.searchsorted(stratum, stratum)
        enough = np.bincount(stratum, minlength=len(open_)) >= m
        is_first = enough[stratum] & (rank < m[stratum])
        parts.append(np.stack([open_[stratum[is_first]], position[is_first]]))
        open_, hashed = open_[~enough], 2 * hashed[~enough]
    stratum, position = np.concatenate(parts, axis=1)
    return stratum, position


def _counted(sizes: IntArray) -> IntArray:
    """Return 0 .. size - 1 for each size, one after another."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


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
    scores: FloatArray

    def errors_ns(self, *, with_noise: bool = False, group: int | None = None) -> FloatArray:
        """Return (draws,) the absolute errors of the total, or of one group's own."""
        mask: BoolArray = np.full(len(self.group), True) if group is None else self.group == group
        noise = (self.noise if group is None else self.own_noise)[mask].sum() if with_noise else 0.0
        deviation_ns = np.sqrt(self.rest[mask].sum() + noise)
        return np.asarray(np.abs(self.off_ns[:, mask[self.drawn]].sum(axis=1) + deviation_ns * self.scores))

    def share_within(self, limit_ns: float, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return the share of draws whose error is at most the limit, but for rounding."""
        errors_ns = self.errors_ns(with_noise=with_noise, group=group)
        return float((errors_ns <= limit_ns * (1 + 1e-12)).mean())

    def quantile_ns(self, confidence: float, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return the least error that this share of the draws does not exceed; see `NOISE_SLACK`."""
        errors_ns = self.errors_ns(with_noise=with_noise, group=group)
        confidence -= NOISE_SLACK if with_noise else 0
        last = min(int(np.ceil(confidence * len(errors_ns) * (1 - 1e-12))), len(errors_ns)) - 1
        return float(np.partition(errors_ns, last)[last])


@cache
def _scores() -> FloatArray:
    """Return (draws,) the quantiles of the normal distribution in the middle of as many equal parts."""
    return np.array([NormalDist().inv_cdf((index + 0.5) / DRAWS) for index in range(DRAWS)])


def judged(
    counts: DurationCounts, strata: Strata, cycles: CycleSpread | None, rng: np.random.Generator
) -> Judged:
    """Draw a design so often, with simulated time as it is declared to vary (None: it does not)."""
    variance = total_variance(strata)
    noise, own_noise = np.zeros((2, len(strata)))
    if cycles is not None:
        noise = np.maximum(total_variance(strata, cycles.variance(strata)) - variance, 0)
        own_noise = np.maximum(total_variance(strata, cycles.of_own_totals().variance(strata)) - variance, 0)
    side = np.minimum(strata.samples, strata.launches - strata.samples)
    strata_drawn = np.flatnonzero((variance > 0) & (side <= _MANY))
    strata_drawn = np.sort(strata_drawn[np.argsort(-variance[strata_drawn], kind="stable")[:MOST_DRAWN]])
    off_ns = np.zeros((DRAWS, len(strata_drawn)))
    for column, stratum in enumerate(strata_drawn.tolist()):
        # N/m sum (x - mu) over the launches drawn; where fewer are left, minus the sum over those.
        pairs, fewer = slice(int(strata.start[stratum]), int(strata.stop[stratum])), int(side[stratum])
        launches = int(strata.launches[stratum])
        samples = int(strata.samples[stratum])
        count = counts.count[pairs]
        weight = launches / samples * (1 if fewer == samples else -1)
        from_mean_ns = (counts.duration_ns[pairs] - strata.mean_ns[stratum]) * weight
        if launches > _LARGE or fewer * fewer <= len(count):
            place = _places(launches, fewer, rng)
            off_ns[:, column] = from_mean_ns[np.searchsorted(np.cumsum(count), place, "right")].sum(axis=0)
            continue
        for part in np.array_split(np.arange(DRAWS), 1 + DRAWS * len(count) // _MOST_NUMBERS_AT_ONCE):
            times = rng.multivariate_hypergeometric(count, fewer, len(part), method="count")
            off_ns[part, column] = times @ from_mean_ns
    rest = variance.copy()
    rest[strata_drawn] = 0
    return Judged(strata.group, strata_drawn, off_ns, rest, noise, own_noise, rng.permutation(_scores()))


def _places(launches: int, samples: int, rng: np.random.Generator) -> IntArray:
    """Return (samples, draws) places of launches drawn without replacement; of a large stratum with.

    The i-th is drawn from the N - i that are left, and counted up past those drawn before. A few are cheaper
    so than a count for every duration, as of a hypergeometric draw.
    """
    if launches > _LARGE:
        return rng.integers(0, launches, (samples, DRAWS))
    place = np.stack([rng.integers(0, launches - number, DRAWS) for number in range(samples)])
    for number in range(1, samples):
        for before in np.sort(place[:number], axis=0):
            place[number] += before <= place[number]
    return place
