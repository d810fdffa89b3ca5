"""The table of view 1: which columns have room, what stands in a row, which one a cell belongs to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sampling.plan.study import Study
from sampling.reduction.duration_counts import MOST
from tui.app.actions import TABLE, bindings
from tui.app.frame.panes import Rows, Runs, mark_of
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, cluster_style, sparkline
from tui.charts.histogram import histogram_data, useful_bins
from tui.options.choices import GroupSort
from tui.terminal.printable import is_ascii
from tui.text.groups import GroupList, clusters_of_group, group_label, group_row, of_group, share_bar

_LEAST_LABEL = 24
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


class TableColumns(NamedTuple):
    """The columns that have room, from the left, and the blanks between two of them."""

    columns: tuple[GroupColumn, ...]
    gap: int

    def starts(self) -> list[int]:
        """Return the first cell of each column."""
        ends = np.cumsum([column.width + self.gap for column in self.columns])
        return [0, *ends[:-1].tolist()]

    def head(self, marked: str = "", mark: str = "") -> str:
        """Return the headings over their columns, one of them with a mark in the blank behind it."""
        head = ""
        for start, column in zip(self.starts(), self.columns, strict=True):
            # The bar belongs to the share before it.
            heading = "" if column.name == "bar" else column.name[: column.width]
            heading = heading.rjust(column.width) if column.to_right else heading
            head = head.ljust(start) + heading + (mark if column.name == marked else "")
        return head.ljust(start + column.width) if self.columns else ""


def table_columns(study: Study, width: int) -> TableColumns:
    """Return the columns that fit in `width` cells beside the name, which takes what is left.

    The name has at least 24 cells; columns that have no room beside it go one after the other. They are as
    wide as the widest cell of any kernel group may be, so that none moves while rows do.
    """
    columns = _figures(study, next(cells for least, cells in _BAR_FROM_WIDTH if width >= least))

    def room(gap: int) -> int:
        return width - sum(column.width + gap for column in columns)

    for dropped in _DROPPED_FIRST:
        if room(1) >= _LEAST_LABEL:
            break
        columns = [column for column in columns if column.name != dropped]
    gap = 2 if room(2) >= _ROOMY_LABEL else 1
    cells = max(room(gap), 8)

    def label(group: int) -> Runs:
        return [(group_label(study, group, cells), PLAIN)]

    name = GroupColumn("kernel group", cells, label, to_right=False)
    return TableColumns((*columns, name), gap)


def _figures(study: Study, bar_cells: int) -> list[GroupColumn]:
    of = study.groups

    def figure(name: str, widest: str, text: Callable[[int], str]) -> GroupColumn:
        return GroupColumn(name, max(len(name), len(widest)), lambda group: [(text(group), PLAIN)])

    def counts(name: str, values: np.ndarray | None, key: str) -> GroupColumn:
        largest = quantities.count(0 if values is None else int(values.max(initial=0)))
        return figure(name, largest, lambda group: of_group(group_row(study, group), key))

    def times(name: str, values: np.ndarray) -> GroupColumn:
        longest = quantities.duration(float(values.max(initial=0))).rjust(7)
        return figure(name, longest, lambda group: quantities.duration(values[group].item()))

    def shares(name: str, values: np.ndarray, widest: str) -> GroupColumn:
        return figure(name, widest, lambda group: quantities.share(float(values[group])))

    def cov(group: int) -> str:
        value = group_row(study, group)["cov"]
        return quantities.UNKNOWN if value is None else f"{value:.3f}"

    def bar(group: int) -> Runs:
        # In colour where it is one of those that take most; the group that reaches it is one of them.
        is_of_most = float(of.running_share[group] - of.share[group]) < MOST
        return [(share_bar(study, group, bar_cells), cluster_style(0) if is_of_most else AXIS)]

    all_of_time = "100.0 %" if float(of.share.max(initial=0)) > 0.9995 else "99.9 %"
    return [
        figure("rank", f"#{len(study.counts.groups)}", lambda group: f"#{group + 1}"),
        shares("share", of.share, all_of_time),
        GroupColumn("bar", bar_cells, bar, to_right=False),
        shares("cum", of.running_share, "100.0 %"),
        counts("launches", of.launches, "launches"),
        times("total", of.total_duration_ns),
        times("mean", of.mean_ns),
        figure("CoV", f"{float(of.cov.max(initial=0)):.3f}", cov),
        GroupColumn("durations", _SPARKLINE, partial(_sparkline, study), to_right=False),
        counts("strata", of.clusters, "clusters"),
        counts("drawn", of.samples, "samples"),
    ]


def row_runs(group: int, columns: TableColumns) -> Runs:
    """Return a kernel group's row, every column as wide as it is."""
    runs: Runs = []
    for place, column in enumerate(columns.columns):
        cell = column.cell(group)
        blanks = " " * max(column.width - sum(len(text) for text, _ in cell), 0)
        before = " " * columns.gap * (place > 0)
        padded = [(blanks, PLAIN), *cell] if column.to_right else [*cell, (blanks, PLAIN)]
        runs += [(before, PLAIN), *padded]
    return runs


_SPARKLINES: WeakKeyDictionary[Study, dict[tuple[int, bool], Runs]] = WeakKeyDictionary()


def _sparkline(study: Study, group: int) -> Runs:
    """Return the durations of a group as a small histogram, made once: a glyph a bin, in its stratum's style.

    Only the middle 98 % of the launches: a single one far away would leave all others one bin.
    """
    kept, key = _SPARKLINES.setdefault(study, {}), (group, is_ascii())
    if key in kept:
        return kept[key]
    if len(kept) >= _SPARKLINES_KEPT:
        kept.clear()
    values_ns, launches = study.counts.group_pairs(group)
    before = np.cumsum(launches)
    aside = int(before[-1]) * (1 - _MIDDLE) / 2
    first, last = np.searchsorted(before, aside, side="right"), np.searchsorted(before, before[-1] - aside)
    values_ns, launches = values_ns[first : last + 1], launches[first : last + 1]
    clusters = {
        cluster: (low, high)
        for cluster, (low, high) in enumerate(clusters_of_group(study, group))
        if high >= values_ns[0] and low <= values_ns[-1]
    }
    data = histogram_data(values_ns, launches, list(clusters.values()), useful_bins(values_ns, _SPARKLINE))
    glyphs = sparkline(data.counts, _SPARKLINE)
    numbers = list(clusters)
    styles = [cluster_style(numbers[place]) for place in data.cluster_counts.argmax(axis=0).tolist()]
    kept[key] = [(" " * ((_SPARKLINE - len(glyphs)) // 2), PLAIN), *zip(glyphs, styles, strict=True)]
    return kept[key]


class GroupTable(Rows):
    """Kernel groups; its columns are those that have room."""

    BINDINGS = bindings(TABLE)

    def __init__(self) -> None:
        super().__init__()
        self._study: Study | None = None
        self.listed = GroupList((), 0)
        self._order = GroupSort.TOTAL, False
        self._columns: tuple[int, TableColumns] | None = None

    def show(
        self, study: Study, listed: GroupList, selected: int | None, order: tuple[GroupSort, bool]
    ) -> None:
        """List these groups, the cursor on the selected one, by their order or the other way round."""
        self._study, self.listed, self._order, self._columns = study, listed, order, None
        self.fill(len(listed.groups), listed.groups.index(selected) if selected in listed.groups else 0)

    def select(self, group: int | None) -> None:
        """Go to a group, if it is listed, and tell nobody."""
        if group in self.listed.groups and group != self.highlighted:
            self.fill(self.row_count, self.listed.groups.index(group))

    @property
    def highlighted(self) -> int | None:
        """The group under the cursor; None in an empty table."""
        return self.listed.groups[self.cursor] if self.listed.groups else None

    def columns(self, width: int) -> TableColumns:
        """The columns that have room, found once a width."""
        if self._study is None or not width:
            return TableColumns((), 1)
        if self._columns is None or self._columns[0] != width:
            self._columns = width, table_columns(self._study, width)
        return self._columns[1]

    def heading(self, width: int) -> str:
        """The headings, the column that the groups are sorted by marked where it has room."""
        columns, (sort, reverse) = self.columns(width), self._order
        names = {column.name for column in columns.columns}
        name = next((each for each in _HEADS.get(sort, (sort.value,)) if each in names), "")
        return columns.head(name, mark_of(falls=(sort is GroupSort.NAME) == reverse))

    def runs(self, row: int, width: int) -> Runs:
        """One kernel group."""
        return row_runs(self.listed.groups[row], self.columns(width))
