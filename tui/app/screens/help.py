"""Help: what the keys do in the view it was asked for in."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from tui.app.actions import Action
from tui.app.widgets.line import PaneTitle

_KEYS_WIDTH = 9


class HelpScreen(Screen[None]):
    """A view's keys from the table of actions, and a few words on how to read it."""

    BINDINGS = [("escape,q,question_mark,f1", "dismiss", "Back")]  # noqa: RUF012

    def __init__(self, name: str, about: str, actions: Iterable[Action], *, ascii_only: bool) -> None:
        super().__init__()
        self._view_name, self._about, self._actions = name, about, tuple(actions)
        self._ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        """A title, and the text, scrolled where it is longer than the screen."""
        yield PaneTitle(ascii_only=self._ascii_only)
        with VerticalScroll():
            yield Static(help_text(self._about, self._actions))

    def on_mount(self) -> None:
        """Name the view."""
        self.query_one(PaneTitle).show(f"Help: {self._view_name}", "esc back")


def help_text(about: str, actions: Iterable[Action]) -> Text:
    """Return the keys, one action a row, and the words about the view."""
    text = Text()
    for action in actions:
        text.append(f"  {action.display:<{_KEYS_WIDTH}}", "bold")
        text.append(f" {action.description}\n")
    text.append(f"\n{about}")
    return text
