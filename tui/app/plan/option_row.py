"""A row of a form of options, and the field in which its value is typed."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.actions import SkipAction
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.frame.field import PathInput
from tui.app.plan.option_fields import OptionField
from tui.charts.grid import fitted

_LABEL = 19


class OptionInput(PathInput):
    """The field in which a value is typed: every letter and digit is text.

    Parameters
    ----------
    is_path : whether tab completes it, as it is one path or more; else tab leaves it.
    """

    takes_several = True

    BINDINGS = [  # noqa: RUF012
        Binding("enter", "submit", "Take it", key_display="enter"),
        Binding("escape", "leave", "Leave it", key_display="esc"),
    ]

    @dataclass
    class Left(Message):
        """The user left the field without confirming."""

    def __init__(self, value: str, *, is_path: bool) -> None:
        super().__init__(value, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self.completes = is_path

    def action_complete(self) -> None:
        """Complete a path; else leave the key to the screen."""
        if not self.completes:
            raise SkipAction
        super().action_complete()

    def action_leave(self) -> None:
        """Give up what was typed."""
        self.post_message(self.Left())

    def on_blur(self) -> None:
        """Discard what was typed, as another pane has the focus now."""
        self.action_leave()


class OptionRow(Widget):
    """One option: its name and its value, or the field in which that is typed."""

    COMPONENT_CLASSES = {"option-row--cursor", "option-row--unused"}  # noqa: RUF012

    def __init__(self, field: OptionField, *, ascii_only: bool) -> None:
        super().__init__()
        self.field = field
        self._ascii_only = ascii_only
        self._text, self._is_current, self._unused, self._is_refused = "", False, "", False

    def show(self, text: str, *, is_current: bool, unused: str, is_refused: bool) -> None:
        """Show a value, and which part of it has no effect."""
        shown = text, is_current, unused, is_refused
        if shown != (self._text, self._is_current, self._unused, self._is_refused):
            self._text, self._is_current, self._unused, self._is_refused = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - it has one
        """A mark at the cursor, the name, the value."""
        width = self.size.width
        mark = ">" if self._is_current else "!" if self._is_refused else " "
        text = self._text
        if self._is_current and not self.field.is_typed and len(text) + 4 <= width - _LABEL:
            text = f"< {text} >"
        if self._is_refused:
            text += " ?"
        room = max(width - _LABEL, 0)
        if self._unused:
            # Shown even if the value is too long for the row.
            unused = f" ({self._unused})"
            text = fitted(text, max(room - len(unused), 0), ascii_only=self._ascii_only) + unused
        text = fitted(text, room, ascii_only=self._ascii_only)
        row = f"{mark} {self.field.label}".ljust(_LABEL) + text
        style = self.rich_style
        if self._unused:
            style += self.get_component_rich_style("option-row--unused", partial=True)
        if self._is_current:
            style += self.get_component_rich_style("option-row--cursor", partial=True)
        return Strip([Segment(row.ljust(width), style)]).adjust_cell_length(width, Style())
