"""Lists with a cursor that a mouse's wheel moves."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.widget import Widget


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
