"""Fields to type in, and prompts: fields at the foot of a view, under words on what is meant or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.app.session_app import SessionApp
from tui.options.files import completed, last_completed
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


class AnswerInput(PathInput):
    """A field of a `Prompt`; its id is its name. Where it asks for no path, tab goes to the next field."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up,shift+tab", "go(-1)", "Field", show=False),
        Binding("down", "go(1)", "Field", show=False),
    ]

    def __init__(self, asked: Answer) -> None:
        super().__init__(id=asked.name, compact=True, select_on_focus=False)
        self.completes, self.takes_several = asked.is_path, asked.takes_several

    @property
    def _prompt(self) -> Prompt:
        return next(node for node in self.ancestors if isinstance(node, Prompt))

    def action_leave(self) -> None:
        self._prompt.post_message(Prompt.Left(self._prompt))

    def action_go(self, by: int) -> None:
        self._prompt.turn(self, by)

    def action_complete(self) -> None:
        if self.completes:
            super().action_complete()
        else:
            self.action_go(1)


class Answer(NamedTuple):
    """What a prompt asks for: a path, several quoted as in a shell, or another text."""

    name: str
    label: str
    is_path: bool = True
    takes_several: bool = False


class Prompt(Vertical):
    """Fields to type in; the row above says what is meant, or what is wrong with an answer."""

    DEFAULT_CSS = """
    Prompt { height: auto; max-height: 8; display: none; }
    Prompt Horizontal { height: 1; }
    Prompt Horizontal Static { width: auto; text-style: bold; }
    """
    ASKS: ClassVar[tuple[Answer, ...]]

    app: SessionApp

    @dataclass
    class Left(Message):
        """The user leaves it."""

        prompt: Prompt

        @property
        def control(self) -> Prompt:
            """By which a handler tells one prompt from another."""
            return self.prompt

    def __init__(self) -> None:
        super().__init__()
        self._problem = ""

    def hint(self, name: str) -> Sequence[str]:
        """What is meant by the field of this name, the longest form first."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield FieldWords()
        for asked in self.ASKS:
            yield Horizontal(Static(asked.label), AnswerInput(asked))

    def ask(self, answers: Mapping[str, str], problem: str = "") -> None:
        """Ask, with answers to begin with; say why they cannot be used, unless that is ""."""
        with self.prevent(Input.Changed):
            for field in self.query(AnswerInput):
                field.value = answers.get(str(field.id), field.value)
                field.cursor_position = len(field.value)
        self.display = True
        self.query(AnswerInput).first().focus()
        self.refuse(problem)

    @property
    def answers(self) -> dict[str, str]:
        """The fields as they are typed."""
        return {str(field.id): field.value for field in self.query(AnswerInput)}

    @property
    def asked_now(self) -> str:
        """The field that has the focus, else the first."""
        focused = self.app.focused
        is_here = isinstance(focused, AnswerInput) and self in focused.ancestors
        return str(focused.id) if is_here and focused is not None else self.ASKS[0].name

    def say(self, forms: Sequence[str]) -> None:
        """Show the longest of these that fits."""
        self.query_one(FieldWords).show(forms)

    def refuse(self, problem: str) -> None:
        """Say why the answers cannot be used, until one of them is changed."""
        self._problem = problem
        self.explain()

    def explain(self) -> None:
        """Say what is wrong, else what is meant."""
        if self._problem:
            self.query_one(FieldWords).refuse(self._problem)
        else:
            self.say(self.hint(self.asked_now))

    @on(events.DescendantFocus)
    def _explain_field(self) -> None:
        if self.display:
            self.explain()

    @on(Input.Changed)
    def _explain_answer(self) -> None:
        self._problem = ""
        self._explain_field()

    def turn(self, field: AnswerInput, by: int) -> None:
        """Go to the field so many after this one, the first after the last."""
        fields = list(self.query(AnswerInput))
        self._problem = ""
        fields[(fields.index(field) + by) % len(fields)].focus()

    def close(self) -> None:
        """Ask no more."""
        self.display = False
