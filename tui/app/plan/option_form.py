"""The form of options: a row each, moved through with the cursor, changed in place."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from sampling.errors import OptionError
from tui.app.actions import FORM, bindings
from tui.app.plan.option_fields import OPTION_FIELDS, OptionField
from tui.charts.grid import fitted
from tui.options.commands import SampleOptions
from tui.options.flags import error_text
from tui.terminal.printable import printable

_LABEL = 19
_PROBLEM_ROWS, _TYPED_ROWS = 2, 4
_STARTS_A_NUMBER = frozenset("0.")


@dataclass
class OptionsChanged(Message):
    """The user wants these options.

    Attributes
    ----------
    at_once : whether the value was typed and confirmed; otherwise more steps may follow.
    """

    options: SampleOptions
    at_once: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value that was asked for, but that the plan does not have (yet).

    Attributes
    ----------
    field : whose it is.
    text : as it is shown.
    options : with the value; None where the text means none.
    problem : why it was not taken; None while that is not known.
    """

    field: OptionField
    text: str
    options: SampleOptions | None
    problem: str | None = None


class OptionInput(Input):
    """The field in which a value is typed: every letter and digit is text."""

    BINDINGS = [  # noqa: RUF012
        Binding("enter", "submit", "Take it", key_display="enter"),
        Binding("escape", "leave", "Leave it", key_display="esc"),
    ]

    @dataclass
    class Left(Message):
        """The user left the field without confirming."""

    def __init__(self, value: str) -> None:
        super().__init__(value, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def action_leave(self) -> None:
        """Give up what was typed."""
        self.post_message(self.Left())

    def on_blur(self) -> None:
        """Discard what was typed, as another pane has the focus now."""
        self.action_leave()


class OptionRow(Widget):
    """One option: its name and its value, or the field in which that is typed."""

    COMPONENT_CLASSES = {"option-row--cursor", "option-row--unused"}  # noqa: RUF012

    def __init__(self, field: OptionField, *, ascii_only: bool) -> None:
        super().__init__()
        self.field = field
        self._ascii_only = ascii_only
        self._text, self._is_current, self._unused, self._is_refused = "", False, "", False

    def show(self, text: str, *, is_current: bool, unused: str, is_refused: bool) -> None:
        """Show a value, and which part of it has no effect."""
        shown = text, is_current, unused, is_refused
        if shown != (self._text, self._is_current, self._unused, self._is_refused):
            self._text, self._is_current, self._unused, self._is_refused = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - it has one
        """A mark at the cursor, the name, the value."""
        width = self.size.width
        mark = ">" if self._is_current else "!" if self._is_refused else " "
        text = self._text
        if self._is_current and not self.field.is_typed and len(text) + 4 <= width - _LABEL:
            text = f"< {text} >"
        if self._is_refused:
            text += " ?"
        room = max(width - _LABEL, 0)
        if self._unused:
            # Shown even if the value is too long for the row.
            unused = f" ({self._unused})"
            text = fitted(text, max(room - len(unused), 0), ascii_only=self._ascii_only) + unused
        text = fitted(text, room, ascii_only=self._ascii_only)
        row = f"{mark} {self.field.label}".ljust(_LABEL) + text
        style = self.rich_style
        if self._unused:
            style += self.get_component_rich_style("option-row--unused", partial=True)
        if self._is_current:
            style += self.get_component_rich_style("option-row--cursor", partial=True)
        return Strip([Segment(row.ljust(width), style)]).adjust_cell_length(width, Style())


class OptionForm(VerticalScroll, can_focus=True):
    """The options of a plan, with a cursor."""

    BINDINGS = bindings(FORM)

    def __init__(self, options: SampleOptions, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._options = options
        self._place = 0
        self._attempt: Attempt | None = None

    def compose(self) -> ComposeResult:
        """A row an option, and a place for what is wrong with one."""
        for field in OPTION_FIELDS:
            yield OptionRow(field, ascii_only=self._ascii_only)
        problem = Static(id="option-problem", markup=False)
        problem.display = False
        yield problem

    def on_mount(self) -> None:
        """Show the values."""
        self._draw()

    @property
    def field(self) -> OptionField:
        """The option at the cursor."""
        return OPTION_FIELDS[self._place]

    @property
    def attempt(self) -> Attempt | None:
        """The value that was asked for, but that the plan does not have (yet)."""
        return self._attempt

    def show(self, options: SampleOptions) -> None:
        """Show the options of the plan; a value that was refused stays visible."""
        self._options = options
        self._draw()

    def accept(self, options: SampleOptions) -> None:
        """Show the options of a plan that was just made; steps taken since then stay."""
        attempt = self._attempt
        # The value was refused on an earlier plan, or is in this one.
        if attempt is not None and (attempt.problem is not None or attempt.options == options):
            self._attempt = None
        self.show(options)

    def refuse(self, problem: str) -> None:
        """Say at its field why the last value was not taken."""
        if self._attempt is not None:
            self._attempt = Attempt(self._attempt.field, self._attempt.text, self._attempt.options, problem)
        self._draw()

    def _draw(self) -> None:
        attempt = self._attempt
        for place, row in enumerate(self.query(OptionRow)):
            tried = attempt is not None and attempt.field is row.field
            row.show(
                attempt.text if tried and attempt is not None else row.field.text(self._options) or "-",
                is_current=place == self._place,
                unused=row.field.unused(self._options),
                is_refused=tried and attempt is not None and attempt.problem is not None,
            )
        self._draw_problem()

    def _draw_problem(self) -> None:
        line, attempt = self.query_one("#option-problem", Static), self._attempt
        if attempt is None or attempt.problem is None:
            line.display = False
            return
        rows = self._problem_rows(attempt)
        line.update("\n".join(f"  {row}" for row in rows))
        self.move_child(line, after=self.query(OptionRow)[OPTION_FIELDS.index(attempt.field)])
        line.display = True
        self.call_after_refresh(line.scroll_visible, animate=False)

    def _problem_rows(self, attempt: Attempt) -> list[str]:
        """Return what is wrong in few rows, so that the options stay visible; without the remedy if too long.

        Of a typed text, the remedy says what to type.
        """
        problem = printable(attempt.problem or "", ascii_only=self._ascii_only)
        width = max(self.size.width - 2, 10)
        few = _TYPED_ROWS if attempt.options is None else _PROBLEM_ROWS
        most = max(self.size.height - len(OPTION_FIELDS), few)
        rows: list[str] = []
        for words in (problem, problem.partition("; ")[0]):
            rows = textwrap.wrap(words, width)
            if len(rows) <= most:
                return rows
        return [*rows[: most - 1], fitted(" ".join(rows[most - 1 :]), width, ascii_only=self._ascii_only)]

    def on_resize(self, _: events.Resize) -> None:
        """The words may need other rows."""
        self._draw_problem()

    def _base(self) -> SampleOptions:
        """Return the options that a step starts from: those tried last, unless they were refused."""
        attempt = self._attempt
        if attempt is None or attempt.options is None:
            return self._options
        # Steps start from a refused value too; otherwise the user could never step past it.
        if attempt.problem is None or attempt.field is self.field:
            return attempt.options
        return self._options

    def _try(self, options: SampleOptions, *, at_once: bool) -> None:
        self._attempt = Attempt(self.field, self.field.text(options) or "-", options)
        self._draw()
        self.post_message(OptionsChanged(options, at_once))

    def action_field_down(self) -> None:
        """Go to the next option."""
        self._go(self._place + 1)

    def action_field_up(self) -> None:
        """Go to the option before."""
        self._go(self._place - 1)

    def action_edge(self, rows: int) -> None:
        """Go to the first option, or to the last."""
        self._go(0 if rows < 0 else len(OPTION_FIELDS) - 1)

    def _go(self, place: int) -> None:
        self._place = min(max(place, 0), len(OPTION_FIELDS) - 1)
        self._draw()
        self.query(OptionRow)[self._place].scroll_visible(animate=False)

    def action_step(self, by: int) -> None:
        """Take the next value or the one before."""
        options = self.field.stepped(self._base(), by)
        if options is not None:
            self._try(options, at_once=False)

    def action_edit(self) -> None:
        """Type a value, or choose the next."""
        if self.field.is_typed:
            attempt = self._attempt
            tried = attempt is not None and attempt.field is self.field and attempt.options is None
            self._type(attempt.text if tried and attempt is not None else self.field.text(self._base()))
        else:
            self.action_step(1)

    def action_give_up(self) -> None:
        """Show what the plan has again in place of a value that was refused."""
        if self._attempt is not None and self._attempt.problem is not None:
            self._attempt = None
            self._draw()

    def on_key(self, event: events.Key) -> None:
        """A digit or point starts typing a value."""
        if event.character in _STARTS_A_NUMBER and self.has_focus and self.field.is_typed:
            event.stop()
            self._type(str(event.character))

    def _type(self, text: str) -> None:
        row = self.query(OptionRow)[self._place]
        field = OptionInput(text)
        row.mount(field)
        field.focus()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        self._stop_typing(event.input)
        try:
            options = self.field.taken(self._base(), text)
        except OptionError as error:
            self._attempt = Attempt(self.field, text or "-", None, error_text(error))
            self._draw()
            return
        self._try(options, at_once=True)

    @on(OptionInput.Left)
    def _leave(self, event: OptionInput.Left) -> None:
        event.stop()
        for field in self.query(OptionInput):
            self._stop_typing(field)

    def _stop_typing(self, field: Input) -> None:
        had_focus = field.has_focus
        # Removing the field must not be reported as leaving it.
        with self.prevent(OptionInput.Left):
            field.remove()
            if had_focus:
                self.focus()
