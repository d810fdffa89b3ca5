"""`compare`: all methods on one profile, judged by repeated draws."""

from __future__ import annotations

from typing import Any

from sampling.duration_counts import DurationCounts, count_durations
from sampling.grouping import Grouping
from sampling.judge import Comparison, compare_method
from sampling.methods import method_named, method_names
from tui.charts import quantities
from tui.engine import grouping_of, open_profile, progress_of, region_of, target_of
from tui.options import CompareOptions
from tui.output import Answer, Canvas, emit
from tui.tables import Column, table


def run(options: CompareOptions) -> None:
    """Read once, design and judge each method."""
    target, region = target_of(options), region_of(options)
    methods = tuple(options.methods.split(",")) if options.methods else method_names()
    for method in methods:
        method_named(method)
    rows = []
    with progress_of(options) as progress:
        profile = open_profile(options.profiles, progress)
        reduced: dict[Grouping, DurationCounts] = {}
        for method in methods:
            grouping = grouping_of(options, method)
            if grouping not in reduced:
                reduced[grouping] = count_durations(profile, grouping, region, progress)
            comparison = compare_method(
                reduced[grouping],
                method,
                target,
                repeats=options.repeats,
                seed=options.seed,
                settings=options.set,
                progress=progress,
            )
            rows.append(_row(" ".join(options.profiles), comparison))
    emit(Answer("compare", rows, lambda canvas: _text(rows, canvas)), options)


def _row(profile: str, comparison: Comparison) -> dict[str, Any]:
    judgement = comparison.judgement
    return {
        "profile": profile,
        "method": comparison.method,
        "applicable": True,
        "reason": None,
        "strata": comparison.strata,
        "samples": comparison.samples,
        "speedup": comparison.speedup,
        "bound": comparison.bound,
        "group_bound": comparison.group_bound,
        "error_mean": judgement.error_mean,
        "error_p95": judgement.error_p95,
        "error_max": judgement.error_max,
        "within_epsilon": judgement.within_epsilon,
        "seconds": comparison.seconds,
    }


def _text(rows: list[dict[str, Any]], canvas: Canvas) -> str:  # noqa: ARG001 - every human form takes one
    def shares(name: str) -> list[str]:
        return ["-" if row[name] is None else quantities.share(row[name]) for row in rows]

    columns = [
        Column("method", [row["method"] for row in rows], to_right=False),
        Column("strata", [quantities.count(row["strata"]) for row in rows]),
        Column("drawn", [quantities.count(row["samples"]) for row in rows]),
        Column("speedup", [quantities.ratio(row["speedup"]) for row in rows]),
        Column("bound", shares("bound")),
        Column("group", shares("group_bound")),
        Column("mean", shares("error_mean")),
        Column("p95", shares("error_p95")),
        Column("max", shares("error_max")),
        Column("within", shares("within_epsilon")),
    ]
    return table(columns, gap=" ")
