"""The fields of the scale view, a cell of the table and the question below it, and the messages they post."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.app.frame.field import PathInput
from tui.app.frame.line import Line

_LONGEST_CELL = 40


@dataclass
class CellTaken(Message):
    """The text of the cell is confirmed; the cursor moves on by this many cells and rows."""

    text: str
    cells: int = 0
    rows: int = 0


@dataclass
class CellLeft(Message):
    """The cell stays as it was."""


@dataclass
class PromptAnswered(Message):
    """The one-line question is answered, or given up (None)."""

    text: str | None


class CellInput(Input):
    """The cell that is being typed in: every printable key is text."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "As it was", key_display="esc"),
        Binding("enter", "take(0, 0)", "Take", key_display="enter"),
        Binding("tab", "take(1, 0)", "Next cell", key_display="tab"),
        Binding("shift+tab", "take(-1, 0)", "Cell before", show=False),
        Binding("down", "take(0, 1)", "Next row", show=False),
        Binding("up", "take(0, -1)", "Row before", show=False),
    ]

    def __init__(self, text: str, *, selected: bool) -> None:
        super().__init__(text, compact=True, select_on_focus=selected, max_length=_LONGEST_CELL)
        self.cursor_blink = False

    def action_take(self, cells: int, rows: int) -> None:
        """Keep the text, and go on."""
        self.post_message(CellTaken(self.value, cells, rows))

    def action_leave(self) -> None:
        """Leave the cell as it was."""
        self.post_message(CellLeft())


class PromptInput(PathInput):
    """The answer to the one-line question."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "give_up", "Leave", key_display="esc"),
        Binding("enter", "answer", "Take", key_display="enter"),
    ]

    def action_answer(self) -> None:
        """Keep the text."""
        self.post_message(PromptAnswered(self.value.strip()))

    def action_give_up(self) -> None:
        """Leave things as they were."""
        self.post_message(PromptAnswered(None))


class Prompt(Horizontal):
    """A question of one row, visible while it is asked."""

    DEFAULT_CSS = "Prompt { height: 1; display: none; }"

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        """The question and its field."""
        yield Line(ascii_only=self._ascii_only)
        yield PromptInput(compact=True)

    def ask(self, question: str, text: str, *, is_path: bool) -> None:
        """Ask, with an answer to begin with; tab completes it where it is a path."""
        line, field = self.query_one(Line), self.query_one(PromptInput)
        line.styles.width = len(question) + 1
        line.show([question])
        field.value, field.completes = text, is_path
        self.display = True
        field.focus()

    def close(self) -> None:
        """Ask no more."""
        self.display = False
