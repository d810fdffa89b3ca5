"""Sizes lowered by the variance that the bounds leave to spare.

Sizes are whole numbers, so strata seldom have all the variance that their bounds allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.strata.variance import left_out, summed_by_group

# Sums of the same numbers in another order differ by less than this share.
_ROUNDING = 1e-12


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
    budgets = _Budgets(spread, launches, group, group_budget, budget)
    samples = _jumped(samples, least, mean_ns, budgets)
    while True:
        spare_of_group, spare = budgets.spare(samples)
        fewer = np.maximum(samples - 1, 1)
        added = spread * left_out(fewer, samples)
        possible = (samples > least) & (mean_ns > 0) & (added <= spare_of_group[group]) & (added <= spare)
        rows = np.flatnonzero(possible)
        if not len(rows):
            return samples
        # Least variance added for the time saved first.
        rows = rows[np.argsort(added[rows] / mean_ns[rows], kind="stable")]
        # Of the affordable ones in this order, all up to where a budget is used up; at least the first.
        # Shares of it are summed, not variances: groups may differ by more digits than a double has.
        spare_here = spare_of_group[group[rows]]
        share = np.divide(added[rows], spare_here, out=np.zeros(len(rows)), where=added[rows] > 0)
        taken = _running_sum_by(group[rows], share) <= 1
        taken &= np.cumsum(np.where(taken, added[rows], 0)) <= spare
        taken[0] = True
        samples[rows[taken]] -= 1


@dataclass(frozen=True, slots=True)
class _Budgets:
    """The strata's spreads and sizes, and the variance that groups and all of them may have."""

    spread: FloatArray
    launches: IntArray
    group: IntArray
    group_budget: FloatArray
    budget: float

    def spare(self, samples: IntArray) -> tuple[FloatArray, float]:
        """Return (groups,) the variance each group's budget leaves, and what the common budget leaves."""
        variance = self.spread * left_out(samples, self.launches)
        of_group = summed_by_group(self.group, variance, len(self.group_budget))
        return self.group_budget - of_group, self.budget - float(variance.sum())


def _jumped(samples: IntArray, least: IntArray, mean_ns: FloatArray, budgets: _Budgets) -> IntArray:
    """Return sizes lowered until no stratum can use up an equal part of the variance to spare."""
    spread, launches, group = budgets.spread, budgets.launches, budgets.group
    while True:
        spare_of_group, spare = budgets.spare(samples)
        open_strata = (samples > least) & (mean_ns > 0)
        of_group = summed_by_group(group, open_strata.astype(np.float64), len(spare_of_group))
        part = np.minimum(
            spare_of_group[group] / np.maximum(of_group[group], 1), spare / max(open_strata.sum(), 1)
        )
        # V(m) = N^2 S^2 (1/m - 1/N): the least m that adds no more than its part.
        allowed = spread * left_out(samples, launches) + np.maximum(part, 0)
        reachable = np.divide(
            spread, allowed + spread / launches, out=np.zeros(len(samples)), where=allowed > 0
        )
        fewer = np.clip(np.ceil(reachable * (1 + _ROUNDING)), least, samples).astype(np.int64)
        # One sample more than is needed stays: the last steps are left to the strata that save most time.
        far = open_strata & (part > 0) & (fewer + 1 < samples)
        if not far.any():
            return samples
        samples = np.where(far, fewer + 1, samples)


def _running_sum_by(group: IntArray, values: FloatArray) -> FloatArray:
    """Return (k,) the sum of the values, at most 1 each, of the same group up to and with each place."""
    order = np.argsort(group, kind="stable")
    sums = np.cumsum(values[order])
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    before = sums[first] - values[order][first]
    running = np.empty(len(values))
    running[order] = sums - np.repeat(before, np.diff(np.append(first, len(values))))
    return running
