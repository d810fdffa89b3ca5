"""For each value of a permutation, how many larger ones stand before it; no Python step a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
