"""A sentence or two below a pane, wrapped where there is room."""

from __future__ import annotations

from textwrap import wrap

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import fitted
from tui.terminal.printable import printable


class Words(Widget, can_focus=False):
    """A text in at most `max-height` rows."""

    DEFAULT_CSS = "Words { height: auto; min-height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def show(self, text: str) -> None:
        """Show another text."""
        text = printable(text)
        if text != self._text:
            self._text = text
            self.refresh(layout=True)

    def _lines(self, width: int) -> list[str]:
        return wrap(self._text, max(width, 1), break_on_hyphens=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Rows for all of it."""
        return max(len(self._lines(width)), 1)

    def render_line(self, y: int) -> Strip:
        """One row of it; the last one shows if more is left out."""
        width, height = self.size
        lines = self._lines(width)
        text = lines[y] if y < len(lines) else ""
        if y == height - 1 < len(lines) - 1:
            text = fitted(" ".join(lines[y:]), width)
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(width, self.rich_style)
