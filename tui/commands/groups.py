"""`groups`: the kernel groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sampling.methods import DEFAULT_METHOD
from tui import facts
from tui.engine import study_of
from tui.options import GroupsOptions, GroupSort
from tui.output import Answer, emit

_ORDERS: dict[GroupSort, Callable[[dict[str, Any]], Any]] = {
    GroupSort.TOTAL: lambda row: row["rank"],
    GroupSort.LAUNCHES: lambda row: -row["launches"],
    GroupSort.MEAN: lambda row: -row["mean_ns"],
    GroupSort.COV: lambda row: -(row["cov"] or 0),
    GroupSort.CLUSTERS: lambda row: -(row["clusters"] or 0),
    GroupSort.SAMPLES: lambda row: -(row["samples"] or 0),
    GroupSort.NAME: lambda row: row["name"],
}


def run(options: GroupsOptions) -> None:
    """Read, study, list."""
    study = study_of(options.profiles, options, method=DEFAULT_METHOD)
    rows = [facts.group_row(study, index) for index in range(len(study.counts.groups))]
    rows.sort(key=_ORDERS[options.sort])
    rows = rows[: options.top]
    codes = tuple(finding.code for finding in study.findings)
    emit(
        Answer("groups", rows, lambda _: facts.groups_table(rows), warnings=codes),
        options,
    )
