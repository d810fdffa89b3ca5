"""Numbers of launches as few ranges, and as many ranges as one string of the environment may hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")

#: First and last number of a range, both in it.
Range = tuple[int, int]


def merged(numbers: Iterable[int]) -> list[Range]:
    """Return ascending ranges of exactly these numbers, no two of which touch.

    >>> merged([7, 2, 8, 9, 2])
    [(2, 2), (7, 9)]
    """
    ranges: list[Range] = []
    for number in sorted(set(numbers)):
        if ranges and ranges[-1][1] + 1 == number:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def range_text(one: Range) -> str:
    """Return a range as ``2`` or ``7-9``."""
    first, last = one
    return str(first) if first == last else f"{first}-{last}"


def bridged(ranges: Sequence[Range], most_characters: int) -> list[Range]:
    """Return ranges that hold the given ones and whose text, with blanks between them, is short enough.

    The smallest gaps are bridged first, so that as little as possible is in them beyond what was given.
    """
    left = list(ranges)
    while len(left) > 1 and (excess := _length(left) - most_characters) > 0:
        gaps = [after[0] - before[1] for before, after in pairwise(left)]
        # So many are needed at least, for a bridge saves two numbers and two signs at most.
        few = min(len(gaps), -(-excess // (2 * len(str(left[-1][1])) + 2)))
        limit = sorted(gaps)[few - 1]
        kept = [left[0]]
        for gap, each in zip(gaps, left[1:], strict=True):
            if few and gap <= limit:
                few -= 1
                kept[-1] = (kept[-1][0], each[1])
            else:
                kept.append(each)
        left = kept
    return left


def _length(ranges: Sequence[Range]) -> int:
    return sum(len(range_text(each)) + 1 for each in ranges) - 1


def in_pieces(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """Yield the items in order, at most so many at a time."""
    for start in range(0, len(items), most):
        yield items[start : start + most]
