"""Misses by stack distance: how many other lines were touched since a line's previous access.

Source: Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal
9(2), 1970 (docs/methods.md, 10 Scale model). A fully associative cache of C lines with least-recently-used
replacement misses exactly the accesses of stack distance C or more, and those that touch their line for the
first time.

StatStack knows reuse distances alone, which are cheaper. Source: Eklov, Hagersten, "StatStack: efficient
modeling of LRU caches", ISPASS 2010. The stack distance of an access of reuse distance r is expected to be
the number of the r accesses between that are the last to their line before it: the one k places before the
end is, where its own next use is k accesses away or more, which is as probable as it is among all accesses,

    expected(r) = sum over k = 1 .. r of P(reuse distance >= k).

Accesses whose line is not used again count as infinitely far. The expectation rises with r, so a cache of C
lines misses the accesses whose reuse distance is expected to be a stack distance of C or more. It is exact
where reuse distances do not depend on the place in the trace, and wrong by as much as they do: phases, and
lines that are used together. The method states no error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalemodel.arrays import BoolArray, FloatArray, IntArray
from scalemodel.errors import OptionError

Int32Array = NDArray[np.int32]

# Groups this small are compared pair by pair: 255 larger values at most, which a byte can count.
_SMALL = 256
# So many values and their counts stay in the second-level cache while their groups are halved further.
_CACHED = 1 << 18


def larger_before(permutation: Int32Array) -> Int32Array:
    """Return, for each value, how many larger values stand before it.

    Parameters
    ----------
    permutation : (n,) int32, each of 0 .. n - 1 once.

    Returns
    -------
    (n,) int32, at index v the count for value v: in the order of the values, not of their places.

    Notes
    -----
    Inversions counted by the values' bits from the highest on: a group of consecutive values, kept in the
    order of their places, is halved into its lower and its upper values, and each lower one counts the upper
    ones before it. Pairs that stay together are counted in a later halving. O(n log n).
    """
    size = permutation.size
    rest = np.arange(size, size + -size % _SMALL, dtype=np.int32)
    values = np.concatenate([permutation, rest])
    counts = np.zeros_like(values)
    half = 1 << max(values.size - 1, 1).bit_length() - 1
    while 2 * half > _CACHED:
        values, counts = _halved(values, counts, half)
        half //= 2
    for start in range(0, values.size, _CACHED):
        part = slice(start, start + _CACHED)
        counts[part] = _counted(values[part], counts[part], half)
    return counts[:size]


def _counted(values: Int32Array, counts: Int32Array, half: int) -> Int32Array:
    """Return the counts in the order of the values, for groups of twice ``half`` consecutive values."""
    while half >= _SMALL:
        values, counts = _halved(values, counts, half)
        half //= 2
    within = values & (_SMALL - 1)
    counts += _larger_before_within(within)
    ordered = np.empty_like(counts)
    ordered[np.arange(values.size) // _SMALL * _SMALL + within] = counts
    return ordered


def _halved(values: Int32Array, counts: Int32Array, half: int) -> tuple[Int32Array, Int32Array]:
    """Split each group of twice ``half`` values into its lower half, then its upper half; only the last
    group may be smaller."""
    is_upper = (values & half) != 0
    upper, lower = np.flatnonzero(is_upper), np.flatnonzero(~is_upper)
    # Of the places before the k-th lower value, k are lower ones, and each whole group before had `half`
    # upper ones: what is left is the upper ones before it within its group.
    rank = np.arange(lower.size)
    lower_counts = counts[lower]
    lower_counts += (lower - rank - (rank & -half)).astype(np.int32)
    whole = values.size // (2 * half) * half
    return (
        _joined(values[lower], values[upper], half, whole),
        _joined(lower_counts, counts[upper], half, whole),
    )


def _joined(lower: Int32Array, upper: Int32Array, half: int, whole: int) -> Int32Array:
    """Return the halves group by group; the first ``whole`` of each are of whole groups."""
    joined = np.empty(lower.size + upper.size, dtype=np.int32)
    groups = joined[: 2 * whole].reshape(-1, 2, half)
    groups[:, 0] = lower[:whole].reshape(-1, half)
    groups[:, 1] = upper[:whole].reshape(-1, half)
    last = 2 * whole + lower.size - whole
    joined[2 * whole : last] = lower[whole:]
    joined[last:] = upper[whole:]
    return joined


def _larger_before_within(values: Int32Array) -> Int32Array:
    """Compare every pair within groups of 256: one row for each place, a column for each group."""
    places = np.ascontiguousarray(values.astype(np.uint8).reshape(-1, _SMALL).T)
    counts = np.zeros_like(places)
    is_larger = np.empty(places.shape, dtype=np.bool_)
    for place in range(1, _SMALL):
        before = np.greater(places[:place], places[place], out=is_larger[:place])
        np.add.reduce(before.view(np.uint8), axis=0, dtype=np.uint8, out=counts[place])
    return counts.T.reshape(-1).astype(np.int32)


LineArray = NDArray[np.uint64]

#: The distance of an access that touches its line for the first time.
COLD = -1

# Counts are 32-bit: half the memory, and no trace that fits the memory is longer.
MOST_ACCESSES = 2**31 - 2**10


@dataclass(frozen=True, slots=True)
class Reuses:
    """Every access that is followed by another one to the same line.

    Attributes
    ----------
    earlier : (m,) int64, its place in the trace, ascending.
    later : (m,) int64, the place of the next access to the same line.
    accesses : of the whole trace.
    """

    earlier: IntArray
    later: IntArray
    accesses: int

    @property
    def cold(self) -> int:
        """Accesses that touch their line for the first time: as many as there are distinct lines."""
        return self.accesses - self.earlier.size

    @property
    def distance(self) -> IntArray:
        """(m,) int64, the reuse distances: accesses between the two, whichever lines they touch."""
        return self.later - self.earlier - 1


@dataclass(frozen=True, slots=True)
class MissCounts:
    """Misses of caches of several sizes.

    Attributes
    ----------
    misses : (c,) float64, cold ones included.
    low, high : (c,) float64, bounds of them; None where the method states no error.
    cold : the misses that no capacity avoids.
    sampled_lines : distinct lines looked at; None where all are.
    """

    misses: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    cold: float
    sampled_lines: int | None = None


def find_reuses(line: LineArray) -> Reuses:
    """Return which accesses are followed by another one to the same line.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.

    Raises
    ------
    OptionError : there are more than 2**31 accesses.
    """
    accesses = line.size
    if accesses > MOST_ACCESSES:
        raise OptionError(
            f"the trace has {accesses:,} accesses, more than {MOST_ACCESSES:,}",
            remedy="sample it, or take fewer kernels",
        )
    place, is_followed = _by_line(line)
    next_place = np.full(accesses, -1, dtype=np.int32)
    next_place[place[:-1][is_followed]] = place[1:][is_followed]
    earlier = np.flatnonzero(next_place >= 0)
    return Reuses(earlier, next_place[earlier].astype(np.int64), accesses)


def _by_line(line: LineArray) -> tuple[IntArray, BoolArray]:
    """Return the places sorted by line, then place, and whether the next one there is of the same line."""
    if not line.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    lowest = line.min()
    place_bits = np.uint64(int(line.size).bit_length())
    if int(line.max() - lowest).bit_length() + int(place_bits) > 64:
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


def stack_distances(line: LineArray) -> IntArray:
    """Return the stack distance of each access: the distinct other lines since the line's previous access.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.

    Returns
    -------
    (n,) int64; 0 where the line is touched twice in a row, ``COLD`` (-1) where it is touched first.

    Raises
    ------
    OptionError : there are more than 2**31 accesses.

    Notes
    -----
    Between an access i and the previous one p to its line there are i - p - 1 accesses. One that is followed
    by another to its own line before i counts that line a second time; the others are as many as there are
    lines. These repeats are the pairs (earlier, later) that lie within (p, i): in the order of the later
    access, the earlier ones that are larger than p and stand before it. O(n log n), no Python step an access.
    """
    distances = np.full(line.size, COLD, dtype=np.int64)
    reuses = find_reuses(line)
    distances[reuses.later] = _distances_of(reuses)
    return distances


def _distances_of(reuses: Reuses) -> IntArray:
    """Return the (m,) stack distances of the reuses' later accesses."""
    rank_at = np.full(reuses.accesses, -1, dtype=np.int32)
    rank_at[reuses.later] = np.arange(reuses.later.size, dtype=np.int32)
    in_later_order = rank_at[rank_at >= 0]
    return reuses.distance - larger_before(in_later_order)


def count_at_least(distance: IntArray, threshold: IntArray) -> IntArray:
    """Return how many of the distances, all 0 or more, are at least each threshold, all 0 or more."""
    below = np.concatenate([[0], np.cumsum(np.bincount(distance))])
    return distance.size - below[np.minimum(threshold, below.size - 1)]


def exact_misses(line: LineArray, capacity_lines: IntArray) -> MissCounts:
    """Return the misses of fully associative caches with least-recently-used replacement.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.
    capacity_lines : (c,) int64, > 0, lines that each cache holds.

    Raises
    ------
    OptionError : there are more than 2**31 accesses.
    """
    reuses = find_reuses(line)
    misses = (count_at_least(_distances_of(reuses), capacity_lines) + reuses.cold).astype(np.float64)
    return MissCounts(misses, misses, misses, float(reuses.cold))


def expected_stack_distances(reuse_distance: IntArray, accesses: int) -> FloatArray:
    """Return the expected stack distance for each reuse distance from 0 to the largest.

    Parameters
    ----------
    reuse_distance : (m,) int64, >= 0, of the accesses whose line is used again.
    accesses : n >= m, all of them; those beyond m are not used again.
    """
    counts = np.bincount(reuse_distance)
    # At index k - 1: the share of accesses with a reuse distance of k or more.
    at_least = 1.0 - np.cumsum(counts[:-1]) / max(accesses, 1)
    return np.concatenate([[0.0], np.cumsum(at_least)])


def stat_stack_misses(line: LineArray, capacity_lines: IntArray) -> MissCounts:
    """Return the expected misses of fully associative caches with least-recently-used replacement.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.
    capacity_lines : (c,) int64, > 0, lines that each cache holds.

    Raises
    ------
    OptionError : there are more than 2**31 accesses.
    """
    reuses = find_reuses(line)
    distance = reuses.distance
    expected = expected_stack_distances(distance, reuses.accesses)
    first_miss = np.searchsorted(expected, capacity_lines)
    misses = count_at_least(distance, first_miss) + reuses.cold
    return MissCounts(misses.astype(np.float64), None, None, float(reuses.cold))
