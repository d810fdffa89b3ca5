"""The columns of the group table: their cells, and which of them have room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.plan.study import Study
from sampling.profile.names import short_name
from tui.charts import quantities
from tui.terminal.tables import Column, shortened
from tui.text import facts

PADDING = 2
"""Blanks between two columns."""

_LEAST_LABEL = 30
_LEAST_NAME = 12
_DROPPED_FIRST = ("total", "mean", "CoV", "rank", "drawn", "launches", "strata")


def group_columns(study: Study, groups: Sequence[int], width: int, *, ascii_only: bool) -> list[Column]:
    """Return the columns that fit in `width` cells beside a readable name, which takes what is left."""
    rows = [facts.group_row(study, index) for index in groups]
    columns = _figures(rows)
    for heading in _DROPPED_FIRST:
        if width - _taken(columns) >= _LEAST_LABEL:
            break
        columns = [column for column in columns if column.heading != heading]
    room = max(width - _taken(columns) - PADDING, 8)
    labels = [_label(study, index, room, ascii_only=ascii_only) for index in groups]
    return [*columns, Column("kernel group".ljust(room), labels, to_right=False)]


def _label(study: Study, index: int, room: int, *, ascii_only: bool) -> str:
    """Return a group in at most `room` cells; its grid stays whole, for it tells groups of one name apart."""
    name, label = short_name(study.counts.groups[index].name), facts.group_label(study, index)
    place = label.removeprefix(name)
    if room - len(place) < _LEAST_NAME:
        return shortened(label, room, ascii_only=ascii_only)
    return shortened(name, room - len(place), ascii_only=ascii_only) + place


def column_width(column: Column) -> int:
    """Return the cells of a column's widest text."""
    return max(map(len, (column.heading, *column.cells)))


def _taken(columns: Sequence[Column]) -> int:
    return sum(column_width(column) + PADDING for column in columns)


def _figures(rows: Sequence[dict[str, Any]]) -> list[Column]:
    def whole(name: str) -> list[str]:
        return ["-" if row[name] is None else quantities.count(row[name]) for row in rows]

    return [
        Column("rank", [f"#{row['rank']}" for row in rows]),
        Column("share", [quantities.share(row["share"]) for row in rows]),
        Column("launches", whole("launches")),
        Column("total", [quantities.duration(row["total_duration_ns"]) for row in rows]),
        Column("mean", [quantities.duration(row["mean_ns"]) for row in rows]),
        Column("CoV", ["-" if row["cov"] is None else f"{row['cov']:.3f}" for row in rows]),
        Column("strata", whole("clusters")),
        Column("drawn", whole("samples")),
    ]
