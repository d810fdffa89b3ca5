"""What a simulator's results say of a whole workload: every total, ratio and kernel group of a plan.

A launch may be simulated in part, its cycles projected from where its IPC is stable, and on a smaller GPU,
from which a scale model predicts the large one; one that started cold is corrected by those that were
simulated both ways. Each adds an error of its own to that of sampling launches.
(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from msgspec import structs

from sampling.arrays import BoolArray
from sampling.errors import AnalysisError, NoMetricError, OptionError
from sampling.estimation.caches import Caches, describe_caches, warmed
from sampling.estimation.interval import (
    COSTS,
    Estimate,
    Sample,
    estimate,
    estimate_groups,
    without_interval,
)
from sampling.estimation.ratio import Ratio, ratio_of_totals
from sampling.features.counters import adds_up, is_of_device, weight_of
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile
from sampling.plan.request import PlanRequest
from sampling.record import Amount, Record
from sampling.reduction.grouping import POOL_NAME, is_pool_key
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, caches_kind
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.strata import OF_SEVERAL_SIGNATURES, starting_spreads
from sampling.strata.target import normal_quantile
from sampling.text import Wording, counted

#: The metric of launches that were simulated in part.
PROJECTED = "projected_cycles"
# So few launches simulated both ways say little of how far projections are off.
_FEWEST_MEASURED = 3
# The column beside the cycles: whether they are projected, 0 or 1.
IS_PROJECTED = "is projected"
_COVERS = (
    "the intervals cover which launches were simulated; not the simulator's own error, cold caches of "
    "launches simulated alone, or streams that overlap"
)
_OF_TOTAL_ALONE = (
    "how far the cold check may be off is in the interval of all cycles, not in ratios' and groups'"
)
#: Of counters without an interval
FEW_CARRY = (
    "where a counter has no interval few launches carry it, as of cache misses, and of bytes of device "
    "memory where caches hold the rest; those that were left out may have as much as these, or none"
)
#: Of counters of a plan that pools kernels
POOLED = (
    "the plan pools small kernels that last alike, whose counters differ: intervals of counters beside time "
    "and cycles are wide, and may yet be too narrow; plan with `sample --for counters`"
)
_MEASURE_TIME = "measure their time too, as gpu__time_duration.sum"
_PICKED = "the plan's launches were picked, not drawn at random"
NOT_RANDOM = without_interval(_PICKED)


class IntervalParts(Record, frozen=True):
    """Half-widths of the interval of a total, as fractions of it; each at the interval's confidence."""

    #: Of which launches were simulated; None where there is no interval.
    sampling: Amount | None
    projection: Amount
    scale_model: Amount
    #: Of the ratio by which cycles of cold launches are multiplied.
    cold_check: Amount
    #: Of kernels that the simulator never ran, taken as another behaves.
    assumed: Amount

    @property
    def beside_sampling(self) -> float:
        """What no other launches would narrow."""
        return float(np.linalg.norm(structs.astuple(self)[1:]))


class OwnReads(Record, frozen=True):
    """What the whole run's cycles lie between: those with own reads in L2, and those of cold launches."""

    own: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PlanEstimate:
    """What results say of the workload that a plan stands for."""

    plan: PlanFile
    #: What the totals are of, with projected cycles and those that a cold check corrects.
    results: SimulatedLaunches
    #: A total of each metric, and the ids of the plan's launches without that metric.
    totals: tuple[Estimate, ...]
    missing: tuple[tuple[int, ...], ...]
    #: IPC, where cycles and instructions are known, and those asked for.
    ratios: tuple[Ratio, ...]
    #: Gaps and what was left out, in words.
    notes: tuple[str, ...]
    #: Of the interval of cycles; None where no launch was projected or checked and no scale model used.
    parts: IntervalParts | None
    #: How the caches were when the launches began.
    caches: Caches
    #: Cycles of the same launches with their own reads in the caches, where the others started cold (the
    #: whole run's lie between both); None where these are not all there.
    own: Estimate | None

    @property
    def main(self) -> Estimate:
        """The total that a target is asked of: cycles, or the first metric where there are none."""
        return next((total for total in self.totals if total.metric == CYCLES), self.totals[0])

    @cached_property
    def groups(self) -> tuple[tuple[str, Estimate], ...]:
        """Of each kernel group its key and its main total; none where launches were picked."""
        return self.group_totals(self.main.metric)

    def group_totals(self, metric: str) -> tuple[tuple[str, Estimate], ...]:
        """Return the key of each kernel group and its total of a metric; none where launches were picked."""
        if not self.plan.is_random:
            return ()
        keys = list(dict.fromkeys(compared_keys(self.plan)))
        totals = estimate_groups(self.sample, metric, self.main.confidence)
        return tuple((keys[number], total) for number, total in totals.items())

    @cached_property
    def sample(self) -> Sample:
        """The simulated launches in the plan's strata."""
        return build_sample(self.plan, self.results)

    @property
    def own_reads(self) -> OwnReads | None:
        """Where the whole run's cycles lie between those with own reads and those of cold launches."""
        if self.own is None or self.own.low is None or self.main.high is None:
            return None
        return OwnReads(self.own.total, self.own.low, self.main.high)

    @property
    def beside_sampling(self) -> float:
        """The part of the main total's half-width that no other launches would narrow, as a fraction."""
        return 0.0 if self.parts is None else self.parts.beside_sampling

    def is_within(self, target: float, *, accept_cold: bool = False) -> bool:
        """Return whether the main total is as narrow as asked for, and of all the time.

        Unasked, one of cold launches never is.
        """
        is_whole = not self.main.share_missing and (accept_cold or self.caches.is_of_whole_run)
        return is_whole and self.main.is_within(target)


def estimate_plan(
    plan: PlanFile,
    results: SimulatedLaunches,
    *,
    ratios: Sequence[tuple[str, str]] = (),
    confidence: float | None = None,
    projection_error: float | None = None,
    scale_error: float = 0.0,
) -> PlanEstimate:
    """Return totals and ratios with their intervals.

    Parameters
    ----------
    ratios : numerator and denominator of each ratio asked for.
    confidence : of the intervals; None: the plan's.
    projection_error : the relative error of projected cycles, where too few launches tell it.
    scale_error : the half-width of a scale model's own interval, where cycles are its predictions.

    Raises OptionError: a metric or interval that there is not, a confidence that is none; AnalysisError: no
    launch has a metric.
    """
    # At a confidence of 0 every interval would be a point, and read as an exact total.
    if confidence is None:
        confidence = plan.options.confidence
    confidence = PlanRequest(confidence=confidence).confidence
    caches = describe_caches(plan, results)
    results, error = with_projections(results, projection_error)
    results = _in_cycles(warmed(results, caches.check))
    sample = build_sample(plan, results)
    has_values = ~np.isnan(sample.y).all(axis=0)
    all_names = [name for name in np.array(sample.metrics)[has_values].tolist() if name != IS_PROJECTED]
    if not all_names:
        whole = " or whole layer" if any(stratum.layers for stratum in plan.strata) else ""
        raise NoMetricError(f"the results tell no metric of any launch{whole} of the plan")
    names = [name for name in all_names if adds_up(name, results.units.get(name, ""))]
    if not names:
        raise AnalysisError("the results have no counter that adds up, only rates", remedy=_MEASURE_TIME)
    # What the whole run takes is the first thing that is asked of it.
    names.sort(key=lambda name: COSTS.index(name) if name in COSTS else len(COSTS))
    missing = {name: _missing_ids(plan, results, name) for name in names}
    is_projected = IS_PROJECTED in sample.metrics
    has_budget = CYCLES in names and bool(is_projected or scale_error or caches.check)
    named = [("ipc", INSTRUCTIONS, CYCLES)] if {CYCLES, INSTRUCTIONS} <= set(names) else []
    named += [("ipc" if pair == (INSTRUCTIONS, CYCLES) else "/".join(pair), *pair) for pair in ratios]
    parts = None
    if plan.is_random:
        # A total with a budget is widened with all its parts.
        topped_up_to = dict.fromkeys(names, plan.topped_up_to) | ({CYCLES: None} if has_budget else {})
        totals = {name: estimate(sample, name, confidence, topped_up_to=topped_up_to[name]) for name in names}
        found_ratios = [ratio_of_totals(sample, *ratio, confidence) for ratio in named]
    else:
        totals = {name: _picked_total(plan, results, name, len(missing[name]), confidence) for name in names}
        unknown = next((metric for ratio in named for metric in ratio[1:] if metric not in totals), None)
        if unknown is not None:
            raise OptionError(f"no metric {unknown!r}; there are {', '.join(totals)}")
        found_ratios = [
            _picked_ratio(name, totals[numerator], totals[denominator])
            for name, numerator, denominator in named
        ]
    found_ratios += [
        _weighted_mean(plan, results, name, *weight_of(name, names), confidence)
        for name in all_names
        if name not in names and not is_of_device(name)
    ]
    if has_budget:
        projection = error * share_projected(sample) * normal_quantile(confidence) if is_projected else 0.0
        other_errors = projection, scale_error, caches.check_error(confidence)
        totals[CYCLES], parts = budgeted(totals[CYCLES], *other_errors, plan.topped_up_to)
    of_check = [_OF_TOTAL_ALONE] if caches.check else []
    return PlanEstimate(
        plan=plan,
        results=results,
        totals=tuple(totals.values()),
        missing=tuple(missing.values()),
        ratios=tuple(found_ratios),
        notes=(*results.notes, *_counter_notes(plan, [*totals.values()], found_ratios), *of_check, _COVERS),
        parts=parts,
        caches=caches,
        own=_with_own_reads(plan, results, caches, confidence),
    )


def _missing_ids(plan: PlanFile, results: SimulatedLaunches, metric: str) -> tuple[int, ...]:
    """Return the ids of the plan's launches of which a metric is not known."""
    measured = set(results.ids[~np.isnan(results.metrics[metric])].tolist())
    return tuple(launch.id for launch in plan.drawn if launch.id not in measured)


def _counter_notes(plan: PlanFile, totals: Sequence[Estimate], ratios: Sequence[Ratio]) -> list[str]:
    """Return how far intervals of counters can be trusted, and why some have none."""
    if not plan.is_random or not {total.metric for total in totals} - {*COSTS, INSTRUCTIONS}:
        return []
    is_refused = any(total.refusal and total.total > 0 for total in totals)
    is_refused |= any((mean.ratio or 0) > 0 and mean.low is None for mean in ratios)
    # Kernels that last alike need not count alike, and two launches of a pool do not show it.
    is_pooled = any(stratum.pooled for stratum in plan.strata)
    return [*([FEW_CARRY] if is_refused else []), *([POOLED] if is_pooled else [])]


def _in_cycles(results: SimulatedLaunches) -> SimulatedLaunches:
    """Return results that tell not whether a launch is projected, but how many cycles are: these add up."""
    metrics = dict(results.metrics)
    if IS_PROJECTED in metrics:
        metrics[IS_PROJECTED] = metrics[IS_PROJECTED] * metrics[CYCLES]
    return replace(results, metrics=metrics)


def build_sample(plan: PlanFile, results: SimulatedLaunches) -> Sample:
    """Return the simulated launches in the plan's strata, with the spreads that the plan declares.

    Cycles per nanosecond vary by the noise floor within a stratum, by 0.1 too where its launches have several
    signatures, and by the kernel spread where it spans kernel groups; by no less than `starting_spreads` has.
    """
    launches = [
        (launch.id, index, launch.duration_ns or 0)
        for index, stratum in enumerate(plan.strata)
        for launch in stratum.launches
    ]
    ids, stratum_of, duration_ns = (np.array(column) for column in zip(*launches, strict=True))
    place = np.minimum(np.searchsorted(results.ids, ids), len(results.ids) - 1)
    has_result = results.ids[place] == ids
    values = np.stack([column[place] for column in results.metrics.values()], axis=1)
    # A layer was drawn whole: it is one value, and none where one of its launches has none.
    units = [
        launches
        for stratum in plan.strata
        for launches in ([layer.launches for layer in stratum.layers] or [1] * len(stratum.launches))
    ]
    first = np.cumsum([0, *units])[:-1]
    values, duration_ns = (np.add.reduceat(column, first, axis=0) for column in (values, duration_ns))
    stratum_of, has_result = stratum_of[first], np.logical_and.reduceat(has_result, first)
    compared = compared_keys(plan)
    number = {key: index for index, key in enumerate(dict.fromkeys(compared))}
    within_cv, between = starting_spreads(plan.options.target)
    spans = np.array([stratum.pooled or stratum.key == WHOLE_WORKLOAD_KEY for stratum in plan.strata])
    several = np.array([stratum.is_mixed for stratum in plan.strata]) * OF_SEVERAL_SIGNATURES**2
    return Sample(
        launches=np.array([stratum.units[0] for stratum in plan.strata], dtype=np.int64),
        mean_x=np.array([stratum.units[2] for stratum in plan.strata]),
        group=np.array([number[key] for key in compared], dtype=np.int64),
        declared=within_cv**2 + several + spans * between**2,
        stratum=stratum_of[has_result].astype(np.int64),
        x=duration_ns[has_result].astype(np.float64),
        y=values[has_result],
        metrics=tuple(results.metrics),
        planned=np.array([stratum.units[1] for stratum in plan.strata], dtype=np.int64),
        of_unit=np.array([stratum.samples / stratum.units[1] for stratum in plan.strata]),
    )


def compared_keys(plan: PlanFile) -> list[str]:
    """Return (s,) the key of the group whose strata each is compared with; all pools are one."""
    return [POOL_NAME if is_pool_key(stratum.key) else stratum.key for stratum in plan.strata]


def with_projections(
    results: SimulatedLaunches, declared_error: float | None
) -> tuple[SimulatedLaunches, float]:
    """Return cycles, projected and marked where a launch did not run to its end, and a projection's error.

    The relative error, root mean square, is measured on launches that have both, and must be declared where
    fewer than three have; OptionError where it is neither.
    """
    nothing = np.full(len(results.ids), np.nan)
    metrics = dict(results.metrics)
    projected, cycles = metrics.pop(PROJECTED, nothing), metrics.get(CYCLES, nothing)
    is_projected = np.isnan(cycles) & ~np.isnan(projected)
    if PROJECTED in results.metrics:
        metrics[CYCLES] = np.where(is_projected, projected, cycles)
    if not is_projected.any():
        return replace(results, metrics=metrics), 0.0
    metrics[IS_PROJECTED] = is_projected.astype(np.float64)
    has_both = (cycles > 0) & ~np.isnan(projected)
    if has_both.sum() >= _FEWEST_MEASURED:
        error = float(np.sqrt(np.mean((projected[has_both] / cycles[has_both] - 1) ** 2)))
        return replace(results, metrics=metrics), error
    if declared_error is None:
        raise OptionError(
            Wording(
                "{} projected, and {} simulated to the end as well to measure how far that is off",
                counted(int(is_projected.sum()), "launch is", "launches are"),
                int(has_both.sum()),
            ),
            remedy=Wording("declare it with `projection_error`, as a fraction"),
        )
    return replace(results, metrics=metrics), declared_error


def share_projected(sample: Sample) -> float:
    """Return the root of the sum of squares, over kernel groups, of the share of cycles that is projected.

    ``sample``: with projected cycles as `IS_PROJECTED`.

    Launches of one kernel group are taken to be projected wrongly alike, those of different groups not.
    """
    projected, _ = sample.known(CYCLES, IS_PROJECTED)
    weight = (projected.launches / projected.samples)[projected.stratum]
    of_group = np.bincount(projected.group[projected.stratum], weight * projected.values(IS_PROJECTED))
    return float(np.sqrt((of_group**2).sum()) / (weight @ projected.values(CYCLES)))


def budgeted(
    total: Estimate,
    projection: float,
    scale_model: float,
    cold_check: float,
    topped_up_to: float | None = None,
) -> tuple[Estimate, IntervalParts | None]:
    """Return a total whose interval covers all these errors too, which are independent, and its parts.

    There are none of an incomplete total; AnalysisError where the total is 0, so that it has no shares.
    """
    if total.is_incomplete:
        return total, None
    if not total.total > 0:
        raise AnalysisError("a total of 0 has no budget of errors")
    sampling = None if total.half_width is None else total.half_width / total.total
    parts = IntervalParts(sampling, projection, scale_model, cold_check, assumed=0.0)
    if sampling is None:
        return total, parts
    # What is waited for is the whole interval, not the part of sampling alone.
    waited_for = topped_up_to or 0.0 if sampling else 0.0
    half_width = total.total * max(float(np.hypot(sampling, parts.beside_sampling)), waited_for)
    return replace(total, low=max(0.0, total.total - half_width), high=total.total + half_width), parts


def _picked_total(
    plan: PlanFile, results: SimulatedLaunches, metric: str, missing: int, confidence: float
) -> Estimate:
    """Return the total that the weights of picked launches give; it has no interval."""
    value = dict(zip(results.ids.tolist(), results.metrics[metric].tolist(), strict=True))
    of_stratum = np.array(
        [
            sum(launch.weight * value.get(launch.id, np.nan) for launch in stratum.launches)
            for stratum in plan.strata
        ]
    )
    time_ns = np.array([stratum.size * stratum.mean_ns for stratum in plan.strata])
    share = float(time_ns[np.isnan(of_stratum)].sum() / time_ns.sum()) if time_ns.sum() else 0.0
    gone = [f"incomplete: {100 * share:.3g} % of the profile's time"] if missing else []
    return Estimate(
        metric=metric,
        total=float(of_stratum.sum()),
        low=None,
        high=None,
        confidence=confidence,
        degrees_of_freedom=None,
        stratum_total=of_stratum,
        share_missing=share,
        launches_missing=missing,
        seen=None,
        refusal=_PICKED,
        notes=(NOT_RANDOM, *gone),
    )


def quotient(
    plan: PlanFile,
    results: SimulatedLaunches,
    above: str,
    below: str,
    confidence: float,
    strata: BoolArray | None = None,
    *,
    is_share: bool = False,
) -> Ratio:
    """Return the quotient of the totals of two metrics; ``strata`` and ``is_share`` as in `ratio_of_totals`.

    Raises AnalysisError: no launch has one.
    """
    if plan.is_random:
        sample = build_sample(plan, results)
        return ratio_of_totals(sample, above, above, below, confidence, strata, is_share=is_share)
    of_strata = slice(None) if strata is None else strata
    totals = (_picked_total(plan, results, metric, 0, confidence) for metric in (above, below))
    parts = ((total, total.stratum_total[of_strata]) for total in totals)
    return _picked_ratio(
        above, *(replace(total, total=float(part.sum()), stratum_total=part) for total, part in parts)
    )


def _weighted_mean(
    plan: PlanFile, results: SimulatedLaunches, name: str, weight: str, is_exact: bool, confidence: float
) -> Ratio:
    """Return the mean over all launches of a metric that does not add up: sum of value times weight, by that.

    ``weight``: the metric that weights it, of the same launches; "" is the profile's time. ``is_exact``: it
    is the quotient of the totals of what the metric itself is made of.
    """
    # Launch by launch, for those of a layer add up.
    value, duration_ns = results.metrics[name], {launch.id: launch.duration_ns or 0 for launch in plan.drawn}
    profiled_ns = np.array([duration_ns.get(number, 0) for number in results.ids.tolist()], dtype=np.float64)
    by = results.metrics[weight] if weight else profiled_ns
    weighted = value * by
    by = np.where(np.isnan(weighted), np.nan, by)
    pair = replace(results, metrics={"weighted": weighted, "weight": by})
    unit = results.units.get(name, "")
    try:
        ratio = quotient(plan, pair, "weighted", "weight", confidence)
    except NoMetricError:
        lack = f"no launch has both it and {weight}"
        return Ratio(name, reason=lack, is_incomplete=True, unit=unit, weight=weight, is_exact=is_exact)
    how = None if is_exact else f"mean weighted by {weight or 'the profile'}"
    reason = "; ".join(filter(None, (how, ratio.reason))) or None
    return ratio._replace(name=name, unit=unit, weight=weight, reason=reason, is_exact=is_exact)


def _picked_ratio(name: str, above: Estimate, below: Estimate) -> Ratio:
    """Return the quotient of two totals of picked launches, which has no interval."""
    if above.is_incomplete or below.is_incomplete:
        return Ratio(name, reason="no ratio yet: some strata have no result", is_incomplete=True)
    if not below.total > 0:
        return Ratio(name, reason="a ratio has a denominator whose total is 0")
    return Ratio(name, above.total / below.total, NOT_RANDOM)


def _with_own_reads(
    plan: PlanFile, results: SimulatedLaunches, caches: Caches, confidence: float
) -> Estimate | None:
    """Return the cycles of the launches that were simulated again with their own reads in the caches."""
    repeated = results.again
    if caches.kind != "cold" or repeated is None or CYCLES not in repeated.metrics or not plan.is_random:
        return None
    sample = build_sample(plan, repeated)
    if np.isnan(sample.values(CYCLES)).all() or {caches_kind(state) for state in repeated.caches} != {"own"}:
        return None
    total = estimate(sample, CYCLES, confidence, topped_up_to=plan.topped_up_to)
    return None if total.is_incomplete else total
