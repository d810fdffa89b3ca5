"""From one total to another, each cause drawn from where the one before it ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from tui.charts.grid import PLAIN, Grid, blank, cluster_style, fitted, put, too_small
from tui.charts.quantities import duration, signed_duration
from tui.terminal.printable import is_ascii

_MOST_LABEL = 32
_GAP = 2
# Where less than this share of the larger total changes, the axis begins further on.
_FROM_NOTHING = 0.25


def waterfall(before_ns: int, causes: Sequence[tuple[str, int]], width: int, height: int) -> Grid:
    """A (height, width) grid: the total before, by how many ns each cause changes it, and what that leaves.

    Totals are whole bars, what grows is made of plus signs and what shrinks of minus signs, a cell at least.
    Where little changes, the axis begins beyond 0 and the totals' bars with a mark.
    """
    if (sentence := too_small(width, height, 3)) is not None:
        return sentence
    levels = list(accumulate((ns for _, ns in causes), initial=before_ns))
    low, high = min(levels), max(levels)
    first = 0.0 if high - low >= _FROM_NOTHING * high else low - (high - low) / 3
    words = ["before", *(words for words, _ in causes), "after"]
    figures = [duration(before_ns), *(signed_duration(ns) for _, ns in causes), duration(levels[-1])]
    label, figure = min(max(map(len, words)), _MOST_LABEL), max(map(len, figures))
    left = label + figure + 2 * _GAP
    scale = max(width - left, 1) / max(high - first, 1)
    grid, block = blank(width, height), "#" if is_ascii() else "█"
    for row, (name, text) in enumerate(zip(words, figures, strict=True)):
        put(grid, row, 0, fitted(name, label))
        put(grid, row, label + _GAP, text.rjust(figure), PLAIN)
    for row, ns, style in ((0, before_ns, cluster_style(0)), (len(words) - 1, levels[-1], cluster_style(1))):
        put(grid, row, left, block * round((ns - first) * scale), style)
        if first:
            put(grid, row, left, "~" if is_ascii() else "≈", style)
    for row, (start, stop) in enumerate(pairwise(levels), 1):
        ends = [round((end - first) * scale) for end in sorted((start, stop))]
        cells, column = max(ends[1] - ends[0], 1), min(ends[0], width - left - 1)
        put(grid, row, left + column, ("+" if stop > start else "-") * cells, cluster_style(stop > start))
    return grid
