"""The filters over a view: a row each, applied as they change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from sampling.errors import SamplingError
from sampling.profile.profile import Profile
from tui.app.filters.fields import RangeNames, filters_of
from tui.app.filters.wording import kept_lines
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.soon import Soon
from tui.app.frame.wording import MOST_LAUNCHES_UNASKED, status_lines
from tui.app.plan.options import FieldReached, OptionForm, OptionsChanged
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.options.commands import SampleOptions
from tui.options.flags import error_text

_MOST_NAMES = 50


def _names_of_ranges(profile: Profile) -> tuple[str, ...]:
    """Return some names of ranges: of those with launches, where to find these takes a moment only."""
    runs = profile.range_runs() if profile.launches <= MOST_LAUNCHES_UNASKED else None
    return profile.range_names(_MOST_NAMES) if runs is None else runs.some_names(_MOST_NAMES)


@dataclass
class NamesRead(Message):
    """Names of ranges are read, or why they could not be."""

    names: tuple[str, ...]
    problem: str | None = None


class FiltersScreen(Screen[None]):
    """Which launches count and what a kernel group is; every change is applied at once.

    Attributes
    ----------
    names : of the profile's ranges, once they are read.
    """

    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012
    BINDINGS = [("escape,q,F", "leave", "Back"), ("u", "as_given", "As given")]  # noqa: RUF012
    AUTO_FOCUS = "OptionForm"

    app: SessionApp

    def __init__(self, profile: Profile, session: Session) -> None:
        super().__init__()
        self._profile, self._session = profile, session
        self.names = RangeNames()
        self._filters = filters_of(profile, self.names)
        self._soon = Soon(self, self._plan)
        self._asked: SampleOptions | None = None

    def compose(self) -> ComposeResult:
        """The form, a sentence on the row at the cursor, and what is kept."""
        options, ascii_only = self._session.options, self._session.ascii_only
        yield PaneTitle(ascii_only=ascii_only)
        fields = tuple(each.field for each in self._filters)
        yield OptionForm(options, fields, ascii_only=ascii_only)
        yield Static(id="filter-help", markup=False)
        yield Line(ascii_only=ascii_only, id="kept")
        yield Line(ascii_only=ascii_only, id="plan")

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
            found = NamesRead(_names_of_ranges(self._profile))
        except (SamplingError, OSError) as error:
            found = NamesRead((), error_text(error))
        self.post_message(found)

    @on(NamesRead)
    def _take_names(self, event: NamesRead) -> None:
        event.stop()
        self.names.found = event.names
        if event.problem is not None:
            self.app.say(f"names of ranges are not read: {event.problem}", failed=True)

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
