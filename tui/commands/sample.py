"""`sample`: the plan."""

from __future__ import annotations

from pathlib import Path

from sampling.plan.judge import judge_design
from sampling.plan.plan import drawn_plan
from sampling.plan.written_plan import find_planned_launches, plan_text
from tui.engine.budgets import PlanCosts, plan_costs, study_within_budget
from tui.engine.studies import plan_options, progress_of
from tui.engine.unused_options import note_unused_in_sample
from tui.options.choices import OutputFormat, PlanList
from tui.options.commands import SampleOptions
from tui.options.flags import with_flags
from tui.output.files import write_text
from tui.output.writer import STDOUT, emit, write_stdout
from tui.terminal.diagnostics import note
from tui.text.plan import plan_answer
from tui.text.plan_tables import launch_rows, list_answer
from tui.text.selection import part_of_study, stated

_ROW_FORMATS = {OutputFormat.CSV, OutputFormat.JSONL, OutputFormat.MARKDOWN}


def run(options: SampleOptions) -> None:
    """Read, plan, judge, write."""
    shows_figures = options.list is None and options.format not in _ROW_FORMATS
    study = study_within_budget(options.profiles, options)
    note_unused_in_sample(options, shows_figures=shows_figures)
    plan = drawn_plan(study.counts, study.design, options.seed)
    for text in study.design.notes:
        note(with_flags(text), quiet=options.quiet)
    judgement = None
    with progress_of(options) as progress:
        if options.judge and options.list is None and study.counts.has_durations:
            judgement = judge_design(study.counts, plan.design, options.judge, options.seed, progress)
        launches = find_planned_launches(study, plan, progress) if _needs_launches(options) else ()
    if options.output is not None:
        _write(options, plan_text(study, plan, launches, plan_options(options, study, plan)))
    if options.list is None:
        rows = launch_rows(launches) if options.format in _ROW_FORMATS else ()
        asked = PlanCosts()
        if shows_figures:
            asked = plan_costs(options, study, plan, binding=options.binding)
        answer = plan_answer(study, plan, judgement, rows, asked)
    else:
        answer = list_answer(study, plan, launches, options.list)
    answer = stated(answer, part_of_study(study))
    emit(answer, options, to_stderr=options.output == STDOUT, redirect=False)


def _needs_launches(options: SampleOptions) -> bool:
    """Return whether single launches are wanted: finding them is a second pass over the profile."""
    if options.output is not None or options.list is PlanList.LAUNCHES:
        return True
    return options.list is None and options.format in _ROW_FORMATS


def _write(options: SampleOptions, text: str) -> None:
    if options.output == STDOUT:
        write_stdout(text)
        return
    write_text(text, Path(str(options.output)))
    note(f"plan written to {options.output}", quiet=options.quiet)
