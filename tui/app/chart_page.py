"""A page with a chart among its sentences and tables: what a command prints, in the rows of a pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.text import Text
from textual import events

from tui.app.view import Page
from tui.charts.grid import Grid, runs, style_name
from tui.output.blocks import Block
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import printable_lines

_LEAST_ROWS, _ROWS = 8, 12
"""Rows of a chart at least, and so many before a table below it is in sight."""

Blocks = Callable[[Canvas, int, int], Iterable[Block]]
"""What is said on a canvas, a chart of so many columns and rows in it."""


class ChartPage(Page):
    """Blocks, of which the chart has the rows that the others leave."""

    def __init__(self) -> None:
        super().__init__(self._text)
        self._blocks: Blocks = lambda *_: ()
        self._chart_rows = _LEAST_ROWS

    def show(self, blocks: Blocks) -> None:
        """Show others."""
        self._blocks = blocks
        if self.is_mounted:
            self.write_anew()

    @property
    def chart_size(self) -> tuple[int, int]:
        """Columns and rows of the chart, for the command that prints it."""
        return max(self.size.width, 1), self._chart_rows

    def printed(self, width: int) -> str:
        """Return what the command prints in a terminal so wide."""
        canvas = Canvas(width, color=False)
        return f"{canvas_text(self._blocks(canvas, *self.chart_size), canvas)}\n"

    def on_resize(self, _: events.Resize) -> None:
        """Draw for this height too."""
        self.write_anew()

    def _text(self, width: int) -> Text:
        canvas = Canvas(width, color=False)
        # How long the sentences are does not depend on the chart.
        self._chart_rows = _rows_left(list(self._blocks(canvas, width, 1)), canvas, self.size.height)
        text = Text()
        for block in self._blocks(canvas, width, self._chart_rows):
            if isinstance(block, Grid):
                _append_chart(text, block)
            else:
                text.append(f"{printable_lines(canvas_text([block], canvas))}\n")
        text.rstrip()
        return text


def _rows_left(blocks: Sequence[Block], canvas: Canvas, height: int) -> int:
    """Return the rows of the chart among the blocks in a page so high.

    All that the others leave; where they are too long, what those up to the line below the chart leave.
    """
    place = next((place for place, block in enumerate(blocks) if isinstance(block, Grid)), len(blocks))
    lines = [canvas_text([block], canvas).count("\n") + 1 for block in blocks]
    left, left_above = height - sum(lines) + 1, height - sum(lines[: place + 2]) + 1
    return max(left, min(left_above, _ROWS), _LEAST_ROWS)


def _append_chart(text: Text, chart: Grid) -> None:
    for row in range(chart.height):
        for run, style in runs(chart, row):
            text.append(run, style_name(style) or None)
        text.append("\n")
