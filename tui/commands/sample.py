"""`sample`: the plan."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sampling.plan.plan import plan_document
from tui.engine.budgets import PlanCosts, plan_costs, study_within_budget
from tui.engine.sampled_plan import sampled_plan, shows_figures, shows_rows
from tui.engine.studies import plan_options
from tui.engine.unused_options import note_unused_in_sample
from tui.options.command_line import command_line, printed_plan_name
from tui.options.commands import SampleOptions
from tui.options.flags import with_flags
from tui.output.writer import STDOUT, emit, write_plan
from tui.terminal.diagnostics import note
from tui.text.plan import launch_rows, list_answer, plan_answer
from tui.text.selection import part_of_study, stated


def run(options: SampleOptions) -> None:
    """Read, plan, judge, write."""
    study = study_within_budget(options.profiles, options)
    is_figures = shows_figures(options)
    note_unused_in_sample(options, shows_figures=is_figures)
    for text in study.design.notes:
        note(with_flags(text), quiet=options.quiet)
    found = sampled_plan(study, options)
    if options.output is not None:
        made_by = plan_options(options, study, found.plan)
        text = plan_document(study, found.plan, found.launches, made_by).text()
        write_plan(text, options.output, quiet=options.quiet)
    if options.list is None:
        rows = launch_rows(found.launches) if shows_rows(options) else ()
        # The plan is written by now: what binds it takes longer.
        asked = plan_costs(options, study, found.plan, binding=options.binding) if is_figures else PlanCosts()
        following = (
            f"kernelpoint export {shlex.quote(options.output)} --to accel-sim --traces DIR -o chosen"
            if options.output not in {None, STDOUT}
            else command_line("sample", replace(options, output=printed_plan_name(options)))
        )
        answer = plan_answer(
            study, found.plan, found.judgement, rows, asked, details=options.details, following=following
        )
    else:
        answer = list_answer(study, found.plan, found.launches, options.list)
    answer = stated(answer, part_of_study(study))
    emit(answer, options, to_stderr=options.output == STDOUT, redirect=False)
