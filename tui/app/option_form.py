"""The form of options: each option's text, what a typed text means, its next value; its rows and fields."""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
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
from sampling.methods.method import DECLARED
from sampling.methods.registry import check_settings, draws_at_random, method_named, method_names
from sampling.parallel import Stream, generator
from sampling.reduction import GroupBy
from sampling.strata.target import Target
from tui.app.actions import FORM, bindings
from tui.app.prompt import PathInput
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
_PROBLEM_ROWS = 4


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
class OptionField:
    """One option of the form, named as the field of `SampleOptions`."""

    name: str
    #: From a text to a value, with ValueError where it means none; and back.
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    #: From a value to the next, or with -1 to the one before; the same value where there is none.
    step: Callable[[Any, int], Any] = lambda value, _: value
    #: Which part of the value has no effect on the plan, in words; "" if all of it has.
    unused: Callable[[SampleOptions], str] = lambda _: ""
    #: Whether its value is typed, not chosen; whether it is paths, quoted as in a shell.
    is_typed: bool = True
    is_path: bool = False

    @property
    def label(self) -> str:
        """The option as the command line calls it, without dashes."""
        return str(_OPTIONS[self.name].get("flags", ("",))[0]).removeprefix("--")

    @property
    def help(self) -> str:
        """What it is, in the words of the command line's own help."""
        return str(_OPTIONS[self.name].get("help", ""))

    def text(self, options: SampleOptions) -> str:
        """The value as it is typed and shown."""
        return self.write(getattr(options, self.name))

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """The options with the value that a text means; OptionError where it means none that is accepted."""
        try:
            value = self.read(text)
        except ValueError as error:
            raise OptionError(f"{self.label}: {text.strip()!r} {error}") from error
        return checked(changed(options, self.name, value))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The options with the next value, or with `by` = -1 the one before; None where there is none."""
        value = getattr(options, self.name)
        following = self.step(value, by)
        try:
            return None if following == value else checked(changed(options, self.name, following))
        except OptionError:
            return None


def round_and_round(values: Sequence[Any]) -> Callable[[Any, int], Any]:
    """Return the steps through these values, after the last the first again."""

    def step(value: Any, by: int) -> Any:
        place = values.index(value) if value in values else 0
        return values[(place + by) % len(values)] if values else value

    return step


def beyond(ladder: Sequence[float], value: float, by: int) -> float | None:
    """Return the next step of a ladder above a value, or with `by` = -1 below it; None if there is none."""
    steps = [step for step in ladder if (step - value) * by > 0]
    return steps[0 if by > 0 else -1] if steps else None


def choice(name: str, values: Sequence[Any], texts: Sequence[str]) -> OptionField:
    """Return the field of an option that is one of a few values, each with its text."""

    def read(text: str) -> Any:
        if text not in texts:
            raise ValueError(f"is not one of {', '.join(texts)}")
        return values[texts.index(text)]

    write = dict(zip(values, texts, strict=True)).__getitem__
    return OptionField(name, read, write, round_and_round(values), is_typed=False)


@dataclass(frozen=True, slots=True)
class Number:
    """An option that is a number, or where it may be none, none above all numbers.

    It steps along a ladder; without one it is a whole number. A default is not given, so that commands stay
    short.
    """

    name: str
    ladder: tuple[float, ...] = ()
    default: float | None = None
    may_be_none: bool = False

    @property
    def field(self) -> OptionField:
        """Its field of the form."""
        return OptionField(self.name, self._read, self._write, self._step, self._unused)

    def _value(self, given: Any) -> Any:
        if given is None:
            return self.default
        if self.may_be_none:
            return math.inf if given == _NONE else float(given)
        return given

    def _given(self, value: float) -> Any:
        if value == self.default:
            return None
        if self.may_be_none:
            return _NONE if value == math.inf else repr(value)
        return value

    def _read(self, text: str) -> Any:
        if self.may_be_none and text.strip() == _NONE:
            return _NONE
        try:
            return self._given(float(text) if self.ladder else int(text))
        except ValueError as error:
            kind, also = "" if self.ladder else "whole ", ", or none" if self.may_be_none else ""
            example = self._write(getattr(SampleOptions(), self.name))
            raise ValueError(f"is no {kind}number; give one, as {example}{also}") from error

    def _write(self, given: Any) -> str:
        value = self._value(given)
        if value == math.inf:
            return _NONE
        short = f"{value:.12g}"
        return short if self.ladder and float(short) == value else repr(value)

    def _step(self, given: Any, by: int) -> Any:
        value = self._value(given)
        if not self.ladder:
            return self._given(value + by)
        steps = (*self.ladder, math.inf) if self.may_be_none else self.ladder
        following = beyond(steps, value, by)
        return given if following is None else self._given(following)

    def _unused(self, options: SampleOptions) -> str:
        if self.default is None or self.name in method_named(options.method).target_fields:
            return ""
        return "" if self.name in DECLARED and draws_at_random(options.method, options.set) else NOT_USED


def _unused_settings(options: SampleOptions) -> str:
    unused = len(unused_settings([options.method], options.set))
    if unused == len(options.set):
        return NOT_USED if unused else ""
    return f"{unused} {NOT_USED}" if unused else ""


_DEFAULT = Target()
_GROUP_FRACTIONS = tuple(sorted({*_FRACTIONS, _DEFAULT.group_epsilon or 0.25}))

OPTION_FIELDS: tuple[OptionField, ...] = (
    choice("method", method_names(), method_names()),
    Number("epsilon", _FRACTIONS).field,
    Number("confidence", _CONFIDENCES).field,
    Number("group_epsilon", _GROUP_FRACTIONS, _DEFAULT.group_epsilon, may_be_none=True).field,
    Number("min_samples", default=_DEFAULT.min_samples).field,
    Number("noise_floor", _SPREADS, _DEFAULT.noise_floor).field,
    Number("kernel_spread", _SPREADS, _DEFAULT.kernel_spread).field,
    choice("no_pool", (False, True), ("no", "yes")),
    choice("group_by", tuple(GroupBy), tuple(GroupBy)),
    Number("seed").field,
    OptionField("set", lambda text: tuple(shlex.split(text)), shlex.join, unused=_unused_settings),
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
        if is_current and not self.field.is_typed and len(text) + 4 <= room:
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
        return Strip([Segment(row.ljust(width), style)]).adjust_cell_length(width, Style())


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
        most, width = max(self.size.height - len(self.fields), _PROBLEM_ROWS), max(self.size.width - 2, 10)
        lines = textwrap.wrap(printable(attempt.problem), width, max_lines=most, placeholder="...")
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
