"""`compare`: all methods on one profile or several, judged by repeated draws."""

from __future__ import annotations

from tui.engine.comparing import methods_of, workloads_of
from tui.engine.studies import columns_of, progress_of
from tui.engine.unused_options import note_unused_in_comparison
from tui.options.commands import CompareOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import note
from tui.text.compare import compared_workloads, comparison_blocks, note_missing_in_scatter, table_or_scatter
from tui.text.selection import stated


def run(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    methods, workloads = methods_of(options.methods), workloads_of(options)
    # Columns that do not parse are refused before a note on anything else.
    columns_of(options)
    note_unused_in_comparison(options, methods, len(workloads))
    with progress_of(options) as progress:
        compared = compared_workloads(workloads, methods, options, progress)
    rows, notes, parts = compared.found.rows, compared.found.notes, compared.parts
    for text in notes:
        note(text, quiet=options.quiet)
    note_missing_in_scatter(rows, options)
    answer = Answer(
        "compare",
        rows,
        lambda canvas: table_or_scatter(rows, options, canvas),
        blocks=lambda _: comparison_blocks(rows, options),
        warnings=tuple(notes),
    )
    emit(stated(answer, parts if len(parts) > 1 else next(iter(parts.values()))), options)
