"""Exact 1-D k-means on (duration, launches) pairs, sorted by duration; equal durations never part.

Ranges ``start:stop`` are of pairs; ``launches_before`` and ``time_before_ns`` (p + 1,) are prefix sums over
all of them, as `DurationCounts` has them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sampling.arrays import FloatArray, IntArray

# Scores this close (relative) may be equal but for rounding; they are compared again as exact fractions.
_NEARLY_EQUAL = 1e-12
#: Ranges are split in runs of so many pairs, whose working arrays fit the cache.
PAIRS_AT_ONCE = 1 << 18


def best_splits(
    launches_before: IntArray, time_before_ns: IntArray, start: IntArray, stop: IntArray
) -> IntArray:
    """Return (k,) where the right half of the best split of each range of two pairs or more begins.

    The least sum of squares within two clusters is the greatest between them,

        n1 n2 / (n1 + n2) (mu1 - mu2)^2,

    taken over every threshold between distinct durations. No square of a duration is summed, so nothing
    cancels. Of equal thresholds the lowest wins; ties are settled in exact integers.
    """
    best = np.empty(len(start), dtype=np.int64)
    run = np.cumsum(stop - start) // PAIRS_AT_ONCE
    for block in np.split(np.arange(len(start)), np.flatnonzero(np.diff(run)) + 1):
        if not len(block):
            break
        begin, end = start[block], stop[block]
        thresholds = end - begin - 1
        first = np.cumsum(thresholds) - thresholds
        position = np.repeat(begin + 1 - first, thresholds) + np.arange(int(thresholds.sum()))
        base_launches, base_time_ns = launches_before[begin], time_before_ns[begin]
        launches = launches_before[end] - base_launches
        # Times from the shortest duration on: of long launches that differ little, the means differ exactly.
        shortest_ns = (time_before_ns[begin + 1] - base_time_ns) // (
            launches_before[begin + 1] - base_launches
        )
        time_ns = time_before_ns[end] - base_time_ns - launches * shortest_ns
        left_launches = launches_before[position] - np.repeat(base_launches, thresholds)
        left_time_ns = time_before_ns[position] - np.repeat(base_time_ns, thresholds)
        left_time_ns -= left_launches * np.repeat(shortest_ns, thresholds)
        all_launches = np.repeat(launches, thresholds)
        right_launches = all_launches - left_launches
        distance_ns = left_time_ns / left_launches
        distance_ns -= (np.repeat(time_ns, thresholds) - left_time_ns) / right_launches
        between = (left_launches * (right_launches / all_launches)) * distance_ns**2
        enough = np.maximum.reduceat(between, first) * (1 - _NEARLY_EQUAL)
        candidates = np.flatnonzero(between >= np.repeat(enough, thresholds))
        of_range = np.searchsorted(first, candidates, side="right") - 1
        best[block[of_range]] = position[candidates]
        for tied in np.flatnonzero(np.bincount(of_range, minlength=len(block)) > 1).tolist():
            n, t, rows = int(launches[tied]), int(time_ns[tied]), candidates[of_range == tied]
            left = zip(left_launches[rows].tolist(), left_time_ns[rows].tolist(), strict=True)
            scores = [Fraction((n * t1 - n1 * t) ** 2, n1 * (n - n1)) for n1, t1 in left]
            best[block[tied]] = position[rows[scores.index(max(scores))]]
    return best


def best_partitions(
    launches_before: IntArray, time_before_ns: IntArray, start: int, stop: int, parts_limit: int
) -> list[tuple[int, ...]]:
    """Return the best partition of a range into k runs, k from 2 to ``parts_limit``, or to its pairs.

    A partition is its k - 1 inner bounds: the pairs where runs begin. The least sum of squares within runs is
    the greatest between them, sum_j n_j (mu_j - mu)^2. With B_k(i) the greatest for the first i pairs,

        B_k(i) = max over j < i of  B_{k-1}(j) + n (mu_ji - mu)^2,  n = n_i - n_j,  mu_ji = (t_i - t_j) / n,

    and the best j never falls as i grows, so each layer takes O(p log p). k = 2 is `best_splits`, whose ties
    are exact; for larger k ties are settled by rounding.
    """
    pairs = stop - start
    if pairs < 2:
        return []
    range_ends = np.array([start]), np.array([stop])
    partitions: list[tuple[int, ...]] = [(int(best_splits(launches_before, time_before_ns, *range_ends)[0]),)]
    if parts_limit == 2:
        return partitions
    launches = (launches_before[start : stop + 1] - launches_before[start]).astype(np.float64)
    mean_ns = (time_before_ns[stop] - time_before_ns[start]) / launches[-1]
    # Times are taken about the mean, so that only deviations are squared and no digits cancel.
    time_ns = (time_before_ns[start : stop + 1] - time_before_ns[start]) - launches * mean_ns
    score = np.concatenate([[-np.inf], time_ns[1:] ** 2 / launches[1:]])
    choices: list[IntArray] = []
    for runs in range(2, min(parts_limit, pairs) + 1):
        score, choice = _next_layer(launches, time_ns, score, runs)
        choices.append(choice)
        if runs > 2:
            bounds = [pairs]
            for layer in reversed(choices):
                bounds.append(int(layer[bounds[-1]]))
            partitions.append(tuple(start + bound for bound in reversed(bounds[1:])))
    return partitions


def _next_layer(
    launches: FloatArray, time_ns: FloatArray, score: FloatArray, runs: int
) -> tuple[FloatArray, IntArray]:
    """Return B_runs(i) and the best j for every i, given B_{runs-1}.

    Divide and conquer, one level at a time: between two ends whose best j are known, the best j of the end
    in the middle lies between theirs. All middles of a level are searched in one vectorised pass.
    """
    last = len(launches) - 1
    best, choice = np.full(last + 1, -np.inf), np.zeros(last + 1, dtype=np.int64)
    ranges = np.array([[runs, last, runs - 1, last - 1]], dtype=np.int64)
    while len(ranges):
        first, stop, low, high = ranges.T
        middle = (first + stop) // 2
        sizes = np.minimum(high, middle - 1) - low + 1
        begin = np.cumsum(sizes) - sizes
        candidates = np.repeat(low - begin, sizes) + np.arange(sizes.sum())
        ends = np.repeat(middle, sizes)
        off_ns = time_ns[ends] - time_ns[candidates]
        values = score[candidates] + off_ns**2 / (launches[ends] - launches[candidates])
        best[middle] = np.maximum.reduceat(values, begin)
        is_best = np.flatnonzero(values == best[ends])
        # Backwards, so that of equal ones the first is what stays.
        choice[ends[is_best[::-1]]] = candidates[is_best[::-1]]
        below = np.stack([first, middle - 1, low, choice[middle]], axis=1)
        above = np.stack([middle + 1, stop, choice[middle], high], axis=1)
        ranges = np.concatenate([below[first < middle], above[middle < stop]])
    return best, choice
