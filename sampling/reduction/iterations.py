"""Which launches are the iterations of a program's loop. (docs/methods.md, 7 Principal Kernel Analysis)"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.parallel import Progress

#: A stretch of this share of the launches, repeated three times, is the loop: others are not looked for.
ENOUGH = 2 / 3
#: Of loops that repeat this share of what the best does, the one with the longest iteration counts.
NEARLY = 2 / 3
#: Iterations that hold less than this share of the launches are looked for on a smaller scale too.
MOST = 1 / 2

_FEWEST_IN_A_ROW = 3
_CANDIDATES = 32
_SCALE = 16
_SMALLEST = 64


@dataclass(frozen=True, slots=True, eq=False)
class Iterations:
    """The iterations of a loop: the same launches again and again."""

    #: Of one iteration.
    launches: int
    #: (k,) where each begins, ascending; they do not overlap, and are equal launch for launch.
    first: IntArray
    #: The loop ``start:stop``, with the parts of iterations at its ends and whatever lies between the
    #: iterations.
    start: int
    stop: int
    #: Launches in stretches of two iterations or more, one directly after the other.
    repeated: int
    #: The most iterations one directly after the other.
    in_a_row: int

    @property
    def equal_launches(self) -> int:
        """The launches of all iterations."""
        return self.launches * len(self.first)


def find_iterations(codes: AnyIntArray, progress: Progress | None = None) -> Iterations | None:
    """Return the iterations of the outermost loop of a sequence; None where nothing repeats.

    A stretch of `ENOUGH` of the launches that repeats thrice is the loop. Else those iterations count whose
    stretches have at least `NEARLY` as many launches as those of the best; of these, one that comes three
    times in a row before one that comes twice, and then the longest. Where less than `MOST` of the launches
    are iterations then, shorter stretches are looked at.

    It takes O(n): some passes over the launches for each of 32 blocks and of at most 32 candidates, on a
    scale 16 times as small each time that it goes on.

    Parameters
    ----------
    codes : (n,) what each launch is, integers >= 0; launches with the same code are the same.
    """
    launches = len(codes)
    if launches < 2:
        return None
    windows = Windows(codes)
    best, looked_at = None, launches
    while best is None or best.equal_launches < MOST * launches:
        first = (launches - looked_at) // 2
        candidates: list[Iterations] = []
        for candidate in islice(_candidates(codes, windows, first, first + looked_at), _CANDIDATES):
            candidates.append(candidate)
            if progress is not None:
                progress(len(candidates), _CANDIDATES, "looking for iterations")
        found = _outermost(candidates)
        if found is not None and (best is None or found.equal_launches > best.equal_launches):
            best = found
        looked_at //= _SCALE
        if looked_at < _SMALLEST:
            break
    return best


def iterations_like(codes: AnyIntArray, first: int, launches: int) -> Iterations | None:
    """Return all iterations of the loop that one iteration is known of; None where it comes once only.

    Parameters
    ----------
    codes : (n,) as for `find_iterations`.
    first, launches : where the known iteration begins, and how many launches it has.
    """
    windows = Windows(codes)
    start, stop = _stretches_of_iteration(codes, windows, first, launches)
    return _iterations(codes, windows, launches, start, stop) if len(start) else None


def _outermost(candidates: list[Iterations]) -> Iterations | None:
    if not candidates:
        return None
    most = max(each.repeated for each in candidates)
    nearly = [each for each in candidates if each.repeated >= NEARLY * most]
    return max(nearly, key=lambda each: (each.in_a_row >= _FEWEST_IN_A_ROW, each.launches))


def _candidates(codes: AnyIntArray, windows: Windows, first: int, stop: int) -> Iterator[Iterations]:
    """Yield different iterations, those of the longest stretches first."""
    stretches = []
    for stretch in stretches_within(codes, windows, first, stop):
        stretches.append(stretch)
        length = stretch.stop - stretch.start
        if length >= ENOUGH * len(codes) and length >= _FEWEST_IN_A_ROW * stretch.period:
            stretches = [stretch]
            break
    done = set()
    for stretch in sorted(stretches, key=lambda each: (each.start - each.stop, each.period, each.start)):
        if stretch not in done:
            start, end = _stretches_of_iteration(codes, windows, stretch.start, stretch.period)
            done |= {(*edges, stretch.period) for edges in zip(start.tolist(), end.tolist(), strict=True)}
            yield _iterations(codes, windows, stretch.period, start, end)


def _stretches_of_iteration(
    codes: AnyIntArray, windows: Windows, begin: int, launches: int
) -> tuple[IntArray, IntArray]:
    """Return all stretches of one iteration, wherever in it they begin."""
    start, stop = stretches_of_period(codes, launches)
    places = _places(windows, begin, launches)
    # A stretch of two iterations has one that begins as this one does among its first.
    same = np.searchsorted(places, start) < np.searchsorted(places, start + launches)
    return start[same], stop[same]


def _places(windows: Windows, begin: int, launches: int) -> IntArray:
    """Return (k,) where windows begin that are the same as one, ascending."""
    codes = windows.all_codes(launches)
    return np.flatnonzero(codes == codes[begin])


def _iterations(
    codes: AnyIntArray, windows: Windows, launches: int, start: IntArray, stop: IntArray
) -> Iterations:
    """Return the iterations of a loop: begun as those of its longest stretch, wherever they are."""
    longest = int(np.argmax(stop - start))
    begin = int(start[longest])
    places = _places(windows, begin, launches)
    first = places[_apart(places, launches)]
    rows = codes[first[:, np.newaxis] + np.arange(launches)]
    first = first[(rows == codes[begin : begin + launches]).all(axis=1)]
    return Iterations(
        launches=launches,
        first=first,
        start=min(int(first[0]), int(start[0])),
        stop=max(int(first[-1]) + launches, int(stop[-1])),
        repeated=int((np.minimum(stop[:-1], start[1:]) - start[:-1]).sum() + stop[-1] - start[-1]),
        in_a_row=int(stop[longest] - begin) // launches,
    )


def _apart(places: IntArray, launches: int) -> BoolArray:
    """Return (k,) which of ascending places to keep so that none overlap: the first, then always the next."""
    following = np.searchsorted(places, places + launches)
    kept = np.zeros(len(places) + 1, dtype=np.bool_)
    kept[0] = True
    jump = np.append(following, len(places))
    # Each round doubles how many of the kept ones are known.
    while not kept[jump[np.flatnonzero(kept)]].all():
        kept[jump[np.flatnonzero(kept)]] = True
        jump = jump[jump]
    return kept[:-1]


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


#: Odd, so that it has an inverse: the powers of a polynomial modulo 2^64.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64


class Windows:
    """The windows of a sequence, each with a code of 64 bits; equal windows have equal codes.

    Different windows may share a code, if hardly ever: who needs to be sure compares the launches.
    """

    def __init__(self, codes: AnyIntArray) -> None:
        """Add the codes up once, in O(n).

        Parameters
        ----------
        codes : (n,) integers >= 0, at least one.
        """
        inverse = pow(_BASE, -1, _MODULUS)
        powers, self._inverse_powers = (_powers(base, len(codes)) for base in (_BASE, inverse))
        labels = np.random.default_rng(0).integers(_MODULUS - 1, size=int(codes.max()) + 1, dtype=np.uint64)
        self._sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(labels[codes] * powers, out=self._sums[1:])

    def codes(self, first: IntArray, launches: IntArray) -> NDArray[np.uint64]:
        """Return (k,) the codes of windows, which lie within the sequence and are not empty."""
        sums = self._sums[first + launches] - self._sums[first]
        return np.asarray(sums * self._inverse_powers[first])

    def same_after(self, low: IntArray, high: IntArray) -> IntArray:
        """Return (k,) how many values from two places on are the same, ``low`` before ``high``."""
        most = len(self._inverse_powers) - high
        return self._longest(most, lambda chosen, _: (low[chosen], high[chosen]))

    def same_before(self, low: IntArray, high: IntArray) -> IntArray:
        """Return (k,) how many values before two places are the same, ``low`` before ``high``."""
        return self._longest(low, lambda chosen, size: (low[chosen] - size, high[chosen] - size))

    def _longest(
        self, most: IntArray, begin: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]
    ) -> IntArray:
        """Return (k,) the largest sizes at which two windows are the same, found bit by bit."""
        length = np.zeros(len(most), dtype=np.int64)
        for bit in reversed(range(int(most.max(initial=0)).bit_length())):
            chosen = np.flatnonzero(length + (1 << bit) <= most)
            size = length[chosen] + (1 << bit)
            one, other = begin(chosen, size)
            length[chosen[self.codes(one, size) == self.codes(other, size)]] += 1 << bit
        return length

    def all_codes(self, launches: int) -> NDArray[np.uint64]:
        """Return (n - launches + 1,) the codes of all windows of one length."""
        last = len(self._inverse_powers) - launches
        sums = self._sums[launches:] - self._sums[: last + 1]
        return np.asarray(sums * self._inverse_powers[: last + 1])


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    """Return (count,) 1, base, base^2, ... modulo 2^64."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.asarray(np.cumprod(factors))
