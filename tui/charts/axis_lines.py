"""The two lines that carry a chart, with their ticks and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui.charts.axis import Tick
from tui.charts.glyphs import GlyphSet
from tui.charts.grid import AXIS, LABEL, Grid, put
from tui.charts.value_axis import ValueAxis


def left_of(axis: ValueAxis) -> int:
    """The first column of a plot that has this axis before it."""
    return max(len(text) for _, text in axis.ticks) + 2


def draw_upward(grid: Grid, axis: ValueAxis, top: int, foot: int, left: int, glyphs: GlyphSet) -> None:
    """An axis before column `left`, from the row `top` down to the corner in the row `foot`."""
    at = left - 1
    grid.glyph[top:foot, at] = glyphs.vertical
    grid.glyph[foot, at] = glyphs.corner
    grid.style[top : foot + 1, at] = AXIS
    for row, text in axis.ticks:
        put(grid, top + row, 0, f"{text:>{at - 1}} ", LABEL)
        put(grid, top + row, at, glyphs.tick_left, AXIS)


def draw_across(
    grid: Grid, foot: int, left: int, columns: Iterable[int], labels: Sequence[Tick], glyphs: GlyphSet
) -> None:
    """An axis in the row `foot` from column `left` on, ticks in these columns, labels in the row below."""
    put(grid, foot, left, glyphs.horizontal * (grid.width - left), AXIS)
    for column in columns:
        put(grid, foot, column, glyphs.tick_down, AXIS)
    for label in labels:
        put(grid, foot + 1, label.text_column, label.text, LABEL)
