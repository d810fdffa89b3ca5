"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from tui.engine.comparing import comparison_of, methods_of, workloads_of
from tui.engine.studies import grouping_of, open_profile, progress_of
from tui.engine.unused_options import note_unused_in_comparison
from tui.options.commands import CompareOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import note
from tui.text.comparison.means import mean_rows
from tui.text.comparison.rows import workload_rows
from tui.text.comparison.scatter import note_missing_in_scatter, table_or_scatter
from tui.text.selection import part_of, stated


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods, workloads = methods_of(options.methods), workloads_of(options)
    note_unused_in_comparison(options, methods, len(workloads))
    with progress_of(options) as progress:
        compared, parts = [], {}
        for paths in workloads:
            profile = open_profile(paths, progress)
            comparison = comparison_of(profile, paths, options, progress)
            compared.append(workload_rows(paths, comparison, methods, options))
            counts = comparison.counts(grouping_of(options, methods[0]))
            parts[" ".join(paths)] = part_of(profile, counts)
    if len(workloads) > 1:
        compared.append(mean_rows([each.rows for each in compared], options.mean.value))
    rows = [row for each in compared for row in each.rows]
    notes = tuple(dict.fromkeys(text for each in compared for text in each.notes))
    for text in notes:
        note(text, quiet=options.quiet)
    note_missing_in_scatter(rows, options)
    answer = Answer("compare", rows, lambda canvas: table_or_scatter(rows, options, canvas), warnings=notes)
    emit(stated(answer, parts if len(parts) > 1 else next(iter(parts.values()))), options)
