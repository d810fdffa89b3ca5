"""Exact 1-D 2-means on (duration, launches) pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from sampling.arrays import IntArray

# Scores this close (relative) may be equal but for rounding; they are compared again as exact fractions.
_NEARLY_EQUAL = 1e-12
PAIRS_AT_ONCE = 1 << 18


def best_split(launches_before: IntArray, time_before_ns: IntArray, start: int, stop: int) -> int | None:
    """Return the pair where the right half of the best split of ``start:stop`` begins.

    None if it is a single pair.

    Parameters
    ----------
    launches_before, time_before_ns : (p + 1,) prefix sums over pairs sorted by duration, as
        `DurationCounts` has them.

    Notes
    -----
    The least sum of squares within two clusters is the greatest between them,

        n1 n2 / (n1 + n2) (mu1 - mu2)^2,

    taken over every threshold between distinct durations (equal durations never part). No square of a
    duration is summed, so nothing cancels. Of equal thresholds the lowest wins; ties are settled in exact
    integers.
    """
    if stop - start < 2:
        return None
    left_launches = launches_before[start + 1 : stop] - launches_before[start]
    left_time_ns = time_before_ns[start + 1 : stop] - time_before_ns[start]
    launches = int(launches_before[stop] - launches_before[start])
    time_ns = int(time_before_ns[stop] - time_before_ns[start])
    # Times from the shortest duration on: of long launches that differ little, the means differ exactly.
    shortest_ns = left_time_ns[0] // left_launches[0]
    left_time_ns = left_time_ns - left_launches * shortest_ns
    time_ns -= launches * int(shortest_ns)
    right_launches = launches - left_launches
    distance_ns = left_time_ns / left_launches - (time_ns - left_time_ns) / right_launches
    between = (left_launches * (right_launches / launches)) * distance_ns**2
    candidates = np.flatnonzero(between >= between.max() * (1 - _NEARLY_EQUAL))
    best = max(
        candidates.tolist(),
        key=lambda at: (_exact_score(int(left_launches[at]), int(left_time_ns[at]), launches, time_ns), -at),
    )
    return start + 1 + int(best)


def _exact_score(left_launches: int, left_time_ns: int, launches: int, time_ns: int) -> Fraction:
    """Return the sum of squares between the halves, times the (constant) number of launches."""
    numerator = (launches * left_time_ns - left_launches * time_ns) ** 2
    return Fraction(numerator, left_launches * (launches - left_launches))


def best_splits(
    launches_before: IntArray,
    time_before_ns: IntArray,
    start: IntArray,
    stop: IntArray,
) -> IntArray:
    """Return `best_split` of each of many ranges of two pairs or more: (k,), the same answers.

    Parameters
    ----------
    start, stop : (k,) the ranges; they may overlap.
    """
    found = np.empty(len(start), dtype=np.int64)
    for part in _parts(stop - start):
        found[part] = _best_splits_at_once(launches_before, time_before_ns, start[part], stop[part])
    return found


def _parts(pairs: IntArray) -> list[slice]:
    """Cut the ranges into runs of a few hundred thousand pairs, whose working arrays fit the cache."""
    part = np.cumsum(pairs) // PAIRS_AT_ONCE
    bounds = np.flatnonzero(np.diff(part, prepend=-1, append=part[-1] + 1 if len(part) else 0))
    return [slice(low, high) for low, high in pairwise(bounds.tolist())]


def _best_splits_at_once(
    launches_before: IntArray,
    time_before_ns: IntArray,
    start: IntArray,
    stop: IntArray,
) -> IntArray:
    thresholds = stop - start - 1
    first = np.cumsum(thresholds) - thresholds
    at = np.repeat(start + 1 - first, thresholds) + np.arange(int(thresholds.sum()))
    base_launches, base_time_ns = launches_before[start], time_before_ns[start]
    launches = launches_before[stop] - base_launches
    shortest_ns = (time_before_ns[start + 1] - base_time_ns) // (launches_before[start + 1] - base_launches)
    time_ns = time_before_ns[stop] - base_time_ns - launches * shortest_ns
    left_launches = launches_before[at] - np.repeat(base_launches, thresholds)
    left_time_ns = time_before_ns[at] - np.repeat(base_time_ns, thresholds)
    left_time_ns -= left_launches * np.repeat(shortest_ns, thresholds)
    all_launches = np.repeat(launches, thresholds)
    right_launches = all_launches - left_launches
    distance_ns = left_time_ns / left_launches
    distance_ns -= (np.repeat(time_ns, thresholds) - left_time_ns) / right_launches
    between = (left_launches * (right_launches / all_launches)) * distance_ns**2
    enough = np.maximum.reduceat(between, first) * (1 - _NEARLY_EQUAL)
    candidates = np.flatnonzero(between >= np.repeat(enough, thresholds))
    of_range = np.searchsorted(first, candidates, side="right") - 1
    found = np.empty(len(start), dtype=np.int64)
    found[of_range] = at[candidates]
    for tied in np.flatnonzero(np.bincount(of_range, minlength=len(start)) > 1).tolist():
        place = best_split(launches_before, time_before_ns, int(start[tied]), int(stop[tied]))
        assert place is not None
        found[tied] = place
    return found
