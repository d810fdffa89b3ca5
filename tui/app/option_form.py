"""The form of options: each option's text, what a typed text means, its next value; its rows and fields."""

from __future__ import annotations

import shlex
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from sampling.errors import OptionError
from sampling.methods.method import DECLARED
from sampling.methods.registry import check_settings, draws_at_random, method_named, method_names
from sampling.parallel import Stream, generator
from sampling.reduction import GroupBy
from sampling.strata.target import Target
from tui.app.actions import FORM, bindings
from tui.app.frame.field import PathInput
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.charts.grid import fitted
from tui.engine.studies import region_of, target_of, unused_settings
from tui.options.command_line import error_text, with_flags
from tui.options.plan import SampleOptions
from tui.terminal.printable import printable

_OPTIONS = {option.name: option.metadata for option in fields(SampleOptions)}
# The round fractions of three decades.
_FRACTIONS = tuple(float(f"{digit}e{power}") for power in (-3, -2, -1) for digit in (1, 1.5, 2, 3, 5, 7))
_CONFIDENCES = (0.5, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
_SPREADS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
_NONE = "none"
NOT_USED = "not used"
_LABEL = 19
_PROBLEM_ROWS, _TYPED_ROWS = 2, 4


def checked(options: SampleOptions) -> SampleOptions:
    """Return the options if the engine accepts them, as far as it can check without the profile.

    Raises OptionError, the engine's message with the options named as in the form, where it does not.
    """
    try:
        target_of(options)
        check_settings(options.set)
        generator(options.seed, Stream.DESIGN)
        region_of(options)
    except OptionError as error:
        raise OptionError(with_flags(error.message).removeprefix("--"), remedy=error.remedy) from error
    return options


def changed(options: SampleOptions, name: str, value: Any) -> SampleOptions:
    """Return the options with another value of one of them."""
    changes: dict[str, Any] = {name: value}
    return replace(options, **changes)


@dataclass(frozen=True, slots=True)
class OptionField(ABC):
    """One option of the form, named as the field of `SampleOptions`."""

    name: str

    #: Whether its value is typed, not chosen; whether it is paths, quoted as in a shell.
    is_typed, is_path = True, False

    @property
    def label(self) -> str:
        """The option as the command line calls it, without dashes."""
        return str(_OPTIONS[self.name].get("flags", ("",))[0]).removeprefix("--")

    @property
    def help(self) -> str:
        """What it is, in the words of the command line's own help."""
        return str(_OPTIONS[self.name].get("help", ""))

    @abstractmethod
    def text(self, options: SampleOptions) -> str:
        """The value as it is typed and shown."""

    @abstractmethod
    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """The options with the value that a text means; OptionError where it means none that is accepted."""

    @abstractmethod
    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The options with the next value, or with `by` = -1 the one before; None where there is none."""

    def unused(self, options: SampleOptions) -> str:  # noqa: ARG002 - most are used, whatever the others
        """Which part of the value has no effect on the plan, in words; "" if all of it has."""
        return ""


@dataclass(frozen=True, slots=True)
class Choice(OptionField):
    """One of a few values, each with its text; after the last comes the first."""

    values: tuple[Any, ...]
    texts: tuple[str, ...]

    is_typed = False

    def text(self, options: SampleOptions) -> str:
        return self.texts[self.values.index(getattr(options, self.name))]

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        if text not in self.texts:
            raise OptionError(f"{self.label}: {text!r} is not one of {', '.join(self.texts)}")
        return changed(options, self.name, self.values[self.texts.index(text)])

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions:
        place = self.values.index(getattr(options, self.name)) + by
        return changed(options, self.name, self.values[place % len(self.values)])


@dataclass(frozen=True, slots=True)
class Typed(OptionField):
    """A text that a function reads, with ValueError where it means nothing."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    #: Values that steps go through, after the last the first again.
    rounds: Sequence[Any] = ()

    def text(self, options: SampleOptions) -> str:
        return self.write(getattr(options, self.name))

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        try:
            value = self.read(text)
        except ValueError as error:
            raise OptionError(f"{self.label} {text}: {error}") from error
        return checked(changed(options, self.name, value))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        if len(self.rounds) < 2:
            return None
        given = getattr(options, self.name)
        place = self.rounds.index(given) if given in self.rounds else 0
        return changed(options, self.name, self.rounds[(place + by) % len(self.rounds)])


@dataclass(frozen=True, slots=True)
class Number(OptionField):
    """A number, or for some options none."""

    #: The values to step along; none for whole numbers, which go up and down by one.
    ladder: tuple[float, ...] = ()
    #: What it is where it is not given; None where the options' own default says it.
    default: float | None = None
    #: Whether "none" is a value too, after the last step.
    may_be_none: bool = False
    of_some_methods: bool = False

    def _value(self, options: SampleOptions) -> float | None:
        given = getattr(options, self.name)
        if given is None:
            return self.default
        return None if given == _NONE else float(given)

    def _put(self, options: SampleOptions, value: float | None) -> SampleOptions:
        """Return the options with this number; the default is not given, so that commands stay short."""
        if self.default is not None and value == self.default:
            return changed(options, self.name, None)
        if self.may_be_none:
            return changed(options, self.name, _NONE if value is None else f"{value!r}")
        return changed(options, self.name, value)

    def text(self, options: SampleOptions) -> str:
        value = self._value(options)
        if value is None:
            return _NONE
        if not self.ladder:
            return f"{int(value)}"
        short = f"{value:.12g}"
        return short if float(short) == value else repr(value)

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        word = text.strip()
        if self.may_be_none and word == _NONE:
            return checked(self._put(options, None))
        try:
            value = float(word) if self.ladder else int(word)
        except ValueError as error:
            kind = "number" if self.ladder else "whole number"
            remedy = f"give one, as {self.text(SampleOptions())}" + (", or none" if self.may_be_none else "")
            raise OptionError(f"{self.label}: {word!r} is no {kind}", remedy=remedy) from error
        return checked(self._put(options, value))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        value = self._value(options)
        if not self.ladder:
            try:
                return checked(self._put(options, int(value or 0) + by))
            except OptionError:
                return None
        place = float("inf") if value is None else value
        beyond = [step for step in self.ladder if (step - place) * by > 0]
        if beyond:
            return self._put(options, beyond[0] if by > 0 else beyond[-1])
        return self._put(options, None) if self.may_be_none and by > 0 and value is not None else None

    def unused(self, options: SampleOptions) -> str:
        if not self.of_some_methods or self.name in method_named(options.method).target_fields:
            return ""
        is_declared = self.name in DECLARED and draws_at_random(options.method, options.set)
        return "" if is_declared else NOT_USED


class Settings(Typed):
    """Options of single methods, METHOD.NAME=VALUE, blanks between, quoted as in a shell."""

    def unused(self, options: SampleOptions) -> str:
        unused = unused_settings([options.method], options.set)
        if len(unused) == len(options.set):
            return NOT_USED if unused else ""
        return f"{len(unused)} {NOT_USED}" if unused else ""


_DEFAULT = Target()
_GROUP_FRACTIONS = tuple(sorted({*_FRACTIONS, _DEFAULT.group_epsilon or 0.25}))

OPTION_FIELDS: tuple[OptionField, ...] = (
    Choice("method", method_names(), method_names()),
    Number("epsilon", _FRACTIONS),
    Number("confidence", _CONFIDENCES),
    Number("group_epsilon", _GROUP_FRACTIONS, _DEFAULT.group_epsilon, may_be_none=True, of_some_methods=True),
    Number("min_samples", default=_DEFAULT.min_samples, of_some_methods=True),
    Number("noise_floor", _SPREADS, _DEFAULT.noise_floor, of_some_methods=True),
    Number("kernel_spread", _SPREADS, _DEFAULT.kernel_spread, of_some_methods=True),
    Choice("no_pool", (False, True), ("no", "yes")),
    Choice("group_by", tuple(GroupBy), tuple(GroupBy)),
    Number("seed"),
    Settings("set", lambda text: tuple(shlex.split(text)), shlex.join),
)


# The form.


@dataclass
class OptionsChanged(Message):
    """The user wants these options; not `at_once` where they were stepped to, and more steps may follow."""

    options: SampleOptions
    at_once: bool


@dataclass
class FieldReached(Message):
    """The cursor is at this option, counted from 0."""

    place: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value that was asked for, but that the plan does not have (yet)."""

    field: OptionField
    text: str
    #: With the value; None where the text means none.
    options: SampleOptions | None
    #: Why it was not taken; "" while that is not known.
    problem: str = ""
    #: Whether a key was pressed since that was said.
    is_read: bool = False


class OptionInput(PathInput):
    """The field in which a value is typed: every letter and digit is text, and tab completes paths alone."""

    takes_several = True
    BINDINGS = [  # noqa: RUF012
        Binding("enter", "submit", "Take it", key_display="enter"),
        Binding("escape", "leave", "Leave it", key_display="esc"),
    ]

    def __init__(self, value: str, form: OptionForm) -> None:
        super().__init__(value, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self.completes = form.field.is_path
        self._form = form

    def action_leave(self) -> None:
        self._form.stop_typing(self)

    def on_blur(self) -> None:
        self._form.stop_typing(self)


class OptionRow(Widget):
    """One option: its name and its value, or the field in which that is typed."""

    COMPONENT_CLASSES = {"option-row--cursor", "option-row--unused"}  # noqa: RUF012

    def __init__(self, field: OptionField) -> None:
        super().__init__()
        self.field = field
        self._shown = ("", False, "", False)

    def show(self, text: str, *, is_current: bool, unused: str, is_refused: bool) -> None:
        """Show a value, and which part of it has no effect."""
        shown = text, is_current, unused, is_refused
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - it has one
        width, style = self.size.width, self.rich_style
        text, is_current, unused, is_refused = self._shown
        room = max(width - _LABEL, 0)
        if is_current and not self.field.is_typed and len(text) + 4 <= room:
            text = f"< {text} >"
        if is_refused:
            text += " ?"
        if unused:
            # Shown even if the value is too long for the row.
            unused = f" ({unused})"
            text = fitted(text, max(room - len(unused), 0)) + unused
            style += self.get_component_rich_style("option-row--unused", partial=True)
        if is_current:
            style += self.get_component_rich_style("option-row--cursor", partial=True)
        mark = ">" if is_current else "!" if is_refused else " "
        row = f"{mark} {self.field.label}".ljust(_LABEL) + fitted(text, room)
        return Strip([Segment(row.ljust(width), style)]).adjust_cell_length(width, Style())


class OptionForm(VerticalScroll, can_focus=True):
    """The options of a plan, a row each, moved through with the cursor, changed in place."""

    BINDINGS = bindings(FORM)

    app: SessionApp

    def __init__(self, options: SampleOptions, fields: tuple[OptionField, ...] = OPTION_FIELDS) -> None:
        super().__init__()
        self.fields = fields
        self._options = options
        self._place = 0
        self.attempt: Attempt | None = None

    def compose(self) -> ComposeResult:
        for field in self.fields:
            yield OptionRow(field)
        yield Static(id="option-problem", markup=False)

    def on_mount(self) -> None:
        self._draw()

    @property
    def field(self) -> OptionField:
        """The option at the cursor."""
        return self.fields[self._place]

    @property
    def is_refused(self) -> bool:
        """Whether the value that was asked for last is shown with what is wrong with it."""
        return self.attempt is not None and bool(self.attempt.problem)

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
                self._refuse(session.problem)
        self._draw()

    def forget(self) -> None:
        """Show what the plan has, whatever was asked for."""
        self.attempt = None
        self._draw()

    def _refuse(self, problem: str) -> None:
        """Say at its field, until the next key, why the last value was not taken."""
        if self.attempt is not None and self.attempt.problem != problem:
            self.attempt = replace(self.attempt, problem=problem, is_read=False)
            self.app.until_next_key(self, self._take_as_read)

    def _take_as_read(self) -> None:
        # The value stays, so that one can go on from it.
        if self.attempt is not None and self.is_refused:
            self.attempt = replace(self.attempt, is_read=True)
            self._draw_problem()

    def _draw(self) -> None:
        for place, row in enumerate(self.query(OptionRow)):
            tried = self.attempt if self.attempt is not None and self.attempt.field is row.field else None
            text = row.field.text(self._options) or "-" if tried is None else tried.text
            row.show(
                printable(text),
                is_current=place == self._place,
                unused=row.field.unused(self._options),
                is_refused=tried is not None and bool(tried.problem),
            )
        self._draw_problem()

    def _draw_problem(self) -> None:
        """Say what is wrong in few rows, so that the options stay visible; without the remedy if too long."""
        line, attempt = self.query_one("#option-problem", Static), self.attempt
        line.display = attempt is not None and bool(attempt.problem) and not attempt.is_read
        if attempt is None or not line.display:
            return
        problem, width = printable(attempt.problem), max(self.size.width - 2, 10)
        # Of a typed text, the remedy says what to type.
        few = _TYPED_ROWS if attempt.options is None else _PROBLEM_ROWS
        most = max(self.size.height - len(self.fields), few)
        rows = textwrap.wrap(problem, width)
        if len(rows) > most:
            rows = textwrap.wrap(problem.partition("; ")[0], width, max_lines=most, placeholder="...")
        line.update("\n".join(f"  {row}" for row in rows))
        self.move_child(line, after=self.query(OptionRow)[self.fields.index(attempt.field)])
        self.call_after_refresh(line.scroll_visible, animate=False)

    def on_resize(self, _: events.Resize) -> None:
        self._draw_problem()

    # What is asked for.

    def _base(self) -> SampleOptions:
        """Return the options that a step starts from: those tried last, unless refused at another field."""
        attempt = self.attempt
        if (
            attempt is None
            or attempt.options is None
            or (attempt.problem and attempt.field is not self.field)
        ):
            return self._options
        return attempt.options

    def _try(self, options: SampleOptions, *, at_once: bool) -> None:
        self.attempt = Attempt(self.field, self.field.text(options) or "-", options)
        self._draw()
        self.post_message(OptionsChanged(options, at_once))

    def action_move(self, rows: int) -> None:
        self._go(self._place + rows)

    def go_to(self, name: str) -> None:
        """Go to the option of this name, and take the focus."""
        self.focus()
        self._go(next(place for place, field in enumerate(self.fields) if field.name == name))

    def _go(self, place: int) -> None:
        self._place = min(max(place, 0), len(self.fields) - 1)
        if self.attempt is not None and self.is_refused and self.attempt.field is not self.field:
            self.attempt = None
        self._draw()
        self.query(OptionRow)[self._place].scroll_visible(animate=False)
        self.post_message(FieldReached(self._place))

    def on_click(self, event: events.Click) -> None:
        for place, row in enumerate(self.query(OptionRow)):
            if row is event.widget:
                self._go(place)

    def action_step(self, by: int) -> None:
        options = self.field.stepped(self._base(), by)
        if options is not None:
            self._try(options, at_once=False)

    def action_edit(self) -> None:
        attempt = self.attempt
        if not self.field.is_typed:
            self.action_step(1)
        elif attempt is not None and attempt.field is self.field and attempt.options is None:
            self._type(attempt.text)
        else:
            self._type(self.field.text(self._base()))

    def action_give_up(self) -> None:
        if not self.is_refused:
            raise SkipAction
        self.forget()

    def on_key(self, event: events.Key) -> None:
        if event.character in {"0", "."} and self.has_focus and self.field.is_typed:
            event.stop()
            self._type(str(event.character))

    def _type(self, text: str) -> None:
        field = OptionInput(text, self)
        self.query(OptionRow)[self._place].mount(field)
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
            options = self.field.taken(self._base(), event.value)
        except OptionError as error:
            self.attempt = Attempt(self.field, event.value or "-", None)
            self._refuse(error_text(error))
            self._draw()
        else:
            self._try(options, at_once=True)
