"""The last row: keys and what they do, as many as have room, none cut."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.widgets import Footer

# Its CSS names the class, but the package does not export it.
from textual.widgets._footer import FooterKey

_BETWEEN = 2
"""Blanks between a key and its title, and between two keys."""


class KeysLine(Footer):
    """Textual's footer without the keys that its row has no room for; help has them all."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        """The keys that fit."""
        room = self.size.width or self.app.size.width
        for key in super().compose():
            if isinstance(key, FooterKey):
                room -= len(key.key_display) + len(key.description) + _BETWEEN
                # The last one needs no blank behind it.
                if room < -1:
                    return
            yield key

    def on_resize(self, _: events.Resize) -> None:
        """Other keys may have room now."""
        self.refresh(recompose=True)
