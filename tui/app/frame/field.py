"""Fields of one row to type in, the words over them, and a page that asks for another place for a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from sampling.errors import SamplingError
from tui.app.frame.line import PaneTitle
from tui.app.planning import failure_words
from tui.options.files import completed, home_expanded, is_there, last_completed, place_for
from tui.terminal.printable import printable

_MOST_NAMES = 12


class FieldInput(Input):
    """A field without a frame, in the colours of what is around it."""


class PathInput(FieldInput):
    """A field for a path: tab completes it, as a shell does, and leaves the field in no case.

    Attributes
    ----------
    completes : whether it is a path that is asked for.
    takes_several : whether there may be several, quoted as in a shell; that at the cursor is completed.
    """

    BINDINGS = [Binding("tab,shift+tab", "complete", "Complete", key_display="tab", show=False)]  # noqa: RUF012

    completes, takes_several = True, False

    def action_complete(self) -> None:
        """Complete the path as far as the names that are there agree; if no further, say what they are."""
        if not self.completes:
            return
        here = self.cursor_position
        before = self.value[:here]
        text, names = (last_completed if self.takes_several else completed)(before)
        if text != before:
            self.value = text + self.value[here:]
            self.cursor_position = len(text)
        elif len(names) > 1:
            more = len(names) - _MOST_NAMES
            shown = [*names[:_MOST_NAMES], *([f"and {more:,} more"] if more > 0 else [])]
            self.notify("  ".join(shown), markup=False)


class FieldWords(Static):
    """The longest of several wordings that fits a row; where none does, the shortest on several."""

    DEFAULT_CSS = """
    FieldWords { height: auto; max-height: 6; width: 1fr; }
    FieldWords.-refused { color: ansi_red; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these, which are the longest first."""
        self.remove_class("-refused")
        width = self.app.size.width
        self._write(next((form for form in forms if len(form) <= width), forms[-1]))

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.add_class("-refused")
        self._write(f"! {why}")

    def _write(self, text: str) -> None:
        self.update(printable(text))


class ElsewhereInput(PathInput):
    """The field for the path."""

    BINDINGS = [Binding("escape", "screen.leave", "Leave it", key_display="esc")]  # noqa: RUF012


class PlaceScreen(Screen[Path | None]):
    """Asks for another place for a file that could not be written; dismissed with the path once one is.

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

    def __init__(self, what: str, name: str, problem: str, write: Callable[[Path], object]) -> None:
        super().__init__()
        self._what, self._file, self._write = what, name, write
        self._problem = problem

    def compose(self) -> ComposeResult:
        """What is wrong over the field."""
        yield PaneTitle()
        yield FieldWords()
        with Horizontal():
            yield Static("File: ")
            yield ElsewhereInput(place_for(self._file), compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """Say what is wrong."""
        self.query_one(PaneTitle).show("Another place", "tab completes, enter writes, esc back")
        self._say(self._problem)
        self.query_one(ElsewhereInput).focus()

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
            try:
                self._write(path)
            except (SamplingError, OSError) as error:
                self._say(failure_words(error))
            else:
                self.dismiss(path)
