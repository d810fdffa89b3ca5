"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sampling.comparison import Comparison, MethodComparison, mean_comparison
from sampling.methods import check_settings, method_named, method_names
from sampling.progress import Progress
from tui.charts import quantities
from tui.diagnostics import note
from tui.engine import grouping_of, open_profile, progress_of, region_of, target_of
from tui.options import CompareOptions
from tui.output import Answer, Canvas, emit
from tui.tables import Column, shortened, table

_FIGURES = ("strata", "samples", "speedup", "bound", "group_bound")
_ERRORS = ("error_mean", "error_p95", "error_max", "within_epsilon")


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods = tuple(options.methods.split(",")) if options.methods else method_names()
    for method in methods:
        method_named(method)
    check_settings(options.set)
    workloads = [options.profiles] if options.one_workload else [(path,) for path in options.profiles]
    notes: list[str] = []
    with progress_of(options) as progress:
        rows = [row for paths in workloads for row in _compared(paths, methods, options, progress, notes)]
    for text in dict.fromkeys(notes):
        note(text, quiet=options.quiet)
    if len(workloads) > 1:
        rows += _means(rows, methods, options)
    emit(Answer("compare", rows, lambda canvas: _text(rows, canvas), warnings=tuple(notes)), options)


def _compared(
    paths: tuple[str, ...],
    methods: tuple[str, ...],
    options: CompareOptions,
    progress: Progress,
    notes: list[str],
) -> Iterable[dict[str, Any]]:
    comparison = MethodComparison(
        open_profile(paths, progress),
        region_of(options),
        target_of(options),
        repeats=options.repeats,
        seed=options.seed,
        settings=options.set,
        feature_paths=options.features,
        number_locale=options.number_locale.value,
        progress=progress,
    )
    for method in methods:
        yield _row(" ".join(paths), comparison.compare(method, grouping_of(options, method)))
    notes += [report.sentence for report in comparison.reports]


def _row(profile: str, comparison: Comparison) -> dict[str, Any]:
    design, judgement = comparison.design, comparison.judgement
    row = {
        "profile": profile,
        "method": comparison.method,
        "applicable": design is not None,
        "reason": comparison.reason,
        **dict.fromkeys((*_FIGURES, *_ERRORS)),
        "seconds": comparison.seconds,
    }
    if design is not None and judgement is not None:
        row |= {
            "strata": design.strata_count,
            "samples": design.samples,
            "speedup": design.speedup,
            "bound": design.bound,
            "group_bound": design.group_bound,
            "error_mean": judgement.error_mean,
            "error_p95": judgement.error_p95,
            "error_max": judgement.error_max,
            "within_epsilon": judgement.within_epsilon,
        }
    return row


def _means(
    rows: list[dict[str, Any]], methods: tuple[str, ...], options: CompareOptions
) -> Iterable[dict[str, Any]]:
    """Return one row a method: means over the profiles it applies to."""
    for method in methods:
        there = [row for row in rows if row["method"] == method and row["applicable"]]
        if not there:
            continue
        speedups = [row["speedup"] for row in there]
        mean = mean_comparison(method, speedups, [row["error_mean"] for row in there], options.mean.value)
        of_speedup = "geometric" if options.mean.value == "geometric" else "harmonic"
        yield {
            "profile": f"mean of {mean.profiles} ({of_speedup} speedup, {options.mean.value} error)",
            "method": method,
            "applicable": True,
            "reason": None,
            **dict.fromkeys((*_FIGURES, *_ERRORS)),
            "speedup": mean.speedup,
            "error_mean": mean.error,
            "seconds": sum(row["seconds"] for row in there),
        }


def _text(rows: list[dict[str, Any]], canvas: Canvas) -> str:
    profiles = list(dict.fromkeys(row["profile"] for row in rows))
    parts = []
    for profile, of_profile in groupby(rows, key=lambda row: row["profile"]):
        if len(profiles) > 1:
            parts.append(shortened(profile, canvas.width, ascii_only=canvas.ascii_only))
        parts.append(_table(list(of_profile), canvas))
    return "\n\n".join(parts)


def _table(rows: list[dict[str, Any]], canvas: Canvas) -> str:
    def shown(name: str, form: Any) -> list[str]:
        return ["-" if row[name] is None else form(row[name]) for row in rows]

    figures = [
        Column("strata", shown("strata", quantities.count)),
        Column("drawn", shown("samples", quantities.count)),
        Column("speedup", shown("speedup", quantities.ratio)),
        Column("bound", shown("bound", quantities.share)),
        Column("group", shown("group_bound", quantities.share)),
        Column("mean", shown("error_mean", quantities.share)),
        Column("p95", shown("error_p95", quantities.share)),
        Column("max", shown("error_max", quantities.share)),
        Column("within", shown("within_epsilon", quantities.share)),
    ]
    # Means have a few figures only.
    shown_columns = [column for column in figures if set(column.cells) != {"-"}]
    columns = [Column("method", [row["method"] for row in rows], to_right=False), *shown_columns]
    missing = [row for row in rows if not row["applicable"]]
    return "\n".join([table(columns, gap=" "), *_reasons(missing, canvas)])


def _reasons(rows: list[dict[str, Any]], canvas: Canvas) -> list[str]:
    """Return why methods are not applicable, those of one reason together."""
    import textwrap

    lines = []
    methods_of: dict[str, list[str]] = {}
    for row in rows:
        methods_of.setdefault(row["reason"], []).append(row["method"])
    for reason, methods in methods_of.items():
        text = f"{', '.join(methods)}: not applicable; {reason}"
        lines += textwrap.wrap(text, canvas.width, subsequent_indent="  ", break_on_hyphens=False)
    return lines
