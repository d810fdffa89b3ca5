"""A splitting method with its options, as a walk needs it: single decisions, and sizes of any clusters."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.joint import joint
from sampling.methods.joint.solution import SolvedTrees
from sampling.methods.registry import method_options, splitting_method
from sampling.plan.walk.known_tree import KnownTree
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.seeds import Stream, generator
from sampling.splitting.forest import forest_of
from sampling.splitting.groups import Overrides
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import SplitRule
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

Steps = TreeGrower | KnownTree


class _RuleMethod(Protocol):
    """A method whose trees grow by a rule."""

    def rule(self, target: Target, options: Any) -> SplitRule: ...

    def sized(self, clusters: Clusters, samples: IntArray, target: Target, options: Any) -> Strata: ...


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
    """A method whose trees grow by a rule: sizes hang on the strata of their own group alone."""

    provisional = False

    def __init__(
        self,
        counts: DurationCounts,
        plan: Strata,
        method: _RuleMethod,
        target: Target,
        options: Any,
        overrides: Overrides,
    ) -> None:
        self.plan = plan
        self._counts, self._method, self._target, self._options = counts, method, target, options
        self._overrides = overrides
        self._rule = method.rule(target, options)
        self._forest = forest_of(counts)

    @property
    def whole(self) -> Strata:
        clusters = _whole_groups(self._counts)
        samples = self._rule.samples_alone(clusters.launches, clusters.mean_ns, clusters.std_ns)
        return self.sized(clusters, samples)

    def steps(self, group: int) -> Steps:
        decided = self._overrides.get(self._counts.groups[group].key)
        return TreeGrower(self._counts, group, self._rule, decided, self._forest)

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        return self._method.sized(clusters, samples, self._target, self._options)


class _ByPrice:
    """The method joint: its trees are known once its prices are found, and so are the sizes."""

    provisional = True

    def __init__(
        self, counts: DurationCounts, target: Target, overrides: Overrides, progress: Progress | None
    ) -> None:
        solution = joint.solve(counts, target, overrides, progress)
        self.plan = joint.planned(solution, target)
        self._counts = counts
        self._trees = SolvedTrees(counts, target, solution, overrides)

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
    seed: int,
    settings: tuple[str, ...],
    overrides: Overrides,
    progress: Progress | None,
) -> Splitter:
    method, options = splitting_method(name), method_options(name, settings)
    if name == "joint":
        return _ByPrice(counts, target, overrides, progress)
    plan = method.stratify(counts, target, options, generator(seed, Stream.DESIGN), overrides, progress)
    return _ByRule(counts, plan, cast("_RuleMethod", method), target, options, overrides)


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
