"""What a report is about: the plan, how its cost and its error come about, and what else was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sampling.errors import AnalysisError, OptionError, SamplingError
from sampling.estimation.total import PlanEstimate
from sampling.methods.registry import method_named, method_names
from sampling.parallel import Progress
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.nearby import default_epsilons, point_of
from sampling.plan.other_recording import made_from
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches, plan_document
from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.engine.looking import GroupTimeline, timeline_of_group
from tui.engine.plan_files import estimated, missing_to_target
from tui.engine.planning import PlanCosts, binding_of, comparison_of, plan_costs, study_within_budget, traded
from tui.engine.studies import note_unused_epsilon, target_of
from tui.options.command_line import error_text, options_of
from tui.options.look import ReportOptions
from tui.options.plan import CompareOptions
from tui.options.shared import OutputOptions
from tui.options.simulate import EstimateOptions, ResultsOptions
from tui.output.files import scratch_file
from tui.output.writer import Answer
from tui.report.sections import Block, Report, Table
from tui.report.writers import Written
from tui.terminal.diagnostics import CheckFailedError
from tui.terminal.printable import pairs
from tui.text.compare import NotedRows, workload_rows
from tui.text.estimate import (
    NO_GROUPS,
    cache_lines,
    compared_groups,
    group_listing,
    missing_lines,
    next_listing,
    next_text,
    part_lines,
    places_named,
    refuted,
    seen_lines,
    target_text,
    total_lines,
    unmet_text,
)
from tui.text.trade_off import TradeOff

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Everything that a report shows.

    Attributes
    ----------
    judgement : the error of repeated draws; None for picks and where it is not asked for.
    timeline : of the largest kernel group.
    traded : None where the method has no trade-off.
    compared : None where it is not asked for.
    simulated : None where no results are given.
    """

    study: Study
    plan: Plan
    costs: PlanCosts
    judgement: Judgement | None
    timeline: GroupTimeline | None
    traded: TradeOff | None
    compared: NotedRows | None
    simulated: SimulatedTotals | None


def facts_of(options: ReportOptions, progress: Progress) -> Facts:
    """Read the workload and make the plan, and all that is said of it.

    Raises
    ------
    SamplingError : see `study_within_budget` and `simulated_totals`.
    """
    check_results_options(options)
    note_unused_epsilon(options)
    study = study_within_budget(options.profiles, options)
    plan = drawn_plan(study.counts, study.design, options.seed)
    # First of all: of wrong files one hears before the long work.
    simulated = simulated_totals(study, plan, options, progress) if options.results else None
    judgement = None
    if options.judge:
        judgement = judge_design(study.counts, plan.design, options.judge, options.seed, progress)
    costs = plan_costs(options, study, plan, binding=False)
    costs = replace(costs, binding=binding_of(options, study, progress))
    timeline = timeline_of_group(study, 0, options.seed, progress)
    is_traded = method_named(options.method).draws_at_random
    return Facts(
        study,
        plan,
        costs,
        judgement,
        timeline,
        _traded(study, options, costs, progress) if is_traded else None,
        _compared(study, options, progress) if options.compare else None,
        simulated,
    )


def _traded(study: Study, options: ReportOptions, costs: PlanCosts, progress: Progress) -> TradeOff:
    """Return what a plan costs around the plan's own epsilon, the plan itself among them."""
    # Of a plan within a budget the epsilon is the one that was found.
    target = replace(target_of(options), epsilon=study.design.target.epsilon)
    epsilons = default_epsilons(target.epsilon)
    others = [epsilon for epsilon in epsilons if epsilon != target.epsilon]
    points, missing = traded(study, options, target, others, progress)
    points = (point_of(study.design, target.epsilon), *points)
    return TradeOff(options.method, target, epsilons, points, missing, replace(costs, binding=None))


def _compared(study: Study, options: ReportOptions, progress: Progress) -> NotedRows:
    """Return a row a method, of all methods."""
    asked = options_of(CompareOptions, options, output=None, one_workload=True)
    comparison = comparison_of(study.profile, options.profiles, asked, progress)
    return workload_rows(options.profiles, comparison, method_names(), asked)


_NAME_WIDTH = 48


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedTotals:
    """What results of the plan's launches say.

    Attributes
    ----------
    larger : the plan with what the next round is to simulate; None where no target is given, or it is met.
    why_no_larger : why there is none although the target is not met; else empty.
    """

    found: PlanEstimate
    larger: ToppedUp | None
    why_no_larger: str


def check_results_options(options: ReportOptions) -> None:
    """Refuse options of results where no results are given.

    Raises
    ------
    OptionError : one is given.
    """
    if options.results:
        return
    own = {each.name for each in fields(ResultsOptions)} - {each.name for each in fields(OutputOptions)}
    for each in fields(options):
        if each.name in own | {"plan"} and getattr(options, each.name) != each.default:
            raise OptionError(
                f"{each.metadata['flags'][0]} is about results, and none are given",
                remedy="give --results FILE, what a simulator wrote of the plan's launches",
            )


def simulated_totals(study: Study, plan: Plan, options: ReportOptions, progress: Progress) -> SimulatedTotals:
    """Read results of the plan, or of the plan file that is named, and estimate the whole run's totals.

    Raises
    ------
    AnalysisError : the plan file is not of this profile.
    SamplingError : see `estimated`.
    """
    if options.plan is not None:
        found = _found(options.plan, options, progress)
        if not made_from(study.profile, found.found.plan):
            raise AnalysisError(
                f"--plan {options.plan}: it was made from another profile",
                remedy="give the profile that it was made from",
            )
        return found
    with scratch_file() as path:
        launches = find_planned_launches(study, plan, progress)
        text = plan_document(study, plan, launches).text()
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        return _found(str(path), options, progress)


def _found(plan: str, options: ReportOptions, progress: Progress) -> SimulatedTotals:
    shared: dict[str, Any] = {each.name: getattr(options, each.name) for each in fields(ResultsOptions)}
    asked = EstimateOptions(**shared, plan=plan, results=options.results, groups=True)
    found = estimated(asked, progress)
    try:
        return SimulatedTotals(found, missing_to_target(found, asked, progress), "")
    except SamplingError as error:
        return SimulatedTotals(found, None, error_text(error))


def results_blocks(simulated: SimulatedTotals, options: ReportOptions) -> Iterator[Block]:
    """Yield the totals, each kernel group's share of them, and what to run next."""
    found = simulated.found
    of = "" if options.plan is None else f"The plan is that of {options.plan}."
    yield from (f"{line}." for line in (*missing_lines(found), *cache_lines(found)))
    yield from (of,) if of else ()
    yield Table("What the simulator's results say of the whole run", pairs(total_lines(found)))
    said = (*part_lines(found), *seen_lines(found), *refuted(found), *found.notes)
    yield from (f"{_begun(line.strip().removesuffix('.'))}." for line in said)
    yield from _groups(found, options.top)
    yield from _next(simulated, options)


def _groups(found: PlanEstimate, top: int) -> Iterator[Block]:
    groups = compared_groups(found)
    if not groups:
        yield f"{_begun(NO_GROUPS)}."
        return
    shares = [group.simulated_share or 0.0 for group in groups[:top]]
    bars = {"simulated": tuple(share / (max(shares) or 1.0) for share in shares)}
    caption = "Kernel groups: shares of the whole, simulated and profiled, and how far each total's interval"
    yield Table(f"{caption} reaches", group_listing(found).columns(_NAME_WIDTH, top), bars)
    left = len(groups) - len(shares)
    yield from (f"{quantities.count(left)} smaller groups are not listed.",) if left else ()
    yield from places_named(found)


def _next(simulated: SimulatedTotals, options: ReportOptions) -> Iterator[Block]:
    if options.target is None:
        return
    yield f"{_begun(target_text(simulated.found, options.target, accept_cold=options.accept_cold))}."
    if simulated.larger is None:
        yield from (f"{_begun(simulated.why_no_larger)}.",) if simulated.why_no_larger else ()
        return
    yield f"{_begun(next_text(simulated.larger))}."
    listing = next_listing(simulated.larger)
    yield Table("To simulate next", listing.columns(_NAME_WIDTH, options.top))
    left = len(listing.labels) - options.top
    yield from (f"{quantities.count(left)} more: `estimate --top-up` writes them.",) if left > 0 else ()


def _begun(text: str) -> str:
    """Return words as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def report_answer(report: Report, written: Written, study: Study, options: ReportOptions) -> Answer:
    """Return the files that were written."""
    titles = [section.title for section in report.sections]
    lines = []
    if options.output is not None:
        sections = counted(len(titles), "section", "sections")
        lines.append(f"{options.output}: {sections}, {quantities.count(written.size_bytes)} bytes")
    lines += written.charts
    results = {
        "path": options.output,
        "bytes": written.size_bytes,
        "sections": titles,
        "charts": list(written.charts),
    }
    codes = tuple(finding.code for finding in study.findings)
    return Answer("report", results, lambda _: "\n".join(lines), warnings=codes)


def check_target(simulated: SimulatedTotals | None, options: ReportOptions) -> None:
    """Raise CheckFailedError where the simulated total is not as narrow as asked for."""
    if simulated is None or options.target is None:
        return
    if not simulated.found.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(unmet_text(simulated.found, options.target))
