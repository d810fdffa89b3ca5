"""Which bin of a histogram stands in which column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sampling.arrays import IntArray
from tui.charts.glyphs import GlyphSet
from tui.charts.grid import Grid
from tui.charts.histogram_data import HistogramData, useful_bins

LEFT = 7
"""The columns before the plot: a count of at most five glyphs, a blank, and the axis."""

_WIDEST_BAR = 6
_NO_BIN = -1


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
    ascii_only: bool


def lay_out(values_ns: IntArray, width: int, foot: int, *, log: bool) -> Layout:
    """Bins for `values_ns`, one or more columns wide, in the columns from `LEFT` on.

    On a logarithmic axis an empty column keeps the bin of zeros apart.
    """
    columns = width - LEFT
    bin_of_column = np.full(width, _NO_BIN, dtype=np.intp)
    if log and (values_ns <= 0).any():
        bins = columns - 1
        bin_of_column[LEFT] = 0
        bin_of_column[LEFT + 2 :] = np.arange(1, bins)
        return Layout(foot, bins, bin_of_column)
    bins = useful_bins(values_ns, columns, log=log)
    used = min(columns, bins * _WIDEST_BAR)
    first = LEFT + (columns - used) // 2
    bin_of_column[first : first + used] = np.arange(used) * bins // used
    return Layout(foot, bins, bin_of_column)


def is_log_possible(values_ns: IntArray) -> bool:
    """Whether there are durations that a logarithmic axis can set apart."""
    positive = values_ns[values_ns > 0]
    if positive.size == 0:
        return False
    return positive.size < values_ns.size or bool(positive.min() < positive.max())
