"""The form of options: a row each, moved through with the cursor, changed in place."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from sampling.errors import OptionError
from tui.app.actions import FORM, bindings
from tui.app.plan.option_fields import OPTION_FIELDS, OptionField
from tui.app.plan.option_row import OptionInput, OptionRow
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.charts.grid import fitted
from tui.options.commands import SampleOptions
from tui.options.flags import error_text
from tui.terminal.printable import printable

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


@dataclass
class FieldReached(Message):
    """The cursor is at this option, counted from 0."""

    place: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value that was asked for, but that the plan does not have (yet).

    Attributes
    ----------
    field : whose it is.
    text : as it is shown.
    options : with the value; None where the text means none.
    problem : why it was not taken; None while that is not known.
    is_read : whether a key was pressed since that was said.
    """

    field: OptionField
    text: str
    options: SampleOptions | None
    problem: str | None = None
    is_read: bool = False


class OptionForm(VerticalScroll, can_focus=True):
    """The options of a plan, with a cursor.

    Parameters
    ----------
    options : the values shown at first.
    fields : the options that have a row; kept as an attribute.
    """

    BINDINGS = bindings(FORM)

    app: SessionApp

    def __init__(
        self,
        options: SampleOptions,
        fields: tuple[OptionField, ...] = OPTION_FIELDS,
        *,
        ascii_only: bool,
    ) -> None:
        super().__init__()
        self.fields = fields
        self._ascii_only = ascii_only
        self._options = options
        self._place = 0
        self._attempt: Attempt | None = None

    def compose(self) -> ComposeResult:
        """A row an option, and a place for what is wrong with one."""
        for field in self.fields:
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
        return self.fields[self._place]

    @property
    def attempt(self) -> Attempt | None:
        """The value that was asked for, but that the plan does not have (yet)."""
        return self._attempt

    def follow(self, session: Session, asked: SampleOptions | None) -> None:
        """Show the session's options.

        Parameters
        ----------
        asked : what this form's screen asked for last; a problem of other options is not said here.
        """
        if session.doing is None and session.problem is None:
            self.accept(session.options)
            return
        self.show(session.options)
        attempt = self._attempt
        is_refused = session.doing is None and session.problem is not None
        if is_refused and attempt is not None and attempt.options == asked:
            self.refuse(session.problem or "")

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
        if self._attempt is not None and self._attempt.problem != problem:
            self._attempt = replace(self._attempt, problem=problem, is_read=False)
            self.app.until_next_key(self, self._take_as_read)
        self._draw()

    def _take_as_read(self) -> None:
        """Say no longer what is wrong; the value stays, so that one can go on from it."""
        if self._attempt is not None and self._attempt.problem is not None:
            self._attempt = replace(self._attempt, is_read=True)
            self._draw_problem()

    def _draw(self) -> None:
        attempt = self._attempt
        for place, row in enumerate(self.query(OptionRow)):
            tried = attempt is not None and attempt.field is row.field
            text = attempt.text if tried and attempt is not None else row.field.text(self._options) or "-"
            row.show(
                printable(text, ascii_only=self._ascii_only),
                is_current=place == self._place,
                unused=row.field.unused(self._options),
                is_refused=tried and attempt is not None and attempt.problem is not None,
            )
        self._draw_problem()

    def _draw_problem(self) -> None:
        line, attempt = self.query_one("#option-problem", Static), self._attempt
        if attempt is None or attempt.problem is None or attempt.is_read:
            line.display = False
            return
        rows = self._problem_rows(attempt)
        line.update("\n".join(f"  {row}" for row in rows))
        self.move_child(line, after=self.query(OptionRow)[self.fields.index(attempt.field)])
        line.display = True
        self.call_after_refresh(line.scroll_visible, animate=False)

    def _problem_rows(self, attempt: Attempt) -> list[str]:
        """Return what is wrong in few rows, so that the options stay visible; without the remedy if too long.

        Of a typed text, the remedy says what to type.
        """
        problem = printable(attempt.problem or "", ascii_only=self._ascii_only)
        width = max(self.size.width - 2, 10)
        few = _TYPED_ROWS if attempt.options is None else _PROBLEM_ROWS
        most = max(self.size.height - len(self.fields), few)
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

    def go_to(self, name: str) -> None:
        """Go to the option of this name, and take the focus."""
        self.focus()
        self._go(next(place for place, field in enumerate(self.fields) if field.name == name))

    def action_edge(self, rows: int) -> None:
        """Go to the first option, or to the last."""
        self._go(0 if rows < 0 else len(self.fields) - 1)

    def _go(self, place: int) -> None:
        self._place = min(max(place, 0), len(self.fields) - 1)
        if self.is_refused and self._attempt is not None and self._attempt.field is not self.field:
            self._attempt = None
        self._draw()
        self.query(OptionRow)[self._place].scroll_visible(animate=False)
        self.post_message(FieldReached(self._place))

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

    @property
    def is_refused(self) -> bool:
        """Whether the value that was asked for last is shown with what is wrong with it."""
        return self._attempt is not None and self._attempt.problem is not None

    def action_give_up(self) -> None:
        """Show what the plan has again in place of a value that was refused."""
        if not self.is_refused:
            raise SkipAction
        self.forget()

    def forget(self) -> None:
        """Show what the plan has, whatever was asked for."""
        self._attempt = None
        self._draw()

    def on_click(self, event: events.Click) -> None:
        """Go to the option there."""
        for place, row in enumerate(self.query(OptionRow)):
            if row is event.widget:
                self._go(place)

    def on_key(self, event: events.Key) -> None:
        """A digit or point starts typing a value."""
        if event.character in _STARTS_A_NUMBER and self.has_focus and self.field.is_typed:
            event.stop()
            self._type(str(event.character))

    def _type(self, text: str) -> None:
        row = self.query(OptionRow)[self._place]
        field = OptionInput(text, is_path=self.field.is_path)
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
            self._attempt = Attempt(self.field, text or "-", None)
            self.refuse(error_text(error))
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
