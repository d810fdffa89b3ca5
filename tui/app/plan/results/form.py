"""The rows that ask which results are to be opened, of which plan, and how narrow the total is to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.app.frame.field import PathInput
from tui.app.frame.field_words import FieldWords
from tui.app.plan.results.asked import Answers
from tui.app.session_app import SessionApp
from tui.options.places import home_expanded, is_there

_NAMES = tuple(field.name for field in fields(Answers))
_LABELS = {
    "results": "Results:",
    "manifests": "Manifest:",
    "plan": "Plan:",
    "against": "Against:",
    "others": "Options:",
    "target": "Target:",
}
_LABEL_CELLS = 10
_HINTS = {
    "results": (
        "What the simulator wrote, files with blanks between; tab completes, up and down go on, esc leaves",
        "What the simulator wrote, files; tab completes, enter reads, esc leaves",
        "The simulator's files; tab completes, esc leaves",
    ),
    "manifests": (
        "The export's manifest.csv, if the plan has several processes or devices; may be empty",
        "The export's manifest.csv, or nothing; tab completes, up and down go on",
        "The export's manifest.csv, or nothing",
    ),
    "against": (
        "Results of another configuration of the same launches: the speedup over it; may be empty",
        "Results of another configuration, or nothing; tab completes, up and down go on",
        "Results of another configuration, or nothing",
    ),
    "others": (
        "As on the command line: --metric NAME --ratio A/B --confidence X --from SIMULATOR --partial",
        "--metric NAME --ratio A/B --confidence X --from SIMULATOR --partial",
        "As estimate takes them, or nothing",
    ),
    "target": (
        "How narrow the total is to be, such as 0.05; what to run next is drawn for it",
        "How narrow the total is to be, as 0.05",
    ),
}


@dataclass
class AnswersGiven(Message):
    """The user confirmed the fields."""

    answers: Answers


@dataclass
class FormLeft(Message):
    """The user decided to open nothing."""


class ResultsInput(PathInput):
    """One field; its id is the name of its answer. Where that is no path, tab goes to the next field."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up,shift+tab", "go(-1)", "Field", show=False),
        Binding("down", "go(1)", "Field", key_display="down"),
    ]

    @dataclass
    class Moved(Message):
        """Another field is wanted."""

        by: int

    def action_leave(self) -> None:
        """Open nothing."""
        self.post_message(FormLeft())

    @property
    def takes_several(self) -> bool:  # type: ignore[override]
        """Whether blanks are between names of files."""
        return self.id != "plan"

    def action_complete(self) -> None:
        """Complete a path; else go to the next field."""
        if self.id in {"others", "target"}:
            self.action_go(1)
        else:
            super().action_complete()

    def action_go(self, by: int) -> None:
        """Go to another field."""
        self.post_message(self.Moved(by))


class ResultsForm(Vertical):
    """A field an answer; the row above them says what is meant by the one that has the focus."""

    app: SessionApp

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._problem = ""
        self.display = False

    def compose(self) -> ComposeResult:
        """The words over the fields."""
        yield FieldWords(ascii_only=self._ascii_only)
        for name in _NAMES:
            with Horizontal():
                yield Static(_LABELS[name].ljust(_LABEL_CELLS))
                yield ResultsInput(id=name, compact=True, select_on_focus=False)

    def ask(self, answers: Answers, problem: str = "") -> None:
        """Ask, with answers to begin with.

        Parameters
        ----------
        problem : why they cannot be used; "" before they were tried.
        """
        self._problem = problem
        with self.prevent(Input.Changed):
            for name in _NAMES:
                field = self._field(name)
                field.value = getattr(answers, name)
                field.cursor_position = len(field.value)
        self.display = True
        self._field(_NAMES[0]).focus()

    def close(self) -> None:
        """Ask no more."""
        self.display = False

    def say(self, problem: str) -> None:
        """Say until the next key why the answers cannot be used."""
        self._problem = problem
        self.query_one(FieldWords).refuse(problem)
        self.app.until_next_key(self, self._explain_focused)

    def _explain_focused(self) -> None:
        self._problem = ""
        self._explain(next((name for name in _NAMES if self._field(name).has_focus), None))

    def _show(self, forms: Sequence[str]) -> None:
        self.query_one(FieldWords).show(forms)

    def _field(self, name: str) -> ResultsInput:
        return self.query_one(f"#{name}", ResultsInput)

    @on(events.DescendantFocus)
    def _explain_field(self, event: events.DescendantFocus) -> None:
        self._explain(event.widget.id)

    @on(Input.Changed)
    def _explain_again(self, event: Input.Changed) -> None:
        event.stop()
        self._problem = ""
        if event.input.has_focus:
            self._explain(event.input.id)

    def _explain(self, name: str | None) -> None:
        if self._problem:
            self.query_one(FieldWords).refuse(self._problem)
        elif name == "plan":
            self._show(plan_hint(self._field(name).value.strip()))
        elif name in _HINTS:
            self._show(_HINTS[name])

    @on(ResultsInput.Moved)
    def _go(self, event: ResultsInput.Moved) -> None:
        event.stop()
        self._problem = ""
        here = next((place for place, name in enumerate(_NAMES) if self._field(name).has_focus), 0)
        self._field(_NAMES[(here + event.by) % len(_NAMES)]).focus()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(AnswersGiven(Answers(**{name: self._field(name).value for name in _NAMES})))


def plan_hint(name: str) -> tuple[str, ...]:
    """Return what happens with a plan file of this name, the longest form first."""
    if not name:
        return ("The file of the plan that was simulated; tab completes, up and down go on",)
    if is_there(home_expanded(name)):
        return f"{name} is read: the plan that was simulated", f"{name} is read"
    return f"{name} is not there: the plan as shown is saved so first", f"{name} is to be saved first"
