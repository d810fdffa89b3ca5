"""A text in as many rows as its style allows, shortened where they are too few."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.cells import set_cell_size
from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget


class Wrapped(Widget, can_focus=False):
    """Rows broken wherever they are full; `max-height` says how many there may be."""

    DEFAULT_CSS = "Wrapped { height: auto; min-height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._shorten: Callable[[int], str] = lambda _: ""

    def show(self, shorten: Callable[[int], str]) -> None:
        """Show another text; `shorten` returns it in at most so many cells."""
        rows = self._rows_shown
        self._shorten = shorten
        # Laying out draws the whole screen anew.
        self.refresh(layout=self._rows_shown != rows)

    @property
    def _rows_shown(self) -> int:
        rows = self.get_content_height(self.size, self.size, self.size.width)
        most = self.styles.max_height
        return rows if most is None else min(rows, int(most.value))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Rows for all of the text."""
        return -(-len(self._shorten(sys.maxsize)) // max(width, 1))

    def render_line(self, y: int) -> Strip:
        """One row of the text, and blanks."""
        width, height = self.size
        row = self._shorten(width * height)[y * width : (y + 1) * width]
        return Strip([Segment(set_cell_size(row, width), self.rich_style)], width)
