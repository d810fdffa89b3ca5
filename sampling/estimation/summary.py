"""An estimate as records: totals with their intervals, kernel groups beside the profile, what to run next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from sampling.estimation.hardware import HardwareComparison, compare_total, compare_with_hardware
from sampling.estimation.interval import Estimate, SeenSpread
from sampling.estimation.roofline import summarise_bounds
from sampling.estimation.total import IntervalParts, OwnReads, PlanEstimate, compared_keys
from sampling.plan.plan_file import PlannedLaunch
from sampling.record import Amount, Bounds, Count, Fraction, Index, Record

IntervalMethod = Literal["exact", "declared-times-seen", "none"]


class TotalSummary(Record, frozen=True):
    """The total of a metric over all launches of a plan."""

    metric: str
    #: As the profiler counts it, in base units: ns, byte, inst; "" where it is not known.
    unit: str
    #: None of a part.
    total: float | None
    low: float | None
    high: float | None
    confidence: Fraction
    #: None where there is no interval, and of an exact total, which has no end of them.
    degrees_of_freedom: Amount | None
    method: IntervalMethod
    incomplete: bool
    #: Of the profile's time.
    share_missing: Fraction
    launches_missing: Index
    #: Ids of launches without a result.
    missing: list[Index]
    notes: list[str]


class RatioSummary(Record, frozen=True):
    """A ratio of two totals, or the mean of a counter that does not add up; None where there is none: why."""

    name: str
    unit: str
    #: Of a mean the metric that weights it, "" for the profile's time; None of a ratio.
    weight: str | None
    ratio: float | None
    low: float | None
    high: float | None
    confidence: Fraction
    reason: str | None
    incomplete: bool


class GroupTotal(Record, frozen=True):
    """The total of a kernel group, beside what it took in the profile."""

    key: str
    metric: str
    unit: str
    total: float | None
    low: float | None
    high: float | None
    confidence: Fraction
    degrees_of_freedom: Amount | None
    method: IntervalMethod
    incomplete: bool
    share_missing: Fraction
    launches_missing: Index
    profiled_ns: Amount
    profiled_share: Fraction
    #: Of the total; None of a part of the run.
    simulated_share: Fraction | None
    #: Its metric per profiled nanosecond.
    per_ns: Amount | None
    #: Its simulated over its recorded time; None where there is no clock, or no total.
    hardware_ratio: Amount | None


class ColdCheckSummary(Record, frozen=True):
    """How much less launches take that do not start cold, from some that were simulated both ways."""

    ratio: float
    standard_error: Amount
    pairs: Count


class CachesSummary(Record, frozen=True):
    """How launches began, by their share of the time that the results stand for."""

    state: str
    shares: dict[str, Fraction]
    is_of_whole_run: bool
    cold_check: ColdCheckSummary | None
    bracket: OwnReads | None


class DeclaredSpread(Record, frozen=True):
    """What the plan declared of how results vary; None where its launches are not drawn at random."""

    noise: Fraction | None
    kernel_spread: Amount | None


class EstimateSummary(Record, frozen=True):
    """What results of a plan's launches say of the whole run."""

    metrics: list[TotalSummary]
    ratios: list[RatioSummary]
    #: None of them unless they are asked for.
    groups: list[GroupTotal]
    #: Whether the total is within the target asked for.
    promise_met: bool | None
    caches: CachesSummary
    seen: SeenSpread | None
    declared: DeclaredSpread
    parts: IntervalParts | None
    #: None where the profile is a simulator's, the clock is not known or there is no total.
    hardware: HardwareComparison | None
    bounds: Bounds
    #: What is to be simulated next.
    next: list[PlannedLaunch]
    #: What the interval covers, in words.
    covers: str


class ComparedGroup(NamedTuple):
    """What one kernel group took in the profile, and what it takes in the simulator.

    Of a group without results there is no total; of a part of the run there are no shares of its total.
    """

    key: str
    total: Estimate | None
    profiled_ns: float
    profiled_share: float
    simulated_share: float | None
    #: Its metric per profiled nanosecond, of the strata that are in the total.
    per_ns: float | None
    #: Its simulated beside its recorded time; None where there is no clock, or no total.
    hardware: HardwareComparison | None


def compare_groups(estimate: PlanEstimate, metric: Estimate | None = None) -> list[ComparedGroup]:
    """Return the kernel groups, largest differences from a GPU first, or totals; none of picked launches.

    ``metric``: whose totals they are; the main one's if not given.
    """
    metric = metric or estimate.main
    totals = dict(estimate.group_totals(metric.metric))
    if not totals:
        return []
    profiled_ns: dict[str, float] = {}
    for key, stratum in zip(compared_keys(estimate.plan), estimate.plan.strata, strict=True):
        profiled_ns[key] = profiled_ns.get(key, 0.0) + stratum.size * stratum.mean_ns
    all_ns = sum(profiled_ns.values())
    in_all = math.nan if metric.is_incomplete else sum(total.total for total in totals.values())
    groups = []
    for key, ns in profiled_ns.items():
        total, simulated, per_ns, hardware = totals.get(key), None, None, None
        if total is not None:
            known_ns = ns * (1 - total.share_missing)
            simulated = total.total / in_all if in_all > 0 else None
            per_ns = float(np.nansum(total.stratum_total)) / known_ns if known_ns else None
            hardware = compare_total(estimate, total, ns) if metric is estimate.main else None
        profiled = ns / all_ns if all_ns else 0.0
        groups.append(ComparedGroup(key, total, ns, profiled, simulated, per_ns, hardware))
    return sorted(
        groups,
        key=lambda group: (
            group.total is None,
            0.0 if group.hardware is None else -abs(group.hardware.difference_ns),
            -(group.simulated_share or 0),
            -group.profiled_ns,
        ),
    )


def summarise_estimate(
    estimate: PlanEstimate,
    *,
    groups: bool,
    target: float | None,
    accept_cold: bool,
    next_launches: Sequence[PlannedLaunch] = (),
) -> EstimateSummary:
    """Return every figure of an estimate; ``groups``: those of the kernel groups too."""
    main, parts, spread, units = estimate.main, estimate.parts, estimate.main.seen, estimate.results.units
    declared = estimate.plan.options.target if estimate.plan.is_random else None
    compared = {group.key: group for group in compare_groups(estimate)} if groups else {}
    if not any(group.hardware for group in compared.values()):
        # In the plan's order, where no difference has one.
        compared = {key: compared[key] for key, _ in estimate.groups if groups}
    others = [total for total in estimate.totals if groups and total is not main]
    rows = [*compared.values(), *(row for total in others for row in compare_groups(estimate, total))]
    return EstimateSummary(
        metrics=[
            TotalSummary.from_attributes(
                total,
                **_total_fields(total, units),
                missing=list(missing),
                notes=list(map(str, total.notes)),
            )
            for total, missing in zip(estimate.totals, estimate.missing, strict=True)
        ],
        ratios=[
            RatioSummary.from_attributes(
                ratio,
                confidence=main.confidence,
                reason=None if ratio.reason is None else str(ratio.reason),
                incomplete=ratio.is_incomplete,
            )
            for ratio in estimate.ratios
        ],
        groups=[
            GroupTotal.from_attributes(
                group.total,
                group,
                **_total_fields(group.total, units),
                hardware_ratio=None if group.hardware is None else group.hardware.ratio,
            )
            for group in rows
            if group.total is not None
        ],
        promise_met=None if target is None else estimate.is_within(target, accept_cold=accept_cold),
        caches=_caches_summary(estimate),
        seen=spread,
        declared=DeclaredSpread(
            noise=None if declared is None else declared.noise_floor,
            kernel_spread=None if declared is None else declared.kernel_spread,
        ),
        parts=parts,
        hardware=compare_with_hardware(estimate),
        bounds=summarise_bounds(estimate),
        next=list(next_launches),
        covers=str(estimate.notes[-1]),
    )


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _interval_method(total: Estimate) -> IntervalMethod:
    if total.low is None:
        return "none"
    return "exact" if total.degrees_of_freedom == math.inf else "declared-times-seen"


def _total_fields(total: Estimate, units: Mapping[str, str]) -> dict[str, Any]:
    """Return what the total of all and that of a kernel group have in another form than an `Estimate`."""
    return {
        "unit": units.get(total.metric, ""),
        "total": _known(total.total),
        "degrees_of_freedom": _known(total.degrees_of_freedom),
        "method": _interval_method(total),
        "incomplete": total.is_incomplete or total.share_missing > 0,
    }


def _caches_summary(estimate: PlanEstimate) -> CachesSummary:
    caches, check = estimate.caches, estimate.caches.check
    return CachesSummary.from_attributes(
        caches,
        shares=dict(caches.shares),
        cold_check=None if check is None else ColdCheckSummary.from_attributes(check),
        bracket=estimate.own_reads,
    )
