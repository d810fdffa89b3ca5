"""The Textual sink of a chart: a grid drawn for the widget's own size."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import Grid, blank, put, runs, style_name
from tui.terminal.printable import printable

Draw = Callable[[int, int], Grid]
"""Draws a chart of a width and a height."""


class Chart(Widget, can_focus=True):
    """A chart that is drawn again when its size changes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw: Draw = blank
        self._grid: Grid | None = None

    def show(self, draw: Draw) -> None:
        """Show another chart."""
        self._draw, self._grid = draw, None
        self.refresh()

    def say(self, words: str) -> None:
        """Show a text in place of a chart."""
        self.show(partial(_draw_words, printable(words)))

    @property
    def grid(self) -> Grid:
        """The chart at the present size."""
        width, height = self.size
        if self._grid is None or (self._grid.width, self._grid.height) != (width, height):
            self._grid = self._draw(width, height)
        return self._grid

    @property
    def printed_size(self) -> tuple[int, int]:
        """Columns and rows for the command that prints the chart; at least one each."""
        width, height = self.size
        return max(width, 1), max(height, 1)

    def render_line(self, y: int) -> Strip:
        """One row of the chart."""
        base = self.rich_style
        if y >= self.grid.height:
            return Strip.blank(self.size.width, base)
        segments = [
            Segment(words, base + Style.parse(style_name(style))) for words, style in runs(self.grid, y)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)


def _draw_words(words: str, width: int, height: int) -> Grid:
    grid = blank(width, height)
    for row, line in enumerate(textwrap.wrap(words, max(width, 1))):
        put(grid, row, 0, line)
    return grid
