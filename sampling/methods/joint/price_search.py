"""The least prices of variance at which the strata of a forest meet their bounds.

As the price rises the variance of the cheapest strata falls in steps; the least price that meets a bound is
found where a step begins. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

import numpy as np

from sampling.arrays import BoolArray, FloatArray
from sampling.methods.joint.priced_forest import Cut, is_less

_PRICE_RATIO = 1e-6
# How often groups are left on a step and the others priced anew.
_MOST_ROUNDS = 8
# The new price is looked for first between this share of the old one and the old one.
_NEAR = 0.9
# The least share of the budget to spare for which the others are priced anew.
_SPARE_WORTH_USING = 1e-3


class Priced(Protocol):
    """What has strata at a price: trees, or strata whose sizes alone follow it."""

    @property
    def groups(self) -> int:
        """How many kernel groups."""

    def restricted(self, chosen: BoolArray) -> Self:
        """Return what some groups (groups,) have, these numbered anew in their order."""

    def cut(self, price: FloatArray) -> Cut:
        """Return the cheapest strata at a price (groups,)."""

    def variance(self, cut: Cut) -> FloatArray:
        """Return (groups,) the variance of each group's estimated total, in simulated time, ns^2."""

    def time_ns(self, cut: Cut) -> FloatArray:
        """Return (groups,) the sampled time of each group."""

    def census_price(self) -> FloatArray:
        """Return (groups,) a price at which everything is simulated."""


def group_prices(priced: Priced, budget: FloatArray) -> FloatArray:
    """Return (groups,) the least price, to a millionth, at which each group's variance is within its budget.

    0 where no price is needed. All groups are searched at once.
    """
    prices = np.zeros(priced.groups)
    enough = priced.variance(priced.cut(prices)) <= budget
    if enough.all():
        return prices
    few = priced.restricted(~enough)

    def costs(price: FloatArray) -> tuple[FloatArray, FloatArray]:
        cut = few.cut(price)
        return few.time_ns(cut), few.variance(cut)

    prices[~enough] = _least_prices(costs, budget[~enough], np.zeros(few.groups), few.census_price())
    return prices


def prices(priced: Priced, least_price: FloatArray, budget: float) -> FloatArray:
    """Return (groups,) the price each group pays so that the workload's variance is within budget.

    All pay the common price or, where it is larger, their own. At the common price some group, mostly one,
    takes a step of its variance; where that step is coarse and leaves much of the budget, the group stays on
    the step that fits and the others are priced anew, lower, with what is left.

    Parameters
    ----------
    least_price : (groups,) the groups' own prices.
    """
    common = None
    for _ in range(_MOST_ROUNDS):
        common = common_price(priced, least_price, budget, enough=common)
        price = np.maximum(least_price, common)
        variance = priced.variance(priced.cut(price))
        if common == 0 or budget - variance.sum() < _SPARE_WORTH_USING * budget:
            break
        just_below = np.maximum(least_price, common * (1 - 3 * _PRICE_RATIO))
        stepping = priced.variance(priced.cut(just_below)) > variance
        least_price = np.where(stepping, price, least_price)
    return price


def common_price(
    priced: Priced, least_price: FloatArray, budget: float, *, enough: float | None = None
) -> float:
    """Return the least common price at which the workload's variance is within budget; 0 if none is needed.

    Parameters
    ----------
    least_price : (groups,) the groups' own prices; a group uses the larger of its own and the common one.
    enough : a price known to be within budget; the one wanted is expected not far below.
    """

    def costs(price: FloatArray) -> tuple[FloatArray, FloatArray]:
        cut = priced.cut(np.maximum(least_price, price[0]))
        return priced.time_ns(cut).sum(keepdims=True), priced.variance(cut).sum(keepdims=True)

    low, high = np.zeros(1), priced.census_price().max(keepdims=True)
    if enough is not None:
        near = np.array([enough * _NEAR])
        low, high = (near, np.array([enough])) if costs(near)[1][0] > budget else (low, near)
    if not low[0] and costs(low)[1][0] <= budget:
        return 0.0
    return float(_least_prices(costs, np.array([budget]), low, high)[0])


def _least_prices(
    costs: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    budget: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Return (k,) the least price of each of k problems that brings its variance within its budget.

    Parameters
    ----------
    costs : price (k,) -> sampled time and variance (k,) each of the cheapest strata at that price.
    low, high : (k,) prices that are too low and high enough.

    Notes
    -----
    As the price rises, (variance, time) runs along the corners of a convex hull. Between a corner over the
    budget and one within it, the next price is the slope of the line through both: either the cheapest strata
    there are a new corner between them, or there is none, and the slope is the price at which one gives way
    to the other. That ends exactly, after about as many steps as bisecting the logarithm of the
    variance takes to tell two corners apart.
    """
    low_time, low_variance = costs(low)
    high_time, high_variance = costs(high)
    slope = np.zeros(len(budget))
    searching = np.ones(len(budget), dtype=np.bool_)
    while searching.any():
        rise, fall = high_time - low_time, low_variance - high_variance
        slope = np.where(searching, rise / np.where(fall > 0, fall, 1), slope)
        time, variance = costs(np.where(searching, slope, high))
        # A corner between the two costs less at the slope than both, which cost the same.
        is_new = is_less(time + slope * variance, high_time + slope * high_variance) & searching
        is_new &= (variance < low_variance) & (variance > high_variance)
        met = is_new & (variance <= budget)
        missed = is_new & ~met
        high = np.where(met, slope, high)
        high_time, high_variance = (
            np.where(met, new, old) for new, old in ((time, high_time), (variance, high_variance))
        )
        low_time, low_variance = (
            np.where(missed, new, old) for new, old in ((time, low_time), (variance, low_variance))
        )
        searching = is_new
    # Just above the slope the strata within the budget are the cheaper ones.
    above = slope * (1 + _PRICE_RATIO)
    return np.where(costs(above)[1] <= budget, np.minimum(above, high), high)
