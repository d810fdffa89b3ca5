"""Ratios of means between two recordings, with their intervals. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.plan.request import PlanRequest
from sampling.reduction.iteration_runs import LEAST_MEASUREMENTS
from sampling.strata.satterthwaite import student_t

#: Into so many blocks, one after the other, measurements are parted that depend on each other.
BLOCKS = 4
# With fewer nothing tells that they depend on each other; beyond this they do, by chance in 1 of 100.
_LEAST_TO_TEST, _DEPENDENT_FROM = 8, 2.326


class Means(NamedTuple):
    """The means of k quantities, each measured m times in a row."""

    #: (k,) NaN for one without measurements.
    mean: FloatArray
    #: (k, m) how far each measurement is from the mean, as a share of it.
    departure: FloatArray
    #: (k, m) how many launches or iterations each measurement is the mean of; 0 for none.
    weight: FloatArray

    @property
    def size(self) -> FloatArray:
        """(k,) of how many launches or iterations it is the mean."""
        return np.asarray(self.weight.sum(axis=-1))

    @property
    def freedom(self) -> IntArray:
        """(k,) one less than there are measurements."""
        return np.asarray(np.count_nonzero(self.weight, axis=-1) - 1)

    @property
    def variance(self) -> FloatArray:
        """(k,) the relative variance of one launch or iteration; NaN of fewer than three measurements.

        Of measurements B_j that are means of w_j, it is sum w_j (B_j / mean - 1)^2 / (m - 1).
        """
        squares = (self.weight * self.departure**2).sum(axis=-1)
        are_enough = self.freedom >= LEAST_MEASUREMENTS - 1
        return np.where(are_enough, squares / np.maximum(self.freedom, 1), np.nan)

    def in_blocks(self, blocks: int) -> Means:
        """Return the same means with as few measurements as blocks: each the mean of some that follow on."""
        measurements = self.departure.shape[-1]
        if measurements <= blocks:
            return self
        first = np.arange(blocks) * measurements // blocks
        weight = np.add.reduceat(self.weight, first, axis=-1)
        departure = np.add.reduceat(self.weight * self.departure, first, axis=-1)
        return Means(self.mean, np.divide(departure, weight, out=departure, where=weight > 0), weight)


class Ratios(NamedTuple):
    """Means after over before with the ends of their intervals; (k,), NaN where there is none."""

    ratio: FloatArray
    low: FloatArray
    high: FloatArray


def means_of(sums: FloatArray | IntArray, weight: FloatArray | IntArray) -> Means:
    """Return the means of (k, m) sums, each over so many launches or iterations (m,) or (k, m)."""
    weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), np.shape(sums))
    size, total = weight.sum(axis=-1), np.sum(sums, axis=-1, dtype=np.float64)
    mean = np.divide(total, size, out=np.full(size.shape, np.nan), where=size > 0)
    expected = weight * mean[..., np.newaxis]
    departure = np.divide(sums, expected, out=np.ones(np.shape(sums)), where=expected > 0) - 1
    return Means(mean, departure, weight)


def share_of(part: Means, whole: Means) -> Means:
    """Return what share one quantity is of another that was measured beside it, by the delta method."""
    return Means(part.mean / whole.mean, part.departure - whole.departure, part.weight)


def without_interval(before: Means, after: Means, _: float = 0) -> Ratios:
    """Return the ratios alone, where nothing tells how far they may be off."""
    ratio = np.full(before.mean.shape, np.nan)
    np.divide(after.mean, before.mean, out=ratio, where=before.mean > 0)
    return Ratios(ratio, *np.full((2, *ratio.shape), np.nan))


def welch(before: Means, after: Means, confidence: float) -> Ratios:
    """Return the ratios of the means of measurements that do not depend on each other, such as steps.

    The interval is of the logarithm of the ratio, by the delta method, with the degrees of freedom of both
    spreads. [Welch 1947, "The generalization of 'Student's' problem when several different population
    variances are involved"]
    """
    x, y = (side.variance / side.size for side in (before, after))
    variance = x + y
    scale = x**2 / np.maximum(before.freedom, 1) + y**2 / np.maximum(after.freedom, 1)
    freedom = np.divide(variance**2, scale, out=np.ones(variance.shape), where=scale > 0)
    return _around(without_interval(before, after).ratio, variance, freedom, confidence)


def by_blocks(before: Means, after: Means, confidence: float) -> Ratios:
    """Return the ratios of the means of launches or iterations that depend on the ones before them.

    Their variance is that of the means of `BLOCKS` blocks of successive ones (batch means: Conway 1963,
    Schmeiser 1982, "Batch size effects in the analysis of simulation output"; Law, "Simulation modeling and
    analysis", 9.5.3). The larger relative variance counts for both sides, because a side of few may by chance
    show none of the slow ones; and no quantity counts as steadier than the one in the middle of all k,
    because so few blocks by chance show too little.
    """
    sides = before.in_blocks(BLOCKS), after.in_blocks(BLOCKS)
    spread = np.maximum(*(side.variance for side in sides))
    if (spread > 0).any():
        least = np.quantile(spread[spread > 0], 0.5, method="lower")
        spread = np.where(spread > 0, np.maximum(spread, least), spread)
    freedom = np.minimum(*(side.freedom for side in sides))
    variance = spread / before.size + spread / after.size
    return _around(without_interval(before, after).ratio, variance, freedom, confidence)


def paired(before: Means, after: Means, confidence: float) -> Ratios:
    """Return the ratios of the means of the same launches, block by block in the same order.

    With x and y of the blocks and R the ratio of their sums, its variance is that of u = y - R x over the
    blocks: what both runs do alike, such as a drift, does not count. The interval is of the ratio itself.
    """
    apart = Means(after.mean, after.departure - before.departure, after.weight)
    ratio = without_interval(before, after).ratio
    variance = apart.variance / apart.size
    reach = ratio * _reach(variance, apart.freedom, confidence)
    return Ratios(ratio, ratio - reach, ratio + reach)


def are_dependent(values: Means) -> bool:
    """Return whether successive measurements of a quantity (1, m) are alike beyond chance.

    By the ratio of their mean square successive difference to their variance, in m measurements 2 on average
    with the variance 4 (m - 2) / (m^2 - 1). [von Neumann 1941, "Distribution of the ratio of the mean square
    successive difference to the variance"]
    """
    departure, m = values.departure[0], values.departure.shape[-1]
    squares = float((departure**2).sum())
    if m < _LEAST_TO_TEST or not squares:
        return False
    ratio = float((np.diff(departure) ** 2).sum()) / squares
    return bool((2 - ratio) / np.sqrt(4 * (m - 2) / (m**2 - 1)) > _DEPENDENT_FROM)


def _around(
    ratio: FloatArray, variance: FloatArray, freedom: FloatArray | IntArray, confidence: float
) -> Ratios:
    """Return intervals of ratios whose logarithms have these variances (k,)."""
    reach = _reach(np.where(ratio > 0, variance, np.nan), freedom, confidence)
    with np.errstate(over="ignore"):
        return Ratios(ratio, ratio * np.exp(-reach), ratio * np.exp(reach))


def _reach(variance: FloatArray, freedom: FloatArray | IntArray, confidence: float) -> FloatArray:
    """Return (k,) the half-widths of intervals; without any spread nothing tells one: NaN, never +- 0."""
    t = student_t(PlanRequest(confidence=confidence).confidence, np.maximum(freedom, 1).astype(np.float64))
    return np.asarray(t * np.sqrt(np.where(variance > 0, variance, np.nan)))
