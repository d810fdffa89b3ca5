"""What slack a bound leaves, used up: sizes are whole numbers, so a bound is seldom met exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sampling.allocation import FloatArray, IntArray
from sampling.priced_forest import summed_by_group

# Sums of the same numbers in another order differ by less; a budget of a share this small is no budget.
_ROUNDING = 1e-12


def within(variance: FloatArray, budget: FloatArray | float) -> NDArray[np.bool_]:
    """Return (k,) whether a variance is within its budget, but for rounding."""
    return np.asarray(variance <= np.multiply(budget, 1 + _ROUNDING))


def smaller_sizes(
    samples: IntArray,
    least: IntArray,
    mean_ns: FloatArray,
    spread: FloatArray,
    launches: IntArray,
    group: IntArray,
    group_budget: FloatArray,
    budget: float,
) -> IntArray:
    """Take samples away, those first that save most time for the variance they add, while both bounds hold.

    Parameters
    ----------
    samples, least : (s,) sizes that meet the budgets, and what no stratum may fall below.
    mean_ns, spread, launches, group : (s,) mean, N^2 S^2, N and kernel group of each stratum.
    group_budget : (groups,) the variance each group may have; inf where there is no such bound.
    budget : the variance all may have.

    Returns
    -------
    (s,) sizes, none larger than given.
    """
    samples = samples.copy()
    while True:
        variance = spread * (1 / samples - 1 / launches)
        room_of_group = group_budget - summed_by_group(group, variance, len(group_budget))
        room = budget - float(variance.sum())
        fewer = np.maximum(samples - 1, 1)
        added = spread * (1 / fewer - 1 / samples)
        possible = (samples > least) & (mean_ns > 0) & (added <= room_of_group[group]) & (added <= room)
        rows = np.flatnonzero(possible)
        if not len(rows):
            return samples
        worth = np.divide(mean_ns[rows], added[rows], out=np.full(len(rows), np.inf), where=added[rows] > 0)
        rows = rows[np.argsort(-worth, kind="stable")]
        # Of the affordable ones in this order, all up to where a budget is used up; at least the first.
        taken = _running_sum_by(group[rows], added[rows]) <= room_of_group[group[rows]]
        taken &= np.cumsum(np.where(taken, added[rows], 0)) <= room
        taken[0] = True
        samples[rows[taken]] -= 1


def _running_sum_by(group: IntArray, values: FloatArray) -> FloatArray:
    """Return (k,) the sum of the values of the same group up to and with each place."""
    order = np.argsort(group, kind="stable")
    sums = np.cumsum(values[order])
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    before = sums[first] - values[order][first]
    running = np.empty(len(values))
    running[order] = sums - np.repeat(before, np.diff(np.append(first, len(values))))
    return running
