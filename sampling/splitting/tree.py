"""The split tree of a kernel group: its decisions, with what each weighed, and the clusters they lead to.

When to split: what a rule sees of a cluster, and what it says.

The 2-means trees of all kernel groups, grown many nodes at a time and kept as flat arrays.

The caller says which nodes to split. A node that is split once stays split, so a plan for another epsilon
starts from the trees of the last one.


A split tree grown by a rule: one decision at a time, every decision kept, open to overrides.

All kernel groups of a workload split by one rule."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary, proxy

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OverrideError
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.two_means import best_split, best_splits
from sampling.strata.strata import Clusters, Strata, measured_clusters
from sampling.text import Wording


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
    """All decisions of one kernel group, in pre-order: the first k nodes are the tree after k decisions.

    Attributes
    ----------
    by_halves : whether each node is cut by 2-means, so that a path names the same launches in every tree.
    """

    group: int
    nodes: tuple[SplitNode, ...]
    by_halves: bool = True

    @property
    def leaves(self) -> tuple[SplitNode, ...]:
        """The final clusters, shortest durations first."""
        return tuple(node for node in self.nodes if node.verdict is Verdict.KEEP)


@dataclass(frozen=True, slots=True)
class Share:
    """A cluster of a tree that is still growing, and the samples that the decision above gave it."""

    cluster: Cluster
    samples: int


def share_of(node: SplitNode) -> Share:
    """Return the cluster of a node, and its samples if kept."""
    cluster = Cluster(node.start, node.stop, node.launches, node.mean_ns, node.std_ns)
    return Share(cluster, node.samples_old)


_MOST_DECIMALS = 6


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

    @classmethod
    def of(cls, *clusters: Cluster) -> ClusterArrays:
        """Return the arrays (c,) of single clusters."""
        return cls(
            np.array([cluster.launches for cluster in clusters]),
            np.array([cluster.mean_ns for cluster in clusters]),
            np.array([cluster.std_ns for cluster in clusters]),
        )


@dataclass(frozen=True, slots=True)
class Halves:
    """Many clusters, each with its best two halves.

    Attributes
    ----------
    whole, samples_old : (k,) the clusters, and what each costs if kept.
    parts : (k, 2) left and right half.
    """

    whole: ClusterArrays
    samples_old: IntArray
    parts: ClusterArrays


class SplitRule(Protocol):
    """When to split. A rule sees one cluster at a time and never its relatives."""

    @property
    def enough(self) -> int:
        """A cluster that costs no more samples than this is kept without looking at its parts."""

    @property
    def most_parts(self) -> int:
        """How many parts one decision may make, 2 or more."""

    def samples_alone(self, clusters: ClusterArrays) -> IntArray:
        """Return how many samples each cluster costs by itself, as at the root of a group."""

    def samples_kept(self, share: Share) -> int:
        """Return how many samples a cluster costs if kept, given what the decision above allocated to it."""

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return the decision on a cluster that costs ``samples_old`` samples if kept.

        Parameters
        ----------
        partitions : its best partitions into 2, 3, ... parts, at most ``most_parts``; at least the first.
        """

    def halve(self, halves: Halves) -> tuple[BoolArray, IntArray]:
        """Return the decisions of `propose` on many clusters at once, each with its best two halves.

        Returns
        -------
        splits : (k,); samples_new : (k, 2) what each half costs by this decision.
        """

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


#: ``left`` of a node that has not been split yet.
UNSPLIT = -1

#: What progress calls it.
SPLITTING = "splitting kernel groups"

_Number = TypeVar("_Number", np.int64, np.float64)
_INTEGERS = ("group", "start", "stop", "launches", "left")
_FLOATS = ("mean_ns", "std_ns")


class ClusterForest:
    """One binary tree a kernel group; node i < groups is the root of group i.

    Nodes are only added, so a node's number never changes. Callers hold ``lock`` while they split.

    Attributes
    ----------
    group : (n,) of each node.
    start, stop : (n,) its pairs in the reduction.
    launches, mean_ns, std_ns : (n,) size, mean and population standard deviation.
    left : (n,) its left child, UNSPLIT where there is none; the right child is the next node.
    """

    def __init__(self, counts: DurationCounts) -> None:
        self.lock = threading.RLock()
        # Weak: the table of forests below must not keep a reduction alive through its own forest.
        self._counts: DurationCounts = proxy(counts)
        self._integers = np.zeros((len(_INTEGERS), 0), dtype=np.int64)
        self._floats = np.zeros((len(_FLOATS), 0))
        self._nodes = 0
        self._append(np.arange(len(counts.groups)), counts.offsets[:-1], counts.offsets[1:])

    @property
    def group(self) -> IntArray:
        """(n,) the kernel group of each node."""
        return self._integers[0, : self._nodes]

    @property
    def start(self) -> IntArray:
        """(n,) the first pair of each node."""
        return self._integers[1, : self._nodes]

    @property
    def stop(self) -> IntArray:
        """(n,) the pair after the last of each node."""
        return self._integers[2, : self._nodes]

    @property
    def launches(self) -> IntArray:
        """(n,) the size of each node."""
        return self._integers[3, : self._nodes]

    @property
    def left(self) -> IntArray:
        """(n,) the left child of each node, or UNSPLIT."""
        return self._integers[4, : self._nodes]

    @property
    def mean_ns(self) -> FloatArray:
        """(n,) the mean duration of each node."""
        return self._floats[0, : self._nodes]

    @property
    def std_ns(self) -> FloatArray:
        """(n,) the population standard deviation of each node."""
        return self._floats[1, : self._nodes]

    def splittable(self, nodes: IntArray) -> BoolArray:
        """Return whether each node has two distinct durations or more."""
        return np.asarray(self.stop[nodes] - self.start[nodes] > 1)

    def split(self, nodes: IntArray) -> None:
        """Give each of the (splittable) nodes its two children, the exact 2-means; those it has, it keeps."""
        nodes = nodes[self.left[nodes] == UNSPLIT]
        if not len(nodes):
            return
        counts = self._counts
        start, stop = self.start[nodes], self.stop[nodes]
        middle = best_splits(counts.launches_before, counts.time_before_ns, start, stop)
        left = self._nodes + 2 * np.arange(len(nodes))
        self._append(
            np.repeat(self.group[nodes], 2),
            np.stack([start, middle], axis=1).ravel(),
            np.stack([middle, stop], axis=1).ravel(),
        )
        self.left[nodes] = left

    def _append(self, group: IntArray, start: IntArray, stop: IntArray) -> None:
        counts = self._counts
        launches = counts.launches_before[stop] - counts.launches_before[start]
        time_ns = counts.time_before_ns[stop] - counts.time_before_ns[start]
        rows = slice(self._nodes, self._nodes + len(group))
        self._reserve(rows.stop)
        unsplit = np.full(len(group), UNSPLIT)
        self._integers[:, rows] = np.stack([group, start, stop, launches, unsplit])
        self._floats[:, rows] = np.stack([time_ns / launches, range_std_ns(counts, start, stop)])
        self._nodes = rows.stop

    def _reserve(self, nodes: int) -> None:
        if nodes > self._integers.shape[1]:
            room = max(nodes, 2 * self._integers.shape[1])
            self._integers = _with_room(self._integers, room)
            self._floats = _with_room(self._floats, room)


def _with_room(columns: NDArray[_Number], room: int) -> NDArray[_Number]:
    """Return the rows of an array, each with room for so many values."""
    larger = np.zeros((len(columns), room), dtype=columns.dtype)
    larger[:, : columns.shape[1]] = columns
    return larger


_FORESTS: WeakKeyDictionary[DurationCounts, ClusterForest] = WeakKeyDictionary()
_FORESTS_LOCK = threading.Lock()


def forest_of(counts: DurationCounts) -> ClusterForest:
    """Return the forest of a reduction, the same one every time while the reduction lives."""
    with _FORESTS_LOCK:
        forest = _FORESTS.get(counts)
        if forest is None:
            forest = _FORESTS[counts] = ClusterForest(counts)
        return forest


def report_split(progress: Progress, open_group: IntArray, groups: int) -> None:
    """Report how many of the groups are split to the end.

    Parameters
    ----------
    open_group : (k,) the group of each node that may be split yet.
    """
    progress(groups - int(np.count_nonzero(np.bincount(open_group, minlength=groups))), groups, SPLITTING)


def group_cluster(counts: DurationCounts, group: int) -> Cluster:
    """Return all of a kernel group as a cluster."""
    launches = int(counts.group_launches[group])
    return Cluster(
        int(counts.offsets[group]),
        int(counts.offsets[group + 1]),
        launches,
        int(counts.group_duration_ns[group]) / launches,
        float(counts.group_std_ns[group]),
    )


def measured_cluster(counts: DurationCounts, start: int, stop: int) -> Cluster:
    """Return the cluster of the pairs ``start:stop``."""
    launches = int(counts.launches_before[stop] - counts.launches_before[start])
    mean_ns = int(counts.time_before_ns[stop] - counts.time_before_ns[start]) / launches
    std_ns = float(range_std_ns(counts, np.array([start]), np.array([stop]))[0])
    return Cluster(start, stop, launches, mean_ns, std_ns)


def best_parts(counts: DurationCounts, cluster: Cluster, most_parts: int) -> list[tuple[Cluster, ...]]:
    """Return the best partitions of a cluster into 2, 3, ... parts: as many as it has durations for."""
    partitions = best_partitions(
        counts.launches_before, counts.time_before_ns, cluster.start, cluster.stop, most_parts
    )
    return [
        tuple(
            measured_cluster(counts, low, high)
            for low, high in pairwise((cluster.start, *bounds, cluster.stop))
        )
        for bounds in partitions
    ]


class ForestHalves:
    """The best halves of the clusters of one kernel group, looked up in the forest or split there.

    Parameters
    ----------
    root : all of the group.
    """

    def __init__(self, forest: ClusterForest, group: int, root: Cluster) -> None:
        self._forest = forest
        # A group's root has the group's number in the forest.
        self._number = {(root.start, root.stop): group}

    def of(self, cluster: Cluster) -> tuple[Cluster, ...]:
        """Return the two halves of the root, or of a half that was returned before."""
        forest, number = self._forest, self._number[cluster.start, cluster.stop]
        # Children are added before their parent points to them, so a split node can be read without the lock.
        if forest.left[number] == UNSPLIT:
            with forest.lock:
                forest.split(np.array([number]))
        left = int(forest.left[number])
        halves = tuple(_cluster(forest, half) for half in (left, left + 1))
        self._number |= {(half.start, half.stop): left + at for at, half in enumerate(halves)}
        return halves


def _cluster(forest: ClusterForest, node: int) -> Cluster:
    return Cluster(
        int(forest.start[node]),
        int(forest.stop[node]),
        int(forest.launches[node]),
        float(forest.mean_ns[node]),
        float(forest.std_ns[node]),
    )


def best_partitions(
    launches_before: IntArray, time_before_ns: IntArray, start: int, stop: int, most: int
) -> list[tuple[int, ...]]:
    """Return the best partition of the pairs ``start:stop`` into k runs, for k = 2 to ``most``.

    Fewer where there are fewer pairs. A partition is its k - 1 inner bounds: the pairs where runs begin.

    Parameters
    ----------
    launches_before, time_before_ns : (p + 1,) prefix sums over pairs sorted by duration, as
        `DurationCounts` has them.

    Notes
    -----
    The least sum of squares within runs is the greatest between them, sum_j n_j (mu_j - mu)^2. With B_k(i)
    the greatest for the first i pairs in k runs,

        B_k(i) = max over j < i of  B_{k-1}(j) + n (mu_ji - mu)^2,  n = n_i - n_j,  mu_ji = (t_i - t_j) / n,

    and the best j never falls as i grows, so each layer takes O(p log p). k = 2 is `best_split`, whose ties
    are exact; for larger k ties are settled by rounding.
    """
    middle = best_split(launches_before, time_before_ns, start, stop)
    if middle is None:
        return []
    partitions: list[tuple[int, ...]] = [(middle,)]
    pairs = stop - start
    if min(most, pairs) < 3:
        return partitions
    launches = (launches_before[start : stop + 1] - launches_before[start]).astype(np.float64)
    mean_ns = (time_before_ns[stop] - time_before_ns[start]) / launches[-1]
    # Times are taken about the mean, so that only deviations are squared and no digits cancel.
    time_ns = (time_before_ns[start : stop + 1] - time_before_ns[start]) - launches * mean_ns
    score = _between(launches, time_ns, np.zeros(pairs, dtype=np.int64), np.arange(1, pairs + 1))
    score = np.concatenate([[-np.inf], score])
    choices: list[IntArray] = []
    for runs in range(2, min(most, pairs) + 1):
        score, choice = _next_layer(launches, time_ns, score, runs)
        choices.append(choice)
        if runs > 2:
            partitions.append(_traced(choices, start))
    return partitions


def _between(launches: FloatArray, time_ns: FloatArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return n (mu - mean)^2 of the runs ``low:high``."""
    return np.asarray((time_ns[high] - time_ns[low]) ** 2 / (launches[high] - launches[low]))


def _next_layer(
    launches: FloatArray, time_ns: FloatArray, score: FloatArray, runs: int
) -> tuple[FloatArray, IntArray]:
    """Return B_runs(i) and the best j for every i, given B_{runs-1}.

    Divide and conquer, one level at a time: between two ends whose best j are known, the best j of the end
    in the middle lies between theirs. All middles of a level are searched in one vectorised pass.
    """
    last = len(launches) - 1
    best = np.full(last + 1, -np.inf)
    choice = np.zeros(last + 1, dtype=np.int64)
    ranges = np.array([[runs, last, runs - 1, last - 1]], dtype=np.int64)
    while len(ranges):
        first, stop, low, high = ranges.T
        middle = (first + stop) // 2
        top = np.minimum(high, middle - 1)
        sizes = top - low + 1
        begin = np.cumsum(sizes) - sizes
        candidates = np.repeat(low - begin, sizes) + np.arange(sizes.sum())
        ends = np.repeat(middle, sizes)
        values = score[candidates] + _between(launches, time_ns, candidates, ends)
        best[middle] = np.maximum.reduceat(values, begin)
        is_best = np.flatnonzero(values == np.repeat(best[middle], sizes))
        owner = np.repeat(np.arange(len(middle)), sizes)[is_best]
        choice[middle[owner[::-1]]] = candidates[is_best[::-1]]
        below = np.stack([first, middle - 1, low, choice[middle]], axis=1)
        above = np.stack([middle + 1, stop, choice[middle], high], axis=1)
        ranges = np.concatenate([below[first < middle], above[middle < stop]])
    return best, choice


def _traced(choices: list[IntArray], start: int) -> tuple[int, ...]:
    """Return the inner bounds of the whole, walked back through the layers' choices."""
    bounds = []
    end = len(choices[-1]) - 1
    for choice in reversed(choices):
        end = int(choice[end])
        bounds.append(start + end)
    return tuple(reversed(bounds))


@dataclass(frozen=True, slots=True)
class _Pending:
    """A cluster to decide on; with ``rest``, its split is decided already, by a split into several parts."""

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
        self._nodes: list[SplitNode] = []
        self._done: list[_Decision] = []
        self._next: _Decision | None = None
        root = group_cluster(counts, group)
        self._halves = None
        if forest is not None and rule.most_parts == 2:
            self._halves = ForestHalves(forest, group, root)
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
        final = [share_of(node) for node in self._nodes if node.verdict is Verdict.KEEP]
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
        OverrideError : an override names no node, or splits where all durations are equal.
        """
        while self.step() is not None:
            pass
        unused = set(self._overrides) - {node.path for node in self._nodes}
        if unused:
            raise no_such_node(self._counts, self._group, min(unused))
        return self.tree

    def _right_of(self, proposal: Proposal, path: str, index: int) -> _Pending:
        """Return what is right of the first part: the second, or all others as one that splits on."""
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
        """Return what becomes of a cluster: what the user says, or else the rule."""
        cluster, samples_old = pending.cluster, pending.samples_old
        if pending.rest is None:
            samples_old = self._rule.samples_kept(Share(cluster, samples_old))
        override = self._overrides.get(pending.path)
        proposal, reason = self._considered(pending, samples_old, must_split=override is Verdict.SPLIT)
        rule_verdict = proposal.verdict if proposal is not None else Verdict.KEEP
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

    def _considered(
        self, pending: _Pending, samples_old: int, *, must_split: bool
    ) -> tuple[Proposal | None, str]:
        """Return the split that the rule looks at, None where it looks at none, and what it says."""
        if pending.rest is not None:
            return pending.rest, pending.rest.reason
        cluster = pending.cluster
        settled = self._settled(cluster, samples_old)
        if settled is not None and not must_split:
            return None, settled
        if cluster.stop - cluster.start == 1:
            raise not_splittable(self._counts, self._group, pending.path)
        proposal = self._rule.propose(cluster, samples_old, self._partitions(cluster))
        return proposal, proposal.reason if settled is None else settled

    def _settled(self, cluster: Cluster, samples_old: int) -> str | None:
        """Return why a cluster is kept without looking at its parts; None where it is not."""
        if cluster.stop - cluster.start == 1:
            return "all durations are equal"
        if samples_old > self._rule.enough:
            return None
        return "1 sample is enough" if samples_old == 1 else f"{samples_old} samples are enough"

    def _longest_ns(self, cluster: Cluster) -> int:
        return int(self._counts.duration_ns[cluster.stop - 1])

    def _partitions(self, cluster: Cluster) -> list[tuple[Cluster, ...]]:
        if self._halves is not None:
            return [self._halves.of(cluster)]
        return best_parts(self._counts, cluster, self._rule.most_parts)


def no_such_node(counts: DurationCounts, group: int, path: str) -> OverrideError:
    """Return the error of a decision on a node that the group's tree does not have."""
    return OverrideError(
        f"the tree has no node {path!r} to override",
        key=counts.groups[group].key,
        group=group,
        path=path,
        remedy='a path is "" for the root, then L or R a step, as `kernelpoint tree` prints it',
    )


def not_splittable(counts: DurationCounts, group: int, path: str) -> OverrideError:
    """Return the error of a decision to split a node that has one duration alone."""
    return OverrideError(
        f"node {path!r} cannot be split: all its durations are equal",
        key=counts.groups[group].key,
        group=group,
        path=path,
    )


#: Group key -> path -> the user's decision.
Overrides = Mapping[str, Mapping[str, Verdict]]


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
    forest = forest_of(counts)
    with forest.lock:
        nodes, samples = groups, alone[groups]
        finals: list[IntArray] = []
        while len(nodes):
            is_final = (samples <= rule.enough) | ~forest.splittable(nodes)
            open_nodes, samples_old = nodes[~is_final], samples[~is_final]
            forest.split(open_nodes)
            children = np.stack([forest.left[open_nodes], forest.left[open_nodes] + 1], axis=1)
            halves = Halves(_clusters(forest, open_nodes), samples_old, _clusters(forest, children))
            splits, samples_new = rule.halve(halves)
            kept = np.concatenate([nodes[is_final], open_nodes[~splits]])
            kept_samples = np.concatenate([samples[is_final], samples_old[~splits]])
            finals.append(np.stack([forest.group[kept], forest.start[kept], forest.stop[kept], kept_samples]))
            if progress is not None:
                report_split(progress, forest.group[children[splits].ravel()], len(counts.groups))
            nodes, samples = children[splits].ravel(), samples_new[splits].ravel()
    return np.concatenate([np.zeros((4, 0), dtype=np.int64), *finals], axis=1)


def _clusters(forest: ClusterForest, nodes: IntArray) -> ClusterArrays:
    return ClusterArrays(forest.launches[nodes], forest.mean_ns[nodes], forest.std_ns[nodes])
