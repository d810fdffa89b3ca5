"""The heads of sorted tables: the mark of the column they are sorted by, and the head that is clicked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from tui.options.choices import SortWord
from tui.terminal.printable import Column, is_ascii

_MARKS = {True: ("↓", "v"), False: ("↑", "^")}
_WORDS = re.compile(r"\S+")


Sort = TypeVar("Sort", bound=SortWord)


def mark_of(*, falls: bool) -> str:
    """Return the mark of a column that falls, the largest first, or rises."""
    return _MARKS[falls][is_ascii()]


def marked(columns: Sequence[Column], names: Sequence[str], *, falls: bool) -> list[Column]:
    """Return the columns with a mark of the order on the first of these heads that is there.

    Parameters
    ----------
    names : the heads of the figure that the table is sorted by; one that lacks room may be left out.
    falls : whether the largest stands first.
    """
    headings = [column.heading.rstrip() for column in columns]
    sorted_by = next((name for name in names if name in headings), None)
    mark = mark_of(falls=falls)
    return [
        replace(column, heading=f"{heading}{mark}".ljust(len(column.heading)))
        if heading == sorted_by
        else column
        for column, heading in zip(columns, headings, strict=True)
    ]


def next_in(orders: Sequence[Sort], sort: Sort) -> Sort:
    """Return the order that follows, the first after the last and after one that is not among them."""
    place = orders.index(sort) + 1 if sort in orders else 0
    return orders[place % len(orders)]


def head_at(heading: str, x: int) -> str:
    """Return the head nearest to a cell of a row of heads, each of one word."""
    heads = list(_WORDS.finditer(heading))
    if not heads:
        return ""
    nearest = min(heads, key=lambda found: max(found.start() - x, x - found.end() + 1, 0))
    return nearest.group()


def sorted_by_head(heading: str, sort: Sort, *, is_reverse: bool) -> tuple[Sort, bool] | None:
    """Return the order that a click on a head asks for: by it, and the other way round if it was by it.

    None where the table cannot be sorted by it.
    """
    for word in (heading.strip(), heading.strip()[:-1]):
        # The second is without the mark.
        with suppress(ValueError):
            wanted = type(sort)(word)
            return wanted, wanted is sort and not is_reverse
    return None
