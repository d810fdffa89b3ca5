"""The widgets of view 2: a node's histogram and facts, and the branches of the tree so far."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import set_cell_size
from rich.segment import Segment
from textual import on
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.frame.chart import Chart, Draw
from tui.app.frame.soon import Soon
from tui.app.split_tree.presenter import draw_branches, durations_of
from tui.charts.grid import Grid, blank, copy, fitted
from tui.terminal.printable import printable
from tui.text.tree import TreeStop, stop_histogram

DURATIONS_AT_ONCE = 100_000
"""A histogram of more takes longer to draw than a key may wait."""


@dataclass
class HistogramDrawn(Message):
    """The histogram of many durations is drawn."""

    draw: Draw
    grid: Grid


class SplitHistogram(Chart):
    """A chart that is drawn in a worker where it has many durations."""

    def __init__(self, *, ascii_only: bool, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._ascii_only = ascii_only
        self._stop: TreeStop | None = None
        self._log = False
        self._wanted: Draw = blank
        self._soon = Soon[None](self, lambda _: self._show_wanted())

    def look_at(self, stop: TreeStop, *, log: bool) -> None:
        """Show the durations of the node in focus."""
        self._stop, self._log = stop, log
        self._soon.ask(None)

    @property
    def is_resting(self) -> bool:
        """Whether no drawing is pending."""
        return self._soon.is_resting

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._soon.ask(None)

    def _show_wanted(self) -> None:
        if self._stop is None:
            return
        draw = self._wanted = partial(stop_histogram, self._stop, log=self._log, ascii_only=self._ascii_only)
        if durations_of(self._stop) <= DURATIONS_AT_ONCE:
            self.show(draw)
        elif self.size:
            # The screen's own worker: it knows what to do with a defect.
            self.screen.run_worker(
                partial(self._draw_aside, draw, *self.size),
                thread=True,
                exclusive=True,
                exit_on_error=False,
                group="tree-histogram",
            )

    def _draw_aside(self, draw: Draw, width: int, height: int) -> None:
        self.post_message(HistogramDrawn(draw, draw(width, height)))

    @on(HistogramDrawn)
    def _show_drawn(self, event: HistogramDrawn) -> None:
        event.stop()
        if event.draw is self._wanted:
            self.show(partial(self._fitted, event.grid))

    def _fitted(self, grid: Grid, width: int, height: int) -> Grid:
        """Return the drawn chart; cut to a new size until it is drawn again."""
        if (grid.width, grid.height) == (width, height):
            return grid
        self.call_after_refresh(self._soon.ask, None)
        fitting = blank(width, height)
        rows, columns = min(height, grid.height), min(width, grid.width)
        copy(Grid(grid.glyph[:rows, :columns], grid.style[:rows, :columns]), fitting, 0, 0)
        return fitting


class SplitCard(Widget, can_focus=False):
    """Lines broken between words; where there are too few rows, the last ones are not shown."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._lines: tuple[str, ...] = ()

    def show(self, lines: Sequence[str]) -> None:
        """Show other lines."""
        shown = tuple(printable(line, ascii_only=self._ascii_only) for line in lines)
        if shown != self._lines:
            self._lines = shown
            self.refresh()

    def _rows(self, width: int) -> list[str]:
        return [
            fitted(row, width, ascii_only=self._ascii_only)
            for line in self._lines
            for row in textwrap.wrap(line, max(width, 4), subsequent_indent="  ")
        ]

    def render_line(self, y: int) -> Strip:
        """One row, and blanks."""
        width = self.size.width
        rows = self._rows(width)
        row = rows[y] if y < len(rows) else ""
        return Strip([Segment(set_cell_size(row, width), self.rich_style)], width)


class Branches(Chart):
    """The branches of a kernel group's split tree, a row a node."""

    def __init__(self, *, ascii_only: bool, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._ascii_only = ascii_only

    def look_at(self, stop: TreeStop) -> None:
        """Show the tree so far, the node that is looked at marked."""
        self.show(partial(draw_branches, stop, ascii_only=self._ascii_only))
