"""The charts of a report: each with its numbers, its words and its text form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.charts.histogram_data import histogram_data, useful_bins
from tui.charts.sinks import plain
from tui.engine.timelines import GroupTimeline
from tui.report.drawings import Bars, Curve, Points, cells_of
from tui.report.sections import Figure
from tui.text import facts
from tui.text.comparison.order import merged
from tui.text.comparison.rows import Row
from tui.text.comparison.scatter import comparison_scatter
from tui.text.histogram import group_histogram
from tui.text.timeline import course, group_timeline
from tui.text.trade_off import TradeOff

_BINS = 80
_TEXT_WIDTH, _TEXT_HEIGHT = 100, 16
_NAME_WIDTH = 48
# Durations that differ by more than this factor are crowded together on a linear axis.
_WIDE = 20


def duration_figure(study: Study, group: int) -> Figure:
    """Return the histogram of a kernel group's durations, its strata apart."""
    durations_ns, launches = study.counts.group_pairs(group)
    strata = facts.clusters_of_group(study, group)
    log = _is_wide(int(durations_ns[0]), int(durations_ns[-1]))
    bins = useful_bins(durations_ns, _BINS, log=log)
    data = histogram_data(durations_ns, launches, strata, bins, log=log)
    if len(durations_ns) == 1:
        # Its bin is as wide as a tick of the clock, of which nothing is to be seen.
        data = replace(data, edges_ns=np.repeat(durations_ns, 2))
    row = facts.group_row(study, group)
    names = tuple(
        f"{quantities.duration_range(low, high)}: {counted(int(counts.sum()), 'launch', 'launches')}"
        for (low, high), counts in zip(strata, data.cluster_counts, strict=True)
    )
    shortest, longest, mean = map(quantities.duration, (row["min_ns"], row["max_ns"], row["mean_ns"]))
    description = (
        f"Histogram of {counted(row['launches'], 'launch', 'launches')} that last {shortest} to {longest}, "
        f"{mean} in the mean, in {facts.strata_text(len(strata))}."
    )
    grid = group_histogram(study, group, _TEXT_WIDTH, _TEXT_HEIGHT, log=log, ascii_only=True)
    name = f"durations-{group + 1}"
    return Figure(name, _title(study, group), description, Bars(data, names, log), plain(grid))


def timeline_figure(timeline: GroupTimeline) -> Figure:
    """Return a kernel group's launches over the run, those that the plan draws marked."""
    study, launches = timeline.study, timeline.launches
    strata = facts.clusters_of_group(study, timeline.group)
    log = _is_wide(int(launches.duration_ns.min()), int(launches.duration_ns.max()))
    names = tuple(quantities.duration_range(low, high) for low, high in strata)
    return Figure(
        "over-the-run",
        _title(study, timeline.group),
        f"Durations of the launches in the order in which they were issued. {course(launches)}.",
        cells_of(launches, strata, timeline.drawn_ids, names, log=log),
        plain(group_timeline(timeline, _TEXT_WIDTH, _TEXT_HEIGHT, log=log, ascii_only=True)),
    )


def trade_off_figure(known: TradeOff) -> Figure:
    """Return the speedup over epsilon, the plan's own marked."""
    points = [point for point in known.ascending if point.speedup is not None]
    epsilon = np.array([point.epsilon for point in points])
    speedup = np.array([point.speedup for point in points], dtype=np.float64)
    ends = ""
    if points:
        first, last = (
            f"{quantities.ratio(each.speedup)} at {each.epsilon:g}" for each in (points[0], points[-1])
        )
        ends = f" From {first} to {last}."
    return Figure(
        "trade-off",
        "Speedup over epsilon",
        f"Expected speedup of a plan by the method {known.method} over the error that is allowed.{ends}",
        Curve(epsilon, speedup, known.target.epsilon),
        plain(known.chart(_TEXT_WIDTH, _TEXT_HEIGHT, ascii_only=True)),
    )


def comparison_figure(rows: Sequence[Row]) -> Figure | None:
    """Return the methods by speedup and error; None where there is nothing to draw."""
    there = [
        each
        for each in merged([row for row in rows if row["applicable"]])
        if each.row["speedup"] is not None and each.row["error_mean"] is not None
    ]
    if not there:
        return None
    drawn = Points(
        np.array([each.row["speedup"] for each in there], dtype=np.float64),
        np.array([each.row["error_mean"] for each in there], dtype=np.float64),
        tuple(each.label for each in there),
    )
    best = max(there, key=lambda each: each.row["speedup"])
    return Figure(
        "comparison",
        "Speedup against error",
        "Mean error of the total over repeated draws, by the speedup of each method's plan; further down and "
        f"to the right is better. The largest speedup, {quantities.ratio(best.row['speedup'])}, "
        f"has {best.label}.",
        drawn,
        plain(comparison_scatter(rows, _TEXT_WIDTH, _TEXT_HEIGHT, ascii_only=True)),
    )


def _is_wide(low_ns: int, high_ns: int) -> bool:
    return 0 < _WIDE * low_ns < high_ns


def group_name(study: Study, group: int) -> str:
    """Return what a kernel group is called in charts and tables: short, and no other group's."""
    return facts.group_label(study, group, _NAME_WIDTH)


def _title(study: Study, group: int) -> str:
    return f"#{group + 1} {group_name(study, group)}"
