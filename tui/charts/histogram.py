"""The histogram of a kernel group's durations, its clusters told apart by colour, symbol and lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from sampling.arrays import IntArray
from sampling.text import counted
from tui.charts.axis import Tick, draw_across, draw_up, linear_time_ticks, log_time_ticks, ticks_up
from tui.charts.grid import (
    AXIS,
    LABEL,
    MARKER,
    PROPOSED,
    GlyphSet,
    Grid,
    blank,
    cluster_style,
    cluster_symbol,
    copy,
    fitted,
    glyph_set,
    lines,
    put,
    sparkline,
)
from tui.charts.legend import cluster_entries, legend, split_entry
from tui.charts.quantities import count, duration, duration_range, si
from tui.terminal.printable import is_ascii

SMALLEST_WIDTH = 20
SMALLEST_HEIGHT = 4
LEFT = 7
"""The columns before the plot: a count of at most five glyphs, a blank, and the axis."""

_AXIS_ROWS = 2
_ROWS_A_LEGEND_ROW = 5
_ROWS_A_LAUNCH, _LEAST_BAR_ROWS = 2, 3
_WIDEST_BAR = 6
_NO_BIN = -1
_ROWS_A_TICK = 4
_SPECK = "."
_COLUMNS_A_LINE = 5
# The share of the launches that a linear axis reaches to, if all of them would make it so many times longer.
_SHOWN, _LONGER = 0.995, 1.25
# Of fewer launches each is to be seen where it is.
_FEW = 15


# The ticks of profilers' clocks, in nanoseconds, and the share of durations that must be whole ticks.
_CLOCK_TICKS_NS = (1_000, 40, 32, 10)
_SHARE_OF_WHOLE_TICKS = 0.95
_ENOUGH_TO_SEE_TICKS = 10_000
# With this many clock ticks in each bin, one tick more or less is not visible.
_TICKS_NOT_SEEN = 8
_LARGEST_NS = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class HistogramData:
    """Launches by duration and cluster.

    Attributes
    ----------
    edges_ns : (bins + 1,) int64 array, ascending. Bin i holds edges_ns[i] <= duration < edges_ns[i + 1], the
        last bin also its upper edge.
    counts : (bins,) int64 array, launches in each bin; their sum is all launches.
    cluster_counts : (clusters, bins) int64 array, the same by cluster.
    has_zero_bin : whether the first bin holds what a logarithm cannot: the durations of zero.
    """

    edges_ns: IntArray
    counts: IntArray
    cluster_counts: IntArray
    has_zero_bin: bool

    def bin_of(self, duration_ns: int) -> int:
        """The bin of a duration; the nearest one for a duration outside all bins."""
        last = self.counts.size - 1
        return int(np.clip(np.searchsorted(self.edges_ns, duration_ns, side="right") - 1, 0, last))


def histogram_data(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    bins: int,
    *,
    log: bool = False,
) -> HistogramData:
    """Launches by duration and cluster, every launch in exactly one bin.

    Edges are whole nanoseconds, from the shortest duration on. On a linear axis bins are equally wide; where
    they would hold only a few ticks of the profile's clock, they are whole ticks wide and end between ticks;
    otherwise the clock itself would show as a pattern in the durations.

    Parameters
    ----------
    values_ns : (p,) int64 array, distinct durations, in nanoseconds.
    counts : (p,) int64 array, launches of each.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over everything.
    bins : how many, at least 1.
    log : bins of equal ratio; durations of zero are in a first bin of their own.

    Raises
    ------
    ValueError
        If there is no bin, or a duration belongs to no cluster.
    """
    if bins < 1:
        raise ValueError(f"`bins` must be at least 1, not {bins}.")
    if (values_ns[1:] < values_ns[:-1]).any():
        order = np.argsort(values_ns)
        values_ns, counts = values_ns[order], counts[order]
    edges_ns, has_zero_bin = _log_edges(values_ns, bins) if log else (_linear_edges(values_ns, bins), False)
    # Sorted durations: bins and clusters are ranges, so their overlap is a difference of two running sums.
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    bin_bounds = np.concatenate([[0], np.searchsorted(values_ns, edges_ns[1:-1]), [values_ns.size]])
    first, last = _cluster_runs(values_ns, clusters)
    inside = np.clip(bin_bounds, first[:, None], last[:, None])
    cluster_counts = np.diff(before[inside], axis=1)
    return HistogramData(edges_ns, cluster_counts.sum(axis=0), cluster_counts, has_zero_bin)


def _cluster_runs(
    values_ns: IntArray, clusters: Sequence[tuple[int, int]]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Two (clusters,) arrays: the place of each cluster's first duration, and the place after its last."""
    if not clusters:
        return np.zeros(1, dtype=np.intp), np.full(1, values_ns.size)
    low, high = np.array(clusters, dtype=np.int64).T
    first, last = np.searchsorted(values_ns, low, "left"), np.searchsorted(values_ns, high, "right")
    if int((last - first).sum()) < values_ns.size:
        held = np.zeros(values_ns.size, dtype=np.bool_)
        for start, stop in zip(first, last, strict=True):
            held[start:stop] = True
        raise ValueError(f"`clusters` must cover every duration, but not {values_ns[~held][0]} ns.")
    return first, last


def useful_bins(values_ns: IntArray, most: int, *, log: bool = False) -> int:
    """How many of `most` bins a chart can fill: fewer if their range has fewer ticks of the clock."""
    if values_ns.size == 0 or most < 1:
        return 1
    if log and values_ns.max() > 0:
        return most
    ticks = _clock_ticks(values_ns)[2]
    return most if ticks >= _TICKS_NOT_SEEN * most else -(-ticks // -(-ticks // most))


def _clock_ticks(values_ns: IntArray) -> tuple[int, int, int]:
    """The clock's tick in nanoseconds, the first tick in the durations' range, and how many it has."""
    some_ns = values_ns[:: max(values_ns.size // _ENOUGH_TO_SEE_TICKS, 1)]
    tick_ns = next((tick for tick in _CLOCK_TICKS_NS if _are_whole_ticks(some_ns, tick)), 1)
    first, last = ((int(ns) + tick_ns // 2) // tick_ns for ns in (values_ns.min(), values_ns.max()))
    return tick_ns, first, last - first + 1


def _are_whole_ticks(values_ns: IntArray, tick_ns: int) -> bool:
    """Whether nearly all durations are whole ticks, within a nanosecond, as begin and end are rounded."""
    beyond_ns = values_ns % tick_ns
    return float(((beyond_ns <= 1) | (beyond_ns == tick_ns - 1)).mean()) >= _SHARE_OF_WHOLE_TICKS


def _linear_edges(values_ns: IntArray, bins: int) -> IntArray:
    if values_ns.size == 0:
        return np.arange(bins + 1, dtype=np.int64)
    low, high = int(values_ns.min()), int(values_ns.max())
    tick_ns, first, ticks = _clock_ticks(values_ns)
    if ticks < _TICKS_NOT_SEEN * bins:
        start, bin_ns = first * tick_ns - tick_ns // 2, -(-ticks // bins) * tick_ns
        edges = [low, *(min(start + i * bin_ns, _LARGEST_NS) for i in range(1, bins + 1))]
    else:
        edges = [low + -(-i * (high - low) // bins) for i in range(bins + 1)]
    return np.array(edges, dtype=np.int64)


def _log_edges(values_ns: IntArray, bins: int) -> tuple[IntArray, bool]:
    positive = values_ns[values_ns > 0]
    if positive.size == 0:
        return _linear_edges(values_ns, bins), False
    has_zero_bin = positive.size < values_ns.size
    ratios = max(bins - has_zero_bin, 1)
    low, high = int(positive.min()), int(positive.max())
    exponent = np.linspace(np.log(low), np.log(high), ratios + 1)
    # The rounding of exp() must not pass the ends, nor move a whole edge to the next nanosecond.
    inner = [min(max(int(np.ceil(edge * (1 - 1e-12))), low), high) for edge in np.exp(exponent[1:-1])]
    edges = [low, *inner, high]
    if has_zero_bin:
        edges = [int(values_ns.min()), *(edges if bins > 1 else edges[1:])]
    return np.array(edges, dtype=np.int64), has_zero_bin


DurationAxis = Literal["linear", "log", "all"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the bins of a histogram are in its grid.

    Attributes
    ----------
    foot : the row of the duration axis; the bars are in the rows above it.
    bins : how many bins there are.
    bin_of_column : (width,) index of the bin that stands in each column of the grid, -1 for none.
    """

    foot: int
    bins: int
    bin_of_column: npt.NDArray[np.intp]

    def columns_of(self, bin_index: int) -> tuple[int, int]:
        """The first and the last column of a bin."""
        columns = np.flatnonzero(self.bin_of_column == bin_index)
        return int(columns[0]), int(columns[-1])

    def column_of(self, bin_index: int) -> int:
        """The middle column of a bin."""
        return sum(self.columns_of(bin_index)) // 2


@dataclass(frozen=True, slots=True)
class Plot:
    """A histogram under construction: the grid to draw on, and what to draw."""

    grid: Grid
    data: HistogramData
    layout: Layout
    glyphs: GlyphSet


def histogram(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    width: int,
    height: int,
    *,
    axis: DurationAxis = "linear",
    split: tuple[int, bool] | None = None,
    words: Grid | None = None,
) -> Grid:
    """A (height, width) grid: launches by duration.

    One launch is no tower: bars are at most two rows a launch high, and what is left is blank at the foot.
    A linear axis ends at the 99.5th percentile where a few launches beyond it would take a fifth of it or
    more; how many, and to where, stands at its end.

    A column's cluster is the one with most launches in it. Below 20x4 cells it is a sparkline and numbers.

    Parameters
    ----------
    values_ns : (p,) int64 array, distinct durations, in nanoseconds.
    counts : (p,) int64 array, launches of each.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over everything.
    axis : of the durations: ``linear``; ``log``, where durations of zero have a bin of their own at the left,
        marked 0; or ``all``, a linear one to the longest duration in any case.
    split : one that is looked at: the largest duration of its left part, and whether it is made.
    words : what stands below the axis in place of a legend.

    Raises
    ------
    ValueError
        If a duration belongs to no cluster.
    """
    if values_ns.size == 0:
        return lines(["no launches"], width, height)
    log = axis == "log" and is_log_possible(values_ns)
    clusters = clusters or [(int(values_ns.min()), int(values_ns.max()))]
    if width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        data = histogram_data(values_ns, counts, clusters, max(width, 1), log=log)
        return _numbers(values_ns, data, width, height)
    order = np.argsort(values_ns, kind="stable")
    values_ns, counts = values_ns[order], counts[order]
    least_ns = 0 if split is None else split[0] + 1
    stop = values_ns.size if log or axis == "all" else _stop(values_ns, counts, least_ns)
    shown_ns, shown = values_ns[:stop], counts[:stop]
    layout = lay_out(shown_ns, width, height - _AXIS_ROWS, int(shown.sum()), log=log)
    data = histogram_data(shown_ns, shown, clusters, layout.bins, log=log)
    deserved = max(_ROWS_A_LAUNCH * int(data.counts.max()), _LEAST_BAR_ROWS)
    if words is None:
        launches = histogram_data(values_ns, counts, clusters, 1).cluster_counts[:, 0]
        entries = cluster_entries(clusters, launches.tolist())
        if split is not None:
            entries.insert(0, split_entry(split[0], is_made=split[1]))
        rows = max(height // _ROWS_A_LEGEND_ROW, layout.foot - deserved)
        words = legend(entries, width - LEFT, rows)
    layout = replace(layout, foot=min(layout.foot - words.height, deserved))
    plot = Plot(blank(width, height), data, layout, glyph_set())
    _draw_count_axis(plot)
    draw_duration_axis(plot, int(shown_ns[-1]), log=log)
    draw_bars(plot)
    _draw_splits(plot, [each for each in clusters if each[0] <= shown_ns[-1]])
    if split is not None:
        _draw_threshold(plot, shown_ns, split[0])
    if stop < values_ns.size:
        arrow = "->" if is_ascii() else "→"
        text = f"{count(int(counts[stop:].sum()))} beyond, to {duration(int(values_ns[-1]))} {arrow}"
        put(plot.grid, 0, max(width - len(text), LEFT), text, LABEL)
    _draw_symbols(plot)
    copy(words, plot.grid, layout.foot + _AXIS_ROWS, LEFT)
    return plot.grid


def _stop(values_ns: IntArray, counts: IntArray, least_ns: int) -> int:
    """How many of the distinct durations, ascending, a linear axis shows.

    Parameters
    ----------
    least_ns : what it reaches to in any case.
    """
    so_far = np.cumsum(counts)
    percentile = int(values_ns[np.searchsorted(so_far, _SHOWN * so_far[-1])])
    low_ns, cut_ns = int(values_ns[0]), max(percentile, least_ns)
    if values_ns[-1] - low_ns <= _LONGER * (cut_ns - low_ns):
        return values_ns.size
    return int(np.searchsorted(values_ns, cut_ns, side="right"))


def lay_out(values_ns: IntArray, width: int, foot: int, launches: int, *, log: bool) -> Layout:
    """Bins for `values_ns`, one or more columns wide, in the columns from `LEFT` on.

    They are at most about two roots of the launches, of which more would be mostly noise. On a logarithmic
    axis an empty column keeps the bin of zeros apart.
    """
    columns = width - LEFT
    bin_of_column = np.full(width, _NO_BIN, dtype=np.intp)
    if log and (values_ns <= 0).any():
        bins = columns - 1
        bin_of_column[LEFT] = 0
        bin_of_column[LEFT + 2 :] = np.arange(1, bins)
        return Layout(foot, bins, bin_of_column)
    most = columns if launches < _FEW else min(columns, math.ceil(2 * math.sqrt(launches)))
    bins = useful_bins(values_ns, most, log=log)
    used = min(columns, bins * _WIDEST_BAR)
    first = LEFT + (columns - used) // 2
    bin_of_column[first : first + used] = np.arange(used) * bins // used
    return Layout(foot, bins, bin_of_column)


def is_log_possible(values_ns: IntArray) -> bool:
    """Whether some durations differ on a logarithmic axis, on which 0 has a bin of its own."""
    positive = values_ns[values_ns > 0]
    if positive.size == 0:
        return False
    return positive.size < values_ns.size or bool(positive.min() < positive.max())


def _draw_count_axis(plot: Plot) -> None:
    most, foot = int(plot.data.counts.max()), plot.layout.foot
    draw_up(plot.grid, ticks_up(most, foot, top=si(most)), foot, LEFT)


def draw_duration_axis(plot: Plot, longest_ns: int, *, log: bool) -> None:
    """The axis of durations, and its labels in the row below."""
    grid, foot, glyphs = plot.grid, plot.layout.foot, plot.glyphs
    ticks = _duration_ticks(plot, longest_ns, log=log)
    draw_across(grid, foot, LEFT, [tick.column for tick in ticks], ticks, glyphs)
    if plot.data.has_zero_bin:
        put(grid, foot, LEFT + 1, glyphs.gap, AXIS)


def _duration_ticks(plot: Plot, longest_ns: int, *, log: bool) -> list[Tick]:
    edges_ns, right = plot.data.edges_ns, plot.grid.width - 1

    def column_of(ns: int) -> int:
        return plot.layout.column_of(plot.data.bin_of(ns))

    if not log:
        return linear_time_ticks(int(edges_ns[0]), longest_ns, column_of, 0, right)
    if not plot.data.has_zero_bin:
        return log_time_ticks(int(edges_ns[0]), longest_ns, column_of, 0, right)
    zero = Tick(LEFT, "0", LEFT)
    return [zero, *log_time_ticks(int(edges_ns[1]), longest_ns, column_of, LEFT + 3, right)]


def draw_bars(plot: Plot) -> None:
    """A bar in every column whose bin has launches, at least a speck, in its cluster's style."""
    dominant = plot.data.cluster_counts.argmax(axis=0)
    most = int(plot.data.counts.max())
    for column, bin_index in enumerate(plot.layout.bin_of_column.tolist()):
        launches = int(plot.data.counts[bin_index]) if bin_index >= 0 else 0
        if launches:
            cluster = int(dominant[bin_index])
            bar = _bar(launches, most, cluster, plot)
            plot.grid.glyph[plot.layout.foot - len(bar) : plot.layout.foot, column] = list(bar[::-1])
            plot.grid.style[plot.layout.foot - len(bar) : plot.layout.foot, column] = cluster_style(cluster)


def _bar(launches: int, most: int, cluster: int, plot: Plot) -> str:
    """The glyphs of a bar from its foot up."""
    foot, levels = plot.layout.foot, plot.glyphs.levels
    if is_ascii():
        cells = round(launches * foot / most)
        return cluster_symbol(cluster) * cells or _SPECK
    steps = max(round(launches * foot * len(levels) / most), 1)
    full, part = divmod(steps, len(levels))
    return levels[-1] * full + (levels[part - 1] if part else "")


def _draw_splits(plot: Plot, clusters: Sequence[tuple[int, int]]) -> None:
    """A line between every two neighbouring clusters, above the bars; only its foot if there are too many."""
    crowded = (len(clusters) - 1) * _COLUMNS_A_LINE > plot.grid.width - LEFT
    for (_, below_ns), (above_ns, _) in pairwise(clusters):
        column = _threshold_column(plot, below_ns, above_ns)
        if not crowded:
            _draw_line(plot, column, plot.glyphs.split, MARKER)
        put(plot.grid, plot.layout.foot, column, plot.glyphs.split_foot, MARKER)


def _draw_threshold(plot: Plot, values_ns: IntArray, threshold_ns: int) -> None:
    """A line at the threshold that is looked at; none if it would leave one side without launches."""
    above_ns = values_ns[values_ns > threshold_ns]
    if above_ns.size == 0 or threshold_ns < values_ns.min():
        return
    column = _threshold_column(plot, threshold_ns, int(above_ns.min()))
    _draw_line(plot, column, plot.glyphs.proposed, PROPOSED)
    put(plot.grid, plot.layout.foot, column, plot.glyphs.proposed_foot, PROPOSED)


def _threshold_column(plot: Plot, below_ns: int, above_ns: int) -> int:
    """The column for a line between two durations: right after the bar of the lower one, which is the
    threshold; where no column is free there, on the lower of the two bars."""
    left = plot.layout.columns_of(plot.data.bin_of(below_ns))[1]
    right = plot.layout.columns_of(plot.data.bin_of(above_ns))[0]
    if right - left > 1:
        return left + 1
    return min(left, right) if _height(plot, left) < _height(plot, right) else max(left, right)


def _height(plot: Plot, column: int) -> int:
    """The cells that the bars take in a column."""
    styles = plot.grid.style[: plot.layout.foot, column]
    return int(((styles >= 0) & (styles < MARKER)).sum())


def _draw_line(plot: Plot, column: int, line: str, style: int) -> None:
    styles = plot.grid.style[: plot.layout.foot, column]
    free = np.flatnonzero((styles < 0) | (styles >= MARKER))
    plot.grid.glyph[free, column] = line
    plot.grid.style[free, column] = style


def _draw_symbols(plot: Plot) -> None:
    """The symbol of each of several clusters, on the axis below its bars; left out where there is no room."""
    clusters = plot.data.cluster_counts.shape[0]
    axis = plot.grid.glyph[plot.layout.foot]
    for cluster in range(clusters if clusters > 1 else 0):
        bins = np.flatnonzero(plot.data.cluster_counts[cluster])
        if bins.size == 0:
            continue
        first = plot.layout.columns_of(int(bins[0]))[0]
        last = plot.layout.columns_of(int(bins[-1]))[1]
        columns = sorted(range(first, last + 1), key=lambda column: abs(2 * column - first - last))
        for glyph in (plot.glyphs.horizontal, plot.glyphs.tick_down):
            free = [column for column in columns if axis[column] == glyph]
            if free:
                symbol = cluster_symbol(cluster)
                put(plot.grid, plot.layout.foot, free[0], symbol, cluster_style(cluster))
                break


def _numbers(values_ns: IntArray, data: HistogramData, width: int, height: int) -> Grid:
    """The chart for too small a grid for axes: a sparkline, the launches, the durations."""
    rows = [
        sparkline(data.counts, width),
        counted(int(data.counts.sum()), "launch", "launches"),
        duration_range(int(values_ns.min()), int(values_ns.max())),
    ]
    return lines(rows, width, height)


_CAPTIONS = 2
_SMALLEST_HEIGHT = _CAPTIONS + _AXIS_ROWS + 2
_UPPER_AXIS_FROM = 10
"""With as many rows the upper histogram has an axis of its own, without labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two histograms.

    Attributes
    ----------
    words : the caption.
    values_ns : (p,) distinct durations, ascending, in nanoseconds; none where it has no launches.
    counts : (p,) launches of each.
    """

    words: str
    values_ns: IntArray
    counts: IntArray


def two_histograms(sides: tuple[Side, Side], width: int, height: int, *, log: bool = False) -> Grid:
    """A (height, width) grid: the launches of the first side by duration over those of the second.

    Bins and axis are the same, of the durations of both; the heights are of each side's own launches. Below
    20x6 cells the bars are sparklines.

    Parameters
    ----------
    log : a logarithmic duration axis; durations of zero have a bin of their own at the left, marked 0.
    """
    values_ns = np.unique(np.concatenate([side.values_ns for side in sides]))
    if values_ns.size == 0:
        return lines(["no launches"], width, height)
    log = log and is_log_possible(values_ns)
    if width < SMALLEST_WIDTH or height < _SMALLEST_HEIGHT:
        sparklines = [_sparkline(side, values_ns, width, log=log) for side in sides]
        between = duration_range(int(values_ns[0]), int(values_ns[-1]))
        return lines([*sparklines, between], width, height)
    has_upper_axis = height >= _UPPER_AXIS_FROM
    bars = height - _CAPTIONS - _AXIS_ROWS - has_upper_axis
    lower = bars // 2
    grid, top = blank(width, height), 0
    for index, (side, rows) in enumerate(zip(sides, (bars - lower, lower), strict=True)):
        _draw_caption(grid, top, index, side)
        launches = sum(int(each.counts.sum()) for each in sides)
        layout = lay_out(values_ns, width, rows, launches, log=log)
        data = _data(side, index, values_ns, layout, log=log)
        drawn = _drawn(data, layout, int(values_ns[-1]), width, log=log)
        # Of the upper one's axis only the line is wanted; the labels stand below the lower one.
        kept = rows + (_AXIS_ROWS if index else has_upper_axis)
        copy(Grid(drawn.glyph[:kept], drawn.style[:kept]), grid, top + 1, 0)
        top += 1 + kept
    return grid


def _counts_of(side: Side, values_ns: IntArray) -> IntArray:
    """Return (v,) the launches of a side at each of the durations of both."""
    counts = np.zeros(values_ns.size, dtype=np.int64)
    counts[np.searchsorted(values_ns, side.values_ns)] = side.counts
    return counts


def _data(side: Side, index: int, values_ns: IntArray, layout: Layout, *, log: bool) -> HistogramData:
    """Return a side's launches in the bins of both, as the cluster of the side's index."""
    data = histogram_data(values_ns, _counts_of(side, values_ns), [], layout.bins, log=log)
    of_sides = np.zeros((2, data.counts.size), dtype=np.int64)
    of_sides[index] = data.counts
    return replace(data, cluster_counts=of_sides)


def _drawn(data: HistogramData, layout: Layout, longest_ns: int, width: int, *, log: bool) -> Grid:
    """Return bars, axis and labels."""
    grid = blank(width, layout.foot + _AXIS_ROWS)
    plot = Plot(grid, data, layout, glyph_set())
    draw_duration_axis(plot, longest_ns, log=log)
    if data.counts.any():
        _draw_count_axis(plot)
        draw_bars(plot)
    return grid


def _draw_caption(grid: Grid, row: int, index: int, side: Side) -> None:
    put(grid, row, 0, cluster_symbol(index), cluster_style(index))
    put(grid, row, 2, fitted(side.words, grid.width - 2), LABEL)


def _sparkline(side: Side, values_ns: IntArray, width: int, *, log: bool) -> str:
    """Return the first word of a side's caption, and its launches in as many bins as have room."""
    name = f"{side.words.split(' ', maxsplit=1)[0].rstrip(':'):<{LEFT - 1}} "
    bins = max(width - len(name), 1)
    data = histogram_data(values_ns, _counts_of(side, values_ns), [], bins, log=log)
    return name + sparkline(data.counts, bins)
