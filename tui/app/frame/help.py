"""Help: what the keys do in the view it was asked for in."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from tui.app.actions import Action
from tui.app.frame.page import PageScreen

_KEYS_WIDTH = 9


class HelpScreen(PageScreen):
    """A view's keys from the table of actions, and a few words on how to read it."""

    BINDINGS = [("question_mark,f1", "dismiss", "Back")]  # noqa: RUF012

    WHY_NO_COMMAND = "no command prints the keys; `kernelpoint --help` explains the commands"

    def __init__(
        self,
        name: str,
        about: str,
        actions: Iterable[Action],
        views: Iterable[tuple[str, str]],
        *,
        ascii_only: bool,
    ) -> None:
        super().__init__(f"Help: {name}", ascii_only=ascii_only)
        self._about, self._actions, self._views = about, tuple(actions), tuple(views)

    def write(self, width: int) -> Text:  # noqa: ARG002
        """The keys, then the words."""
        return help_text(self._about, self._actions, self._views)


def help_text(about: str, actions: Iterable[Action], views: Iterable[tuple[str, str]]) -> Text:
    """Return the keys, one action a row, those of the views in one, and the words about the view."""
    text = Text()
    for action in actions:
        text.append(f"  {action.display:<{_KEYS_WIDTH}}", "bold")
        text.append(f" {action.description}\n")
    text.append("  views     ", "bold")
    text.append(", ".join(f"{key} {name}" for key, name in views))
    text.append(f"\n\n{about}")
    return text
