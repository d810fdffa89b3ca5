"""A row a method, as the contract lists them; in the order in which the methods are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sampling.plan.comparison import Comparison, MethodComparison
from tui.engine.comparing import check_feature_reports
from tui.engine.studies import grouping_of
from tui.options.commands import CompareOptions
from tui.options.flags import with_flags

FIGURES = ("strata", "samples", "speedup", "bound", "group_bound")
ERRORS = ("error_mean", "error_p95", "error_max", "within_epsilon")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotedRows:
    """Rows, and sentences on what to know of them."""

    rows: list[Row]
    notes: list[str]


def workload_rows(
    paths: tuple[str, ...], comparison: MethodComparison, methods: Sequence[str], options: CompareOptions
) -> NotedRows:
    """Judge each method on a workload, and return a row a method.

    Parameters
    ----------
    paths : the files of this workload, among all the options' profiles.
    """
    is_one_of_several = len(paths) < len(options.profiles)
    profile = " ".join(paths)
    head = f"{profile}: " if is_one_of_several else ""
    found = NotedRows([], [])
    for method in methods:
        compared = comparison.compare(method, grouping_of(options, method))
        found.rows.append(comparison_row(profile, compared))
        if compared.design is not None:
            found.notes.extend(f"{head}{method}: {with_flags(text)}" for text in compared.design.notes)
    found.notes.extend(f"{head}{with_flags(report.sentence)}" for report in comparison.reports)
    if is_one_of_several:
        check_feature_reports(comparison.reports, options)
    return found


def comparison_row(profile: str, comparison: Comparison) -> Row:
    """Return one method on one profile as the contract's `compare` lists it."""
    design, judgement = comparison.design, comparison.judgement
    row = {
        "profile": profile,
        "method": comparison.method,
        "applicable": design is not None,
        "reason": None if comparison.reason is None else with_flags(comparison.reason),
        **dict.fromkeys((*FIGURES, *ERRORS)),
        "seconds": comparison.seconds,
        "bound_with_noise": None,
        "same_as": comparison.same_as,
    }
    if design is not None:
        row |= {
            "strata": design.strata_count,
            "samples": design.samples,
            "speedup": design.speedup,
            "bound": design.bound,
            "group_bound": design.group_bound,
            "bound_with_noise": design.bound_with_noise,
        }
    if judgement is not None:
        row |= {
            "error_mean": judgement.error_mean,
            "error_p95": judgement.error_p95,
            "error_max": judgement.error_max,
            "within_epsilon": judgement.within_epsilon,
        }
    return row
