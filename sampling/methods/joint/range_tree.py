"""The split tree of a kernel group whose strata were found all at once, as a person can walk through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.methods.joint.priced_forest import best_sizes
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.rule import costs_in_words
from sampling.splitting.tree import SplitNode, SplitTree, Verdict
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Clusters, measured_clusters
from sampling.strata.target import Target
from sampling.strata.variance import left_out, spread


def tree_of_ranges(
    counts: DurationCounts,
    target: Target,
    cycles: CycleSpread,
    strata: Clusters,
    price: float,
    group: int,
) -> SplitTree:
    """Return the strata of a group as a tree: each node is cut where its halves are farthest apart.

    Parameters
    ----------
    strata : of all groups; price : of variance in this group, at which these strata cost least.
    """
    here = strata.group == group
    return _TreeOfRanges(counts, target, cycles, price, group, strata.start[here], strata.stop[here]).tree()


class _TreeOfRanges:
    """Writes down the tree in pre-order."""

    def __init__(
        self,
        counts: DurationCounts,
        target: Target,
        cycles: CycleSpread,
        price: float,
        group: int,
        start: IntArray,
        stop: IntArray,
    ) -> None:
        self._counts, self._target, self._cycles = counts, target, cycles
        self._price, self._group = price, group
        self._start, self._stop = start, stop
        self._nodes: list[SplitNode] = []

    def tree(self) -> SplitTree:
        self._visit(0, len(self._start), "", None)
        return SplitTree(self._group, tuple(self._nodes), by_halves=False)

    def _visit(self, first: int, last: int, path: str, parent: int | None) -> None:
        """Write down the node of the strata ``first:last`` and those below it."""
        index = len(self._nodes)
        if parent is not None and path.endswith("R"):
            self._nodes[parent] = replace(self._nodes[parent], right=index)
        middle = self._middle(first, last) if last - first > 1 else None
        self._nodes.append(self._node(first, middle, last, path, index))
        if middle is not None:
            self._visit(first, middle, path + "L", index)
            self._visit(middle, last, path + "R", index)

    def _middle(self, first: int, last: int) -> int:
        """Return the stratum that starts the right half: where n1 n2/(n1 + n2) (mu1 - mu2)^2 is largest."""
        before = self._counts.launches_before[self._start[first + 1 : last]]
        time_before_ns = self._counts.time_before_ns[self._start[first + 1 : last]]
        start, stop = self._start[first], self._stop[last - 1]
        left = before - self._counts.launches_before[start]
        right = self._counts.launches_before[stop] - before
        left_ns = (time_before_ns - self._counts.time_before_ns[start]) / left
        right_ns = (self._counts.time_before_ns[stop] - time_before_ns) / right
        between = left * (right / (left + right)) * (left_ns - right_ns) ** 2
        return first + 1 + int(np.argmax(between))

    def _priced(self, start: IntArray, stop: IntArray) -> tuple[Clusters, IntArray, FloatArray]:
        """Return ranges as clusters, the sizes that cost least, and what they cost, variance priced in."""
        clusters = measured_clusters(self._counts, np.full(len(start), self._group), start, stop)
        wide = spread(clusters.launches, self._cycles.of(clusters))
        worth = np.divide(self._price * wide, clusters.mean_ns, out=np.zeros(len(wide)), where=wide > 0)
        least = np.minimum(self._target.min_samples, clusters.launches)
        samples = best_sizes(worth, least, clusters.launches)
        cost = clusters.mean_ns * (samples + worth * left_out(samples, clusters.launches))
        return clusters, samples, cost

    def _node(self, first: int, middle: int | None, last: int, path: str, index: int) -> SplitNode:
        ends = [first, last] if middle is None else [first, middle, last]
        start = self._start[[first, *ends[:-1]]]
        stop = self._stop[np.array([last, *ends[1:]]) - 1]
        clusters, samples, cost = self._priced(start, stop)
        mean_ns, size = float(clusters.mean_ns[0]), int(samples[0])
        parts = None if middle is None else (int(samples[1]), int(samples[2]))
        below = float(self._priced(self._start[first:last], self._stop[first:last])[2].sum())
        return SplitNode(
            index=index,
            depth=len(path),
            path=path,
            start=int(start[0]),
            stop=int(stop[0]),
            launches=int(clusters.launches[0]),
            mean_ns=mean_ns,
            std_ns=float(clusters.std_ns[0]),
            threshold_ns=None if middle is None else int(self._counts.duration_ns[stop[1] - 1]),
            samples_old=size,
            tau_old_ns=size * mean_ns,
            samples_new=parts,
            tau_new_ns=None if parts is None else float(np.dot(parts, clusters.mean_ns[1:])),
            verdict=Verdict.KEEP if middle is None else Verdict.SPLIT,
            reason=_reason(float(cost[0]), below, last - first),
            left=None if middle is None else index + 1,
        )


def _reason(whole_ns: float, below_ns: float, strata: int) -> str:
    if strata == 1:
        return "one of the strata that cost least together at this price, of all that its durations allow"
    whole, parts = costs_in_words(whole_ns, below_ns)
    return f"whole it costs {whole}, its variance priced in, as the {strata} strata below {parts}"
