"""The field to filter by: every key is text, enter keeps it, escape clears it."""

from __future__ import annotations

from textual import on
from textual.binding import Binding
from textual.widgets import Input

from tui.app.messages import SearchChanged, SearchClosed


class SearchInput(Input):
    """A one-row field."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "give_up", "All groups", key_display="esc"),
        Binding("enter,down", "close", "To the table", key_display="enter"),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="part of the kernel group's key", compact=True)

    def action_close(self) -> None:
        """Keep the text."""
        self.post_message(SearchClosed())

    def action_give_up(self) -> None:
        """Clear the text."""
        self.value = ""
        self.action_close()

    @on(Input.Changed)
    def _tell(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(SearchChanged(event.value))
