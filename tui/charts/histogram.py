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
from tui.charts import grid as cells
from tui.charts.axis import Tick, draw_across, draw_up, ticks_up, time_ticks
from tui.charts.grid import LABEL, MARKER, PROPOSED, Grid, blank, copy, glyph_set, put, too_small
from tui.charts.legend import cluster_entries, legend, split_entry
from tui.charts.quantities import count, duration, si, si_tick
from tui.terminal.printable import is_ascii

LEFT = 7
"""The columns before the plot: a count of at most five glyphs, a blank, and the axis."""

_AXIS_ROWS = 2
_ROWS_A_LEGEND_ROW = 5
_ROWS_A_LAUNCH, _LEAST_BAR_ROWS = 2, 3
_WIDEST_BAR = 6
_SPECK = "."
_COLUMNS_A_LINE = 5
# The share of the launches that a linear axis reaches to, if all of them would make it so many times longer.
SHOWN, LONGER = 0.995, 1.25
# The largest bin over the median one that has launches, from where on a linear count axis shows it alone.
_SKEWED = 200
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
    """Launches by duration and cluster."""

    #: (bins + 1,) int64, ascending. Bin i holds edges_ns[i] <= duration < edges_ns[i + 1], the last bin also
    #: its upper edge.
    edges_ns: IntArray
    #: (bins,) int64, launches in each bin; their sum is all launches.
    counts: IntArray
    #: (clusters, bins) int64, the same by cluster.
    cluster_counts: IntArray
    #: Whether the first bin holds what a logarithm cannot: the durations of zero.
    has_zero_bin: bool

    def find_bin(self, duration_ns: int) -> int:
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

    `values_ns`: (p,) int64 array, distinct durations, in nanoseconds. `counts`: (p,) int64 array, launches of
    each. `clusters`: closed (low, high) ranges of durations, ascending and disjoint; none means one over
    everything. `bins`: how many, at least 1. `log`: bins of equal ratio; durations of zero are in a first bin
    of their own.

    Raises ValueError: there is no bin, or a duration belongs to no cluster.
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
    low, high = np.array(clusters or [(0, _LARGEST_NS)], dtype=np.int64).T
    first, last = np.searchsorted(values_ns, low, "left"), np.searchsorted(values_ns, high, "right")
    if int((last - first).sum()) < values_ns.size:
        raise ValueError("`clusters` must cover every duration.")
    bounds = np.clip(bin_bounds, first[:, None], last[:, None])
    cluster_counts = np.diff(before[bounds], axis=1)
    return HistogramData(edges_ns, cluster_counts.sum(axis=0), cluster_counts, has_zero_bin)


def useful_bins(values_ns: IntArray, max_bins: int, *, log: bool = False) -> int:
    """How many of `max_bins` bins a chart can fill: fewer if their range has fewer ticks of the clock."""
    if values_ns.size == 0 or max_bins < 1:
        return 1
    if log and values_ns.max() > 0:
        return max_bins
    ticks = _clock_ticks(values_ns)[2]
    return max_bins if ticks >= _TICKS_NOT_SEEN * max_bins else -(-ticks // -(-ticks // max_bins))


def _tick_share(tick_ns: int, values_ns: IntArray) -> float:
    """How many of the durations are whole ticks, within a nanosecond, as begin and end are rounded."""
    beyond_ns = values_ns % tick_ns
    return float(((beyond_ns <= 1) | (beyond_ns == tick_ns - 1)).mean())


def _clock_ticks(values_ns: IntArray) -> tuple[int, int, int]:
    """The clock's tick in nanoseconds, the first tick in the durations' range, and how many it has."""
    some_ns = values_ns[:: max(values_ns.size // _ENOUGH_TO_SEE_TICKS, 1)]
    clock_ticks = (tick for tick in _CLOCK_TICKS_NS if _tick_share(tick, some_ns) >= _SHARE_OF_WHOLE_TICKS)
    tick_ns = next(clock_ticks, 1)
    first, last = ((int(ns) + tick_ns // 2) // tick_ns for ns in (values_ns.min(), values_ns.max()))
    return tick_ns, first, last - first + 1


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


def histogram(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    width: int,
    height: int,
    *,
    axis: DurationAxis = "linear",
    split: tuple[int, bool] | None = None,
) -> Grid:
    """A (height, width) grid: launches by duration.

    One launch is no tower: bars are at most two rows a launch high, and what is left is blank at the foot.
    Where one bar is some hundred times as high as most, counts have a logarithmic axis, and its foot says so.
    A linear axis ends at the 99.5th percentile where a few launches beyond it would take a fifth of it or
    more; how many, and to where, stands at its end. A column's cluster is the one with most launches in it.

    `values_ns`, `counts` and `clusters` as for `histogram_data`. `axis`: of the durations: ``linear``;
    ``log``, where durations of zero have a bin of their own at the left, marked 0; or ``all``, a linear one
    to the longest duration in any case. `split`: one that is looked at: the largest duration of its left
    part, and whether it is made.

    Raises ValueError: a duration belongs to no cluster.
    """
    if values_ns.size == 0:
        return cells.lines(["no launches"], width, height)
    if (sentence := too_small(width, height)) is not None:
        return sentence
    log = axis == "log" and _is_log_possible(values_ns)
    order = np.argsort(values_ns, kind="stable")
    values_ns, counts = values_ns[order], counts[order]
    clusters = clusters or [(int(values_ns[0]), int(values_ns[-1]))]
    least_ns = 0 if split is None else split[0] + 1
    stop = values_ns.size if log or axis == "all" else _stop(values_ns, counts, least_ns)
    shown_ns, shown_counts = values_ns[:stop], counts[:stop]
    bin_at = bin_columns(shown_ns, width, int(shown_counts.sum()), log=log)
    data = histogram_data(shown_ns, shown_counts, clusters, int(bin_at.max()) + 1, log=log)
    foot = height - _AXIS_ROWS
    deserved = max(_ROWS_A_LAUNCH * int(data.counts.max()), _LEAST_BAR_ROWS)
    launches = histogram_data(values_ns, counts, clusters, 1).cluster_counts[:, 0]
    entries = cluster_entries(clusters, launches.tolist())
    if split is not None:
        entries.insert(0, split_entry(split[0], is_made=split[1]))
    words = legend(entries, width - LEFT, max(height // _ROWS_A_LEGEND_ROW, foot - deserved))
    log_counts = is_skewed(data.counts)
    plot = _Plot(blank(width, height), data, bin_at, min(foot - words.height, deserved), log_counts)
    plot.draw_count_axis()
    plot.draw_duration_axis(int(shown_ns[-1]), log=log)
    plot.draw_bars()
    ranges, glyphs = [cluster for cluster in clusters if cluster[0] <= shown_ns[-1]], glyph_set()
    line = glyphs.split if (len(ranges) - 1) * _COLUMNS_A_LINE <= width - LEFT else ""
    for (_, below_ns), (above_ns, _) in pairwise(ranges):
        plot.draw_line(below_ns, above_ns, line, glyphs.split_foot, MARKER)
    if split is not None and shown_ns[0] <= split[0] < shown_ns[-1]:
        above_ns = int(shown_ns[np.searchsorted(shown_ns, split[0], "right")])
        plot.draw_line(split[0], above_ns, glyphs.proposed, glyphs.proposed_foot, PROPOSED)
    if stop < values_ns.size:
        arrow = "->" if is_ascii() else "→"
        text = f"{count(int(counts[stop:].sum()))} beyond, to {duration(int(values_ns[-1]))} {arrow}"
        put(plot.grid, 0, max(width - len(text), LEFT), text, LABEL)
    plot.draw_symbols()
    copy(words, plot.grid, plot.foot + _AXIS_ROWS, LEFT)
    return plot.grid


def is_skewed(counts: IntArray) -> bool:
    """Whether one bar is so far above most that a linear axis of counts would show it alone.

    `counts`: (bins,) int64 array, launches in each bin; some bin has launches.
    """
    return bool(counts.max() > _SKEWED * np.median(counts[counts > 0]))


def _stop(values_ns: IntArray, counts: IntArray, least_ns: int) -> int:
    """How many of the distinct durations, ascending, a linear axis shows, to `least_ns` in any case."""
    so_far = np.cumsum(counts)
    percentile = int(values_ns[np.searchsorted(so_far, SHOWN * so_far[-1])])
    low_ns, cut_ns = int(values_ns[0]), max(percentile, least_ns)
    if values_ns[-1] - low_ns <= LONGER * (cut_ns - low_ns):
        return values_ns.size
    return int(np.searchsorted(values_ns, cut_ns, side="right"))


def bin_columns(values_ns: IntArray, width: int, launches: int, *, log: bool) -> npt.NDArray[np.intp]:
    """Return (width,) the bin that stands in each column, from `LEFT` on; -1 for none.

    Bins are at most about two roots of the launches, of which more would be mostly noise. On a logarithmic
    axis an empty column keeps the bin of zeros apart.
    """
    columns = width - LEFT
    bin_at = np.full(width, -1, dtype=np.intp)
    if log and (values_ns <= 0).any():
        bin_at[LEFT] = 0
        bin_at[LEFT + 2 :] = np.arange(1, columns - 1)
        return bin_at
    max_bins = columns if launches < _FEW else min(columns, math.ceil(2 * math.sqrt(launches)))
    bins = useful_bins(values_ns, max_bins, log=log)
    used = min(columns, bins * _WIDEST_BAR)
    first = LEFT + (columns - used) // 2
    bin_at[first : first + used] = np.arange(used) * bins // used
    return bin_at


def _is_log_possible(values_ns: IntArray) -> bool:
    """Whether some durations differ on a logarithmic axis, on which 0 has a bin of its own."""
    positive = values_ns[values_ns > 0]
    return positive.size > 0 and (positive.size < values_ns.size or bool(positive.min() < positive.max()))


@dataclass(frozen=True, slots=True)
class _Plot:
    """A histogram under construction."""

    grid: Grid
    data: HistogramData
    #: (width,) the bin of each column, -1 for none.
    bin_at: npt.NDArray[np.intp]
    #: The row of the duration axis; the bars are in the rows above it.
    foot: int
    #: Whether the axis of counts is logarithmic.
    log_counts: bool = False

    def rows(self, launches: int) -> float:
        """How high a bar of so many launches is; on a logarithmic axis that of one has a row."""
        max_count = int(self.data.counts.max())
        if self.log_counts:
            return 1 + (self.foot - 1) * math.log(launches) / math.log(max_count)
        return launches * self.foot / max_count

    def columns_at(self, duration_ns: int) -> tuple[int, int]:
        """The first and the last column of a duration's bin."""
        columns = np.flatnonzero(self.bin_at == self.data.find_bin(duration_ns))
        return int(columns[0]), int(columns[-1])

    def draw_count_axis(self) -> None:
        max_count = int(self.data.counts.max())
        ticks = ticks_up(max_count, self.foot, top=si(max_count))
        if self.log_counts:
            ticks = [(self.foot, "log"), (0, si(max_count))]
            for power in range(len(str(max_count))):
                row = self.foot - round(self.rows(10**power))
                # Of the ticks so far the last is the top's; labels but that of 1 stand a row apart.
                if 1 < row < ticks[-2][0] - (power > 0):
                    ticks.insert(-1, (row, si_tick(10**power)))
        draw_up(self.grid, ticks, self.foot, LEFT)

    def draw_duration_axis(self, longest_ns: int, *, log: bool) -> None:
        """The axis of durations, and its labels in the row below."""
        has_zero, width = self.data.has_zero_bin, self.grid.width
        first_ns, left = int(self.data.edges_ns[int(has_zero)]), LEFT + 3 if has_zero else 0

        def column_at(ns: int) -> int:
            return sum(self.columns_at(ns)) // 2

        ticks = time_ticks(first_ns, longest_ns, column_at, left, width - 1, log=log)
        draw_across(self.grid, self.foot, LEFT, [Tick(LEFT, "0", LEFT), *ticks] if has_zero else ticks)
        if has_zero:
            put(self.grid, self.foot, LEFT + 1, glyph_set().gap, cells.AXIS)

    def draw_bars(self) -> None:
        """A bar in every column whose bin has launches, at least a speck, in its cluster's style."""
        dominant = self.data.cluster_counts.argmax(axis=0)
        levels = glyph_set().levels
        for column in np.flatnonzero(self.bin_at >= 0).tolist():
            bin_number = self.bin_at[column]
            launches, cluster = int(self.data.counts[bin_number]), int(dominant[bin_number])
            if not launches:
                continue
            if is_ascii():
                bar = cells.cluster_symbol(cluster) * round(self.rows(launches)) or _SPECK
            else:
                full, part = divmod(max(round(self.rows(launches) * len(levels)), 1), len(levels))
                bar = levels[-1] * full + (levels[part - 1] if part else "")
            rows = slice(self.foot - len(bar), self.foot)
            self.grid.glyph[rows, column] = list(bar[::-1])
            self.grid.style[rows, column] = cells.cluster_style(cluster)

    def draw_line(self, below_ns: int, above_ns: int, line: str, foot: str, style: int) -> None:
        """A line between two durations, above the bars, and its foot; with no glyph the foot alone.

        It stands right after the bar of the lower duration; where no column is free, on the lower bar.
        """
        left, right = self.columns_at(below_ns)[1], self.columns_at(above_ns)[0]
        is_lower = self.data.counts[self.bin_at[left]] < self.data.counts[self.bin_at[right]]
        column = left + 1 if right - left > 1 else left if is_lower else right
        styles = self.grid.style[: self.foot, column]
        free = np.flatnonzero((styles < 0) | (styles >= MARKER))
        if line:
            self.grid.glyph[free, column] = line
            self.grid.style[free, column] = style
        put(self.grid, self.foot, column, foot, style)

    def draw_symbols(self) -> None:
        """The symbol of each of several clusters, on the axis below its bars; none where there is no room."""
        axis, glyphs = self.grid.glyph[self.foot], glyph_set()
        clusters = self.data.cluster_counts if len(self.data.cluster_counts) > 1 else ()
        for cluster, launches in enumerate(clusters):
            columns = np.flatnonzero(launches[self.bin_at] * (self.bin_at >= 0))
            if not columns.size:
                continue
            # On the line of the axis, else on a tick.
            span, middle = slice(columns[0], columns[-1] + 1), (columns[0] + columns[-1]) / 2
            offsets = (np.flatnonzero(axis[span] == glyph) for glyph in (glyphs.horizontal, glyphs.tick_down))
            free = columns[0] + next((offset for offset in offsets if offset.size), columns[:0])
            if free.size:
                nearest = int(free[np.abs(free - middle).argmin()])
                symbol, style = cells.cluster_symbol(cluster), cells.cluster_style(cluster)
                put(self.grid, self.foot, nearest, symbol, style)


_CAPTIONS = 2
_UPPER_AXIS_FROM = 10
"""With as many rows the upper histogram has an axis of its own, without labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two histograms."""

    #: The caption.
    words: str
    #: (p,) distinct durations, ascending, in nanoseconds; none where it has no launches.
    values_ns: IntArray
    #: (p,) launches of each.
    counts: IntArray


def two_histograms(sides: tuple[Side, Side], width: int, height: int, *, log: bool = False) -> Grid:
    """A (height, width) grid: the launches of the first side by duration over those of the second.

    Bins and axis are the same, of the durations of both; the heights are of each side's own launches, and on
    a logarithmic axis where one bar of either side hides its others. Of a side without any its caption is all
    there is.

    `log`: a logarithmic duration axis; durations of zero have a bin of their own at the left, marked 0.
    """
    values_ns = np.unique(np.concatenate([side.values_ns for side in sides]))
    if values_ns.size == 0:
        return cells.lines(["no launches"], width, height)
    if (sentence := too_small(width, height, _CAPTIONS + _AXIS_ROWS + 2)) is not None:
        return sentence
    log = log and _is_log_possible(values_ns)
    bin_at = bin_columns(values_ns, width, sum(int(side.counts.sum()) for side in sides), log=log)
    has_upper_axis = height >= _UPPER_AXIS_FROM
    bars = height - _CAPTIONS - _AXIS_ROWS - has_upper_axis
    grid, top = blank(width, height), 0
    is_alone = any(not side.counts.any() for side in sides)
    heights = (bars + has_upper_axis,) * 2 if is_alone else (bars - bars // 2, bars // 2)
    side_data = [_side_data(side, values_ns, int(bin_at.max()) + 1, log=log) for side in sides]
    # On a logarithmic axis one row alone would have all bars as high.
    log_counts = heights[1] > 1 and any(is_skewed(data.counts) for data in side_data if data.counts.any())
    for index, (side, data, rows) in enumerate(zip(sides, side_data, heights, strict=True)):
        put(grid, top, 0, cells.cluster_symbol(index), cells.cluster_style(index))
        put(grid, top, 2, cells.fitted(side.words, width - 2), LABEL)
        if not side.counts.any():
            top += 1
            continue
        # Each side is the cluster of its index.
        clusters = np.stack([data.counts * (index == cluster) for cluster in (0, 1)])
        of_cluster = replace(data, cluster_counts=clusters)
        plot = _Plot(blank(width, rows + _AXIS_ROWS), of_cluster, bin_at, rows, log_counts)
        plot.draw_duration_axis(int(values_ns[-1]), log=log)
        plot.draw_count_axis()
        plot.draw_bars()
        # Of the upper one's axis only the line is wanted; the labels stand below the lower one.
        kept_rows = rows + (_AXIS_ROWS if index or is_alone else has_upper_axis)
        copy(Grid(plot.grid.glyph[:kept_rows], plot.grid.style[:kept_rows]), grid, top + 1, 0)
        top += 1 + kept_rows
    return grid


def _side_data(side: Side, values_ns: IntArray, bins: int, *, log: bool) -> HistogramData:
    """Return the launches of a side in bins of the durations of both, ascending."""
    counts = np.zeros(values_ns.size, dtype=np.int64)
    counts[np.searchsorted(values_ns, side.values_ns)] = side.counts
    return histogram_data(values_ns, counts, [], bins, log=log)
