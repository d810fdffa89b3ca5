"""Two histograms, one above the other, on one axis of durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from tui.charts.glyphs import cluster_style, cluster_symbol, glyph_set
from tui.charts.grid import LABEL, Grid, blank, copy, fitted, put
from tui.charts.histogram import (
    LEFT,
    SMALLEST_WIDTH,
    Layout,
    Plot,
    draw_bars,
    draw_count_axis,
    draw_duration_axis,
    is_log_possible,
    lay_out,
)
from tui.charts.histogram_data import HistogramData, histogram_data
from tui.charts.quantities import duration_range
from tui.charts.sparkline import sparkline

_CAPTIONS = 2
_AXIS_ROWS = 2
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


def two_histograms(
    sides: tuple[Side, Side], width: int, height: int, *, log: bool = False, ascii_only: bool = False
) -> Grid:
    """A (height, width) grid: the launches of the first side by duration over those of the second.

    Bins and axis are the same, of the durations of both; the heights are of each side's own launches. Below
    20x6 cells the bars are sparklines.

    Parameters
    ----------
    log : a logarithmic duration axis; durations of zero have a bin of their own at the left, marked 0.
    """
    values_ns = np.unique(np.concatenate([side.values_ns for side in sides]))
    if values_ns.size == 0:
        return _rows(["no launches"], width, height, ascii_only=ascii_only)
    log = log and is_log_possible(values_ns)
    if width < SMALLEST_WIDTH or height < _SMALLEST_HEIGHT:
        lines = [_sparkline(side, values_ns, width, log=log, ascii_only=ascii_only) for side in sides]
        between = duration_range(int(values_ns[0]), int(values_ns[-1]))
        return _rows([*lines, between], width, height, ascii_only=ascii_only)
    has_upper_axis = height >= _UPPER_AXIS_FROM
    bars = height - _CAPTIONS - _AXIS_ROWS - has_upper_axis
    lower = bars // 2
    grid, top = blank(width, height), 0
    for index, (side, rows) in enumerate(zip(sides, (bars - lower, lower), strict=True)):
        _draw_caption(grid, top, index, side, ascii_only=ascii_only)
        launches = sum(int(each.counts.sum()) for each in sides)
        layout = lay_out(values_ns, width, rows, launches, log=log)
        data = _data(side, index, values_ns, layout, log=log)
        drawn = _drawn(data, layout, int(values_ns[-1]), width, log=log, ascii_only=ascii_only)
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


def _drawn(
    data: HistogramData, layout: Layout, longest_ns: int, width: int, *, log: bool, ascii_only: bool
) -> Grid:
    """Return bars, axis and labels."""
    grid = blank(width, layout.foot + _AXIS_ROWS)
    plot = Plot(grid, data, layout, glyph_set(ascii_only=ascii_only), ascii_only)
    draw_duration_axis(plot, longest_ns, log=log)
    if data.counts.any():
        draw_count_axis(plot)
        draw_bars(plot)
    return grid


def _draw_caption(grid: Grid, row: int, index: int, side: Side, *, ascii_only: bool) -> None:
    put(grid, row, 0, cluster_symbol(index, ascii_only=ascii_only), cluster_style(index))
    put(grid, row, 2, fitted(side.words, grid.width - 2, ascii_only=ascii_only), LABEL)


def _sparkline(side: Side, values_ns: IntArray, width: int, *, log: bool, ascii_only: bool) -> str:
    """Return the first word of a side's caption, and its launches in as many bins as have room."""
    name = f"{side.words.split(' ', maxsplit=1)[0].rstrip(':'):<{LEFT - 1}} "
    bins = max(width - len(name), 1)
    data = histogram_data(values_ns, _counts_of(side, values_ns), [], bins, log=log)
    return name + sparkline(data.counts, bins, ascii_only=ascii_only)


def _rows(texts: Sequence[str], width: int, height: int, *, ascii_only: bool) -> Grid:
    grid = blank(width, height)
    for row, text in enumerate(texts[:height]):
        put(grid, row, 0, fitted(text, width, ascii_only=ascii_only), LABEL)
    return grid
