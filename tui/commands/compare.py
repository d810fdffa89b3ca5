"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from collections.abc import Iterable

from sampling.errors import OptionError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.progress import Progress
from tui.engine.comparing import comparison_of
from tui.engine.feature_paths import feature_file
from tui.engine.studies import (
    check_standard_input,
    grouping_of,
    open_profile,
    progress_of,
    region_of,
    target_of,
)
from tui.engine.unused_options import note_unused_in_comparison
from tui.options.choices import OutputFormat
from tui.options.commands import CompareOptions
from tui.options.flags import with_flags
from tui.output.writer import Answer, Canvas, emit
from tui.terminal.diagnostics import note
from tui.text.comparison import HEIGHT, Row, comparison_row, comparison_text, mean_rows, scatter_text


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods = _methods(options.methods)
    # Wrong options are an error before a long reading.
    check_settings(options.set)
    region_of(options)
    target_of(options)
    workloads = [options.profiles] if options.one_workload else [(path,) for path in options.profiles]
    files = [feature_file(text, options.profiles)[1] for text in options.features]
    check_standard_input(*options.profiles, *files)
    note_unused_in_comparison(options, methods, len(workloads))
    notes: list[str] = []
    with progress_of(options) as progress:
        compared = [list(_compared(paths, methods, options, progress, notes)) for paths in workloads]
    rows = [row for of_workload in compared for row in of_workload]
    if len(workloads) > 1:
        means = mean_rows(compared, options.mean.value)
        rows += means.rows
        notes += means.notes
    notes = list(dict.fromkeys(notes))
    for text in notes:
        note(text, quiet=options.quiet)
    if options.scatter and options.format is OutputFormat.TABLE:
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
    files = [feature_file(text, options.profiles) for text in options.features]
    several = len(paths) < len(options.profiles)
    comparison = comparison_of(open_profile(paths, progress), paths, options, progress)
    profile = " ".join(paths)
    said = f"{profile}: " if several else ""
    for method in methods:
        compared = comparison.compare(method, grouping_of(options, method))
        yield comparison_row(profile, compared)
        if compared.design is not None:
            notes += [f"{said}{method}: {with_flags(text)}" for text in compared.design.notes]
    notes += [f"{said}{with_flags(report.sentence)}" for report in comparison.reports]
    for report in comparison.reports:
        if several and report.joined_by == "id" and (None, report.path) in files:
            raise OptionError(
                f"--features {report.path} goes by launch ids, which every profile has",
                remedy="say whose they are: --features PROFILE=FILE",
            )
