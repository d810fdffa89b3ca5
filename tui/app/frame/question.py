"""Two rows over the plan's line that ask before something is changed which the user may not have meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message

from tui.app.frame.line import Line

_ANSWERS = frozenset({"y", "enter", "n", "escape"})


class Question(Vertical, can_focus=True):
    """Asks for a yes or a no; until then every other key does nothing."""

    DEFAULT_CSS = "Question { height: 2; } Question Line { text-style: bold; }"
    BINDINGS = [  # noqa: RUF012
        Binding("y,enter", "answer(True)", "Yes", key_display="y"),
        Binding("n,escape", "answer(False)", "No", key_display="n"),
    ]

    @dataclass
    class Answered(Message):
        """The user said yes or no; going elsewhere is a no."""

        is_yes: bool

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self.display = False

    def compose(self) -> ComposeResult:
        """What would change, over the keys that answer."""
        yield Line(ascii_only=self._ascii_only)
        yield Line(ascii_only=self._ascii_only)

    def ask(self, what: Sequence[str], answers: Sequence[str]) -> None:
        """Ask; of both rows the longest wording that fits is shown."""
        row, keys = self.query(Line)
        row.show(what)
        keys.show(answers)
        self.display = True
        self.focus()

    def on_key(self, event: events.Key) -> None:
        """Let no other key through: what is asked about must not change meanwhile."""
        if event.key not in _ANSWERS:
            event.stop()

    def on_blur(self) -> None:
        """Take it for a no that the user went elsewhere."""
        self.action_answer(is_yes=False)

    def action_answer(self, is_yes: bool) -> None:
        """Tell the answer, once."""
        if self.display:
            self.display = False
            self.post_message(self.Answered(is_yes))
