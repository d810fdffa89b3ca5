"""A split tree grown by a rule: one decision at a time, every decision kept, open to overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OverrideError
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.forest import UNSPLIT, ClusterForest
from sampling.splitting.rule import ClusterArrays, Proposal, SplitRule
from sampling.splitting.tree import Cluster, Share, SplitNode, SplitTree, Verdict, share_of
from sampling.splitting.two_means import best_split


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
