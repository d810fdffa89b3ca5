"""When a kernel group's launches run and how long they take, as `timeline` answers it in every format."""

from __future__ import annotations

import math
from typing import Any

from sampling.reduction.ranges.listing import RangeList, RangeOrder, RangeOrigin
from sampling.reduction.timeline import GroupLaunches, TimelineBins
from sampling.text import counted
from tui.charts.grid import Grid
from tui.charts.quantities import duration
from tui.charts.sinks import ansi, plain
from tui.charts.timeline import timeline_chart
from tui.engine.timelines import GroupTimeline
from tui.output.writer import Canvas
from tui.terminal.tables import shortened
from tui.text import facts
from tui.text.ranges import range_rows


def group_timeline(timeline: GroupTimeline, width: int, height: int, *, log: bool, ascii_only: bool) -> Grid:
    """Return the chart of a timeline, the group's strata as clusters."""
    return timeline_chart(
        timeline.launches,
        facts.clusters_of_group(timeline.study, timeline.group),
        timeline.drawn_ids,
        width,
        height,
        by=timeline.by,
        log=log,
        ascii_only=ascii_only,
    )


def timeline_text(timeline: GroupTimeline, canvas: Canvas, height: int, *, log: bool) -> str:
    """Return the group's rank and key, what its durations did over the run, and its chart."""
    key = timeline.study.counts.groups[timeline.group].key
    title = shortened(f"#{timeline.group + 1} {key}", canvas.width, ascii_only=canvas.ascii_only)
    grid = group_timeline(timeline, canvas.width, height, log=log, ascii_only=canvas.ascii_only)
    return f"{title}\n{course(timeline.launches)}\n{ansi(grid) if canvas.color else plain(grid)}"


def course(launches: GroupLaunches) -> str:
    """Return in one line where the launches stand in the run, and how their durations begin and end."""
    number, tenth = len(launches), max(len(launches) // 10, 1)
    where = f"{counted(number, 'launch', 'launches')}, ids {launches.id[0]:,} to {launches.id[-1]:,}"
    if number < 2 * tenth or number == 1:
        return f"{where}: {duration(float(launches.duration_ns[0]))}"
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
