"""What is said to people: sentences, tables, lists, charts, and how a terminal and a page show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from tui.charts.grid import Grid, ansi, plain
from tui.terminal.printable import Column, cell_width, names, padded, printable, shortened, table, wrapped

_GAP = 2
_LEAST_LABEL = 12
_LEAST_FIGURES = 3
#: A page for people lists no more unless it is asked to.
MOST_ROWS = 20


@dataclass(frozen=True)
class Listing:
    """A table whose last column takes the room that is left; each row is made when it is asked for.

    Where a label would have hardly any room, figures give way.
    """

    figures: Sequence[Column]
    #: Of the last column.
    heading: str
    #: Makes the label of a row in at most so many columns.
    label: Callable[[int, int], str]
    #: Headings of the figures that give way, in this order; by default the last ones first.
    dropped_first: Sequence[str] | None = None
    #: The room that a label should have.
    least_room: int = _LEAST_LABEL
    #: The labels in full, for where nothing is cut.
    full_labels: Sequence[str] | None = None
    #: Whether the labels are bars, drawn with letters.
    has_bars: bool = False

    def __len__(self) -> int:
        return len(self.figures[0].cells) if self.figures else 0

    @cached_property
    def widths(self) -> dict[str, int]:
        """The cells of each column of figures, by its heading."""
        return {
            column.heading: max(map(cell_width, (column.heading, *column.cells))) for column in self.figures
        }

    def head(self, width: int) -> str:
        """Return the headings."""
        columns, room = self._fitted(width)
        return self._line(columns, [column.heading for column in columns], shortened(self.heading, room))

    def row(self, number: int, width: int) -> str:
        """Return a row, no wider than `width` unless the figures alone are wider."""
        columns, room = self._fitted(width)
        return self._line(columns, [column.cells[number] for column in columns], self.label(number, room))

    def text(self, width: int) -> str:
        """Return the headings and all rows as lines."""
        return "\n".join([self.head(width), *(self.row(number, width) for number in range(len(self)))])

    def columns(self, room: int, limit: int | None = None) -> tuple[Column, ...]:
        """Return the first rows with all figures, the labels in full or in at most `room` cells."""
        number = len(self) if limit is None else min(limit, len(self))
        labels = (
            [self.label(row, room) for row in range(number)] if self.full_labels is None else self.full_labels
        )
        figures = (replace(column, cells=column.cells[:number]) for column in self.figures)
        return (*figures, replace(names(self.heading, labels[:number]), is_bar=self.has_bars))

    def _fitted(self, width: int) -> tuple[list[Column], int]:
        """Return the figures that are shown in a width, and the room of the labels."""
        dropped = self.dropped_first
        if dropped is None:
            dropped = [column.heading for column in self.figures[: _LEAST_FIGURES - 1 : -1]]
        columns, room = list(self.figures), width - sum(cells + _GAP for cells in self.widths.values())
        for heading in dropped:
            if room >= self.least_room:
                break
            columns = [column for column in columns if column.heading != heading]
            room = width - sum(self.widths[column.heading] + _GAP for column in columns)
        return columns, max(room, _LEAST_LABEL)

    def _line(self, columns: Sequence[Column], cells: Sequence[str], label: str) -> str:
        aligned = (
            padded(cell, self.widths[column.heading], to_right=column.to_right)
            for column, cell in zip(columns, cells, strict=True)
        )
        return (" " * _GAP).join([*aligned, label]).rstrip()


@dataclass(frozen=True, slots=True)
class Pairs:
    """What is said of several things, each with its label."""

    lines: Sequence[tuple[str, str]]

    def columns(self) -> tuple[Column, Column]:
        """Return them as a table without headings."""
        labels, texts = zip(*self.lines, strict=True)
        return Column("", labels, to_right=False), Column("value", texts, to_right=False)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, which stands on one line so that it can be copied, and what is said before it."""

    command: str
    before: str = "Next: "


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Lines that are laid out already."""

    text: str


Block = str | Sequence[Column] | Listing | Pairs | Grid | CommandLine | Preformatted
"""What is said, one below the other; an empty sentence is an empty line of a terminal."""

PagePart = str | Sequence[Column]
"""A sentence, with code between backticks, or a table as its columns."""


def terminal_lines(blocks: Iterable[Block], width: int, *, color: bool = False) -> Iterator[str]:
    """Yield the lines of a terminal; further lines of a sentence are indented."""
    for block in blocks:
        match block:
            case "":
                yield ""
            case str():
                indent = " " * (len(block) - len(block.lstrip()))
                yield from wrapped(printable(block), width, f"{indent}  ")
            case Listing():
                yield block.text(width)
            case Pairs():
                room = max(len(label) for label, _ in block.lines) + 1
                for label, text in block.lines:
                    yield from wrapped(f"{label:<{room}}{printable(text)}", width, " " * room)
            case Grid():
                yield ansi(block) if color else plain(block)
            case CommandLine():
                yield f"{block.before}{block.command}"
            case Preformatted():
                yield block.text
            case _:
                yield table(block)


def has_headings(columns: Sequence[Column]) -> bool:
    """Whether the headings of a table are shown: those of pairs say nothing."""
    return any(column.heading not in {"", "value"} for column in columns)


def page_parts(blocks: Iterable[Block], width: int) -> Iterator[PagePart]:
    """Yield what a page has of blocks; ``width``: the room of a label that has no full form."""
    for block in blocks:
        match block:
            case Listing():
                yield block.columns(width)
            case Pairs():
                yield block.columns()
            case Grid():
                # A chart of letters is for terminals.
                continue
            case Preformatted():
                yield from filter(None, block.text.split("\n"))
            case CommandLine():
                yield f"{block.before}`{block.command}`"
            case _:
                yield from [block] if block else []


# A row of words with tones.


class Tone(StrEnum):
    """What the colour of words says; the words say it too."""

    PLAIN = "plain"
    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    BAD = "bad"
    PART = "part"


class Phrase(NamedTuple):
    """Some words of one tone."""

    text: str
    tone: Tone = Tone.PLAIN


Phrases = tuple[Phrase, ...]
"""A row of text, phrase by phrase."""


def words(text: str | Phrases) -> Phrases:
    """Return a text as words; one without tones is plain."""
    return (Phrase(text),) if isinstance(text, str) else text


def without_tones(row: str | Phrases) -> str:
    """Return a row as text."""
    return "".join(phrase.text for phrase in words(row))


def toned(text: str, phrase: str, tone: Tone) -> Phrases:
    """Return a text in which the first occurrence of a phrase has a tone; plain where it does not occur."""
    before, middle, after = text.partition(phrase)
    return tuple(part for part in (Phrase(before), Phrase(middle, tone), Phrase(after)) if part.text)


def shortened_to(row: Phrases, text: str) -> Phrases:
    """Return the row as its first letters, in their tones, up to where a shorter text differs from it.

    `text`: the row cut short, perhaps with a mark at its end that says so.
    """
    phrases: list[Phrase] = []
    for phrase in row:
        phrases.append(Phrase(text[: len(phrase.text)], phrase.tone))
        text = text[len(phrase.text) :]
    return tuple(part for part in (*phrases, Phrase(text)) if part.text)


def joined(rows: Sequence[Phrases], separator: str) -> Phrases:
    """Return several rows as one, a plain separator between them."""
    return tuple(part for row in rows for part in (Phrase(separator), *row))[1:]
