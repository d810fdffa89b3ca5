"""The cheapest strata of a kernel group at a price, among all that some boundaries allow.

A tree of halves never looks at most ways to cut a group's durations. Here all are looked at, by dynamic
programming over boundaries: those between all distinct durations where there are few, else those of the tree.
(docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.priced_forest import PricedForest, best_sizes
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import measured_clusters
from sampling.strata.variance import left_out, spread

#: Between so many distinct durations all boundaries are looked at, of more only so many of the tree's.
MOST_DURATIONS = 500
MOST_BOUNDARIES = 64
# Ranges between two boundaries that may be looked at, all groups together.
_MOST_RANGES = 1 << 18
_MOST_DOUBLINGS = 12


@dataclass(frozen=True, slots=True)
class Ranges:
    """All ranges between two boundaries, of kernel groups with about as many; (g, b (b + 1)/2) but for two.

    The ranges that end at the first boundary after the start come first, then those that end at the next.

    Attributes
    ----------
    group : (g,) the groups.
    boundary : (g, b + 1) pairs of the reduction; a group with fewer repeats its last.
    launches, mean_ns, spread : N, mu and, of simulated time, N^2 S^2 of the range from one boundary to
        another; N is 0 where there is none.
    """

    group: IntArray
    boundary: IntArray
    launches: IntArray
    mean_ns: FloatArray
    spread: FloatArray

    def cheapest(self, price: FloatArray, min_samples: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return group, start and stop of the strata that cost least at a price (g,), ordered by both."""
        launches, mean_ns = self.launches, self.mean_ns
        worth = np.divide(
            price[:, np.newaxis] * self.spread,
            mean_ns,
            out=np.zeros_like(mean_ns),
            where=mean_ns > 0,
        )
        samples = best_sizes(worth, np.minimum(min_samples, launches), launches)
        # From a boundary to the same again costs nothing, so that groups with fewer end with the others.
        cost = mean_ns * (samples + worth * left_out(np.maximum(samples, 1), np.maximum(launches, 1)))
        return self._found(_last_cuts(cost, self.boundary.shape[1]))

    def _found(self, came_from: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        groups, starts, stops = [], [], []
        at = np.full(len(self.group), self.boundary.shape[1] - 1)
        rows = np.arange(len(self.group))
        while len(rows):
            before = came_from[rows, at]
            is_real = self.boundary[rows, before] < self.boundary[rows, at]
            groups.append(self.group[rows[is_real]])
            starts.append(self.boundary[rows, before][is_real])
            stops.append(self.boundary[rows, at][is_real])
            rows, at = rows[before > 0], before[before > 0]
        start = np.concatenate(starts)
        order = np.argsort(start)
        return np.concatenate(groups)[order], start[order], np.concatenate(stops)[order]


def _last_cuts(cost: FloatArray, boundaries: int) -> IntArray:
    """Return (g, b + 1) where the last stratum starts of the cheapest that end at each boundary.

    least(j) = min over i < j of least(i) + cost(i, j)
    """
    least = np.zeros((len(cost), boundaries))
    came_from = np.zeros((len(cost), boundaries), dtype=np.int64)
    for last in range(1, boundaries):
        before = last * (last - 1) // 2
        costs = least[:, :last] + cost[:, before : before + last]
        came_from[:, last] = costs.argmin(axis=1)
        least[:, last] = costs.min(axis=1)
    return came_from


def ranges_of(
    counts: DurationCounts, priced: PricedForest, price: FloatArray, chosen: BoolArray, cycles: CycleSpread
) -> tuple[Ranges, ...]:
    """Return the ranges to look at, groups with about as many boundaries together.

    Parameters
    ----------
    price : (groups,) about which a group's tree gives its boundaries, where its durations are too many.
    chosen : (groups,) the groups to look at; where all are too many, those that cost most.
    """
    boundaries = _boundaries(counts, priced, price, chosen)
    by_size: dict[int, list[tuple[int, IntArray]]] = {}
    for group, boundary in boundaries:
        by_size.setdefault(int(len(boundary) - 1).bit_length(), []).append((group, boundary))
    return tuple(_ranges(counts, some, cycles) for some in by_size.values())


def _boundaries(
    counts: DurationCounts, priced: PricedForest, price: FloatArray, chosen: BoolArray
) -> list[tuple[int, IntArray]]:
    cost = np.where(chosen, priced.decisions(price).least[: priced.groups], 0.0)
    distinct = np.diff(counts.offsets)
    tree_group, tree_start = _starts_in_tree(priced, price)
    first = np.searchsorted(tree_group, np.arange(priced.groups + 1))
    found = []
    ranges = 0
    for group in np.argsort(-cost, kind="stable").tolist():
        if cost[group] <= 0 or ranges > _MOST_RANGES:
            break
        start, stop = int(counts.offsets[group]), int(counts.offsets[group + 1])
        if distinct[group] <= MOST_DURATIONS:
            boundary = np.arange(start, stop + 1)
        else:
            boundary = np.append(tree_start[first[group] : first[group + 1]], stop)
        if len(boundary) > 2:
            found.append((group, boundary))
            ranges += len(boundary) ** 2 // 2
    return found


def _starts_in_tree(priced: PricedForest, price: FloatArray) -> tuple[IntArray, IntArray]:
    """Return group and start of strata of each tree, at a price that gives many but not too many."""
    taken = np.zeros(priced.groups, dtype=np.bool_)
    groups, starts = [], []
    for power in range(_MOST_DOUBLINGS, -_MOST_DOUBLINGS - 1, -2):
        rows = priced.cut(price * 2.0**power).rows
        group = priced.group[rows]
        fits = (np.bincount(group, minlength=priced.groups) <= MOST_BOUNDARIES) & ~taken
        kept = rows[fits[group]]
        groups.append(priced.group[kept])
        starts.append(priced.start[kept])
        taken |= fits
    group, start = np.concatenate(groups), np.concatenate(starts)
    order = np.argsort(start, kind="stable")
    return group[order], start[order]


def _ranges(counts: DurationCounts, boundaries: list[tuple[int, IntArray]], cycles: CycleSpread) -> Ranges:
    """Return the ranges between the boundaries of some groups.

    Sums of squares are about each group's mean: what a narrow range loses to cancellation is nothing beside
    the spread of its group.
    """
    group = np.array([group for group, _ in boundaries])
    size = max(len(boundary) for _, boundary in boundaries)
    boundary = np.stack([np.pad(each, (0, size - len(each)), mode="edge") for _, each in boundaries])
    start, stop = boundary[:, :-1], boundary[:, 1:]
    real = start < stop
    clusters = measured_clusters(counts, np.repeat(group, size - 1)[real.ravel()], start[real], stop[real])
    centre_ns = counts.group_duration_ns[group] / counts.group_launches[group]

    def added_up(values: FloatArray) -> FloatArray:
        sums = np.zeros(boundary.shape)
        sums[:, 1:][real] = values
        return np.cumsum(sums, axis=1)

    off_ns = clusters.mean_ns - np.repeat(centre_ns, real.sum(axis=1))
    launches = counts.launches_before[boundary]
    off = added_up(clusters.launches * off_ns)
    squares = added_up(clusters.launches * (clusters.std_ns**2 + off_ns**2))
    last, first = np.tril_indices(size, -1)
    size_of = launches[:, last] - launches[:, first]
    some = np.maximum(size_of, 1)
    mean_off = (off[:, last] - off[:, first]) / some
    variance = np.maximum((squares[:, last] - squares[:, first]) / some - mean_off**2, 0)
    mean_ns = np.where(size_of > 0, centre_ns[:, np.newaxis] + mean_off, 0.0)
    simulated = cycles.variance(group[:, np.newaxis], size_of, mean_ns, np.sqrt(variance))
    return Ranges(group, boundary, size_of, mean_ns, spread(size_of, simulated))
