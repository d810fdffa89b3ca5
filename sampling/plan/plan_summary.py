"""What a plan costs and promises, as records: one plan, a plan on one screen of its profile, a trade-off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import field

from sampling.plan.design import Design
from sampling.plan.draft import Draft
from sampling.plan.findings import FindingRecord
from sampling.plan.judge import DrawErrors, Judgement
from sampling.plan.overview import (
    GroupSummary,
    busiest_idle,
    busy_shares,
    device_name,
    kind_shares,
    summarise_groups,
)
from sampling.plan.plan import Plan, planned_strata
from sampling.plan.sensitivity import PlanCosts, TradeOffPoint, machine_hours
from sampling.record import Amount, Bounds, Count, Fraction, Index, Nanoseconds, Record
from sampling.reduction.idle import CopyTime, IdleTime
from sampling.strata.draw import DRAWS

#: So many kernel groups are on the screen of a summary.
LARGEST_GROUPS = 10


class PlanFigures(Record, frozen=True):
    """What a plan is expected to cost, and what it promises."""

    method: str
    epsilon: Fraction
    confidence: Fraction
    strata: Count
    samples: Count
    sampled_duration_ns: Amount
    speedup: Amount | None
    promised_error: Amount | None
    bound: Amount | None
    group_bound: Amount | None
    bound_with_noise: Amount | None


class PooledGroups(Record, frozen=True):
    """How many kernel groups are pooled, and their share of the time."""

    groups: Index
    share: Fraction


class CostOfPlan(Record, frozen=True):
    """The share of what all launches cost a simulator that a plan's cost, and whether it is made by it."""

    metric: str
    share: Fraction | None
    decides: bool


class CalibratedDraws(Record, frozen=True):
    """The shares of simulated draws of a plan that were within epsilon, by durations and as simulated."""

    draws: Count
    within_epsilon: Fraction
    simulated_within_epsilon: Fraction | None


class OptionRelaxed(Record, frozen=True):
    """An option one step on, all others as they are, and the speedup that a plan then has."""

    option: str
    before: float | str | bool = field(name="from")
    after: float | str | bool = field(name="to")
    speedup_before: Amount
    speedup: Amount
    #: The error promised of the simulated total then.
    bound: Amount | None
    machine_hours: Amount | None


class PlanSummary(Record, frozen=True):
    """A plan: what this draw of it costs, what it promises, and what was looked at beside it."""

    method: str
    launches: Count
    strata: Count
    samples: Count
    total_duration_ns: Nanoseconds
    sampled_duration_ns: Nanoseconds
    speedup: Amount | None
    expected_speedup: Amount | None
    cost: CostOfPlan | None
    promised_error: Amount | None
    bound: Amount | None
    group_bound: Amount | None
    bound_with_noise: Amount | None
    group_bound_with_noise: Amount | None
    #: In words.
    promise: str
    pooled: PooledGroups
    #: The half-width that `estimate` is expected to print, as a fraction.
    expected_interval: Amount | None
    #: That of a speedup between configurations that are much alike.
    expected_speedup_interval: Amount | None
    calibrated: CalibratedDraws | None
    #: What the drawn launches estimate the total duration to be, and how far that is off.
    estimate_ns: Amount
    error: Amount
    #: What any plan samples at least.
    floor_ns: Amount
    judged: DrawErrors | None
    epsilon: Fraction | None
    machine_hours: Amount | None
    longest_launch_hours: Amount | None
    #: None where it was not looked at.
    binding: list[OptionRelaxed] | None
    #: What a method that picks launches says of how it did.
    details: dict[str, Any] | None


class ProfileSummary(Record, frozen=True):
    """One screen on a profile: what dominates, what to watch out for, what a plan costs.

    What bounds the run is told where counters of the plan's launches are given.
    """

    device: str | None
    launches: Count
    kernel_groups: Count
    total_duration_ns: Nanoseconds
    #: From the first start to the last end.
    span_ns: Nanoseconds | None
    #: Of each device the share of its span in which a kernel runs.
    busy: list[Fraction]
    #: Why the busiest device is idle, and what was copied; None where that was not looked at.
    idle: IdleTime | None
    copies: list[CopyTime] | None
    #: The share of the time of each kind of work.
    kinds: dict[str, Fraction]
    findings: list[FindingRecord]
    #: The largest.
    groups: list[GroupSummary]
    plan: PlanFigures
    promise: str
    pooled: PooledGroups
    machine_hours: Amount | None
    longest_launch_hours: Amount | None
    binding: list[OptionRelaxed] | None
    bounds: Bounds
    #: Commands to type next.
    next: list[str]


class TradeOffRow(Record, frozen=True):
    """What a plan is expected to cost and promises at one epsilon; or why there is none."""

    epsilon: Fraction
    samples: Count | None
    strata: Count | None
    sampled_duration_ns: Amount | None
    speedup: Amount | None
    promised_error: Amount | None
    bound: Amount | None
    group_bound: Amount | None
    no_plan: str | None
    machine_hours: Amount | None
    #: Of the plan's own epsilon, where it was asked for.
    binding: list[OptionRelaxed] | None


class StratumRow(Record, frozen=True):
    """A stratum of a plan, with its place in the plan file, from 0."""

    stratum: Index
    key: str
    size: Count
    mean_ns: Amount
    std_ns: Amount
    low_ns: Nanoseconds
    high_ns: Nanoseconds
    samples: Index
    pooled: bool
    signatures: Count


def plan_figures(design: Design) -> PlanFigures:
    """Return what plans of a design are expected to cost, and what they promise."""
    return PlanFigures.from_attributes(design, design.target, design.bounds, strata=design.strata_count)


def pooled_groups(draft: Draft) -> PooledGroups:
    """Return how many kernel groups are pooled."""
    is_pooled = draft.groups.pooled
    return PooledGroups(int(is_pooled.sum()), float(draft.groups.share[is_pooled].sum()))


def relaxed_options(total_ns: float, costs: PlanCosts) -> list[OptionRelaxed] | None:
    """Return what binds a plan of launches that take so long; None where that was not asked for."""
    if costs.binding is None:
        return None
    return [
        OptionRelaxed.from_attributes(
            step,
            machine_hours=None
            if costs.slowdown is None
            else machine_hours(total_ns / step.speedup, costs.slowdown),
        )
        for step in costs.binding
    ]


def summarise_plan(
    draft: Draft, plan: Plan, judgement: Judgement | None, costs: PlanCosts, promise: str
) -> PlanSummary:
    """Return a plan of a draft; ``promise`` is what it promises, in words."""
    design, cost, calibrated = plan.design, None, None
    if plan.cost is not None:
        cost = CostOfPlan(plan.cost.metric, plan.cost_share, plan.cost.is_objective)
    promised = design.promise
    if promised is not None:
        shares = promised.share_within_epsilon, promised.simulated_share_within_epsilon
        calibrated = CalibratedDraws(DRAWS, *shares)
    return PlanSummary.from_attributes(
        plan,
        design.bounds,
        method=design.method,
        launches=draft.counts.launches,
        strata=design.strata_count,
        expected_speedup=design.speedup,
        cost=cost,
        group_bound_with_noise=None if promised is None else promised.group_bound_with_noise,
        promise=promise,
        pooled=pooled_groups(draft),
        expected_interval=None if promised is None else promised.expected_half_width,
        expected_speedup_interval=None if promised is None else promised.expected_speedup_half_width,
        calibrated=calibrated,
        judged=None if judgement is None else judgement.record,
        epsilon=design.target.epsilon if design.random else None,
        machine_hours=None if costs.hours is None else costs.hours.drawn,
        longest_launch_hours=None if costs.hours is None else costs.hours.longest_launch,
        binding=relaxed_options(plan.total_duration_ns, costs),
        details=design.details,
    )


def summarise_profile(
    draft: Draft, costs: PlanCosts, promise: str, bounds: Bounds, commands: list[str]
) -> ProfileSummary:
    """Return one screen on a profile; ``promise`` is what its plan promises, in words."""
    counts = draft.counts
    return ProfileSummary.from_attributes(
        counts,
        device=device_name(draft),
        kernel_groups=len(counts.groups),
        span_ns=draft.span_ns,
        busy=busy_shares(draft),
        idle=busiest_idle(draft),
        copies=draft.copies,
        kinds=kind_shares(draft),
        findings=[finding.record for finding in draft.findings],
        groups=summarise_groups(draft.look, range(min(LARGEST_GROUPS, len(draft.look.counts.groups)))),
        plan=plan_figures(draft.design),
        promise=promise,
        pooled=pooled_groups(draft),
        machine_hours=None if costs.hours is None else costs.hours.drawn,
        longest_launch_hours=None if costs.hours is None else costs.hours.longest_launch,
        binding=relaxed_options(counts.total_duration_ns, costs),
        bounds=bounds,
        next=commands,
    )


def trade_off_row(
    point: TradeOffPoint, slowdown: float | None, binding: list[OptionRelaxed] | None
) -> TradeOffRow:
    """Return what a plan costs at one epsilon; ``binding`` is what binds it, where that was asked for."""
    taken = None if slowdown is None else machine_hours(point.sampled_duration_ns, slowdown)
    return TradeOffRow.from_attributes(point, no_plan=None, machine_hours=taken, binding=binding)


def row_without_plan(epsilon: float, reason: str) -> TradeOffRow:
    """Return that there is no plan at an epsilon, and why."""
    nothing: dict[str, Any] = dict.fromkeys(TradeOffRow.__struct_fields__)
    return TradeOffRow(**nothing | {"epsilon": epsilon, "no_plan": reason})


def list_strata(plan: Plan) -> Iterator[StratumRow]:
    """Yield the strata of a plan."""
    for number, stratum in enumerate(planned_strata(plan)):
        yield StratumRow.from_attributes(stratum, stratum=number)
