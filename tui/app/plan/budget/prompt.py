"""The rows that ask for a time of simulation, and say what the plan that fits it gives."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.app.frame.field import FieldInput
from tui.app.frame.field_words import FieldWords
from tui.app.plan.budget.fitting import BudgetAnswers, Fitted, fitted_words
from tui.app.session_app import SessionApp

_LABELS = {"budget": "Budget:   ", "slowdown": "Slowdown: "}
_HINTS = {
    "budget": "Hours of one machine that may be simulated, such as 20m, 8h or 3d; enter finds the smallest "
    "epsilon that fits, esc leaves",
    "slowdown": "Seconds of simulation for a second on the GPU, such as 1e6; without a budget it only shows "
    "hours beside speedups",
}


@dataclass
class BudgetGiven(Message):
    """The user confirmed the fields."""

    answers: BudgetAnswers


@dataclass
class BudgetTaken(Message):
    """The user takes the plan that was found."""

    fitted: Fitted


@dataclass
class BudgetLeft(Message):
    """The user wants nothing found, or leaves it."""


class BudgetInput(FieldInput):
    """One field; its id is the name of its answer."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up,down,tab,shift+tab", "go", "Field", key_display="tab"),
    ]

    @dataclass
    class Moved(Message):
        """The other field is wanted."""

    def action_leave(self) -> None:
        """Ask no more."""
        self.post_message(BudgetLeft())

    def action_go(self) -> None:
        """Go to the other field."""
        self.post_message(self.Moved())


class BudgetPrompt(Vertical):
    """Two fields; above them what is meant, what is wrong, or the plan that was found."""

    DEFAULT_CSS = """
    BudgetPrompt { height: auto; max-height: 8; }
    BudgetPrompt Horizontal { height: 1; }
    BudgetPrompt Horizontal Static { width: auto; text-style: bold; }
    """

    app: SessionApp

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._fitted: Fitted | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        """The words over the fields."""
        yield FieldWords(ascii_only=self._ascii_only)
        for name, label in _LABELS.items():
            with Horizontal():
                yield Static(label)
                yield BudgetInput(id=f"asked-{name}", compact=True, select_on_focus=False)

    def ask(self, answers: BudgetAnswers) -> None:
        """Ask, with answers to begin with."""
        self._fitted = None
        for name in _LABELS:
            field = self._field(name)
            field.value = getattr(answers, name)
            field.cursor_position = len(field.value)
        self.display = True
        self._field("budget").focus()
        self.say(_HINTS["budget"])

    def say(self, words: str) -> None:
        """Say what is meant, what is tried or what is wrong."""
        self.query_one(FieldWords).show([words])

    def refuse(self, words: str) -> None:
        """Say until the next key what is wrong; where the slowdown is missing, its field has the cursor."""
        answers = self.answers
        if answers.budget.strip() and not answers.slowdown.strip():
            self._field("slowdown").focus()
        # The cursor's own hint comes with its focus.
        self.call_after_refresh(self.query_one(FieldWords).refuse, words)
        self.app.until_next_key(self, self._explain_focused)

    def forget(self, words: str) -> None:
        """Say why the plan that was found is not taken."""
        self._fitted = None
        self.refuse(words)

    def _explain_focused(self) -> None:
        for name in _LABELS:
            if self._field(name).has_focus:
                self.say(_HINTS[name])

    def show(self, fitted: Fitted) -> None:
        """Say what the plan that fits gives."""
        self._fitted = fitted
        self.say(f"{fitted_words(fitted)}. enter takes it, esc leaves the plan as it is")

    @property
    def answers(self) -> BudgetAnswers:
        """The fields as they are typed."""
        return BudgetAnswers(**{name: self._field(name).value for name in _LABELS})

    def close(self) -> None:
        """Ask no more."""
        self._fitted = None
        self.display = False

    def _field(self, name: str) -> BudgetInput:
        return self.query_one(f"#asked-{name}", BudgetInput)

    @on(events.DescendantFocus)
    def _explain(self, event: events.DescendantFocus) -> None:
        name = str(event.widget.id).removeprefix("asked-")
        if self._fitted is None and name in _HINTS:
            self.say(_HINTS[name])

    @on(Input.Changed)
    def _explain_again(self, event: Input.Changed) -> None:
        event.stop()
        name = str(event.input.id).removeprefix("asked-")
        if event.input.has_focus and (self._fitted is None or self._fitted.answers != self.answers):
            self._fitted = None
            self.say(_HINTS[name])

    @on(BudgetInput.Moved)
    def _go(self, event: BudgetInput.Moved) -> None:
        event.stop()
        other = "budget" if self._field("slowdown").has_focus else "slowdown"
        self._field(other).focus()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        if self._fitted is not None and self._fitted.answers == self.answers:
            self.post_message(BudgetTaken(self._fitted))
        else:
            self.post_message(BudgetGiven(self.answers))
