"""How many launches to simulate next so that a total becomes known well enough, and the plan that has them.

A stratum's launches are drawn in one seeded order, so more of them contain those that are there: nothing that
was simulated is wasted. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from msgspec import structs

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError, PlanFileError
from sampling.estimation.interval import (
    Estimate,
    Interval,
    Moments,
    Sample,
    interval,
    moments,
    select_durations,
)
from sampling.estimation.total import build_sample
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.judge import planned_design
from sampling.plan.other_recording import find_original
from sampling.plan.plan import drawn_plan, planned_launches, planned_strata
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.plan.plan_file import ToppedUp as Rounds
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import count_durations
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.satterthwaite import student_t

#: The most that one round adds to the sampled time, as a share of it.
MOST_ADDED = 0.25
# Sizes aim at this share of the half-width asked for: fewer rounds, and fewer chances to stop too early.
_AIM = 0.9
# Fewer degrees of freedom are not believed to last: t is taken at no fewer.
_LEAST_DF = 4.0
# A stratum's own spread says so little of where launches are needed that what all say counts as so many.
_LENT = 20.0
_BISECTIONS = 30


def next_sizes(sample: Sample, metric: str, epsilon: float, confidence: float = 0.95) -> IntArray:
    """Return (s,) how many launches of each stratum the next round asks for; at least what the plan asks for.

    A stratum without a result keeps its plan. Errors are those of `Sample.known`.
    """
    measured, has_result = sample.known(metric)
    strata, of_total = (
        moments(values, values.y[:, 0]) for values in (measured, select_durations(sample, metric)[0])
    )
    sizes = sample.planned.copy()
    sizes[has_result] = np.maximum(
        sizes[has_result], sizes_for(strata, interval(of_total), epsilon, confidence)
    )
    return np.asarray(np.minimum(sizes, sample.launches))


def sizes_for(strata: Moments, uncertainty: Interval, epsilon: float, confidence: float) -> IntArray:
    """Return (..., s) how many launches of each stratum the next round has; none fewer than there are.

    Sizes follow Neyman, n ~ N sd / sqrt(mean duration), at the least scale whose variance gives epsilon times
    the total as half-width, with t at max(nu, 4). They add at most a quarter to the sampled time, and at
    least one launch if any is left out. sd is the relative spread, (d q + 20 f kappa^2) / (d + 20) with the
    words of `interval`, times the mean duration, not times the metric seen: a stratum whose metric came out
    low by chance would else get fewer launches, stay low, and bias the total. Where all last 0 ns their
    metric counts, as the time that it takes elsewhere.
    """
    launches, total = strata.launches, strata.totals.sum(axis=-1)
    nu = np.fmax(uncertainty.effective_df, _LEAST_DF)
    target_var = (_AIM * epsilon * total / student_t(confidence, nu)) ** 2
    x_total = float((launches * strata.mean_x).sum())
    of_shown = (strata.totals * (strata.mean_x > 0)).sum(axis=-1)
    per_x = (of_shown / x_total if x_total else np.ones(np.shape(total)))[..., np.newaxis]
    # What shows no duration takes as long as its metric says.
    by_metric = np.divide(strata.y, per_x, out=np.zeros(np.shape(strata.y)), where=per_x > 0)
    cost = np.where(strata.mean_x > 0, strata.mean_x, by_metric)
    lent = _LENT * (np.asarray(uncertainty.factor)[..., np.newaxis] * strata.declared)
    relative = (uncertainty.df * uncertainty.cv_squared + lent) / (uncertainty.df + _LENT)
    spread = (per_x * launches * cost) ** 2 * relative
    samples = np.broadcast_to(strata.samples, spread.shape)
    limit = np.where(strata.finite_population_factor > 0, launches, samples)
    most_time = (1 + MOST_ADDED) * (samples * cost).sum(axis=-1)
    need = np.divide(np.sqrt(spread), np.sqrt(cost), out=np.zeros(spread.shape), where=cost > 0)
    largest = need.max(axis=-1, keepdims=True)
    # Where no spread is known at all, every stratum is as good as its duration says.
    need = np.where(largest > 0, need / np.where(largest > 0, largest, 1), launches * np.sqrt(cost))

    def sizes(log_scale: FloatArray) -> FloatArray:
        return np.asarray(np.clip(np.ceil(np.exp(log_scale)[..., np.newaxis] * need), samples, limit))

    def is_over(n: FloatArray) -> BoolArray:
        return np.asarray((n * cost).sum(axis=-1) > most_time)

    low = -np.log(np.maximum(need.max(axis=-1), 1e-300)) - 1
    scale = np.where(need > 0, need, np.inf).min(axis=-1)
    high = np.log(launches.max() / np.minimum(scale, 1e300)) + 1
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        n = sizes(middle)
        variance = (spread * (launches - n) / (launches * n)).sum(axis=-1)
        enough = (variance <= target_var) & (largest[..., 0] > 0) | is_over(n) | (n >= limit).all(axis=-1)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    n = sizes(high)
    # The last step may have gone beyond the round; the one before it has not.
    n = np.where(is_over(n)[..., np.newaxis], sizes(high - 1e-6), n)
    # Where none was added, one more where it takes most variance for its time.
    gain = np.divide(spread / (samples * (samples + 1)), cost, out=np.zeros(n.shape), where=cost > 0)
    gain = np.where(samples < limit, gain + 1e-300, -1.0)
    best = np.arange(n.shape[-1]) == gain.argmax(axis=-1)[..., np.newaxis]
    stuck = (n == samples).all(axis=-1)[..., np.newaxis] & (samples < limit)
    return np.where(stuck & best, n + 1, n).astype(np.int64)


class ToppedUp(NamedTuple):
    """A larger plan."""

    #: Of its plan file.
    text: str
    #: Its launches that have no result yet, those that were planned before among them.
    to_run: tuple[PlannedLaunch, ...]
    #: How many of these the plan before did not have.
    added: int
    #: Of the whole larger plan.
    launches: int
    sampled_duration_ns: int


def top_up(
    plan: PlanFile,
    results: SimulatedLaunches,
    total: Estimate,
    epsilon: float,
    *,
    other_error: float = 0.0,
    progress: Progress | None = None,
) -> ToppedUp:
    """Return the plan with what one more round should simulate so that the total found comes within epsilon.

    Parameters
    ----------
    other_error : how much of epsilon launches do not narrow, see `PlanEstimate.beside_sampling`.

    Raises AnalysisError: the plan's launches were picked, or drawn in another order than here; its profile
    is not what it was made from; nothing of epsilon is left; ProfileError: its profile cannot be read.
    """
    _refuse_picked(plan)
    left = sampling_left(epsilon, other_error)
    if not left:
        raise AnalysisError(
            f"no launches bring the total within {epsilon:g}: beside them there are errors of "
            f"{other_error:.3f}",
            remedy="check more launches of a cold check, or project and predict less",
        )
    sizes = next_sizes(build_sample(plan, results), total.metric, left, total.confidence)
    # A launch that the simulator began and did not end has an id in the results, and is to be run again.
    has_value = np.isfinite(results.metrics[total.metric])
    unfinished, finished = (set(results.ids[rows].tolist()) for rows in (~has_value, has_value))
    return enlarged(plan, sizes, epsilon, (set(plan.simulated) - unfinished) | finished, progress)


def sampling_left(epsilon: float, other_error: float) -> float:
    """Return what which launches are drawn may add to a half-width of epsilon; 0 where nothing is left."""
    return math.sqrt(max(0.0, epsilon**2 - other_error**2))


def enlarged(
    plan: PlanFile,
    sizes: IntArray,
    epsilon: float | None,
    simulated: Collection[int],
    progress: Progress | None,
) -> ToppedUp:
    """Return the plan with at least so many launches drawn of each stratum (s,); errors as of `top_up`.

    Parameters
    ----------
    epsilon : what the total is to come within; None where nothing was asked of it.
    simulated : the launches that are not to be run again.
    """
    _refuse_picked(plan)
    profile = read_original(plan, progress)
    counts = count_durations(profile, plan.grouping, plan.options.region, progress)
    design = planned_design(counts, plan)
    design = replace(design, strata=replace(design.strata, samples=np.maximum(sizes, design.strata.samples)))
    larger = drawn_plan(counts, design, plan.options.seed)
    launches = planned_launches(profile, larger, progress)
    before = {launch.id for launch in plan.drawn}
    if not before <= {launch.id for launch in launches}:
        message = "the plan's launches were drawn in another order than this version draws them"
        raise AnalysisError(message, remedy="make the plan again")
    simulated_ids, topped_up = before.intersection(simulated), plan.topped_up
    if epsilon is not None:
        topped_up = Rounds(1 if topped_up is None else topped_up.rounds + 1, epsilon)
    strata = tuple(planned_strata(larger, launches))
    return ToppedUp(
        structs.replace(
            plan, strata=strata, simulated=tuple(sorted(simulated_ids)), topped_up=topped_up
        ).text(),
        tuple(launch for launch in launches if launch.id not in simulated_ids),
        len(launches) - len(before),
        len(launches),
        larger.sampled_duration_ns,
    )


def read_original(plan: PlanFile, progress: Progress | None = None) -> Profile:
    """Return the profile that more launches are drawn from; PlanFileError where it is not found as it was."""
    profile, why_not = find_original(plan, progress)
    if profile is None:
        remedy = "put it back in its place, or beside the plan, or make the plan again"
        raise PlanFileError(f"nothing can be added: {why_not}", path=plan.path, remedy=remedy)
    return profile


def _refuse_picked(plan: PlanFile) -> None:
    if not plan.is_random:
        raise AnalysisError("a plan of picked launches cannot be topped up", remedy="make one that is drawn")
    method = plan.options.method
    if not method_named(method).draws_at_random:
        raise AnalysisError(
            "a plan of clusters told by features cannot be topped up, for the features are not in it",
            remedy=f"make it again with more launches, {method}.samples or a smaller epsilon",
        )
