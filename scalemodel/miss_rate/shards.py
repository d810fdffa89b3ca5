"""SHARDS: miss counts from the accesses to a fixed share of the lines, chosen by their hash.

Source: Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST 2015, section 3
(docs/methods.md, 10 Scale model): every access to a chosen line is kept, no other; among the kept accesses a
stack distance is the true one times the rate R, so a cache of C lines is one of C R lines to them. Between
whole numbers of lines the count is interpolated. SHARDS-adj: N R of the N accesses are expected to be kept;
what is more or less than that is taken from or added to the hits of distance 0. So the misses are those among
the kept accesses, over R.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nextafter, sqrt
from statistics import NormalDist

import numpy as np

from scalemodel.arrays import FloatArray, IntArray
from scalemodel.errors import OptionError
from scalemodel.miss_rate.stack_distance import COLD, LineArray, MissCounts, count_at_least, stack_distances

_HASHED_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class LineSample:
    """The accesses to the chosen lines.

    Attributes
    ----------
    line : (s,) uint64, in the order of the accesses.
    rate : the share of lines that are chosen.
    accesses : of the whole trace.
    """

    line: LineArray
    rate: float
    accesses: int


def draw_lines(line: LineArray, rate: float, rng: np.random.Generator) -> LineSample:
    """Return the accesses to a share of the lines, chosen by a seeded hash.

    Raises
    ------
    OptionError : the rate is not above 0 and at most 1.
    """
    if not 0 < rate <= 1:
        raise OptionError(f"the sampling rate is above 0 and at most 1, not {rate:g}")
    seed = rng.integers(2**64, dtype=np.uint64)
    highest = np.uint64(max(int(rate * 2**64) - 1, 0))
    pieces = (line[start : start + _HASHED_AT_ONCE] for start in range(0, line.size, _HASHED_AT_ONCE))
    kept = [piece[_hashed(piece, seed) <= highest] for piece in pieces]
    return LineSample(np.concatenate([line[:0], *kept]), rate, line.size)


def _hashed(line: LineArray, seed: np.uint64) -> LineArray:
    """Return the lines mixed to 64 even bits (the finaliser of SplitMix64, by Stafford), seeded before."""
    mixed = line ^ seed
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def shards_misses(
    line: LineArray,
    capacity_lines: IntArray,
    rate: float,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
) -> MissCounts:
    """Return estimated misses of fully associative caches with least-recently-used replacement.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.
    capacity_lines : (c,) int64, > 0, lines that each cache holds.
    rate : R, the share of lines looked at, above 0; at 1 the result is exact.
    confidence : of the bounds, between 0 and 1.

    Raises
    ------
    OptionError : the rate or the confidence cannot be, no line is chosen, or there are too many accesses.

    Notes
    -----
    The bounds put two errors of sampling on top of each other, as they tend to go together. How far apart
    two uses seem: of C lines C R are chosen, give or take sqrt(C R (1 - R)), so the cache could as well be
    smaller or larger by sqrt(C (1 - R) / R) lines; at a cliff of the curve this is what counts. Which lines
    are chosen: where each of them has m misses (in the smaller cache for the upper bound, in the larger one
    for the lower), the standard error of their sum over R is sqrt((1 - R) sum m^2) / R. Each is taken times
    the normal quantile of the confidence. Where that leaves no cache at all, all accesses are the upper
    bound. The bounds say nothing of a few lines with most of the misses of which none is chosen.
    """
    if not 0 < confidence < 1:
        raise OptionError(f"the confidence is between 0 and 1, not {confidence:g}")
    sample = draw_lines(line, rate, rng)
    if not sample.line.size:
        raise OptionError(
            f"no line of the trace is chosen at a sampling rate of {rate:g}",
            remedy="raise the rate, or ask for the exact curve",
        )
    distance = stack_distances(sample.line)
    again = distance[distance != COLD]
    cold = distance.size - again.size
    # A confidence next to 1 is one of 1 when rounded, which has no quantile.
    quantile = NormalDist().inv_cdf(min(0.5 + confidence / 2, nextafter(1.0, 0.0)))
    capacity = capacity_lines.astype(np.float64)
    shift = quantile * np.sqrt(capacity * (1 - rate) / rate)
    larger, smaller = (capacity + shift) * rate, np.maximum(capacity - shift, 0.0) * rate
    misses = (cold + _beyond(again, capacity * rate)) / rate
    low = (cold + _beyond(again, larger)) / rate - quantile * _standard_error(sample, distance, larger)
    high = (cold + _beyond(again, smaller)) / rate + quantile * _standard_error(sample, distance, smaller)
    most = float(sample.accesses)
    return MissCounts(
        np.minimum(misses, most),
        np.clip(low, 0.0, most),
        np.where(shift < capacity, np.clip(high, 0.0, most), most),
        min(cold / rate, most),
        cold,
    )


def _beyond(distance: IntArray, capacity: FloatArray) -> FloatArray:
    """Return how many distances are beyond each capacity; interpolated between whole numbers of lines."""
    whole = np.floor(capacity).astype(np.int64)
    part = capacity - whole
    return (1 - part) * count_at_least(distance, whole) + part * count_at_least(distance, whole + 1)


def _standard_error(sample: LineSample, distance: IntArray, capacity: FloatArray) -> FloatArray:
    """Return the (c,) standard errors of the misses, over R, by which lines are chosen."""
    line_of_access = np.unique(sample.line, return_inverse=True)[1]
    is_cold = distance == COLD
    squares = []
    for lines_held in capacity.tolist():
        # Between 0 and 1 at the one distance that a part of a line is about, as where it is counted.
        missed = np.clip(distance + 1 - lines_held, 0.0, 1.0)
        missed[is_cold] = 1.0
        of_line = np.bincount(line_of_access, weights=missed)
        squares.append(float(of_line @ of_line))
    return sqrt(1 - sample.rate) / sample.rate * np.sqrt(squares)
