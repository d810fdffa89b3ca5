"""Aligned tables for people: no value is cut, numbers align at the right, text at the left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tui.terminal.printable import is_ascii, printable


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the cells below it.

    Attributes
    ----------
    is_name : whether the cells are names that a program or a person gave.
    """

    heading: str
    cells: Sequence[str]
    to_right: bool = True
    is_name: bool = False


def pairs(lines: Iterable[tuple[str, str]]) -> tuple[Column, Column]:
    """Return what is said of several things, each with its label, as columns."""
    labels, said = zip(*lines, strict=True)
    return Column("", labels, to_right=False), Column("value", said, to_right=False)


def names(heading: str, cells: Sequence[str]) -> Column:
    """Return a column of names."""
    return Column(heading, cells, to_right=False, is_name=True)


def table(columns: Sequence[Column], *, gap: str = "  ") -> str:
    """Return the table as lines; the last column is not padded."""
    cells_of = [[printable(cell) for cell in column.cells] for column in columns]
    rows = [[column.heading for column in columns], *zip(*cells_of, strict=True)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column.to_right else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)


def shortened(text: str, width: int) -> str:
    """Return the text in at most ``width`` columns, its middle left out: names differ at both ends."""
    text = printable(text)
    if len(text) <= width:
        return text
    mark = "..." if is_ascii() else "…"
    room = max(width - len(mark), 2)
    tail = room // 3
    return (text[: room - tail] + mark + text[len(text) - tail :])[:width]
