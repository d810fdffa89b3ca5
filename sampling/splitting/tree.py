"""How kernel groups are split: the rule, the tree that it grows in each, and all groups at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from msgspec import Meta

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OverrideError
from sampling.parallel import Progress
from sampling.record import Amount, Count, Index, Nanoseconds, Record
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.two_means import best_partitions, best_splits
from sampling.strata.strata import Clusters, Strata, measured_clusters
from sampling.text import Wording

#: What progress calls it.
SPLITTING = "splitting kernel groups"
_MOST_DECIMALS = 6


class Verdict(StrEnum):
    """What becomes of a node."""

    SPLIT = "split"
    KEEP = "keep"


#: Group key -> path -> the user's decision.
Overrides = Mapping[str, Mapping[str, Verdict]]


@dataclass(frozen=True, slots=True)
class SplitNode:
    """One decision, on the pairs ``start:stop`` of the reduction.

    ``index`` is its place in the pre-order tuple, as are ``left`` and ``right`` of its children; ``path`` the
    way down from the root, e.g. "LRL". Kept whole it costs ``samples_old``, in parts ``samples_new``: None
    where no split was looked at. Of more than two parts the first is the left child, and the others are split
    off one by one down the right; ``threshold_ns`` is the largest duration of the left part.
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
    #: Why, in words and numbers; and whether the user decided.
    reason: str
    left: int | None = None
    right: int | None = None
    overridden: bool = False


class SplitDecision(Record, frozen=True):
    """A `SplitNode` without its place in the reduction; children that are not decided yet are None."""

    index: Index
    depth: Index
    #: The way down from the root, as "LRL".
    path: Annotated[str, Meta(pattern="^[LR]*$")]
    launches: Count
    mean_ns: Amount
    std_ns: Amount
    #: The largest duration of the left child.
    threshold_ns: Nanoseconds | None
    samples_old: Count
    tau_old_ns: Amount
    samples_new: tuple[Count, ...] | None
    tau_new_ns: Amount | None
    verdict: Verdict
    reason: str
    left: Count | None
    right: Count | None
    overridden: bool
    #: Of the kernel group.
    key: str


def list_decisions(nodes: Sequence[SplitNode], key: str) -> list[SplitDecision]:
    """Return the decisions so far on the kernel group of a key, in pre-order."""
    return [
        SplitDecision.from_attributes(
            node,
            reason=str(node.reason),
            left=node.left if node.left is not None and node.left < len(nodes) else None,
            key=key,
        )
        for node in nodes
    ]


@dataclass(frozen=True, slots=True)
class SplitTree:
    """All decisions of one kernel group, in pre-order: the first k nodes are the tree after k decisions."""

    group: int
    nodes: tuple[SplitNode, ...]

    @property
    def leaves(self) -> tuple[SplitNode, ...]:
        """The final clusters, shortest durations first."""
        return tuple(node for node in self.nodes if node.verdict is Verdict.KEEP)


class Decided(NamedTuple):
    """What a rule makes of clusters (k,) and of p parts of each: whether to split, and the costs."""

    #: (k,) and (k, p), the samples of each part.
    splits: BoolArray
    samples_new: IntArray
    #: (k,) sampled time, whole and in parts.
    tau_old_ns: FloatArray
    tau_new_ns: FloatArray


class Proposal(NamedTuple):
    """What a rule makes of one cluster: parts, the samples of each, sampled times, verdict and reason."""

    parts: Clusters
    samples_new: tuple[int, ...]
    tau_old_ns: float
    tau_new_ns: float
    verdict: Verdict
    reason: str = ""


class SplitRule(Protocol):
    """When to split. A rule sees clusters (k,), their parts (k, p), and never their relatives."""

    @property
    def enough(self) -> int:
        """A cluster that costs no more samples than this is kept without looking at its parts."""

    @property
    def most_parts(self) -> int:
        """How many parts one decision may make, 2 or more."""

    def samples_alone(self, clusters: Clusters) -> IntArray:
        """Return how many samples each cluster costs by itself, as at the root of a group."""

    def samples_kept(self, clusters: Clusters, samples: IntArray, /) -> IntArray:
        """Return how many samples each costs if kept, given what the decision above allocated to it."""

    def decide(self, parent: Clusters, samples_old: IntArray, parts: Clusters) -> Decided:
        """Return the decision on clusters that cost ``samples_old`` samples if kept."""

    def reason(self, parent: Clusters, samples_old: int, proposal: Proposal, /) -> str:
        """Return why one cluster was decided on so, in words and numbers."""

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return final clusters with sizes, from what the decision above allocated to each (s,)."""


def costs_in_words(one_ns: float, other_ns: float) -> tuple[str, str]:
    """Return two times in nanoseconds, with the decimals that tell them apart; none where they are equal."""
    for decimals in range(_MOST_DECIMALS + 1):
        first_text, second_text = (f"{ns:,.{decimals}f} ns" for ns in (one_ns, other_ns))
        if first_text != second_text:
            return first_text, second_text
    return f"{one_ns:,.0f} ns", f"{other_ns:,.0f} ns"


class _Open(NamedTuple):
    """A cluster to decide on; with ``rest``, its split is decided already, by a split into several parts."""

    cluster: Clusters
    path: str
    samples: int
    rest: Proposal | None = None


class TreeGrower:
    """Grows one group's tree: `step` takes the next decision in pre-order, `undo` takes the last one back.

    ``overrides``, path -> verdict, are the user's decisions in place of the rule's.
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
        root = self._measured(counts.offsets[[group]], counts.offsets[[group + 1]])
        self._nodes: list[SplitNode] = []
        # What is to be decided on after 0, 1, ... decisions, what comes next last.
        self._open: list[tuple[_Open, ...]] = [(_Open(root, "", int(rule.samples_alone(root)[0])),)]
        self._next: tuple[SplitNode, tuple[_Open, ...]] | None = None

    @property
    def steps_done(self) -> int:
        """How many decisions have been taken."""
        return len(self._nodes)

    @property
    def tree(self) -> SplitTree:
        """The decisions so far."""
        place = {node.path: node.index for node in self._nodes}
        linked = [
            replace(node, left=node.index + 1, right=place.get(node.path + "R"))
            if node.verdict is Verdict.SPLIT
            else node
            for node in self._nodes
        ]
        return SplitTree(self._group, tuple(linked))

    @property
    def pending(self) -> SplitNode | None:
        """The decision that `step` takes next; None when there is none left."""
        if self._next is None and self._open[-1]:
            self._next = self._decision()
        return None if self._next is None else self._next[0]

    @property
    def clusters(self) -> tuple[Clusters, IntArray]:
        """The clusters that the decisions so far lead to, decided or not, and the samples each was given."""
        rows = [(node.start, node.stop, node.samples_old) for node in self.tree.leaves]
        for cluster, _, size, _ in self._open[-1]:
            rows.append((int(cluster.start[0]), int(cluster.stop[0]), size))
        start, stop, samples = np.array(sorted(rows), dtype=np.int64).T
        return self._measured(start, stop), samples

    def step(self) -> SplitNode | None:
        """Take the next decision; None when there is none left."""
        pending = self.pending
        if self._next is not None:
            self._nodes.append(self._next[0])
            self._open.append(self._next[1])
            self._next = None
        return pending

    def undo(self) -> bool:
        """Take back the last decision, which is pending again; False when there is none."""
        if not self._nodes:
            return False
        self._next = self._nodes.pop(), self._open.pop()
        return True

    def run(self) -> SplitTree:
        """Take all decisions that are left; OverrideError where an override fits no node."""
        while self.step() is not None:
            pass
        if unused := set(self._overrides) - {node.path for node in self._nodes}:
            remedy = 'a path is "" for the root, then L or R a step, as `kernelpoint tree` prints it'
            raise self._error(f"the tree has no node {min(unused)!r} to override", min(unused), remedy)
        return self.tree

    def _error(self, message: str, path: str, remedy: str | None = None) -> OverrideError:
        key = self._counts.groups[self._group].key
        return OverrideError(message, key=key, group=self._group, path=path, remedy=remedy)

    def _measured(self, start: IntArray, stop: IntArray) -> Clusters:
        return measured_clusters(self._counts, np.full(start.shape, self._group), start, stop)

    def _decision(self) -> tuple[SplitNode, tuple[_Open, ...]]:
        """Return the next decision, the user's or else the rule's, and what is to be decided on after it."""
        *pending, (cluster, path, samples_old, proposal) = self._open[-1]
        override, rule, settled = self._overrides.get(path), self._rule, None
        start, stop = int(cluster.start[0]), int(cluster.stop[0])
        if proposal is None:
            samples_old = int(rule.samples_kept(cluster, np.array([samples_old]))[0])
            if stop - start == 1:
                settled = "all durations are equal"
            elif samples_old <= rule.enough:
                settled = "1 sample is enough" if samples_old == 1 else f"{samples_old} samples are enough"
            if settled is None or override is Verdict.SPLIT:
                proposal = self._proposed(cluster, samples_old, path)
        verdict, reason, mean_ns = Verdict.KEEP, settled or "", float(cluster.mean_ns[0])
        tau_old_ns, threshold_ns = samples_old * mean_ns, None
        if proposal is not None:
            verdict, reason, tau_old_ns = proposal.verdict, settled or proposal.reason, proposal.tau_old_ns
            threshold_ns = int(self._counts.duration_ns[proposal.parts.stop[0] - 1])
        if override is not None:
            verdict, reason = override, f"decided by the user ({override}); the rule: {verdict}, {reason}"
        node = SplitNode(
            index=len(self._nodes),
            depth=len(path),
            path=path,
            start=start,
            stop=stop,
            launches=int(cluster.launches[0]),
            mean_ns=mean_ns,
            std_ns=float(cluster.std_ns[0]),
            threshold_ns=threshold_ns,
            samples_old=samples_old,
            tau_old_ns=tau_old_ns,
            samples_new=None if proposal is None else proposal.samples_new,
            tau_new_ns=None if proposal is None else proposal.tau_new_ns,
            verdict=verdict,
            reason=reason,
            overridden=override is not None,
        )
        if verdict is Verdict.SPLIT and proposal is not None:
            left = _Open(proposal.parts.rows(slice(0, 1)), path + "L", proposal.samples_new[0])
            pending += [self._open_right(proposal, path + "R"), left]
        return node, tuple(pending)

    def _open_right(self, proposal: Proposal, path: str) -> _Open:
        """Return what is right of the first part: the second, or all others as one that splits on."""
        parts, samples = proposal.parts.rows(slice(1, None)), proposal.samples_new[1:]
        if len(samples) == 1:
            return _Open(parts, path, samples[0])
        tau_ns = float(sum(m * mean_ns for m, mean_ns in zip(samples, parts.mean_ns.tolist(), strict=True)))
        reason = f"{len(samples)} of the parts of the split above"
        rest = Proposal(parts, samples, tau_ns, tau_ns, Verdict.SPLIT, reason)
        return _Open(self._measured(parts.start[:1], parts.stop[-1:]), path, sum(samples), rest)

    def _proposed(self, cluster: Clusters, samples_old: int, path: str) -> Proposal:
        """Return what the rule makes of the partition that costs least, of the best into 2, 3, ... parts."""
        counts, rule, (start, stop) = self._counts, self._rule, (int(cluster.start[0]), int(cluster.stop[0]))
        if stop - start == 1:
            raise self._error(f"node {path!r} cannot be split: all its durations are equal", path)
        before, proposals = (counts.launches_before, counts.time_before_ns), []
        for inner in best_partitions(*before, start, stop, rule.most_parts):
            bounds = np.array([[start, *inner, stop]])
            parts = self._measured(bounds[:, :-1], bounds[:, 1:])
            proposals.append((parts.rows(0), rule.decide(cluster, np.array([samples_old]), parts)))
        parts, best = min(proposals, key=lambda proposal: float(proposal[1].tau_new_ns[0]))
        costs_ns, sizes = (float(best.tau_old_ns[0]), float(best.tau_new_ns[0])), best.samples_new[0].tolist()
        proposal = Proposal(parts, tuple(sizes), *costs_ns, Verdict.SPLIT if best.splits[0] else Verdict.KEEP)
        return proposal._replace(reason=rule.reason(cluster, samples_old, proposal))


def split_groups(
    counts: DurationCounts,
    rule: SplitRule,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> tuple[Clusters, IntArray]:
    """Return the final clusters of every group, and (s,) the samples each costs by the decision above it.

    Where a decision makes two parts, all groups are split at once, level by level; with more parts, or where
    the user has decided, one by one. OverrideError: an override fits no group or node.
    """
    overrides, groups = overrides or {}, np.arange(len(counts.groups))
    singly = set(groups_overridden(counts, overrides).tolist())
    roots = measured_clusters(counts, groups, counts.offsets[:-1], counts.offsets[1:])
    samples_alone = rule.samples_alone(roots)
    if rule.most_parts > 2:
        singly |= set(np.flatnonzero((samples_alone > rule.enough) & (np.diff(counts.offsets) > 1)).tolist())
    at_once = ~np.isin(groups, list(singly))
    finals = _split_at_once(counts, rule, roots.rows(at_once), samples_alone[at_once], progress)
    for finished, group in enumerate(sorted(singly)):
        tree = TreeGrower(counts, group, rule, overrides.get(counts.groups[group].key)).run()
        leaves = [(group, leaf.start, leaf.stop, leaf.samples_old) for leaf in tree.leaves]
        finals.append(np.array(leaves, dtype=np.int64).T)
        if progress is not None:
            progress(finished + 1, len(singly), SPLITTING)
    group_of, start, stop, samples = np.concatenate(finals, axis=1)
    order = np.argsort(start)
    return measured_clusters(counts, group_of[order], start[order], stop[order]), samples[order]


def _split_at_once(
    counts: DurationCounts, rule: SplitRule, clusters: Clusters, samples: IntArray, progress: Progress | None
) -> list[IntArray]:
    """Return (4, any) group, start, stop and samples of final clusters, as `TreeGrower` decides on them."""
    finals = [np.zeros((4, 0), dtype=np.int64)]

    def keep(clusters: Clusters, samples: IntArray) -> None:
        finals.append(np.stack([clusters.group, clusters.start, clusters.stop, samples]))

    while len(samples):
        is_final = (samples <= rule.enough) | (clusters.stop - clusters.start == 1)
        keep(clusters.rows(is_final), samples[is_final])
        clusters, samples = clusters.rows(~is_final), samples[~is_final]
        middle = best_splits(counts.launches_before, counts.time_before_ns, clusters.start, clusters.stop)
        start, stop = (np.stack(ends, axis=1) for ends in ((clusters.start, middle), (middle, clusters.stop)))
        halves = measured_clusters(counts, np.stack([clusters.group] * 2, axis=1), start, stop)
        splits, samples_new, *_ = rule.decide(clusters, samples, halves)
        keep(clusters.rows(~splits), samples[~splits])
        samples = rule.samples_kept(halves, samples_new)[splits].ravel()
        clusters = halves.rows(splits)
        if progress is not None:
            still_open = int(np.count_nonzero(np.bincount(clusters.group)))
            progress(len(counts.groups) - still_open, len(counts.groups), SPLITTING)
    return finals


def groups_overridden(counts: DurationCounts, overrides: Overrides) -> IntArray:
    """Return the kernel groups that the user decided on, ascending; OverrideError where one is not there."""
    index_of_key = {group.key: index for index, group in enumerate(counts.groups)} if overrides else {}
    if unknown := [key for key in overrides if key not in index_of_key]:
        message = "an override names a kernel group that is not in this profile"
        remedy = Wording("keys are of one `group_by`; `kernelpoint groups --format json` lists them")
        raise OverrideError(message, key=unknown[0], remedy=remedy)
    return np.array(sorted(index_of_key[key] for key in overrides), dtype=np.int64)
