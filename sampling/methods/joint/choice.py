"""One of several sets of strata for each kernel group, so that all together take the least time.

A price finds only sets on the convex hull of time against variance, and all groups step at once. Here every
group has a table of sets and sizes, on the hull or not, and single groups change until nothing is gained: the
multiple-choice knapsack problem, from its Lagrangian solution on. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray

_PRICE_STEPS = 60
# Pairs of changes are looked at among so many groups, those with the most time.
_GROUPS_IN_PAIRS = 16
# Of the choices to start from, so many that take least time are improved.
_STARTS = 2
_MOST_CHANGES = 400
_ROUNDING = 1e-12
# Two groups change only for more than this share of the time.
_LEAST_GAIN = 1e-4


@dataclass(frozen=True, slots=True)
class Table:
    """What each choice costs: (groups, choices) sampled time and variance, inf where it may not be taken."""

    time_ns: FloatArray
    variance: FloatArray

    def within(self, budget: FloatArray) -> Table:
        """Return the table without what has more variance than its group's budget (groups,)."""
        fits = self.variance <= budget[:, np.newaxis] * (1 + _ROUNDING)
        return Table(np.where(fits, self.time_ns, np.inf), self.variance)

    def of(self, choice: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return (groups,) the time and the variance of a choice for each group."""
        rows = np.arange(len(choice))
        return self.time_ns[rows, choice], self.variance[rows, choice]


def least_time(table: Table, budget: float, starts: Sequence[IntArray]) -> IntArray:
    """Return (groups,) choices that take little time, with a variance of all within the budget.

    Where no choices are, those of least variance are returned.

    Parameters
    ----------
    starts : choices to start from as well; the result takes no more time than any of them that is within.
    """
    least = np.asarray(np.argmin(np.where(np.isfinite(table.time_ns), table.variance, np.inf), axis=1))
    if table.of(least)[1].sum() > budget * (1 + _ROUNDING):
        return least
    over, within = _at_prices(table, budget, least)
    found = [within]
    if over is not None:
        found.append(_mended(table, over, within, budget))
    for start in starts:
        of_group_ns, variance = table.of(start)
        if np.isfinite(of_group_ns).all() and variance.sum() <= budget * (1 + _ROUNDING):
            found.append(start)

    def time_ns(choice: IntArray) -> float:
        return float(table.of(choice)[0].sum())

    nearest = sorted(found, key=time_ns)[:_STARTS]
    return min((_improved(table, choice, budget) for choice in nearest), key=time_ns)


def _at_prices(table: Table, budget: float, least: IntArray) -> tuple[IntArray | None, IntArray]:
    """Return the choices at the largest price over the budget, if any, and at the least one within it."""

    def cheapest(price: float) -> IntArray:
        return np.asarray(np.argmin(table.time_ns + price * table.variance, axis=1))

    free = cheapest(0.0)
    if table.of(free)[1].sum() <= budget:
        return None, free
    low, high = 0.0, 1e-30
    over, within = free, least
    while table.of(cheapest(high))[1].sum() > budget and high < 1e30:
        low, high = high, high * 1e6
    for _ in range(_PRICE_STEPS):
        middle = np.sqrt(low * high) if low else high * 1e-6
        choice = cheapest(middle)
        if table.of(choice)[1].sum() <= budget:
            high, within = middle, choice
        else:
            low, over = middle, choice
        if low and high <= low * (1 + 1e-9):
            break
    return over, within


def _mended(table: Table, over: IntArray, within: IntArray, budget: float) -> IntArray:
    """Return choices over the budget with groups changed, what saves most variance for its time first."""
    choice = over.copy()
    for _ in range(_MOST_CHANGES):
        time_ns, variance = table.of(choice)
        missing = variance.sum() - budget
        if missing <= 0:
            return choice
        saved = variance[:, np.newaxis] - table.variance
        added_ns = np.maximum(table.time_ns - time_ns[:, np.newaxis], 0)
        # What is saved beyond what is missing is worth nothing.
        worth = np.where(saved > 0, np.minimum(saved, missing) / np.maximum(added_ns, 1e-9), 0.0)
        group, other = np.unravel_index(int(np.argmax(worth)), worth.shape)
        if worth[group, other] <= 0:
            return within
        choice[group] = other
    return within


def _improved(table: Table, choice: IntArray, budget: float) -> IntArray:
    """Return the choices changed, group by group or two at once, while that takes less time in the budget."""
    choice = choice.copy()
    for _ in range(_MOST_CHANGES):
        time_ns, variance = table.of(choice)
        spare = budget - variance.sum()
        saved_ns = time_ns[:, np.newaxis] - table.time_ns
        added = table.variance - variance[:, np.newaxis]
        changed = _affordable(saved_ns, added, spare, float(time_ns.sum()) * _ROUNDING)
        if len(changed):
            choice[changed] = np.argmax(np.where(added[changed] <= spare, saved_ns[changed], 0.0), axis=1)
            continue
        pair = _best_pair(saved_ns, added, spare, np.argsort(-time_ns, kind="stable")[:_GROUPS_IN_PAIRS])
        if pair is None or pair[2] <= time_ns.sum() * _LEAST_GAIN:
            return choice
        for group, other in pair[:2]:
            choice[group] = other
    return choice


def _affordable(saved_ns: FloatArray, added: FloatArray, spare: float, least_ns: float) -> IntArray:
    """Return the groups that change at once, as many as fit, those first that save most for the variance."""
    gain = np.where(added <= spare, saved_ns, 0.0)
    best = np.argmax(gain, axis=1)
    rows = np.flatnonzero(gain.max(axis=1, initial=0.0) > least_ns)
    best_added = np.maximum(added[rows, best[rows]], 0.0)
    order = np.argsort(best_added / gain[rows, best[rows]], kind="stable")
    fits = np.cumsum(best_added[order]) <= spare
    fits[:1] = True
    return np.asarray(rows[order[fits]])


def _best_pair(
    saved_ns: FloatArray, added: FloatArray, spare: float, groups: IntArray
) -> tuple[tuple[int, int], tuple[int, int], float] | None:
    """Return the changes of two groups that together save most time within the variance to spare."""
    best: tuple[tuple[int, int], tuple[int, int], float] | None = None
    for second in groups.tolist():
        order = np.argsort(added[second], kind="stable")
        most_saved = np.maximum.accumulate(saved_ns[second][order])
        others = groups[groups != second]
        room = spare - added[others]
        place = np.searchsorted(added[second][order], room.ravel(), side="right").reshape(room.shape) - 1
        gain = np.where(place >= 0, saved_ns[others] + most_saved[np.maximum(place, 0)], -np.inf)
        if not gain.size:
            continue
        row, column = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if best is None or gain[row, column] > best[2]:
            reached = order[: int(place[row, column]) + 1]
            partner = int(reached[np.argmax(saved_ns[second][reached])])
            best = (int(others[row]), int(column)), (second, partner), float(gain[row, column])
    return best
