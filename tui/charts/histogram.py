"""The histogram of a kernel group's durations, its clusters apart by colour, by symbol and by split lines."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.arrays import IntArray
from tui.charts.glyphs import glyph_set
from tui.charts.grid import LABEL, Grid, blank, copy, fitted, put
from tui.charts.histogram_axes import draw_count_axis, draw_duration_axis
from tui.charts.histogram_data import HistogramData, histogram_data
from tui.charts.histogram_layout import LEFT, Plot, is_log_possible, lay_out
from tui.charts.histogram_marks import draw_bars, draw_proposal, draw_splits, draw_symbols
from tui.charts.legend import Entry, cluster_entries, legend, proposal_entry
from tui.charts.quantities import counted, duration_range
from tui.charts.sparkline import sparkline

__all__ = ["HistogramData", "histogram", "histogram_data"]

SMALLEST_WIDTH = 20
SMALLEST_HEIGHT = 4

_AXIS_ROWS = 2
_ROWS_A_LEGEND_ROW = 5


def histogram(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    width: int,
    height: int,
    *,
    log: bool = False,
    ascii_only: bool = False,
    threshold_ns: int | None = None,
) -> Grid:
    """A (height, width) grid: launches by duration.

    A column's cluster is the one with most launches in it. Below 20x4 cells it is a sparkline and numbers.

    Parameters
    ----------
    values_ns : (p,) int64 array, distinct durations, in nanoseconds.
    counts : (p,) int64 array, launches of each.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over everything.
    log : a logarithmic duration axis; durations of zero have a bin of their own at the left, marked 0.
    threshold_ns : where a split is proposed: the largest duration of its left part.

    Raises
    ------
    ValueError
        If a duration belongs to no cluster.
    """
    if values_ns.size == 0:
        return _words(["no launches"], width, height, ascii_only=ascii_only)
    log = log and is_log_possible(values_ns)
    clusters = clusters or [(int(values_ns.min()), int(values_ns.max()))]
    if width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        data = histogram_data(values_ns, counts, clusters, max(width, 1), log=log)
        return _numbers(values_ns, data, width, height, ascii_only=ascii_only)
    entries = _entries(values_ns, counts, clusters, threshold_ns, ascii_only=ascii_only)
    words = legend(entries, width - LEFT, height // _ROWS_A_LEGEND_ROW, ascii_only=ascii_only)
    layout = lay_out(values_ns, width, height - _AXIS_ROWS - words.height, log=log)
    data = histogram_data(values_ns, counts, clusters, layout.bins, log=log)
    plot = Plot(blank(width, height), data, layout, glyph_set(ascii_only=ascii_only), ascii_only)
    draw_count_axis(plot)
    draw_duration_axis(plot, int(values_ns.max()), log=log)
    draw_bars(plot)
    draw_splits(plot, clusters)
    if threshold_ns is not None:
        draw_proposal(plot, values_ns, threshold_ns)
    draw_symbols(plot)
    copy(words, plot.grid, height - words.height, LEFT)
    return plot.grid


def _entries(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    threshold_ns: int | None,
    *,
    ascii_only: bool,
) -> list[Entry]:
    launches = histogram_data(values_ns, counts, clusters, 1).cluster_counts[:, 0]
    entries = cluster_entries(clusters, launches.tolist(), ascii_only=ascii_only)
    if threshold_ns is not None:
        entries.insert(0, proposal_entry(threshold_ns, ascii_only=ascii_only))
    return entries


def _words(rows: Sequence[str], width: int, height: int, *, ascii_only: bool) -> Grid:
    grid = blank(width, height)
    for row, text in enumerate(rows):
        put(grid, row, 0, fitted(text, grid.width, ascii_only=ascii_only), LABEL)
    return grid


def _numbers(values_ns: IntArray, data: HistogramData, width: int, height: int, *, ascii_only: bool) -> Grid:
    """What has room where axes have none: a sparkline, how many launches, how long."""
    rows = [
        sparkline(data.counts, width, ascii_only=ascii_only),
        counted(int(data.counts.sum()), "launch", "launches"),
        duration_range(int(values_ns.min()), int(values_ns.max())),
    ]
    return _words(rows, width, height, ascii_only=ascii_only)
