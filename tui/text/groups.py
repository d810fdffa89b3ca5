"""Kernel groups as lists and tables: whole keys where they are read on, no wider than what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.plan.study import GroupStatistics, Study
from tui.charts import quantities
from tui.charts.grid import bar
from tui.options.choices import GroupSort
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names, table
from tui.text import facts


@dataclass(frozen=True, slots=True)
class GroupList:
    """The listed groups.

    Attributes
    ----------
    groups : their indices, rank - 1, in the order of the list.
    matching : how many groups match the filter; the listed ones are the first of them.
    """

    groups: tuple[int, ...]
    matching: int


def list_groups(
    study: Study, sort: GroupSort, wanted: str = "", most: int | None = None, *, reverse: bool = False
) -> GroupList:
    """Return the groups whose key contains `wanted`, in any case, sorted; equal ones by rank.

    Parameters
    ----------
    most : list no more than this.
    reverse : the smallest first, or the last name.
    """
    order = _order(study, sort, reverse=reverse)
    wanted = wanted.casefold()
    if wanted:
        keys = [group.key.casefold() for group in study.counts.groups]
        order = [index for index in order if wanted in keys[index]]
    return GroupList(tuple(order[:most]), len(order))


def _order(study: Study, sort: GroupSort, *, reverse: bool) -> list[int]:
    if sort is GroupSort.NAME:
        groups = study.counts.groups
        return sorted(range(len(groups)), key=lambda index: groups[index].name, reverse=reverse)
    values = _values(study.groups, sort, pooled=np.inf if reverse else 0)
    if values is None:
        ranks = range(len(study.counts.groups))
        return list(reversed(ranks) if reverse else ranks)
    order: list[int] = np.argsort(values if reverse else -values, kind="stable").tolist()
    return order


def _values(of: GroupStatistics, sort: GroupSort, *, pooled: float) -> np.ndarray | None:
    """Return what to sort by; None to keep the order of ranks.

    Parameters
    ----------
    pooled : the value that puts groups last which are pooled, and have none of their own.
    """
    return {
        GroupSort.LAUNCHES: of.launches,
        GroupSort.MEAN: of.mean_ns,
        GroupSort.COV: of.cov,
        GroupSort.STRATA: _own(of.clusters, of, pooled),
        GroupSort.DRAWN: _own(of.samples, of, pooled),
    }.get(sort)


def _own(values: np.ndarray | None, of: GroupStatistics, pooled: float) -> np.ndarray | None:
    """Return what groups have of their own; `pooled` for those that are pooled."""
    return None if values is None else np.where(of.pooled, pooled, values)


#: What stands for the strata and the launches of a kernel group that is pooled with others.
POOLED = "pool"

_BAR = 8
_GAP = 2
# A name in fewer columns says little; figures that others tell make room for it, these first.
_LEAST_NAME, _LEAST_OF_ALL = 30, 12
_DROPPED_FIRST = ("strata", "total", "", "cum", "CoV")
_IN_SHORT = ("rank", "share", "launches", "mean", "CoV", "drawn")
_IN_FULL = "names in full: --format csv"

Row = dict[str, Any]


def groups_text(study: Study, rows: list[Row], canvas: Canvas) -> str:
    """Return the table, and what the devices are called in it and elsewhere."""
    keys_wide = max((len(row["key"]) for row in rows), default=0)
    columns = _columns(study, rows)
    if keys_wide <= canvas.width - _taken(columns):
        whole, *named = group_blocks(study, rows)
        drawn = table(whole)
        return "\n".join([drawn, "", *named]) if named else drawn
    for heading in _DROPPED_FIRST:
        if canvas.width - _taken(columns) < _LEAST_NAME:
            columns = [each for each in columns if each.heading != heading]
    room = max(canvas.width - _taken(columns), _LEAST_OF_ALL)
    drawn = table(_with_names(study, rows, columns, room))
    return "\n".join([drawn, "", *facts.devices_named(study), _IN_FULL])


def group_blocks(study: Study, rows: list[Row]) -> tuple[list[Column], *tuple[str, ...]]:
    """Return the columns of that table, and the lines on the devices."""
    keys = names("kernel group", [row["key"] for row in rows])
    return [*_columns(study, rows), keys], *facts.devices_named(study)


def short_group_columns(study: Study, rows: list[Row], canvas: Canvas) -> list[Column]:
    """Return kernel groups as columns no wider than the canvas, with labels in place of keys."""
    whole = _columns(study, rows)
    columns = [each for each in whole if each.heading in _IN_SHORT]
    room = max(canvas.width - _taken(columns), _LEAST_OF_ALL)
    return _with_names(study, rows, columns, room)


def share_bar(study: Study, group: int, cells: int) -> str:
    """Return a kernel group's share as a bar; that of the largest group takes all cells."""
    share = study.groups.share
    return bar(float(share[group]) / (float(share[0]) or 1.0), cells)


def of_group(row: Row, what: str) -> str:
    """Return how many strata or drawn launches a group has; those of a pool are no one group's.

    Parameters
    ----------
    row : as `facts.group_row` returns it.
    what : ``"clusters"`` or ``"samples"``.
    """
    if row["pooled"]:
        return POOLED
    return "-" if row[what] is None else quantities.count(row[what])


def _with_names(study: Study, rows: list[Row], columns: list[Column], room: int) -> list[Column]:
    labels = [facts.group_label(study, row["rank"] - 1, room) for row in rows]
    return [*columns, names("kernel group", labels)]


def _taken(columns: Sequence[Column]) -> int:
    """Return the width of columns and of the gap after them."""
    return sum(max(map(len, (each.heading, *each.cells))) + _GAP for each in columns)


def _columns(study: Study, rows: list[Row]) -> list[Column]:
    shares = _share_columns(study, rows)
    return [
        Column("rank", [f"#{row['rank']}" for row in rows]),
        Column("share", [quantities.share(row["share"]) for row in rows]),
        *shares,
        Column("total", [quantities.duration(row["total_duration_ns"]) for row in rows]),
        Column("launches", [quantities.count(row["launches"]) for row in rows]),
        Column("mean", [quantities.duration(row["mean_ns"]) for row in rows]),
        Column("CoV", ["-" if row["cov"] is None else f"{row['cov']:.3f}" for row in rows]),
        Column("strata", [of_group(row, "clusters") for row in rows]),
        Column("drawn", [of_group(row, "samples") for row in rows]),
    ]


def _share_columns(study: Study, rows: list[Row]) -> list[Column]:
    """Return the shares as bars, and the running share in order of time."""
    of, groups = study.groups, [row["rank"] - 1 for row in rows]
    bars = [share_bar(study, group, _BAR) for group in groups]
    return [
        # As wide in any list, so that bars of two lists can be compared.
        Column("", [drawn.ljust(_BAR) for drawn in bars], to_right=False),
        Column("cum", [quantities.share(float(of.running_share[group])) for group in groups]),
    ]
