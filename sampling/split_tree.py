"""The split tree of a kernel group: grown one decision at a time, every decision kept, open to overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sampling.allocation import FloatArray, IntArray
from sampling.cluster_forest import UNSPLIT, ClusterForest
from sampling.duration_counts import DurationCounts, range_std_ns
from sampling.errors import OptionError
from sampling.k_means import best_partitions


class Verdict(StrEnum):
    """What becomes of a node."""

    SPLIT = "split"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A range of a reduction's pairs with its size, mean and population standard deviation."""

    start: int
    stop: int
    launches: int
    mean_ns: float
    std_ns: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a rule makes of a cluster and its parts; the costs are sampled time in nanoseconds.

    Attributes
    ----------
    parts : two or more runs of the cluster, ascending; samples_new : how many samples each would cost.
    """

    parts: tuple[Cluster, ...]
    samples_new: tuple[int, ...]
    tau_old_ns: float
    tau_new_ns: float
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class ClusterArrays:
    """Size, mean and population standard deviation of many clusters; arrays of one shape."""

    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray


class SplitRule(Protocol):
    """When to split. A rule sees one cluster at a time and never its relatives."""

    @property
    def enough(self) -> int:
        """A cluster that costs no more samples than this is kept without looking at its parts."""

    @property
    def most_parts(self) -> int:
        """How many parts one decision may make, 2 or more."""

    def samples_alone(self, launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray) -> IntArray:
        """Return (c,) how many samples each cluster costs by itself, as at the root of a group."""

    def samples_kept(self, cluster: Cluster, allocated: int) -> int:
        """Return how many samples a cluster costs if kept, given what the decision above allocated to it."""

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return the decision on a cluster that costs ``samples_old`` samples if kept.

        Parameters
        ----------
        partitions : its best partitions into 2, 3, ... parts, at most ``most_parts``; at least the first.
        """

    def halve(
        self, whole: ClusterArrays, samples_old: IntArray, halves: ClusterArrays
    ) -> tuple[NDArray[np.bool_], IntArray]:
        """Return the decisions of `propose` on many clusters at once, each with its best two halves.

        Parameters
        ----------
        whole, samples_old : (k,) clusters and what each costs if kept; halves : (k, 2) left and right.

        Returns
        -------
        splits : (k,); samples_new : (k, 2) what each half costs by this decision.
        """


@dataclass(frozen=True, slots=True)
class SplitNode:
    """One decision.

    Attributes
    ----------
    index, left, right : places in the pre-order tuple; no children: None.
    path : the way down from the root, e.g. "LRL"; "" is the root.
    start, stop : its pairs in the reduction.
    threshold_ns : largest duration of the proposed left part; None where no split was looked at.
    samples_old, tau_old_ns : cost of keeping it whole.
    samples_new, tau_new_ns : cost of its parts; None where no split was looked at. With more than two
        parts the first is the left child and the others are split off one by one down the right.
    verdict, reason : what was decided, and why in words and numbers.
    overridden : whether the user decided.
    """

    index: int
    depth: int
    path: str
    start: int
    stop: int
    launches: int
    mean_ns: float
    std_ns: float
    threshold_ns: int | None
    samples_old: int
    tau_old_ns: float
    samples_new: tuple[int, ...] | None
    tau_new_ns: float | None
    verdict: Verdict
    reason: str
    left: int | None = None
    right: int | None = None
    overridden: bool = False


@dataclass(frozen=True, slots=True)
class SplitTree:
    """All decisions of one kernel group, in pre-order: the first k nodes are the tree after k decisions."""

    group: int
    nodes: tuple[SplitNode, ...]

    @property
    def leaves(self) -> tuple[SplitNode, ...]:
        """The final clusters, shortest durations first."""
        return tuple(node for node in self.nodes if node.verdict is Verdict.KEEP)


@dataclass(frozen=True, slots=True)
class Share:
    """A cluster of a tree that is still growing, and the samples that the decision above gave it."""

    cluster: Cluster
    samples: int


@dataclass(frozen=True, slots=True)
class _Pending:
    """A cluster to decide on; with ``rest``, one that a split into several parts has decided already."""

    cluster: Cluster
    path: str
    samples_old: int
    parent: int | None
    rest: Proposal | None = None


@dataclass(frozen=True, slots=True)
class _Decision:
    """What becomes of a pending cluster, before its children are linked to it."""

    pending: _Pending
    node: SplitNode
    proposal: Proposal | None


class TreeGrower:
    """Grows one group's tree: `step` takes the next decision in pre-order, `undo` takes the last one back.

    Parameters
    ----------
    overrides : path -> verdict, the user's decisions in place of the rule's.
    forest : where halves are looked up, and kept, instead of being found anew; for rules of two parts.
    """

    def __init__(
        self,
        counts: DurationCounts,
        group: int,
        rule: SplitRule,
        overrides: Mapping[str, Verdict] | None = None,
        forest: ClusterForest | None = None,
    ) -> None:
        self._counts = counts
        self._group = group
        self._rule = rule
        self._overrides = dict(overrides or {})
        self._forest = forest if rule.most_parts == 2 else None
        self._nodes: list[SplitNode] = []
        self._done: list[_Decision] = []
        self._next: _Decision | None = None
        root = _group_cluster(counts, group)
        # A group's root has the group's number in the forest.
        self._number = {(root.start, root.stop): group}
        self._pending = [_Pending(root, "", _samples_at_root(rule, root), None)]

    @property
    def taken(self) -> int:
        """How many decisions have been taken."""
        return len(self._nodes)

    @property
    def tree(self) -> SplitTree:
        """The decisions so far."""
        return SplitTree(self._group, tuple(self._nodes))

    @property
    def ahead(self) -> SplitNode | None:
        """The decision that `step` takes next; None when there is none left."""
        decision = self._decide()
        return None if decision is None else decision.node

    @property
    def shares(self) -> tuple[Share, ...]:
        """The clusters that the decisions so far lead to, final or not yet decided on, shortest first."""
        final = [_share(node) for node in self._nodes if node.verdict is Verdict.KEEP]
        still_open = [Share(pending.cluster, pending.samples_old) for pending in self._pending]
        return tuple(sorted(final + still_open, key=lambda share: share.cluster.start))

    def step(self) -> SplitNode | None:
        """Take the next decision; None when there is none left."""
        decision = self._decide()
        if decision is None:
            return None
        pending, node, proposal = decision.pending, decision.node, decision.proposal
        index = node.index
        self._pending.pop()
        if pending.parent is not None and pending.path.endswith("R"):
            self._nodes[pending.parent] = replace(self._nodes[pending.parent], right=index)
        if node.verdict is Verdict.SPLIT and proposal is not None:
            self._pending.append(self._right_of(proposal, pending.path, index))
            left = _Pending(proposal.parts[0], pending.path + "L", proposal.samples_new[0], index)
            self._pending.append(left)
            node = replace(node, left=index + 1)
        self._nodes.append(node)
        self._done.append(decision)
        self._next = None
        return node

    def undo(self) -> bool:
        """Take back the last decision, which is ahead again; False when there is none."""
        if not self._nodes:
            return False
        node, decision = self._nodes.pop(), self._done.pop()
        pending = decision.pending
        if node.verdict is Verdict.SPLIT:
            del self._pending[-2:]
        if pending.parent is not None and pending.path.endswith("R"):
            self._nodes[pending.parent] = replace(self._nodes[pending.parent], right=None)
        self._pending.append(pending)
        self._next = decision
        return True

    def run(self) -> SplitTree:
        """Take all decisions that are left and return the whole tree.

        Raises
        ------
        OptionError : an override names no node, or splits where all durations are equal.
        """
        while self.step() is not None:
            pass
        unused = set(self._overrides) - {node.path for node in self._nodes}
        if unused:
            key = self._counts.groups[self._group].key
            raise OptionError(
                f"the tree of {key!r} has no node {min(unused)!r} to override",
                remedy='a path is "" for the root, then L or R a step, as `kernelpoint tree` prints it',
            )
        return self.tree

    def _right_of(self, proposal: Proposal, path: str, index: int) -> _Pending:
        """Return what stands right of the first part: the second, or all others as one that splits on."""
        parts, samples = proposal.parts[1:], proposal.samples_new[1:]
        if len(parts) == 1:
            return _Pending(parts[0], path + "R", samples[0], index)
        tau_ns = sum(m * part.mean_ns for m, part in zip(samples, parts, strict=True))
        reason = f"{len(parts)} of the parts of the split above"
        rest = Proposal(parts, samples, tau_ns, tau_ns, Verdict.SPLIT, reason)
        whole = measured_cluster(self._counts, parts[0].start, parts[-1].stop)
        return _Pending(whole, path + "R", sum(samples), index, rest)

    def _decide(self) -> _Decision | None:
        """Return the next decision, made once however often it is looked at."""
        if self._next is None and self._pending:
            self._next = self._decided(self._pending[-1], len(self._nodes))
        return self._next

    def _decided(self, pending: _Pending, index: int) -> _Decision:
        cluster, samples_old = pending.cluster, pending.samples_old
        if pending.rest is None:
            samples_old = self._rule.samples_kept(cluster, samples_old)
        override = self._overrides.get(pending.path)
        settled = None if pending.rest is not None else self._settled(cluster, samples_old)
        proposal = pending.rest
        can_split = cluster.stop - cluster.start > 1 and (settled is None or override is Verdict.SPLIT)
        if proposal is None and can_split:
            proposal = self._rule.propose(cluster, samples_old, self._partitions(cluster))
        if override is Verdict.SPLIT and proposal is None:
            key = self._counts.groups[self._group].key
            raise OptionError(
                f"node {pending.path!r} of {key!r} cannot be split: all its durations are equal"
            )
        rule_verdict = proposal.verdict if proposal is not None else Verdict.KEEP
        reason = settled if settled is not None else proposal.reason if proposal is not None else ""
        if override is not None:
            reason = f"decided by the user ({override}); the rule: {rule_verdict}, {reason}"
        node = SplitNode(
            index=index,
            depth=len(pending.path),
            path=pending.path,
            start=cluster.start,
            stop=cluster.stop,
            launches=cluster.launches,
            mean_ns=cluster.mean_ns,
            std_ns=cluster.std_ns,
            threshold_ns=None if proposal is None else self._longest_ns(proposal.parts[0]),
            samples_old=samples_old,
            tau_old_ns=samples_old * cluster.mean_ns if proposal is None else proposal.tau_old_ns,
            samples_new=None if proposal is None else proposal.samples_new,
            tau_new_ns=None if proposal is None else proposal.tau_new_ns,
            verdict=rule_verdict if override is None else override,
            reason=reason,
            overridden=override is not None,
        )
        return _Decision(pending, node, proposal)

    def _settled(self, cluster: Cluster, samples_old: int) -> str | None:
        if cluster.stop - cluster.start == 1:
            return "all durations are equal"
        if samples_old > self._rule.enough:
            return None
        return "1 sample is enough" if samples_old == 1 else f"{samples_old} samples are enough"

    def _longest_ns(self, cluster: Cluster) -> int:
        return int(self._counts.duration_ns[cluster.stop - 1])

    def _partitions(self, cluster: Cluster) -> list[tuple[Cluster, ...]]:
        counts = self._counts
        if self._forest is not None:
            return [self._halves(self._forest, cluster)]
        partitions = best_partitions(
            counts.launches_before,
            counts.time_before_ns,
            cluster.start,
            cluster.stop,
            self._rule.most_parts,
        )
        return [
            tuple(
                measured_cluster(counts, low, high)
                for low, high in pairwise((cluster.start, *bounds, cluster.stop))
            )
            for bounds in partitions
        ]

    def _halves(self, forest: ClusterForest, cluster: Cluster) -> tuple[Cluster, ...]:
        number = self._number[cluster.start, cluster.stop]
        # Nodes are only ever added, children before they are linked: what is split can be read by anyone.
        if forest.left[number] == UNSPLIT:
            with forest.lock:
                forest.split(np.array([number]))
        left = int(forest.left[number])
        halves = tuple(
            Cluster(
                int(forest.start[half]),
                int(forest.stop[half]),
                int(forest.launches[half]),
                float(forest.mean_ns[half]),
                float(forest.std_ns[half]),
            )
            for half in (left, left + 1)
        )
        self._number |= {(half.start, half.stop): left + at for at, half in enumerate(halves)}
        return halves


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
        return SplitTree(self._whole.group, nodes)

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
        return tuple(sorted(map(_share, reached), key=lambda share: share.cluster.start))

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


def _share(node: SplitNode) -> Share:
    cluster = Cluster(node.start, node.stop, node.launches, node.mean_ns, node.std_ns)
    return Share(cluster, node.samples_old)


def _group_cluster(counts: DurationCounts, group: int) -> Cluster:
    """Return all of a kernel group as a cluster."""
    launches = int(counts.group_launches[group])
    return Cluster(
        int(counts.offsets[group]),
        int(counts.offsets[group + 1]),
        launches,
        int(counts.group_duration_ns[group]) / launches,
        float(counts.group_std_ns[group]),
    )


def _samples_at_root(rule: SplitRule, root: Cluster) -> int:
    alone = rule.samples_alone(np.array([root.launches]), np.array([root.mean_ns]), np.array([root.std_ns]))
    return int(alone[0])


def measured_cluster(counts: DurationCounts, start: int, stop: int) -> Cluster:
    """Return the cluster of the pairs ``start:stop``."""
    launches = int(counts.launches_before[stop] - counts.launches_before[start])
    mean_ns = int(counts.time_before_ns[stop] - counts.time_before_ns[start]) / launches
    std_ns = float(range_std_ns(counts, np.array([start]), np.array([stop]))[0])
    return Cluster(start, stop, launches, mean_ns, std_ns)
