"""Stretches of a sequence that repeat: at least twice the same launches, one directly after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.reduction.iterations.windows import Windows

#: A stretch that repeats is found if it covers two of so many equal blocks.
BLOCKS = 32
#: How many launches in a row are looked for elsewhere, where a block has twice as many: one is too common.
_WINDOW = 16
#: After so many places in vain, those that repeat are told from the others at once.
_TRIES = 32


class Stretch(NamedTuple):
    """The launches ``start:stop``, each the same as the one ``period`` before it; as long as can be.

    No shorter period has all of them, and they are two periods or more.
    """

    start: int
    stop: int
    period: int


def stretches_within(codes: AnyIntArray, windows: Windows, first: int, stop: int) -> Iterator[Stretch]:
    """Yield stretches of a block's length or more, those through the middle first; all that cover two blocks.

    A stretch that covers a block has any of its windows again a period before or after, but where that is cut
    off at its end; so the windows of two blocks are enough, and only the places of those are looked at: O(n)
    a block.

    Parameters
    ----------
    codes : (n,) what each launch is.
    first, stop : the blocks part the launches ``first:stop``; stretches may reach beyond.
    """
    occurrences = np.bincount(codes)
    edges = np.unique(np.linspace(first, stop, BLOCKS + 1).astype(np.int64)).tolist()
    blocks = list(pairwise(edges))
    least = min(high - low for low, high in blocks)
    size = min(max(least // 2, 1), _WINDOW)
    window = windows.all_codes(size)
    middle = (len(blocks) - 1) / 2
    found = set()
    for _, (low, high) in sorted(enumerate(blocks), key=lambda place: abs(place[0] - middle)):
        # The rarest launch is in few windows.
        rarest = low + int(np.argmin(occurrences[codes[low : high - size + 1]]))
        places = np.flatnonzero(window == window[rarest])
        for stretch in _through(codes, windows, rarest, places, least):
            if stretch not in found:
                found.add(stretch)
                yield stretch


def _through(
    codes: AnyIntArray, windows: Windows, launch: int, places: IntArray, least: int
) -> Iterator[Stretch]:
    """Yield stretches of some length or more through a launch and a place, shortest period first."""
    other = places[places != launch]
    distance = np.abs(other - launch)
    # In a stretch that is long enough, so many launches before or after are the same as those further on.
    same = (np.maximum(distance, least - distance) + 1) // 2
    kept = np.flatnonzero(_is_same(windows, len(codes), np.minimum(other, launch), distance, same))
    kept = kept[np.argsort(distance[kept], kind="stable")]
    other, distance = other[kept], distance[kept]
    in_vain = 0
    while len(other):
        period = int(distance[0])
        low = min(int(other[0]), launch)
        stretch = _longest(codes, low, period)
        left = np.arange(len(other)) > 0
        if stretch.stop - stretch.start >= 2 * period:
            if stretch.stop - stretch.start >= least:
                yield stretch
            # Within it, multiples of the period say nothing new.
            left &= (distance % period > 0) | (other < stretch.start) | (other >= stretch.stop)
        else:
            in_vain += 1
            if in_vain == _TRIES:
                left &= _repeats(windows, launch, other, distance)
        other, distance = other[left], distance[left]


def _repeats(windows: Windows, launch: int, other: IntArray, distance: IntArray) -> BoolArray:
    """Return (k,) whether the stretch through a launch and a place has two periods."""
    low, high = np.minimum(other, launch), np.maximum(other, launch)
    same: BoolArray = windows.same_before(low, high) + windows.same_after(low, high) >= distance
    return same


def _is_same(windows: Windows, launches: int, low: IntArray, distance: IntArray, size: IntArray) -> BoolArray:
    """Return (k,) whether the windows of a size before or from ``low`` on are the same as a distance on."""
    same = np.zeros(len(low), dtype=np.bool_)
    for begin in (low, low - size):
        inside = np.flatnonzero((begin >= 0) & (begin + distance + size <= launches))
        here, there = begin[inside], begin[inside] + distance[inside]
        same[inside] |= windows.codes(here, size[inside]) == windows.codes(there, size[inside])
    return same


def _longest(codes: AnyIntArray, low: int, period: int) -> Stretch:
    """Return the launches around one that are the same as those a period before or after them."""
    high = low + period
    ahead = _same(codes[low:-period], codes[high:])
    behind = _same(codes[:low][::-1], codes[period:high][::-1])
    return Stretch(low - behind, high + ahead, period)


def _same(one: AnyIntArray, other: AnyIntArray) -> int:
    """Return how many values at the beginning of two equally long arrays are equal, in O(that)."""
    done, step = 0, 64
    while done < len(one):
        differ = one[done : done + step] != other[done : done + step]
        if differ.any():
            return done + int(np.argmax(differ))
        done, step = done + len(differ), 2 * step
    return done


def stretches_of_period(codes: AnyIntArray, period: int) -> tuple[IntArray, IntArray]:
    """Return (k,) where the longest stretches of a period begin and (k,) where they end, in O(n)."""
    same = np.zeros(len(codes) - period + 2, dtype=np.int8)
    same[1:-1] = codes[period:] == codes[:-period]
    edges = np.flatnonzero(same[1:] != same[:-1])
    start, stop = edges[::2], edges[1::2] + period
    long = stop - start >= 2 * period
    return start[long], stop[long]
