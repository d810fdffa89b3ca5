"""What a report is about: the plan, how its cost and its error come about, and what else was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sampling.methods.registry import method_named, method_names
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.plan import Plan, drawn_plan
from sampling.plan.study import Study
from sampling.plan.trade_off import default_epsilons, point_of
from sampling.progress import Progress
from tui.engine.budgets import PlanCosts, binding_of, plan_costs, study_within_budget
from tui.engine.comparing import comparison_of
from tui.engine.studies import target_of
from tui.engine.timelines import GroupTimeline, timeline_of_group
from tui.engine.trade_offs import traded
from tui.engine.unused_options import note_unused_epsilon
from tui.options.command_line import options_of
from tui.options.commands import CompareOptions
from tui.options.report import ReportOptions
from tui.report.results import SimulatedTotals, check_results_options, simulated_totals
from tui.text.comparison.rows import NotedRows, workload_rows
from tui.text.trade_off import TradeOff


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
