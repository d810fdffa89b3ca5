"""Which small kernel groups a plan pools: those that cost more on their own.

A kernel group of its own costs a launch at least, and is spread by what simulated time varies within it; in a
pool it may have no launch at all, and is spread by what varies between kernels. Which costs less depends on
the price of variance, and that on the plan. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray
from sampling.methods.joint.candidates import Candidates
from sampling.methods.joint.solution import Solution
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import PlanGroups, pooled
from sampling.splitting.groups import Overrides
from sampling.strata.allocation import least_sampled_ns
from sampling.strata.expected_freedom import ExpectedFreedom
from sampling.strata.target import Target

# Of each launch, over the mean duration.
_COST_OF_A_LAUNCH = 0.05
# Each time is a plan of its own.
_MOST_TIMES = 2
# Where larger groups may be pooled, pools of the smaller ones alone are looked at as well.
_BELOW = (0.1, 0.03, 0.01)


@dataclass(frozen=True, eq=False)
class Grouped:
    """A way to pool, what each of its groups may have, and what its plan takes before it is judged."""

    groups: PlanGroups
    found: Candidates
    solution: Solution

    @property
    def cost_ns(self) -> float:
        """The sampled time, and a little for every launch: of plans as good as equal the smaller is taken."""
        counts = self.groups.counts
        mean_ns = counts.total_duration_ns / counts.launches
        return self.solution.sampled_ns + _COST_OF_A_LAUNCH * mean_ns * float(self.solution.samples.sum())

    @property
    def freedom(self) -> float:
        """The degrees of freedom that are expected of an interval, as sizes are chosen by them."""
        strata = ExpectedFreedom.of(self.solution.clusters, self.found.cycles)
        return float(strata.as_chosen_by()(self.solution.samples))


def cheapest_groups(
    counts: DurationCounts,
    target: Target,
    overrides: Overrides,
    found_for: Callable[[PlanGroups], Grouped],
) -> Grouped:
    """Return the groups whose plan takes least time, of a few ways to pool those below ``pool_below``.

    All of them are pooled; those that cost less on their own at that plan's price are not, and again at the
    price of the plan that follows; the smaller ones alone are; none is. A kernel group on which the user
    decided is never pooled, and where one decided on a pool all that may be are.

    Parameters
    ----------
    found_for : the plan by some groups.
    """
    small = _may_be_pooled(counts, target, overrides)
    best = found_for(pooled(counts, small))
    if not best.groups.is_pool.any() or not set(overrides) <= {group.key for group in counts.groups}:
        return best
    share = counts.group_duration_ns / counts.total_duration_ns
    latest, looked_at = best, [best.groups]
    for _ in range(_MOST_TIMES):
        groups = pooled(counts, small & ~_cheaper_alone(counts, target, latest))
        if any(np.array_equal(groups.group_of, each.group_of) for each in looked_at):
            break
        looked_at.append(groups)
        if least_sampled_ns(groups.counts, target.min_samples).sum() >= best.cost_ns:
            break
        latest = found_for(groups)
        best = min(best, latest, key=_cost_ns)
    for below in (*(each for each in _BELOW if each < target.pool_below), 0.0):
        groups = pooled(counts, small & (share < below))
        if any(np.array_equal(groups.group_of, each.group_of) for each in looked_at):
            continue
        looked_at.append(groups)
        if least_sampled_ns(groups.counts, target.min_samples).sum() < best.cost_ns:
            best = min(best, found_for(groups), key=_cost_ns)
    return best


def _cost_ns(plan: Grouped) -> float:
    return plan.cost_ns


def _may_be_pooled(counts: DurationCounts, target: Target, overrides: Overrides) -> BoolArray:
    """Return (groups,) whether a kernel group has so little time, and no decision of the user's."""
    small = counts.group_duration_ns < target.pool_below * counts.total_duration_ns
    if overrides:
        small &= np.array([group.key not in overrides for group in counts.groups])
    return small


def _cheaper_alone(counts: DurationCounts, target: Target, best: Grouped) -> BoolArray:
    """Return (groups,) whether a kernel group costs less on its own, at the price of a plan that pools it.

    With r^2 = N^2 mu lambda, a group alone costs mu max(1 + (k_w r)^2, 2 k_w r), and its part of the pool at
    best 2 k r mu, where k_w is the spread within kernels and k that within and between them.
    """
    price = best.solution.price[best.groups.group_of]
    mean_ns = counts.group_duration_ns / counts.group_launches
    r = counts.group_launches * np.sqrt(mean_ns * price)
    within = target.noise_floor * r
    alone = np.where(within < 1, 1 + within**2, 2 * within)
    return np.asarray(alone < 2 * np.hypot(target.noise_floor, target.kernel_spread) * r)
