"""View 1: the kernel groups, and how long the launches of one of them take."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Static

from sampling.plan.study import Study
from tui.app.actions import APP, COMPARING, GROUPS, TABLE, VIEW, bindings
from tui.app.frame import wording
from tui.app.frame.by_wheel import HeadClicked
from tui.app.frame.chart import Chart
from tui.app.frame.heads import next_in, sorted_by_head
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.soon import Soon
from tui.app.frame.view import ViewScreen
from tui.app.groups.panes import (
    GroupHighlighted,
    GroupTable,
    SearchChanged,
    SearchClosed,
    SearchInput,
    Wrapped,
)
from tui.app.groups.presenter import (
    chart_command,
    chart_text,
    chart_title,
    devices_lines,
    draw_group,
    key_within,
    listed_groups,
    table_command,
    table_text,
    table_title,
)
from tui.app.groups.run_pane import RunPane
from tui.app.state import Session
from tui.options.choices import GroupSort

_DELAY_SECONDS = 0.08
"""How long to wait for the next letter of a text to filter by."""
_LEAST_GROUP_ROWS = 4
_ROWS_BESIDE_GROUPS = 3
"""The pane's title, the headings, and the field to filter by."""


class GroupsScreen(ViewScreen):
    """The table of kernel groups over the histogram of the selected one, and its launches over the run."""

    NAME = "Groups"
    SUMMARY = "the kernel groups, and how long their launches take"
    SCOPES = (APP, TABLE, GROUPS, COMPARING, VIEW)
    BINDINGS = bindings(APP, GROUPS, COMPARING, VIEW)
    AUTO_FOCUS = "GroupTable"
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
        """The table, the histogram, the launches over the run, what binds."""
        ascii_only = self.session.ascii_only
        with Container(id="group-panes"):
            with Vertical(id="groups-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield GroupTable(ascii_only=ascii_only)
                with Horizontal(id="search"):
                    yield Static("/ ")
                    yield SearchInput()
            with Container(id="group-charts"):
                with Vertical(id="chart-pane", classes="pane"):
                    yield PaneTitle(ascii_only=ascii_only)
                    yield Wrapped()
                    yield Chart(id="histogram")
                yield RunPane(ascii_only=ascii_only)
        yield Line(ascii_only=ascii_only, id="devices")
        yield Line(ascii_only=ascii_only, id="binding")

    def on_mount(self) -> None:
        """Hide the field to filter by until the user opens it."""
        self.query_one("#search").display = False
        self.query_one("#devices").display = False

    def on_screen_resume(self) -> None:
        """Go to the group that another view went to."""
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
            self._show_devices(study)
        if study.counts.launches <= wording.MOST_LAUNCHES_UNASKED:
            self.app.find_binding()
        self.query_one("#binding", Line).show(wording.binding_lines(session, study))
        if shown is None or _listed_by(shown) != _listed_by(session):
            self._show_groups(session, study)
        # What is listed may have changed what is selected.
        self.query_one(RunPane).follow(self.session)
        if shown is None:
            self._show_chart()
        elif (shown.study, shown.selected, shown.log) != (study, session.selected, session.log):
            self._chart.ask(None)

    def _show_devices(self, study: Study) -> None:
        forms = devices_lines(study)
        line = self.query_one("#devices", Line)
        line.display = bool(forms)
        line.show(forms or [""])

    def _show_groups(self, session: Session, study: Study) -> None:
        listed = listed_groups(study, session.sort, session.search, reverse=session.reverse)
        # The charts get the rows that the list does not need.
        rows = max(len(listed.groups), _LEAST_GROUP_ROWS)
        self.query_one("#groups-pane").styles.max_height = rows + _ROWS_BESIDE_GROUPS
        order = session.sort, session.reverse
        self.query_one(GroupTable).show(study, listed, session.selected, order)
        title = self.query_one("#groups-pane PaneTitle", PaneTitle)
        title.show(*table_title(session, study, listed))
        if session.selected not in listed.groups:
            self.app.change(selected=listed.groups[0] if listed.groups else None)

    def _show_chart(self) -> None:
        """Show the chart with its title and the group's key, all three of one session."""
        session, study = self.session, self.session.study
        if study is None:
            return
        self.query_one("#chart-pane PaneTitle", PaneTitle).show(*chart_title(session, study))
        self.query_one(Wrapped).show(partial(key_within, session))
        self._histogram.show(partial(draw_group, session))

    @on(GroupHighlighted)
    def _select(self) -> None:
        # The cursor may have moved since the message was sent: use where it is now.
        highlighted = self.query_one(GroupTable).highlighted
        if highlighted not in {None, self.session.selected}:
            self.app.change(selected=highlighted)

    @on(SearchChanged)
    def _search(self, event: SearchChanged) -> None:
        # Filter once for all that is typed, not at each letter.
        if self._search_timer is not None:
            self._search_timer.stop()
        self._search_timer = self.set_timer(_DELAY_SECONDS, lambda: self.app.change(search=event.search))

    @on(SearchClosed)
    def _leave_search(self) -> None:
        self.query_one("#search").display = False
        self.query_one(GroupTable).focus()

    def action_search(self) -> None:
        """Type a text to filter by."""
        self.query_one("#search").display = True
        self.query_one(SearchInput).focus()

    def action_clear_search(self) -> None:
        """List all groups; where all are listed, leave the key to others."""
        if not self.session.search:
            raise SkipAction
        self.query_one(SearchInput).value = ""

    def action_sort(self) -> None:
        """Sort by the next column, and go to what is first by it."""
        self._sort(next_in(tuple(GroupSort), self.session.sort), reverse=False)

    def action_reverse(self) -> None:
        """Sort by the same the other way round."""
        self._sort(self.session.sort, reverse=not self.session.reverse)

    @on(HeadClicked)
    def _sort_by_head(self, event: HeadClicked) -> None:
        order = sorted_by_head(event.heading, self.session.sort, is_reverse=self.session.reverse)
        if order is not None:
            self._sort(order[0], reverse=order[1])

    def _sort(self, sort: GroupSort, *, reverse: bool) -> None:
        session = self.session
        if session.study is not None:
            first = listed_groups(session.study, sort, session.search, reverse=reverse).groups[:1]
            self.app.change(sort=sort, reverse=reverse, selected=next(iter(first), None))

    def action_log(self) -> None:
        """Change between logarithmic and linear durations."""
        self.app.change(log=not self.session.log)

    def own_text(self) -> PaneText:
        """The table with all its columns and whole keys, or the chart as it stands."""
        session, study = self.session, self.session.study
        if study is None:
            return PaneText("kernelpoint", "")
        if self._is_run_meant():
            run = self.query_one(RunPane)
            return PaneText(f"kernelpoint-timeline-{(session.selected or 0) + 1}", run.text)
        if self._is_chart_meant():
            text = chart_text(session, study, self._histogram.printed_size)
            return PaneText(f"kernelpoint-histogram-{(session.selected or 0) + 1}", text)
        listed = self.query_one(GroupTable).listed
        return PaneText(
            "kernelpoint-groups",
            table_text(study, listed, self.app.size.width, ascii_only=session.ascii_only),
        )

    def command(self) -> str:
        """`histogram` of the selected group as large as it is drawn, or `groups` as they are listed."""
        session = self.app.planned
        if self._is_run_meant():
            return chart_command(session, self.query_one(RunPane).chart.printed_size, "timeline")
        if self._is_chart_meant():
            return chart_command(session, self._histogram.printed_size)
        return table_command(session, self.query_one(GroupTable).listed)

    def _is_chart_meant(self) -> bool:
        """Return whether the chart of a group has the focus."""
        return self.focused is self._histogram and self.session.selected is not None

    def _is_run_meant(self) -> bool:
        """Return whether the launches over the run have the focus."""
        return self.focused is self.query_one(RunPane).chart and self.session.selected is not None

    @property
    def _histogram(self) -> Chart:
        return self.query_one("#histogram", Chart)


def _listed_by(session: Session) -> object:
    """Return what decides which groups are listed, in which order."""
    return session.study, session.sort, session.reverse, session.search
