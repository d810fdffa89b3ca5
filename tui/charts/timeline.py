"""Where launches and ranges stand along the run: the axis that a timeline and the bars above it share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sampling.arrays import AnyIntArray, IntArray
from sampling.reduction.timeline import By, GroupLaunches, IdleGaps
from sampling.text import counted
from tui.charts.axis import Tick, draw_across, draw_up, fitting, time_ticks
from tui.charts.grid import (
    MARKER,
    PLAIN,
    GlyphArray,
    Grid,
    StyleArray,
    blank,
    cluster_style,
    cluster_symbol,
    copy,
    put,
    too_small,
)
from tui.charts.legend import Entry, cluster_entries, legend
from tui.charts.quantities import count, duration
from tui.terminal.printable import is_ascii

_COLUMNS_A_TICK = 16
_BAR = ("━", "=")
_MARK = ("·", ".")

Places = npt.NDArray[np.int32]


# A cached property needs a dictionary, so no slots.
@dataclass(frozen=True, eq=False)
class RunAxis:
    """A kernel group's launches over so many columns, by their order or by their starts.

    Attributes
    ----------
    launches : at least one; with starts where it goes by time.
    """

    launches: GroupLaunches
    by: By
    columns: int

    @cached_property
    def times_ns(self) -> tuple[int, int]:
        """The first and the last start."""
        start_ns = self.launches.start_ns
        assert start_ns is not None
        return int(start_ns.min()), int(start_ns.max())

    def dots(self, per_column: int) -> Places:
        """Return (n,) the dot of each launch, so many dots a column."""
        dots, launches = self.columns * per_column, len(self.launches)
        if self.by == "launch":
            # The first launch of each dot: the launches stand in their order, so none is looked at.
            first = -(-np.arange(dots + 1) * launches // dots)
            return np.repeat(np.arange(dots, dtype=np.int32), np.diff(first))
        assert self.launches.start_ns is not None
        return self._of_times(self.launches.start_ns, dots)

    def of_places(self, places: IntArray) -> IntArray:
        """Return the columns of the launches at these places among the launches."""
        if self.by == "launch":
            return np.asarray(places * self.columns // len(self.launches))
        assert self.launches.start_ns is not None
        return self.of_times(self.launches.start_ns[places])

    def of_times(self, ns: IntArray) -> IntArray:
        """Return the columns of these times, cut off at both ends."""
        return self._of_times(ns, self.columns).astype(np.int64)

    def _of_times(self, ns: IntArray, dots: int) -> Places:
        low, high = self.times_ns
        # Single precision parts a thousand dots; over a span of centuries the last one rounds up.
        found = ((ns - low).astype(np.float32) * np.float32(dots / (high - low + 1))).astype(np.int32)
        return np.clip(found, 0, dots - 1)

    def stretches(self, begin_ns: IntArray, end_ns: IntArray) -> list[tuple[int, int]]:
        """Return the first column of each stretch of time and the one after its last: one column at least."""
        low, high = self.times_ns
        scale = self.columns / (high - low + 1)
        first = np.clip(np.rint((begin_ns - low) * scale), 0, self.columns - 1).astype(np.int64)
        stop = np.clip(np.rint((end_ns - low) * scale), first + 1, self.columns).astype(np.int64)
        return list(zip(first.tolist(), stop.tolist(), strict=True))

    def bar(self, first: IntArray, stop: IntArray) -> str:
        """Return a range as a row of this axis: a bar where its launches of this group stand.

        Where none of them is here, a point says between which launches it lies, and an arrow that it lies
        before all of them or after.

        Parameters
        ----------
        first, stop : (r,) ids of the stretches of launches that it holds.
        """
        ids = self.launches.id
        low, high = np.searchsorted(ids, first), np.searchsorted(ids, stop)
        cells = np.full(self.columns, " ")
        inside = high > low
        if inside.any():
            ends = self.of_places(low[inside]), self.of_places(high[inside] - 1)
            change = np.zeros(self.columns + 1, dtype=np.int64)
            np.add.at(change, np.minimum(*ends), 1)
            np.add.at(change, np.maximum(*ends) + 1, -1)
            cells[np.cumsum(change[:-1]) > 0] = _BAR[is_ascii()]
        elif (stop <= ids[0]).all():
            cells[0] = "<"
        elif (first > ids[-1]).all():
            cells[-1] = ">"
        else:
            cells[self.of_places(np.minimum(low, len(ids) - 1))] = _MARK[is_ascii()]
        return "".join(cells.tolist())

    def ticks(self, left: int, right: int) -> list[Tick]:
        """Return the ticks below the axis, whose first column is `left`."""
        launches = self.launches
        if self.by == "time":
            low, high = self.times_ns
            step = max(high - low, 1)
            return time_ticks(
                low, high, lambda ns: left + (ns - low) * (self.columns - 1) // step, left, right
            )
        # Whole launches from tick to tick: of a few launches not every tick would have its own.
        first, last = f"launch {count(int(launches.id[0]))}", count(int(launches.id[-1]))
        # The first label is the longest: the next one stands clear of it.
        apart = max(_COLUMNS_A_TICK, len(first) + 2 + len(last) // 2)
        step = max(-(-apart * len(launches) // self.columns), 1)
        shown = range(0, len(launches), step)
        at = [left - -row * self.columns // len(launches) for row in shown]
        labels = [first, *(count(int(launches.id[row])) for row in shown[1:])]
        return fitting([(at, labels), (at[:1], labels[:1])], left, right)


@dataclass(frozen=True, slots=True)
class DotCell:
    """The dots that a cell is made of.

    Attributes
    ----------
    rows, columns : of dots.
    glyphs : by the dots that are set; the dot of row r and column c counts 2^(r * columns + c).
    """

    rows: int
    columns: int
    glyphs: Sequence[str]


def _braille() -> DotCell:
    bits = (0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80)
    codes = (sum(bit for place, bit in enumerate(bits) if dots >> place & 1) for dots in range(1, 256))
    return DotCell(4, 2, (" ", *(chr(0x2800 + code) for code in codes)))


_BRAILLE = _braille()
_ASCII = DotCell(2, 1, (" ", "'", ".", ":"))
_SYMBOLS = DotCell(1, 1, (" ", "#"))


def _dot_cell(clusters: int) -> DotCell:
    """Return what cells are made of; in ASCII several clusters have a symbol each, and a cell one dot."""
    if not is_ascii():
        return _BRAILLE
    return _ASCII if clusters == 1 else _SYMBOLS


def _drawn_dots(
    row: Places,
    column: Places,
    cluster: npt.NDArray[np.integer],
    shape: tuple[int, int],
    of: DotCell,
    clusters: int,
) -> tuple[GlyphArray, StyleArray]:
    """Return the glyphs and styles of `shape` (rows, columns) of cells.

    Parameters
    ----------
    row, column : (n,) the dot of each launch.
    cluster : (n,) its cluster, of so many.
    """
    rows, columns = shape
    is_set = np.zeros((of.rows * rows, of.columns * columns), dtype=np.bool_)
    is_set.ravel()[row * np.int32(of.columns * columns) + column] = True
    cells = is_set.reshape(rows, of.rows, columns, of.columns).transpose(0, 2, 1, 3)
    weight = 1 << np.arange(of.rows * of.columns).reshape(of.rows, of.columns)
    code = (cells * weight).sum(axis=(2, 3))
    most = _most_common(row // of.rows, column // of.columns, cluster, shape, clusters)
    styles = np.array([cluster_style(each) for each in range(clusters)])
    style = np.where(code > 0, styles[most], PLAIN)
    if of is _SYMBOLS:
        symbols = np.array([cluster_symbol(each) for each in range(clusters)])
        return np.where(code > 0, symbols[most], " "), style
    return np.array(of.glyphs)[code], style


def _most_common(
    row: Places, column: Places, cluster: npt.NDArray[np.integer], shape: tuple[int, int], clusters: int
) -> npt.NDArray[np.intp]:
    """Return (rows, columns) the cluster with most launches in a cell; 0 where there is none."""
    rows, columns = shape
    if clusters == 1:
        return np.zeros(shape, dtype=np.intp)
    cell = row * np.int32(columns) + column
    counted = np.bincount(cell * np.int64(clusters) + cluster, minlength=rows * columns * clusters)
    return np.asarray(counted.reshape(rows, columns, clusters).argmax(axis=2))


LEFT = 9
"""Columns at the left of the dots: the durations."""

RIGHT = 2
"""Columns at their right: the letters of clusters."""

_AXIS_ROWS = 2
_LEAST_ROWS = 5
_ROWS_A_TICK = 4
_ROWS_A_LEGEND_ROW = 5
_LEAST_LEGEND = 16
_DRAWN = ("\N{BLACK DIAMOND}", "X")
_MEAN = ("━", "=")
_IDLE = ("░", "~")


@dataclass(frozen=True, slots=True)
class _Axis:
    """The axis of durations, in rows from the top."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, durations_ns: AnyIntArray, *, log: bool) -> _Axis:
        low, high = float(durations_ns.min()), float(durations_ns.max())
        if log:
            # A duration of 0 stands at the foot, with the shortest of the others.
            low = float(durations_ns[durations_ns > 0].min(initial=durations_ns.max()))
            log = 0 < low < high
        # What hardly varies is not stretched over the whole height.
        if not log and high - low < high / 5:
            low, high = max(low - high / 10, 0.0), high + high / 10
        return cls(low, high, log)

    def places(self, durations_ns: npt.NDArray[np.number], rows: int) -> Places:
        """Return the row of each duration, the longest at the top."""
        values, low, high = durations_ns.astype(np.float32), self.low, self.high
        if self.log:
            values, low, high = np.log(np.maximum(values, np.float32(low))), np.log(low), np.log(high)
        if high <= low:
            return np.full(len(values), rows // 2, dtype=np.int32)
        # Single precision parts thousands of rows, and a million launches are a matter of milliseconds.
        scale = np.float32((rows - 1) / (high - low))
        share = (np.float32(high) - values) * scale + np.float32(0.5)
        return np.asarray(np.clip(share, 0, rows - 1), dtype=np.int32)

    def value(self, row: int, rows: int) -> float:
        """Return the duration that a row stands for."""
        share = 1 - row / max(rows - 1, 1)
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)


def timeline_chart(  # noqa: PLR0913 - what a chart shows, in one place
    launches: GroupLaunches,
    clusters: Sequence[tuple[int, int]],
    drawn_ids: IntArray,
    width: int,
    height: int,
    *,
    by: By = "launch",
    log: bool = False,
    left: int = LEFT,
    cluster: npt.NDArray[np.integer] | None = None,
    has_mean: bool = False,
    gaps: IdleGaps | None = None,
) -> Grid:
    """A (height, width) grid: duration over launch index or over time, drawn launches marked.

    A cell has the style of the cluster with most launches in it; in ASCII its symbol too.

    Parameters
    ----------
    launches : at least one; with starts where it goes by time.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over all.
    drawn_ids : ids of launches that a plan draws, of this group and others.
    left : columns at the left of the dots, 9 at least; where there is room the legend stands there.
    cluster : (n,) the cluster of each launch, where it is known.
    has_mean : whether a line runs through the mean durations: for those that drift.
    gaps : when the device is idle, shown by time alone.
    """
    columns = width - left - RIGHT
    if (sentence := too_small(width - left + LEFT, height, _LEAST_ROWS)) is not None:
        return sentence
    durations_ns = launches.duration_ns
    clusters = clusters or [(int(durations_ns.min()), int(durations_ns.max()))]
    if cluster is None:
        cluster = clusters_of(durations_ns, clusters)
    drawn = launches.places_of(drawn_ids)
    is_idle = by == "time" and gaps is not None and len(gaps) > 0
    entries = _mark_entries(len(drawn), has_mean=has_mean, is_idle=is_idle)
    entries += cluster_entries(clusters, np.bincount(cluster, minlength=len(clusters)).tolist())
    grid = blank(width, height)
    if left - LEFT >= _LEAST_LEGEND:
        rows = height - _AXIS_ROWS
        copy(legend(entries, left - LEFT - 1, rows), grid, 0, 0)
    else:
        below = legend(entries, width - left, max(height // _ROWS_A_LEGEND_ROW, 1))
        rows = height - _AXIS_ROWS - below.height
        copy(below, grid, height - below.height, left)
    axis, run = _Axis.of(durations_ns, log=log), RunAxis(launches, by, columns)
    of = _dot_cell(len(clusters))
    # The cell that a launch's dot is in: rounded to whole cells it might be the one beside it.
    dot_row, dot_column = axis.places(durations_ns, of.rows * rows), run.dots(of.columns)
    glyphs, styles = _drawn_dots(dot_row, dot_column, cluster, (rows, columns), of, len(clusters))
    grid.glyph[:rows, left : left + columns], grid.style[:rows, left : left + columns] = glyphs, styles
    marked = sorted({*range(0, max(rows - _ROWS_A_TICK // 2, 1), _ROWS_A_TICK), rows - 1})
    draw_up(grid, [(row, f"{duration(axis.value(row, rows)):>{LEFT - 2}}") for row in marked], rows, left)
    draw_across(grid, rows, left, run.ticks(left, left + columns - 1))
    # The last column is that of the letters.
    put(grid, rows, width - 1, " ", PLAIN)
    if is_idle and gaps is not None:
        for begin, end in run.stretches(gaps.begin_ns, gaps.end_ns):
            put(grid, rows, left + begin, _IDLE[is_ascii()] * (end - begin), MARKER)
    if has_mean:
        column = dot_column // of.columns
        number = np.bincount(column)
        there = np.flatnonzero(number)
        means_ns = np.bincount(column, weights=durations_ns)[there] / number[there]
        _put_each(grid, axis.places(means_ns, rows), left + there, _MEAN)
    _put_each(grid, dot_row[drawn] // of.rows, left + dot_column[drawn] // of.columns, _DRAWN)
    if len(clusters) > 1:
        # Each cluster's letter beside the middle of its durations, where that row is still free.
        middles_ns = np.array(clusters, dtype=np.float64).mean(axis=1)
        for letter, row in enumerate((axis.places(middles_ns, of.rows * rows) // of.rows).tolist()):
            if grid.glyph[row, -1] == " ":
                put(grid, row, width - 1, cluster_symbol(letter), cluster_style(letter))
    return grid


def _mark_entries(drawn: int, *, has_mean: bool, is_idle: bool) -> list[Entry]:
    """Return the entries of what stands in the chart beside the dots."""
    entries = []
    if drawn:
        words = (f"{counted(drawn, 'launch', 'launches')} drawn", f"{drawn} drawn", "drawn")
        entries.append(Entry(_DRAWN[is_ascii()], MARKER, words))
    if has_mean:
        entries.append(Entry(_MEAN[is_ascii()], MARKER, ("mean, which drifts", "mean drifts", "mean")))
    if is_idle:
        entries.append(Entry(_IDLE[is_ascii()], MARKER, ("device idle", "device idle", "idle")))
    return entries


def _put_each(grid: Grid, rows: AnyIntArray, columns: AnyIntArray, glyphs: tuple[str, str]) -> None:
    """Draw a mark in each of these cells."""
    grid.glyph[rows, columns] = glyphs[is_ascii()]
    grid.style[rows, columns] = MARKER


def clusters_of(
    durations_ns: npt.NDArray[np.integer], clusters: Sequence[tuple[int, int]]
) -> npt.NDArray[np.integer]:
    """Return (n,) the cluster of each duration, which lies in one of these ranges."""
    if len(clusters) < 2:
        return np.zeros(len(durations_ns), dtype=np.int8)
    found = np.searchsorted(np.array([high for _, high in clusters[:-1]]), durations_ns)
    return found.astype(np.min_scalar_type(len(clusters)))
