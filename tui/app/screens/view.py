"""What every view can do with its panes: copy, write, name the command that prints the same."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen

from tui.app.screens.findings import FindingsScreen
from tui.app.state import Session
from tui.output import new_file

if TYPE_CHECKING:
    from tui.app.app import KernelPointApp

_MOST_COPIED_BYTES = 70_000
"""Terminals drop longer clipboard sequences without a word."""


@dataclass(frozen=True, slots=True)
class PaneText:
    """A pane as text, and the name of a file for it, without suffix."""

    name: str
    text: str


class ViewScreen(Screen[None]):
    """A view on the session."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (36, "-high")]  # noqa: RUF012

    NAME: ClassVar[str]
    SCOPES: ClassVar[tuple[str, ...]]
    """The scopes of its actions, as help lists them."""
    ABOUT: ClassVar[str]
    """How to read the view."""

    app: KernelPointApp

    @property
    def session(self) -> Session:
        """What the app shows."""
        return self.app.session

    @abstractmethod
    def pane_text(self) -> PaneText:
        """The text of the pane that has the focus."""

    @abstractmethod
    def command(self) -> str:
        """The command line that prints what the pane in focus shows."""

    def action_findings(self) -> None:
        """Show every finding in full."""
        if self.session.study is not None:
            self.app.push_screen(FindingsScreen(self.session.study, ascii_only=self.session.ascii_only))

    def action_copy_pane(self) -> None:
        """Copy the pane's text to the clipboard of the user's own terminal."""
        pane = self.pane_text()
        size = len(pane.text.encode())
        if size > _MOST_COPIED_BYTES:
            self.app.say(f"{size:,} bytes are too many for the clipboard; w writes them to a file")
            return
        self.app.copy_to_clipboard(pane.text)
        self.app.say(
            f"{pane.text.count(chr(10)):,} lines sent to the clipboard; if none arrive: w writes a file"
        )

    def action_write_pane(self) -> None:
        """Write the pane's text to a new file in the current folder."""
        pane = self.pane_text()
        try:
            path = _unused_path(pane.name)
            with new_file(path) as temporary:
                temporary.write_text(pane.text, encoding="utf-8")
        except OSError as error:
            self.app.say(f"not written: {error.filename}: {error.strerror}", failed=True)
            return
        self.app.say(f"written to {path}")

    def action_copy_command(self) -> None:
        """Copy the command line that prints the same."""
        line = self.command()
        self.app.copy_to_clipboard(line)
        self.app.say(line)


def _unused_path(name: str) -> Path:
    """Return a path in the current folder that no file has."""
    names = chain([f"{name}.txt"], (f"{name}-{number}.txt" for number in count(2)))
    return next(path for path in map(Path.cwd().joinpath, names) if not path.exists())
