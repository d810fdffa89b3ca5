"""The orders of the table of view 4: which follows at a key, and what its title says of it."""

from __future__ import annotations

from tui.app.frame.heads import next_in
from tui.options.choices import CompareSort
from tui.text.compare import falls

_IN_TURN = (CompareSort.BEST, CompareSort.SPEEDUP, CompareSort.MEAN, CompareSort.DRAWN)
_ERRORS = frozenset({CompareSort.MEAN, CompareSort.P95, CompareSort.MAX})


def next_sort(sort: CompareSort) -> CompareSort:
    """Return the order that follows, the first after the last and after those that clicks alone ask for."""
    return next_in(_IN_TURN, sort)


def order_words(sort: CompareSort, *, reverse: bool) -> str:
    """Return what the table is sorted by, to be put behind what it lists."""
    if sort is CompareSort.BEST:
        return ", worst first" if reverse else ", best first"
    words = f" by {sort.value}{' error' if sort in _ERRORS else ''}"
    if not reverse:
        return words
    if sort is CompareSort.METHOD:
        return f"{words}, Z to A"
    return f"{words}, {'largest' if falls(sort, reverse=reverse) else 'smallest'} first"
