"""`align`: which launch of a trace is which of a plan's profile, and which are missing on either side."""

from __future__ import annotations

from sampling.plan.plan_file import read_plan
from sampling.simulators.alignment import align, read_trace_list
from tui.engine.studies import progress_of
from tui.options.commands import AlignOptions
from tui.output.writer import emit
from tui.terminal.diagnostics import note
from tui.text.alignment import alignment_answer
from tui.text.selection import part_of_plan, stated


def run(options: AlignOptions) -> None:
    """Read the plan, its profile and the trace's list, match them, show."""
    plan = read_plan(options.plan)
    trace = read_trace_list(options.trace)
    with progress_of(options) as progress:
        found = align(plan, trace, process=options.process, device=options.device, progress=progress)
    for text in found.notes:
        note(text, quiet=options.quiet)
    emit(stated(alignment_answer(found, options.format), part_of_plan(plan)), options)
