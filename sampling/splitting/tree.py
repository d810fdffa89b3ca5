"""The split tree of a kernel group: its decisions, with what each weighed, and the clusters they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
