"""When a kernel group's launches run and how long they take, as `timeline` answers it in every format."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from typing import Any

from sampling.reduction.device_time import IdleGaps
from sampling.reduction.range_list import RangeList, RangeOrder, RangeOrigin
from sampling.reduction.timeline import GroupLaunches, TimelineBins
from sampling.text import counted
from tui.charts import quantities
from tui.charts.grid import Grid, ansi, plain
from tui.charts.quantities import duration
from tui.charts.timeline import LEFT, RIGHT, Look, Marks, RunAxis, clusters_of, timeline_chart
from tui.engine.looking import GroupTimeline
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import Column, shortened
from tui.terminal.tty import Dots
from tui.text import facts
from tui.text.ranges import RangeForest, TreeMarks, left_of, range_rows, tree_grid

_LEAST_GAP = 0.01
"""Gaps of the device that last no such share of the time shown are not worth a word."""
_MOST_RANGES = 12


def group_timeline(
    timeline: GroupTimeline,
    width: int,
    height: int,
    *,
    log: bool,
    dots: Dots | None = None,
    left: int = LEFT,
) -> Grid:
    """Return the chart of a timeline, the group's strata as clusters.

    Parameters
    ----------
    left : columns at its left, see `timeline_chart`.
    """
    return timeline_chart(
        timeline.launches,
        facts.clusters_of_group(timeline.study, timeline.group),
        timeline.drawn_ids,
        width,
        height,
        by=timeline.by,
        log=log,
        look=Look(left, dots, _marks(timeline), timeline.cluster),
    )


def with_clusters(timeline: GroupTimeline) -> GroupTimeline:
    """Return a timeline that knows the stratum of each launch, so that it is drawn sooner."""
    clusters = facts.clusters_of_group(timeline.study, timeline.group)
    return replace(timeline, cluster=clusters_of(timeline.launches.duration_ns, clusters))


def drift_of(timeline: GroupTimeline) -> bool:
    """Return whether the finding that kernels drift is about this group."""
    drift = timeline.study.order.drift
    return drift is not None and timeline.group in drift.groups and _is_found(timeline, "drift")


def _is_found(timeline: GroupTimeline, code: str) -> bool:
    return any(finding.code == code for finding in timeline.study.findings)


def _marks(timeline: GroupTimeline) -> Marks:
    gaps = _shown_gaps(timeline)
    return Marks(drift_of(timeline), None if gaps is None else gaps[0])


def _shown_gaps(timeline: GroupTimeline) -> tuple[IdleGaps, int, int] | None:
    """Return the gaps worth showing, how long those are at least, and the time shown; None by launch."""
    launches = timeline.launches
    if timeline.gaps is None or timeline.by != "time" or launches.start_ns is None:
        return None
    low, high = int(launches.start_ns.min()), int(launches.start_ns.max())
    span_ns = high - low
    if span_ns <= 0:
        return None
    least_ns = round_down(span_ns * _LEAST_GAP)
    return timeline.gaps.within(low, high, least_ns), least_ns, span_ns


def round_down(ns: float) -> int:
    """Return the largest of 1, 2 and 5 times a power of ten that is no more."""
    power: int = 10 ** int(math.log10(max(ns, 1)))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= max(ns, 1))


def timeline_text(
    timeline: GroupTimeline,
    canvas: Canvas,
    height: int,
    *,
    log: bool,
    above: RangeForest | str = "",
    dots: Dots | None = None,
) -> str:
    """Return the group's rank and key, what its durations did over the run, the ranges of it, its chart.

    Parameters
    ----------
    above : the ranges above the chart, or what is said in their place.
    """
    key = timeline.study.counts.groups[timeline.group].key
    title = shortened(f"#{timeline.group + 1} {key}", canvas.width)
    left = left_of(canvas.width, has_ranges=isinstance(above, RangeForest))
    grid = group_timeline(timeline, canvas.width, height, log=log, dots=dots, left=left)
    shown = [title, *textwrap.wrap(course_forms(timeline)[0], canvas.width)]
    if isinstance(above, RangeForest):
        shown += _tree_lines(timeline, above, canvas, left)
    else:
        shown += textwrap.wrap(above, canvas.width)
    return "\n".join([*shown, _drawn(grid, canvas)])


def _drawn(grid: Grid, canvas: Canvas) -> str:
    return ansi(grid) if canvas.color else plain(grid)


def _tree_lines(timeline: GroupTimeline, forest: RangeForest, canvas: Canvas, left: int) -> list[str]:
    """Return the ranges of the most time, and how many there are beside them."""
    listed = forest.listed
    paths = listed.chosen(RangeOrder.START, most=_MOST_RANGES)
    run = RunAxis(timeline.launches, timeline.by, canvas.width - left - RIGHT) if left > LEFT else None
    grid = tree_grid(forest, paths, run, canvas.width, TreeMarks(opened=paths))
    rest = int((listed.launches > 0).sum()) - len(paths)
    more = [f"and {counted(rest, 'range')} of no more time: `kernelpoint ranges` lists them"] if rest else []
    return [_drawn(grid, canvas), *more]


def course_forms(timeline: GroupTimeline) -> list[str]:
    """Return what the launches did over the run in a line, the longest form first.

    Where they stand, how their durations begin and end; that they drift, idle gaps.
    """
    words = course(timeline.launches)
    launches = counted(len(timeline.launches), "launch", "launches")
    ends, said = words.partition("; ")[2], []
    if drift_of(timeline):
        said.append("its mean drifts")
    if (gaps := _shown_gaps(timeline)) is not None:
        said.append(gap_words(*gaps))
    if not said:
        return [words, f"{launches}; {ends}" if ends else words, words.partition("; ")[0], launches]
    forms = [[words, *said], [launches, ends, *said], [launches, *said], said, said[-1:]]
    return ["; ".join(part for part in form if part) for form in forms]


def gap_words(gaps: IdleGaps, least_ns: int, span_ns: int) -> str:
    """Return how many gaps there are and which share of the time they are."""
    if not len(gaps):
        return f"no idle gap over {duration(least_ns)}"
    share = quantities.share(gaps.total_ns / span_ns)
    return f"{counted(len(gaps), 'gap')} over {duration(least_ns)}: {share} of the time"


def course(launches: GroupLaunches) -> str:
    """Return in one line where the launches stand in the run, and how their durations begin and end."""
    number, tenth = len(launches), max(len(launches) // 10, 1)
    if number == 1:
        return f"1 launch, id {launches.id[0]:,}: {duration(float(launches.duration_ns[0]))}"
    where = f"{counted(number, 'launch', 'launches')}, ids {launches.id[0]:,} to {launches.id[-1]:,}"
    first, last = (
        float(launches.duration_ns[rows].mean()) for rows in (slice(None, tenth), slice(-tenth, None))
    )
    return f"{where}; mean of the first tenth {duration(first)}, of the last {duration(last)}"


def bin_rows(bins: TimelineBins) -> list[dict[str, Any]]:
    """Return a row a bin as the contract's `timeline` has them; null where a bin of time has no launch."""
    rows = zip(
        bins.first.tolist(),
        bins.last.tolist(),
        [None] * len(bins.launches) if bins.start_ns is None else bins.start_ns.tolist(),
        bins.launches.tolist(),
        bins.mean_ns.tolist(),
        bins.min_ns.tolist(),
        bins.max_ns.tolist(),
        bins.drawn.tolist(),
        strict=True,
    )
    return [
        {
            "first": first if launches else None,
            "last": last if launches else None,
            "start_ns": start_ns,
            "launches": launches,
            "mean_ns": None if math.isnan(mean_ns) else mean_ns,
            "min_ns": min_ns if launches else None,
            "max_ns": max_ns if launches else None,
            "drawn": drawn,
        }
        for first, last, start_ns, launches, mean_ns, min_ns, max_ns, drawn in rows
    ]


def timeline_blocks(timeline: GroupTimeline, bins: TimelineBins) -> list[Block]:
    """Return the group's rank and key, what its durations did over the run, and the bins."""
    rows = [row for row in bin_rows(bins) if row["launches"]]
    columns = [
        Column("ids", [f"{row['first']}-{row['last']}" for row in rows]),
        Column("launches", [quantities.count(row["launches"]) for row in rows]),
        Column("mean", [duration(row["mean_ns"]) for row in rows]),
        Column("durations", [quantities.duration_range(row["min_ns"], row["max_ns"]) for row in rows]),
        Column("drawn", [quantities.count(row["drawn"]) for row in rows]),
    ]
    if bins.start_ns is not None:
        columns.insert(0, Column("start", [duration(row["start_ns"]) for row in rows]))
    key = timeline.study.counts.groups[timeline.group].key
    return [facts.group_columns(f"#{timeline.group + 1}", key), course_forms(timeline)[0], columns]


def timeline_results(timeline: GroupTimeline, bins: TimelineBins, listed: RangeList | None) -> dict[str, Any]:
    """Return the bins of a kernel group, and the ranges and iterations of the run as `ranges` lists them."""
    group = timeline.study.counts.groups[timeline.group]
    rows = [] if listed is None else range_rows(listed, listed.chosen(RangeOrder.START))
    found = [row for row in rows if row["source"] == RangeOrigin.FOUND.value]
    return {
        "key": group.key,
        "rank": timeline.group + 1,
        "by": timeline.by,
        "bins": bin_rows(bins),
        "ranges": [row for row in rows if row["source"] == RangeOrigin.NAMED.value],
        # The range that stands for all iterations of a process and device is none itself.
        "iterations": [row for row in found if row["depth"]],
    }
