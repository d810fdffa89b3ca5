"""Words about a prediction, wrapped to the pane, which scrolls where they are longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from tui.app.actions import WORDS, bindings
from tui.terminal.printable import printable

_WARNING = "warning:"

Write = Callable[[int], Sequence[str]]
"""Returns the lines for a width."""


class ScaleWords(VerticalScroll):
    """Lines that are wrapped again when the width changes; a warning is bold."""

    BINDINGS = bindings(WORDS)

    def __init__(self) -> None:
        super().__init__()
        self._write: Write = lambda _: ()

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static(markup=False)

    def show(self, write: Write) -> None:
        """Show other words, from their start."""
        self._write = write
        self.scroll_home(animate=False)
        self._draw()

    def on_resize(self, _: events.Resize) -> None:
        """Write for this width."""
        self._draw()

    def _draw(self) -> None:
        text, is_warning = Text(no_wrap=True), False
        for line in self._write(max(self.size.width, 1)):
            is_warning = line.startswith(_WARNING) or (is_warning and line.startswith("  "))
            shown = printable(line, ascii_only=self.app.has_class("-ascii"))
            text.append(f"{shown}\n", "bold" if is_warning else "")
        self.query_one(Static).update(text)
