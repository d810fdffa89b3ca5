"""The strata of one kernel group as a table, which stands below its histogram where there is room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.plan.design import Design
from sampling.plan.study import Study
from tui.charts import quantities
from tui.charts.bar import bar
from tui.charts.glyphs import cluster_style, cluster_symbol
from tui.charts.grid import HEADING, LABEL, Grid, blank, put
from tui.terminal.tables import Column
from tui.text import facts
from tui.text.group_tables import POOLED

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
    if isinstance(design, Design) and design.groups is not None:
        rows = np.flatnonzero(design.strata.group == design.groups.group_of[group])
        if len(rows) == clusters:
            return list(design.strata.samples[rows].tolist())
    if of.samples is not None and clusters == 1:
        return [int(of.samples[group])]
    return [None] * clusters


def strata_grid(study: Study, group: int, width: int, *, ascii_only: bool) -> Grid | None:
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
            put(grid, row, 0, cluster_symbol(row - 1, ascii_only=ascii_only), style)
        put(grid, row, starts[-1], bar(stratum.share, bars, ascii_only=ascii_only), style)
    return grid
