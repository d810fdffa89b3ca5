"""Strata finer than the bounds need, where those that they need tell too little for an interval.

Few strata of one launch each say little of how far simulated time spreads. More samples of them cost their
long launches again and again; the strata of a smaller bound may tell as much for less. (docs/methods.md, 5
Joint)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, log

from sampling.methods.joint.pooling import Grouped
from sampling.strata.target import LEAST_EPSILON, Target

# Bounds are of a grid, so that a looser epsilon looks at all that a tighter one looks at.
_STEP = 0.5**0.5
# Of an epsilon near 1 so many lead below 0.001.
_MOST_BOUNDS = 20
# A looser bound of the groups, or none, looks at what this one looks at.
_GROUP_EPSILON = 0.25
# Where the bounds alone take this share of the time, nothing is looked at.
_NEARLY_ALL = 0.98


def with_finer_strata(plan: Grouped, target: Target, found_for: Callable[[Target], Grouped]) -> Grouped:
    """Return the plan that takes least time, of a plan and of those for smaller bounds.

    The smaller bounds end where they ask for as much as the interval does.

    Parameters
    ----------
    found_for : the plan for a target, with the same pools.
    """
    best = _finer(plan, target, found_for)
    if target.group_epsilon is not None and target.group_epsilon <= _GROUP_EPSILON:
        return best
    # So does a smaller bound of the groups.
    smaller = replace(target, group_epsilon=_GROUP_EPSILON)
    return min(best, _finer(found_for(smaller), smaller, found_for), key=lambda each: each.cost_ns)


def _finer(plan: Grouped, target: Target, found_for: Callable[[Target], Grouped]) -> Grouped:
    best = latest = plan
    first = ceil(log(target.epsilon) / log(_STEP)) + 1
    for index in range(first, first + _MOST_BOUNDS):
        smaller = _STEP**index
        # A smaller bound alone takes no less time than this one.
        least_ns, most_ns = latest.solution.for_bounds_ns, _NEARLY_ALL * best.cost_ns
        if not latest.solution.for_interval or least_ns > most_ns or smaller < LEAST_EPSILON:
            break
        latest = found_for(replace(target, epsilon=smaller))
        if latest.cost_ns < best.cost_ns:
            best = latest
    return best
