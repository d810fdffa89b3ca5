"""Kernel groups: what they are called, their table, and one group's strata and histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import UNSET

from sampling.plan.draft import FoldedSurvey, Survey
from sampling.plan.overview import GroupSummary, device_uses
from sampling.profile.names import classify_kernel
from sampling.reduction.duration_counts import DurationCounts
from tui.charts.grid import Grid, bar
from tui.charts.histogram import DurationAxis, HistogramData, histogram
from tui.charts.quantities import count, duration, duration_range, share
from tui.options.choices import GroupSort
from tui.output.blocks import Block, Listing
from tui.output.writer import Canvas
from tui.terminal.printable import Column, cell_width, names
from tui.text.labels import KernelLabels, Place, group_title, place_lines, place_names

#: What stands for the strata and the launches of a kernel group that is pooled with others.
POOLED = "pool"
#: What a text begins with that names a kind of work
_KIND = "kind:"
_BAR = 8
_GAP = 2
# A name in fewer columns says little; figures that others tell make room for it, these first.
_LEAST_NAME = 30
_DROPPED_FIRST = ("strata", "total", "", "cum", "CoV", "mean", "drawn", "launches")
_IN_SHORT = ("rank", "share", "launches", "mean", "CoV", "drawn")


# What they are called.

# Those of a reduction and the places of its launches: a plan made anew has the same.
_LABELS: WeakKeyDictionary[DurationCounts, KernelLabels] = WeakKeyDictionary()


def kernel_labels(survey: Survey) -> KernelLabels:
    """Return the labels of all kernel groups."""
    if survey.counts not in _LABELS:
        _LABELS[survey.counts] = KernelLabels(survey.counts.groups, survey_places(survey))
    return _LABELS[survey.counts]


def group_label(survey: Survey, index: int, room: int | None = None) -> str:
    """Return a group in a few words, in at most `room` columns; other groups have other labels."""
    return kernel_labels(survey).label(index, room)


def survey_places(survey: Survey) -> dict[Place, str]:
    """Return what every process and device is called; nothing where there is only one."""
    if len(survey.sequences) < 2 or survey.counts.grouping.pool_devices:
        return {}
    sequences = survey.profile.sequences
    ranks = any(sequence.is_rank for sequence in sequences)
    return place_names(((sequence.process, sequence.device) for sequence in sequences), ranks=ranks)


def devices_named(survey: Survey) -> list[str]:
    """Return what the names of processes and devices in labels stand for, a line each; or how many it is."""
    if isinstance(survey, FoldedSurvey):
        return [f"{len(survey.sequences)} GPUs together: --each-rank lists them apart"]
    if not (places := survey_places(survey)):
        return []
    models: dict[Place, str | None] = {(use.process, use.device): use.name for use in device_uses(survey)}
    return place_lines({place: name for place, name in places.items() if place in models}, models)


def group_columns(rank: str, key: str) -> list[Column]:
    """Return which kernel group is shown, as a table that has its whole key."""
    return [Column("rank", [rank], to_right=False), names("kernel group", [key])]


# Their table.


class GroupList(NamedTuple):
    """The listed groups: their indices, rank - 1, in order, and how many match the filter in all."""

    groups: tuple[int, ...]
    matching: int


def list_groups(
    survey: Survey, sort: GroupSort, text: str = "", limit: int | None = None, *, reverse: bool = False
) -> GroupList:
    """Return the groups whose key contains `text`, in any case, sorted; equal ones by rank.

    ``kind:NAME`` are those of a kind of work, as far as it is typed.
    `limit`: list no more than this. `reverse`: the smallest first, or the last name.
    """
    groups, statistics = survey.counts.groups, survey.groups
    # Groups that are pooled have no strata and launches of their own and stand last.
    last = np.inf if reverse else 0
    values = {
        GroupSort.LAUNCHES: statistics.launches,
        GroupSort.MEAN: statistics.mean_ns,
        GroupSort.COV: statistics.cov,
        GroupSort.STRATA: statistics.clusters
        if statistics.clusters is None
        else np.where(statistics.pooled, last, statistics.clusters),
        GroupSort.DRAWN: statistics.samples
        if statistics.samples is None
        else np.where(statistics.pooled, last, statistics.samples),
    }.get(sort)
    if sort is GroupSort.NAME:
        order = sorted(range(len(groups)), key=lambda index: groups[index].name, reverse=reverse)
    elif values is None:
        order = list(range(len(groups)))[:: -1 if reverse else 1]
    else:
        order = np.argsort(values if reverse else -values, kind="stable").tolist()
    if text:
        kind = text.casefold().removeprefix(_KIND)
        order = [
            index
            for index in order
            if (
                classify_kernel(groups[index].name).startswith(kind)
                if text.casefold().startswith(_KIND)
                else text.casefold() in groups[index].key.casefold()
            )
        ]
    return GroupList(tuple(order[:limit]), len(order))


def group_blocks(survey: Survey, rows: Sequence[GroupSummary], canvas: Canvas) -> Iterator[Block]:
    """Yield the table, with whole keys where there is room for them, and what the devices are called."""
    keys = [row.key for row in rows]
    listing = _listing(survey, rows, group_figures(survey, rows), keys)
    figures_width = sum(cells + _GAP for cells in listing.widths.values())
    is_whole = max(map(cell_width, keys), default=0) <= canvas.width - figures_width
    yield [*listing.figures, names("kernel group", keys)] if is_whole else listing
    devices = devices_named(survey) + apart_words(survey)
    yield from ("", *devices) if devices or not is_whole else ()
    yield from () if is_whole else ("names in full: --format csv",)


def apart_words(survey: Survey) -> list[str]:
    """Return that groups are the plan's own, where people look at those of several GPUs together."""
    if survey.look is survey or isinstance(survey, FoldedSurvey):
        return []
    return ["#1, #2 are the plan's groups, one for each GPU: `groups` without --plan has them together"]


def span_words(survey: Survey, group: int) -> list[str]:
    """Return on how many GPUs a group is that a plan has apart; it is shown without their strata."""
    if (gpus := len(survey.members(group))) == 1:
        return []
    return [f"on {gpus} GPUs, each planned by itself: --each-rank shows one, and its strata"]


def short_group_listing(survey: Survey, rows: Sequence[GroupSummary]) -> Listing:
    """Return the groups with the most telling figures and labels in place of keys."""
    return _listing(
        survey, rows, [column for column in group_figures(survey, rows) if column.heading in _IN_SHORT]
    )


def _listing(
    survey: Survey, rows: Sequence[GroupSummary], figures: list[Column], keys: list[str] | None = None
) -> Listing:
    def label(row: int, room: int) -> str:
        return group_label(survey, rows[row].rank - 1, room)

    return Listing(figures, "kernel group", label, _DROPPED_FIRST if keys else (), _LEAST_NAME, keys)


def group_figures(survey: Survey, rows: Sequence[GroupSummary]) -> list[Column]:
    """Return the figures of groups as columns."""
    statistics, groups = survey.groups, [row.rank - 1 for row in rows]
    # As wide in any list, so that bars of two lists can be compared.
    bars = [share_bar(survey, group, _BAR).ljust(_BAR) for group in groups]
    columns = [
        Column("rank", [f"#{row.rank}" for row in rows]),
        Column("share", [share(row.share) for row in rows]),
        Column("", bars, to_right=False, is_bar=True),
        Column("cum", [share(float(statistics.running_share[group])) for group in groups]),
        Column("total", [duration(row.total_duration_ns) for row in rows]),
        Column("launches", [count(row.launches) for row in rows]),
        Column("mean", [duration(row.mean_ns) for row in rows]),
        Column("CoV", ["-" if row.cov is None else f"{row.cov:.3f}" for row in rows]),
    ]
    if survey.design is None:
        return columns
    strata = Column("strata", [strata_text(row) for row in rows])
    return [*columns, strata, Column("drawn", [drawn_text(row) for row in rows])]


def share_bar(survey: Survey, group: int, cells: int) -> str:
    """Return a kernel group's share as a bar; that of the largest group takes all cells."""
    part = survey.groups.share
    return bar(float(part[group]) / (float(part[0]) or 1.0), cells)


def strata_text(group: GroupSummary) -> str:
    """Return how many strata a group has; those of a pool are no one group's."""
    return POOLED if group.pooled else "-" if not group.clusters else count(group.clusters)


def drawn_text(group: GroupSummary) -> str:
    """Return how many launches of a group are drawn; those of a pool are no one group's."""
    return (
        POOLED
        if group.pooled
        else "-"
        if group.samples is None or group.samples is UNSET
        else count(group.samples)
    )


# The durations of one.


def group_clusters(survey: Survey, group: int) -> list[tuple[int, int]]:
    """Return the (shortest, longest) duration that a kernel group has in each of its strata, ascending.

    Of one that the plan has apart, whose strata overlap, it is that of all.
    """
    durations_ns, _ = survey.counts.group_pairs(group)
    design, (planned_group, *others) = survey.design, survey.members(group)
    whole_range = [(int(durations_ns[0]), int(durations_ns[-1]))]
    if design is None or others or design.clusters is not None:
        return whole_range
    strata, of_strata = design.strata, design.groups.counts
    rows = np.flatnonzero(strata.group == design.groups.group_of[planned_group])
    low, high = of_strata.duration_ns[strata.start[rows]], of_strata.duration_ns[strata.stop[rows] - 1]
    # Of a pool's strata those that have launches of this group.
    first, last = np.searchsorted(durations_ns, low), np.searchsorted(durations_ns, high, side="right") - 1
    is_inside = first <= last
    ranges = zip(durations_ns[first[is_inside]].tolist(), durations_ns[last[is_inside]].tolist(), strict=True)
    return list(ranges) or whole_range


def group_histogram(
    survey: Survey, group: int, width: int, height: int, *, log: bool, all_durations: bool = False
) -> Grid:
    """Return the histogram of a kernel group, its strata as clusters."""
    clusters = group_clusters(survey, group)
    axis: DurationAxis = "log" if log else "all" if all_durations else "linear"
    return histogram(*survey.counts.group_pairs(group), clusters, width, height, axis=axis)


def histogram_blocks(
    survey: Survey, group: int, width: int, height: int, *, log: bool, all_durations: bool = False
) -> list[Block]:
    """Return the group's rank and key, or its label where the key is too long; below it its histogram."""
    title = group_title(f"#{group + 1}", survey.counts.groups, group, width)
    chart = group_histogram(survey, group, width, height, log=log, all_durations=all_durations)
    return [title, *span_words(survey, group), chart]


def histogram_page(survey: Survey, group: int, data: HistogramData) -> list[Block]:
    """Return the group's rank and key, and its bins as a table."""
    edges, clusters = data.edges_ns.tolist(), data.cluster_counts.tolist()
    columns = [
        Column("durations", [duration_range(*ends) for ends in pairwise(edges)]),
        Column("launches", [count(number) for number in data.counts.tolist()]),
    ]
    for number, counts in enumerate(clusters if len(clusters) > 1 else ()):
        columns.append(Column(f"cluster {number}", [count(number) for number in counts]))
    key = group_columns(f"#{group + 1}", survey.counts.groups[group].key)
    return [key, *span_words(survey, group), columns]


def histogram_rows(data: HistogramData) -> list[dict[str, Any]]:
    """Return a row a bin, with the launches of each cluster."""
    edges = data.edges_ns.astype(np.int64).tolist()
    clusters = (f"cluster_{number}" for number in range(len(data.cluster_counts)))
    names = ("low_ns", "high_ns", "count", *clusters)
    columns = (edges[:-1], edges[1:], data.counts.tolist(), *data.cluster_counts.tolist())
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
