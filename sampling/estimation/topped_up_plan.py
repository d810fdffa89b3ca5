"""The larger plan: what was simulated, and the launches that are missing to a narrow enough total.

A stratum's launches are drawn in one seeded order, so more of them contain those that are there: nothing that
was simulated is wasted. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from msgspec import structs

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, PlanFileError
from sampling.estimation.estimate import Estimate, next_sizes
from sampling.estimation.plan_estimate import sample_of
from sampling.methods.registry import method_named
from sampling.plan.judge import planned_design
from sampling.plan.other_recording import made_from
from sampling.plan.plan import drawn_plan, planned_launches, planned_strata
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.plan.plan_file import ToppedUp as Rounds
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import count_durations
from sampling.simulators.results import SimulatedLaunches


@dataclass(frozen=True, slots=True)
class ToppedUp:
    """A larger plan.

    Attributes
    ----------
    text : of its plan file.
    to_run : its launches that have no result yet, those that were planned before among them.
    added : how many of these the plan before did not have.
    launches, sampled_duration_ns : of the whole larger plan.
    """

    text: str
    to_run: tuple[PlannedLaunch, ...]
    added: int
    launches: int
    sampled_duration_ns: int


def top_up(
    plan: PlanFile,
    results: SimulatedLaunches,
    found: Estimate,
    epsilon: float,
    *,
    beside: float = 0.0,
    progress: Progress | None = None,
) -> ToppedUp:
    """Return the plan with what one more round should simulate, at most a quarter of its sampled time more.

    Parameters
    ----------
    found : the total that is to come within epsilon.
    beside : how much of epsilon is taken by what launches do not narrow, see `PlanEstimate.beside_sampling`.

    Raises
    ------
    AnalysisError : the plan's launches were picked, or drawn in another order than here; its profile is not
        what it was made from; nothing of epsilon is left.
    ProfileError : its profile cannot be read.
    """
    _refuse_picked(plan)
    left = sampling_left(epsilon, beside)
    if not left:
        raise AnalysisError(
            f"no launches bring the total within {epsilon:g}: beside them there are errors of {beside:.3f}",
            remedy="check more launches of a cold check, or project and predict less",
        )
    wanted = next_sizes(sample_of(plan, results), found.metric, left, found.confidence)
    # A launch that the simulator began and did not end has an id in the results, and is to be run again.
    has_value = np.isfinite(results.metrics[found.metric])
    unfinished, finished = (set(results.ids[rows].tolist()) for rows in (~has_value, has_value))
    return enlarged(plan, wanted, epsilon, (set(plan.simulated) - unfinished) | finished, progress)


def sampling_left(epsilon: float, beside: float) -> float:
    """Return what which launches are drawn may add to a half-width of epsilon; 0 where nothing is left."""
    return math.sqrt(max(0.0, epsilon**2 - beside**2))


def enlarged(
    plan: PlanFile,
    sizes: IntArray,
    epsilon: float | None,
    simulated: Collection[int],
    progress: Progress | None,
) -> ToppedUp:
    """Return the plan with at least so many launches drawn of each stratum (s,).

    Parameters
    ----------
    epsilon : what the total is to come within; None where nothing was asked of it.
    simulated : the launches that are not to be run again.

    Raises
    ------
    AnalysisError, ProfileError : as `top_up`.
    """
    _refuse_picked(plan)
    profile = _own_profile(plan, progress)
    counts = count_durations(profile, plan.options.grouping, plan.options.region, progress)
    design = planned_design(counts, plan)
    design = replace(design, strata=replace(design.strata, samples=np.maximum(sizes, design.strata.samples)))
    larger = drawn_plan(counts, design, plan.options.seed)
    launches = planned_launches(profile, counts, larger, progress)
    before = {launch.id for launch in plan.drawn}
    if not before <= {launch.id for launch in launches}:
        raise AnalysisError(
            "the plan's launches were drawn in another order than this version draws them",
            remedy="make the plan again",
        )
    done, topped_up = before.intersection(simulated), plan.topped_up
    if epsilon is not None:
        topped_up = Rounds(1 if topped_up is None else topped_up.rounds + 1, epsilon)
    strata = tuple(planned_strata(counts, larger, launches))
    return ToppedUp(
        structs.replace(plan, strata=strata, simulated=tuple(sorted(done)), topped_up=topped_up).text(),
        tuple(launch for launch in launches if launch.id not in done),
        len(launches) - len(before),
        len(launches),
        larger.sampled_duration_ns,
    )


def _refuse_picked(plan: PlanFile) -> None:
    if not plan.is_random:
        raise AnalysisError("a plan of picked launches cannot be topped up", remedy="make one that is drawn")
    method = plan.options.method
    if not method_named(method).draws_at_random:
        raise AnalysisError(
            "a plan of clusters told by features cannot be topped up, for the features are not in it",
            remedy=f"make it again with more launches, {method}.samples or a smaller epsilon",
        )


def _own_profile(plan: PlanFile, progress: Progress | None) -> Profile:
    """Return the profile that the plan was made from, where it lay."""
    paths = [file.path for file in plan.profile.files]
    for path in map(Path, paths):
        if path.exists() and not (path.is_file() or path.is_dir()):
            message = f"made from {path}, which is no file"
            raise PlanFileError(message, path=plan.path, remedy="make the plan again, from a file")
    profile = read_profile(paths, progress, plan.options.column_map, needs_table=False)
    if not made_from(profile, plan):
        raise AnalysisError(
            "the profile that the plan was made from has changed since, so nothing can be added to it",
            remedy="put it back in its place, or make the plan again",
        )
    return profile
