"""The strata that the prices of the method `joint` lead to, and the split tree of each kernel group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.priced_forest import Decisions, PricedForest, is_less
from sampling.methods.joint.range_tree import tree_of_ranges
from sampling.methods.joint.root_strata import root_sizes
from sampling.methods.root import RootRule
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import PlanGroups
from sampling.splitting.groups import Overrides
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import costs_in_words
from sampling.splitting.tree import SplitNode, SplitTree, Verdict
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target
from sampling.text import Wording

_NOT_REPLACED = Wording("joint always draws without replacement; `with_replacement` is not used")


class Origin(IntEnum):
    """Where the strata of a kernel group are from."""

    TREE = 0
    RANGES = 1
    ROOT = 2


@dataclass(frozen=True, slots=True)
class Solution:
    """The prices, and the strata that they lead to.

    Attributes
    ----------
    priced : the forest they were found on.
    price : (groups,) the price of variance in each group, ns of sampled time per ns^2.
    clusters, samples : the strata, ordered by group and duration, and their sizes.
    origin : (groups,) where each group's strata are from, an `Origin`.
    root_epsilon : (groups,) the bound that ROOT's trees were grown for, in the groups that have its strata.
    for_interval : whether strata have more samples than the bounds need, so that an interval follows.
    for_bounds_ns : the sampled time that the bounds alone need.
    """

    priced: PricedForest
    price: FloatArray
    clusters: Clusters
    samples: IntArray
    origin: IntArray
    root_epsilon: FloatArray
    for_interval: bool = False
    for_bounds_ns: float = 0.0

    @property
    def sampled_ns(self) -> float:
        """The sampled time, sum of m mu."""
        return float(np.dot(self.samples, self.clusters.mean_ns))

    @property
    def from_root(self) -> BoolArray:
        """(groups,) whether a group has ROOT's strata."""
        return np.asarray(self.origin == Origin.ROOT)


@dataclass(frozen=True)
class PricedTrees:
    """The split trees of one solution, each made when it is asked for."""

    groups: PlanGroups
    target: Target
    cycles: CycleSpread
    solution: Solution
    overrides: Overrides

    @property
    def counts(self) -> DurationCounts:
        """The launches by the plan's groups."""
        return self.groups.counts

    @cached_property
    def plan(self) -> Strata:
        """The strata of the solution."""
        notes = (_NOT_REPLACED,) if self.target.with_replacement else ()
        strata = self.solution.clusters.with_samples(self.solution.samples, notes=notes)
        return replace(
            strata,
            least_samples=self.target.min_samples,
            groups=self.groups if self.groups.is_pool.any() else None,
        )

    @cached_property
    def _decisions(self) -> Decisions:
        return self.solution.priced.decisions(self.solution.price)

    def tree(self, group: int) -> SplitTree:
        """Return a group's tree, every node with its cost whole and split."""
        solution = self.solution
        if solution.from_root[group]:
            rule = RootRule(replace(self.target, epsilon=float(solution.root_epsilon[group])))
            grown = TreeGrower(self.counts, group, rule).run()
            first = replace(
                grown.nodes[0],
                reason=f"ROOT's strata take less time here than any price finds; {grown.nodes[0].reason}",
            )
            return SplitTree(group, (first, *grown.nodes[1:]))
        if solution.origin[group] == Origin.RANGES:
            return tree_of_ranges(
                self.counts, self.target, self.cycles, solution.clusters, float(solution.price[group]), group
            )
        decided = self.overrides.get(self.counts.groups[group].key, {})
        return _TreeAtPrice(self.counts, solution, self._decisions, group, decided).tree()

    @property
    def whole(self) -> IntArray:
        """(groups,) the samples that each group kept whole costs at its price."""
        # The first rows of the forest are the roots.
        return self._decisions.samples[: self.solution.priced.groups]

    def sizes(self, clusters: Clusters, samples: IntArray) -> IntArray:
        """Return the sizes of clusters of groups that are not split to their end.

        Parameters
        ----------
        samples : (s,) what each costs at its group's price; where ROOT's strata are taken, the least sizes
            for their bound are returned instead.
        """
        from_root = self.solution.from_root[clusters.group]
        if not from_root.any():
            return samples
        sizes = samples
        for epsilon in np.unique(self.solution.root_epsilon[clusters.group[from_root]]).tolist():
            here = from_root & (self.solution.root_epsilon[clusters.group] == epsilon)
            sizes = np.where(here, root_sizes(clusters, self.target, epsilon, self.cycles), sizes)
        return sizes


class _TreeAtPrice:
    """Writes down one group's tree in pre-order, from the decisions at its price."""

    def __init__(
        self,
        counts: DurationCounts,
        solution: Solution,
        decisions: Decisions,
        group: int,
        decided: Mapping[str, Verdict],
    ) -> None:
        self._counts = counts
        self._priced = solution.priced
        self._group = group
        self._by_user = set(decided)
        self._decisions = decisions
        self._nodes: list[SplitNode] = []

    def tree(self) -> SplitTree:
        self._visit(self._group, "", None)
        return SplitTree(self._group, tuple(self._nodes))

    def _visit(self, row: int, path: str, parent: int | None) -> None:
        index = len(self._nodes)
        if parent is not None and path.endswith("R"):
            self._nodes[parent] = replace(self._nodes[parent], right=index)
        splits = bool(self._decisions.splits[row])
        self._nodes.append(replace(self._node(row, path, index), left=index + 1 if splits else None))
        if splits:
            left = int(self._priced.left[row])
            self._visit(left, path + "L", index)
            self._visit(left + 1, path + "R", index)

    def _node(self, row: int, path: str, index: int) -> SplitNode:
        priced, left = self._priced, int(self._priced.left[row])
        start, launches = int(priced.start[row]), int(priced.launches[row])
        sizes, mean_ns = self._decisions.samples, float(priced.mean_ns[row])
        samples = int(sizes[row])
        parts = None if left < 0 else (int(sizes[left]), int(sizes[left + 1]))
        verdict = Verdict.SPLIT if self._decisions.splits[row] else Verdict.KEEP
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
        costs, least = self._decisions.whole, self._decisions.least
        whole_ns, priced_in = float(costs[row]), "its variance priced in"
        if left < 0:
            if self._priced.stop[row] - self._priced.start[row] == 1:
                return "all durations are equal"
            whole = f"whole it costs {whole_ns:,.0f} ns"
            return f"{whole}, {priced_in}; its spread is too small to look further"
        split = float(least[left] + least[left + 1])
        whole, parts = costs_in_words(whole_ns, split)
        text = f"whole it costs {whole}, {priced_in}, split at best {parts}: " + (
            "less" if is_less(np.array([split]), costs[row : row + 1])[0] else "not less"
        )
        return f"decided by the user; by price: {text}" if path in self._by_user else text
