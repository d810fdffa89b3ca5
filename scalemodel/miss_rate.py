"""The miss-rate curve of an address trace: misses per thousand instructions at each cache capacity.

The cache is fully associative with least-recently-used replacement, and the trace has one order. Counted from
stack distances [Mattson et al., 1970], of all lines or of a share of them (SHARDS [Waldspurger et al., FAST
2015]), or expected from reuse distances (StatStack [Eklov, Hagersten, ISPASS 2010]). (docs/methods.md, 10
Scale model)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import nextafter, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.errors import OptionError
from sampling.record import Record
from scalemodel.accesses import AddressArray, AddressTrace, BoolArray, FloatArray, IntArray
from scalemodel.measurements import MpkiUnit

Int32Array = NDArray[np.int32]

#: The share of the lines that SHARDS looks at where none is named.
DEFAULT_RATE = 0.01


class Method(StrEnum):
    """How the misses are counted: all, those of a sample of the lines, or expected from reuse distances."""

    EXACT = "exact"
    SHARDS = "shards"
    STAT_STACK = "statstack"


class MissCounts(NamedTuple):
    """Misses of caches of several sizes, (c,), with bounds where the method states an error; cold ones."""

    misses: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    cold: float


class CurvePoint(Record, frozen=True):
    """A cache of a curve: the size of the system it belongs to, and its misses; None where not known."""

    size: int | None
    capacity_bytes: int
    mpki: float | None
    low: float | None
    high: float | None
    miss_ratio: float
    unit: MpkiUnit
    method: Method
    rate: float
    line_bytes: int


class CurveRecord(Record, frozen=True, kw_only=True):
    """A curve, column by column; see `MissRateCurve`."""

    size: tuple[int | None, ...]
    capacity_bytes: tuple[int, ...]
    mpki: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    miss_ratio: tuple[float, ...]
    unit: MpkiUnit
    method: Method
    rate: float
    confidence: float | None
    accesses: int
    cold_misses: float
    instructions: int | None
    line_bytes: int

    @property
    def points(self) -> list[CurvePoint]:
        """The same, cache by cache."""
        caches = zip(
            self.size, self.capacity_bytes, self.mpki, self.low, self.high, self.miss_ratio, strict=True
        )
        return [
            CurvePoint(
                size, capacity, mpki, low, high, ratio, self.unit, self.method, self.rate, self.line_bytes
            )
            for size, capacity, mpki, low, high, ratio in caches
        ]


class MissRateCurve(NamedTuple):
    """Misses by cache capacity."""

    #: (c,) in the order asked for.
    capacity_bytes: IntArray
    counts: MissCounts
    #: (c,) misses per thousand instructions of the unit, and their bounds; None where these are not known.
    mpki: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None
    #: Of the trace, each to one line; and those it was recorded over, None where nothing says it.
    accesses: int
    instructions: int | None
    unit: MpkiUnit
    method: Method
    #: The share of the lines that was looked at, and of the bounds; None where no error is stated.
    rate: float
    confidence: float | None
    line_bytes: int

    @property
    def miss_ratio(self) -> FloatArray:
        """(c,) the share of the accesses that miss."""
        return self.counts.misses / self.accesses

    def record(self, sizes: Sequence[int | None]) -> CurveRecord:
        """Return the curve with the (c,) sizes of the systems that the caches belong to."""
        unknown = [None] * len(sizes)
        mpki, low, high = (
            unknown if values is None else values.tolist() for values in (self.mpki, self.low, self.high)
        )
        return CurveRecord(
            size=tuple(sizes),
            capacity_bytes=tuple(self.capacity_bytes.tolist()),
            mpki=tuple(mpki),
            low=tuple(low),
            high=tuple(high),
            miss_ratio=tuple(self.miss_ratio.tolist()),
            unit=self.unit,
            method=self.method,
            rate=self.rate,
            confidence=self.confidence,
            accesses=self.accesses,
            cold_misses=self.counts.cold,
            instructions=self.instructions,
            line_bytes=self.line_bytes,
        )


def miss_rate_curve(
    trace: AddressTrace,
    capacity_bytes: IntArray,
    rng: np.random.Generator,
    *,
    method: Method = Method.EXACT,
    rate: float = DEFAULT_RATE,
    confidence: float = 0.95,
    unit: MpkiUnit = MpkiUnit.THREAD,
    instructions: int | None = None,
) -> MissRateCurve:
    """Return the misses of caches of the given capacities.

    Parameters
    ----------
    capacity_bytes : (c,) int64, each at least one line; a part of a line holds nothing.
    rng : draws which lines are looked at, for SHARDS only.
    rate, confidence : of SHARDS the share of the lines to look at, and that of the bounds.
    instructions : in the unit, where the trace does not say it.

    Raises OptionError: a capacity is less than a line, or another number is out of range; SHARDS chooses no
    line; the trace is too long, or states another number of instructions.
    """
    if not 0 < rate <= 1:
        raise OptionError(f"the sampling rate is above 0 and at most 1, not {rate:g}")
    capacities = np.asarray(capacity_bytes, dtype=np.int64)
    if capacities.min() < trace.line_bytes:
        message = f"a cache holds at least one line of {trace.line_bytes} bytes"
        raise OptionError(f"{message}, not {capacities.min():,} bytes")
    with_selection = trace.thread_instructions if unit is MpkiUnit.THREAD else trace.warp_instructions
    if with_selection is not None and instructions is not None and with_selection != instructions:
        message = f"{instructions:,} {unit} instructions are given"
        raise OptionError(
            f"{message}, but the trace states {with_selection:,}", remedy="leave their number out"
        )
    lines, is_sampled = capacities // trace.line_bytes, method is Method.SHARDS
    if method is Method.STAT_STACK:
        counts = stat_stack_misses(trace.line, lines)
    else:
        counts = shards_misses(trace.line, lines, rate if is_sampled else 1.0, rng, confidence=confidence)
    instructions = instructions if with_selection is None else with_selection
    mpki, low, high = (
        None if misses is None or instructions is None else 1000 * misses / instructions
        for misses in (counts.misses, counts.low, counts.high)
    )
    sampling = (rate, confidence) if is_sampled else (1.0, None)
    properties = (trace.line.size, instructions, unit, method, *sampling, trace.line_bytes)
    return MissRateCurve(capacities, counts, mpki, low, high, *properties)


# -- stack distances ----------------------------------------------------------------------------------------

#: The distance of an access that touches its line for the first time.
COLD = -1
# Counts are 32-bit: half the memory, and no trace that fits the memory is longer.
_MOST_ACCESSES = 2**31 - 2**10


def find_reuses(line: AddressArray) -> tuple[IntArray, IntArray]:
    """Return the places of the accesses that are followed by another to the same line, and of that.

    As many accesses are cold, the first to their line, as there are more accesses than these.
    """
    if line.size > _MOST_ACCESSES:
        message = f"the trace has {line.size:,} accesses, more than {_MOST_ACCESSES:,}"
        raise OptionError(message, remedy="sample it, or take fewer kernels")
    place, is_followed = _by_line(line)
    next_place = np.full(line.size, -1, dtype=np.int32)
    next_place[place[:-1][is_followed]] = place[1:][is_followed]
    earlier = np.flatnonzero(next_place >= 0)
    return earlier, next_place[earlier].astype(np.int64)


def _by_line(line: AddressArray) -> tuple[IntArray, BoolArray]:
    """Return the places sorted by line, then place, and whether the next one there is of the same line."""
    lowest = line.min(initial=np.uint64(2**64 - 1))
    place_bits = np.uint64(int(line.size).bit_length())
    if int(line.max(initial=lowest) - lowest).bit_length() + int(place_bits) > 64:
        place = np.argsort(line, kind="stable")
        ordered = line[place]
        return place, ordered[1:] == ordered[:-1]
    # Line and place in one number: sorting numbers is several times faster than sorting places by lines.
    packed = line - lowest
    packed <<= place_bits
    packed |= np.arange(line.size, dtype=np.uint64)
    packed.sort()
    place = (packed & np.uint64((1 << int(place_bits)) - 1)).view(np.int64)
    packed >>= place_bits
    return place, packed[1:] == packed[:-1]


def stack_distances(line: AddressArray) -> IntArray:
    """Return the stack distance of each access: the distinct other lines since the line's previous access.

    Of (n,) lines in the order of the accesses; ``COLD`` (-1) where a line is touched first. Between an access
    i and the previous one p to its line there are i - p - 1 accesses. One that is followed by another to its
    own line before i counts that line a second time; the others are as many as there are lines. These repeats
    are the pairs (earlier, later) that lie within (p, i): in the order of the later access, the earlier ones
    that are larger than p and stand before it. O(n log n), no Python step an access.
    """
    earlier, later = find_reuses(line)
    rank_at = np.full(line.size, -1, dtype=np.int32)
    rank_at[later] = np.arange(later.size, dtype=np.int32)
    distances = np.full(line.size, COLD, dtype=np.int64)
    distances[later] = later - earlier - 1 - larger_before(rank_at[rank_at >= 0])
    return distances


# So many values and their counts stay in the second-level cache while their groups are halved further.
_CACHED = 1 << 18


def larger_before(permutation: Int32Array) -> Int32Array:
    """Return, for each value of a permutation of 0 .. n - 1, how many larger values stand before it.

    Inversions counted by the values' bits from the highest on: a group of consecutive values, kept in the
    order of their places, is halved into its lower and its upper values, and each lower one counts the upper
    ones before it. Pairs that stay together are counted in a later halving. O(n log n).
    """
    padded_size = 1 << max(permutation.size - 1, 0).bit_length()
    values = np.concatenate([permutation, np.arange(permutation.size, padded_size, dtype=np.int32)])
    part = min(padded_size, _CACHED)
    values, counts = _halved(values, np.zeros_like(values), padded_size // 2, part)
    for start in range(0, permutation.size, part):
        window = slice(start, start + part)
        counts[window] = _halved(values[window], counts[window], part // 2, 1)[1]
    return counts[: permutation.size]


def _halved(
    values: Int32Array, counts: Int32Array, half: int, threshold: int
) -> tuple[Int32Array, Int32Array]:
    """Split groups of twice ``half`` values into lower, then upper half, down to halves of the least size."""
    while half >= threshold:
        is_upper = (values & half) != 0
        upper, lower = np.flatnonzero(is_upper), np.flatnonzero(~is_upper)
        # Of the places before the k-th lower value, k are lower ones, and each whole group before had `half`
        # upper ones: what is left is the upper ones before it within its group.
        rank = np.arange(lower.size, dtype=np.int32)
        lower_counts = counts[lower]
        lower_counts += (lower - rank - (rank & -half)).astype(np.int32)
        values, counts = (
            np.concatenate([low.reshape(-1, half), high.reshape(-1, half)], axis=1).reshape(-1)
            for low, high in ((values[lower], values[upper]), (lower_counts, counts[upper]))
        )
        half //= 2
    return values, counts


# -- misses: (n,) lines of the accesses in their order, (c,) lines that each cache holds, above 0 ----------


def count_at_least(distance: IntArray, threshold: IntArray) -> IntArray:
    """Return how many of the distances, all 0 or more, are at least each threshold, all 0 or more."""
    below = np.concatenate([[0], np.cumsum(np.bincount(distance))])
    return distance.size - below[np.minimum(threshold, below.size - 1)]


def stat_stack_misses(line: AddressArray, capacity_lines: IntArray) -> MissCounts:
    """Return the expected misses of caches as below by StatStack, from the reuse distances alone.

    The expected stack distance of a reuse distance is expected(r) = sum over k = 1 .. r of P(reuse distance
    >= k): of the r accesses between, the one k places before the end is the last to its line if its own next
    use is k accesses away or more; an access whose line is not used again is infinitely far from it.
    """
    earlier, later = find_reuses(line)
    distance, cold = later - earlier - 1, line.size - later.size
    # At index k - 1: the share of accesses with a reuse distance of k or more.
    at_least = 1.0 - np.cumsum(np.bincount(distance)[:-1]) / max(line.size, 1)
    first_miss = np.searchsorted(np.concatenate([[0.0], np.cumsum(at_least)]), capacity_lines)
    misses = count_at_least(distance, first_miss) + cold
    return MissCounts(misses.astype(np.float64), None, None, float(cold))


def draw_lines(line: AddressArray, rate: float, rng: np.random.Generator) -> AddressArray:
    """Return the (s,) accesses to a share of the lines, chosen by a seeded hash, in their order."""
    # Mixed to 64 even bits (the finaliser of SplitMix64, by Stafford).
    mixed = line ^ rng.integers(2**64, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return line[mixed <= np.uint64(max(int(rate * 2**64) - 1, 0))]


def shards_misses(
    line: AddressArray,
    capacity_lines: IntArray,
    rate: float,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
) -> MissCounts:
    """Return the misses of fully associative caches with least-recently-used replacement.

    They are estimated from a share R > 0 of the lines; at 1, where all are counted, they are exact. Among
    the accesses to them a stack distance is the true one times R, so a cache of C lines is one of C R lines;
    the misses are those among the kept accesses, over R (SHARDS-adj). The bounds put two errors of sampling
    on top of each other: how far apart two uses seem, as if the cache were smaller or larger by
    sqrt(C (1 - R) / R) lines, and which lines are chosen, sqrt((1 - R) sum m^2) / R for lines of m misses.
    """
    sample = draw_lines(line, rate, rng) if rate < 1 else line
    if line.size and not sample.size:
        message = f"no line of the trace is chosen at a sampling rate of {rate:g}"
        raise OptionError(message, remedy="raise the rate, or ask for the exact curve")
    distance = stack_distances(sample)
    reused = distance[distance != COLD]
    cold = distance.size - reused.size
    if rate == 1:
        exact = (cold + count_at_least(reused, capacity_lines)).astype(np.float64)
        return MissCounts(exact, exact, exact, float(cold))
    # A confidence next to 1 is one of 1 when rounded, which has no quantile.
    quantile = NormalDist().inv_cdf(min(0.5 + confidence / 2, nextafter(1.0, 0.0)))
    capacity = capacity_lines.astype(np.float64)
    shift = quantile * np.sqrt(capacity * (1 - rate) / rate)
    larger, smaller = (capacity + shift) * rate, np.maximum(capacity - shift, 0.0) * rate
    misses, fewest, greatest = (
        (cold + _beyond(reused, lines)) / rate for lines in (capacity * rate, larger, smaller)
    )
    low = fewest - quantile * _standard_error(sample, rate, distance, larger)
    high = greatest + quantile * _standard_error(sample, rate, distance, smaller)
    accesses = float(line.size)
    return MissCounts(
        np.minimum(misses, accesses),
        np.clip(low, 0.0, accesses),
        np.where(shift < capacity, np.clip(high, 0.0, accesses), accesses),
        min(cold / rate, accesses),
    )


def _beyond(distance: IntArray, capacity: FloatArray) -> FloatArray:
    """Return how many distances are beyond each capacity; interpolated between whole numbers of lines."""
    lines = np.floor(capacity).astype(np.int64)
    part = capacity - lines
    return (1 - part) * count_at_least(distance, lines) + part * count_at_least(distance, lines + 1)


def _standard_error(
    sample: AddressArray, rate: float, distance: IntArray, capacity: FloatArray
) -> FloatArray:
    """Return the (c,) standard errors of the misses, over R, by which lines are chosen."""
    line_of_access = np.unique(sample, return_inverse=True)[1]
    squares = []
    for lines_held in capacity.tolist():
        # Between 0 and 1 at the one distance that a part of a line is about, as where it is counted.
        missed = np.clip(distance + 1 - lines_held, 0.0, 1.0)
        missed[distance == COLD] = 1.0
        of_line = np.bincount(line_of_access, weights=missed)
        squares.append(float(of_line @ of_line))
    return sqrt(1 - rate) / rate * np.sqrt(squares)
