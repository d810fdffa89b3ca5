"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sampling.comparison import Comparison, FeatureFiles, MethodComparison, mean_comparison
from sampling.errors import OptionError
from sampling.methods import check_settings, method_named, method_names
from sampling.progress import Progress
from tui.charts import quantities
from tui.diagnostics import note
from tui.engine import (
    check_standard_input,
    grouping_of,
    open_profile,
    progress_of,
    region_of,
    target_of,
)
from tui.options import CompareOptions
from tui.output import Answer, Canvas, emit
from tui.tables import Column, shortened, table

_FIGURES = ("strata", "samples", "speedup", "bound", "group_bound")
_ERRORS = ("error_mean", "error_p95", "error_max", "within_epsilon")


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods = _methods(options.methods)
    check_settings(options.set)
    workloads = [options.profiles] if options.one_workload else [(path,) for path in options.profiles]
    check_standard_input(*options.profiles, *(feature_file(options, text)[1] for text in options.features))
    notes: list[str] = []
    with progress_of(options) as progress:
        rows = [row for paths in workloads for row in _compared(paths, methods, options, progress, notes)]
    notes = list(dict.fromkeys(notes))
    for text in notes:
        note(text, quiet=options.quiet)
    if len(workloads) > 1:
        rows += list(_means(rows, methods, options))
    emit(Answer("compare", rows, lambda canvas: _text(rows, canvas), warnings=tuple(notes)), options)


def _methods(given: str | None) -> tuple[str, ...]:
    """Return the methods asked for, each once; all if none is named."""
    if given is None:
        return method_names()
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in given.split(",")))))
    if not names:
        raise OptionError("--methods names no method", remedy=f"there are {', '.join(method_names())}")
    for name in names:
        method_named(name)
    return names


def feature_file(options: CompareOptions, text: str) -> tuple[str | None, str]:
    """Return the profile that a file of features is for (None: for any), and the file."""
    profile, equals, path = text.partition("=")
    return (profile, path) if equals and profile in options.profiles else (None, text)


def _compared(
    paths: tuple[str, ...],
    methods: tuple[str, ...],
    options: CompareOptions,
    progress: Progress,
    notes: list[str],
) -> Iterable[dict[str, Any]]:
    files = [feature_file(options, text) for text in options.features]
    several = len(paths) < len(options.profiles)
    region, target = region_of(options), target_of(options)
    comparison = MethodComparison(
        open_profile(paths, progress),
        region,
        target,
        repeats=options.repeats,
        seed=options.seed,
        settings=options.set,
        features=FeatureFiles(
            tuple(path for profile, path in files if profile is None or profile in paths),
            options.number_locale.value,
            strict=not several,
        ),
        progress=progress,
    )
    profile = " ".join(paths)
    said = f"{profile}: " if several else ""
    for method in methods:
        compared = comparison.compare(method, grouping_of(options, method))
        yield _row(profile, compared)
        if compared.design is not None:
            notes += [f"{said}{method}: {text}" for text in compared.design.notes]
    notes += [f"{said}{report.sentence}" for report in comparison.reports]
    for report in comparison.reports:
        if several and report.joined_by == "id" and (None, report.path) in files:
            raise OptionError(
                f"--features {report.path} goes by launch ids, which every profile has",
                remedy="say whose they are: --features PROFILE=FILE",
            )


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
    """Return the methods that apply with their figures, and why the others do not."""
    there, missing = ([row for row in rows if row["applicable"] is whether] for whether in (True, False))
    parts = [_figures(there, canvas)] if there else []
    return "\n".join([*parts, *_reasons(missing, canvas)])


def _figures(rows: list[dict[str, Any]], canvas: Canvas) -> str:
    def shown(heading: str, name: str, form: Any) -> list[Column]:
        # Means have a few figures only.
        if all(row[name] is None for row in rows):
            return []
        return [Column(heading, ["-" if row[name] is None else form(row[name]) for row in rows])]

    columns = [
        Column("method", [row["method"] for row in rows], to_right=False),
        *shown("strata", "strata", quantities.count),
        *shown("drawn", "samples", quantities.count),
        *shown("speedup", "speedup", quantities.ratio),
        *shown("bound", "bound", quantities.share),
        *shown("group", "group_bound", quantities.share),
        *shown("mean", "error_mean", quantities.share),
        *shown("p95", "error_p95", quantities.share),
        *shown("max", "error_max", quantities.share),
        *shown("within", "within_epsilon", quantities.share),
    ]
    # What is too wide goes without the figures that tell least; the data formats have all.
    for heading in ("p95", "strata"):
        if len(table(columns, gap=" ").partition("\n")[0]) > canvas.width:
            columns = [column for column in columns if column.heading != heading]
    return table(columns, gap=" ")


def _reasons(rows: list[dict[str, Any]], canvas: Canvas) -> list[str]:
    """Return why methods are not applicable, one after the other."""
    import textwrap

    lines = ["", "not applicable:"] if rows else []
    for row in rows:
        lines += textwrap.wrap(
            row["reason"],
            canvas.width,
            initial_indent="- ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    return lines
