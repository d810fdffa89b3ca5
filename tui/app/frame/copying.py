"""Screens whose text can be copied to the clipboard or written to a file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from textual.screen import Screen

from sampling.errors import OptionError
from tui.app.session_app import SessionApp
from tui.output.files import new_file

_MOST_COPIED_BYTES = 70_000
"""Terminals drop longer clipboard sequences without a word."""


@dataclass(frozen=True, slots=True)
class PaneText:
    """A pane as text, and the name of a file for it, without suffix."""

    name: str
    text: str


class CopyingScreen(Screen[None]):
    """A screen whose text can be copied and written."""

    app: SessionApp

    @abstractmethod
    def pane_text(self) -> PaneText:
        """What is to be copied."""

    def action_copy_pane(self) -> None:
        """Copy the pane's text to the clipboard of the user's own terminal."""
        pane = self.pane_text()
        if not pane.text:
            self.app.say("nothing here to copy")
            return
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
        if not pane.text:
            self.app.say("nothing here to write")
            return

        def write(path: Path) -> None:
            with new_file(path) as temporary:
                temporary.write_text(pane.text, encoding="utf-8")

        try:
            path = _unused_path(pane.name)
            write(path)
        except (OSError, OptionError) as error:
            self.app.ask_place("The pane's text is", f"{pane.name}.txt", error, write, self._say_written_to)
        else:
            self._say_written_to(path)

    def _say_written_to(self, path: Path) -> None:
        self.app.say(f"written to {path}")


def _unused_path(name: str) -> Path:
    """Return a path in the current folder that no file has."""
    names = chain([f"{name}.txt"], (f"{name}-{number}.txt" for number in count(2)))
    return next(path for path in map(Path.cwd().joinpath, names) if not path.exists())
