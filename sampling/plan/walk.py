"""A walk through the split decisions of all kernel groups, and what the strata so far would cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import OptionError
from sampling.methods.method import StrataRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.parallel import Progress
from sampling.plan.design import SampledDesign, speedup_of
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import unpooled
from sampling.splitting.tree import Overrides, SplitNode, TreeGrower, Verdict
from sampling.strata.strata import Strata, measured_clusters, total_variance
from sampling.strata.target import Target


class Place(NamedTuple):
    """Where a walk is: the group, and the path of the node decided on next; None at the end of its tree."""

    group: int = 0
    path: str | None = ""


@dataclass(frozen=True, slots=True)
class Running:
    """What a plan would cost and promise if splitting ended here: nodes not yet decided on are kept whole.

    Bounds are on the error of the total, of any kernel group's own, and of the present group's. Those of a
    plan and of a group split to its end are judged by drawing; on the way they are those of normal errors.
    """

    strata: int
    samples: int
    sampled_duration_ns: float
    speedup: float | None
    bound: float
    worst_group_bound: float
    group_bound: float


class TreeWalk:
    """Goes through all decisions of a splitting method: the groups by rank, each in pre-order.

    A decision is made when it is first looked at, so a step costs one decision however large the profile is.
    ``design`` is the plan that all decisions, the user's overrides among them, lead to.

    Raises OptionError: the method splits nothing, an unknown setting, or an override that fits no node.
    """

    def __init__(
        self,
        counts: DurationCounts,
        method: str,
        target: Target,
        *,
        settings: tuple[str, ...] = (),
        overrides: Overrides | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._overrides = overrides or {}
        self.counts, self.group = counts, 0
        self._visited: dict[int, TreeGrower] = {}
        trees, options = split_trees_of(method), method_options(method, settings)
        request = StrataRequest(
            counts=counts, target=target, options=options, overrides=self._overrides, progress=progress
        )
        strata, self._rule = trees.stratify(request), trees.rule(target, options)
        self.design = SampledDesign(method, target, strata, unpooled(counts))
        # What every group costs when it is split to its end, and kept whole.
        whole = measured_clusters(counts, np.arange(self.groups), counts.offsets[:-1], counts.offsets[1:])
        self._final = _costs(strata, self.groups)
        self._whole = _costs(self._rule.sized(whole, self._rule.samples_alone(whole)), self.groups)

    @property
    def groups(self) -> int:
        """How many kernel groups there are."""
        return len(self.counts.groups)

    @property
    def _steps(self) -> TreeGrower:
        """The tree of the present kernel group."""
        if self.group not in self._visited:
            decided = self._overrides.get(self.counts.groups[self.group].key)
            self._visited[self.group] = TreeGrower(self.counts, self.group, self._rule, decided)
        return self._visited[self.group]

    @property
    def taken(self) -> int:
        """How many decisions have been taken on the present group."""
        return self._steps.taken

    @property
    def nodes(self) -> tuple[SplitNode, ...]:
        """The decisions so far on the present group."""
        return self._steps.tree.nodes

    @property
    def ahead(self) -> SplitNode | None:
        """The decision that comes next on the present group; None when it is split to its end."""
        return self._steps.ahead

    @property
    def place(self) -> Place:
        """Where the walk is."""
        return Place(self.group, None if self.ahead is None else self.ahead.path)

    @property
    def at_end(self) -> bool:
        """Whether all decisions have been taken."""
        return self.group == self.groups - 1 and self.ahead is None

    def step(self) -> bool:
        """Take the next decision, or go on to the next group; False at the end of all."""
        return self._steps.step() is not None or self.next_group()

    def back(self) -> bool:
        """Undo the last `step`; False at the start."""
        if self._steps.undo():
            return True
        if self.group == 0:
            return False
        self.group -= 1
        self.finish_group()
        return True

    def next_group(self) -> bool:
        """Go to the next group, before its first decision; False in the last group."""
        return self.enter(self.group + 1)

    def previous_group(self) -> bool:
        """Go to the group before, before its first decision; False in the first group."""
        return self.enter(self.group - 1)

    def finish_group(self) -> None:
        """Take all decisions that are left on the present group."""
        while self._steps.step() is not None:
            pass

    def finish(self) -> None:
        """Take all decisions that are left."""
        self.group = self.groups - 1
        self.finish_group()

    def enter(self, group: int, decisions: int = 0) -> bool:
        """Go to a group and take so many decisions on it, or as many as there are; False: no such group."""
        if not 0 <= group < self.groups:
            return False
        self.group = group
        while self.taken > decisions:
            self._steps.undo()
        while self.taken < decisions and self._steps.step() is not None:
            pass
        return True

    def resume(self, place: Place) -> None:
        """Go where another walk was: to its group, and as far into it."""
        self.enter(place.group)
        # Pre-order is the order of the paths as text: a node comes before those below it, left before right.
        while self.ahead is not None and (place.path is None or self.ahead.path < place.path):
            self._steps.step()

    @property
    def running(self) -> Running:
        """What the decisions so far would cost and promise; at the end of all the figures of the plan."""
        promise = self.design.promise
        group, z, total_ns = self.group, self.design.target.z, self.counts.total_duration_ns
        of_group_ns = np.maximum(self.counts.group_duration_ns, 1)
        if self.ahead is None:
            here, group_bound = self._final[:, group], 0.0
            # Of a profile in which nothing takes any time there are no bounds.
            if promise is not None:
                group_bound = float(promise.group_bounds[group])
        else:
            strata = self._rule.sized(*self._steps.clusters)
            here = _costs(replace(strata, group=np.zeros_like(strata.group)), 1)[:, 0]
            group_bound = z * float(np.sqrt(here[-1])) / int(of_group_ns[group])
        others = np.hstack([self._final[:, :group], self._whole[:, group + 1 :]])
        kept, samples, sampled_ns, variance = (others.sum(axis=1) + here).tolist()
        worst = z * float((np.sqrt(others[-1]) / np.delete(of_group_ns, group)).max(initial=0))
        figures = int(kept), round(samples), sampled_ns, speedup_of(total_ns, sampled_ns)
        bounds = z * float(np.sqrt(variance)) / max(total_ns, 1), max(worst, group_bound)
        if self.at_end:
            design = self.design
            figures = design.strata_count, design.samples, design.sampled_duration_ns, design.speedup
            bounds = (0.0, 0.0) if promise is None else (promise.bound, promise.group_bound or 0.0)
        return Running(*figures, *bounds, group_bound)

    def overridden(self, path: str, verdict: Verdict) -> Overrides:
        """Return the overrides with one more decision of the user's, on a node of the present group.

        Raises OptionError: it cannot be split.
        """
        (node,) = (node for node in (*self.nodes, self.ahead) if node is not None and node.path == path)
        if verdict is Verdict.SPLIT and node.stop - node.start < 2:
            text = "all its durations are equal: there is nothing to split"
            raise OptionError(text, remedy="keep it whole")
        return with_decision(self._overrides, self.counts.groups[self.group].key, path, verdict)


def with_decision(overrides: Overrides, key: str, path: str, verdict: Verdict) -> Overrides:
    """Return the overrides with one more decision, which comes last.

    A node kept whole has none below it: keeping drops the decisions below; deciding below nodes that were
    kept splits these.
    """
    # A node above the path must split.
    others = {
        other: Verdict.SPLIT if path.startswith(other) else decided
        for other, decided in overrides.get(key, {}).items()
        if other != path and not (verdict is Verdict.KEEP and other.startswith(path))
    }
    kept = {other: decisions for other, decisions in overrides.items() if other != key}
    return {**kept, key: {**others, path: verdict}}


def _costs(strata: Strata, groups: int) -> FloatArray:
    """Return (4, groups) what strata cost by kernel group.

    How many there are, their expected launches, the duration of these, and the variance of the total, ns^2.
    """
    simulated = strata.samples.astype(np.float64)
    values = (np.ones(len(strata)), simulated, simulated * strata.mean_ns, total_variance(strata))
    return np.array([np.bincount(strata.group, each, minlength=groups) for each in values])
