"""Methods by speedup and error: mean error upwards over speedup, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tui.charts.axis import draw_across, draw_up, left_of, ticks_across, value_axis
from tui.charts.grid import LABEL, SELECTED, Grid, blank, copy, glyph_set, lines, put
from tui.charts.legend import Entry, legend
from tui.charts.quantities import ratio, share, si_tick

SMALLEST_WIDTH = 20
SMALLEST_HEIGHT = 4

_TITLE = "mean error over speedup"
_NO_POINTS = "no points"
_LEAST_ROWS_WITH_LEGEND = 6
_LEAST_ROWS_WITH_TITLE = 8
_ROWS_A_LEGEND_ROW = 3
# How long methods' names may be, longest first.
_NAME_LENGTHS = (40, 9, 4)
# From here on a tick has an SI prefix: "10kx".
_LEAST_WITH_PREFIX = 10_000
_LEAST_WHOLE = 100


@dataclass(frozen=True, slots=True)
class Point:
    """One method.

    Attributes
    ----------
    symbol, style : a letter and a colour, which are the method's own in every chart.
    error : the mean error, a fraction.
    """

    name: str
    symbol: str
    style: int
    speedup: float
    error: float


def scatter(points: Sequence[Point], width: int, height: int, *, selected: str | None = None) -> Grid:
    """A (height, width) grid: a letter a method, at its speedup and mean error.

    Letters that fall on one cell stand side by side, the smaller speedup first. An error of 0, which a
    logarithm cannot show, stands in the lowest row, marked 0. What is not finite is left out. Below 20x4
    cells it is numbers.

    Parameters
    ----------
    selected : the name of the method to mark, by no other glyphs.
    """
    shown = [point for point in points if _can_be_drawn(point)]
    if not shown or width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        return _numbers(shown, width, height)
    grid = blank(width, height)
    words = blank(0, 0)
    if height >= _LEAST_ROWS_WITH_LEGEND:
        entries = [_entry(point, selected) for point in shown]
        rows = height // _ROWS_A_LEGEND_ROW
        words = legend(entries, width, rows, what="methods")
        copy(words, grid, height - words.height, 0)
    top = 1 if height >= _LEAST_ROWS_WITH_TITLE else 0
    put(grid, 0, 0, _TITLE[: width * top], LABEL)
    _draw_plot(grid, shown, top, height - words.height - 2, selected)
    return grid


def _can_be_drawn(point: Point) -> bool:
    return math.isfinite(point.error) and math.isfinite(point.speedup) and point.speedup > 0


def _entry(point: Point, selected: str | None) -> Entry:
    longest, shorter, shortest = (point.name[:letters] for letters in _NAME_LENGTHS)
    return Entry(point.symbol, _style(point, selected), (longest, shorter, shortest))


def _style(point: Point, selected: str | None) -> int:
    return SELECTED if point.name == selected else point.style


def _draw_plot(grid: Grid, points: Sequence[Point], top: int, foot: int, selected: str | None) -> None:
    glyphs = glyph_set()
    upward = value_axis([point.error for point in points], foot - top, log=True, percent=True)
    left, right = left_of(upward), grid.width - 1
    across = value_axis([point.speedup for point in points], right - left + 1, log=True, percent=False)
    draw_up(grid, [(top + row, text) for row, text in upward.ticks], foot, left, top)
    ticks = ticks_across(across, _speedup_label, right)
    draw_across(grid, foot, left, [tick.column for tick in ticks], ticks, glyphs)

    def row_of(point: Point) -> int:
        return top + upward.row_of(point.error)

    for row, of_row in groupby(sorted(points, key=row_of), key=row_of):
        level = sorted(of_row, key=lambda point: (point.speedup, point.symbol))
        columns = _apart([right - across.row_of(point.speedup) for point in level], left, right)
        for point, column in zip(level, columns, strict=True):
            put(grid, row, column, point.symbol, _style(point, selected))


def _apart(columns: Sequence[int], left: int, right: int) -> list[int]:
    """The ascending columns, moved as little as needed for no two to be equal, within left..right.

    Equal columns are spread around their place. In a full row, the rest is put on its first cell.
    """
    blocks: list[tuple[int, int]] = []
    for column in columns:
        # A block is its first column and how many stand in it; where it meets the one before, both join,
        # and stand around their middle.
        start, size = column, 1
        while blocks and start < sum(blocks[-1]):
            before, others = blocks.pop()
            middle = (others * (before + (others - 1) / 2) + size * (start + (size - 1) / 2)) / (
                others + size
            )
            size += others
            start = max(min(round(middle - (size - 1) / 2), right + 1 - size), left)
        blocks.append((start, size))
    return [min(start + index, right) for start, size in blocks for index in range(size)]


def _speedup_label(speedup: float) -> str:
    if speedup >= _LEAST_WITH_PREFIX:
        return f"{si_tick(round(speedup))}x"
    return f"{speedup:,.0f}x" if speedup >= _LEAST_WHOLE else f"{speedup:.3g}x"


def _numbers(points: Sequence[Point], width: int, height: int) -> Grid:
    """The chart for too small a grid for axes: a method a row, and how many others there are."""
    texts = [f"{point.symbol} {share(point.error)} {ratio(point.speedup)} {point.name}" for point in points]
    rows = texts or [_NO_POINTS]
    if len(rows) > height:
        rows = [*rows[: height - 1], f"+{len(rows) - height + 1} more"]
    return lines(rows, width, height)
