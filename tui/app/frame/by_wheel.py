"""What a mouse does in lists and tables: its wheel moves the cursor, a click on a head sorts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widget import Widget


@dataclass
class HeadClicked(Message):
    """The head of a table's column was clicked."""

    heading: str


class ByWheel(Widget):
    """A widget whose cursor goes a row on or back with the wheel."""

    @abstractmethod
    def move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go on."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go back."""
        event.stop()
        self.move(-1)
