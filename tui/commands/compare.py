"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from collections.abc import Iterable

from sampling.comparison import mean_comparison
from sampling.errors import OptionError
from sampling.methods import check_settings, method_named, method_names
from sampling.progress import Progress
from tui.compare_text import ERRORS, FIGURES, HEIGHT, Row, comparison_row, comparison_text, scatter_text
from tui.comparing import comparison_of, feature_file
from tui.diagnostics import note
from tui.engine import check_standard_input, grouping_of, open_profile, progress_of, region_of, target_of
from tui.options import CompareOptions
from tui.output import Answer, Canvas, emit


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods = _methods(options.methods)
    # Wrong options are an error before a long reading.
    check_settings(options.set)
    region_of(options)
    target_of(options)
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
    if options.scatter:
        missing = dict.fromkeys(row["method"] for row in rows if not row["applicable"])
        if missing:
            note(f"not applicable, so not in the chart: {', '.join(missing)}", quiet=options.quiet)
    emit(Answer("compare", rows, lambda canvas: _text(rows, options, canvas), warnings=tuple(notes)), options)


def _text(rows: list[Row], options: CompareOptions, canvas: Canvas) -> str:
    if options.scatter:
        return scatter_text(rows, canvas, options.width or canvas.width, options.height or HEIGHT)
    return comparison_text(rows, canvas)


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


def _compared(
    paths: tuple[str, ...],
    methods: tuple[str, ...],
    options: CompareOptions,
    progress: Progress,
    notes: list[str],
) -> Iterable[Row]:
    files = [feature_file(options, text) for text in options.features]
    several = len(paths) < len(options.profiles)
    comparison = comparison_of(open_profile(paths, progress), paths, options, progress)
    profile = " ".join(paths)
    said = f"{profile}: " if several else ""
    for method in methods:
        compared = comparison.compare(method, grouping_of(options, method))
        yield comparison_row(profile, compared)
        if compared.design is not None:
            notes += [f"{said}{method}: {text}" for text in compared.design.notes]
    notes += [f"{said}{report.sentence}" for report in comparison.reports]
    for report in comparison.reports:
        if several and report.joined_by == "id" and (None, report.path) in files:
            raise OptionError(
                f"--features {report.path} goes by launch ids, which every profile has",
                remedy="say whose they are: --features PROFILE=FILE",
            )


def _means(rows: list[Row], methods: tuple[str, ...], options: CompareOptions) -> Iterable[Row]:
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
            **dict.fromkeys((*FIGURES, *ERRORS)),
            "speedup": mean.speedup,
            "error_mean": mean.error,
            "seconds": sum(row["seconds"] for row in there),
        }
