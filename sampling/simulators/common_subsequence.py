"""The longest common subsequence of two long lists that are nearly the same, or one nearly within the other.

The work is the product of two numbers, the entries that the longer list alone has and those that the
shorter one alone has, each and one more: a list that merely lacks some entries costs little. Entries that the
other list has nowhere, and equal beginnings and ends, are left out before. S. Wu, U. Manber, G. Myers,
W. Miller, An O(NP) Sequence Comparison Algorithm, Information Processing Letters 35, 1990.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from sampling.arrays import BoolArray, IntArray

#: At most so many diagonals are looked at: some ten seconds.
MOST_STEPS = 5_000_000
_LONG_RUN = 12


def common_subsequence(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return (m,) the places in either list of a longest common subsequence, ascending.

    Parameters
    ----------
    one, other : (n,) and (k,) codes; equal entries have the same.

    Returns
    -------
    None where the two differ so much that it would take more than `MOST_STEPS`.
    """
    first, second = np.flatnonzero(np.isin(one, other)), np.flatnonzero(np.isin(other, one))
    found = _matched(one[first], other[second])
    return None if found is None else (first[found[0]], second[found[1]])


def _matched(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return the places of a common subsequence, with equal beginnings and ends taken off first."""
    shorter = min(len(one), len(other))
    head = _equal_entries(one[:shorter] == other[:shorter])
    tail = _equal_entries(one[::-1][: shorter - head] == other[::-1][: shorter - head])
    inner = _of_middle(one[head : len(one) - tail], other[head : len(other) - tail])
    if inner is None:
        return None
    parts = [
        np.concatenate([np.arange(head), head + middle, np.arange(size - tail, size)])
        for middle, size in zip(inner, (len(one), len(other)), strict=True)
    ]
    return parts[0], parts[1]


def _equal_entries(is_equal: BoolArray) -> int:
    """Return how many entries are equal before the first that is not."""
    return len(is_equal) if is_equal.all() else int(np.argmin(is_equal))


def _of_middle(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray] | None:
    if len(one) > len(other):
        swapped = _of_middle(other, one)
        return None if swapped is None else (swapped[1], swapped[0])
    if not len(one):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    search = _Search(one, other)
    return search.places() if search.has_reached_the_end() else None


@dataclass(slots=True)
class _Search:
    """A search over diagonals, on each of which the place in the longer list is ahead by the same number.

    Attributes
    ----------
    furthest : the furthest place in the longer list that each diagonal has reached; Python's own indexing
        from the end serves the diagonals below 0.
    last_run : the last run of equal entries on the way to it, as an index into the runs; -1: none.
    before, start, length : of each run: the one before it, its place in the shorter list, its entries.
    ahead : of each run, how far its place in the longer list is ahead.
    """

    shorter: IntArray
    longer: IntArray
    furthest: list[int] = field(init=False)
    last_run: array[int] = field(init=False)
    before: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    length: array[int] = field(default_factory=lambda: array("q"))
    ahead: array[int] = field(default_factory=lambda: array("q"))

    def __post_init__(self) -> None:
        diagonals = len(self.shorter) + len(self.longer) + 3
        self.furthest = [-1] * diagonals
        self.last_run = array("q", [-1]) * diagonals

    def has_reached_the_end(self) -> bool:
        """Search until both lists are at their end; False where that takes too long."""
        last = len(self.longer) - len(self.shorter)
        # Scalars of lists are compared much faster than those of arrays.
        shorter, longer = self.shorter.tolist(), self.longer.tolist()
        lacking, steps = 0, 0
        while steps <= MOST_STEPS:
            for diagonal in range(-lacking, last):
                self._go_on(diagonal, shorter, longer)
            for diagonal in range(last + lacking, last - 1, -1):
                self._go_on(diagonal, shorter, longer)
            if self.furthest[last] == len(longer):
                return True
            lacking += 1
            steps += last + 2 * lacking
        return False

    def _go_on(self, diagonal: int, shorter: list[int], longer: list[int]) -> None:
        """Come to a diagonal from one beside it, whichever is further, and on through equal entries."""
        furthest = self.furthest
        below, above = furthest[diagonal - 1] + 1, furthest[diagonal + 1]
        place, run = (below, diagonal - 1) if below >= above else (above, diagonal + 1)
        start = at = place - diagonal
        rows, columns = len(shorter), len(longer)
        until = min(rows, columns - diagonal)
        near = min(until, at + _LONG_RUN)
        while at < near and shorter[at] == longer[at + diagonal]:
            at += 1
        if at == start + _LONG_RUN:
            at = self._end_of_long_run(at, until, diagonal)
        furthest[diagonal] = at + diagonal
        if at == start:
            self.last_run[diagonal] = self.last_run[run]
            return
        self.before.append(self.last_run[run])
        self.start.append(start)
        self.length.append(at - start)
        self.ahead.append(diagonal)
        self.last_run[diagonal] = len(self.start) - 1

    def _end_of_long_run(self, at: int, until: int, diagonal: int) -> int:
        size = 8 * _LONG_RUN
        while at < until:
            stop = min(at + size, until)
            differs = self.shorter[at:stop] != self.longer[at + diagonal : stop + diagonal]
            if differs.any():
                return at + int(np.argmax(differs))
            at, size = stop, 2 * size
        return at

    def places(self) -> tuple[IntArray, IntArray]:
        """Return the places of equal entries on the way found, in the shorter list and the longer."""
        run = self.last_run[len(self.longer) - len(self.shorter)]
        empty = np.zeros(0, dtype=np.int64)
        ones, others = [empty], [empty]
        while run >= 0:
            places = np.arange(self.start[run], self.start[run] + self.length[run])
            ones.append(places)
            others.append(places + self.ahead[run])
            run = self.before[run]
        return np.concatenate(ones[::-1]), np.concatenate(others[::-1])
