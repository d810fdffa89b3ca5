"""The list of view 3 that says what makes the plan dear: an option a row, a step looser at a key."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from sampling.plan.binding import Relaxation
from tui.app.actions import BINDS, bindings
from tui.app.frame.by_wheel import ByWheel
from tui.charts.grid import fitted

_MARK_CELLS = 2


@dataclass
class StepTaken(Message):
    """The user wants an option a step looser."""

    step: Relaxation


class BindingList(ByWheel, can_focus=True):
    """Options that bind, with a cursor; a text in their place while there are none."""

    BINDINGS = bindings(BINDS)
    DEFAULT_CSS = "BindingList { height: 1fr; }"
    COMPONENT_CLASSES = {"binding-list--head", "binding-list--cursor"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._steps: tuple[Relaxation, ...] = ()
        self._heading, self._lines = "", [""]
        self._place = 0

    def show(self, steps: tuple[Relaxation, ...], heading: str, lines: list[str]) -> None:
        """Show these steps, a line each; without any, the lines are what is said in their place."""
        shown = steps, heading, lines
        if shown != (self._steps, self._heading, self._lines):
            self._steps, self._heading, self._lines = shown
            self._place = min(self._place, max(len(steps) - 1, 0))
            self.refresh()

    def move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""
        self._put_on(self._place + rows)

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.move(rows)

    def _put_on(self, place: int) -> None:
        self._place = min(max(place, 0), max(len(self._steps) - 1, 0))
        self.refresh()

    def action_take(self) -> None:
        """Take the step under the cursor."""
        if self._steps:
            self.post_message(StepTaken(self._steps[self._place]))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there."""
        if 1 <= event.y <= len(self._steps):
            self._put_on(event.y - 1)

    def render_line(self, y: int) -> Strip:
        """The heading, or one option; the words that stand for them."""
        width, style = self.size.width, self.rich_style
        text, at = "", y - 1
        if not self._steps:
            text = self._lines[y] if y < len(self._lines) else ""
        elif y == 0:
            style += self.get_component_rich_style("binding-list--head", partial=True)
            text = " " * _MARK_CELLS + self._heading
        elif at < len(self._lines):
            mark = "> " if at == self._place else "  "
            text = mark + self._lines[at]
            if at == self._place and self.has_focus:
                style += self.get_component_rich_style("binding-list--cursor", partial=True)
        row = fitted(text, width, ascii_only=self._ascii_only)
        return Strip([Segment(row, style)]).adjust_cell_length(width, Style())
