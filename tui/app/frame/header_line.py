"""The first row: the views with their keys, the open one marked, and what is open."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import fitted
from tui.terminal.printable import printable

_LEAST_FILE = 12


class HeaderLine(Widget, can_focus=False):
    """One row of tabs; where there is room, the longest wording of the workload that fits."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"

    def __init__(self, tabs: Sequence[tuple[str, str]], active: str, *, ascii_only: bool) -> None:
        super().__init__()
        self._tabs, self._active, self._ascii_only = tuple(tabs), active, ascii_only
        self._forms: tuple[str, ...] = ()

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these of the workload, which are the longest first."""
        shown = tuple(printable(form, ascii_only=self._ascii_only) for form in forms)
        if shown != self._forms:
            self._forms = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """Tabs, blanks, the workload."""
        width, style = self.size.width, self.rich_style
        segments = []
        for key, name in self._tabs:
            mark = Style(reverse=True, bold=True) if name == self._active else Style(bold=False)
            segments.append(Segment(f" {key} {name} ", style + mark))
        room = width - sum(len(segment.text) for segment in segments) - 2
        if self._forms and room >= _LEAST_FILE:
            form = next((form for form in self._forms if len(form) <= room), self._forms[-1])
            text = fitted(form, room, ascii_only=self._ascii_only)
            segments.append(Segment(f"  {text}", style))
        return Strip(segments).adjust_cell_length(width, style)
