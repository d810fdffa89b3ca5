"""The larger plan with the launches that `sizes` asks for. (docs/methods.md, 11 Back from the simulator)"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, PlanFileError
from sampling.estimation.configurations import PlanSpeedups
from sampling.estimation.interval import Estimate
from sampling.estimation.sizes import next_sizes, sampling_left
from sampling.estimation.total import build_sample
from sampling.parallel import Progress
from sampling.plan.judge import planned_design
from sampling.plan.other_recording import find_original
from sampling.plan.plan import drawn_plan, planned_launches, planned_strata
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.plan.plan_file import ToppedUp as Rounds
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import count_durations
from sampling.simulators.measured_run import CYCLES
from sampling.simulators.results import SimulatedLaunches

# A half-width beyond this is none that is waited for.
_WIDEST = 0.99


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


def top_up_speedups(
    speedups: PlanSpeedups, target: float | None = None, *, progress: Progress | None = None
) -> ToppedUp | None:
    """Return one plan for all configurations with what one more round should simulate on each of them.

    So that every speedup comes within the target; without one, so that it is told whether there is any. None
    where all are. Errors are those of `top_up`.
    """
    _refuse_picked(speedups.plan)
    goals = [(speedup, speedups.goal(speedup, target)) for speedup in speedups.speedups]
    open_goals = [(speedup, goal) for speedup, goal in goals if goal is not None]
    if not open_goals:
        return None
    sizes = [size for speedup, goal in open_goals if (size := speedups.sizes(speedup, goal)) is not None]
    if not sizes:
        raise AnalysisError(
            "no launches narrow these speedups enough: beside launches there are errors of "
            f"{max(speedup.beside_sampling for speedup, _ in open_goals):.3f}",
            remedy="check more launches of a cold check, or project and predict less",
        )
    ids = [
        set(results.ids[np.isfinite(results.metrics[CYCLES])].tolist())
        for results in (configuration.estimate.results for configuration in speedups.configurations)
    ]
    return enlarged(
        speedups.plan,
        np.max(sizes, axis=0),
        None,
        set.intersection(*ids),
        progress,
        speedup_epsilon=min(*(goal for _, goal in open_goals), _WIDEST),
    )


def enlarged(
    plan: PlanFile,
    sizes: IntArray,
    epsilon: float | None,
    simulated: Collection[int],
    progress: Progress | None,
    *,
    speedup_epsilon: float | None = None,
) -> ToppedUp:
    """Return the plan with at least so many launches drawn of each stratum (s,); errors as of `top_up`.

    Parameters
    ----------
    epsilon, speedup_epsilon : what the total, and speedups, are to come within; None where nothing was asked
        of them.
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
    targets = {"target": epsilon, "speedup": speedup_epsilon}
    if targets := {name: value for name, value in targets.items() if value is not None}:
        rounds = 0 if topped_up is None else topped_up.rounds
        topped_up = structs.replace(topped_up or Rounds(1), rounds=rounds + 1, **targets)
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
    if not plan.is_extensible:
        raise AnalysisError(
            "a plan of layers or of clusters cannot be topped up, for what tells them is not in it",
            remedy="make it again with more launches; `kernelpoint methods` lists its options",
        )
