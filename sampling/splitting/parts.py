"""The parts that a cluster may be split into, each measured."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.forest import UNSPLIT, ClusterForest
from sampling.splitting.k_means import best_partitions
from sampling.splitting.tree import Cluster


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
