"""The parts that a cluster may be split into, each measured."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.splitting.forest import UNSPLIT, ClusterForest
from sampling.splitting.tree import Cluster
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
