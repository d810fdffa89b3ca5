"""The facts of a node in a few rows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import set_cell_size
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import fitted
from tui.terminal.printable import printable


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
