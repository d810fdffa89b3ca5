"""Asks for another place for a file that could not be written, before what was to be in it is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from sampling.errors import SamplingError
from tui.app.frame.field import PathInput
from tui.app.frame.field_words import FieldWords
from tui.app.frame.line import PaneTitle
from tui.options.flags import error_text
from tui.options.places import home_expanded, is_there, place_for


class PlaceInput(PathInput):
    """The field for the path."""

    BINDINGS = [Binding("escape", "screen.leave", "Leave it", key_display="esc")]  # noqa: RUF012


class PlaceScreen(Screen[Path | None]):
    """Asks until the file is written, or the user leaves; dismissed with its path.

    Parameters
    ----------
    what : is to be written, as the beginning of a sentence.
    name : of the file in the current folder.
    problem : why it could not be written there.
    write : writes it to a path; SamplingError or OSError says why not.
    """

    DEFAULT_CSS = """
    PlaceScreen Horizontal { height: 1; }
    PlaceScreen Horizontal Static { width: auto; text-style: bold; }
    """

    def __init__(
        self,
        what: str,
        name: str,
        problem: str,
        write: Callable[[Path], object],
        *,
        ascii_only: bool,
    ) -> None:
        super().__init__()
        self._what, self._file, self._write = what, name, write
        self._problem, self._ascii_only = problem, ascii_only

    def compose(self) -> ComposeResult:
        """What is wrong over the field."""
        yield PaneTitle(ascii_only=self._ascii_only)
        yield FieldWords(ascii_only=self._ascii_only)
        with Horizontal():
            yield Static("File: ")
            yield PlaceInput(place_for(self._file), compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """Say what is wrong."""
        self.query_one(PaneTitle).show("Another place", "tab completes, enter writes, esc back")
        self._say(self._problem)
        self.query_one(PlaceInput).focus()

    def _say(self, problem: str) -> None:
        self.query_one(FieldWords).refuse(f"{self._what} not written: {problem}. Give another place.")

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss(None)

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        path = home_expanded(event.value.strip())
        if not event.value.strip():
            self._say("a name is missing")
        elif is_there(path):
            self._say(f"{path} exists")
        else:
            self._try(path)

    def _try(self, path: Path) -> None:
        try:
            self._write(path)
        except (SamplingError, OSError) as error:
            self._say(why_not(error))
        else:
            self.dismiss(path)


def why_not(error: SamplingError | OSError) -> str:
    """Return why a file was not written, with the path that the system names."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return error_text(error)
