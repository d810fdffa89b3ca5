"""Lines between points of a chart: of braille dots, in ASCII of strokes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tui.charts.grid import Grid, put

_BRAILLE = 0x2800
# The dots of a braille cell, two columns of four rows, as bits of its code point.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_DOT_ROWS, _DOT_COLUMNS = 4, 2

Cell = tuple[int, int]
"""A row and a column."""


def draw_curve(grid: Grid, points: Sequence[Cell], style: int, *, ascii_only: bool) -> None:
    """Draw a line from point to point on a grid under construction.

    Lines go between the points' columns: those are left to what marks the points and to their bars.

    Parameters
    ----------
    points : cells of the grid, from the left to the right.
    """
    draw = _draw_strokes if ascii_only else _draw_dots
    for first, last in pairwise(points):
        draw(grid, first, last, style)


def _draw_dots(grid: Grid, first: Cell, last: Cell, style: int) -> None:
    dots = 1 + 2 * max(_DOT_ROWS * abs(last[0] - first[0]), _DOT_COLUMNS * abs(last[1] - first[1]))
    # Through the middle of both cells.
    rows, columns = (
        np.linspace(size * start + (size - 1) / 2, size * stop + (size - 1) / 2, dots)
        for size, start, stop in zip((_DOT_ROWS, _DOT_COLUMNS), first, last, strict=True)
    )
    for row, column in dict.fromkeys(zip(rows.round().astype(int), columns.round().astype(int), strict=True)):
        cell = int(row) // _DOT_ROWS, int(column) // _DOT_COLUMNS
        if first[1] < cell[1] < last[1]:
            here = ord(grid.glyph[cell])
            before = here if _BRAILLE < here < _BRAILLE + 256 else _BRAILLE
            put(grid, *cell, chr(before | _DOTS[row % _DOT_ROWS][column % _DOT_COLUMNS]), style)


def _draw_strokes(grid: Grid, first: Cell, last: Cell, style: int) -> None:
    columns = range(first[1], last[1] + 1)
    rows = np.interp(columns, (first[1], last[1]), (first[0], last[0])).round().astype(int).tolist()
    for column, (row, following) in zip(columns, pairwise(rows), strict=False):
        if column == first[1]:
            continue
        if following == row:
            put(grid, row, column, "-", style)
        elif abs(following - row) == 1:
            put(grid, max(row, following), column, "/" if following < row else "\\", style)
        else:
            for each in range(min(row, following), max(row, following)):
                put(grid, each, column, "|", style)
