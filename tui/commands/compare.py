"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from sampling.readers.registry import refuse_unused_columns
from tui.engine.comparing import comparison_of, methods_of, workloads_of
from tui.engine.studies import columns_of, grouping_of, note_what_is_read, open_profile, progress_of
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
    methods, workloads, columns = methods_of(options.methods), workloads_of(options), columns_of(options)
    note_unused_in_comparison(options, methods, len(workloads))
    has_table = False
    with progress_of(options) as progress:
        compared, parts = [], {}
        for paths in workloads:
            profile = open_profile(paths, progress, columns, needs_table=len(workloads) == 1)
            note_what_is_read(profile, quiet=options.quiet)
            has_table |= profile.named_columns is not None
            comparison = comparison_of(profile, paths, options, progress)
            compared.append(workload_rows(paths, comparison, methods, options))
            counts = comparison.counts(grouping_of(options, methods[0]))
            parts[" ".join(paths)] = part_of(profile, counts)
        if columns is not None and not has_table:
            refuse_unused_columns([profile])
    if len(workloads) > 1:
        compared.append(mean_rows([each.rows for each in compared], options.mean.value))
    rows = [row for each in compared for row in each.rows]
    notes = tuple(dict.fromkeys(text for each in compared for text in each.notes))
    for text in notes:
        note(text, quiet=options.quiet)
    note_missing_in_scatter(rows, options)
    answer = Answer("compare", rows, lambda canvas: table_or_scatter(rows, options, canvas), warnings=notes)
    emit(stated(answer, parts if len(parts) > 1 else next(iter(parts.values()))), options)
