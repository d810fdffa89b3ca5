"""The columns of view 1's table: which have room, what stands in a row, which one a cell belongs to.

The name of a kernel group has at least 24 cells. Columns that have no room beside it go one after the other:
the durations, the running share, the strata, the bar, the drawn launches, the total, the CoV, the mean, the
rank, the launches; the share stays. At 80 cells the first three are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sampling.plan.study import Study
from sampling.reduction.concentration import MOST
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, cluster_style, sparkline
from tui.charts.histogram_data import histogram_data, useful_bins
from tui.options.choices import GroupSort
from tui.text import facts
from tui.text.groups import of_group, share_bar

Runs = list[tuple[str, int]]
"""Texts, each with a style of `tui.charts.grid`."""

_LEAST_LABEL = 24
_ROOMY_LABEL = 36
"""With as many cells for the name, two blanks stand between columns."""
_DROPPED_FIRST = (
    "durations",
    "cum",
    "strata",
    "bar",
    "drawn",
    "total",
    "CoV",
    "mean",
    "rank",
    "launches",
)
_BAR_FROM_WIDTH = ((150, 16), (100, 8), (0, 5))
_SPARKLINE = 10
_DURATION = 7
_MIDDLE = 0.98
_SPARKLINES_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column of the table.

    Attributes
    ----------
    name : what it shows.
    heading : what stands over it; nothing over the bar, which belongs to the share before it.
    width : in cells.
    sort : the order of the groups that goes by it; None where none does.
    """

    name: str
    heading: str
    width: int
    to_right: bool = True
    sort: GroupSort | None = None


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns that have room, from the left, and the blanks between two of them."""

    columns: tuple[GroupColumn, ...]
    gap: int

    def starts(self) -> list[int]:
        """Return the first cell of each column."""
        starts, at = [], 0
        for column in self.columns:
            starts.append(at)
            at += column.width + self.gap
        return starts

    def column_at(self, cell: int) -> GroupColumn | None:
        """Return the column that a cell of the table's head or of a row belongs to.

        The blanks before a column are its own. None beyond the last one.
        """
        for start, column in zip(self.starts(), self.columns, strict=True):
            if cell < start + column.width:
                return column
        return None

    def head(self, marked: str = "", mark: str = "") -> str:
        """Return the headings as they stand over the columns.

        Parameters
        ----------
        marked : the name of the column that has `mark` in the blank behind its heading; "" for none.
        """
        head = (" " * self.gap).join(
            column.heading.rjust(column.width) if column.to_right else column.heading.ljust(column.width)
            for column in self.columns
        )
        for start, column in zip(self.starts(), self.columns, strict=True):
            if column.name == marked:
                end = start + (column.width if column.to_right else len(column.heading))
                return head[:end] + mark + head[end + 1 :]
        return head


def table_columns(study: Study, width: int) -> TableColumns:
    """Return the columns that fit in `width` cells beside the name, which takes what is left.

    They are as wide as the widest cell of any kernel group may be, so that none moves while rows do.
    """
    columns = _figures(study, next(cells for least, cells in _BAR_FROM_WIDTH if width >= least))
    for dropped in _DROPPED_FIRST:
        if width - _taken(columns, 1) >= _LEAST_LABEL:
            break
        columns = [column for column in columns if column.name != dropped]
    gap = 2 if width - _taken(columns, 2) >= _ROOMY_LABEL else 1
    room = max(width - _taken(columns, gap), 8)
    name = GroupColumn("kernel group", "kernel group"[:room], room, to_right=False, sort=GroupSort.NAME)
    return TableColumns((*columns, name), gap)


def _taken(columns: Sequence[GroupColumn], gap: int) -> int:
    return sum(column.width + gap for column in columns)


def _figures(study: Study, bar_cells: int) -> list[GroupColumn]:
    of = study.groups
    number = len(study.counts.groups)

    def counts(name: str, values: np.ndarray | None, sort: GroupSort) -> GroupColumn:
        largest = 0 if values is None else int(values.max(initial=0))
        return GroupColumn(name, name, max(len(name), len(quantities.count(largest))), sort=sort)

    def times(name: str, values: np.ndarray, sort: GroupSort) -> GroupColumn:
        longest = len(quantities.duration(float(values.max(initial=0))))
        return GroupColumn(name, name, max(_DURATION, longest), sort=sort)

    return [
        GroupColumn("rank", "rank", max(4, len(f"#{number}")), sort=GroupSort.TOTAL),
        GroupColumn(
            "share", "share", 7 if float(of.share.max(initial=0)) > 0.9995 else 6, sort=GroupSort.TOTAL
        ),
        GroupColumn("bar", "", bar_cells, to_right=False, sort=GroupSort.TOTAL),
        GroupColumn("cum", "cum", 7, sort=GroupSort.TOTAL),
        counts("launches", of.launches, GroupSort.LAUNCHES),
        times("total", of.total_duration_ns, GroupSort.TOTAL),
        times("mean", of.mean_ns, GroupSort.MEAN),
        GroupColumn("CoV", "CoV", max(5, len(_cov(float(of.cov.max(initial=0))))), sort=GroupSort.COV),
        GroupColumn("durations", "durations", _SPARKLINE, to_right=False),
        counts("strata", of.clusters, GroupSort.STRATA),
        counts("drawn", of.samples, GroupSort.DRAWN),
    ]


def _cov(cov: float | None) -> str:
    return quantities.UNKNOWN if cov is None else f"{cov:.3f}"


def row_texts(study: Study, group: int, columns: TableColumns, *, ascii_only: bool) -> dict[str, str]:
    """Return what stands in each column of a kernel group's row, by the column's name."""
    return {
        column.name: "".join(text for text, _ in _cell(study, group, column, ascii_only=ascii_only))
        for column in columns.columns
    }


def row_runs(study: Study, group: int, columns: TableColumns, *, ascii_only: bool) -> Runs:
    """Return a kernel group's row, every column as wide as it is."""
    runs: Runs = []
    for place, column in enumerate(columns.columns):
        cell = _cell(study, group, column, ascii_only=ascii_only)
        blanks = " " * max(column.width - sum(len(text) for text, _ in cell), 0)
        before = " " * columns.gap if place else ""
        runs.append((before + (blanks if column.to_right else ""), PLAIN))
        runs += cell
        if not column.to_right:
            runs.append((blanks, PLAIN))
    return runs


def _cell(study: Study, group: int, column: GroupColumn, *, ascii_only: bool) -> Runs:
    if column.name == "bar":
        return _bar(study, group, column.width, ascii_only=ascii_only)
    if column.name == "durations":
        return _sparkline(study, group, column.width, ascii_only=ascii_only)
    if column.name == "kernel group":
        return [(facts.group_label(study, group, column.width, ascii_only=ascii_only), PLAIN)]
    return [(_FIGURES[column.name](study, group), PLAIN)]


def _of_row(name: str, study: Study, group: int) -> str:
    return of_group(facts.group_row(study, group), name)


_FIGURES: dict[str, Callable[[Study, int], Any]] = {
    "rank": lambda _, group: f"#{group + 1}",
    "share": lambda study, group: quantities.share(float(study.groups.share[group])),
    "cum": lambda study, group: quantities.share(float(study.groups.running_share[group])),
    "launches": lambda study, group: quantities.count(int(study.groups.launches[group])),
    "total": lambda study, group: quantities.duration(int(study.groups.total_duration_ns[group])),
    "mean": lambda study, group: quantities.duration(float(study.groups.mean_ns[group])),
    "CoV": lambda study, group: _cov(facts.group_row(study, group)["cov"]),
    "strata": partial(_of_row, "clusters"),
    "drawn": partial(_of_row, "samples"),
}


def _bar(study: Study, group: int, cells: int, *, ascii_only: bool) -> Runs:
    """Return a group's share of the largest group's; in colour where it is one of those that take most."""
    of = study.groups
    drawn = share_bar(study, group, cells, ascii_only=ascii_only)
    # The group that reaches it is one of them.
    is_of_most = float(of.running_share[group] - of.share[group]) < MOST
    return [(drawn, cluster_style(0) if is_of_most else AXIS)]


_SPARKLINES: WeakKeyDictionary[Study, dict[tuple[int, int, bool], Runs]] = WeakKeyDictionary()


def _sparkline(study: Study, group: int, cells: int, *, ascii_only: bool) -> Runs:
    """Return the durations of a group as a small histogram, which is made once."""
    kept, key = _SPARKLINES.setdefault(study, {}), (group, cells, ascii_only)
    if key not in kept:
        if len(kept) >= _SPARKLINES_KEPT:
            kept.clear()
        kept[key] = _durations(study, group, cells, ascii_only=ascii_only)
    return kept[key]


def _durations(study: Study, group: int, cells: int, *, ascii_only: bool) -> Runs:
    """Return a glyph a bin from short to long, in the style of the stratum there.

    Only the middle 98 % of the launches: a single one far away would leave all others one bin.
    """
    values_ns, launches = study.counts.group_pairs(group)
    before = np.cumsum(launches)
    aside = int(before[-1]) * (1 - _MIDDLE) / 2
    first, last = np.searchsorted(before, aside, side="right"), np.searchsorted(before, before[-1] - aside)
    values_ns, launches = values_ns[first : last + 1], launches[first : last + 1]
    clusters = {
        cluster: (low, high)
        for cluster, (low, high) in enumerate(facts.clusters_of_group(study, group))
        if high >= values_ns[0] and low <= values_ns[-1]
    }
    data = histogram_data(values_ns, launches, list(clusters.values()), useful_bins(values_ns, cells))
    glyphs = sparkline(data.counts, cells, ascii_only=ascii_only)
    numbers = list(clusters)
    styles = [cluster_style(numbers[place]) for place in data.cluster_counts.argmax(axis=0).tolist()]
    return [(" " * ((cells - len(glyphs)) // 2), PLAIN), *zip(glyphs, styles, strict=True)]
