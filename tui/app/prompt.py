"""Prompts: fields to type in at the foot of a view, under words on what is meant or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.app.session_app import SessionApp
from tui.app.widgets import Note
from tui.options.files import completed, last_completed

_MOST_NAMES = 12


class PathInput(Input):
    """A field for a path: tab completes it, as a shell does, and leaves the field in no case.

    Attributes
    ----------
    completes : whether it is a path that is asked for.
    takes_several : whether there may be several, quoted as in a shell; that at the cursor is completed.
    """

    BINDINGS = [Binding("tab,shift+tab", "complete", "Complete", key_display="tab", show=False)]  # noqa: RUF012

    completes, takes_several = True, False

    def __init__(self, value: str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(value, id=id, compact=True, select_on_focus=False)

    def action_complete(self) -> None:
        """Complete the path as far as the names that are there agree; if no further, say what they are."""
        if not self.completes:
            return
        position = self.cursor_position
        before = self.value[:position]
        text, names = (last_completed if self.takes_several else completed)(before)
        if text != before:
            self.value = text + self.value[position:]
            self.cursor_position = len(text)
        elif len(names) > 1:
            hidden = len(names) - _MOST_NAMES
            listed = [*names[:_MOST_NAMES], *([f"and {hidden:,} more"] if hidden > 0 else [])]
            self.notify("  ".join(listed), markup=False)


class PromptField(NamedTuple):
    """What a prompt asks for: a path, several quoted as in a shell, or another text."""

    name: str
    label: str
    is_path: bool = True
    takes_several: bool = False


class PromptInput(PathInput):
    """A field of a `Prompt`; its id is its name. Where it asks for no path, tab goes to the next field."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up,shift+tab", "go(-1)", "Field", show=False),
        Binding("down", "go(1)", "Field", show=False),
    ]

    def __init__(self, field: PromptField, prompt: Prompt) -> None:
        super().__init__(id=field.name)
        self.completes, self.takes_several = field.is_path, field.takes_several
        self._prompt = prompt

    def action_leave(self) -> None:
        self._prompt.leave()

    def action_go(self, by: int) -> None:
        self._prompt.turn(self, by)

    def action_complete(self) -> None:
        if self.completes:
            super().action_complete()
        else:
            self.action_go(1)


class Prompt(Vertical):
    """Fields to type in; the row above says what is meant, or what is wrong with an answer."""

    DEFAULT_CSS = """
    Prompt { height: auto; display: none; }
    Prompt Note { height: auto; max-height: 6; width: 1fr; }
    Prompt Horizontal { height: 1; }
    Prompt Horizontal Static { width: auto; text-style: bold; }
    """
    FIELDS: ClassVar[tuple[PromptField, ...]]

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
        self._came_from: Widget | None = None

    def hint(self, name: str) -> Sequence[str]:
        """What is meant by the field of this name, the longest form first."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield Note()
        for field in self.FIELDS:
            yield Horizontal(Static(field.label), PromptInput(field, self))

    def ask(self, answers: Mapping[str, str], problem: str = "") -> None:
        """Ask, with answers to begin with; say why they cannot be used, unless that is ""."""
        with self.prevent(Input.Changed):
            for field in self.query(PromptInput):
                field.value = answers.get(str(field.id), field.value)
                field.cursor_position = len(field.value)
        if not self.display:
            self.display, self._came_from = True, self.screen.focused
        self.query(PromptInput).first().focus()
        self.refuse(problem)

    @property
    def answers(self) -> dict[str, str]:
        """The fields as they are typed."""
        return {str(field.id): field.value for field in self.query(PromptInput)}

    def say(self, forms: Sequence[str]) -> None:
        """Show the longest of these that fits."""
        self.query_one(Note).show(*forms)

    def refuse(self, problem: str) -> None:
        """Say why the answers cannot be used, until one of them is changed."""
        self._problem = problem
        self.explain()

    def explain(self) -> None:
        """Say what is wrong, else what is meant by the field that has the focus, or by the first."""
        if self._problem:
            self.query_one(Note).refuse(self._problem)
        else:
            fields = list(self.query(PromptInput))
            self.say(self.hint(str(next((field for field in fields if field.has_focus), fields[0]).id)))

    @on(events.DescendantFocus)
    def _explain_field(self) -> None:
        if self.display:
            self.explain()

    @on(Input.Changed)
    def _explain_answer(self) -> None:
        self._problem = ""
        self._explain_field()

    def turn(self, field: PromptInput, by: int) -> None:
        """Go to the field so many after this one, the first after the last."""
        fields = list(self.query(PromptInput))
        self._problem = ""
        fields[(fields.index(field) + by) % len(fields)].focus()

    def leave(self) -> None:
        """Ask no more, as the user has left."""
        self.close()
        self.post_message(self.Left(self))

    def close(self) -> None:
        """Ask no more; what had the focus before has it again."""
        if self.display:
            self.display = False
            if self._came_from is not None:
                self._came_from.focus()
