"""What stands in a histogram's plot: bars, split lines, the symbols of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sampling.arrays import IntArray
from tui.charts.glyphs import cluster_style, cluster_symbol
from tui.charts.grid import MARKER, PROPOSED, put
from tui.charts.histogram_layout import LEFT, Plot

_SPECK = "."
_COLUMNS_A_LINE = 5


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
    if plot.ascii_only:
        cells = round(launches * foot / most)
        return cluster_symbol(cluster, ascii_only=True) * cells or _SPECK
    steps = max(round(launches * foot * len(levels) / most), 1)
    full, part = divmod(steps, len(levels))
    return levels[-1] * full + (levels[part - 1] if part else "")


def draw_splits(plot: Plot, clusters: Sequence[tuple[int, int]]) -> None:
    """A line between every two neighbouring clusters, above the bars; only their feet if too many."""
    crowded = (len(clusters) - 1) * _COLUMNS_A_LINE > plot.grid.width - LEFT
    for (_, below_ns), (above_ns, _) in pairwise(clusters):
        column = column_between(plot, below_ns, above_ns)
        if not crowded:
            _draw_line(plot, column, plot.glyphs.split, MARKER)
        put(plot.grid, plot.layout.foot, column, plot.glyphs.split_foot, MARKER)


def draw_proposal(plot: Plot, values_ns: IntArray, threshold_ns: int) -> None:
    """A line where a split is proposed; none if it would leave one side without launches."""
    above_ns = values_ns[values_ns > threshold_ns]
    if above_ns.size == 0 or threshold_ns < values_ns.min():
        return
    column = column_between(plot, threshold_ns, int(above_ns.min()))
    _draw_line(plot, column, plot.glyphs.proposed, PROPOSED)
    put(plot.grid, plot.layout.foot, column, plot.glyphs.proposed_foot, PROPOSED)


def column_between(plot: Plot, below_ns: int, above_ns: int) -> int:
    """The column for a line between two durations: amid the gap between their bars, else on the lower bar."""
    left = plot.layout.columns_of(plot.data.bin_of(below_ns))[1]
    right = plot.layout.columns_of(plot.data.bin_of(above_ns))[0]
    if right - left > 1:
        return (left + right) // 2
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


def draw_symbols(plot: Plot) -> None:
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
                symbol = cluster_symbol(cluster, ascii_only=plot.ascii_only)
                put(plot.grid, plot.layout.foot, free[0], symbol, cluster_style(cluster))
                break
