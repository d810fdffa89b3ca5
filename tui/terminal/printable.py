"""Text as a terminal may get it: what comes from a profile must neither steer it nor break a row.

Whether that is ASCII alone is one answer for all that is drawn: it is settled where drawing begins
(`draw_in_ascii`), and whatever has glyphs of its own asks `is_ascii`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# What a terminal needs to show rows: line ends, and the tabs of some tables.
_STRAY = re.compile(r"\r(?!\n)|[^\r\n\t]")
# A word and the blanks before it; a number and its per cent are one.
_WORD = re.compile(r" *[^ ]+(?: %[^ ]*)*")

_everywhere = False
_here: ContextVar[bool | None] = ContextVar("ascii_here", default=None)


def draw_in_ascii(only: bool) -> None:
    """Settle for the whole program, all its threads included, whether it draws with ASCII alone."""
    global _everywhere  # noqa: PLW0603 - the terminal is one for the whole program
    _everywhere = only


@contextmanager
def ascii_within(only: bool = True) -> Iterator[None]:
    """Settle it for what is drawn inside alone: a file, or a stream that differs from the terminal."""
    before = _here.set(only)
    try:
        yield
    finally:
        _here.reset(before)


def is_ascii() -> bool:
    """Whether to draw with ASCII alone."""
    setting = _here.get()
    return _everywhere if setting is None else setting


def printable(text: str) -> str:
    r"""Return one row of text, what cannot be printed escaped as in a Python string.

    Those are control characters (line ends too), what turns the direction of writing, and what has no width.
    Text that is escaped already stays as it is. Where ASCII alone is drawn all else is escaped too, as
    ``\u0627``.
    """
    if text.isprintable() and (text.isascii() or not is_ascii()):
        return text
    escaped = "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text)
    return escaped.encode("ascii", "backslashreplace").decode() if is_ascii() else escaped


def printable_lines(text: str) -> str:
    """Return lines of text, each `printable`."""
    return "\n".join(printable(line) for line in text.split("\n"))


def data_for_terminal(text: str) -> str:
    r"""Return data as a terminal may get them: what must not steer it is escaped as JSON does, as ``\u202e``.

    JSON is so the same JSON; line ends and tabs stay, for they part rows and cells.
    """
    if all(line.isprintable() for line in text.split("\n")):
        return text

    def escaped(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass")
        pairs_ = (units[start : start + 2].hex() for start in range(0, len(units), 2))
        return match[0] if match[0].isprintable() else "".join(f"\\u{pair}" for pair in pairs_)

    return _STRAY.sub(escaped, text)


def wrapped(text: str, width: int, indent: str = "", *, breaks_words: bool = False) -> list[str]:
    """Return a sentence as lines of at most `width` columns, further ones indented.

    A number keeps its per cent. A word that is wider than a line has one to itself, so that it can be copied;
    with `breaks_words` it is broken.
    """
    # A letter of two columns has room behind the indent in any case.
    width, lines, line = max(width, len(indent) + 2), list[str](), ""
    for word in _WORD.findall(text):
        if line and cell_width(line + word) > width:
            lines.append(line)
            line = indent + word.lstrip(" ")
        else:
            line += word
        while breaks_words and cell_width(line) > width:
            start = beginning(line, width)
            lines.append(start)
            line = indent + line[len(start) :]
    return [*lines, line] if line else lines


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the cells below it."""

    heading: str
    cells: Sequence[str]
    to_right: bool = True
    #: Whether the cells are names that a program or a person gave.
    is_name: bool = False
    #: Whether the cells are bars, drawn with letters.
    is_bar: bool = False


def names(heading: str, cells: Sequence[str]) -> Column:
    """Return a column of names."""
    return Column(heading, cells, to_right=False, is_name=True)


def table(columns: Sequence[Column], *, gap: str = "  ") -> str:
    """Return the table as lines; the last column is not padded."""
    cell_shapes = [[printable(cell) for cell in column.cells] for column in columns]
    rows = [[column.heading for column in columns], *zip(*cell_shapes, strict=True)]
    widths = [max(map(cell_width, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            padded(cell, width, to_right=column.to_right)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)


def cell_width(text: str) -> int:
    """Return the columns that a text takes; East Asian letters are two columns wide."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def padded(text: str, width: int, *, to_right: bool = False) -> str:
    """Return the text with as many blanks behind it, or before it, as fill `width` columns."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if to_right else text + blanks


def beginning(text: str, width: int) -> str:
    """Return as much of a text as has room in ``width`` columns."""
    start = text[: max(width, 0)]
    while cell_width(start) > max(width, 0):
        start = start[:-1]
    return start


def shortened(text: str, width: int) -> str:
    """Return the text in at most ``width`` columns, its middle left out: names differ at both ends."""
    text = printable(text)
    if cell_width(text) <= width:
        return text
    mark = "..." if is_ascii() else "…"
    room = max(width - len(mark), 2)
    tail = text[len(text) - room // 3 :]
    while cell_width(tail) > room // 3:
        tail = tail[1:]
    return beginning(beginning(text, room - cell_width(tail)) + mark + tail, width)
