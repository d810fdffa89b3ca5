"""What `groups` prints: whole keys where it is read on, and no wider than the terminal that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.plan.study import Study
from tui.charts import quantities
from tui.output.writer import Canvas
from tui.terminal.tables import Column, table
from tui.text import facts

_GAP = 2
# A name in fewer columns says little; figures that others tell make room for it, these first.
_LEAST_NAME, _LEAST_OF_ALL = 30, 12
_DROPPED_FIRST = ("strata", "total", "", "cum", "CoV")
_IN_FULL = "names in full: kernelpoint groups ... | cat, or --format csv"

Row = dict[str, Any]


def groups_text(study: Study, rows: list[Row], canvas: Canvas) -> str:
    """Return the table, and what the devices are called in it and elsewhere."""
    keys_wide = max((len(row["key"]) for row in rows), default=0)
    columns = _columns(study, rows, ascii_only=canvas.ascii_only)
    if not canvas.is_terminal or keys_wide <= canvas.width - _taken(columns):
        return facts.groups_text(study, rows, ascii_only=canvas.ascii_only)
    for heading in _DROPPED_FIRST:
        if canvas.width - _taken(columns) < _LEAST_NAME:
            columns = [each for each in columns if each.heading != heading]
    room = max(canvas.width - _taken(columns), _LEAST_OF_ALL)
    names = [facts.group_label(study, row["rank"] - 1, room, ascii_only=canvas.ascii_only) for row in rows]
    drawn = table([*columns, Column("kernel group", names, to_right=False)], ascii_only=canvas.ascii_only)
    return "\n".join([drawn, "", *facts.devices_named(study), _IN_FULL])


def _taken(columns: Sequence[Column]) -> int:
    """Return the width of columns and of the gap after them."""
    return sum(max(map(len, (each.heading, *each.cells))) + _GAP for each in columns)


def _columns(study: Study, rows: list[Row], *, ascii_only: bool) -> list[Column]:
    shares = facts.share_columns(study, rows, ascii_only=ascii_only) if study.counts.has_durations else ()
    return [
        Column("rank", [f"#{row['rank']}" for row in rows]),
        Column("share", [quantities.share(row["share"]) for row in rows]),
        *shares,
        Column("total", [quantities.duration(row["total_duration_ns"]) for row in rows]),
        Column("launches", [quantities.count(row["launches"]) for row in rows]),
        Column("mean", [quantities.duration(row["mean_ns"]) for row in rows]),
        Column("CoV", ["-" if row["cov"] is None else f"{row['cov']:.3f}" for row in rows]),
        Column("strata", [facts.of_group(row, "clusters") for row in rows]),
        Column("drawn", [facts.of_group(row, "samples") for row in rows]),
    ]
