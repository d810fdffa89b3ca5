"""View 1: the kernel groups, and how long the launches of one of them take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input, Static

from sampling.parallel import Progress
from sampling.plan.study import Study
from tui.app.actions import APP, COMPARING, GROUPS, TABLE, VIEW, bindings
from tui.app.frame.line import Line, PaneTitle, titled
from tui.app.frame.page import PaneText
from tui.app.frame.panes import Chart, Rows, Soon
from tui.app.frame.view import TableScreen
from tui.app.frame.wording import MOST_LAUNCHES_UNASKED, binding_lines, group_key
from tui.app.group_table import GroupTable
from tui.app.overrides_file import options_with_overrides
from tui.app.planning import start
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.charts import quantities
from tui.engine.looking import GroupTimeline, is_quickly_listed, ranges_in, timeline_of_group
from tui.options.choices import GroupSort
from tui.options.command_line import command_line, options_of
from tui.options.look import GroupsOptions, HistogramOptions, TimelineOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.groups import (
    GroupList,
    devices_named,
    group_blocks,
    group_histogram,
    group_label,
    group_row,
    histogram_blocks,
    list_groups,
    places_of,
)
from tui.text.timeline import RangeForest, above_chart, group_timeline, timeline_blocks, with_clusters

MOST_ROWS = 100_000
"""The most rows of the table: more would make listing, copying and writing slow."""

_SEARCH_SECONDS = 0.08
"""How long to wait for the next letter of a text to filter by."""
_RUN_SECONDS = 0.25
"""Launches are read again for every group: only where the cursor rests."""
_LEAST_GROUP_ROWS = 4
_ROWS_BESIDE_GROUPS = 3
"""The pane's title, the headings, and the field to filter by."""
# A title that is as long ends with the grid in 80 columns.
_MOST_TITLE = 50


def table_title(session: Session, study: Study, listed: GroupList) -> tuple[str, str]:
    """Return by what the groups are sorted, and how many are listed of how many."""
    sort = "CoV" if session.sort is GroupSort.COV else session.sort.value
    if session.reverse:
        sort += ", Z to A" if session.sort is GroupSort.NAME else ", smallest first"
    said, matching = [], quantities.count(listed.matching)
    if session.search:
        said.append(f'"{session.search}": {matching} of {quantities.count(len(study.counts.groups))}')
    if len(listed.groups) < listed.matching:
        said.append(f"showing {quantities.count(len(listed.groups))} of {matching}")
    return f"[1] Kernel groups by {sort}", ", ".join(said)


def devices_lines(study: Study) -> list[str]:
    """Return what the devices in labels are, the longest form first; nothing where there is one."""
    lines = devices_named(study)
    short = [f"{name}: process {process}" for (process, _), name in places_of(study).items()]
    return ["; ".join(lines), "; ".join(short)] if lines else []


class SearchInput(Input):
    """A one-row field for a part of the kernel group's key."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "screen.leave_search(True)", "All groups", key_display="esc"),
        Binding("enter,down", "screen.leave_search(False)", "To the table", key_display="enter"),
    ]


class RunPane(Vertical):
    """A kernel group's durations over the run; nothing is read while the pane is hidden."""

    app: SessionApp

    def __init__(self) -> None:
        super().__init__(PaneTitle(), Chart(id="run"), id="run-pane", classes="pane")
        self._timeline: GroupTimeline | None = None
        self._above: RangeForest | str = ""
        self._timer: Timer | None = None

    def on_show(self) -> None:
        self.follow()

    @property
    def timeline(self) -> GroupTimeline | None:
        """What is shown; None while it is not of the group in focus."""
        at, session = self._timeline, self.app.session
        return at if at is not None and (at.study, at.group) == (session.study, session.selected) else None

    @property
    def text(self) -> str:
        """What `timeline` prints of it, with the ranges above; nothing while it is read."""
        at = self.timeline
        if at is None:
            return ""
        width, height = self.chart.printed_size
        canvas, log = Canvas(width, color=False), self.app.session.log
        return canvas_text(timeline_blocks(at, canvas, height, log=log, above=self._above), canvas) + "\n"

    @property
    def chart(self) -> Chart:
        """The chart, which takes the focus."""
        return self.query_one(Chart)

    def follow(self) -> None:
        """Show the group in focus, of the plan there is."""
        session = self.app.session
        study, group = session.study, session.selected
        if not self.display or study is None:
            return
        if self._timer is not None:
            self._timer.stop()
        if self.timeline is not None or group is None:
            self._show()
        else:
            read = partial(self._read, study, group, session.options.seed)
            self._timer = self.set_timer(_RUN_SECONDS, lambda: start(self, read, self._take, group="run"))

    def _read(
        self, study: Study, group: int, seed: int, _: Progress
    ) -> Iterator[tuple[GroupTimeline, RangeForest | str]]:
        """Read a group's launches, and the ranges of the run or why they are not looked for."""
        before, above = self._timeline, self._above
        if before is None or before.study.counts is not study.counts:
            is_looked_for = is_quickly_listed(study)
            ranges = ranges_in(study.profile, study.counts.region) if is_looked_for else None
            above = above_chart(ranges, is_looked_for=is_looked_for)
        yield with_clusters(timeline_of_group(study, group, seed, before=before)), above

    def _take(self, read: tuple[GroupTimeline, RangeForest | str]) -> None:
        session, (at, above) = self.app.session, read
        # Else the cursor has gone on.
        if (at.study, at.group) == (session.study, session.selected):
            self._timeline, self._above = at, above
            self._show()

    def _show(self) -> None:
        session, at = self.app.session, self.timeline
        if at is None:
            self.query_one(PaneTitle).show("[6] Over the run")
            self.chart.say("no kernel group matches")
            return
        log = session.log
        scale = f"by {at.by}, {'log' if log else 'linear'}"
        self.query_one(PaneTitle).show(f"[6] #{at.group + 1} over the run", scale)
        self.chart.show(lambda width, height: group_timeline(at, width, height, log=log))


class GroupsScreen(TableScreen[GroupSort]):
    """The table of kernel groups over the histogram of the selected one, and its launches over the run."""

    NAME = "Groups"
    SUMMARY = "the kernel groups, and how long their launches take"
    SCOPES = (APP, TABLE, GROUPS, COMPARING, VIEW)
    BINDINGS = bindings(APP, GROUPS, COMPARING, VIEW)
    AUTO_FOCUS = "GroupTable"
    orders = tuple(GroupSort)
    ABOUT: ClassVar[str] = (
        "A kernel group is all launches of one kernel with one grid and block. CoV is the spread of their "
        "durations over the mean; strata are the clusters the plan splits a group into, each with its own "
        "symbol and colour in the histogram, a line between; drawn is how many launches the plan simulates. "
        "cum is the share of a group and of all that take longer; bars in colour are of the groups that take "
        "80 % together. durations shows the middle 98 % of a group's launches, short ones at the left. "
        "What binds is which option, relaxed one step by itself, would give more than 5 % more speedup."
    )

    def __init__(self) -> None:
        super().__init__()
        self._chart = Soon[None](self, lambda _: self._show_chart())
        self._search_timer: Timer | None = None

    def compose_panes(self) -> ComposeResult:
        field = SearchInput(placeholder="part of the kernel group's key", compact=True)
        search = Horizontal(Static("/ "), field, id="search")
        charts = Container(
            titled("chart", Static(id="group-key", markup=False), Chart(id="histogram")),
            RunPane(),
            id="group-charts",
        )
        yield Container(titled("groups", GroupTable(), search), charts, id="group-panes")
        yield Line(id="devices")
        yield Line(id="binding")

    def on_mount(self) -> None:
        self.query_one("#search").display = False
        self.query_one("#devices").display = False

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_chart)

    def on_screen_resume(self) -> None:
        # Only now: while this view is open, the cursor may be further on than the session.
        table, selected = self.query_one(GroupTable), self.session.selected
        table.select(selected)
        if self.session.search and selected is not None and selected not in table.listed.groups:
            # The filter leaves out the group that another view went to.
            self.query_one(SearchInput).value = ""

    def follow(self, shown: Session | None, session: Session) -> None:
        """Show what differs from what is shown."""
        study = session.study
        if study is None:
            return
        if shown is None or shown.study is not study:
            forms, line = devices_lines(study), self.query_one("#devices", Line)
            line.display = bool(forms)
            line.show(forms or [""])
        if study.counts.launches <= MOST_LAUNCHES_UNASKED:
            self.app.find_binding()
        self.query_one("#binding", Line).show(binding_lines(session, study))
        listed_by = attrgetter("study", "sort", "reverse", "search")
        if shown is None or listed_by(shown) != listed_by(session):
            self._show_groups(session, study)
        # What is listed may have changed what is selected.
        self.query_one(RunPane).follow()
        if shown is None:
            self._show_chart()
        elif (shown.study, shown.selected, shown.log) != (study, session.selected, session.log):
            self._chart.ask(None)

    def _show_groups(self, session: Session, study: Study) -> None:
        listed = list_groups(study, session.sort, session.search, MOST_ROWS, reverse=session.reverse)
        # The charts get the rows that the list does not need.
        rows = max(len(listed.groups), _LEAST_GROUP_ROWS)
        self.query_one("#groups-pane").styles.max_height = rows + _ROWS_BESIDE_GROUPS
        self.query_one(GroupTable).show(study, listed, session.selected, (session.sort, session.reverse))
        self.entitle("groups", *table_title(session, study, listed))
        if session.selected not in listed.groups:
            self.app.change(selected=listed.groups[0] if listed.groups else None)

    def _show_chart(self) -> None:
        """Show the chart with its title and the group's key, all three of one session."""
        session, study, selected = self.session, self.session.study, self.session.selected
        if study is None:
            return
        name, key = "no kernel group", self.query_one("#group-key", Static)
        if selected is not None:
            name = f"#{selected + 1} {group_label(study, selected, _MOST_TITLE)}"
        self.entitle("chart", f"[tab] {name}", f"[x] {'log' if session.log else 'linear'}")
        # As many rows as there are for it, broken wherever they are full.
        width, most = max(self._histogram.size.width, 1), key.styles.max_height
        whole = "" if selected is None else group_key(study, selected, int(most.value if most else 1) * width)
        key.update("\n".join(whole[at : at + width] for at in range(0, len(whole), width)))
        if selected is None:
            self._histogram.say("no kernel group matches")
        else:
            self._histogram.show(partial(group_histogram, study, selected, log=session.log))

    @on(Rows.Moved)
    def _select(self) -> None:
        # The cursor may have moved since the message was sent: use where it is now.
        highlighted = self.query_one(GroupTable).highlighted
        if highlighted not in {None, self.session.selected}:
            self.app.change(selected=highlighted)

    @on(Input.Changed, "SearchInput")
    def _search(self, event: Input.Changed) -> None:
        # Filter once for all that is typed, not at each letter.
        if self._search_timer is not None:
            self._search_timer.stop()
        self._search_timer = self.set_timer(_SEARCH_SECONDS, lambda: self.app.change(search=event.value))

    def action_leave_search(self, is_given_up: bool) -> None:
        """Go back to the table, with all groups where the text is given up."""
        if is_given_up:
            self.query_one(SearchInput).value = ""
        self.query_one("#search").display = False
        self.query_one(GroupTable).focus()

    def action_search(self) -> None:
        self.query_one("#search").display = True
        self.query_one(SearchInput).focus()

    def action_clear_search(self) -> None:
        """List all groups; where all are listed, leave the key to others."""
        if not self.session.search:
            raise SkipAction
        self.query_one(SearchInput).value = ""

    @property
    def order(self) -> tuple[GroupSort, bool]:
        return self.session.sort, self.session.reverse

    def sort_by(self, sort: GroupSort, *, reverse: bool) -> None:
        """Sort, and go to what is first."""
        study, search = self.session.study, self.session.search
        if study is not None:
            first = list_groups(study, sort, search, MOST_ROWS, reverse=reverse).groups[:1]
            self.app.change(sort=sort, reverse=reverse, selected=next(iter(first), None))

    # What is copied.

    def own_text(self) -> PaneText:
        session, study = self.session, self.session.study
        if study is None:
            return PaneText("kernelpoint", "")
        group = session.selected or 0
        if self._is_meant(self.query_one(RunPane).chart):
            return PaneText(f"kernelpoint-timeline-{group + 1}", self.query_one(RunPane).text)
        if self._is_meant(self._histogram):
            width, height = self._histogram.printed_size
            canvas = Canvas(width, color=False)
            blocks = histogram_blocks(study, group, width, height, log=session.log)
            return PaneText(f"kernelpoint-histogram-{group + 1}", canvas_text(blocks, canvas) + "\n")
        rows = [group_row(study, index) for index in self.query_one(GroupTable).listed.groups]
        canvas = Canvas(self.app.size.width, color=False)
        text = canvas_text(group_blocks(study, rows, canvas), canvas) + "\n" if rows else ""
        return PaneText("kernelpoint-groups", text)

    def command(self) -> str:
        """`timeline` or `histogram` of the selected group as large as it is drawn, or `groups` as listed."""
        session, run = self.app.planned, self.query_one(RunPane).chart
        given = options_with_overrides(session)
        for chart, command, kind in (
            (run, "timeline", TimelineOptions),
            (self._histogram, "histogram", HistogramOptions),
        ):
            if self._is_meant(chart):
                kernel, (width, height) = f"#{(session.selected or 0) + 1}", chart.printed_size
                drawn = options_of(kind, given, kernel=kernel, log=session.log, width=width, height=height)
                return command_line(command, drawn)
        listed = self.query_one(GroupTable).listed
        top = None if len(listed.groups) == listed.matching else len(listed.groups)
        sort, reverse = self.order
        options = options_of(
            GroupsOptions, given, sort=sort, reverse=reverse, filter=session.search or None, top=top
        )
        return command_line("groups", options)

    def _is_meant(self, chart: Chart) -> bool:
        """Return whether a chart of a group has the focus."""
        return self.focused is chart and self.session.selected is not None

    @property
    def _histogram(self) -> Chart:
        return self.query_one("#histogram", Chart)
