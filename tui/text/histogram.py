"""A kernel group's histogram, as `histogram` answers it in every format and view 1 copies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.plan.study import Study
from tui.charts import quantities
from tui.charts.grid import (
    HEADING,
    LABEL,
    Grid,
    ansi,
    bar,
    blank,
    cluster_style,
    cluster_symbol,
    plain,
    put,
    stack,
)
from tui.charts.histogram import LEFT, DurationAxis, HistogramData, histogram
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import Column
from tui.text import facts
from tui.text.groups import POOLED
from tui.text.labels.kernel_labels import group_title

_GAP = 2
_BAR = 8


@dataclass(frozen=True, slots=True)
class GroupStratum:
    """The launches of a kernel group in one stratum.

    Attributes
    ----------
    share : of the group's time.
    cov : std / mean; None where the mean is 0.
    drawn : launches that the plan draws; None where they may be of other groups too.
    """

    low_ns: int
    high_ns: int
    launches: int
    share: float
    mean_ns: float
    cov: float | None
    drawn: int | None


def group_strata(study: Study, group: int) -> list[GroupStratum]:
    """Return the strata of a kernel group by duration; one of all its launches where the plan has none."""
    durations_ns, launches = study.counts.group_pairs(group)
    clusters = facts.clusters_of_group(study, group)
    drawn = _drawn(study, group, len(clusters))
    total_ns = float(durations_ns @ launches) or 1.0
    strata = []
    for (low_ns, high_ns), samples in zip(clusters, drawn, strict=True):
        rows = slice(*np.searchsorted(durations_ns, [low_ns, high_ns + 1]).tolist())
        of_ns, number = durations_ns[rows], launches[rows]
        mean_ns = float(of_ns @ number) / int(number.sum())
        std_ns = float(np.sqrt(number @ (of_ns - mean_ns) ** 2 / number.sum()))
        share = float(of_ns @ number) / total_ns
        cov = std_ns / mean_ns if mean_ns else None
        strata.append(GroupStratum(low_ns, high_ns, int(number.sum()), share, mean_ns, cov, samples))
    return strata


def _drawn(study: Study, group: int, clusters: int) -> list[int | None]:
    """Return how many launches the plan draws in each stratum of a group."""
    design, of = study.design, study.groups
    if of.pooled[group]:
        return [None] * clusters
    if design.groups is not None:
        rows = np.flatnonzero(design.strata.group == design.groups.group_of[group])
        if len(rows) == clusters:
            return list(design.strata.samples[rows].tolist())
    if of.samples is not None and clusters == 1:
        return [int(of.samples[group])]
    return [None] * clusters


def strata_grid(study: Study, group: int, width: int) -> Grid | None:
    """Return the strata of a kernel group as a table no wider than `width`, or None if it would be wider.

    A stratum has the symbol and the colour of its bars in the histogram.
    """
    strata = group_strata(study, group)
    unknown = POOLED if study.groups.pooled[group] else quantities.UNKNOWN
    columns = [
        Column("durations", [quantities.duration_range(each.low_ns, each.high_ns) for each in strata]),
        Column("launches", [quantities.count(each.launches) for each in strata]),
        Column("mean", [quantities.duration(each.mean_ns) for each in strata]),
        Column("CoV", [quantities.UNKNOWN if each.cov is None else f"{each.cov:.3f}" for each in strata]),
        Column("drawn", [unknown if each.drawn is None else str(each.drawn) for each in strata]),
        Column("of its time", [quantities.share(each.share) for each in strata]),
    ]
    widths = [max(map(len, (column.heading, *column.cells))) for column in columns]
    taken = 2 + sum(widths) + _GAP * (len(widths) - 1)
    if taken > width:
        return None
    grid = blank(width, len(strata) + 1)
    starts = np.cumsum([2, *(cells + _GAP for cells in widths)]).tolist()
    bars = min(starts[-1] + _BAR, width) - starts[-1]
    for column, start, cells in zip(columns, starts, widths, strict=False):
        put(grid, 0, start, column.heading.rjust(cells), HEADING)
        for row, text in enumerate(column.cells, 1):
            put(grid, row, start, text.rjust(cells), LABEL)
    for row, stratum in enumerate(strata, 1):
        style = cluster_style(row - 1)
        if len(strata) > 1:
            put(grid, row, 0, cluster_symbol(row - 1), style)
        put(grid, row, starts[-1], bar(stratum.share, bars), style)
    return grid


def group_histogram(
    study: Study, group: int, width: int, height: int, *, log: bool, whole: bool = False
) -> Grid:
    """Return the histogram of a kernel group, its strata as clusters; a table of them where it has room."""
    durations_ns, launches = study.counts.group_pairs(group)
    clusters = facts.clusters_of_group(study, group)
    words = None
    # At most a third of the rows, with the headings and a blank row above.
    if len(clusters) + 2 <= height // 3:
        listed = strata_grid(study, group, width - LEFT)
        words = listed and stack([blank(width - LEFT, 1), listed])
    axis: DurationAxis = "log" if log else "all" if whole else "linear"
    return histogram(durations_ns, launches, clusters, width, height, axis=axis, words=words)


def histogram_text(
    study: Study, group: int, canvas: Canvas, height: int, *, log: bool, whole: bool = False
) -> str:
    """Return the group's rank and key in one line, below it its histogram, all as wide as the canvas.

    A key that is too long for the line is replaced by its label.
    """
    groups = study.counts.groups
    key = group_title(f"#{group + 1}", groups, group, canvas.width)
    grid = group_histogram(study, group, canvas.width, height, log=log, whole=whole)
    return f"{key}\n{ansi(grid) if canvas.color else plain(grid)}"


def histogram_blocks(study: Study, group: int, data: HistogramData) -> list[Block]:
    """Return the group's rank and key, and its bins."""
    low, high = data.edges_ns[:-1].tolist(), data.edges_ns[1:].tolist()
    columns = [
        Column("durations", [quantities.duration_range(*edges) for edges in zip(low, high, strict=True)]),
        Column("launches", [quantities.count(count) for count in data.counts.tolist()]),
    ]
    for number, counts in enumerate(data.cluster_counts if len(data.cluster_counts) > 1 else ()):
        columns.append(Column(f"cluster {number}", [quantities.count(count) for count in counts.tolist()]))
    return [facts.group_columns(f"#{group + 1}", study.counts.groups[group].key), columns]


def histogram_results(
    study: Study, group: int, clusters: list[tuple[int, int]], data: HistogramData
) -> dict[str, Any]:
    """Return the bins and clusters of a kernel group as the contract's `histogram` has them."""
    return {
        "key": study.counts.groups[group].key,
        "rank": group + 1,
        "edges_ns": data.edges_ns.tolist(),
        "counts": data.counts.tolist(),
        "clusters": [
            {"low_ns": low, "high_ns": high, "launches": int(counts.sum()), "counts": counts.tolist()}
            for (low, high), counts in zip(clusters, data.cluster_counts, strict=True)
        ],
    }


def histogram_rows(clusters: list[tuple[int, int]], data: HistogramData) -> list[dict[str, Any]]:
    """Return a row a bin, with the launches of each cluster."""
    return [
        {
            "low_ns": int(data.edges_ns[index]),
            "high_ns": int(data.edges_ns[index + 1]),
            "count": int(data.counts[index]),
            **{
                f"cluster_{number}": int(data.cluster_counts[number, index])
                for number in range(len(clusters))
            },
        }
        for index in range(len(data.counts))
    ]
