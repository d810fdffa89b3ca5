"""Trend and autocorrelation of the ranks of some series, and what they are in random order.

(docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RankStatistics:
    """Of s series, all (s,); 0 for a series whose values are all equal.

    Attributes
    ----------
    values : how many values the series has.
    trend : Spearman's rank correlation of the values with their place.
    trend_deviations : the trend in standard deviations of all orders of the same values.
    lag_1 : autocorrelation of the ranks at a distance of 1.
    lag_1_mean, lag_1_std : its mean and standard deviation over all orders of the same values.
    """

    values: IntArray
    trend: FloatArray
    trend_deviations: FloatArray
    lag_1: FloatArray
    lag_1_mean: FloatArray
    lag_1_std: FloatArray


def rank_statistics(values: FloatArray, edges: IntArray) -> RankStatistics:
    """Return the statistics of series of values, one after another; of equal values the mean rank counts.

    Parameters
    ----------
    edges : (s + 1,) series i is ``values[edges[i]:edges[i + 1]]``, four values or more.
    """
    n = np.diff(edges)
    start = edges[:-1]
    deviation = _ranks(values, edges) - np.repeat((n - 1) / 2, n)
    place = np.arange(len(values)) - np.repeat(start + (n - 1) / 2, n)
    squares = np.add.reduceat(deviation**2, start)
    spread = np.where(squares > 0, squares, 1.0)
    trend = np.add.reduceat(deviation * place, start) / np.sqrt(spread * n * (n**2 - 1.0) / 12)
    neighbours = deviation * np.append(deviation[1:], 0.0)
    # The last value of a series has no neighbour after it.
    neighbours[edges[1:] - 1] = 0.0
    lag_1 = np.add.reduceat(neighbours, start) / spread
    return RankStatistics(
        values=n,
        trend=trend,
        trend_deviations=trend * np.sqrt(n - 1),
        lag_1=lag_1,
        lag_1_mean=np.where(squares > 0, -1 / n, 0.0),
        lag_1_std=_lag_1_std(n, squares, np.add.reduceat(deviation**4, start)),
    )


def _ranks(values: FloatArray, edges: IntArray) -> FloatArray:
    """Return the rank of each value within its series from 0; equal values have the mean of theirs."""
    n = np.diff(edges)
    series = np.repeat(np.arange(len(n)), n)
    order = np.lexsort((values, series))
    ordered = values[order]
    is_first = np.append(True, (ordered[1:] != ordered[:-1]) | (series[1:] != series[:-1]))
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(values)) - 1
    ranks = np.empty(len(values))
    ranks[order] = ((first + last) / 2)[np.cumsum(is_first) - 1]
    return ranks - np.repeat(edges[:-1], n)


def _lag_1_std(n: IntArray, squares: FloatArray, fourths: FloatArray) -> FloatArray:
    """Return (s,) the standard deviation of the sum of d_i d_(i+1) over all orders, over that of d_i^2.

    The expected products of two, three and four different deviations, whose sum is 0, follow from the sums
    of their squares and fourth powers; exact with equal values too.
    """
    two = (squares**2 - fourths) / (n * (n - 1.0))
    three = (2 * fourths - squares**2) / (n * (n - 1.0) * (n - 2))
    four = (3 * squares**2 - 6 * fourths) / (n * (n - 1.0) * (n - 2) * (n - 3))
    second = (n - 1) * two + 2 * (n - 2) * three + (n - 2) * (n - 3) * four
    spread = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.sqrt(np.maximum(second / spread**2 - np.where(squares > 0, n**-2.0, 0.0), 0.0)))
