"""What a report consists of, whatever form it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tui.report.drawings import Drawing
from tui.terminal.tables import Column


@dataclass(frozen=True, slots=True)
class Table:
    """Columns below a caption; the first column names the rows.

    Attributes
    ----------
    bars : by a column's heading, the length of a bar beside each of its cells, from 0 to 1.
    """

    caption: str
    columns: tuple[Column, ...]
    bars: Mapping[str, tuple[float, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Commands:
    """Command lines to copy."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Points, each a head and what is said below it.

    Attributes
    ----------
    are_names : whether that is a name, and no sentence.
    """

    points: tuple[tuple[str, str], ...]
    are_names: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart.

    Attributes
    ----------
    name : of its file, without the suffix; the same for the same chart of any profile.
    description : what it shows, for those who do not see it.
    drawing : its numbers.
    text : the same chart as lines of text.
    """

    name: str
    title: str
    description: str
    drawing: Drawing
    text: str


Block = str | Table | Commands | Listing | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and paragraphs, tables and charts below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole file.

    Attributes
    ----------
    about : what the profile is, in a line below the title.
    images : where charts lie as files, from the report's own folder on, by the name of the chart.
    """

    title: str
    about: str
    sections: tuple[Section, ...]
    images: Mapping[str, str] = field(default_factory=dict)

    @property
    def figures(self) -> Iterator[Figure]:
        """All charts, in their order."""
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Figure))
