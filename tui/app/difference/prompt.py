"""Two rows that ask for the recording before; the row above the field says what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.app.frame.field import PathInput
from tui.app.frame.line import Line
from tui.app.session_app import SessionApp

_WORDS = (
    "What is open is after; before: FILE, FILE@RANGE or FILE@A:B, or @RANGE of the open one; tab completes",
    "Before what is open: FILE, FILE@RANGE, @RANGE; tab completes, esc leaves",
    "Before: FILE, FILE@RANGE or FILE@A:B",
)


@dataclass
class BeforeGiven(Message):
    """A recording is named."""

    text: str


@dataclass
class BeforeLeft(Message):
    """The user goes on without."""


class BeforeInput(PathInput):
    """The field for the name."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
    ]

    def action_leave(self) -> None:
        """Ask no more."""
        self.post_message(BeforeLeft())


class BeforePrompt(Vertical):
    """Asks for a recording, and keeps what was typed where it is refused."""

    app: SessionApp

    DEFAULT_CSS = """
    BeforePrompt { height: 2; display: none; }
    BeforePrompt Horizontal { height: 1; }
    BeforePrompt Static { width: auto; text-style: bold; }
    """

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        """The words over the field."""
        yield Line(ascii_only=self._ascii_only)
        with Horizontal():
            yield Static("Before: ")
            yield BeforeInput(compact=True, select_on_focus=False)

    def ask(self, text: str, words: Sequence[str] = _WORDS) -> None:
        """Ask, with an answer to begin with; `words` may say, until the next key, why that was refused."""
        field = self.query_one(BeforeInput)
        field.value = text
        field.cursor_position = len(text)
        self.tell(words)
        if words is not _WORDS:
            self.app.until_next_key(self, partial(self.tell, _WORDS))
        self.display = True
        field.focus()

    def tell(self, words: Sequence[str]) -> None:
        """Show the longest of these that fits over the field."""
        self.query_one(Line).show(words)

    def close(self) -> None:
        """Ask no more."""
        self.display = False

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(BeforeGiven(event.value.strip()))
