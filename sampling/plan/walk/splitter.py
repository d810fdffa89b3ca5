"""A splitting method with its options, as a walk needs it: single decisions, and sizes of any clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import SolvedTogether, SolvedTrees, SplitRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import ClusterArrays, SplitRule
from sampling.splitting.tree import Share, SplitNode, SplitTree, Verdict, share_of
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target


class KnownTree:
    """A tree known to its end, its decisions taken and taken back one by one as a `TreeGrower` does."""

    def __init__(self, tree: SplitTree) -> None:
        self._whole = tree
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many decisions have been taken."""
        return self._taken

    @property
    def tree(self) -> SplitTree:
        """The decisions so far."""
        taken = self._taken
        nodes = tuple(
            replace(node, right=None) if node.right is not None and node.right >= taken else node
            for node in self._whole.nodes[:taken]
        )
        return replace(self._whole, nodes=nodes)

    @property
    def ahead(self) -> SplitNode | None:
        """The decision that `step` takes next; None when there is none left."""
        nodes = self._whole.nodes
        return replace(nodes[self._taken], left=None, right=None) if self._taken < len(nodes) else None

    @property
    def shares(self) -> tuple[Share, ...]:
        """The clusters that the decisions so far lead to, final or not yet decided on, shortest first."""
        nodes, taken = self._whole.nodes, self._taken
        children = [child for node in nodes[:taken] for child in (node.left, node.right)]
        still_open = [child for child in children if child is not None and child >= taken]
        final = [node.index for node in nodes[:taken] if node.verdict is Verdict.KEEP]
        reached = [nodes[index] for index in final + still_open] if taken else [nodes[0]]
        return tuple(sorted(map(share_of, reached), key=lambda share: share.cluster.start))

    def step(self) -> SplitNode | None:
        """Take the next decision; None when there is none left."""
        if self._taken == len(self._whole.nodes):
            return None
        self._taken += 1
        return replace(self._whole.nodes[self._taken - 1], right=None)

    def undo(self) -> bool:
        """Take back the last decision; False when there is none."""
        if self._taken == 0:
            return False
        self._taken -= 1
        return True


Steps = TreeGrower | KnownTree


class Splitter(Protocol):
    """A method with its options: its plan, and what it makes of groups that are not split to their end."""

    plan: Strata
    provisional: bool

    @property
    def whole(self) -> Strata:
        """Every group kept whole."""

    def steps(self, group: int) -> Steps:
        """Return the decisions on a group, none taken yet."""

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return the clusters of one group with sizes, given their shares."""


class _ByRule:
    """A method whose trees grow by a rule: sizes depend on the strata of their own group alone."""

    provisional = False

    def __init__(self, request: SplitRequest[Any], plan: Strata, rule: SplitRule) -> None:
        self.plan = plan
        self._counts, self._overrides, self._rule = request.counts, request.overrides, rule
        self._forest = forest_of(request.counts)

    @property
    def whole(self) -> Strata:
        clusters = _whole_groups(self._counts)
        alone = ClusterArrays(clusters.launches, clusters.mean_ns, clusters.std_ns)
        return self.sized(clusters, self._rule.samples_alone(alone))

    def steps(self, group: int) -> Steps:
        decided = self._overrides.get(self._counts.groups[group].key)
        return TreeGrower(self._counts, group, self._rule, decided, self._forest)

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        return self._rule.sized(clusters, samples)


class _Solved:
    """A method that finds all trees together: they are known before the first step, and so are the sizes."""

    provisional = True

    def __init__(self, counts: DurationCounts, trees: SolvedTrees) -> None:
        self.plan = trees.plan
        self._counts, self._trees = counts, trees

    @property
    def whole(self) -> Strata:
        return self.sized(_whole_groups(self._counts), self._trees.whole)

    def steps(self, group: int) -> Steps:
        return KnownTree(self._trees.tree(group))

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        return clusters.with_samples(self._trees.sizes(clusters, samples))


def splitter_of(
    counts: DurationCounts,
    name: str,
    target: Target,
    settings: tuple[str, ...],
    overrides: Overrides,
    progress: Progress | None,
) -> Splitter:
    trees, options = split_trees_of(name), method_options(name, settings)
    request = SplitRequest(
        counts=counts, target=target, options=options, overrides=overrides, progress=progress
    )
    if isinstance(trees, SolvedTogether):
        solved = trees.solve(request)
        groups = solved.plan.groups
        return _Solved(counts if groups is None else groups.counts, solved)
    return _ByRule(request, trees.stratify(request), trees.rule(target, options))


def _whole_groups(counts: DurationCounts) -> Clusters:
    """Return every group as one cluster."""
    mean_ns = counts.group_duration_ns / counts.group_launches
    return Clusters(
        np.arange(len(counts.groups)),
        counts.offsets[:-1],
        counts.offsets[1:],
        counts.group_launches,
        mean_ns,
        counts.group_std_ns,
    )
