"""What a report consists of, whatever form it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.timeline import GroupLaunches
from tui.charts.histogram import HistogramData
from tui.terminal.printable import Column


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


_COLUMNS, _ROWS = 160, 48


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """A histogram of durations, its bars in the colours of the strata.

    Attributes
    ----------
    names : of the strata, in words.
    log : whether the axis of durations is logarithmic.
    """

    data: HistogramData
    names: tuple[str, ...]
    log: bool


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Launches over the run by their durations, counted in cells; arrays (c,), a cell with launches each.

    Attributes
    ----------
    launches : how many the columns stand for.
    column, row : place, from the left and from the shortest duration on.
    stratum : which one its launches are of; a place may hold a cell of each of several.
    count : its launches.
    drawn : (d, 2) columns and rows of the cells with launches that the plan draws.
    low_ns, high_ns : the durations that the rows span.
    """

    launches: int
    columns: int
    rows: int
    column: IntArray
    row: IntArray
    stratum: IntArray
    count: IntArray
    drawn: IntArray
    low_ns: int
    high_ns: int
    log: bool
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Speedups over epsilons, both ascending by epsilon, and which of them is the plan's."""

    epsilon: FloatArray
    speedup: FloatArray
    chosen: float


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Methods by the speedups of their plans and the mean errors of repeated draws; both (n,)."""

    speedup: FloatArray
    error: FloatArray
    names: tuple[str, ...]


Drawing = Bars | Cells | Curve | Points


def cells_of(
    launches: GroupLaunches,
    strata: Sequence[tuple[int, int]],
    drawn_ids: IntArray,
    names: tuple[str, ...],
    *,
    log: bool,
) -> Cells:
    """Return the launches of a kernel group in cells: at most so many as a picture has room for.

    Parameters
    ----------
    strata : (shortest, longest) nanoseconds of each, ascending; they hold every launch.
    drawn_ids : ids of launches that the plan draws, of this group and others.
    """
    number = len(launches)
    columns = min(_COLUMNS, number)
    durations_ns = launches.duration_ns.astype(np.int64)
    low_ns, high_ns = int(durations_ns.min()), int(durations_ns.max())
    column = np.arange(number) * columns // number
    row = _rows(durations_ns, low_ns, high_ns, log=log)
    stratum = np.searchsorted([low for low, _ in strata], durations_ns, side="right") - 1
    codes, count = np.unique((stratum * columns + column) * _ROWS + row, return_counts=True)
    is_drawn = np.isin(launches.id, drawn_ids)
    return Cells(
        launches=number,
        columns=columns,
        rows=_ROWS,
        column=codes // _ROWS % columns,
        row=codes % _ROWS,
        stratum=codes // (_ROWS * columns),
        count=count,
        drawn=np.unique(np.stack([column[is_drawn], row[is_drawn]], axis=1), axis=0),
        low_ns=low_ns,
        high_ns=high_ns,
        log=log,
        names=names,
    )


def _rows(durations_ns: IntArray, low_ns: int, high_ns: int, *, log: bool) -> IntArray:
    """Return the row of each duration, (n,), the shortest in row 0."""
    if low_ns == high_ns:
        return np.full(len(durations_ns), _ROWS // 2)
    values = np.log(durations_ns) if log else durations_ns.astype(np.float64)
    low, high = (np.log(low_ns), np.log(high_ns)) if log else (low_ns, high_ns)
    rows: IntArray = np.clip((values - low) / (high - low) * _ROWS, 0, _ROWS - 1).astype(np.int64)
    return rows
