"""The form of options: each option's text, what a typed text means, its next value; its rows and fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from sampling.errors import OptionError
from sampling.methods.registry import check_settings
from sampling.plan.request import (
    Part,
    choices,
    flags,
    format_value,
    is_switch,
    is_used,
    option,
    parse_value,
    part_names,
    step_value,
    unused_settings,
)
from tui.app.actions import FORM, bindings
from tui.app.prompt import PathInput
from tui.app.state import Session
from tui.charts.grid import fitted
from tui.options.command_line import error_text, with_flags
from tui.options.plan import SampleOptions
from tui.terminal.printable import cell_width, padded, printable, wrapped

NOT_USED = "not used"
_LABEL = 19
_PROBLEM_ROWS = 4


def checked(options: SampleOptions) -> SampleOptions:
    """Return the options if the engine accepts them, as far as it can check without the profile.

    Raises OptionError where it does not.
    """
    check_settings(options.request.set)
    _ = options.request.region
    return options


def in_words_of_form(error: OptionError) -> OptionError:
    """Return an error of the engine with the options named as in the form."""
    return OptionError(with_flags(error.message).removeprefix("--"), remedy=error.remedy)


@dataclass(frozen=True, slots=True)
class OptionField:
    """One option of the form, a field of the request; read, written and stepped as that has it by default."""

    name: str
    #: From a text to a value, with ValueError where it means none; and back.
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] | None = None
    #: From a value to the next, or with -1 to the one before; the same value where there is none.
    step: Callable[[Any, int], Any] | None = None
    #: Which part of the value has no effect on the plan, in words; "" if all of it has.
    unused: Callable[[SampleOptions], str] = lambda _: ""
    #: Whether it is paths, quoted as in a shell.
    is_path: bool = False

    @property
    def is_typed(self) -> bool:
        """Whether its value is typed, not chosen."""
        return not is_switch(self.name) and not choices(self.name)

    @property
    def label(self) -> str:
        """The option as the command line calls it, without dashes."""
        return flags(self.name)[0].removeprefix("--")

    @property
    def help(self) -> str:
        """What it is, in the words of the command line's own help."""
        return option(self.name).help

    def text(self, options: SampleOptions) -> str:
        """The value as it is typed and shown."""
        value = getattr(options.request, self.name)
        return format_value(self.name, value) if self.write is None else self.write(value)

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """The options with the value that a text means; OptionError where it means none that is accepted."""
        try:
            value = parse_value(self.name, text) if self.read is None else self.read(text)
            return checked(options.with_request(**{self.name: value}))
        except ValueError as error:
            raise OptionError(f"{self.label}: {text.strip()!r} {error}") from error
        except OptionError as error:
            raise in_words_of_form(error) from error

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The options with the next value, or with `by` = -1 the one before; None where there is none."""
        try:
            if self.step is None:
                following = step_value(options.request, self.name, by)
                return None if following is None else checked(replace(options, request=following))
            value = getattr(options.request, self.name)
            next_value = self.step(value, by)
            return None if next_value == value else checked(options.with_request(**{self.name: next_value}))
        except OptionError:
            return None


def round_and_round(values: Sequence[Any]) -> Callable[[Any, int], Any]:
    """Return the steps through these values, after the last the first again."""

    def step(value: Any, by: int) -> Any:
        place = values.index(value) if value in values else 0
        return values[(place + by) % len(values)] if values else value

    return step


def _unused_settings(options: SampleOptions) -> str:
    settings = options.request.set
    unused = len(unused_settings([options.request.method], settings))
    if unused == len(settings):
        return NOT_USED if unused else ""
    return f"{unused} {NOT_USED}" if unused else ""


def _unused(name: str) -> Callable[[SampleOptions], str]:
    if name == "set":
        return _unused_settings
    return lambda options: "" if is_used(options.request, name) else NOT_USED


# In the order of the rows; settings are last, for they may be long.
_NUMBERS = (name for name in part_names(Part.PROMISE) if name != "set")
OPTION_FIELDS: tuple[OptionField, ...] = tuple(
    OptionField(name, unused=_unused(name)) for name in ("method", *_NUMBERS, "group_by", "seed", "set")
)


# The form.


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value that was asked for, but that the plan does not have (yet)."""

    field: OptionField
    text: str
    #: With the value; None where the text means none.
    options: SampleOptions | None
    #: Why it was not taken; "" while that is not known.
    problem: str = ""


class OptionInput(PathInput):
    """The field in which a value is typed: every letter and digit is text, and tab completes paths alone."""

    takes_several = True
    BINDINGS = [  # noqa: RUF012
        Binding("enter", "submit", "Take it", key_display="enter"),
        Binding("escape", "leave", "Leave it", key_display="esc"),
    ]

    def __init__(self, value: str, form: OptionForm) -> None:
        super().__init__(value)
        self.completes = form.field.is_path
        self._form = form

    def action_leave(self) -> None:
        self._form.stop_typing(self)

    def on_blur(self) -> None:
        self._form.stop_typing(self)


class Shown(NamedTuple):
    """What stands in a row: the value, which part of it has no effect, whether the cursor is there."""

    text: str = ""
    unused: str = ""
    is_current: bool = False
    is_refused: bool = False


class OptionRow(Widget):
    """One option: its name and its value, or the field in which that is typed."""

    COMPONENT_CLASSES = {"option-row--cursor", "option-row--unused"}  # noqa: RUF012
    shown: reactive[Shown] = reactive(Shown())

    def __init__(self, field: OptionField) -> None:
        super().__init__()
        self.field = field

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - it has one
        width, style = self.size.width, self.rich_style
        text, unused, is_current, is_refused = self.shown
        room = max(width - _LABEL, 0)
        if is_current and not self.field.is_typed and cell_width(text) + 4 <= room:
            text = f"< {text} >"
        text += " ?" * is_refused
        if unused:
            # Shown even if the value is too long for the row.
            unused = f" ({unused})"
            text = fitted(text, max(room - len(unused), 0)) + unused
            style += self.get_component_rich_style("option-row--unused", partial=True)
        if is_current:
            style += self.get_component_rich_style("option-row--cursor", partial=True)
        mark = ">" if is_current else "!" if is_refused else " "
        row = f"{mark} {self.field.label}".ljust(_LABEL) + fitted(text, room)
        return Strip([Segment(padded(row, width), style)]).adjust_cell_length(width, Style())


class OptionForm(VerticalScroll, can_focus=True):
    """The options of a plan, a row each, moved through with the cursor, changed in place.

    Parameters
    ----------
    change : is called with the options wanted, and whether `at_once`: not where more steps may follow.
    explain : is called with the option that the cursor comes to.
    """

    BINDINGS = bindings(FORM)

    def __init__(
        self,
        options: SampleOptions,
        change: Callable[..., object],
        explain: Callable[[OptionField], object],
        fields: Sequence[OptionField] = OPTION_FIELDS,
    ) -> None:
        super().__init__()
        self.fields = tuple(fields)
        self._rows = [OptionRow(field) for field in fields]
        self._problem = Static(id="option-problem", markup=False)
        self._change, self._explain = change, explain
        self._options = options
        self._place = 0
        self.attempt: Attempt | None = None

    def compose(self) -> ComposeResult:
        yield from self._rows
        yield self._problem

    def on_mount(self) -> None:
        self._draw()
        self._explain(self.field)

    @property
    def field(self) -> OptionField:
        """The option at the cursor."""
        return self.fields[self._place]

    # What is shown.

    def follow(self, session: Session, asked: SampleOptions | None) -> None:
        """Show the session's options; a problem is said here where its options are those `asked` for here."""
        self._options, attempt = session.options, self.attempt
        if session.doing is None and attempt is not None:
            if session.problem is None:
                # The value was refused on an earlier plan, or is in this one; steps taken since then stay.
                if attempt.problem or attempt.options == session.options:
                    self.attempt = None
            elif attempt.options == asked:
                # It stays, so that one can go on from it.
                self.attempt = replace(attempt, problem=session.problem)
        self._draw()

    def forget(self) -> None:
        """Show what the plan has, whatever was asked for."""
        self.attempt = None
        self._draw()

    def _draw(self) -> None:
        for row in self._rows:
            tried = self.attempt if self.attempt is not None and self.attempt.field is row.field else None
            text = row.field.text(self._options) or "-" if tried is None else tried.text
            row.shown = Shown(
                printable(text),
                row.field.unused(self._options),
                is_current=row.field is self.field,
                is_refused=tried is not None and bool(tried.problem),
            )
        self._draw_problem()

    def _draw_problem(self) -> None:
        """Say what is wrong in few rows, so that the options stay visible."""
        attempt = self.attempt
        self._problem.display = attempt is not None and bool(attempt.problem)
        if attempt is None or not attempt.problem:
            return
        rows, width = max(self.size.height - len(self.fields), _PROBLEM_ROWS), max(self.size.width - 2, 10)
        lines = wrapped(printable(attempt.problem), width, breaks_words=True)
        if len(lines) > rows:
            lines[rows - 1 :] = [fitted(" ".join(lines[rows - 1 :]), width)]
        self._problem.update("\n".join(f"  {line}" for line in lines))
        self.move_child(self._problem, after=self._rows[self.fields.index(attempt.field)])
        self.call_after_refresh(self._problem.scroll_visible, animate=False)

    def on_resize(self, _: events.Resize) -> None:
        self._draw_problem()

    # What is asked for.

    @property
    def _base(self) -> SampleOptions:
        """The options that a step starts from: those tried last, unless refused at another field."""
        attempt = self.attempt
        if attempt is None or attempt.options is None:
            return self._options
        is_elsewhere = bool(attempt.problem) and attempt.field is not self.field
        return self._options if is_elsewhere else attempt.options

    def _try(self, options: SampleOptions, *, at_once: bool) -> None:
        self.attempt = Attempt(self.field, self.field.text(options) or "-", options)
        self._draw()
        self._change(options, at_once=at_once)

    def action_move(self, rows: int) -> None:
        self._go(self._place + rows)

    def go_to(self, name: str) -> None:
        """Go to the option of this name, and take the focus."""
        self.focus()
        self._go([field.name for field in self.fields].index(name))

    def _go(self, place: int) -> None:
        self._place = min(max(place, 0), len(self.fields) - 1)
        if self.attempt is not None and self.attempt.problem and self.attempt.field is not self.field:
            self.attempt = None
        self._draw()
        self._rows[self._place].scroll_visible(animate=False)
        self._explain(self.field)

    def on_click(self, event: events.Click) -> None:
        if isinstance(event.widget, OptionRow):
            self._go(self._rows.index(event.widget))

    def action_step(self, by: int) -> None:
        options = self.field.stepped(self._base, by)
        if options is not None:
            self._try(options, at_once=False)

    def action_edit(self) -> None:
        attempt = self.attempt
        if not self.field.is_typed:
            self.action_step(1)
        elif attempt is not None and attempt.field is self.field and attempt.options is None:
            self._type(attempt.text)
        else:
            self._type(self.field.text(self._base))

    def action_give_up(self) -> None:
        if self.attempt is None or not self.attempt.problem:
            raise SkipAction
        self.forget()

    def on_key(self, event: events.Key) -> None:
        if event.character in {"0", "."} and self.has_focus and self.field.is_typed:
            event.stop()
            self._type(str(event.character))

    def _type(self, text: str) -> None:
        field = OptionInput(text, self)
        self._rows[self._place].mount(field)
        field.focus()

    def stop_typing(self, field: Widget) -> None:
        """Take the field of a typed value away; the form has the focus again."""
        if field.has_focus:
            self.focus()
        field.remove()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        self.stop_typing(event.input)
        try:
            options = self.field.taken(self._base, event.value)
        except OptionError as error:
            self.attempt = Attempt(self.field, event.value or "-", None, error_text(error))
            self._draw()
        else:
            self._try(options, at_once=True)
