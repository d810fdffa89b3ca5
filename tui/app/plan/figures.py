"""A plan's figures, one a row."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.grid import fitted

Figure = tuple[str, tuple[str, ...]]
"""Its name, and its wordings, the longest first."""

_LABEL = 10


class PlanFigures(Widget, can_focus=True):
    """Names and values; of each value the longest wording that has room."""

    COMPONENT_CLASSES = {"plan-figures--value"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._figures: tuple[Figure, ...] = ()

    def show(self, figures: Sequence[Figure]) -> None:
        """Show these."""
        if tuple(figures) != self._figures:
            self._figures = tuple(figures)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One figure."""
        width = self.size.width
        if y >= len(self._figures):
            return Strip.blank(width, self.rich_style)
        name, forms = self._figures[y]
        room = max(width - _LABEL - 1, 0)
        form = next((form for form in forms if len(form) <= room), forms[-1])
        value = fitted(form, room, ascii_only=self._ascii_only)
        bold = self.get_component_rich_style("plan-figures--value", partial=True)
        segments = [
            Segment(f" {name}".ljust(_LABEL + 1)[:width], self.rich_style),
            Segment(value, self.rich_style + bold),
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)
