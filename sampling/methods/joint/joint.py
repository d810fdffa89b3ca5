"""Joint: one bound for the whole workload and a looser one for each kernel group, by prices of variance.

Allegro and ROOT bound every group by epsilon separately. Errors of groups are independent, so the whole is
then bounded far below epsilon and most samples are wasted. Here variance has a price: the least that meets
each group's own bound, then the least common one that meets the workload's; a group pays the larger. Where
one group's step from too much variance to little is coarse, the others are priced anew with what it leaves.
(docs/methods.md, 5 Joint)

A price finds only strata on the convex hull of time against variance. Where ROOT's strata meet a group's
bound with less sampled time, they are taken; so are all of ROOT's strata for epsilon, where they take less
time than what the looser bounds lead to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.methods.joint.forced_nodes import forced_nodes
from sampling.methods.joint.price_search import group_prices, prices
from sampling.methods.joint.priced_forest import PricedForest, is_less, priced_forest
from sampling.methods.joint.root_strata import cheaper_by_root, root_strata, with_root_strata
from sampling.methods.joint.solution import PricedTrees, Solution
from sampling.methods.joint.spare_variance import smaller_sizes
from sampling.methods.method import Method, SolvedTogether, SplitRequest
from sampling.methods.settings import MethodOptions
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides, groups_overridden
from sampling.strata.strata import measured_clusters
from sampling.strata.target import Target
from sampling.strata.variance import spread


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """None of its own: group epsilon, least samples and noise floor are what is asked of the plan."""


def solve(
    counts: DurationCounts,
    target: Target,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Find the prices, the strata and their sizes.

    Raises
    ------
    OptionError : an override names a group or node that does not exist.
    """
    forest = forest_of(counts)
    total_ns = counts.group_duration_ns.astype(np.float64)
    budget = (target.epsilon * counts.total_duration_ns / target.z) ** 2
    group_budget = np.full(len(total_ns), np.inf)
    if target.group_epsilon is not None:
        group_budget = (target.group_epsilon * total_ns / target.z) ** 2
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
        own = np.zeros(len(total_ns))
        if target.group_epsilon is not None:
            own = group_prices(priced, group_budget)
        price = prices(priced, own, budget)
        solution = _price_or_root(counts, target, priced, price, group_budget, budget, overrides or {})
        return replace(solution, samples=_lowered_sizes(solution, target, group_budget, budget))


def _price_or_root(
    counts: DurationCounts,
    target: Target,
    priced: PricedForest,
    price: FloatArray,
    group_budget: FloatArray,
    budget: float,
    overrides: Overrides,
) -> Solution:
    """Return the strata at the prices, or ROOT's where those take less time; sizes may be lowered yet."""
    cut = priced.cut(price)
    clusters = measured_clusters(
        counts, priced.group[cut.rows], priced.start[cut.rows], priced.stop[cut.rows]
    )
    samples = cut.samples
    from_root, root_epsilon = np.zeros(priced.groups, dtype=np.bool_), target.epsilon
    if target.group_epsilon is not None:
        root_epsilon = target.group_epsilon
        rooted, rooted_samples = root_strata(counts, target, root_epsilon)
        from_root = cheaper_by_root(priced, cut, target, rooted, rooted_samples, group_budget, budget)
        from_root[groups_overridden(counts, overrides)] = False
        clusters, samples = with_root_strata(clusters, samples, rooted, rooted_samples, from_root)
    if not overrides and target.epsilon < (target.group_epsilon or 1):
        # ROOT bounds every group by epsilon, and so the whole: a looser bound must not cost more.
        rooted, rooted_samples = root_strata(counts, target, target.epsilon)
        rooted_time_ns = np.array([np.dot(rooted_samples, rooted.mean_ns)])
        if is_less(rooted_time_ns, np.array([np.dot(samples, clusters.mean_ns)]))[0]:
            clusters, samples = rooted, rooted_samples
            from_root, root_epsilon = np.ones(priced.groups, dtype=np.bool_), target.epsilon
    return Solution(priced, price, clusters, samples, from_root, root_epsilon)


def _lowered_sizes(solution: Solution, target: Target, group_budget: FloatArray, budget: float) -> IntArray:
    """Return (s,) the sizes, as low as both bounds allow."""
    clusters = solution.clusters
    return smaller_sizes(
        solution.samples,
        np.minimum(target.min_samples, clusters.launches),
        clusters.mean_ns,
        spread(clusters.launches, clusters.mean_ns, clusters.std_ns, target.noise_floor),
        clusters.launches,
        clusters.group,
        group_budget,
        budget,
    )


def _solved(request: SplitRequest[Options]) -> PricedTrees:
    counts, target, overrides = request.counts, request.target, request.overrides
    return PricedTrees(counts, target, solve(counts, target, overrides, request.progress), overrides)


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
