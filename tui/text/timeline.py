"""Launches over the run: a kernel group's timeline, and the named ranges and found iterations above it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import counts_selection
from sampling.reduction.range_list import RangeList, RangeSummary, summarise_ranges
from sampling.reduction.timeline import GroupLaunches, IdleGaps, TimelineBins, list_bins
from sampling.text import counted
from tui.charts.grid import AXIS, HEADING, LABEL, MARKER, SELECTED, Grid, blank, put
from tui.charts.quantities import UNKNOWN, count, duration, duration_range, share
from tui.charts.timeline import LEFT, RIGHT, RunAxis, number_clusters, timeline_chart
from tui.engine.looking import GroupTimeline
from tui.options.choices import RangeSort
from tui.options.look import RangesOptions
from tui.output.blocks import Block, Listing
from tui.output.writer import Canvas, CommandResult
from tui.terminal.printable import Column, cell_width, is_ascii, padded, printable, shortened
from tui.text.groups import group_clusters, group_columns, span_words
from tui.text.profile import with_selection

NO_RANGES = "there are no named ranges with launches, and no sequence of kernels that most launches repeat"
NONE = (
    "no named ranges, and no iterations found: NVTX (nsys -t nvtx,cuda), record_function (PyTorch) or roctx "
    "ranges record them"
)
TOO_MANY = (
    "ranges and iterations are not looked for unasked among so many launches: `kernelpoint ranges` does"
)
# Gaps of the device that last no such share of the time shown are not worth a word.
_LEAST_GAP = 0.01
_MOST_RANGES = 12
_MOST_ROWS = 100
_LEAST_LABEL = 20
_RANGE_ROOM = 32


# A kernel group over the run.


def group_timeline(timeline: GroupTimeline, width: int, height: int, *, log: bool, left: int = LEFT) -> Grid:
    """Return the chart of a timeline, the group's strata as clusters; `left`: see `timeline_chart`."""
    gaps = _shown_gaps(timeline)
    return timeline_chart(
        timeline.launches,
        group_clusters(timeline.survey, timeline.group),
        timeline.drawn_ids,
        width,
        height,
        by=timeline.by,
        log=log,
        left=left,
        cluster=timeline.cluster,
        has_mean=is_drifting(timeline),
        gaps=gaps and gaps[0],
    )


def with_clusters(timeline: GroupTimeline) -> GroupTimeline:
    """Return a timeline that knows the stratum of each launch, so that it is drawn sooner."""
    clusters = group_clusters(timeline.survey, timeline.group)
    return replace(timeline, cluster=number_clusters(timeline.launches.duration_ns, clusters))


def is_drifting(timeline: GroupTimeline) -> bool:
    """Return whether the finding that kernels drift is about this group."""
    drift = timeline.draft.order.drift
    is_found = any(finding.code == "drift" for finding in timeline.draft.findings)
    members = timeline.survey.members(timeline.group)
    return is_found and drift is not None and not set(members).isdisjoint(drift.groups)


def _shown_gaps(timeline: GroupTimeline) -> tuple[IdleGaps, int, int] | None:
    """Return the gaps worth showing, how long those are at least, and the time shown; None by launch."""
    launches = timeline.launches
    if timeline.gaps is None or timeline.by != "time" or launches.start_ns is None:
        return None
    low, high = int(launches.start_ns.min()), int(launches.start_ns.max())
    if high <= low:
        return None
    # The largest of 1, 2 and 5 times a power of ten that is no more.
    most_ns = max((high - low) * _LEAST_GAP, 1)
    power = 10 ** int(math.log10(most_ns))
    least_ns = max(digit * power for digit in (1, 2, 5) if digit * power <= most_ns)
    return timeline.gaps.within(low, high, least_ns), least_ns, high - low


def timeline_blocks(
    timeline: GroupTimeline, canvas: Canvas, height: int, *, log: bool, above: RangeForest | str = ""
) -> Iterator[Block]:
    """Yield the group's rank and key, what its durations did over the run, the ranges of it, its chart.

    `above`: the ranges above the chart, or what is said in their place.
    """
    key = timeline.survey.counts.groups[timeline.group].key
    left = columns_before_chart(canvas.width, has_ranges=isinstance(above, RangeForest))
    yield shortened(f"#{timeline.group + 1} {key}", canvas.width)
    yield course_forms(timeline)[0]
    yield from span_words(timeline.survey, timeline.group)
    if isinstance(above, RangeForest):
        # Those of the most time, and how many there are beside them.
        paths = above.listed.select_paths(limit=_MOST_RANGES)
        run = RunAxis(timeline.launches, timeline.by, canvas.width - left - RIGHT) if left > LEFT else None
        yield tree_grid(above, paths, run, canvas.width, TreeMarks(opened=paths))
        if rest := int((above.listed.launches > 0).sum()) - len(paths):
            yield f"and {counted(rest, 'range')} of no more time: `kernelpoint ranges` lists them"
    elif above:
        yield above
    yield group_timeline(timeline, canvas.width, height, log=log, left=left)


def timeline_page(timeline: GroupTimeline, bins: TimelineBins) -> list[Block]:
    """Return the group's rank and key, what its durations did over the run, and the bins as a table."""
    rows = [row for row in list_bins(bins) if row.launches]
    columns = [
        Column("ids", [f"{row.first}-{row.last}" for row in rows]),
        Column("launches", [count(row.launches) for row in rows]),
        Column("mean", [duration(row.mean_ns) for row in rows]),
        Column("durations", [duration_range(row.min_ns, row.max_ns) for row in rows]),
        Column("drawn", [count(row.drawn) for row in rows]),
    ]
    if bins.start_ns is not None:
        columns.insert(0, Column("start", [_start_text(row.start_ns) for row in rows]))
    key = timeline.survey.counts.groups[timeline.group].key
    words = [course_forms(timeline)[0], *span_words(timeline.survey, timeline.group)]
    return [group_columns(f"#{timeline.group + 1}", key), *words, columns]


def _start_text(start_ns: int | None) -> str:
    return "-" if start_ns is None else duration(start_ns)


def course_forms(timeline: GroupTimeline) -> list[str]:
    """Return what the launches did over the run in a line, the longest form first.

    Where they stand, how their durations begin and end; that they drift, idle gaps.
    """
    remarks = ["its mean drifts"] if is_drifting(timeline) else []
    if (gaps_shown := _shown_gaps(timeline)) is not None:
        gaps, least_ns, span_ns = gaps_shown
        over, part = duration(least_ns), share(gaps.total_ns / span_ns)
        many = f"{counted(len(gaps), 'gap')} over {over}: {part} of the time"
        remarks.append(many if len(gaps) else f"no idle gap over {over}")
    launches = counted(len(timeline.launches), "launch")
    words = course(timeline.launches)
    forms = ([words], [launches, *words.split("; ")[1:]], [launches])
    return ["; ".join([*form, *remarks]) for form in forms] + [launches]


def course(launches: GroupLaunches) -> str:
    """Return in one line where the launches stand in the run, and how their durations begin and end."""
    number, tenth = len(launches), max(len(launches) // 10, 1)
    if number == 1:
        return f"1 launch, id {launches.id[0]:,}: {duration(float(launches.duration_ns[0]))}"
    tenths = launches.duration_ns[:tenth], launches.duration_ns[-tenth:]
    first, last = (duration(float(tenth_ns.mean())) for tenth_ns in tenths)
    place = f"{counted(number, 'launch')}, ids {launches.id[0]:,} to {launches.id[-1]:,}"
    return f"{place}; mean of the first tenth {first}, of the last {last}"


# Ranges as a list.


def ranges_result(profile: Profile, listed: RangeList, options: RangesOptions) -> CommandResult:
    """Return the ranges of a region of a profile in every form."""
    counts = listed.counts
    rows = summarise_ranges(listed, _chosen(listed, options, options.top))
    result = CommandResult("ranges", rows, lambda _: _range_blocks(listed, options))
    return with_selection(result, counts_selection(profile, counts))


def _chosen(listed: RangeList, options: RangesOptions, limit: int | None) -> list[int]:
    return listed.select_paths(by_time=options.sort is RangeSort.TIME, depth=options.depth, limit=limit)


def _range_figures(rows: Sequence[RangeSummary]) -> list[Column]:
    return [
        Column("launches", [count(row.launches) for row in rows]),
        Column("time", [duration(row.duration_ns) for row in rows]),
        Column("elapsed", [duration(row.elapsed_ns) for row in rows]),
        Column("share", [share(row.share) for row in rows]),
        Column("times", [count(row.times) for row in rows]),
    ]


def _range_blocks(listed: RangeList, options: RangesOptions) -> Iterator[Block]:
    """Yield the tree with figures at its left, on a page whole paths as `--range` takes them."""
    paths = _chosen(listed, options, options.top or _MOST_ROWS)
    if not paths:
        yield NO_RANGES
        return
    rows = summarise_ranges(listed, paths)
    ids = ["-".join(dict.fromkeys((str(row.first), str(row.last)))) for row in rows]
    figures = [*_range_figures(rows), Column("ids", ids)]

    def label(row: int, room: int) -> str:
        """Return a range's name, by its depth; of an iteration also how to select it, if it fits."""
        summary = rows[row]
        indent = "  " * summary.depth
        room = max(room - len(indent), _LEAST_LABEL)
        text = f"{summary.name}: {_selection(listed, paths[row])}"
        is_fit = summary.source == "found" and cell_width(text) <= room
        return f"{indent}{text}" if is_fit else indent + shortened(str(summary.name), room)

    paths_in_full = [row.path for row in rows]
    yield Listing(figures, "range", label, ("share",), _RANGE_ROOM, full_labels=paths_in_full)
    if rest := int((listed.launches > 0).sum()) - len(paths):
        yield f"and {counted(rest, 'more range')}: --top N lists the N longest, --depth N goes to level N"


def _selection(listed: RangeList, path: int) -> str:
    """Return how the launches of an iteration, or of all, are selected, and what that holds beside them."""
    selection_text = f"--launches {listed.first[path]}:{listed.last[path] + 1}"
    return (
        f"{selection_text}, with {listed.between[path]:,} between" if listed.between[path] else selection_text
    )


# Ranges as a tree above a chart.

_LEFTS = ((160, 60), (110, 52), (64, 36), (0, LEFT))
# Without room for so many cells of a name, there is none for a column.
_DROPPED_FIRST = (("launches", 28), ("times", 20), ("share", 16), ("elapsed", 8), ("time", 8))
_MOST_INDENTS = 6
_OPEN, _CLOSED, _IN_FORCE = ("▾", "-"), ("▸", "+"), ("●", "*")


@dataclass(frozen=True, slots=True, eq=False)
class RangeForest:
    """Ranges by the range that they lie in."""

    listed: RangeList
    #: Paths with launches, those that lie directly in the same one together, by where they begin.
    by_parent: IntArray
    #: That one of each, -1 for none.
    parent: IntArray

    @classmethod
    def of(cls, listed: RangeList) -> RangeForest:
        """Return the ranges that have launches."""
        paths = np.flatnonzero(listed.launches > 0)
        parent = listed.paths.parent[paths]
        order = np.lexsort((paths, listed.first[paths], paths >= listed.found_from, parent))
        return cls(listed, paths[order], parent[order])

    def inside(self, path: int) -> list[int]:
        """Return the paths directly inside one; of -1 the outermost."""
        paths: list[int] = self.by_parent[self._inside(path)].tolist()
        return paths

    def has_inside(self, path: int) -> bool:
        """Whether any lies inside."""
        return bool(self.parent[self._inside(path)].size)

    def _inside(self, path: int) -> slice:
        return slice(*np.searchsorted(self.parent, (path, path + 1)).tolist())

    def walked(self, opened: Collection[int]) -> list[int]:
        """Return the outermost paths and what lies in those that are open, each before what it holds."""
        walked: list[int] = []
        ahead = self.inside(-1)[::-1]
        while ahead:
            path = ahead.pop()
            walked.append(path)
            if path in opened:
                ahead += self.inside(path)[::-1]
        return walked

    def opened_at_first(self) -> frozenset[int]:
        """Return what is open before anybody opened anything: the only outermost range."""
        outermost = self.inside(-1)
        return frozenset(outermost if len(outermost) == 1 else ())

    def parent_of(self, path: int) -> int:
        """Return the range that one lies in, -1 for none."""
        return int(self.listed.paths.parent[path])


@dataclass(frozen=True, slots=True)
class TreeMarks:
    """What is special about rows: which are open, at the cursor, and the region in force; by path."""

    opened: Collection[int] = ()
    cursor: int | None = None
    in_force: int | None = None


def above_chart(listed: RangeList | None, *, is_looked_for: bool = True) -> RangeForest | str:
    """Return the ranges as a tree, or in words why there is none."""
    inside = NONE if listed is None else RangeForest.of(listed)
    return inside if is_looked_for else TOO_MANY


def columns_before_chart(width: int, *, has_ranges: bool) -> int:
    """Return the columns at the left of a timeline's dots: as many as the ranges above need for words."""
    return next(left for width_from, left in _LEFTS if width >= width_from) if has_ranges else LEFT


def tree_grid(
    forest: RangeForest, paths: Sequence[int], run: RunAxis | None, width: int, marks: TreeMarks
) -> Grid:
    """Return a heading and a row a range: its name, figures as there is room, and when in the run it is.

    `run`: the axis of the chart below; without one, or where there is no room, there are no bars.
    """
    left = columns_before_chart(width, has_ranges=True)
    room = width if left == LEFT else left - 1
    figures = _range_figures(summarise_ranges(forest.listed, paths))
    # Without starts nothing has elapsed.
    columns = {column.heading: column.cells for column in figures if {*column.cells} != {UNKNOWN}}
    widths = {name: max(map(len, (name, *cells))) for name, cells in columns.items()}
    for column, room_from in _DROPPED_FIRST:
        if room - sum(cells + 2 for cells in widths.values()) < room_from:
            widths.pop(column, None)
    name_room = max(room - sum(cells + 2 for cells in widths.values()), 0)

    def line(name: str, cells: Iterable[str]) -> str:
        figures = zip(cells, widths.values(), strict=True)
        return padded(name, name_room) + "".join(f"  {cell:>{width}}" for cell, width in figures)

    grid = blank(width, len(paths) + 1)
    put(grid, 0, 0, line("  range", widths), HEADING)
    for row, path in enumerate(paths, start=1):
        row_text = line(_name(forest, path, marks, name_room), (columns[name][row - 1] for name in widths))
        put(grid, row, 0, row_text, SELECTED if path == marks.cursor else LABEL)
        if run is not None and left > LEFT:
            bar = run.bar(*forest.listed.runs(path))
            put(grid, row, left, bar, MARKER if path == marks.in_force else LABEL)
            put(grid, row, left - 1, "|" if is_ascii() else "│", AXIS)
    return grid


def _name(forest: RangeForest, path: int, marks: TreeMarks, width: int) -> str:
    """Return a range's place in the tree and its name; a long one loses its middle, not its number."""
    listed, depth = forest.listed, int(forest.listed.paths.depth[path])
    opened = _OPEN if path in marks.opened else _CLOSED
    mark = opened[is_ascii()] if forest.has_inside(path) else " "
    force_mark = _IN_FORCE[is_ascii()] if path == marks.in_force else " "
    is_iteration = path >= listed.found_from and depth
    name = printable(f"{'iteration ' if is_iteration else ''}{listed.paths.name(path)}")
    place = f"{force_mark}{'  ' * min(depth, _MOST_INDENTS)}{mark} "
    room = width - len(place)
    return place + shortened(name, room) if room > 0 else place[:width]


def range_words(forest: RangeForest, path: int) -> str:
    """Return a range in a line: its path, launches and share."""
    (row,) = summarise_ranges(forest.listed, [path])
    launches, part = counted(row.launches, "launch"), share(row.share)
    often = f", {counted(row.times, 'time')}" if row.times > 1 else ""
    return f"{row.path}: {launches}, {part}{often}"
