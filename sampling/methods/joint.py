"""Joint: one bound for the whole workload and a looser one for each kernel group, priced. (METHODS section 5)

Allegro and ROOT bound every group by epsilon separately. Errors of groups are independent, so the whole is
then bounded far below epsilon and most samples are wasted. Here variance has a price: the least that meets
each group's own bound, then the least common one that meets the workload's; a group pays the larger. Where
one group's step from too much variance to little is coarse, the others are priced anew with what it leaves.

A price finds only strata on the convex hull of time against variance. Where ROOT's strata meet a group's
bound with less sampled time, they are taken; so are all of ROOT's strata for epsilon, where they take less
time than what the looser bounds lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.allocation import FloatArray, IntArray, water_filled_sample_sizes
from sampling.cluster_forest import ClusterForest, forest_of
from sampling.duration_counts import DurationCounts
from sampling.errors import OptionError
from sampling.group_by import GroupBy
from sampling.methods.root import RootRule
from sampling.priced_forest import (
    Cut,
    Forced,
    PricedForest,
    group_prices,
    is_less,
    left_out,
    priced_forest,
    prices,
    spread,
    summed_by_group,
)
from sampling.progress import Progress
from sampling.slack import smaller_sizes, within
from sampling.split_tree import SplitNode, SplitTree, TreeGrower, Verdict
from sampling.splitting import Overrides, groups_overridden, split_groups
from sampling.strata import Clusters, Strata, measured_clusters
from sampling.targets import Target

BoolArray = NDArray[np.bool_]

SOURCE = "this project, on Allegro and STEM+ROOT"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.LAUNCH
RANDOM = True
SPLITS = True

_NOT_REPLACED = "joint always draws without replacement; --with-replacement is not used"


@dataclass(frozen=True, slots=True)
class Options:
    """None of its own: ``--group-epsilon --min-samples --noise-floor`` are what is asked of the plan."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What the prices came to.

    Attributes
    ----------
    priced : the forest they were found on.
    price : (groups,) the price of variance in each group, ns of sampled time per ns^2.
    clusters, samples : the strata, ordered by group and duration, and their sizes.
    from_root : (groups,) whether a group has ROOT's strata.
    root_epsilon : the bound that ROOT's trees of those groups were grown for.
    """

    priced: PricedForest
    price: FloatArray
    clusters: Clusters
    samples: IntArray
    from_root: BoolArray
    root_epsilon: float


def stratify(
    counts: DurationCounts,
    target: Target,
    options: Options,  # noqa: ARG001 - it has none
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn here
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Strata:
    """Return the cheapest strata that meet both bounds, noise floor included."""
    return planned(solve(counts, target, overrides, progress), target)


def planned(solution: Solution, target: Target) -> Strata:
    """Return the strata of a solution."""
    notes = (_NOT_REPLACED,) if target.with_replacement else ()
    strata = solution.clusters.with_samples(solution.samples, notes=notes)
    return replace(strata, noise_floor=target.noise_floor, least_samples=target.min_samples)


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
            forced=_forced(forest, counts, overrides or {}),
        )
        if progress is not None:
            progress(0, 0, "pricing")
        own = np.zeros(len(total_ns))
        if target.group_epsilon is not None:
            own = group_prices(priced, group_budget)
        price = prices(priced, own, budget)
        return _with_slack_used(counts, target, priced, price, group_budget, budget, overrides or {})


def _with_slack_used(
    counts: DurationCounts,
    target: Target,
    priced: PricedForest,
    price: FloatArray,
    group_budget: FloatArray,
    budget: float,
    overrides: Overrides,
) -> Solution:
    cut = priced.cut(price)
    clusters = measured_clusters(
        counts, priced.group[cut.rows], priced.start[cut.rows], priced.stop[cut.rows]
    )
    samples = cut.samples
    from_root, root_epsilon = np.zeros(priced.groups, dtype=np.bool_), target.epsilon
    if target.group_epsilon is not None:
        root_epsilon = target.group_epsilon
        rooted, rooted_samples = _root_strata(counts, target, root_epsilon)
        from_root = _cheaper_by_root(priced, cut, target, rooted, rooted_samples, group_budget, budget)
        from_root[groups_overridden(counts, overrides)] = False
        clusters, samples = _merged(clusters, samples, rooted, rooted_samples, from_root)
    if not overrides and target.epsilon < (target.group_epsilon or 1):
        # ROOT bounds every group by epsilon, and so the whole: a looser bound must not cost more.
        rooted, rooted_samples = _root_strata(counts, target, target.epsilon)
        rooted_time_ns = np.array([np.dot(rooted_samples, rooted.mean_ns)])
        if is_less(rooted_time_ns, np.array([np.dot(samples, clusters.mean_ns)]))[0]:
            clusters, samples = rooted, rooted_samples
            from_root, root_epsilon = np.ones(priced.groups, dtype=np.bool_), target.epsilon
    samples = smaller_sizes(
        samples,
        np.minimum(target.min_samples, clusters.launches),
        clusters.mean_ns,
        spread(clusters.launches, clusters.mean_ns, clusters.std_ns, target.noise_floor),
        clusters.launches,
        clusters.group,
        group_budget,
        budget,
    )
    return Solution(priced, price, clusters, samples, from_root, root_epsilon)


def _root_strata(counts: DurationCounts, target: Target, epsilon: float) -> tuple[Clusters, IntArray]:
    """Return ROOT's strata that bound every group by epsilon, with the least sizes that meet it."""
    clusters, _ = split_groups(counts, RootRule(replace(target, epsilon=epsilon)))
    return clusters, _root_sizes(clusters, target, epsilon)


def _root_sizes(clusters: Clusters, target: Target, epsilon: float) -> IntArray:
    """Return (s,) the least sizes that bound every group of the clusters by epsilon."""
    return water_filled_sample_sizes(
        clusters.launches,
        clusters.mean_ns,
        clusters.std_ns,
        clusters.group_offsets,
        epsilon,
        target.z,
        floor=target.min_samples,
        noise_floor=target.noise_floor,
    )


def _cheaper_by_root(
    priced: PricedForest,
    cut: Cut,
    target: Target,
    rooted: Clusters,
    rooted_samples: IntArray,
    group_budget: FloatArray,
    budget: float,
) -> BoolArray:
    """Return (groups,) where ROOT's strata take less time; both bounds hold with all of them together."""
    rooted_spread = spread(rooted.launches, rooted.mean_ns, rooted.std_ns, target.noise_floor)
    rooted_variance = summed_by_group(
        rooted.group, rooted_spread * left_out(rooted_samples, rooted.launches), priced.groups
    )
    rooted_time_ns = summed_by_group(rooted.group, rooted_samples * rooted.mean_ns, priced.groups)
    variance, time_ns = priced.variance(cut), priced.time_ns(cut)
    cheaper = np.flatnonzero((rooted_time_ns < time_ns) & within(rooted_variance, group_budget))
    cheaper = cheaper[np.argsort(rooted_time_ns[cheaper] - time_ns[cheaper], kind="stable")]
    added = rooted_variance[cheaper] - variance[cheaper]
    affordable = within(float(variance.sum()) + np.cumsum(np.maximum(added, 0)), budget)
    chosen = np.zeros(priced.groups, dtype=np.bool_)
    chosen[cheaper[affordable]] = True
    return chosen


def _merged(
    clusters: Clusters, samples: IntArray, rooted: Clusters, rooted_samples: IntArray, from_root: BoolArray
) -> tuple[Clusters, IntArray]:
    """Return the strata with those of the given groups replaced by ROOT's."""
    own, other = ~from_root[clusters.group], from_root[rooted.group]
    start = np.concatenate([clusters.start[own], rooted.start[other]])
    order = np.argsort(start)

    def column(name: str) -> NDArray[Any]:
        values: NDArray[Any] = np.concatenate([getattr(clusters, name)[own], getattr(rooted, name)[other]])
        return values[order]

    merged = Clusters(
        column("group"),
        column("start"),
        column("stop"),
        column("launches"),
        column("mean_ns"),
        column("std_ns"),
    )
    return merged, np.concatenate([samples[own], rooted_samples[other]])[order]


def _forced(forest: ClusterForest, counts: DurationCounts, overrides: Overrides) -> Forced:
    """Return the nodes behind the user's decisions; the way down to each is split too.

    Raises
    ------
    OptionError : a group is not there, or a node on the way cannot be split.
    """
    split: list[int] = []
    keep: list[int] = []
    for group in groups_overridden(counts, overrides).tolist():
        key = counts.groups[group].key
        for path, verdict in overrides[key].items():
            node = group
            if set(path) - {"L", "R"}:
                raise OptionError(
                    f"the tree of {key!r} has no node {path!r} to override",
                    remedy='a path is "" for the root, then L or R a step, as `kernelpoint tree` prints it',
                )
            for depth, step in enumerate(path):
                _split_one(forest, node, key, path[:depth])
                split.append(node)
                node = int(forest.left[node]) + (step == "R")
            if verdict is Verdict.SPLIT:
                _split_one(forest, node, key, path)
            (split if verdict is Verdict.SPLIT else keep).append(node)
    both = sorted(set(split) & set(keep))
    if both:
        raise OptionError(
            f"overrides of {counts.groups[int(forest.group[both[0]])].key!r} keep a node and decide below it"
        )
    return Forced(np.unique(np.array(split, dtype=np.int64)), np.unique(np.array(keep, dtype=np.int64)))


def _split_one(forest: ClusterForest, node: int, key: str, path: str) -> None:
    nodes = np.array([node])
    if not forest.splittable(nodes)[0]:
        raise OptionError(f"node {path!r} of {key!r} cannot be split: all its durations are equal")
    forest.split(nodes)


def split_tree(
    counts: DurationCounts,
    group: int,
    target: Target,
    options: Options,  # noqa: ARG001 - it has none
    overrides: Overrides | None = None,
) -> SplitTree:
    """Return how a group came to its strata, every node with the price of whole and of split."""
    return SolvedTrees(counts, target, solve(counts, target, overrides), overrides).tree(group)


class SolvedTrees:
    """How the groups came to the strata of one solution, each tree written down when it is asked for."""

    def __init__(
        self, counts: DurationCounts, target: Target, solution: Solution, overrides: Overrides | None = None
    ) -> None:
        self._counts = counts
        self._target = target
        self._solution = solution
        self._overrides = overrides or {}
        self._decisions = solution.priced.decisions(solution.price)

    def tree(self, group: int) -> SplitTree:
        """Return how a group came to its strata, every node with the price of whole and of split."""
        solution = self._solution
        if solution.from_root[group]:
            rule = RootRule(replace(self._target, epsilon=solution.root_epsilon))
            grown = TreeGrower(self._counts, group, rule).run()
            first = replace(
                grown.nodes[0],
                reason=f"ROOT's strata take less time here than any price finds; {grown.nodes[0].reason}",
            )
            return SplitTree(group, (first, *grown.nodes[1:]))
        decided = self._overrides.get(self._counts.groups[group].key, {})
        return _TreeAtPrice(self._counts, solution, self._decisions, group, decided).tree()

    @property
    def whole(self) -> IntArray:
        """(groups,) the samples that each group kept whole costs at its price."""
        # The first rows of the forest are the roots.
        return self._decisions[0][: self._solution.priced.groups]

    def sizes(self, clusters: Clusters, samples: IntArray) -> IntArray:
        """Return the sizes of clusters of groups that are not split to their end.

        Parameters
        ----------
        samples : (s,) what each costs at its group's price; where ROOT's strata are taken, the least sizes
            for their bound are returned instead.
        """
        from_root = self._solution.from_root[clusters.group]
        if not from_root.any():
            return samples
        return np.where(from_root, _root_sizes(clusters, self._target, self._solution.root_epsilon), samples)


class _TreeAtPrice:
    """Writes down one group's tree in pre-order, from the decisions at its price."""

    def __init__(
        self,
        counts: DurationCounts,
        solution: Solution,
        decisions: tuple[IntArray, FloatArray, FloatArray, BoolArray],
        group: int,
        decided: Mapping[str, Verdict],
    ) -> None:
        self._counts = counts
        self._priced = solution.priced
        self._group = group
        self._by_user = set(decided)
        self._samples, self._whole, self._least, self._splits = decisions
        self._nodes: list[SplitNode] = []

    def tree(self) -> SplitTree:
        self._visit(self._group, "", None)
        return SplitTree(self._group, tuple(self._nodes))

    def _visit(self, row: int, path: str, parent: int | None) -> None:
        index = len(self._nodes)
        if parent is not None and path.endswith("R"):
            self._nodes[parent] = replace(self._nodes[parent], right=index)
        splits = bool(self._splits[row])
        self._nodes.append(replace(self._node(row, path, index), left=index + 1 if splits else None))
        if splits:
            left = int(self._priced.left[row])
            self._visit(left, path + "L", index)
            self._visit(left + 1, path + "R", index)

    def _node(self, row: int, path: str, index: int) -> SplitNode:
        priced, left = self._priced, int(self._priced.left[row])
        start, launches = int(priced.start[row]), int(priced.launches[row])
        samples, mean_ns = int(self._samples[row]), float(priced.mean_ns[row])
        parts = None if left < 0 else (int(self._samples[left]), int(self._samples[left + 1]))
        verdict = Verdict.SPLIT if self._splits[row] else Verdict.KEEP
        return SplitNode(
            index=index,
            depth=len(path),
            path=path,
            start=start,
            stop=int(priced.stop[row]),
            launches=launches,
            mean_ns=mean_ns,
            std_ns=float(priced.std_ns[row]),
            threshold_ns=None if left < 0 else int(self._counts.duration_ns[priced.stop[left] - 1]),
            samples_old=samples,
            tau_old_ns=samples * mean_ns,
            samples_new=parts,
            tau_new_ns=None
            if parts is None
            else float(parts[0] * priced.mean_ns[left] + parts[1] * priced.mean_ns[left + 1]),
            verdict=verdict,
            reason=self._reason(row, left, path),
            overridden=path in self._by_user,
        )

    def _reason(self, row: int, left: int, path: str) -> str:
        whole = f"whole it costs {self._whole[row]:,.0f} ns, its variance priced in"
        if left < 0:
            one = self._priced.stop[row] - self._priced.start[row] == 1
            return "all durations are equal" if one else f"{whole}; its spread is too small to look further"
        split = float(self._least[left] + self._least[left + 1])
        text = f"{whole}, split at best {split:,.0f} ns: " + (
            "less" if is_less(np.array([split]), self._whole[row : row + 1])[0] else "not less"
        )
        return f"decided by the user; by price: {text}" if path in self._by_user else text
