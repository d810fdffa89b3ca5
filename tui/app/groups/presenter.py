"""View 1 without widgets: its titles and columns, what is copied, the commands that print the same."""

from __future__ import annotations

from sampling.plan.study import Study
from tui.app.frame import wording
from tui.app.frame.heads import mark_of
from tui.app.groups.columns import TableColumns
from tui.app.overrides_file import options_with_overrides
from tui.app.state import Session
from tui.charts import quantities
from tui.charts.grid import Grid, blank, put
from tui.engine.timelines import GroupTimeline
from tui.options.choices import GroupSort
from tui.options.command_line import command_line, options_of
from tui.options.commands import GroupsOptions, HistogramOptions, TimelineOptions
from tui.output.writer import Canvas
from tui.text import facts
from tui.text.groups import GroupList, groups_text, list_groups
from tui.text.histogram import group_histogram, histogram_text
from tui.text.ranges import RangeForest
from tui.text.timeline import timeline_text

MOST_ROWS = 100_000
"""The most rows of the table: more would make listing, copying and writing slow."""

_CHART_OPTIONS = {"histogram": HistogramOptions, "timeline": TimelineOptions}
_SORT_NAMES = {GroupSort.COV: "CoV"}
_HEADS = {GroupSort.TOTAL: ("total", "share"), GroupSort.COV: ("CoV",), GroupSort.NAME: ("kernel group",)}
# A title that is as long ends with the grid in 80 columns.
_MOST_TITLE = 50


def listed_groups(study: Study, sort: GroupSort, search: str, *, reverse: bool = False) -> GroupList:
    """Return the groups that the table lists."""
    return list_groups(study, sort, search, MOST_ROWS, reverse=reverse)


def table_title(session: Session, study: Study, listed: GroupList) -> tuple[str, str]:
    """Return by what the groups are sorted, and how many are listed of how many."""
    sort = _SORT_NAMES.get(session.sort, session.sort.value)
    if session.reverse:
        sort += ", Z to A" if session.sort is GroupSort.NAME else ", smallest first"
    return f"[1] Kernel groups by {sort}", _listing(session, study, listed)


def head_mark(columns: TableColumns, sort: GroupSort, *, reverse: bool, ascii_only: bool) -> tuple[str, str]:
    """Return the column that the groups are sorted by, "" where it has no room, and its mark."""
    names = {column.name for column in columns.columns}
    name = next((each for each in _HEADS.get(sort, (sort.value,)) if each in names), "")
    return name, mark_of(falls=(sort is GroupSort.NAME) == reverse, ascii_only=ascii_only)


def _listing(session: Session, study: Study, listed: GroupList) -> str:
    total = quantities.count(len(study.counts.groups))
    text = f'"{session.search}": {quantities.count(listed.matching)} of {total}' if session.search else ""
    if len(listed.groups) == listed.matching:
        return text
    shown = f"showing {quantities.count(len(listed.groups))} of {quantities.count(listed.matching)}"
    return f"{text}, {shown}" if text else shown


def chart_title(session: Session, study: Study) -> tuple[str, str]:
    """Return the group whose durations are drawn, and their axis."""
    selected = session.selected
    if selected is None:
        name = "no kernel group"
    else:
        label = facts.group_label(study, selected, _MOST_TITLE, ascii_only=session.ascii_only)
        name = f"#{selected + 1} {label}"
    return f"[tab] {name}", f"[x] {'log' if session.log else 'linear'}"


def devices_lines(study: Study) -> list[str]:
    """Return what the devices in labels are, the longest form first; nothing where there is one."""
    lines = facts.devices_named(study)
    places = facts.places_of(study)
    short = [f"{name}: process {process}" for (process, _), name in places.items()]
    return ["; ".join(lines), "; ".join(short), f"{'; '.join(short[:2])} ..."] if lines else []


def key_within(session: Session, cells: int) -> str:
    """Return the selected group's key in at most `cells` cells; nothing where no group is selected."""
    if session.study is None or session.selected is None:
        return ""
    return wording.group_key(session.study, session.selected, cells, ascii_only=session.ascii_only)


def draw_group(session: Session, width: int, height: int) -> Grid:
    """Return the histogram of the selected kernel group, its strata as clusters."""
    study, selected = session.study, session.selected
    if study is None or selected is None:
        grid = blank(width, height)
        put(grid, 0, 0, "no kernel group matches")
        return grid
    return group_histogram(study, selected, width, height, log=session.log, ascii_only=session.ascii_only)


def chart_text(session: Session, study: Study, size: tuple[int, int]) -> str:
    """Return the histogram of the selected group as `histogram` prints it."""
    selected, (width, height) = session.selected or 0, size
    canvas = Canvas(width, ascii_only=session.ascii_only, color=False)
    return histogram_text(study, selected, canvas, height, log=session.log) + "\n"


def table_text(study: Study, listed: GroupList, width: int, *, ascii_only: bool) -> str:
    """Return the listed groups as `groups` prints them in a terminal of this width."""
    rows = [facts.group_row(study, index) for index in listed.groups]
    canvas = Canvas(width, ascii_only=ascii_only, color=False)
    return groups_text(study, rows, canvas) + "\n" if rows else ""


def chart_command(session: Session, size: tuple[int, int], command: str = "histogram") -> str:
    """Return the `histogram` or `timeline` command of the selected group, as large as it is drawn.

    Raises
    ------
    OSError : the file of split decisions cannot be written.
    """
    kernel, (width, height) = f"#{(session.selected or 0) + 1}", size
    options: HistogramOptions | TimelineOptions = options_of(
        _CHART_OPTIONS[command],
        options_with_overrides(session),
        kernel=kernel,
        log=session.log,
        width=width,
        height=height,
    )
    return command_line(command, options)


def table_command(session: Session, listed: GroupList) -> str:
    """Return the `groups` command that lists the same.

    Raises
    ------
    OSError : the file of split decisions cannot be written.
    """
    options = options_of(
        GroupsOptions,
        options_with_overrides(session),
        sort=session.sort,
        reverse=session.reverse,
        filter=session.search or None,
        top=None if len(listed.groups) == listed.matching else len(listed.groups),
    )
    return command_line("groups", options)


def run_title(session: Session, timeline: GroupTimeline | None) -> tuple[str, str]:
    """Return what the pane of the run shows, and by what it goes; the key opens the view of it."""
    if timeline is None:
        return "[6] Over the run", ""
    return (
        f"[6] #{timeline.group + 1} over the run",
        f"by {timeline.by}, {'log' if session.log else 'linear'}",
    )


def run_text(
    session: Session, timeline: GroupTimeline, above: RangeForest | str, size: tuple[int, int]
) -> str:
    """Return the selected group's launches over the run, and the ranges above, as `timeline` prints them."""
    width, height = size
    canvas = Canvas(width, ascii_only=session.ascii_only, color=False)
    return timeline_text(timeline, canvas, height, log=session.log, above=above) + "\n"
