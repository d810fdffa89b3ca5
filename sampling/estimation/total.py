"""One budget of errors: what was not simulated, what was projected, corrected or predicted.

A launch may be simulated in part, its cycles projected from where its IPC is stable, and on a smaller GPU,
from which a scale model predicts the large one; one that started cold is corrected by those that were
simulated both ways. Each adds an error of its own to that of sampling launches.
(docs/methods.md, 11 Back from the simulator)


What a simulator's results say of a whole workload: every total, ratio and kernel group of a plan.

What the intervals cover is which launches were simulated: not how far the simulator is from hardware, nor
cold caches of launches simulated alone, nor streams that overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.caches import Caches, caches_of, unlike_caches, warmed
from sampling.estimation.interval import (
    Estimate,
    RatioEstimate,
    Sample,
    estimate,
    estimate_groups,
    ratio_of_totals,
)
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile
from sampling.reduction.plan_groups import POOL_NAME, is_pool_key
from sampling.simulators.measured_run import kind_of_caches
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.target import Target, normal_quantile
from sampling.text import Wording, counted

#: The metric of launches that were simulated in part.
PROJECTED = "projected_cycles"
# So few launches simulated both ways say little of how far projections are off.
_FEWEST_MEASURED = 3


@dataclass(frozen=True, slots=True)
class Projections:
    """Cycles of launches, some of them projected.

    Attributes
    ----------
    results : cycles of all launches, those projected where the launch was not simulated to its end.
    is_projected : (n,) whether they are.
    error : the relative error of a projection, root mean square; None where nothing was projected.
    measured : of how many launches that error was measured; 0 where it is the one declared.
    """

    results: SimulatedLaunches
    is_projected: BoolArray
    error: float | None
    measured: int


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """Half-widths of the interval of a total, as fractions of it; each at the interval's confidence.

    Attributes
    ----------
    sampling : which launches were simulated; None where there is no interval.
    projection, scale_model : 0 where there is none.
    cold_check : of the ratio by which cycles of cold launches are multiplied; 0 where there is none.
    note : how the error of projections is known; empty where there are none.
    """

    sampling: float | None
    projection: float
    scale_model: float
    note: str
    cold_check: float = 0.0

    @property
    def beside_sampling(self) -> float:
        """What no other launches would narrow."""
        return float(np.sqrt(self.projection**2 + self.scale_model**2 + self.cold_check**2))


def with_projections(results: SimulatedLaunches, declared_error: float | None) -> Projections:
    """Return the cycles with projected ones where a launch was not simulated to its end.

    The error of projections is measured on launches that have both; where fewer than three have, it must be
    declared.

    Raises
    ------
    OptionError : it is neither measured nor declared.
    """
    nothing = np.zeros(len(results.ids), dtype=np.bool_)
    if PROJECTED not in results.metrics:
        return Projections(results, nothing, None, 0)
    projected = results.metrics[PROJECTED]
    cycles = results.metrics.get("cycles", np.full(len(results.ids), np.nan))
    is_projected = np.isnan(cycles) & ~np.isnan(projected)
    both = ~np.isnan(cycles) & ~np.isnan(projected) & (cycles > 0)
    measured = int(both.sum())
    error = declared_error
    if measured >= _FEWEST_MEASURED:
        error = float(np.sqrt(np.mean((projected[both] / cycles[both] - 1) ** 2)))
    elif is_projected.any() and declared_error is None:
        raise OptionError(
            Wording(
                "{} projected, and {} simulated to the end as well to measure how far that is off",
                counted(int(is_projected.sum()), "launch is", "launches are"),
                measured,
            ),
            remedy=Wording("declare it with `projection_error`, as a fraction"),
        )
    metrics = {name: values for name, values in results.metrics.items() if name != PROJECTED}
    merged: FloatArray = np.where(is_projected, projected, cycles)
    known = replace(results, metrics={**metrics, "cycles": merged})
    used = measured if measured >= _FEWEST_MEASURED else 0
    return Projections(known, is_projected, error if is_projected.any() else None, used)


def budgeted(
    total: Estimate,
    sample: Sample,
    projected: BoolArray,
    projections: Projections,
    scale_error: float,
    check_error: float = 0.0,
    topped_up_to: float | None = None,
) -> tuple[Estimate, ErrorParts]:
    """Return a total whose interval covers all these errors, and its parts.

    Launches of one kernel group are taken to be projected wrongly alike, those of different groups not; the
    parts are independent of each other: half-widths add up as squares.

    Parameters
    ----------
    sample, projected : the sample that the total is of, and (n,) which of its launches are projected.
    scale_error : the half-width of the scale model's own interval at the total's confidence, as a fraction.
    check_error : the same of the check of launches that started cold.
    topped_up_to : see `estimate`, where the total was not given it.

    Raises
    ------
    AnalysisError : the total is 0, so that no share of it can be told.
    """
    if not total.total > 0:
        raise AnalysisError("a total of 0 has no budget of errors")
    sampling = None if total.half_width is None else total.half_width / total.total
    z = normal_quantile(total.confidence)
    of_projection = z * (projections.error or 0.0) * _share_projected(sample, projected)
    note = _note(projections)
    parts = ErrorParts(sampling, of_projection, scale_error, note, check_error)
    if sampling is None:
        return total, parts
    # What is waited for is the whole interval, not the part of sampling alone.
    waited_for = topped_up_to or 0.0 if sampling else 0.0
    half_width = total.total * max(float(np.hypot(sampling, parts.beside_sampling)), waited_for)
    low, high = max(0.0, total.total - half_width), total.total + half_width
    return replace(total, low=low, high=high), parts


def _share_projected(sample: Sample, projected: BoolArray) -> float:
    """Return the root of the sum of squares, over kernel groups, of the share of cycles that is projected."""
    weight = (sample.launches / np.maximum(sample.samples, 1))[sample.stratum]
    cycles = weight * sample.values("cycles")
    group = sample.group[sample.stratum]
    of_group = np.bincount(group[projected], cycles[projected], minlength=int(sample.group.max()) + 1)
    return float(np.sqrt((of_group**2).sum()) / np.nansum(cycles))


def _note(projections: Projections) -> str:
    if projections.error is None:
        return ""
    if projections.measured:
        launches = counted(projections.measured, "launch", "launches")
        return f"measured on {launches} that ran to the end as well"
    return "declared"


CYCLES, INSTRUCTIONS = "cycles", "instructions"
# The cycles of the other configuration, in a sample of both.
_OTHER = "cycles of the other configuration"
_IS_PROJECTED = "is projected"
COVERS = (
    "the intervals cover which launches were simulated; not the simulator's own error, cold caches of "
    "launches simulated alone, or streams that overlap"
)
OF_TOTAL_ALONE = (
    "how far the cold check may be off is in the interval of all cycles, not in ratios' and groups'"
)
# Declared as none, a spread is still what others are measured by.
LEAST_DECLARED = 1e-12
NOT_RANDOM = "no interval: the plan's launches were picked, not drawn at random"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two totals, and why there is none, or that it is one of a part."""

    name: str
    value: RatioEstimate | None
    reason: str | None = None
    is_incomplete: bool = False

    def withheld(self) -> Ratio:
        """Return the same without a value where it would be one of a part."""
        reason = "no ratio yet: some strata have no result"
        return replace(self, value=None, reason=reason) if self.is_incomplete else self


@dataclass(frozen=True, slots=True, eq=False)
class PlanEstimate:
    """What results say of the workload that a plan stands for.

    Attributes
    ----------
    totals : a total of each metric.
    missing : of each total the ids of the plan's launches without that metric.
    ratios : IPC, where cycles and instructions are known, and those asked for.
    speedup : cycles of these results over those of the other configuration; None where none was given.
    groups : of each kernel group its key and the total of the first metric.
    notes : gaps and what was left out, in words.
    parts : of the interval of cycles; None where no launch was projected or checked and no scale model used.
    results : what the totals are of, with projected cycles and those that a cold check corrects.
    caches : how the caches were when the launches began.
    own : cycles of the same launches with what they read themselves in the caches, where the others started
        cold: the whole run's lie between both. None where these are not all there.
    """

    plan: PlanFile
    results: SimulatedLaunches
    totals: tuple[Estimate, ...]
    missing: tuple[tuple[int, ...], ...]
    ratios: tuple[Ratio, ...]
    speedup: Ratio | None
    groups: tuple[tuple[str, Estimate], ...]
    notes: tuple[str, ...]
    parts: ErrorParts | None = None
    caches: Caches = field(default_factory=Caches)
    own: Estimate | None = None

    def is_within(self, target: float, *, accept_cold: bool = False) -> bool:
        """Return whether the main total is as narrow as asked for; unasked, one of cold launches never is."""
        return self.main.is_within(target) and (accept_cold or self.caches.is_of_whole_run)

    @property
    def beside_sampling(self) -> float:
        """The part of the main total's half-width that no other launches would narrow, as a fraction."""
        return 0.0 if self.parts is None else self.parts.beside_sampling

    @property
    def main(self) -> Estimate:
        """The total that a target is asked of: cycles, or the first metric where there are none."""
        return next((total for total in self.totals if total.metric == CYCLES), self.totals[0])


def sample_of(plan: PlanFile, results: SimulatedLaunches) -> Sample:
    """Return the simulated launches in the plan's strata, with the spreads that the plan declares.

    Cycles per nanosecond vary by the noise floor within a stratum, and by the kernel spread too where it
    spans kernel groups.
    """
    drawn = [
        (launch.id, index, launch.duration_ns or 0)
        for index, stratum in enumerate(plan.strata)
        for launch in stratum.launches
    ]
    ids, stratum_of, duration_ns = (np.array(column) for column in zip(*drawn, strict=True))
    place = np.searchsorted(results.ids, ids)
    there = (place < len(results.ids)) & (results.ids[np.minimum(place, len(results.ids) - 1)] == ids)
    rows = np.flatnonzero(there)
    compared = compared_keys(plan)
    number = {key: index for index, key in enumerate(dict.fromkeys(compared))}
    names = tuple(results.metrics)
    within = float(plan.options.get("noise_floor", Target.noise_floor)) ** 2
    between = float(plan.options.get("kernel_spread", Target.kernel_spread)) ** 2
    spans = np.array([stratum.pooled or stratum.key == WHOLE_WORKLOAD_KEY for stratum in plan.strata])
    return Sample(
        launches=np.array([stratum.size for stratum in plan.strata], dtype=np.int64),
        mean_x=np.array([stratum.mean_ns for stratum in plan.strata]),
        group=np.array([number[key] for key in compared], dtype=np.int64),
        declared=np.maximum(within + spans * between, LEAST_DECLARED),
        stratum=stratum_of[rows].astype(np.int64),
        x=duration_ns[rows].astype(np.float64),
        y=np.stack([results.metrics[name][place[rows]] for name in names], axis=1),
        metrics=names,
        planned=np.array([stratum.samples for stratum in plan.strata], dtype=np.int64),
    )


def compared_keys(plan: PlanFile) -> list[str]:
    """Return (s,) the key of the group whose strata each is compared with; all pools are one."""
    return [POOL_NAME if is_pool_key(stratum.key) else stratum.key for stratum in plan.strata]


def estimate_plan(
    plan: PlanFile,
    results: SimulatedLaunches,
    *,
    against: SimulatedLaunches | None = None,
    ratios: Sequence[tuple[str, str]] = (),
    confidence: float | None = None,
    projection_error: float | None = None,
    scale_error: float = 0.0,
    partial: bool = False,
) -> PlanEstimate:
    """Return totals, ratios and kernel groups with their intervals.

    Parameters
    ----------
    against : results of another configuration, of the same plan.
    ratios : numerator and denominator of each ratio asked for.
    confidence : of the intervals; None: the plan's.
    projection_error : the relative error of projected cycles, where too few launches tell it.
    scale_error : the half-width of a scale model's own interval, where cycles are its predictions.
    partial : whether totals and ratios of a part are given where strata have no result yet; they are not
        those of the whole.

    Raises
    ------
    OptionError : a metric or interval that there is not.
    AnalysisError : no launch has a metric.
    """
    confidence = float(plan.options["confidence"]) if confidence is None else confidence
    caches = caches_of(plan, results)
    projections = with_projections(results, projection_error)
    results = warmed(projections.results, caches.check)
    sample = sample_of(plan, results)
    is_random = plan.is_random
    known = tuple(name for name in sample.metrics if not np.isnan(sample.values(name)).all())
    if not known:
        raise AnalysisError("the results tell no metric of any launch of the plan")
    is_budgeted = CYCLES in known and bool(projections.is_projected.any() or scale_error or caches.check)
    totals = tuple(
        estimate(
            sample,
            name,
            confidence,
            topped_up_to=None if is_budgeted and name == CYCLES else plan.topped_up_to,
        )
        if is_random
        else _picked_total(plan, results, name, confidence)
        for name in known
    )
    parts = None
    if is_budgeted:
        index = known.index(CYCLES)
        of_cycles, parts = _budgeted(plan, totals[index], projections, scale_error, caches)
        totals = (*totals[:index], of_cycles, *totals[index + 1 :])
    main = CYCLES if CYCLES in known else known[0]
    pairs = ((INSTRUCTIONS, CYCLES),) if {CYCLES, INSTRUCTIONS} <= set(known) else ()
    groups = _groups(plan, sample, main, confidence) if is_random else ()
    found_ratios = [_ratio(sample, pair, confidence, is_random) for pair in (*pairs, *ratios)]
    speedup = None if against is None else _speedup(plan, (results, caches), against, confidence)
    if not partial:
        parts = None if totals[known.index(main)].is_incomplete else parts
        totals = tuple(total.withheld() for total in totals)
        groups = tuple((key, total.withheld()) for key, total in groups)
        found_ratios = [ratio.withheld() for ratio in found_ratios]
        speedup = None if speedup is None else speedup.withheld()
    return PlanEstimate(
        plan=plan,
        results=results,
        totals=totals,
        missing=tuple(_missing(plan, results, name) for name in known),
        ratios=tuple(found_ratios),
        speedup=speedup,
        groups=groups,
        notes=(
            *results.notes,
            *(against.notes if against is not None else ()),
            *((OF_TOTAL_ALONE,) if caches.check else ()),
            COVERS,
        ),
        parts=parts,
        caches=caches,
        own=_with_own_reads(plan, results, caches, confidence),
    )


def _with_own_reads(
    plan: PlanFile, results: SimulatedLaunches, caches: Caches, confidence: float
) -> Estimate | None:
    """Return the cycles of the launches that were simulated again with their own reads in the caches."""
    again = results.again
    if not caches.is_cold or again is None or CYCLES not in again.metrics or not plan.is_random:
        return None
    if {kind_of_caches(state) for state in again.caches} != {"own"}:
        return None
    sample = sample_of(plan, again)
    if np.isnan(sample.values(CYCLES)).all():
        return None
    total = estimate(sample, CYCLES, confidence, topped_up_to=plan.topped_up_to)
    return None if total.is_incomplete else total


def _budgeted(
    plan: PlanFile, total: Estimate, projections: Projections, scale_error: float, caches: Caches
) -> tuple[Estimate, ErrorParts]:
    """Return the total of cycles with the errors of all that it rests on in its interval."""
    results = projections.results
    marked = {CYCLES: results.metrics[CYCLES], _IS_PROJECTED: projections.is_projected.astype(np.float64)}
    sample = sample_of(plan, SimulatedLaunches(results.ids, marked)).known(CYCLES, _IS_PROJECTED)
    is_projected = sample.values(_IS_PROJECTED) > 0
    check_error = caches.check_error(total.confidence)
    return budgeted(total, sample, is_projected, projections, scale_error, check_error, plan.topped_up_to)


def _missing(plan: PlanFile, results: SimulatedLaunches, metric: str) -> tuple[int, ...]:
    known = set(results.ids[~np.isnan(results.metrics[metric])].tolist())
    return tuple(launch.id for launch in plan.drawn if launch.id not in known)


def _picked_total(plan: PlanFile, results: SimulatedLaunches, metric: str, confidence: float) -> Estimate:
    """Return the total that the weights of picked launches give; it has no interval."""
    value = dict(zip(results.ids.tolist(), results.metrics[metric].tolist(), strict=True))
    of_stratum: FloatArray = np.array(
        [
            sum(launch.weight * value.get(launch.id, np.nan) for launch in stratum.launches)
            for stratum in plan.strata
        ]
    )
    emptied: IntArray = np.flatnonzero(np.isnan(of_stratum))
    time_ns = np.array([stratum.size * stratum.mean_ns for stratum in plan.strata])
    share = float(time_ns[emptied].sum() / time_ns.sum()) if time_ns.sum() else 0.0
    missing = len(_missing(plan, results, metric))
    gone = f"{100 * share:.3g} % of the profile's time"
    return Estimate(
        metric=metric,
        total=float(np.nansum(of_stratum)),
        low=None,
        high=None,
        confidence=confidence,
        degrees_of_freedom=None,
        stratum_total=of_stratum,
        stratum_variance=np.zeros(len(of_stratum)),
        emptied=emptied,
        share_missing=share,
        launches_missing=missing,
        seen=None,
        notes=(NOT_RANDOM, *((f"incomplete: {gone}",) if missing else ())),
    )


def _ratio(sample: Sample, pair: tuple[str, str], confidence: float, is_random: bool) -> Ratio:
    name = "ipc" if pair == (INSTRUCTIONS, CYCLES) else "/".join(pair)
    if not is_random:
        return Ratio(name, None, NOT_RANDOM)
    known = sample.known(*dict.fromkeys(pair))
    there = known.samples > 0
    if not there.any():
        raise AnalysisError(f"no simulated launch of the plan has both {pair[0]} and {pair[1]}")
    try:
        value = ratio_of_totals(known.of_strata(there), *pair, confidence)
    except AnalysisError as error:
        return Ratio(name, None, str(error))
    return Ratio(name, value, is_incomplete=not there.all())


def _speedup(
    plan: PlanFile,
    here: tuple[SimulatedLaunches, Caches],
    against: SimulatedLaunches,
    confidence: float,
) -> Ratio:
    """Return the cycles of these results over those of the other, on the launches that both have."""
    results, caches = here
    other_caches = caches_of(plan, against)
    against = warmed(against, other_caches.check)
    for each in (results, against):
        if CYCLES not in each.metrics:
            raise OptionError("a speedup needs the cycles of both results")
    both, row, there = np.intersect1d(results.ids, against.ids, return_indices=True)
    if not len(both):
        raise AnalysisError("the two results have no launch of the plan in common")
    cycles = {CYCLES: results.metrics[CYCLES][row], _OTHER: against.metrics[CYCLES][there]}
    sample = sample_of(plan, SimulatedLaunches(both, cycles)).known(CYCLES, _OTHER)
    is_there = sample.samples > 0
    if not is_there.any():
        raise AnalysisError("the two results have no launch in common whose cycles both know")
    value = ratio_of_totals(sample.of_strata(is_there), CYCLES, _OTHER, confidence)
    gone = int((~is_there).sum())
    reasons = [f"{gone} strata without a launch in both are left out"] if gone else []
    if unlike := unlike_caches(caches, other_caches):
        reasons.append(unlike)
    return Ratio("speedup", value, "; ".join(reasons) or None, is_incomplete=gone > 0)


def _groups(
    plan: PlanFile, sample: Sample, metric: str, confidence: float
) -> tuple[tuple[str, Estimate], ...]:
    keys = list(dict.fromkeys(compared_keys(plan)))
    found = estimate_groups(sample, metric, confidence)
    return tuple((keys[group], replace(made, notes=made.notes)) for group, made in found.items())
