"""The filters over a view: which launches count, and what a kernel group is; a row each, applied at once."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Static

from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.profile.profile import Profile
from sampling.reduction.region import COMMUNICATION
from sampling.text import counted, listed
from tui.app.actions import FILTERS, FORM, bindings
from tui.app.option_form import NOT_USED, OptionField, OptionForm, round_and_round
from tui.app.session_app import ExplainedScreen, start
from tui.app.state import Session
from tui.app.widgets import Line, PaneTitle, Soon
from tui.app.wording import status_lines
from tui.charts import quantities
from tui.options.command_line import error_text
from tui.options.files import is_there
from tui.options.plan import SampleOptions
from tui.text.profile import left_out_words, survey_selection

_LEAST_DURATIONS_NS = tuple(digit * 10**power for power in range(3, 7) for digit in (1, 2, 5))
_MOST_NAMES = 50


def list_filters(profile: Profile, names: list[str | None]) -> tuple[tuple[OptionField, str], ...]:
    """Return the filters of a profile, each with a sentence on it, in the order in which they are shown.

    `names`: the ranges to step through: None, and more once they are read.
    """
    devices = sorted({sequence.device for sequence in profile.sequences})
    processes = sorted({sequence.process for sequence in profile.sequences})
    choices = [listed(list(map(str, numbers))) for numbers in (devices, processes)]
    ranges = "this NVTX or annotation range, or of those that contain the text; + and - go through names."
    patterns = "a regular expression; several with blanks between."
    return (
        (
            OptionField("group_by"),
            "What launches of a kernel group share; launch: full name, grid and block.",
        ),
        (OptionField("pool_devices"), "Whether a kernel group spans all processes and devices."),
        (OptionField("each_rank"), "Whether ranks are apart: in tables, in plans if they launch the same."),
        (_numbers("device", devices), f"Only these devices, as 0,1. Here: {choices[0]}."),
        (_numbers("process", processes), f"Only these processes, as 7,8. Here: {choices[1]}."),
        (OptionField("include", _patterns, _as_words), f"Only kernels whose full name matches {patterns}"),
        (
            OptionField("exclude", _patterns, _as_words, _with_communication),
            f"Not the kernels that match. + adds {COMMUNICATION} (collectives); - takes it out.",
        ),
        (
            _words("launches"),
            f"Only launch ids A up to, not with, B, as A:B, A: or :B. Here: 0 to {profile.launches - 1:,}.",
        ),
        (
            _words("time"),
            "Only launches that start A up to, not with, B ns after the first, as A:B, A: or :B.",
        ),
        (
            _words("range", names),
            "This profile has no named ranges." if profile.ranges is None else f"Only launches of {ranges}",
        ),
        (
            OptionField("min_duration", _nanoseconds, lambda value: f"{value or ''}", _next_least),
            "Only launches that last so many nanoseconds or more.",
        ),
        (_metric_files(), _METRICS),
    )


_METRICS = "Files with metrics of the launches, for methods that look at them; several with blanks between."


def _metric_files() -> OptionField:
    """Return the field for files with metrics; methods that draw at random look at durations alone."""

    def say_unused(options: SampleOptions) -> str:
        request = options.request
        return NOT_USED if request.features and method_named(request.method).draws_at_random else ""

    return OptionField("features", _files, shlex.join, unused=say_unused, is_path=True)


def _numbers(name: str, there: list[int]) -> OptionField:
    """Return a field for numbers, commas between; steps go through each of those that are there, and all."""

    def read(text: str) -> tuple[str, ...]:
        words = text.replace(",", " ").split()
        return (",".join(words),) if words else ()

    choices = [(str(number),) for number in there]
    return OptionField(
        name,
        read,
        lambda numbers: ",".join(map(str, numbers)),
        round_and_round(((), *choices) if len(choices) > 1 else ()),
    )


def _words(name: str, names: Sequence[str | None] = ()) -> OptionField:
    """Return a field for a text as it is typed."""
    return OptionField(
        name, lambda text: text.strip() or None, lambda value: value or "", round_and_round(names)
    )


def _patterns(text: str) -> tuple[str, ...]:
    """Split at blanks; backslashes are the expressions' own."""
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.escape, words.commenters = True, "", ""
    try:
        return tuple(words)
    except ValueError as error:
        raise ValueError('has a quotation mark without a second one; write it as "\'"') from error


def _as_words(patterns: tuple[str, ...]) -> str:
    """Return all of them, in quotes where they have blanks or quotes themselves."""
    return " ".join(
        shlex.quote(pattern)
        if not pattern or any(mark.isspace() or mark in "'\"" for mark in pattern)
        else pattern
        for pattern in patterns
    )


def _with_communication(patterns: tuple[str, ...], by: int) -> tuple[str, ...]:
    """Return the patterns with that of collectives, or without it."""
    rest = tuple(pattern for pattern in patterns if pattern != COMMUNICATION)
    if by < 0:
        return rest
    return patterns if COMMUNICATION in patterns else (*patterns, COMMUNICATION)


def _nanoseconds(text: str) -> int | None:
    try:
        return int(text) if text.strip() else None
    except ValueError as error:
        raise ValueError("is no whole number; give nanoseconds, as 5000") from error


def _next_least(value: int | None, by: int) -> int | None:
    """Return the next round number of nanoseconds; None is the least."""
    steps = [step for step in (0, *_LEAST_DURATIONS_NS) if (step - (value or 0)) * by > 0]
    return (steps[0 if by > 0 else -1] if steps else value) or None


def _files(text: str) -> tuple[str, ...]:
    """Split as a shell does; each file must be there, as methods that look at none would not miss it."""
    paths = tuple(shlex.split(text))
    for path in paths:
        # One of several workloads may be named before its file.
        if not (is_there(Path(path)) or is_there(Path(path.partition("=")[2] or path))):
            raise ValueError("is no file that is there")
    return paths


def kept_lines(session: Session, draft: Draft) -> list[str]:
    """Return what the filters of the draft keep, or what is being done; the longest form first."""
    if session.doing is not None:
        return [f"Applying: {session.doing}"]
    part = survey_selection(draft)
    launches = counted(draft.profile.launches, "launch", "launches")
    groups = counted(len(draft.look.counts.groups), "kernel group", "kernel groups")
    if part.launches == draft.profile.launches:
        return [f"Kept: all of {launches}, in {groups}", f"Kept: all of {launches}"]
    # As a share where the time of the whole profile is known.
    time = quantities.kernel_time(part.total_duration_ns)
    if session.whole_ns:
        time = f"{quantities.share(part.total_duration_ns / session.whole_ns)} of the time"
    sentence = f"Kept: {quantities.count(part.launches)} of {launches}, {time}"
    return [f"{sentence}, in {groups}{left_out_words(part)}", f"{sentence}, in {groups}", sentence]


class FiltersScreen(ExplainedScreen):
    """Which launches count and what a kernel group is; every change is applied at once."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012
    NAME = "Filters"
    SCOPES = (FORM, FILTERS)
    BINDINGS = bindings(FILTERS)
    AUTO_FOCUS = "OptionForm"
    ABOUT: ClassVar[str] = (
        "Which launches count, and what a kernel group is, in all views. A change is applied at once; the "
        "last rows say what is kept and what its plan comes to."
    )

    def __init__(self, profile: Profile, session: Session) -> None:
        super().__init__()
        self._profile, self._options = profile, session.options
        #: Of the profile's ranges, after None; no more until they are read.
        self.names: list[str | None] = [None]
        self._filters = list_filters(profile, self.names)
        self._soon = Soon(self, self._plan)
        self._asked: SampleOptions | None = None

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        fields = [field for field, _ in self._filters]
        yield OptionForm(self._options, self._soon.ask, self._explain, fields)
        yield Static(id="filter-help", markup=False)
        yield Line(id="kept")
        yield Line(id="plan")

    def on_mount(self) -> None:
        self.query_one(PaneTitle).show("Filters", "enter edit, + - step, u as given, ? help, esc back")
        self.watch(self.app, "session", self._follow)
        if self._profile.ranges is not None:
            start(self, self._read_names, self.names.extend, failed=self._say_unread, group="ranges")

    def _explain(self, field: OptionField) -> None:
        words = next(words for candidate, words in self._filters if candidate is field)
        self.query_one("#filter-help", Static).update(words)

    def _follow(self, session: Session) -> None:
        """Show the filters of the session, and what they keep."""
        if session.draft is not None:
            self.query_one(OptionForm).follow(session, self._asked)
            self.query_one("#kept", Line).show(kept_lines(session, session.draft))
            self.query_one("#plan", Line).show(status_lines(session, session.draft))

    def _read_names(self, _: Progress) -> Iterator[Sequence[str]]:
        yield self._profile.range_names(_MOST_NAMES)

    def _say_unread(self, error: Exception) -> None:
        self.app.say(f"names of ranges are not read: {error_text(error)}", failed=True)

    def _plan(self, options: SampleOptions) -> None:
        self._asked = options
        self.app.plan(options)

    def action_as_given(self) -> None:
        original, options = self.app.opened.options, self.app.session.options
        names = [field.name for field, _ in self._filters]
        restored = options.with_request(**{name: getattr(original.request, name) for name in names})
        self.query_one(OptionForm).forget()
        if restored == options:
            self.app.say("the filters are as they were given")
        else:
            self._soon.ask(restored, at_once=True)

    def action_leave(self) -> None:
        """Go back to the view; a step that was put off is taken."""
        self._soon.end()
        self.dismiss()
