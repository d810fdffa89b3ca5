"""A sentence in as many rows as it needs, broken between words; shortened where its style allows fewer."""

from __future__ import annotations

from textwrap import wrap

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import fitted
from tui.terminal.printable import printable


class CompareWords(Widget, can_focus=False):
    """What there is to say of one method; `max-height` says in how many rows."""

    DEFAULT_CSS = "CompareWords { height: auto; min-height: 1; }"

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._text = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return self._text

    def show(self, text: str) -> None:
        """Show another sentence."""
        text = printable(text, ascii_only=self._ascii_only)
        if text != self._text:
            self._text = text
            self.refresh(layout=True)

    def _lines(self, width: int) -> list[str]:
        return wrap(self._text, max(width, 1), break_on_hyphens=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Rows for all of it."""
        return max(len(self._lines(width)), 1)

    def render_line(self, y: int) -> Strip:
        """One row of it; the last one says where more is left out."""
        width, height = self.size
        lines = self._lines(width)
        text = lines[y] if y < len(lines) else ""
        if y == height - 1 < len(lines) - 1:
            text = fitted(" ".join(lines[y:]), width, ascii_only=self._ascii_only)
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(width, self.rich_style)
