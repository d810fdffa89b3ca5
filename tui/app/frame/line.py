"""Single rows of text that are never wrapped: a status line, a pane's title."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import set_cell_size
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.glyphs import glyph_set
from tui.charts.grid import fitted
from tui.terminal.printable import printable


class Line(Widget, can_focus=False):
    """The longest of several wordings that fits its row."""

    DEFAULT_CSS = "Line { height: 1; }"

    def __init__(self, *, ascii_only: bool, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._ascii_only = ascii_only
        self._forms: tuple[str, ...] = ("",)

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these, which are the longest first."""
        shown = tuple(printable(form, ascii_only=self._ascii_only) for form in forms)
        if shown != self._forms:
            self._forms = shown
            self.refresh()

    @property
    def text(self) -> str:
        """The wording shown."""
        width = self.size.width
        form = next((form for form in self._forms if len(form) <= width), self._forms[-1])
        return fitted(form, width, ascii_only=self._ascii_only)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The text, and blanks."""
        width = self.size.width
        return Strip([Segment(set_cell_size(self.text, width), self.rich_style)], width)


class PaneTitle(Widget, can_focus=False):
    """The name of a pane and, at the right end, what it shows of how much, on a rule."""

    DEFAULT_CSS = "PaneTitle { height: 1; }"
    COMPONENT_CLASSES = {"pane-title--name"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._left = self._right = ""

    def show(self, left: str, right: str = "") -> None:
        """Show these two."""
        left, right = (printable(text, ascii_only=self._ascii_only) for text in (left, right))
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The name, the rule, the rest."""
        width = self.size.width
        rule = glyph_set(ascii_only=self._ascii_only).horizontal
        right = f" {self._right} {rule}" if self._right and len(self._right) + 12 < width else ""
        left = f" {fitted(self._left, max(width - len(right) - 4, 0), ascii_only=self._ascii_only)} "
        line, name = self.rich_style, self.get_component_rich_style("pane-title--name", partial=True)
        fill = rule * max(width - len(right) - len(left) - 1, 0)
        segments = [Segment(rule, line), Segment(left, line + name), Segment(fill + right, line)]
        return Strip(segments).adjust_cell_length(width, line)
