"""The filters over a view: which launches count, and what a kernel group is; a row each, applied at once."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from sampling.errors import OptionError, SamplingError
from sampling.methods.registry import method_named
from sampling.plan.study import Study
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.region import COMMUNICATION
from sampling.text import counted
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.soon import Soon
from tui.app.frame.wording import MOST_LAUNCHES_UNASKED, status_lines
from tui.app.plan.options import (
    NOT_USED,
    Choice,
    FieldReached,
    OptionField,
    OptionForm,
    OptionsChanged,
    changed,
)
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.charts import quantities
from tui.engine.studies import region_of, workload_features
from tui.options.command_line import error_text, with_flags
from tui.options.plan import SampleOptions
from tui.text.selection import left_out_words, part_of_study

_LEAST_DURATIONS_NS = tuple(digit * 10**power for power in range(3, 7) for digit in (1, 2, 5))
_NUMBERS_SAID = 6


class Filter(NamedTuple):
    """A row of the filters: its field, and a sentence on it."""

    field: OptionField
    help: str


def filters_of(profile: Profile, names: list[str]) -> tuple[Filter, ...]:
    """Return the filters of a profile, in the order in which they are shown.

    Parameters
    ----------
    names : the ranges to step through, once they are read.
    """
    devices = tuple(sorted({sequence.device for sequence in profile.sequences}))
    processes = tuple(sorted({sequence.process for sequence in profile.sequences}))
    ranges = "this NVTX or annotation range, or of those that contain the text; + and - go through names."
    return (
        Filter(
            Choice("group_by", tuple(GroupBy), tuple(GroupBy)),
            "What launches of a kernel group share; launch: full name, grid and block.",
        ),
        Filter(
            Choice("pool_devices", (False, True), ("no", "yes")),
            "Whether a kernel group spans processes and devices.",
        ),
        Filter(Numbers("device", devices), f"Only these devices, as 0,1. Here: {_some(devices)}."),
        Filter(Numbers("process", processes), f"Only these processes, as 7,8. Here: {_some(processes)}."),
        Filter(
            Patterns("include"),
            "Only kernels whose full name matches a regular expression; several with blanks between.",
        ),
        Filter(
            Patterns("exclude", COMMUNICATION),
            f"Not the kernels that match. + adds {COMMUNICATION} (collectives); - takes it out.",
        ),
        Filter(
            Words("launches"),
            f"Only launch ids A up to, not with, B, as A:B, A: or :B. Here: 0 to {profile.launches - 1:,}.",
        ),
        Filter(
            Words("time"),
            "Only launches that start A up to, not with, B ns after the first, as A:B, A: or :B.",
        ),
        Filter(
            Words("range", names),
            "This profile has no named ranges." if profile.ranges is None else f"Only launches of {ranges}",
        ),
        Filter(LeastDuration("min_duration"), "Only launches that last so many nanoseconds or more."),
        Filter(
            Features("features"),
            "Files with metrics of the launches, for methods that look at them; several with blanks between.",
        ),
    )


def _some(numbers: tuple[int, ...]) -> str:
    """Return the first of the numbers, and how many more there are."""
    said = ", ".join(map(str, numbers[:_NUMBERS_SAID]))
    return f"{said} and {len(numbers) - _NUMBERS_SAID} more" if len(numbers) > _NUMBERS_SAID else said


def checked(options: SampleOptions) -> SampleOptions:
    """Return the options if their filters mean something, as far as that can be said without the profile.

    Raises
    ------
    OptionError : one does not; the engine's message, with the filter named as in its row.
    """
    try:
        region_of(options)
    except OptionError as error:
        raise OptionError(with_flags(error.message).removeprefix("--"), remedy=error.remedy) from error
    return options


@dataclass(frozen=True, slots=True)
class Numbers(OptionField):
    """Numbers of devices or processes, commas between.

    Attributes
    ----------
    there : those of the profile; steps go through each by itself, and all.
    """

    there: tuple[int, ...]

    def text(self, options: SampleOptions) -> str:
        """All of them; "" where it is not set."""
        return ",".join(getattr(options, self.name))

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Split at commas and blanks."""
        words = text.replace(",", " ").split()
        return checked(changed(options, self.name, (",".join(words),) if words else ()))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The next of those that are there; after the last come all."""
        if len(self.there) < 2:
            return None
        values = [(), *((str(number),) for number in self.there)]
        given = getattr(options, self.name)
        place = values.index(given) if given in values else 0
        return changed(options, self.name, values[(place + by) % len(values)])


@dataclass(frozen=True, slots=True)
class Patterns(OptionField):
    """Regular expressions, blanks between.

    Attributes
    ----------
    offered : one that steps add and take out; "" for none.
    """

    offered: str = ""

    def text(self, options: SampleOptions) -> str:
        """All of them, in quotes where they have blanks or quotes themselves."""
        return " ".join(_as_word(pattern) for pattern in getattr(options, self.name))

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Split at blanks; backslashes are the expressions' own."""
        words = shlex.shlex(text, posix=True)
        words.whitespace_split, words.escape, words.commenters = True, "", ""
        try:
            patterns = tuple(words)
        except ValueError as error:
            raise OptionError(
                f"{self.label} {text}: a quotation mark has no second one", remedy='write it as "\'"'
            ) from error
        return checked(changed(options, self.name, patterns))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """Add what is offered, or take it out."""
        given = getattr(options, self.name)
        if not self.offered or (self.offered in given) is (by > 0):
            return None
        others = tuple(pattern for pattern in given if pattern != self.offered)
        return changed(options, self.name, (*given, self.offered) if by > 0 else others)


def _as_word(pattern: str) -> str:
    is_plain = pattern and not any(mark.isspace() or mark in "'\"" for mark in pattern)
    return pattern if is_plain else shlex.quote(pattern)


@dataclass(frozen=True, slots=True)
class Words(OptionField):
    """A text as it is typed.

    Attributes
    ----------
    names : what to step through.
    """

    names: list[str] = field(default_factory=list)

    def text(self, options: SampleOptions) -> str:
        """The text; "" where it is not set."""
        return getattr(options, self.name) or ""

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Take all of it but blanks at its ends."""
        return checked(changed(options, self.name, text.strip() or None))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The next name; after the last comes none."""
        if not self.names:
            return None
        values = [None, *self.names]
        given = getattr(options, self.name)
        place = values.index(given) if given in values else 0
        return changed(options, self.name, values[(place + by) % len(values)])


@dataclass(frozen=True, slots=True)
class LeastDuration(OptionField):
    """Nanoseconds, or none."""

    def text(self, options: SampleOptions) -> str:
        """The number; "" where it is not set."""
        value = getattr(options, self.name)
        return "" if value is None else f"{value}"

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Read a whole number."""
        word = text.strip()
        try:
            value = int(word) if word else None
        except ValueError as error:
            raise OptionError(
                f"{self.label}: {word!r} is no whole number", remedy="give nanoseconds, as 5000"
            ) from error
        return checked(changed(options, self.name, value))

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The next round number; below the first comes none."""
        value = getattr(options, self.name) or 0
        beyond = [step for step in (0, *_LEAST_DURATIONS_NS) if (step - value) * by > 0]
        if not beyond:
            return None
        return changed(options, self.name, (beyond[0] if by > 0 else beyond[-1]) or None)


@dataclass(frozen=True, slots=True)
class Features(OptionField):
    """Files with metrics, blanks between."""

    is_path = True

    def text(self, options: SampleOptions) -> str:
        """As a shell would take them."""
        return shlex.join(options.features)

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Split as a shell does; each must be there, as methods that look at none would not miss it."""
        try:
            words: tuple[Any, ...] = tuple(shlex.split(text))
        except ValueError as error:
            raise OptionError(f"{self.label} {text}: {error}") from error
        for path in workload_features(words, options.profiles):
            if not Path(path).exists():
                raise OptionError(f"{self.label} {path}: there is no such file")
        return changed(options, self.name, words)

    def stepped(self, options: SampleOptions, by: int) -> None:  # noqa: ARG002 - there is nothing to step
        """None."""
        return

    def unused(self, options: SampleOptions) -> str:
        """Methods that draw at random look at durations alone."""
        return NOT_USED if options.features and method_named(options.method).draws_at_random else ""


# The screen.


def kept_lines(session: Session, study: Study) -> list[str]:
    """Return what the filters of the study keep, or what is being done; the longest form first."""
    if session.doing is not None:
        return [f"Applying: {session.doing}"]
    part = part_of_study(study)
    launches = counted(study.profile.launches, "launch", "launches")
    groups = counted(len(study.counts.groups), "kernel group", "kernel groups")
    if part.launches == study.profile.launches:
        return [f"Kept: all of {launches}, in {groups}", f"Kept: all of {launches}"]
    kept = f"Kept: {quantities.count(part.launches)} of {launches}"
    # As a share where the time of the whole profile is known.
    time = f"{quantities.duration(part.total_duration_ns)} of kernel time"
    if session.whole_ns:
        time = f"{quantities.share(part.total_duration_ns / session.whole_ns)} of the time"
    timed = f"{kept}, {time}"
    return [f"{timed}, in {groups}{left_out_words(part)}", f"{timed}, in {groups}", timed, kept]


_MOST_NAMES = 50


def _names_of_ranges(profile: Profile) -> tuple[str, ...]:
    """Return some names of ranges: of those with launches, where to find these takes a moment only."""
    runs = profile.range_runs() if profile.launches <= MOST_LAUNCHES_UNASKED else None
    return profile.range_names(_MOST_NAMES) if runs is None else runs.some_names(_MOST_NAMES)


class FiltersScreen(Screen[None]):
    """Which launches count and what a kernel group is; every change is applied at once.

    Attributes
    ----------
    names : of the profile's ranges; none until they are read.
    """

    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012
    BINDINGS = [("escape,q,F", "leave", "Back"), ("u", "as_given", "As given")]  # noqa: RUF012
    AUTO_FOCUS = "OptionForm"

    app: SessionApp

    def __init__(self, profile: Profile, session: Session) -> None:
        super().__init__()
        self._profile, self._session = profile, session
        self.names: list[str] = []
        self._filters = filters_of(profile, self.names)
        self._soon = Soon(self, self._plan)
        self._asked: SampleOptions | None = None

    def compose(self) -> ComposeResult:
        """The form, a sentence on the row at the cursor, and what is kept."""
        options = self._session.options
        yield PaneTitle()
        fields = tuple(each.field for each in self._filters)
        yield OptionForm(options, fields)
        yield Static(id="filter-help", markup=False)
        yield Line(id="kept")
        yield Line(id="plan")

    def on_mount(self) -> None:
        """Follow the session from now on."""
        self.query_one(PaneTitle).show("Filters", "enter edit, + - step, u as given, esc back")
        self._explain(0)
        self.watch(self.app, "session", self._follow)
        if self._profile.ranges is not None:
            self._read_names()

    def _follow(self, session: Session) -> None:
        """Show the filters of the session, and what they keep."""
        if session.study is None:
            return
        self.query_one(OptionForm).follow(session, self._asked)
        self.query_one("#kept", Line).show(kept_lines(session, session.study))
        self.query_one("#plan", Line).show(status_lines(session, session.study))

    def _explain(self, place: int) -> None:
        self.query_one("#filter-help", Static).update(self._filters[place].help)

    @on(FieldReached)
    def _explain_field(self, event: FieldReached) -> None:
        event.stop()
        self._explain(event.place)

    @work(thread=True, group="ranges")
    def _read_names(self) -> None:
        """Read the names of ranges to step through; the recording may lie on a slow disk."""
        try:
            names = _names_of_ranges(self._profile)
        except (SamplingError, OSError) as error:
            words = f"names of ranges are not read: {error_text(error)}"
            self.call_later(partial(self.app.say, words, failed=True))
        else:
            self.call_later(self.names.extend, names)

    @on(OptionsChanged)
    def _plan_soon(self, event: OptionsChanged) -> None:
        event.stop()
        self._soon.ask(event.options, at_once=event.at_once)

    def _plan(self, options: SampleOptions) -> None:
        self._asked = options
        self.app.plan(options)

    def action_as_given(self) -> None:
        """Filter as the command line said."""
        given, options = self.app.opened.options, self.app.session.options
        names = [each.field.name for each in self._filters]
        wanted = replace(options, **{name: getattr(given, name) for name in names})
        self.query_one(OptionForm).forget()
        if wanted == options:
            self.app.say("the filters are as they were given")
        else:
            self._soon.ask(wanted, at_once=True)

    def action_leave(self) -> None:
        """Go back to the view; a step that was put off is taken."""
        self._soon.end()
        self.dismiss()
