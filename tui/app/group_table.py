"""The table of view 1: which columns have room, what stands in a row, which one a cell belongs to.

The name of a kernel group has at least 24 cells. Columns that have no room beside it go one after the other:
the durations, the running share, the strata, the bar, the drawn launches, the total, the CoV, the mean, the
rank, the launches; the share stays. At 80 cells the first three are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from sampling.plan.study import Study
from sampling.reduction.duration_counts import MOST
from tui.app.actions import TABLE, bindings
from tui.app.frame.heads import mark_of
from tui.app.frame.rows import Rows, Runs
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, cluster_style, sparkline
from tui.charts.histogram import histogram_data, useful_bins
from tui.options.choices import GroupSort
from tui.terminal.printable import is_ascii
from tui.text import facts
from tui.text.groups import GroupList, of_group, share_bar

_LEAST_LABEL = 24
_ROOMY_LABEL = 36
"""With as many cells for the name, two blanks stand between columns."""
_DROPPED_FIRST = ("durations", "cum", "strata", "bar", "drawn", "total", "CoV", "mean", "rank", "launches")
_BAR_FROM_WIDTH = ((150, 16), (100, 8), (0, 5))
_SPARKLINE = 10
_DURATION = 7
_MIDDLE = 0.98
_SPARKLINES_KEPT = 4_096
# What is marked as the order where it has room, the first of these.
_HEADS = {GroupSort.TOTAL: ("total", "share"), GroupSort.COV: ("CoV",), GroupSort.NAME: ("kernel group",)}


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column of the table.

    Attributes
    ----------
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
        ends = np.cumsum([column.width + self.gap for column in self.columns])
        return [0, *ends[:-1].tolist()]

    def column_at(self, cell: int) -> GroupColumn | None:
        """Return the column that a cell of the table's head or of a row belongs to.

        The blanks before a column are its own. None beyond the last one.
        """
        columns = zip(self.starts(), self.columns, strict=True)
        return next((column for start, column in columns if cell < start + column.width), None)

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

    def counts(name: str, values: np.ndarray | None, sort: GroupSort) -> GroupColumn:
        largest = 0 if values is None else int(values.max(initial=0))
        return GroupColumn(name, name, max(len(name), len(quantities.count(largest))), sort=sort)

    def times(name: str, values: np.ndarray, sort: GroupSort) -> GroupColumn:
        longest = len(quantities.duration(float(values.max(initial=0))))
        return GroupColumn(name, name, max(_DURATION, longest), sort=sort)

    share_width = 7 if float(of.share.max(initial=0)) > 0.9995 else 6
    cov_width = max(5, len(_cov(float(of.cov.max(initial=0)))))
    return [
        GroupColumn("rank", "rank", max(4, len(f"#{len(study.counts.groups)}")), sort=GroupSort.TOTAL),
        GroupColumn("share", "share", share_width, sort=GroupSort.TOTAL),
        GroupColumn("bar", "", bar_cells, to_right=False, sort=GroupSort.TOTAL),
        GroupColumn("cum", "cum", 7, sort=GroupSort.TOTAL),
        counts("launches", of.launches, GroupSort.LAUNCHES),
        times("total", of.total_duration_ns, GroupSort.TOTAL),
        times("mean", of.mean_ns, GroupSort.MEAN),
        GroupColumn("CoV", "CoV", cov_width, sort=GroupSort.COV),
        GroupColumn("durations", "durations", _SPARKLINE, to_right=False),
        counts("strata", of.clusters, GroupSort.STRATA),
        counts("drawn", of.samples, GroupSort.DRAWN),
    ]


def _cov(cov: float | None) -> str:
    return quantities.UNKNOWN if cov is None else f"{cov:.3f}"


def row_runs(study: Study, group: int, columns: TableColumns) -> Runs:
    """Return a kernel group's row, every column as wide as it is."""
    runs: Runs = []
    for place, column in enumerate(columns.columns):
        cell = _cell(study, group, column)
        blanks = " " * max(column.width - sum(len(text) for text, _ in cell), 0)
        before = " " * columns.gap if place else ""
        runs.append((before + (blanks if column.to_right else ""), PLAIN))
        runs += cell
        if not column.to_right:
            runs.append((blanks, PLAIN))
    return runs


def _cell(study: Study, group: int, column: GroupColumn) -> Runs:
    of = study.groups
    if column.name == "bar":
        # In colour where it is one of those that take most; the group that reaches it is one of them.
        is_of_most = float(of.running_share[group] - of.share[group]) < MOST
        bar = share_bar(study, group, column.width)
        return [(bar, cluster_style(0) if is_of_most else AXIS)]
    if column.name == "durations":
        return _sparkline(study, group, column.width)
    if column.name == "kernel group":
        return [(facts.group_label(study, group, column.width), PLAIN)]
    return [(_FIGURES[column.name](study, group), PLAIN)]


_FIGURES: dict[str, Callable[[Study, int], str]] = {
    "rank": lambda _, group: f"#{group + 1}",
    "share": lambda study, group: quantities.share(float(study.groups.share[group])),
    "cum": lambda study, group: quantities.share(float(study.groups.running_share[group])),
    "launches": lambda study, group: quantities.count(int(study.groups.launches[group])),
    "total": lambda study, group: quantities.duration(int(study.groups.total_duration_ns[group])),
    "mean": lambda study, group: quantities.duration(float(study.groups.mean_ns[group])),
    "CoV": lambda study, group: _cov(facts.group_row(study, group)["cov"]),
    "strata": lambda study, group: of_group(facts.group_row(study, group), "clusters"),
    "drawn": lambda study, group: of_group(facts.group_row(study, group), "samples"),
}


_SPARKLINES: WeakKeyDictionary[Study, dict[tuple[int, int, bool], Runs]] = WeakKeyDictionary()


def _sparkline(study: Study, group: int, cells: int) -> Runs:
    """Return the durations of a group as a small histogram, made once: a glyph a bin, in its stratum's style.

    Only the middle 98 % of the launches: a single one far away would leave all others one bin.
    """
    kept, key = _SPARKLINES.setdefault(study, {}), (group, cells, is_ascii())
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
        for cluster, (low, high) in enumerate(facts.clusters_of_group(study, group))
        if high >= values_ns[0] and low <= values_ns[-1]
    }
    data = histogram_data(values_ns, launches, list(clusters.values()), useful_bins(values_ns, cells))
    glyphs = sparkline(data.counts, cells)
    numbers = list(clusters)
    styles = [cluster_style(numbers[place]) for place in data.cluster_counts.argmax(axis=0).tolist()]
    kept[key] = [(" " * ((cells - len(glyphs)) // 2), PLAIN), *zip(glyphs, styles, strict=True)]
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
        """List these groups, the cursor on the selected one.

        Parameters
        ----------
        order : what they are sorted by, and whether the other way round.
        """
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

    def head_at(self, cell: int) -> str:
        """The order that goes by the column there; nothing where none does."""
        column = self.columns(self.size.width).column_at(cell)
        return "" if column is None or column.sort is None else column.sort.value

    def runs(self, row: int, width: int) -> Runs:
        """One kernel group."""
        if self._study is None:
            return []
        group, columns = self.listed.groups[row], self.columns(width)
        return row_runs(self._study, group, columns)
