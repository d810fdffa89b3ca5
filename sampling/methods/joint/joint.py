"""Joint: one bound for the whole workload and a looser one for each kernel group, by prices of variance.

Allegro and ROOT bound every group by epsilon separately. Errors of groups are independent, so the whole is
then bounded far below epsilon and most samples are wasted. Here variance has a price: the least that meets
each group's own bound, then the least common one that meets the workload's; a group pays the larger. About
these prices every group is given sets of strata, of which one is chosen for each so that all together take
little time; the plan is then judged by drawing it, and chosen again until its bounds hold.
(docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import FloatArray
from sampling.methods.joint.calibration import calibrated
from sampling.methods.joint.candidates import Candidates, candidates
from sampling.methods.joint.finer_strata import with_finer_strata
from sampling.methods.joint.forced_nodes import forced_nodes
from sampling.methods.joint.pooling import Grouped, cheapest_groups
from sampling.methods.joint.price_search import group_prices, prices
from sampling.methods.joint.priced_forest import priced_forest
from sampling.methods.joint.solution import PricedTrees, Solution
from sampling.methods.method import Method, SolvedTogether, SplitRequest
from sampling.methods.settings import MethodOptions
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.plan_groups import PlanGroups
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides, groups_overridden
from sampling.strata.allocation import least_sampled_ns
from sampling.strata.cycle_spread import CycleSpread, declared_spread
from sampling.strata.target import LEAST_EPSILON, Target


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """None of its own: group epsilon, least samples and noise floor are what is asked of the plan."""


def solve(
    groups: PlanGroups,
    target: Target,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """Find the prices, and the sets of strata that each group of a plan may have about them.

    Raises
    ------
    OptionError : an override names a group or node that does not exist.
    """
    counts, cycles = groups.counts, declared_spread(groups, target)
    forest = forest_of(counts)
    total_ns = counts.group_duration_ns.astype(np.float64)
    with forest.lock:
        priced = priced_forest(
            forest,
            total_ns,
            epsilon=min(target.epsilon, target.group_epsilon or target.epsilon),
            z=target.z,
            min_samples=target.min_samples,
            cycles=cycles,
            forced=forced_nodes(forest, counts, overrides or {}),
            progress=progress,
        )
    if progress is not None:
        progress(0, 0, "pricing")
    own = group_prices(priced, group_budgets(groups, target, cycles))
    price = prices(priced, own, budget_of(counts, target))
    return candidates(counts, target, cycles, priced, price, groups_overridden(counts, overrides or {}))


def budget_of(counts: DurationCounts, target: Target) -> float:
    """Return the variance that the workload's estimated total may have, ns^2."""
    return float((target.epsilon * counts.total_duration_ns / target.z) ** 2)


def group_budgets(
    groups: PlanGroups, target: Target, cycles: CycleSpread, share: FloatArray | None = None
) -> FloatArray:
    """Return (groups,) the variance that each group's estimated total may have, inf without a bound.

    A pool has no bound of its own.

    Parameters
    ----------
    share : (groups,) the share of its epsilon that each group may use; None: all of it.
    """
    if target.group_epsilon is None:
        return np.full(len(groups.is_pool), np.inf)
    allowed = target.group_epsilon * (1.0 if share is None else share)
    budget = (allowed * groups.counts.group_duration_ns / target.z) ** 2 * cycles.scale[:-1]
    return np.where(groups.is_pool, np.inf, budget)


def solution_of(
    groups: PlanGroups, found: Candidates, target: Target, share: FloatArray | None = None
) -> Solution:
    """Return the strata and sizes that hold both bounds; ``share`` as in `group_budgets`."""
    budgets = group_budgets(groups, target, found.cycles, share)
    return found.solution(budgets, budget_of(groups.counts, target))


def _solved(request: SplitRequest[Options]) -> PricedTrees:
    target, overrides = request.target, request.overrides

    def planned(groups: PlanGroups, asked: Target) -> Grouped:
        found = solve(groups, asked, overrides, request.progress)
        return Grouped(groups, found, solution_of(groups, found, asked))

    def telling(plan: Grouped, freedom: float) -> Grouped:
        found = replace(plan.found, target=replace(plan.found.target, min_freedom=freedom))
        return Grouped(plan.groups, found, solution_of(plan.groups, found, found.target))

    def found_for(groups: PlanGroups) -> Grouped:
        coarse = planned(groups, target)
        if not coarse.solution.for_interval:
            return coarse
        plan = with_finer_strata(coarse, target, lambda asked: planned(groups, asked))
        if least_sampled_ns(groups.counts, 2).sum() >= plan.cost_ns:
            return plan
        # Two samples of every stratum tell all spreads too, and may cost less than many of some. Where they
        # do, a plan that tells as much as they is enough.
        other = planned(groups, replace(target, min_samples=2))
        if other.cost_ns >= plan.cost_ns:
            return plan
        freedom = min(other.freedom, target.min_freedom)
        ways = (other, telling(coarse, freedom), telling(plan, freedom))
        return min(ways, key=lambda each: each.cost_ns)

    grouped = cheapest_groups(request.counts, target, overrides, found_for)
    groups, found = grouped.groups, grouped.found
    # What is judged is what was asked for, though the strata may be those of a smaller bound.
    share, group_epsilon = found.target.epsilon / target.epsilon, found.target.group_epsilon
    target = replace(found.target, epsilon=target.epsilon, group_epsilon=target.group_epsilon)

    def solved_for(inner: Target, group_share: FloatArray) -> PricedTrees:
        epsilon = max(inner.epsilon * share, LEAST_EPSILON)
        made_for = replace(inner, epsilon=epsilon, group_epsilon=group_epsilon)
        solution = solution_of(groups, found, made_for, group_share)
        return PricedTrees(groups, target, found.cycles, solution, overrides)

    return calibrated(groups, target, found.cycles, solved_for)


_TREES = SolvedTogether(_solved)

METHOD = Method(
    name="joint",
    source="this project, on Allegro and STEM+ROOT",
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    target_fields=(
        "group_epsilon",
        "min_samples",
        "noise_floor",
        "kernel_spread",
        "pool_below",
        "min_freedom",
    ),
    stratify=_TREES.stratify,
    trees=_TREES,
)
