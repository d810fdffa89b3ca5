"""How kernel groups are split: the rule, the tree that it grows in each, and all groups at once.

Halves are the exact 2-means, found many nodes at a time and kept in one forest a reduction: a node that is
split once stays split, so a plan for another epsilon starts from the trees of the last one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary, proxy

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OverrideError
from sampling.parallel import Progress
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.two_means import best_partitions, best_splits
from sampling.strata.strata import Clusters, Strata, measured_clusters
from sampling.text import Wording

#: What progress calls it.
SPLITTING = "splitting kernel groups"
_UNSPLIT = -1
_MOST_DECIMALS = 6


class Verdict(StrEnum):
    """What becomes of a node."""

    SPLIT = "split"
    KEEP = "keep"


#: Group key -> path -> the user's decision.
Overrides = Mapping[str, Mapping[str, Verdict]]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A range of a reduction's pairs with its size, mean and population standard deviation."""

    start: int
    stop: int
    launches: int
    mean_ns: float
    std_ns: float


@dataclass(frozen=True, slots=True)
class Share:
    """A cluster of a tree that is still growing, and the samples that the decision above gave it."""

    cluster: Cluster
    samples: int


@dataclass(frozen=True, slots=True)
class SplitNode:
    """One decision."""

    #: Its place in the pre-order tuple.
    index: int
    depth: int
    #: The way down from the root, e.g. "LRL"; "" is the root.
    path: str
    #: Its pairs in the reduction.
    start: int
    stop: int
    launches: int
    mean_ns: float
    std_ns: float
    #: Largest duration of the proposed left part; None where no split was looked at.
    threshold_ns: int | None
    #: Cost of keeping it whole.
    samples_old: int
    tau_old_ns: float
    #: Cost of its parts; None where no split was looked at. Of more than two the first is the left child, and
    #: the others are split off one by one down the right.
    samples_new: tuple[int, ...] | None
    tau_new_ns: float | None
    #: What was decided, and why in words and numbers.
    verdict: Verdict
    reason: str
    #: Places of the children.
    left: int | None = None
    right: int | None = None
    #: Whether the user decided.
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
class Proposal:
    """What a rule makes of a cluster and its parts; costs are sampled time."""

    #: Two or more runs of the cluster, ascending, and how many samples each would cost.
    parts: tuple[Cluster, ...]
    samples_new: tuple[int, ...]
    tau_old_ns: float
    tau_new_ns: float
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClusterArrays:
    """Size, mean and population standard deviation of many clusters; arrays of one shape."""

    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray

    @classmethod
    def of(cls, *clusters: Cluster) -> ClusterArrays:
        """Return the arrays (c,) of single clusters."""
        names = ("launches", "mean_ns", "std_ns")
        return cls(*(np.array([getattr(cluster, name) for cluster in clusters]) for name in names))


class Decided(NamedTuple):
    """What a rule makes of clusters (k,) and the p parts of each; of one cluster without the k."""

    #: (k,) whether to split.
    splits: BoolArray
    #: (k, p) the samples that each part would cost.
    samples_new: IntArray
    #: (k,) sampled time, whole and in parts.
    tau_old_ns: FloatArray
    tau_new_ns: FloatArray


class SplitRule(Protocol):
    """When to split. A rule sees a cluster and its parts and never its relatives."""

    @property
    def enough(self) -> int:
        """A cluster that costs no more samples than this is kept without looking at its parts."""

    @property
    def most_parts(self) -> int:
        """How many parts one decision may make, 2 or more."""

    def samples_alone(self, clusters: ClusterArrays) -> IntArray:
        """Return how many samples each cluster costs by itself, as at the root of a group."""

    def samples_kept(self, clusters: ClusterArrays, samples: IntArray, /) -> IntArray:
        """Return how many samples each costs if kept, given what the decision above allocated to it."""

    def decide(self, whole: Cluster | ClusterArrays, samples_old: Any, parts: ClusterArrays) -> Decided:
        """Return the decision on clusters that cost ``samples_old`` samples if kept."""

    def reason(self, whole: Cluster, samples_old: int, proposal: Proposal, /) -> str:
        """Return why it was decided so, in words and numbers."""

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return the final clusters of whole groups with the sizes that the method draws.

        Parameters
        ----------
        samples : (s,) what the decision above each cluster allocated to it.
        """


def costs_in_words(one_ns: float, other_ns: float) -> tuple[str, str]:
    """Return two times in nanoseconds, with the decimals that tell them apart; none where they are equal."""
    for decimals in range(_MOST_DECIMALS + 1):
        one, other = (f"{ns:,.{decimals}f} ns" for ns in (one_ns, other_ns))
        if one != other:
            return one, other
    return f"{one_ns:,.0f} ns", f"{other_ns:,.0f} ns"


_NODE = np.dtype(
    [(name, np.int64) for name in ("group", "start", "stop", "launches", "left")]
    + [(name, np.float64) for name in ("mean_ns", "std_ns")]
)


class ClusterForest:
    """One binary tree of exact halves a kernel group; node i < groups is the root of group i.

    Nodes are only added, so a node's number never changes. Callers hold ``lock`` while they split.
    """

    def __init__(self, counts: DurationCounts) -> None:
        self.lock = threading.RLock()
        # Weak: the table of forests below must not keep a reduction alive through its own forest.
        self._counts: DurationCounts = proxy(counts)
        self._table, self._size = np.zeros(0, dtype=_NODE), 0
        self._append(np.arange(len(counts.groups)), counts.offsets[:-1], counts.offsets[1:])

    @property
    def nodes(self) -> np.ndarray:
        """(n,) group, pairs, size, mean and deviation of each, and its left child; the right is the next."""
        return self._table[: self._size]

    def split(self, nodes: IntArray) -> None:
        """Give each of the nodes of two pairs or more its two children; those it has, it keeps."""
        nodes = nodes[self.nodes["left"][nodes] == _UNSPLIT]
        if not len(nodes):
            return
        rows = self.nodes[nodes]
        before = self._counts.launches_before, self._counts.time_before_ns
        middle = best_splits(*before, rows["start"], rows["stop"])
        left = self._size + 2 * np.arange(len(nodes))
        starts, stops = np.stack([rows["start"], middle]), np.stack([middle, rows["stop"]])
        self._append(np.repeat(rows["group"], 2), starts.T.ravel(), stops.T.ravel())
        # Children are added before their parent points to them, so a split node is read without the lock.
        self.nodes["left"][nodes] = left

    def _append(self, group: IntArray, start: IntArray, stop: IntArray) -> None:
        counts, size = self._counts, self._size + len(group)
        if size > len(self._table):
            room = np.zeros(max(size, 2 * len(self._table)) - self._size, dtype=_NODE)
            self._table = np.concatenate([self.nodes, room])
        rows = self._table[self._size : size]
        rows["group"], rows["start"], rows["stop"], rows["left"] = group, start, stop, _UNSPLIT
        rows["launches"] = counts.launches_before[stop] - counts.launches_before[start]
        rows["mean_ns"] = (counts.time_before_ns[stop] - counts.time_before_ns[start]) / rows["launches"]
        rows["std_ns"] = range_std_ns(counts, start, stop)
        self._size = size


_FORESTS: WeakKeyDictionary[DurationCounts, ClusterForest] = WeakKeyDictionary()
_FORESTS_LOCK = threading.Lock()


def _forest_of(counts: DurationCounts) -> ClusterForest:
    """Return the forest of a reduction, the same one every time while the reduction lives."""
    with _FORESTS_LOCK:
        forest = _FORESTS.get(counts)
        if forest is None:
            forest = _FORESTS[counts] = ClusterForest(counts)
        return forest


class _Pending(NamedTuple):
    """A cluster to decide on; with ``rest``, its split is decided already, by a split into several parts."""

    cluster: Cluster
    path: str
    samples_old: int
    parent: int | None
    rest: Proposal | None = None


class _Decision(NamedTuple):
    """What becomes of a pending cluster, before its children are linked to it."""

    pending: _Pending
    node: SplitNode
    proposal: Proposal | None


class TreeGrower:
    """Grows one group's tree: `step` takes the next decision in pre-order, `undo` takes the last one back.

    Parameters
    ----------
    overrides : path -> verdict, the user's decisions in place of the rule's.
    """

    def __init__(
        self,
        counts: DurationCounts,
        group: int,
        rule: SplitRule,
        overrides: Mapping[str, Verdict] | None = None,
    ) -> None:
        self._counts, self._group, self._rule = counts, group, rule
        self._overrides = dict(overrides or {})
        self._nodes: list[SplitNode] = []
        self._done: list[_Decision] = []
        self._next: _Decision | None = None
        (start, stop), launches = (
            counts.offsets[group : group + 2].tolist(),
            int(counts.group_launches[group]),
        )
        mean_ns = int(counts.group_duration_ns[group]) / launches
        root = Cluster(start, stop, launches, mean_ns, float(counts.group_std_ns[group]))
        # The numbers of clusters in the forest, where a group's root has the group's number.
        self._forest, self._number = _forest_of(counts), {(start, stop): group}
        self._pending = [_Pending(root, "", int(rule.samples_alone(ClusterArrays.of(root))[0]), None)]

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
        final = [
            Share(decision.pending.cluster, decision.node.samples_old)
            for decision in self._done
            if decision.node.verdict is Verdict.KEEP
        ]
        still_open = [Share(pending.cluster, pending.samples_old) for pending in self._pending]
        return tuple(sorted(final + still_open, key=lambda share: share.cluster.start))

    def step(self) -> SplitNode | None:
        """Take the next decision; None when there is none left."""
        decision = self._decide()
        if decision is None:
            return None
        (_, path, _, parent, _), node, proposal = decision
        self._pending.pop()
        if parent is not None and path.endswith("R"):
            self._nodes[parent] = replace(self._nodes[parent], right=node.index)
        if node.verdict is Verdict.SPLIT and proposal is not None:
            self._pending.append(self._right_of(proposal, path, node.index))
            self._pending.append(_Pending(proposal.parts[0], path + "L", proposal.samples_new[0], node.index))
            node = replace(node, left=node.index + 1)
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
        OverrideError : an override names no node, or splits where all durations are equal.
        """
        while self.step() is not None:
            pass
        unused = set(self._overrides) - {node.path for node in self._nodes}
        if unused:
            raise OverrideError(
                f"the tree has no node {min(unused)!r} to override",
                key=self._counts.groups[self._group].key,
                group=self._group,
                path=min(unused),
                remedy='a path is "" for the root, then L or R a step, as `kernelpoint tree` prints it',
            )
        return self.tree

    def _right_of(self, proposal: Proposal, path: str, index: int) -> _Pending:
        """Return what is right of the first part: the second, or all others as one that splits on."""
        parts, samples = proposal.parts[1:], proposal.samples_new[1:]
        if len(parts) == 1:
            return _Pending(parts[0], path + "R", samples[0], index)
        tau_ns = sum(m * part.mean_ns for m, part in zip(samples, parts, strict=True))
        reason = f"{len(parts)} of the parts of the split above"
        rest = Proposal(parts, samples, tau_ns, tau_ns, Verdict.SPLIT, reason)
        whole = _measured(self._counts, parts[0].start, parts[-1].stop)
        return _Pending(whole, path + "R", sum(samples), index, rest)

    def _decide(self) -> _Decision | None:
        """Return the next decision, the user's or else the rule's; it is made once."""
        if self._next is not None or not self._pending:
            return self._next
        pending = self._pending[-1]
        cluster, path, samples_old, _, proposal = pending
        override, rule, settled = self._overrides.get(path), self._rule, None
        if proposal is None:
            kept = rule.samples_kept(ClusterArrays.of(cluster), np.array([samples_old]))
            samples_old = int(kept[0])
            if cluster.stop - cluster.start == 1:
                settled = "all durations are equal"
            elif samples_old <= rule.enough:
                settled = "1 sample is enough" if samples_old == 1 else f"{samples_old} samples are enough"
            if settled is None or override is Verdict.SPLIT:
                proposal = self._proposed(cluster, samples_old, path)
        verdict, reason = Verdict.KEEP, settled or ""
        if proposal is not None:
            verdict, reason = proposal.verdict, settled or proposal.reason
        if override is not None:
            verdict, reason = override, f"decided by the user ({override}); the rule: {verdict}, {reason}"
        longest = None if proposal is None else int(self._counts.duration_ns[proposal.parts[0].stop - 1])
        node = SplitNode(
            index=len(self._nodes),
            depth=len(path),
            path=path,
            start=cluster.start,
            stop=cluster.stop,
            launches=cluster.launches,
            mean_ns=cluster.mean_ns,
            std_ns=cluster.std_ns,
            threshold_ns=longest,
            samples_old=samples_old,
            tau_old_ns=samples_old * cluster.mean_ns if proposal is None else proposal.tau_old_ns,
            samples_new=None if proposal is None else proposal.samples_new,
            tau_new_ns=None if proposal is None else proposal.tau_new_ns,
            verdict=verdict,
            reason=reason,
            overridden=override is not None,
        )
        self._next = _Decision(pending, node, proposal)
        return self._next

    def _proposed(self, cluster: Cluster, samples_old: int, path: str) -> Proposal:
        """Return what the rule makes of the partition that costs least."""
        partitions, rule = self._partitions(cluster, path), self._rule
        decided = [rule.decide(cluster, samples_old, ClusterArrays.of(*parts)) for parts in partitions]
        best = min(range(len(decided)), key=lambda index: float(decided[index].tau_new_ns))
        splits, samples_new, tau_old_ns, tau_new_ns = decided[best]
        verdict = Verdict.SPLIT if splits else Verdict.KEEP
        sizes, taus_ns = tuple(samples_new.tolist()), (float(tau_old_ns), float(tau_new_ns))
        proposal = Proposal(partitions[best], sizes, *taus_ns, verdict)
        return replace(proposal, reason=rule.reason(cluster, samples_old, proposal))

    def _partitions(self, cluster: Cluster, path: str) -> list[tuple[Cluster, ...]]:
        """Return the best partitions into 2, 3, ... parts: as many as the rule may make."""
        counts, start, stop = self._counts, cluster.start, cluster.stop
        if stop - start == 1:
            raise OverrideError(
                f"node {path!r} cannot be split: all its durations are equal",
                key=counts.groups[self._group].key,
                group=self._group,
                path=path,
            )
        if self._rule.most_parts > 2:
            before = counts.launches_before, counts.time_before_ns
            every = best_partitions(*before, start, stop, self._rule.most_parts)
            return [
                tuple(_measured(counts, low, high) for low, high in pairwise((start, *bounds, stop)))
                for bounds in every
            ]
        forest, number = self._forest, self._number[start, stop]
        if forest.nodes["left"][number] == _UNSPLIT:
            with forest.lock:
                forest.split(np.array([number]))
        halves = []
        for half in range(left := int(forest.nodes["left"][number]), left + 2):
            row = forest.nodes[half]
            halves.append(Cluster(*(row[name].item() for name in Cluster.__slots__)))
            self._number[halves[-1].start, halves[-1].stop] = half
        return [tuple(halves)]


def _measured(counts: DurationCounts, start: int, stop: int) -> Cluster:
    """Return the cluster of the pairs ``start:stop``."""
    launches = int(counts.launches_before[stop] - counts.launches_before[start])
    mean_ns = int(counts.time_before_ns[stop] - counts.time_before_ns[start]) / launches
    std_ns = float(range_std_ns(counts, np.array([start]), np.array([stop]))[0])
    return Cluster(start, stop, launches, mean_ns, std_ns)


def split_groups(
    counts: DurationCounts,
    rule: SplitRule,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> tuple[Clusters, IntArray]:
    """Return the final clusters of every group, and (s,) the samples each costs by the decision above it.

    Where a decision makes two parts, all groups are split at once, level by level; with more parts, or where
    the user has decided, one by one.

    Raises
    ------
    OverrideError : an override names a group or node that does not exist.
    """
    overrides = overrides or {}
    singly = set(groups_overridden(counts, overrides).tolist())
    mean_ns = counts.group_duration_ns / counts.group_launches
    alone = rule.samples_alone(ClusterArrays(counts.group_launches, mean_ns, counts.group_std_ns))
    if rule.most_parts > 2:
        singly |= set(np.flatnonzero((alone > rule.enough) & (np.diff(counts.offsets) > 1)).tolist())
    at_once = np.ones(len(counts.groups), dtype=np.bool_)
    at_once[list(singly)] = False
    rows = [_split_at_once(counts, rule, np.flatnonzero(at_once), alone, progress)]
    for done, group in enumerate(sorted(singly)):
        tree = TreeGrower(counts, group, rule, overrides.get(counts.groups[group].key)).run()
        leaves = [(group, leaf.start, leaf.stop, leaf.samples_old) for leaf in tree.leaves]
        rows.append(np.array(leaves, dtype=np.int64).T)
        if progress is not None:
            progress(done + 1, len(singly), SPLITTING)
    group_of, start, stop, samples = np.concatenate(rows, axis=1)
    order = np.argsort(start)
    return measured_clusters(counts, group_of[order], start[order], stop[order]), samples[order]


def groups_overridden(counts: DurationCounts, overrides: Overrides) -> IntArray:
    """Return the kernel groups in which the user has decided something, ascending.

    Raises
    ------
    OverrideError : an override names a group that does not exist.
    """
    index_of_key = {group.key: index for index, group in enumerate(counts.groups)} if overrides else {}
    unknown = [key for key in overrides if key not in index_of_key]
    if unknown:
        raise OverrideError(
            "an override names a kernel group that is not in this profile",
            key=unknown[0],
            remedy=Wording(
                "overrides hold for one `group_by`; `kernelpoint groups --format json` lists the keys"
            ),
        )
    return np.array(sorted(index_of_key[key] for key in overrides), dtype=np.int64)


def _split_at_once(
    counts: DurationCounts, rule: SplitRule, groups: IntArray, alone: IntArray, progress: Progress | None
) -> IntArray:
    """Return (4, s) group, start, stop and samples of the final clusters of groups split into halves.

    The decisions are those of `TreeGrower`, taken level by level over all groups.
    """
    forest = _forest_of(counts)
    finals = [np.zeros((4, 0), dtype=np.int64)]

    def clusters(nodes: IntArray) -> ClusterArrays:
        rows = forest.nodes[nodes]
        return ClusterArrays(rows["launches"], rows["mean_ns"], rows["std_ns"])

    with forest.lock:
        nodes, samples = groups, alone[groups]
        while len(nodes):
            pairs = forest.nodes["stop"][nodes] - forest.nodes["start"][nodes]
            is_final = (samples <= rule.enough) | (pairs == 1)
            open_nodes, samples_old = nodes[~is_final], samples[~is_final]
            forest.split(open_nodes)
            left = forest.nodes["left"][open_nodes]
            children = np.stack([left, left + 1], axis=1)
            parts = clusters(children)
            splits, samples_new, *_ = rule.decide(clusters(open_nodes), samples_old, parts)
            rows = forest.nodes[np.concatenate([nodes[is_final], open_nodes[~splits]])]
            kept = np.concatenate([samples[is_final], samples_old[~splits]])
            finals.append(np.stack([rows["group"], rows["start"], rows["stop"], kept]))
            nodes = children[splits].ravel()
            samples = rule.samples_kept(parts, samples_new)[splits].ravel()
            if progress is not None:
                still_open = np.count_nonzero(np.bincount(forest.nodes["group"][nodes]))
                progress(len(counts.groups) - int(still_open), len(counts.groups), SPLITTING)
    return np.concatenate(finals, axis=1)
