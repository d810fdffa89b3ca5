"""A splitting method with its options, as a walk needs it: single decisions, and sizes of any clusters."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import SolvedTogether, SolvedTrees, SplitRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.plan.walk.known_tree import KnownTree
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import ClusterArrays, SplitRule
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

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
        return _Solved(counts, trees.solve(request))
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
