"""Steps through the split decisions of all kernel groups, and what the strata so far would cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import OptionError
from sampling.methods.method import StrataRequest
from sampling.methods.registry import method_options, split_trees_of
from sampling.parallel import Progress
from sampling.plan.design import SampledDesign, speedup_ratio
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import unpooled
from sampling.splitting.tree import Overrides, SplitNode, TreeGrower, Verdict
from sampling.strata.strata import Strata, measured_clusters, total_variance
from sampling.strata.target import Target


class Position(NamedTuple):
    """Where a stepper is: group, and path of the node decided on next; None at the end of its tree."""

    group: int = 0
    path: str | None = ""


@dataclass(frozen=True, slots=True)
class RunningTotals:
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


class SplitStepper:
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
        roots = measured_clusters(counts, np.arange(self.groups), counts.offsets[:-1], counts.offsets[1:])
        self._final = _costs(strata, self.groups)
        self._whole = _costs(self._rule.sized(roots, self._rule.samples_alone(roots)), self.groups)

    @property
    def groups(self) -> int:
        """How many kernel groups there are."""
        return len(self.counts.groups)

    @property
    def _grower(self) -> TreeGrower:
        """The tree of the present kernel group."""
        if self.group not in self._visited:
            decided = self._overrides.get(self.counts.groups[self.group].key)
            self._visited[self.group] = TreeGrower(self.counts, self.group, self._rule, decided)
        return self._visited[self.group]

    @property
    def steps_done(self) -> int:
        """How many decisions have been taken on the present group."""
        return self._grower.steps_done

    @property
    def nodes(self) -> tuple[SplitNode, ...]:
        """The decisions so far on the present group."""
        return self._grower.tree.nodes

    @property
    def pending(self) -> SplitNode | None:
        """The decision that comes next on the present group; None when it is split to its end."""
        return self._grower.pending

    @property
    def position(self) -> Position:
        """Where the stepper is."""
        return Position(self.group, None if self.pending is None else self.pending.path)

    @property
    def at_end(self) -> bool:
        """Whether all decisions have been taken."""
        return self.group == self.groups - 1 and self.pending is None

    def step(self) -> bool:
        """Take the next decision, or go on to the next group; False at the end of all."""
        return self._grower.step() is not None or self.next_group()

    def back(self) -> bool:
        """Undo the last `step`; False at the start."""
        if self._grower.undo():
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
        while self._grower.step() is not None:
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
        while self.steps_done > decisions:
            self._grower.undo()
        while self.steps_done < decisions and self._grower.step() is not None:
            pass
        return True

    def resume(self, position: Position) -> None:
        """Go where another stepper was: to its group, and as far into it."""
        self.enter(position.group)
        # Pre-order is the order of the paths as text: a node comes before those below it, left before right.
        while self.pending is not None and (position.path is None or self.pending.path < position.path):
            self._grower.step()

    @property
    def running(self) -> RunningTotals:
        """What the decisions so far would cost and promise; at the end of all the figures of the plan."""
        present, group_bound = self._present_group()
        if self.at_end:
            design = self.design
            figures = design.strata_count, design.samples, design.sampled_duration_ns, design.speedup
            bounds = design.bounds
            return RunningTotals(*figures, bounds.bound or 0.0, bounds.group_bound or 0.0, group_bound)
        group, z, total_ns = self.group, self.design.target.z, self.counts.total_duration_ns
        group_ns = np.delete(np.maximum(self.counts.group_duration_ns, 1), group)
        rest = np.hstack([self._final[:, :group], self._whole[:, group + 1 :]])
        worst = z * float((np.sqrt(rest[-1]) / group_ns).max(initial=0))
        strata, samples, sampled_ns, variance = (rest.sum(axis=1) + present).tolist()
        return RunningTotals(
            strata=int(strata),
            samples=round(samples),
            sampled_duration_ns=sampled_ns,
            speedup=speedup_ratio(total_ns, sampled_ns),
            bound=z * float(np.sqrt(variance)) / max(total_ns, 1),
            worst_group_bound=max(worst, group_bound),
            group_bound=group_bound,
        )

    def _present_group(self) -> tuple[FloatArray, float]:
        """Return (4,) what the present group costs by its decisions so far, and its bound."""
        group, promise = self.group, self.design.promise
        if self.pending is None:
            # Of a profile in which nothing takes any time there is no bound.
            return self._final[:, group], 0.0 if promise is None else float(promise.group_bounds[group])
        strata = self._rule.sized(*self._grower.clusters)
        costs = _costs(replace(strata, group=np.zeros_like(strata.group)), 1)[:, 0]
        group_ns = max(int(self.counts.group_duration_ns[group]), 1)
        return costs, self.design.target.z * float(np.sqrt(costs[-1])) / group_ns

    def override(self, path: str, verdict: Verdict) -> Overrides:
        """Return the overrides with one more decision of the user's, on a node of the present group.

        Raises OptionError: it cannot be split.
        """
        (node,) = (node for node in (*self.nodes, self.pending) if node is not None and node.path == path)
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
    verdicts = {
        node: Verdict.SPLIT if path.startswith(node) else earlier
        for node, earlier in overrides.get(key, {}).items()
        if node != path and not (verdict is Verdict.KEEP and node.startswith(path))
    }
    unchanged = {group: decisions for group, decisions in overrides.items() if group != key}
    return {**unchanged, key: {**verdicts, path: verdict}}


def _costs(strata: Strata, groups: int) -> FloatArray:
    """Return (4, groups) what strata cost by kernel group.

    How many there are, their expected launches, the duration of these, and the variance of the total, ns^2.
    """
    simulated = strata.samples.astype(np.float64)
    values = (np.ones(len(strata)), simulated, simulated * strata.mean_ns, total_variance(strata))
    return np.array([np.bincount(strata.group, column, minlength=groups) for column in values])
