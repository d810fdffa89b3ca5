"""Which launches are the iterations of a program's loop. (docs/methods.md, 7 Principal Kernel Analysis)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.progress import Progress
from sampling.reduction.iterations.stretches import stretches_of_period, stretches_within
from sampling.reduction.iterations.windows import Windows

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
    """The iterations of a loop: the same launches again and again.

    Attributes
    ----------
    launches : of one iteration.
    first : (k,) where each begins, ascending; they do not overlap, and are equal launch for launch.
    start, stop : the loop ``start:stop``, with the parts of iterations at its ends and whatever lies between
        the iterations.
    repeated : launches in stretches of two iterations or more, one directly after the other.
    in_a_row : the most iterations one directly after the other.
    """

    launches: int
    first: IntArray
    start: int
    stop: int
    repeated: int
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
