"""View 1: the kernel groups, and how long the launches of one of them take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import attrgetter
from typing import ClassVar, NamedTuple

import numpy as np
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input, Static

from sampling.parallel import Progress
from sampling.plan.draft import Draft, Survey
from sampling.plan.overview import summarise_groups
from sampling.reduction.duration_counts import MOST
from sampling.text import counted
from tui.app.actions import APP, COMPARING, GROUPS, TABLE, VIEW, bindings
from tui.app.planning import options_with_overrides
from tui.app.session_app import SessionApp, start
from tui.app.state import Session
from tui.app.view import PaneText, TableScreen
from tui.app.widgets import Chart, Line, PaneTitle, Rows, Runs, Soon, Table, Written, order_mark, titled
from tui.app.wording import MOST_LAUNCHES_UNASKED
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, cluster_style, sparkline
from tui.charts.histogram import histogram_data, useful_bins
from tui.engine.looking import GroupTimeline, is_quickly_listed, ranges_in, timeline_of_group
from tui.options.choices import GroupSort
from tui.options.command_line import command_line, options_of
from tui.options.look import GroupsOptions, HistogramOptions, TimelineOptions
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import beginning, cell_width, is_ascii, printable, shortened
from tui.text.groups import (
    POOLED,
    GroupList,
    devices_named,
    group_blocks,
    group_clusters,
    group_histogram,
    group_label,
    histogram_blocks,
    list_groups,
    share_bar,
    survey_places,
)
from tui.text.plan import binding_forms
from tui.text.profile import kind_bars
from tui.text.timeline import RangeForest, above_chart, group_timeline, timeline_blocks, with_clusters

MOST_ROWS = 100_000
"""The most rows of the table: more would make listing, copying and writing slow."""
_RUN_SECONDS = 0.25
"""Launches are read again for every group: only where the cursor rests."""
_LEAST_GROUP_ROWS = 4
_ROWS_BESIDE_GROUPS = 3
"""The pane's title, the headings, and the field to filter by."""
_MOST_TITLE = 50
"""Cells of a label after which a title ends with the grid in 80 columns."""
_LEAST_NAME = 20

# The table: which columns have room, and what stands in them.

_LEAST_LABEL, _LEAST_BEFORE_GRID = 24, 16
"""Cells of a name, and of one before its grid: the longest word that names the work, marks and a number."""
_ROOMY_LABEL = 36
"""With as many cells for the name, two blanks stand between columns."""
_DROPPED_FIRST = ("durations", "cum", "strata", "bar", "drawn", "total", "CoV", "mean", "rank", "launches")
_BAR_FROM_WIDTH = ((150, 16), (100, 8), (0, 5))
_SPARKLINE = 10
_MIDDLE = 0.98
_SPARKLINES_KEPT = 4_096
# What is marked as the order where it has room, the first of these.
_HEADS = {GroupSort.TOTAL: ("total", "share"), GroupSort.COV: ("CoV",), GroupSort.NAME: ("kernel group",)}


class GroupColumn(NamedTuple):
    """A column of the table, so many cells wide."""

    name: str
    width: int
    cell: Callable[[int], Runs]
    to_right: bool = True


@dataclass(frozen=True)
class TableColumns:
    """The columns that have room, from the left, and the blanks between two of them."""

    columns: tuple[GroupColumn, ...] = ()
    gap: int = 1

    def head(self, marked: str = "", mark: str = "") -> str:
        """Return the headings over their columns, one of them with a mark in the blank behind it."""
        head, start = "", 0
        for column in self.columns:
            # The bar belongs to the share before it.
            heading = "" if column.name == "bar" else column.name[: column.width]
            heading = heading.rjust(column.width) if column.to_right else heading
            head = head.ljust(start) + heading + (mark if column.name == marked else "")
            start += column.width + self.gap
        return head.ljust(start - self.gap) if self.columns else ""

    def row(self, group: int) -> Runs:
        """Return a kernel group's row, every column as wide as it is."""
        runs: Runs = []
        for place, column in enumerate(self.columns):
            cell = column.cell(group)
            blanks = " " * max(column.width - sum(cell_width(text) for text, _ in cell), 0)
            padded = [(blanks, PLAIN), *cell] if column.to_right else [*cell, (blanks, PLAIN)]
            runs += [(" " * self.gap * (place > 0), PLAIN), *padded]
        return runs


def table_columns(survey: Survey, width: int) -> TableColumns:
    """Return the columns that fit in `width` cells beside the name, which takes what is left.

    The name has at least 24 cells, more where grids are large; columns that have no room beside it go one
    after the other. They are as wide as the widest cell of any kernel group may be, so that none moves while
    rows do.
    """
    columns = _figures(survey, next(cells for width_from, cells in _BAR_FROM_WIDTH if width >= width_from))

    def room(gap: int) -> int:
        return width - sum(column.width + gap for column in columns)

    grids = ("x".join(map(str, group.grid or ())) for group in survey.counts.groups)
    least_label = max(_LEAST_LABEL, _LEAST_BEFORE_GRID + max(map(len, grids), default=0))
    for dropped in _DROPPED_FIRST:
        if room(1) >= least_label:
            break
        columns = [column for column in columns if column.name != dropped]
    gap = 2 if room(2) >= _ROOMY_LABEL else 1
    cells = max(room(gap), 8)
    label = GroupColumn(
        "kernel group", cells, lambda group: [(group_label(survey, group, cells), PLAIN)], to_right=False
    )
    return TableColumns((*columns, label), gap)


def _figures(survey: Survey, bar_cells: int) -> list[GroupColumn]:
    region_groups = survey.groups

    def figure(name: str, widest: str, text: Callable[[int], str]) -> GroupColumn:
        return GroupColumn(name, max(len(name), len(widest)), lambda group: [(text(group), PLAIN)])

    def counts(name: str, values: np.ndarray | None) -> GroupColumn:
        largest = quantities.count(0 if values is None else int(values.max(initial=0)))

        def text(group: int) -> str:
            number = "-" if values is None else quantities.count(int(values[group]))
            return POOLED if region_groups.pooled[group] else number

        return figure(name, largest, text)

    def launches(group: int) -> str:
        return quantities.count(int(region_groups.launches[group]))

    def times(name: str, values: np.ndarray) -> GroupColumn:
        longest = quantities.duration(float(values.max(initial=0))).rjust(7)
        return figure(name, longest, lambda group: quantities.duration(values[group].item()))

    def shares(name: str, values: np.ndarray, widest: str) -> GroupColumn:
        return figure(name, widest, lambda group: quantities.share(float(values[group])))

    def cov(group: int) -> str:
        return f"{region_groups.cov[group]:.3f}" if region_groups.mean_ns[group] else quantities.UNKNOWN

    def bar(group: int) -> Runs:
        # In colour where it is one of those that take most; the group that reaches it is one of them.
        is_of_most = float(region_groups.running_share[group] - region_groups.share[group]) < MOST
        return [(share_bar(survey, group, bar_cells), cluster_style(0) if is_of_most else AXIS)]

    # Rows are drawn again at every step of the cursor.
    durations = lru_cache(_SPARKLINES_KEPT)(partial(_sparkline, survey))
    all_of_time = "100.0 %" if float(region_groups.share.max(initial=0)) > 0.9995 else "99.9 %"
    return [
        figure("rank", f"#{len(survey.counts.groups)}", lambda group: f"#{group + 1}"),
        shares("share", region_groups.share, all_of_time),
        GroupColumn("bar", bar_cells, bar, to_right=False),
        shares("cum", region_groups.running_share, "100.0 %"),
        figure("launches", quantities.count(int(region_groups.launches.max(initial=0))), launches),
        times("total", region_groups.total_duration_ns),
        times("mean", region_groups.mean_ns),
        figure("CoV", f"{float(region_groups.cov.max(initial=0)):.3f}", cov),
        GroupColumn("durations", _SPARKLINE, lambda group: durations(group, is_ascii()), to_right=False),
        counts("strata", region_groups.clusters),
        counts("drawn", region_groups.samples),
    ]


def _sparkline(survey: Survey, group: int, is_in_ascii: bool) -> Runs:  # noqa: ARG001 - another drawing
    """Return the durations of a group as a small histogram: a glyph a bin, in its stratum's style.

    Only the middle 98 % of the launches: a single one far away would leave all others one bin.
    """
    values_ns, launches = survey.counts.group_pairs(group)
    before = np.cumsum(launches)
    aside = int(before[-1]) * (1 - _MIDDLE) / 2
    first, last = np.searchsorted(before, aside, side="right"), np.searchsorted(before, before[-1] - aside)
    values_ns, launches = values_ns[first : last + 1], launches[first : last + 1]
    clusters = {
        cluster: (low, high)
        for cluster, (low, high) in enumerate(group_clusters(survey, group))
        if high >= values_ns[0] and low <= values_ns[-1]
    }
    data = histogram_data(values_ns, launches, list(clusters.values()), useful_bins(values_ns, _SPARKLINE))
    glyphs = sparkline(data.counts, _SPARKLINE)
    numbers = list(clusters)
    styles = [cluster_style(numbers[place]) for place in data.cluster_counts.argmax(axis=0).tolist()]
    return [(" " * ((_SPARKLINE - len(glyphs)) // 2), PLAIN), *zip(glyphs, styles, strict=True)]


class GroupTable(Table[int]):
    """Kernel groups by their index."""

    BINDINGS = bindings(TABLE)


def written_groups(
    survey: Survey, groups: Sequence[int], order: tuple[GroupSort, bool], width: int
) -> Written:
    """Return the headings, that of the order marked where it has room, and what writes a row."""
    columns, (sort, reverse) = table_columns(survey, width), order
    names = {column.name for column in columns.columns}
    name = next((heading for heading in _HEADS.get(sort, (sort.value,)) if heading in names), "")
    mark = order_mark(falls=(sort is GroupSort.NAME) == reverse)
    return columns.head(name, mark), lambda row: columns.row(groups[row])


# What is said.


def table_title(session: Session, survey: Survey, listed: GroupList) -> tuple[str, str]:
    """Return by what the groups are sorted, and how many are listed of how many."""
    sort = "CoV" if session.sort is GroupSort.COV else session.sort.value
    if session.reverse:
        sort += ", Z to A" if session.sort is GroupSort.NAME else ", smallest first"
    notes, matching = [], quantities.count(listed.matching)
    if session.search:
        notes.append(f'"{session.search}": {matching} of {quantities.count(len(survey.counts.groups))}')
    if len(listed.groups) < listed.matching:
        notes.append(f"showing {quantities.count(len(listed.groups))} of {matching}")
    return f"[1] Kernel groups by {sort}", ", ".join(notes or [counted(listed.matching, "group")])


def group_key(survey: Survey, index: int, cells: int) -> str:
    """Return a group's key in at most `cells` cells; its name is shortened before its grid and block."""
    group = survey.counts.groups[index]
    key = printable(group.key)
    if cell_width(key) <= cells:
        return key
    launched = group.key.removeprefix(group.name)
    if len(survey.sequences) == 1:
        launched = launched.removesuffix(f" {group.place}")
    room = cells - len(launched)
    if room < _LEAST_NAME:
        return shortened(group.key, cells)
    return shortened(group.name, room) + launched


def devices_lines(survey: Survey) -> list[str]:
    """Return what the devices in labels are, the longest form first; nothing where there is one."""
    lines = devices_named(survey)
    names = survey_places(survey).items()
    short = [f"{name}: process {process}" for (process, _), name in names if not name.startswith("rank")]
    return ["; ".join(lines), "; ".join(short)] if lines else []


def binding_lines(session: Session, draft: Draft) -> list[str]:
    """Return what binds the plan, or how to learn it, the longest form first."""
    if session.binding is not None:
        forms = binding_forms(session.binding, draft.design)
        return [*(f"{form}; [3] [b] takes one" for form in forms[:1] if session.binding), *forms]
    if draft.counts.launches > MOST_LAUNCHES_UNASKED:
        return ["Cheaper if: [3] [b] finds out which option makes the plan dear", "Cheaper if: [3] [b]"]
    return ["Cheaper if: being found"]


# The panes.


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
        #: The chart, which takes the focus.
        self.chart = Chart(id="run")
        super().__init__(PaneTitle(), self.chart, id="run-pane", classes="pane")
        self._timeline: GroupTimeline | None = None
        self._above: RangeForest | str = ""
        self._timer: Timer | None = None

    def on_show(self) -> None:
        self.follow()

    @property
    def timeline(self) -> GroupTimeline | None:
        """What is shown; None while it is not of the group in focus."""
        return self._timeline if self._is_wanted(self._timeline) else None

    def _is_wanted(self, timeline: GroupTimeline | None) -> bool:
        session = self.app.session
        return timeline is not None and (timeline.draft, timeline.group) == (session.draft, session.focus)

    @property
    def text(self) -> str:
        """What `timeline` prints of it, with the ranges above; nothing while it is read."""
        timeline = self.timeline
        if timeline is None:
            return ""
        width, height = self.chart.printed_size
        canvas, log = Canvas(width, color=False), self.app.session.log
        return (
            canvas_text(timeline_blocks(timeline, canvas, height, log=log, above=self._above), canvas) + "\n"
        )

    def follow(self) -> None:
        """Show the group in focus, of the plan there is, once the cursor rests on it."""
        session = self.app.session
        draft, group = session.draft, session.focus
        if not self.display or draft is None:
            return
        if self._timer is not None:
            self._timer.stop()
        if self.timeline is not None or group is None:
            self._show()
        else:
            task = partial(self._read, draft, group, session.request.seed)
            self._timer = self.set_timer(_RUN_SECONDS, lambda: start(self, task, self._take, group="run"))

    def _read(
        self, draft: Draft, group: int, seed: int, _: Progress
    ) -> Iterator[tuple[GroupTimeline, RangeForest | str]]:
        """Read a group's launches, and the ranges of the run or why they are not looked for."""
        before, above = self._timeline, self._above
        if before is None or before.draft.counts is not draft.counts:
            is_looked_for = is_quickly_listed(draft)
            ranges = ranges_in(draft.profile, draft.counts.region) if is_looked_for else None
            above = above_chart(ranges, is_looked_for=is_looked_for)
        yield with_clusters(timeline_of_group(draft, group, seed, before=before)), above

    def _take(self, result: tuple[GroupTimeline, RangeForest | str]) -> None:
        # Else the cursor has gone on.
        if self._is_wanted(result[0]):
            self._timeline, self._above = result
            self._show()

    def _show(self) -> None:
        title, timeline, log = self.query_one(PaneTitle), self.timeline, self.app.session.log
        if timeline is None:
            title.show("[6] Over the run")
            self.chart.say("no kernel group matches")
        else:
            title.show(
                f"[6] #{timeline.group + 1} over the run", f"by {timeline.by}, {'log' if log else 'linear'}"
            )
            self.chart.show(lambda width, height: group_timeline(timeline, width, height, log=log))


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
        self._table, self._histogram, self._run = GroupTable(), Chart(id="histogram"), RunPane()
        self._matching = 0
        self._chart = Soon[None](self, lambda _: self._show_chart())
        self._search = Soon[str](self, lambda text: self.app.change(search=text))

    def compose_panes(self) -> ComposeResult:
        field = SearchInput(placeholder="part of the kernel group's key, or kind:gemm", compact=True)
        search = Horizontal(Static("/ "), field, id="search")
        chart = titled("chart", Static(id="group-key", markup=False), self._histogram)
        charts = Container(chart, self._run, id="group-charts")
        yield Line(id="kinds")
        yield Container(titled("groups", self._table, search), charts, id="group-panes")
        yield Line(id="devices")
        yield Line(id="binding")

    def on_mount(self) -> None:
        self.query_one("#search").display = False
        for name in ("devices", "kinds"):
            self.query_one(f"#{name}").display = False

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_chart)

    def on_screen_resume(self) -> None:
        # Only now: while this view is open, the cursor may be further on than the session.
        selected = self.session.focus
        self._table.go_to(selected)
        if self.session.search and selected is not None and selected not in self._table.keys:
            # The filter leaves out the group that another view went to.
            self.query_one(SearchInput).value = ""

    def action_ranks(self) -> None:
        """Show the ranks of the run beside each other."""
        from tui.app.ranks import RanksScreen

        if self.session.draft is not None:
            self.app.push_screen(RanksScreen(self.session.draft, self.session.options))

    def follow(self, previous: Session | None, session: Session) -> None:
        """Show what differs from what is shown."""
        draft = session.draft
        if draft is None:
            return
        if previous is None or previous.draft is not draft:
            for name, forms in (("kinds", kind_bars(draft)), ("devices", devices_lines(draft.look))):
                line = self.query_one(f"#{name}", Line)
                line.display = bool(forms)
                line.show(forms or [""])
        if draft.counts.launches <= MOST_LAUNCHES_UNASKED:
            self.app.find_binding()
        self.query_one("#binding", Line).show(binding_lines(session, draft))
        listed_by = attrgetter("draft", "sort", "reverse", "search")
        if previous is None or listed_by(previous) != listed_by(session):
            self._show_groups(session, draft)
        # What is listed may have changed what is selected.
        self._run.follow()
        if previous is None:
            self._show_chart()
        elif (previous.draft, previous.selected, previous.log) != (draft, session.selected, session.log):
            self._chart.ask(None)

    def _show_groups(self, session: Session, draft: Draft) -> None:
        survey = draft.look
        listed = list_groups(survey, session.sort, session.search, MOST_ROWS, reverse=session.reverse)
        # The charts get the rows that the list does not need.
        rows = max(len(listed.groups), _LEAST_GROUP_ROWS)
        self.query_one("#groups-pane").styles.max_height = rows + _ROWS_BESIDE_GROUPS
        write = partial(written_groups, survey, listed.groups, (session.sort, session.reverse))
        self._table.show(listed.groups, write, session.focus)
        self._matching = listed.matching
        self.entitle("groups", *table_title(session, survey, listed))
        if session.focus not in listed.groups:
            self.app.change(selected=survey.members(listed.groups[0])[0] if listed.groups else None)

    def _show_chart(self) -> None:
        """Show the chart with its title and the group's key, all three of one session."""
        session, draft, selected = self.session, self.session.draft, self.session.focus
        if draft is None:
            return
        survey = draft.look
        name, text, key = "no kernel group", "", self.query_one("#group-key", Static)
        # As many rows as there are for it, broken wherever they are full.
        width, max_height = max(self._histogram.size.width, 1), key.styles.max_height
        if selected is None:
            self._histogram.say("no kernel group matches")
        else:
            gpus = len(survey.members(selected))
            name = f"#{selected + 1} {group_label(survey, selected, _MOST_TITLE)}"
            name += f", {gpus} GPUs" if gpus > 1 else ""
            text = group_key(survey, selected, int(max_height.value if max_height else 1) * width)
            self._histogram.show(partial(group_histogram, survey, selected, log=session.log))
        self.entitle("chart", f"[tab] {name}", f"[x] {'log' if session.log else 'linear'}")
        rows = []
        while row := beginning(text, width):
            rows.append(row)
            text = text[len(row) :]
        key.update("\n".join(rows))

    @on(Rows.Moved)
    def _select(self) -> None:
        # The cursor may have moved since the message was sent: use where it is now.
        highlighted, draft = self._table.key, self.session.draft
        if draft is not None and highlighted not in {None, self.session.focus}:
            self.app.change(selected=draft.look.members(highlighted)[0])

    @on(Input.Changed, "SearchInput")
    def _search_for(self, event: Input.Changed) -> None:
        self._search.ask(event.value)

    def action_leave_search(self, is_given_up: bool) -> None:
        """Go back to the table, with all groups where the text is given up."""
        if is_given_up:
            self.query_one(SearchInput).value = ""
        self.query_one("#search").display = False
        self._table.focus()

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
        draft, search = self.session.draft, self.session.search
        if draft is not None:
            first = list_groups(draft.look, sort, search, MOST_ROWS, reverse=reverse).groups[:1]
            group = next((draft.look.members(group)[0] for group in first), None)
            self.app.change(sort=sort, reverse=reverse, selected=group)

    # What is copied.

    def own_text(self) -> PaneText:
        session, draft, group = self.session, self.session.draft, self.session.focus or 0
        if draft is None:
            return PaneText("kernelpoint", "")
        survey = draft.look
        if self._is_meant(self._run.chart):
            return PaneText(f"kernelpoint-timeline-{group + 1}", self._run.text)
        if self._is_meant(self._histogram):
            width, height = self._histogram.printed_size
            canvas = Canvas(width, color=False)
            blocks = histogram_blocks(survey, group, width, height, log=session.log)
            return PaneText(f"kernelpoint-histogram-{group + 1}", canvas_text(blocks, canvas) + "\n")
        if survey is not draft:
            # As the command lists them: a plan has them apart.
            survey = replace(survey, design=None)
        rows = summarise_groups(survey, self._table.keys)
        canvas = Canvas(self.app.size.width, color=False)
        text = canvas_text(group_blocks(survey, rows, canvas), canvas) + "\n" if rows else ""
        return PaneText("kernelpoint-groups", text)

    def command(self) -> str:
        """`timeline` or `histogram` of the selected group as large as it is drawn, or `groups` as listed."""
        session = self.app.planned
        session_options = options_with_overrides(session)
        for chart, command, kind in (
            (self._run.chart, "timeline", TimelineOptions),
            (self._histogram, "histogram", HistogramOptions),
        ):
            if self._is_meant(chart):
                kernel, (width, height) = f"#{(session.focus or 0) + 1}", chart.printed_size
                chart_options = options_of(
                    kind, session_options, kernel=kernel, log=session.log, width=width, height=height
                )
                return command_line(command, chart_options)
        (sort, reverse), rows = self.order, self._table.row_count
        top = None if rows == self._matching else rows
        options = options_of(
            GroupsOptions,
            session_options,
            sort=sort,
            reverse=reverse,
            filter=session.search or None,
            top=top,
            plan=session.draft is None or session.draft.look is session.draft,
        )
        return command_line("groups", options)

    def _is_meant(self, chart: Chart) -> bool:
        """Return whether a chart of a group has the focus."""
        return self.focused is chart and self.session.selected is not None
