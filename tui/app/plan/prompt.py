"""Two rows that ask where the plan goes: a file of its own, or a folder for a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from sampling.simulators.registry import exporter_names
from tui.app.frame.field import PathInput
from tui.app.frame.field_words import FieldWords
from tui.app.plan.files import why_not_there
from tui.app.session_app import SessionApp
from tui.options.command_line import PLAN_NAME, free_name
from tui.options.places import home_expanded, place_for


@dataclass
class PlaceGiven(Message):
    """The user gave a place for the plan.

    Attributes
    ----------
    path : a file, or a folder where an exporter is chosen.
    target : the exporter; None for the plan itself.
    """

    path: Path
    target: str | None


@dataclass
class PromptLeft(Message):
    """The user decided to write nothing."""


@dataclass
class FileWritten(Message):
    """A plan, or what an exporter made of it, is on the disk.

    Attributes
    ----------
    words : what was written.
    plan : the plan's own file; None where it is an export.
    """

    words: str
    plan: Path | None


class PlaceInput(PathInput):
    """The field for the name."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up", "target(-1)", "Target", show=False),
        Binding("down", "target(1)", "Target", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another target is wanted."""

        by: int

    def action_leave(self) -> None:
        """Write nothing."""
        self.post_message(PromptLeft())

    def action_target(self, by: int) -> None:
        """Choose another target."""
        self.post_message(self.Turned(by))


class PlanPrompt(Vertical):
    """Asks for a name; the row above the field says what is wrong with it, until the next key."""

    app: SessionApp

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._target: str | None = None
        self._proposed = ""
        self.display = False

    def compose(self) -> ComposeResult:
        """The words over the field."""
        yield FieldWords(ascii_only=self._ascii_only)
        with Horizontal():
            yield Static()
            yield PlaceInput(compact=True, select_on_focus=False)

    def ask(self, target: str | None) -> None:
        """Ask for a file for the plan, or for a folder for what an exporter makes of it."""
        self._target = target
        self._propose()
        self._explain()
        self.display = True
        self.query_one(PlaceInput).focus()

    def ask_again(self, path: Path, target: str | None, problem: str) -> None:
        """Ask for another place than one that could not be written; the path stays, to be edited."""
        self._target = target
        self._explain()
        field = self.query_one(PlaceInput)
        self._proposed = field.value = str(path)
        field.cursor_position = len(field.value)
        self.display = True
        field.focus()
        self.query_one(FieldWords).refuse(f"not written: {problem}")
        self.app.until_next_key(self, self._explain)

    def _propose(self) -> None:
        """Fill in a name that is free."""
        name = free_name(place_for(PLAN_NAME if self._target is None else f"{self._target}-export"))
        field = self.query_one(PlaceInput)
        self._proposed = field.value = name
        field.cursor_position = len(name)

    def _explain(self) -> None:
        what, does, brief = "Save the plan to a new file", "saves", "Save to a new file"
        if self._target is not None:
            among = ", up and down change it" if len(exporter_names()) > 1 else ""
            what, does, brief = f"Export for {self._target}{among}", "writes", f"For {self._target}"
        words = [*(f"{what}; {tab}enter {does}, esc leaves" for tab in ("tab completes, ", "")), brief]
        self.query_one(FieldWords).show(words)
        self.query_one("Horizontal Static", Static).update("File: " if self._target is None else "Folder: ")

    def close(self) -> None:
        """Ask no more."""
        self.display = False

    @on(PlaceInput.Turned)
    def _turn(self, event: PlaceInput.Turned) -> None:
        event.stop()
        if self._target is None:
            return
        names, field = exporter_names(), self.query_one(PlaceInput)
        untouched = field.value == self._proposed
        self._target = names[(names.index(self._target) + event.by) % len(names)]
        if untouched:
            self._propose()
        self._explain()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        path = home_expanded(name)
        problem = why_not_there(name, path, is_folder=self._target is not None)
        if problem is None:
            self.post_message(PlaceGiven(path, self._target))
        else:
            self.query_one(FieldWords).refuse(problem)
            self.app.until_next_key(self, self._explain)
