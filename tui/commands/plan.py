"""The commands that make plans and say how good they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sampling.errors import OptionError
from sampling.plan.judge import judge_design, judge_plan
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.request import FEWEST_OF_SPEEDUPS, is_used
from sampling.plan.sensitivity import PlanCosts, check_has_trade_off, measure_sensitivity
from sampling.readers.accel_sim_traces import LIST
from tui.charts.quantities import share_above
from tui.engine import drafts, planning
from tui.engine.planning import draft_within_budget, plan_costs
from tui.options.choices import AlignBy, OutputFormat, PlanList, PlanPurpose
from tui.options.command_line import command_line, with_flags
from tui.options.files import PLAN_NAME, free_name, input_files
from tui.options.plan import CompareOptions, JudgeOptions, MethodsOptions, SampleOptions, TradeOffOptions
from tui.output.writer import STDOUT, CommandResult, emit, write_product
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text.plan import export_command, plan_list_result, plan_result, profiler_target, usual_target
from tui.text.profile import plan_selection, survey_selection, with_selection

_ROW_FORMATS = {OutputFormat.CSV, OutputFormat.JSONL}


def run_sample(options: SampleOptions) -> None:
    """Read, plan, judge, write."""
    if options.purpose is not PlanPurpose.TOTAL:
        options = with_replicates(options)
    draft = draft_within_budget(options.profiles, options)
    notes(map(with_flags, draft.design.notes), quiet=options.quiet)
    plan = drawn_plan(draft.counts, draft.design, options.request.seed)
    # In formats of rows, a row is a drawn launch.
    shows_rows = options.list is None and options.format in _ROW_FORMATS
    judged, launches = None, tuple[PlannedLaunch, ...]()
    shows_errors = options.list is None and (options.details or options.format is OutputFormat.JSON)
    with ProgressMeter(quiet=options.quiet) as progress:
        if options.judge and shows_errors and not shows_rows:
            judged = judge_design(plan.design, options.judge, options.request.seed, progress)
        # Finding single launches is a second pass over the profile.
        if options.output is not None or options.list is PlanList.LAUNCHES or shows_rows:
            launches = find_planned_launches(draft, plan, progress)
    if options.output is not None:
        document = plan_document(draft, plan, launches)
        write_product("plan", document.text(), options.output, quiet=options.quiet)
    if options.list is not None:
        result = plan_list_result(draft, plan, launches, options.list)
    else:
        # The plan is written by now: what binds it takes longer.
        costs = PlanCosts() if shows_rows else plan_costs(options, draft, plan, binding=options.binding)
        if options.output in {None, STDOUT}:
            name = free_name(PLAN_NAME) if PLAN_NAME in input_files(options) else PLAN_NAME
            following = command_line("sample", replace(options, output=name))
        else:
            target = usual_target(is_amd=draft.profile.is_amd)
            listed = Path(draft.profile.files[0].path)
            traces = str(listed.parent) if listed.name == LIST else None
            following = export_command(str(options.output), "chosen", target, traces=traces)
            if options.purpose is PlanPurpose.COUNTERS:
                target = profiler_target(is_amd=draft.profile.is_amd)
                following = f"{export_command(str(options.output), 'counted', target)} --set roofline"
        rows = launches if shows_rows else ()
        result = plan_result(
            draft,
            plan,
            judged,
            rows,
            costs,
            details=options.details,
            following=following,
            purpose=options.purpose,
        )
    result = with_selection(result, survey_selection(draft))
    emit(result, options, to_stderr=options.output == STDOUT, redirect=False)


def with_replicates(options: SampleOptions) -> SampleOptions:
    """Return the options with two launches a stratum at least, which tell how much they vary.

    For counters no kernels are pooled: those that last alike need not count alike.

    Raises OptionError: the method has no least number of launches.
    """
    if not is_used(options.request, "min_samples"):
        method = f"--for {options.purpose}: {options.request.method}"
        message = f"{method} draws no least number of launches of a stratum"
        raise OptionError(message, remedy="plan by joint")
    is_pooled = options.request.pool and options.purpose is not PlanPurpose.COUNTERS
    least = max(options.request.min_samples, FEWEST_OF_SPEEDUPS)
    return options.with_request(min_samples=least, pool=is_pooled)


def run_trade_off(options: TradeOffOptions) -> None:
    """Read once, design a plan at each epsilon, draw."""
    from tui.text.trade_off import TradeOff, trade_off_result

    check_has_trade_off(options.request.method)
    planning.parse_budget(options)
    epsilons = planning.parse_epsilons(options.epsilons, options.request.epsilon, with_plan=options.binding)
    draft = drafts.draft_from_options(options.profiles, options)
    with ProgressMeter(quiet=options.quiet) as progress:
        points, missing = planning.traded(draft, epsilons, progress)
        binding = measure_sensitivity(draft, progress) if options.binding else None
    if not points:
        raise missing[0].problem
    curve = TradeOff(
        draft.request.method,
        draft.request.target,
        epsilons,
        points,
        missing,
        PlanCosts(binding, options.slowdown),
    )
    emit(with_selection(trade_off_result(draft, curve, options), survey_selection(draft)), options)


def run_compare(options: CompareOptions) -> None:
    """Read each profile once, design and judge each method, sum up over profiles."""
    from tui.text.methods import compared_workloads, comparison_blocks

    methods, workloads = planning.methods_of(options.methods), planning.list_workloads(options)
    drafts.note_unused(options, methods)
    with ProgressMeter(quiet=options.quiet) as progress:
        rows, sentences, parts = compared_workloads(workloads, methods, options, progress)
    notes(sentences, quiet=options.quiet)
    without = dict.fromkeys(row.method for row in rows if not row.applicable)
    if options.scatter and options.format is OutputFormat.TABLE and without:
        note(f"not applicable, so not in the chart: {', '.join(without)}", quiet=options.quiet)
    result = CommandResult(
        "compare", rows, lambda canvas: comparison_blocks(rows, options, canvas), warnings=sentences
    )
    emit(with_selection(result, parts if len(parts) > 1 else next(iter(parts.values()))), options)


def run_judge(options: JudgeOptions) -> None:
    """Read both, judge the plan on the profile, show."""
    # Not at the head: `sample` must not wait for what simulators are told.
    from tui.engine.plan_files import plan_before
    from tui.text.simulation import judgement_blocks, judgement_warnings

    plan = plan_before("judge", options, "profiles")
    with ProgressMeter(quiet=options.quiet) as progress:
        judged = judge_plan(
            plan,
            drafts.open_judged(plan, options, progress),
            repeats=options.repeats,
            seed=options.request.seed,
            names_may_differ=options.align is AlignBy.ORDER,
            by_operator=options.align is AlignBy.OPERATOR,
            progress=progress,
        )
    judgement = judged.record(plan, " ".join(options.profiles), options.align.value)
    warnings = tuple(judgement_warnings(plan, judged, options))
    notes(warnings, quiet=options.quiet)
    blocks = tuple(judgement_blocks(judgement, details=options.details))
    result = CommandResult("judge", judgement, lambda _: blocks, warnings=warnings)
    emit(with_selection(result, plan_selection(plan)), options)
    if options.fail_above is not None and judgement.error > options.fail_above:
        raise CheckFailedError(f"the plan's error is {share_above(judgement.error, options.fail_above)}")


def run_methods(options: MethodsOptions) -> None:
    """List them."""
    from sampling.methods.description import describe_methods
    from tui.text.methods import methods_blocks

    methods = describe_methods()
    emit(CommandResult("methods", methods, blocks=lambda _: methods_blocks(methods)), options)
