"""Where launches and ranges stand along the run: the axis that a timeline and the bars above it share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sampling.arrays import AnyIntArray, IntArray
from sampling.reduction.idle import CAUSES
from sampling.reduction.timeline import By, GroupLaunches, IdleGaps
from sampling.text import counted
from tui.charts import grid as cells
from tui.charts.axis import Tick, draw_across, draw_up, fitting, time_ticks
from tui.charts.grid import MARKER, PLAIN, GlyphArray, Grid, StyleArray, put
from tui.charts.histogram import LONGER, SHOWN
from tui.charts.legend import Entry, cluster_entries, legend
from tui.charts.quantities import count, duration
from tui.terminal.printable import is_ascii

_COLUMNS_A_TICK = 16
_ABOVE = ("↑", "^")
# In Unicode, and in ASCII.
_BAR, _MARK, _DRAWN, _MEAN, _IDLE = ("━", "="), ("·", "."), ("\N{BLACK DIAMOND}", "X"), ("━", "="), ("░", "~")

Places = npt.NDArray[np.int32]
Integers = npt.NDArray[np.integer]


# A cached property needs a dictionary, so no slots.
@dataclass(frozen=True, eq=False)
class RunAxis:
    """A kernel group's launches over so many columns, by their order or by their starts."""

    launches: GroupLaunches  #: at least one
    by: By
    columns: int

    @cached_property
    def start_ns(self) -> AnyIntArray:
        """(n,) the starts, which are there where it goes by time."""
        assert self.launches.start_ns is not None
        return self.launches.start_ns

    @cached_property
    def times_ns(self) -> tuple[int, int]:
        """The first and the last start."""
        return int(self.start_ns.min()), int(self.start_ns.max())

    def dots(self, per_column: int) -> Places:
        """Return (n,) the dot of each launch, so many dots a column."""
        dots, launches = self.columns * per_column, len(self.launches)
        if self.by == "launch":
            # The first launch of each dot: the launches stand in their order, so none is looked at.
            first = -(-np.arange(dots + 1) * launches // dots)
            return np.repeat(np.arange(dots, dtype=np.int32), np.diff(first))
        return self._of_times(self.start_ns, dots)

    def of_places(self, places: IntArray) -> IntArray:
        """Return the columns of the launches at these places among the launches."""
        if self.by == "launch":
            return np.asarray(places * self.columns // len(self.launches))
        return self._of_times(self.start_ns[places], self.columns).astype(np.int64)

    def _of_times(self, ns: AnyIntArray, dots: int) -> Places:
        low, high = self.times_ns
        # Single precision parts a thousand dots; over a span of centuries the last one rounds up.
        dot_columns = ((ns - low).astype(np.float32) * np.float32(dots / (high - low + 1))).astype(np.int32)
        return np.clip(dot_columns, 0, dots - 1)

    def stretches(self, begin_ns: IntArray, end_ns: IntArray) -> list[tuple[int, int]]:
        """Return the first column of each stretch of time and the one after its last: one column at least."""
        low, high = self.times_ns
        ends = [np.rint((ns - low) * (self.columns / (high - low + 1))) for ns in (begin_ns, end_ns)]
        first = np.clip(ends[0], 0, self.columns - 1).astype(np.int64)
        stop = np.clip(ends[1], first + 1, self.columns).astype(np.int64)
        return list(zip(first.tolist(), stop.tolist(), strict=True))

    def bar(self, first: IntArray, stop: IntArray) -> str:
        """Return a range, of (r,) stretches of ids, as a row of this axis: a bar where its launches stand.

        Where none of them is here, a point says between which launches it lies, and an arrow that it lies
        before all of them or after.
        """
        ids = self.launches.id
        low, high = np.searchsorted(ids, first), np.searchsorted(ids, stop)
        row = np.full(self.columns, " ")
        is_visible = high > low
        if is_visible.any():
            ends = self.of_places(low[is_visible]), self.of_places(high[is_visible] - 1)
            change = np.zeros(self.columns + 1, dtype=np.int64)
            np.add.at(change, np.minimum(*ends), 1)
            np.add.at(change, np.maximum(*ends) + 1, -1)
            row[np.cumsum(change[:-1]) > 0] = _BAR[is_ascii()]
        elif (stop <= ids[0]).all():
            row[0] = "<"
        elif (first > ids[-1]).all():
            row[-1] = ">"
        else:
            row[self.of_places(np.minimum(low, len(ids) - 1))] = _MARK[is_ascii()]
        return "".join(row.tolist())

    def ticks(self, left: int, right: int) -> list[Tick]:
        """Return the ticks below the axis, whose first column is `left`."""
        launches = self.launches
        if self.by == "time":
            low, high = self.times_ns
            last_column, step = self.columns - 1, max(high - low, 1)
            return time_ticks(low, high, lambda ns: left + (ns - low) * last_column // step, left, right)
        # Whole launches from tick to tick: of a few launches not every tick would have its own.
        first, last = f"launch {count(int(launches.id[0]))}", count(int(launches.id[-1]))
        # The first label is the longest: the next one stands clear of it.
        apart = max(_COLUMNS_A_TICK, len(first) + 2 + len(last) // 2)
        step = max(-(-apart * len(launches) // self.columns), 1)
        labelled_rows = range(0, len(launches), step)
        tick_columns = [left - -row * self.columns // len(launches) for row in labelled_rows]
        labels = [first, *(count(int(launches.id[row])) for row in labelled_rows[1:])]
        return fitting([(tick_columns, labels), (tick_columns[:1], labels[:1])], left, right)


class _DotCell(NamedTuple):
    """The dots that a cell is made of, and the glyphs by the dots that are set.

    The dot of row r and column c counts 2^(r * columns + c).
    """

    rows: int
    columns: int
    glyphs: Sequence[str]


_BRAILLE_BITS = np.array([0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80])
_BRAILLE_CODES = (np.arange(256)[:, None] >> np.arange(8) & 1) @ _BRAILLE_BITS
_BRAILLE = _DotCell(4, 2, [chr(0x2800 + code) for code in _BRAILLE_CODES.tolist()])
_ASCII = _DotCell(2, 1, " '.:")
_SYMBOL = _DotCell(1, 1, " #")

LEFT = 9
"""Columns at the left of the dots: the durations."""

RIGHT = 2
"""Columns at their right: the letters of clusters."""

_AXIS_ROWS, _LEAST_ROWS = 2, 5
_ROWS_A_TICK, _ROWS_A_LEGEND_ROW = 4, 5
_LEAST_LEGEND = 16


class _DurationAxis:
    """The axis of durations, in rows from the top; a linear one ends where that of a histogram does."""

    def __init__(self, durations_ns: AnyIntArray, *, log: bool) -> None:
        low, high = float(durations_ns.min()), float(durations_ns.max())
        #: What lies above it, and how far; "" where nothing does.
        self.words_above = ""
        if not log:
            most = float(np.quantile(durations_ns, SHOWN, method="higher"))
            if high - low > LONGER * (most - low):
                above = count(int(np.count_nonzero(durations_ns > most)))
                self.words_above = f"{above} above, to {duration(high)} {_ABOVE[is_ascii()]}"
                high = most
        if log:
            # A duration of 0 stands at the foot, with the shortest of the others.
            low = float(durations_ns[durations_ns > 0].min(initial=durations_ns.max()))
            log = 0 < low < high
        # What hardly varies is not stretched over the whole height.
        if not log and high - low < high / 5:
            low, high = max(low - high / 10, 0.0), high + high / 10
        self.low, self.high, self.log = low, high, log

    def places(self, durations_ns: npt.NDArray[np.number], rows: int) -> Places:
        """Return the row of each duration, the longest at the top."""
        values, low, high = durations_ns.astype(np.float32), self.low, self.high
        if self.log:
            values, low, high = np.log(np.maximum(values, np.float32(low))), np.log(low), np.log(high)
        if high <= low:
            return np.full(len(values), rows // 2, dtype=np.int32)
        # Single precision parts thousands of rows, and a million launches are a matter of milliseconds.
        share = (np.float32(high) - values) * np.float32((rows - 1) / (high - low)) + np.float32(0.5)
        return np.asarray(np.clip(share, 0, rows - 1), dtype=np.int32)

    def ticks(self, rows: int) -> list[tuple[int, str]]:
        """Return (row, label), the last at the foot."""
        marked = sorted({*range(0, max(rows - _ROWS_A_TICK // 2, 1), _ROWS_A_TICK), rows - 1})
        ticks = []
        for row in marked:
            share = 1 - row / max(rows - 1, 1)
            ns = self.low + share * (self.high - self.low)
            if self.log:
                ns = self.low * (self.high / self.low) ** share
            ticks.append((row, f"{duration(ns):>{LEFT - 2}}"))
        return ticks


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
    cluster: Integers | None = None,
    has_mean: bool = False,
    gaps: IdleGaps | None = None,
) -> Grid:
    """A (height, width) grid: duration over launch index or over time, drawn launches marked.

    A cell has the style of the cluster with most launches in it; in ASCII its symbol too. What a linear axis
    does not reach stands in the top row, and how much that is, and to where.

    `launches`: at least one; with starts where it goes by time. `clusters`: closed (low, high) ranges of
    durations, ascending and disjoint; none means one over all. `drawn_ids`: ids of launches that a plan
    draws, of this group and others. `left`: columns at the left of the dots, 9 at least; where there is room
    the legend stands there. `cluster`: (n,) the cluster of each launch, where it is known. `has_mean`:
    whether a line runs through the mean durations: for those that drift. `gaps`: when the device is idle,
    and the first letter of what for, shown by time alone.
    """
    columns = width - left - RIGHT
    if (sentence := cells.too_small(width - left + LEFT, height, _LEAST_ROWS)) is not None:
        return sentence
    durations_ns = launches.duration_ns
    clusters = clusters or [(int(durations_ns.min()), int(durations_ns.max()))]
    if cluster is None:
        cluster = number_clusters(durations_ns, clusters)
    drawn_rows, ascii_only = launches.find_places(drawn_ids), is_ascii()
    gaps = gaps if by == "time" and gaps is not None and len(gaps) else None
    entries = _mark_entries(len(drawn_rows), gaps, has_mean=has_mean)
    entries += cluster_entries(clusters, np.bincount(cluster, minlength=len(clusters)).tolist())
    grid = cells.blank(width, height)
    if left - LEFT >= _LEAST_LEGEND:
        rows = height - _AXIS_ROWS
        cells.copy(legend(entries, left - LEFT - 1, rows), grid, 0, 0)
    else:
        below = legend(entries, width - left, max(height // _ROWS_A_LEGEND_ROW, 1))
        rows = height - _AXIS_ROWS - below.height
        cells.copy(below, grid, height - below.height, left)

    axis, run = _DurationAxis(durations_ns, log=log), RunAxis(launches, by, columns)
    # In ASCII several clusters have a symbol each, and a cell one dot.
    cell = (_ASCII if len(clusters) == 1 else _SYMBOL) if ascii_only else _BRAILLE
    dot_row, dot_column = axis.places(durations_ns, cell.rows * rows), run.dots(cell.columns)
    plot = slice(0, rows), slice(left, left + columns)
    shape = rows, columns, len(clusters)
    grid.glyph[plot], grid.style[plot] = _dots(cell, dot_row, dot_column, cluster, shape)
    # The cell that a launch's dot is in: rounded to whole cells it might be the one beside it.
    row, column = dot_row // cell.rows, dot_column // cell.columns

    put(grid, 0, max(width - RIGHT - len(axis.words_above), left), axis.words_above, cells.LABEL)
    draw_up(grid, axis.ticks(rows), rows, left)
    draw_across(grid, rows, left, run.ticks(left, left + columns - 1))
    # The last column is that of the letters.
    put(grid, rows, width - 1, " ", PLAIN)
    if gaps is not None:
        glyphs = repeat(_IDLE[ascii_only]) if gaps.cause is None else (CAUSES[at][0] for at in gaps.cause)
        for glyph, (begin, end) in zip(glyphs, run.stretches(gaps.begin_ns, gaps.end_ns), strict=False):
            put(grid, rows, left + begin, glyph * (end - begin), MARKER)
    if has_mean:
        launches_in = np.bincount(column)
        filled = np.flatnonzero(launches_in)
        means_ns = np.bincount(column, weights=durations_ns)[filled] / launches_in[filled]
        places = axis.places(means_ns, rows), left + filled
        grid.glyph[places], grid.style[places] = _MEAN[ascii_only], MARKER
    marked = row[drawn_rows], left + column[drawn_rows]
    grid.glyph[marked], grid.style[marked] = _DRAWN[ascii_only], MARKER
    if len(clusters) > 1:
        # Each cluster's letter beside the middle of its durations, where that row is still free.
        middles_ns = np.array(clusters, dtype=np.float64).mean(axis=1)
        for dot, at_row in enumerate((axis.places(middles_ns, cell.rows * rows) // cell.rows).tolist()):
            if grid.glyph[at_row, -1] == " ":
                put(grid, at_row, width - 1, cells.cluster_symbol(dot), cells.cluster_style(dot))
    return grid


def _mark_entries(drawn: int, gaps: IdleGaps | None, *, has_mean: bool) -> list[Entry]:
    """Return what the marks of a chart mean: so many launches drawn, a mean, what the device idles for."""
    causes = set() if gaps is None or gaps.cause is None else set(gaps.cause.tolist())
    marks = (
        (drawn, _DRAWN, (f"{counted(drawn, 'launch', 'launches')} drawn", f"{drawn} drawn", "drawn")),
        (has_mean, _MEAN, ("mean, which drifts", "mean drifts", "mean")),
        (gaps is not None and gaps.cause is None, _IDLE, ("device idle", "device idle", "idle")),
        *((place in causes, name[0] * 2, (f"idle: {name}", name, name)) for place, name in enumerate(CAUSES)),
    )
    return [Entry(glyphs[is_ascii()], MARKER, words) for is_there, glyphs, words in marks if is_there]


def _dots(
    glyph_cell: _DotCell, row: Places, column: Places, cluster: Integers, shape: tuple[int, int, int]
) -> tuple[GlyphArray, StyleArray]:
    """Return the (rows, columns) glyphs and styles of (n,) dots, each of one of so many clusters."""
    rows, columns, clusters = shape
    is_set = np.zeros((glyph_cell.rows * rows, glyph_cell.columns * columns), dtype=np.bool_)
    is_set.ravel()[row * np.int32(glyph_cell.columns * columns) + column] = True
    dots = is_set.reshape(rows, glyph_cell.rows, columns, glyph_cell.columns).transpose(0, 2, 1, 3)
    code = (
        dots
        * (1 << np.arange(glyph_cell.rows * glyph_cell.columns).reshape(glyph_cell.rows, glyph_cell.columns))
    ).sum(axis=(2, 3))
    max_dots = np.zeros((rows, columns), dtype=np.intp)
    if clusters > 1:
        cell = (row // glyph_cell.rows * np.int32(columns) + column // glyph_cell.columns) * np.int64(
            clusters
        ) + cluster
        launches = np.bincount(cell, minlength=rows * columns * clusters)
        max_dots = launches.reshape(rows, columns, clusters).argmax(axis=2)
    symbols = np.array([cells.cluster_symbol(number) for number in range(clusters)])
    styles = np.array([cells.cluster_style(number) for number in range(clusters)])
    glyphs = symbols[max_dots] if glyph_cell is _SYMBOL else np.array([*glyph_cell.glyphs])[code]
    return np.where(code > 0, glyphs, " "), np.where(code > 0, styles[max_dots], PLAIN)


def number_clusters(durations_ns: Integers, clusters: Sequence[tuple[int, int]]) -> Integers:
    """Return (n,) the cluster of each duration, which lies in one of these ranges."""
    if len(clusters) < 2:
        return np.zeros(len(durations_ns), dtype=np.int8)
    numbers = np.searchsorted(np.array([high for _, high in clusters[:-1]]), durations_ns)
    return numbers.astype(np.min_scalar_type(len(clusters)))
