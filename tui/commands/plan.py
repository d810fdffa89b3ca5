"""The commands that make plans and say how good they are."""

from __future__ import annotations

from dataclasses import replace

from sampling.plan.judge import judge_design, judge_plan
from sampling.plan.nearby import check_has_trade_off
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import PlannedLaunch
from tui.charts.quantities import share_above
from tui.engine import planning, studies
from tui.engine.planning import PlanCosts, plan_costs, study_within_budget
from tui.engine.studies import progress_of
from tui.options.choices import AlignBy, OutputFormat, PlanList
from tui.options.command_line import PLAN_NAME, command_line, free_name, with_flags
from tui.options.files import input_files
from tui.options.plan import CompareOptions, JudgeOptions, MethodsOptions, SampleOptions, TradeOffOptions
from tui.output.writer import STDOUT, Answer, emit, write_plan
from tui.terminal.diagnostics import CheckFailedError, note, notes
from tui.text.plan import export_command, list_answer, plan_answer, usual_target
from tui.text.profile import part_of_plan, part_of_study, with_selection

_ROW_FORMATS = {OutputFormat.CSV, OutputFormat.JSONL}


def run_sample(options: SampleOptions) -> None:
    """Read, plan, judge, write."""
    study = study_within_budget(options.profiles, options)
    notes(map(with_flags, study.design.notes), quiet=options.quiet)
    plan = drawn_plan(study.counts, study.design, options.seed)
    # In formats of rows, a row is a drawn launch.
    shows_rows = options.list is None and options.format in _ROW_FORMATS
    judged, launches = None, tuple[PlannedLaunch, ...]()
    with progress_of(options) as progress:
        if options.judge and options.list is None:
            judged = judge_design(study.counts, plan.design, options.judge, options.seed, progress)
        # Finding single launches is a second pass over the profile.
        if options.output is not None or options.list is PlanList.LAUNCHES or shows_rows:
            launches = find_planned_launches(study, plan, progress)
    if options.output is not None:
        document = plan_document(study, plan, launches, studies.plan_options(options, study, plan))
        write_plan(document.text(), options.output, quiet=options.quiet)
    if options.list is not None:
        answer = list_answer(study, plan, launches, options.list)
    else:
        # The plan is written by now: what binds it takes longer.
        costs = PlanCosts() if shows_rows else plan_costs(options, study, plan, binding=options.binding)
        name = free_name(PLAN_NAME) if PLAN_NAME in input_files(options) else PLAN_NAME
        following = command_line("sample", replace(options, output=name))
        if options.output not in {None, STDOUT}:
            target = usual_target(is_amd=study.profile.is_amd)
            following = export_command(str(options.output), "chosen", target)
        rows = launches if shows_rows else ()
        answer = plan_answer(study, plan, judged, rows, costs, details=options.details, following=following)
    answer = with_selection(answer, part_of_study(study))
    emit(answer, options, to_stderr=options.output == STDOUT, redirect=False)


def run_trade_off(options: TradeOffOptions) -> None:
    """Read once, design a plan at each epsilon, draw."""
    from tui.text.trade_off import TradeOff, trade_off_answer

    check_has_trade_off(options.method)
    target = studies.target_of(options)
    planning.budget_of(options)
    epsilons = planning.epsilons_of(options.epsilons, target, with_plan=options.binding)
    study = studies.study_as_asked(options.profiles, options)
    with progress_of(options) as progress:
        points, missing = planning.traded(study, options, target, epsilons, progress)
        binding = planning.binding_of(options, study, progress) if options.binding else None
    if not points:
        raise missing[0].problem
    known = TradeOff(options.method, target, epsilons, points, missing, PlanCosts(binding, options.slowdown))
    emit(with_selection(trade_off_answer(study, known, options), part_of_study(study)), options)


def run_compare(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    from tui.text.methods import compared_workloads, comparison_blocks

    methods, workloads = planning.methods_of(options.methods), planning.workloads_of(options)
    # Columns that do not parse are refused before a note on anything else.
    studies.columns_of(options)
    studies.note_unused(options, methods)
    with progress_of(options) as progress:
        rows, said, parts = compared_workloads(workloads, methods, options, progress)
    notes(said, quiet=options.quiet)
    without = dict.fromkeys(row["method"] for row in rows if not row["applicable"])
    if options.scatter and options.format is OutputFormat.TABLE and without:
        note(f"not applicable, so not in the chart: {', '.join(without)}", quiet=options.quiet)
    answer = Answer("compare", rows, lambda canvas: comparison_blocks(rows, options, canvas), warnings=said)
    emit(with_selection(answer, parts if len(parts) > 1 else next(iter(parts.values()))), options)


def run_judge(options: JudgeOptions) -> None:
    """Read both, judge the plan on the profile, show."""
    # Not at the head: `sample` must not wait for what simulators are told.
    from tui.engine.plan_files import plan_before
    from tui.text.simulation import judgement_blocks, judgement_results, judgement_warnings

    plan = plan_before("judge", options, "profiles")
    with progress_of(options) as progress:
        judged = judge_plan(
            plan,
            studies.open_judged(plan, options, progress),
            repeats=options.repeats,
            seed=options.seed,
            names_may_differ=options.align is AlignBy.ORDER,
            by_operator=options.align is AlignBy.OPERATOR,
            progress=progress,
        )
    results, warnings = (
        judgement_results(plan, judged, options),
        tuple(judgement_warnings(plan, judged, options)),
    )
    notes(warnings, quiet=options.quiet)
    said = tuple(judgement_blocks(results, details=options.details))
    answer = Answer("judge", results, lambda _: said, warnings=warnings)
    emit(with_selection(answer, part_of_plan(plan)), options)
    if options.fail_above is not None and results["error"] > options.fail_above:
        raise CheckFailedError(f"the plan's error is {share_above(results['error'], options.fail_above)}")


def run_methods(options: MethodsOptions) -> None:
    """List them."""
    from tui.text.methods import method_rows, methods_blocks

    rows = method_rows()
    emit(Answer("methods", rows, blocks=lambda _: methods_blocks(rows)), options)
