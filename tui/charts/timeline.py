"""A kernel group's durations over the run: every launch a dot, its cluster by colour and by letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.timeline import By, GroupLaunches, timeline_bins
from sampling.text import counted
from tui.charts.axis import linear_time_ticks, place
from tui.charts.glyphs import cluster_style, cluster_symbol, glyph_set
from tui.charts.grid import AXIS, LABEL, MARKER, PLAIN, Grid, blank, copy, fitted, put
from tui.charts.legend import Entry, cluster_entries, legend
from tui.charts.quantities import count, duration, duration_range
from tui.charts.sparkline import sparkline

SMALLEST_WIDTH = 24
SMALLEST_HEIGHT = 5

_LEFT = 9
_AXIS_ROWS = 2
_ROWS_A_TICK = 4
_COLUMNS_A_TICK = 16
_ROWS_A_LEGEND_ROW = 5
_DRAWN = ("\N{BLACK DIAMOND}", "X")
# The dots of a braille cell, two columns of four rows, as bits of its code point.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_DOT_ROWS, _DOT_COLUMNS = _DOTS.shape
_BRAILLE = 0x2800


@dataclass(frozen=True, slots=True)
class _Axis:
    """The axis of durations, in rows from the top."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, durations_ns: npt.NDArray[np.integer], *, log: bool) -> _Axis:
        low, high = float(durations_ns.min()), float(durations_ns.max())
        if log:
            # A duration of 0 stands at the foot, with the shortest of the others.
            low = float(durations_ns[durations_ns > 0].min(initial=durations_ns.max()))
            log = 0 < low < high
        # What hardly varies is not stretched over the whole height.
        if not log and high - low < high / 5:
            low, high = max(low - high / 10, 0.0), high + high / 10
        return cls(low, high, log)

    def places(self, durations_ns: npt.NDArray[np.number], rows: int) -> npt.NDArray[np.intp]:
        """Return the row of each duration, the longest at the top."""
        values, low, high = np.asarray(durations_ns, dtype=np.float64), self.low, self.high
        if self.log:
            values, low, high = np.log(np.maximum(values, low)), np.log(low), np.log(high)
        share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
        return np.rint((1 - np.clip(share, 0, 1)) * (rows - 1)).astype(np.intp)

    def value(self, row: int, rows: int) -> float:
        """Return the duration that a row stands for."""
        share = 1 - row / max(rows - 1, 1)
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)


def timeline_chart(
    launches: GroupLaunches,
    clusters: Sequence[tuple[int, int]],
    drawn_ids: IntArray,
    width: int,
    height: int,
    *,
    by: By = "launch",
    log: bool = False,
    ascii_only: bool = False,
) -> Grid:
    """A (height, width) grid: duration over launch index or over time, drawn launches marked.

    A cell has the style of the cluster with most launches in it; in ASCII its symbol too. Below 24x5 cells
    it is a sparkline of means and numbers.

    Parameters
    ----------
    launches : at least one; with starts where it goes by time.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over all.
    drawn_ids : ids of launches that a plan draws, of this group and others.
    """
    if width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        return _numbers(launches, width, height, by=by, ascii_only=ascii_only)
    durations_ns = launches.duration_ns
    clusters = clusters or [(int(durations_ns.min()), int(durations_ns.max()))]
    cluster = np.searchsorted([high for _, high in clusters], durations_ns)
    is_drawn = launches.are(drawn_ids)
    number = np.bincount(cluster, minlength=len(clusters))
    entries = cluster_entries(clusters, number.tolist(), ascii_only=ascii_only)
    if is_drawn.any():
        entries.insert(0, _drawn_entry(int(is_drawn.sum()), ascii_only=ascii_only))
    words = legend(entries, width - _LEFT, max(height // _ROWS_A_LEGEND_ROW, 1), ascii_only=ascii_only)
    rows, columns = height - _AXIS_ROWS - words.height, width - _LEFT - 2
    axis = _Axis.of(durations_ns, log=log)
    grid = blank(width, height)
    share = _shares(launches, by)
    # The cell that a launch's dot is in: rounded to whole cells it might be the one beside it.
    dot_row, dot_column = axis.places(durations_ns, _DOT_ROWS * rows), _columns(share, _DOT_COLUMNS * columns)
    cells = _Cells(rows, columns, dot_row // _DOT_ROWS, dot_column // _DOT_COLUMNS)
    styles = cells.most_common(cluster, len(clusters))
    shown = styles != PLAIN
    if ascii_only:
        symbols = np.array([cluster_symbol(each, ascii_only=True) for each in range(len(clusters))])
        glyphs = np.where(shown, symbols[styles], " ")
    else:
        glyphs = _braille(dot_row, dot_column, rows, columns)
    cluster_styles = np.array([cluster_style(each) for each in range(len(clusters))])
    grid.glyph[:rows, _LEFT : _LEFT + columns] = glyphs
    grid.style[:rows, _LEFT : _LEFT + columns] = np.where(shown, cluster_styles[styles], PLAIN)
    for row, column in set(zip(cells.row[is_drawn].tolist(), cells.column[is_drawn].tolist(), strict=True)):
        put(grid, row, _LEFT + column, _DRAWN[ascii_only], MARKER)
    _draw_axes(grid, rows, axis, launches, by, ascii_only=ascii_only)
    _draw_letters(grid, rows, axis, clusters, ascii_only=ascii_only)
    copy(words, grid, height - words.height, _LEFT)
    return grid


@dataclass(frozen=True, slots=True)
class _Cells:
    """Which cell each launch stands in; rows and columns (n,)."""

    rows: int
    columns: int
    row: npt.NDArray[np.intp]
    column: npt.NDArray[np.intp]

    def most_common(self, cluster: npt.NDArray[np.intp], clusters: int) -> npt.NDArray[np.intp]:
        """Return (rows, columns) the cluster with most launches in a cell, `PLAIN` where there is none."""
        cell = self.row * self.columns + self.column
        counted = np.bincount(cell * clusters + cluster, minlength=self.rows * self.columns * clusters)
        by_cell = counted.reshape(self.rows, self.columns, clusters)
        return np.where(by_cell.any(axis=2), by_cell.argmax(axis=2), PLAIN)


def _shares(launches: GroupLaunches, by: By) -> FloatArray:
    """Return (n,) how far along the axis each launch stands, from 0 to below 1."""
    if by == "launch":
        return np.arange(len(launches)) / len(launches)
    assert launches.start_ns is not None
    low, high = int(launches.start_ns.min()), int(launches.start_ns.max())
    return np.asarray((launches.start_ns - low) / (high - low + 1))


def _columns(share: FloatArray, columns: int) -> npt.NDArray[np.intp]:
    # Over a span of centuries the last share rounds to 1.
    return np.minimum((share * columns).astype(np.intp), columns - 1)


def _braille(
    row: npt.NDArray[np.intp], column: npt.NDArray[np.intp], rows: int, columns: int
) -> npt.NDArray[np.str_]:
    """Return (rows, columns) cells with a dot wherever there is a launch."""
    is_set: BoolArray = np.zeros((_DOT_ROWS * rows, _DOT_COLUMNS * columns), dtype=np.bool_)
    is_set[row, column] = True
    dots = is_set.reshape(rows, _DOT_ROWS, columns, _DOT_COLUMNS).transpose(0, 2, 1, 3)
    code = (dots * _DOTS).sum(axis=(2, 3))
    glyphs = np.array([" ", *(chr(_BRAILLE + each) for each in range(1, 256))])
    return np.asarray(glyphs[code])


def _draw_axes(
    grid: Grid, rows: int, axis: _Axis, launches: GroupLaunches, by: By, *, ascii_only: bool
) -> None:
    glyphs = glyph_set(ascii_only=ascii_only)
    grid.glyph[:rows, _LEFT - 1] = glyphs.vertical
    grid.style[: rows + 1, _LEFT - 1] = AXIS
    grid.glyph[rows, _LEFT - 1] = glyphs.corner
    for row in sorted({*range(0, max(rows - _ROWS_A_TICK // 2, 1), _ROWS_A_TICK), rows - 1}):
        put(grid, row, 0, f"{duration(axis.value(row, rows)):>{_LEFT - 2}} ", LABEL)
        put(grid, row, _LEFT - 1, glyphs.tick_left, AXIS)
    right = grid.width - 1
    put(grid, rows, _LEFT, glyphs.horizontal * (right - _LEFT), AXIS)
    columns = right - _LEFT - 1
    if by == "time":
        assert launches.start_ns is not None
        low, high = int(launches.start_ns.min()), int(launches.start_ns.max())
        step = max(high - low, 1)
        ticks = linear_time_ticks(
            low, high, lambda ns: _LEFT + (ns - low) * (columns - 1) // step, _LEFT, right
        )
    else:
        # Whole launches from tick to tick: of a few launches not every tick would have its own.
        step = max(-(-_COLUMNS_A_TICK * len(launches) // columns), 1)
        shown = range(0, len(launches), step)
        at = [_LEFT - -row * columns // len(launches) for row in shown]
        labels = [count(int(launches.id[row])) for row in shown]
        labels[0] = f"launch {labels[0]}"
        ticks = place(at, labels, _LEFT, right)
    for tick in ticks:
        put(grid, rows, tick.column, glyphs.tick_down, AXIS)
        put(grid, rows + 1, tick.text_column, tick.text, LABEL)


def _draw_letters(
    grid: Grid, rows: int, axis: _Axis, clusters: Sequence[tuple[int, int]], *, ascii_only: bool
) -> None:
    """Write each cluster's letter beside the middle of its durations, where that row is still free."""
    if len(clusters) < 2:
        return
    middles_ns = np.array([(low + high) / 2 for low, high in clusters])
    middles = (axis.places(middles_ns, _DOT_ROWS * rows) // _DOT_ROWS).tolist()
    for cluster, row in enumerate(middles):
        if grid.glyph[row, -1] == " ":
            put(
                grid,
                row,
                grid.width - 1,
                cluster_symbol(cluster, ascii_only=ascii_only),
                cluster_style(cluster),
            )


def _drawn_entry(number: int, *, ascii_only: bool) -> Entry:
    words = (f"{counted(number, 'launch', 'launches')} drawn", f"{number} drawn", "drawn")
    return Entry(_DRAWN[ascii_only], MARKER, words)


def _numbers(launches: GroupLaunches, width: int, height: int, *, by: By, ascii_only: bool) -> Grid:
    """The chart for too small a grid for axes."""
    bins = timeline_bins(launches, max(width, 1), by)
    means = np.nan_to_num(bins.mean_ns).astype(np.int64)
    durations_ns = launches.duration_ns
    lines = [
        sparkline(means, width, ascii_only=ascii_only),
        counted(len(launches), "launch", "launches"),
        duration_range(int(durations_ns.min()), int(durations_ns.max())),
    ]
    grid = blank(width, height)
    for row, line in enumerate(lines):
        put(grid, row, 0, fitted(line, grid.width, ascii_only=ascii_only), LABEL)
    return grid
