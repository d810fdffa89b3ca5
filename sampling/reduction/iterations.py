"""Which launches are the iterations of a program's loop. (docs/methods.md, 7 Principal Kernel Analysis)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray

#: A stretch of this share of the launches, repeated three times, is the loop: others are not looked for.
ENOUGH = 2 / 3
#: Of loops that repeat this share of what the best does, the one with the longest iteration counts.
NEARLY = 2 / 3
#: Iterations that hold less than this share of the launches are looked for on a smaller scale too.
MOST = 1 / 2
#: A stretch that repeats is found if it covers two of so many equal blocks.
BLOCKS = 32

_FEWEST_IN_A_ROW = 3
_CANDIDATES = 32
_SCALE = 16
_SMALLEST = 64
#: How many launches in a row are looked for elsewhere, where a block has twice as many: one is too common.
_WINDOW = 16
#: Odd, so that it has an inverse: the powers of a polynomial modulo 2^64.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64


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


class Windows:
    """The windows of a sequence, each with a code of 64 bits; equal windows have equal codes.

    Different windows may share a code, if hardly ever: who needs to be sure compares the launches.
    """

    def __init__(self, codes: AnyIntArray) -> None:
        """Add up (n,) codes >= 0, at least one, in O(n)."""
        powers, self._inverse_powers = np.empty((2, len(codes)), dtype=np.uint64)
        for base, factors in ((_BASE, powers), (pow(_BASE, -1, _MODULUS), self._inverse_powers)):
            factors[:] = base
            factors[0] = 1
            np.cumprod(factors, out=factors)
        labels = np.random.default_rng(0).integers(_MODULUS - 1, size=int(codes.max()) + 1, dtype=np.uint64)
        self._sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(labels[codes] * powers)])

    def codes(self, first: IntArray, launches: IntArray) -> NDArray[np.uint64]:
        """Return (k,) the codes of windows, which lie within the sequence and are not empty."""
        sums = self._sums[first + launches] - self._sums[first]
        return np.asarray(sums * self._inverse_powers[first])

    def all_codes(self, launches: int) -> NDArray[np.uint64]:
        """Return (n - launches + 1,) the codes of all windows of one length."""
        sums = self._sums[launches:] - self._sums[:-launches]
        return np.asarray(sums * self._inverse_powers[: len(sums)])


def find_iterations(codes: AnyIntArray) -> Iterations | None:
    """Return the iterations of the outermost loop of a sequence; None where nothing repeats.

    A stretch of `ENOUGH` of the launches that repeats thrice is the loop. Else those iterations count whose
    stretches have at least `NEARLY` as many launches as those of the best; of these, one that comes three
    times in a row before one that comes twice, and then the longest. Where less than `MOST` of the launches
    are iterations then, shorter stretches are looked at.

    It takes O(n): some passes over the launches for each of 32 blocks and of at most 32 candidates, on a
    scale 16 times as small each time that it goes on. Launches with the same code (n,) >= 0 are the same.
    """
    launches = looked_at = len(codes)
    if launches < 2:
        return None
    windows, best = Windows(codes), None
    while best is None or best.equal_launches < MOST * launches:
        first = (launches - looked_at) // 2
        candidates = list(islice(_candidates(codes, windows, first, first + looked_at), _CANDIDATES))
        most_repeated = max((candidate.repeated for candidate in candidates), default=0)
        nearly = [candidate for candidate in candidates if candidate.repeated >= NEARLY * most_repeated]
        if nearly:
            longest = max(
                nearly, key=lambda candidate: (candidate.in_a_row >= _FEWEST_IN_A_ROW, candidate.launches)
            )
            if best is None or longest.equal_launches > best.equal_launches:
                best = longest
        looked_at //= _SCALE
        if looked_at < _SMALLEST:
            break
    return best


def _candidates(codes: AnyIntArray, windows: Windows, first: int, stop: int) -> Iterator[Iterations]:
    """Yield different iterations, those of the longest stretches first."""
    stretches = []
    for stretch in stretches_within(codes, windows, first, stop):
        stretches.append(stretch)
        length = stretch.stop - stretch.start
        if length >= ENOUGH * len(codes) and length >= _FEWEST_IN_A_ROW * stretch.period:
            stretches = [stretch]
            break
    searched: set[Stretch] = set()
    for stretch in sorted(
        stretches, key=lambda candidate: (candidate.start - candidate.stop, candidate.period, candidate.start)
    ):
        if stretch not in searched:
            starts, stops = _stretches_like(codes, windows, stretch.start, stretch.period)
            edges = zip(starts.tolist(), stops.tolist(), strict=True)
            searched |= {Stretch(*edge, stretch.period) for edge in edges}
            iterations = _iterations(codes, windows, stretch.period, starts, stops)
            if iterations is not None:
                yield iterations


def iterations_like(codes: AnyIntArray, first: int, launches: int) -> Iterations | None:
    """Return all iterations of the loop of which one is ``codes[first : first + launches]``.

    None where it comes once only.
    """
    windows = Windows(codes)
    start, stop = _stretches_like(codes, windows, first, launches)
    return _iterations(codes, windows, launches, start, stop) if len(start) else None


def _stretches_like(
    codes: AnyIntArray, windows: Windows, begin: int, launches: int
) -> tuple[IntArray, IntArray]:
    """Return all stretches of one iteration, wherever in it they begin."""
    start, stop = find_period_stretches(codes, launches)
    window = windows.all_codes(launches)
    places = np.flatnonzero(window == window[begin])
    # A stretch of two iterations has one that begins as this one does among its first.
    same = np.searchsorted(places, start) < np.searchsorted(places, start + launches)
    return start[same], stop[same]


def find_period_stretches(codes: AnyIntArray, period: int) -> tuple[IntArray, IntArray]:
    """Return (k,) where the longest stretches of a period begin and (k,) where they end, in O(n)."""
    same = np.zeros(len(codes) - period + 2, dtype=np.int8)
    same[1:-1] = codes[period:] == codes[:-period]
    edges = np.flatnonzero(same[1:] != same[:-1])
    start, stop = edges[::2], edges[1::2] + period
    long = stop - start >= 2 * period
    return start[long], stop[long]


def _iterations(
    codes: AnyIntArray, windows: Windows, launches: int, start: IntArray, stop: IntArray
) -> Iterations | None:
    """Return the iterations of a loop: begun as those of its longest stretch, wherever they are.

    None where others with the same sum stand in the way of all (a Thue-Morse sequence has such).
    """
    longest = int(np.argmax(stop - start))
    begin = int(start[longest])
    window = windows.all_codes(launches)
    places = np.flatnonzero(window == window[begin])
    # The first place, then always the next that does not overlap; each round doubles how many are known.
    jump = np.append(np.searchsorted(places, places + launches), len(places))
    is_start = np.zeros(len(places) + 1, dtype=np.bool_)
    is_start[0] = True
    while not is_start[jump[is_start]].all():
        is_start[jump[is_start]] = True
        jump = jump[jump]
    first = places[is_start[:-1]]
    rows = codes[first[:, np.newaxis] + np.arange(launches)]
    first = first[(rows == codes[begin : begin + launches]).all(axis=1)]
    if not len(first):
        return None
    return Iterations(
        launches=launches,
        first=first,
        start=min(int(first[0]), int(start[0])),
        stop=max(int(first[-1]) + launches, int(stop[-1])),
        repeated=int((np.minimum(stop[:-1], start[1:]) - start[:-1]).sum() + stop[-1] - start[-1]),
        in_a_row=int(stop[longest] - begin) // launches,
    )


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
    a block. The blocks part the launches ``first:stop``; stretches may reach beyond.
    """
    occurrences = np.bincount(codes)
    edges = np.unique(np.linspace(first, stop, BLOCKS + 1).astype(np.int64)).tolist()
    blocks = list(pairwise(edges))
    shortest = min(high - low for low, high in blocks)
    size = min(max(shortest // 2, 1), _WINDOW)
    window = windows.all_codes(size)
    middle = (len(blocks) - 1) / 2
    periods = set()
    for _, (low, high) in sorted(enumerate(blocks), key=lambda place: abs(place[0] - middle)):
        # The rarest launch is in few windows.
        rarest = low + int(np.argmin(occurrences[codes[low : high - size + 1]]))
        places = np.flatnonzero(window == window[rarest])
        for stretch in _through(codes, windows, rarest, places[places != rarest], shortest):
            if stretch not in periods:
                periods.add(stretch)
                yield stretch


def _through(
    codes: AnyIntArray, windows: Windows, launch: int, partners: IntArray, shortest: int
) -> Iterator[Stretch]:
    """Yield stretches of some length or more through a launch and other places, shortest period first."""
    low, distance = np.minimum(partners, launch), np.abs(partners - launch)
    # In a stretch that is long enough, so many launches before or after are the same as those further on.
    size = (np.maximum(distance, shortest - distance) + 1) // 2
    same = np.zeros(len(partners), dtype=np.bool_)
    for begin in (low, low - size):
        usable = np.flatnonzero((begin >= 0) & (begin + distance + size <= len(codes)))
        first, second = begin[usable], begin[usable] + distance[usable]
        same[usable] |= windows.codes(first, size[usable]) == windows.codes(second, size[usable])
    rows = np.flatnonzero(same)
    rows = rows[np.argsort(distance[rows], kind="stable")]
    partners, low, distance = partners[rows], low[rows], distance[rows]
    while len(partners):
        first, period = int(low[0]), int(distance[0])
        second = first + period
        start = first - _equal(codes[:first][::-1], codes[period:second][::-1])
        stop = second + _equal(codes[first:-period], codes[second:])
        left = np.arange(len(partners)) > 0
        if stop - start >= 2 * period:
            if stop - start >= shortest:
                yield Stretch(start, stop, period)
            # Within it, multiples of the period say nothing new.
            left &= (distance % period > 0) | (partners < start) | (partners >= stop)
        partners, low, distance = partners[left], low[left], distance[left]


def _equal(left: AnyIntArray, right: AnyIntArray) -> int:
    """Return how many values at the beginning of two equally long arrays are equal, in O(that)."""
    length, step = 0, 64
    while length < len(left):
        differ = left[length : length + step] != right[length : length + step]
        if differ.any():
            return length + int(np.argmax(differ))
        length, step = length + len(differ), 2 * step
    return length
