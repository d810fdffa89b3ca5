"""Joint: one bound for the whole workload and a looser one for each kernel group, by prices of variance.

Allegro and ROOT bound every group by epsilon separately. Errors of groups are independent, so the whole is
then bounded far below epsilon and most samples are wasted. Here variance has a price: the least that meets
each group's own bound, then the least common one that meets the workload's; a group pays the larger. About
these prices every group is given sets of strata, of which one is chosen for each so that all together take
little time; the plan is then judged by drawing it, and chosen again until its bounds hold.
(docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.methods.joint.calibration import calibrated
from sampling.methods.joint.candidates import Candidates, candidates
from sampling.methods.joint.forced_nodes import forced_nodes
from sampling.methods.joint.price_search import group_prices, prices
from sampling.methods.joint.priced_forest import priced_forest
from sampling.methods.joint.solution import PricedTrees
from sampling.methods.method import Method, SolvedTogether, SplitRequest
from sampling.methods.settings import MethodOptions
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides, groups_overridden
from sampling.strata.target import Target


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """None of its own: group epsilon, least samples and noise floor are what is asked of the plan."""


def solve(
    counts: DurationCounts,
    target: Target,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """Find the prices, and the sets of strata that each group may have about them.

    Raises
    ------
    OptionError : an override names a group or node that does not exist.
    """
    forest = forest_of(counts)
    total_ns = counts.group_duration_ns.astype(np.float64)
    with forest.lock:
        if progress is not None:
            progress(0, 0, "splitting")
        priced = priced_forest(
            forest,
            total_ns,
            epsilon=min(target.epsilon, target.group_epsilon or target.epsilon),
            z=target.z,
            min_samples=target.min_samples,
            noise_floor=target.noise_floor,
            forced=forced_nodes(forest, counts, overrides or {}),
        )
    if progress is not None:
        progress(0, 0, "pricing")
    own = group_prices(priced, group_budgets(counts, target))
    price = prices(priced, own, budget_of(counts, target))
    return candidates(counts, target, priced, price, groups_overridden(counts, overrides or {}))


def budget_of(counts: DurationCounts, target: Target) -> float:
    """Return the variance that the workload's estimated total may have, ns^2."""
    return float((target.epsilon * counts.total_duration_ns / target.z) ** 2)


def group_budgets(counts: DurationCounts, target: Target, share: FloatArray | None = None) -> FloatArray:
    """Return (groups,) the variance that each group's estimated total may have, inf without a bound.

    Parameters
    ----------
    share : (groups,) the share of its epsilon that each group may use; None: all of it.
    """
    if target.group_epsilon is None:
        return np.full(len(counts.groups), np.inf)
    allowed = target.group_epsilon * (1.0 if share is None else share)
    return np.asarray((allowed * counts.group_duration_ns / target.z) ** 2)


def _solved(request: SplitRequest[Options]) -> PricedTrees:
    counts, target, overrides = request.counts, request.target, request.overrides

    found = solve(counts, target, overrides, request.progress)

    def solved_for(inner: Target, group_share: FloatArray) -> PricedTrees:
        solution = found.solution(group_budgets(counts, target, group_share), budget_of(counts, inner))
        return PricedTrees(counts, target, solution, overrides)

    return calibrated(counts, target, solved_for)


_TREES = SolvedTogether(_solved)

METHOD = Method(
    name="joint",
    source="this project, on Allegro and STEM+ROOT",
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    target_fields=("group_epsilon", "min_samples", "noise_floor"),
    stratify=_TREES.stratify,
    trees=_TREES,
)
