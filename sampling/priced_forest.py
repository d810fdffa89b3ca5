"""Clusters at a price: what a cluster costs when variance has a price, and the cheapest strata of a forest.

The engine of the method `joint`. With a price lambda >= 0 for the variance of the estimated total, a cluster
costs

    J(C) = min over integer m in [min(m_min, N), N] of  m mu + lambda N^2 S^2 (1/m - 1/N),

and a split is kept iff its parts are strictly cheaper. As the price rises the variance of the cheapest
strata falls in steps, so the least price that meets a bound is found by bisection. (METHODS section 5)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.allocation import FloatArray, IntArray, sample_variance
from sampling.cluster_forest import UNSPLIT, ClusterForest

BoolArray = NDArray[np.bool_]

# Equal costs may differ by rounding; a split must be cheaper by more than that.
_ROUNDING = 1e-12
# A node whose variance, halved, is less than this share of what a group may have is deep enough.
_DEEP_ENOUGH = 1e-3
# From a census of everything downwards: prices below are as good as none.
_PRICE_RANGE = 1e-40
_PRICE_RATIO = 1e-6


@dataclass(frozen=True, slots=True)
class Forced:
    """Nodes whose decision is the user's: (k,) each."""

    split: IntArray
    keep: IntArray


@dataclass(frozen=True, slots=True)
class Cut:
    """Strata of a forest: the leaves of its pruned trees, with their sizes.

    Attributes
    ----------
    rows : (s,) rows of the `PricedForest`, ordered by group and duration.
    samples : (s,) m.
    """

    rows: IntArray
    samples: IntArray


class PricedForest:
    """The nodes of a forest down to where it is deep enough for one target, ready to be pruned at any price.

    Attributes
    ----------
    nodes : (n,) numbers in the forest, breadth first; the first ``groups`` are the roots.
    group, start, stop, launches, mean_ns, std_ns : (n,) of each node, as the forest has them.
    spread : (n,) N^2 (S^2 + (noise_floor mu)^2), what a price multiplies; 0 where N = 1.
    left : (n,) row of the left child, UNSPLIT for a leaf; the right child is the next row.
    least : (n,) min(m_min, N).
    """

    def __init__(
        self,
        forest: ClusterForest,
        group_total_ns: FloatArray,
        *,
        epsilon: float,
        z: float,
        min_samples: int,
        noise_floor: float,
        forced: Forced | None = None,
    ) -> None:
        self.groups = len(group_total_ns)
        self._forced = forced or Forced(np.zeros(0, np.int64), np.zeros(0, np.int64))
        least_variance = 2 * _DEEP_ENOUGH * (epsilon * group_total_ns / z) ** 2
        self._grow(forest, least_variance)
        self.group = forest.group[self.nodes]
        self.start = forest.start[self.nodes]
        self.stop = forest.stop[self.nodes]
        self.launches = forest.launches[self.nodes]
        self.mean_ns = forest.mean_ns[self.nodes]
        self.std_ns = forest.std_ns[self.nodes]
        self.spread = spread(self.launches, self.mean_ns, self.std_ns, noise_floor)
        self.least = np.minimum(min_samples, self.launches)
        self._must_split = np.isin(self.nodes, self._forced.split)
        self._must_keep = np.isin(self.nodes, self._forced.keep)

    def _grow(self, forest: ClusterForest, least_variance: FloatArray) -> None:
        """Collect the nodes level by level, splitting in the forest what is not deep enough yet."""
        level = np.arange(self.groups)
        levels, lefts = [], []
        rows = 0
        while len(level):
            variance = forest.launches[level].astype(np.float64) ** 2 * sample_variance(
                forest.launches[level], forest.std_ns[level]
            )
            wanted = (variance >= least_variance[forest.group[level]]) | np.isin(level, self._forced.split)
            parents = np.flatnonzero(wanted & forest.splittable(level))
            forest.split(level[parents])
            left = np.full(len(level), UNSPLIT)
            left[parents] = rows + len(level) + 2 * np.arange(len(parents))
            levels.append(level)
            lefts.append(left)
            rows += len(level)
            children = forest.left[level[parents]]
            level = np.stack([children, children + 1], axis=1).ravel()
        self.nodes = np.concatenate(levels)
        self.left = np.concatenate(lefts)
        stops = np.cumsum([len(level) for level in levels])
        self._parents = [
            start + np.flatnonzero(left != UNSPLIT)
            for start, left in zip((stops - [len(level) for level in levels]).tolist(), lefts, strict=True)
        ]

    def sizes(self, price: FloatArray, rows: IntArray | slice = slice(None)) -> IntArray:
        """Return (n,) the sizes that cost least at a price for each group.

        m mu + lambda N^2 S^2/m is convex in m and least at N S sqrt(lambda/mu): the cheaper of the whole
        numbers about that; of equal ones the smaller.
        """
        mean_ns, spread_ns, launches, least = (
            values[rows] for values in (self.mean_ns, self.spread, self.launches, self.least)
        )
        priced = price[self.group[rows]] * spread_ns
        best = np.sqrt(np.divide(priced, mean_ns, out=np.zeros(len(priced)), where=mean_ns > 0))
        low = np.clip(np.floor(np.minimum(best, launches)), least, launches).astype(np.int64)
        high = np.minimum(low + 1, launches)
        # One more sample costs mu and saves priced (1/low - 1/high).
        return np.where(priced * (1 / low - 1 / high) > (high - low) * mean_ns, high, low)

    def costs(self, price: FloatArray, samples: IntArray) -> FloatArray:
        """Return (n,) J of each node kept whole with these sizes."""
        left_out = 1 / samples - 1 / self.launches
        return np.asarray(samples * self.mean_ns + price[self.group] * self.spread * left_out)

    def decisions(self, price: FloatArray) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
        """Return (n,) each: the sizes and costs of the nodes kept whole, the least costs, and what splits.

        Parameters
        ----------
        price : (groups,) lambda of each group.
        """
        samples = self.sizes(price)
        whole = self.costs(price, samples)
        least = whole.copy()
        splits = np.zeros(len(whole), dtype=np.bool_)
        for parents in reversed(self._parents):
            left = self.left[parents]
            parts = least[left] + least[left + 1]
            pays = parts < whole[parents] * (1 - _ROUNDING)
            pays = (pays | self._must_split[parents]) & ~self._must_keep[parents]
            least[parents] = np.where(pays, parts, whole[parents])
            splits[parents] = pays
        return samples, whole, least, splits

    def cut(self, price: FloatArray) -> Cut:
        """Return the cheapest strata at a price for each group."""
        samples, _, _, splits = self.decisions(price)
        rows = self.leaves(splits)
        return Cut(rows, samples[rows])

    def leaves(self, splits: BoolArray) -> IntArray:
        """Return the rows of the leaves when the given nodes split, ordered by group and duration."""
        reached = np.zeros(len(splits), dtype=np.bool_)
        reached[: self.groups] = True
        for parents in self._parents:
            split = parents[reached[parents] & splits[parents]]
            reached[self.left[split]] = True
            reached[self.left[split] + 1] = True
        rows = np.flatnonzero(reached & ~splits)
        return np.asarray(rows[np.argsort(self.start[rows], kind="stable")])

    def variance(self, cut: Cut) -> FloatArray:
        """Return (groups,) the variance of each group's estimated total, with the noise floor, ns^2."""
        per_stratum = self.spread[cut.rows] * (1 / cut.samples - 1 / self.launches[cut.rows])
        return summed_by_group(self.group[cut.rows], per_stratum, self.groups)

    def time_ns(self, cut: Cut) -> FloatArray:
        """Return (groups,) the sampled time of each group, sum of m mu."""
        per_stratum = cut.samples * self.mean_ns[cut.rows]
        return summed_by_group(self.group[cut.rows], per_stratum, self.groups)

    def census_price(self) -> FloatArray:
        """Return (groups,) a price at which every node is best simulated whole: its variance is 0."""
        one_less = np.maximum(self.launches - 1, 1)
        # The last sample saves lambda N^2 S^2 (1/(N-1) - 1/N) and costs mu.
        price = np.divide(
            self.mean_ns * one_less * self.launches,
            self.spread,
            out=np.zeros(len(self.group)),
            where=self.spread > 0,
        )
        most = np.zeros(self.groups)
        np.maximum.at(most, self.group, price)
        return 2 * np.maximum(most, np.finfo(np.float64).tiny / _PRICE_RANGE)


def summed_by_group(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return (groups,) the sum of the values of each group."""
    return np.bincount(group, values, minlength=groups).astype(np.float64)


def spread(launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray, noise_floor: float) -> FloatArray:
    """Return N^2 (S^2 + (kappa mu)^2), 0 where N = 1, which is always a census."""
    variance = sample_variance(launches, std_ns) + (noise_floor * mean_ns) ** 2
    return np.where(launches > 1, launches.astype(np.float64) ** 2 * variance, 0.0)


def group_prices(priced: PricedForest, budget: FloatArray) -> FloatArray:
    """Return (groups,) the least price, to a millionth, at which each group's variance is within its budget.

    0 where no price is needed. All groups are bisected at once.
    """
    free = np.zeros(priced.groups)
    enough = priced.variance(priced.cut(free)) <= budget
    if enough.all():
        return free
    high = np.log(priced.census_price())
    low = high + np.log(_PRICE_RANGE)
    while (high - low).max() > _PRICE_RATIO:
        middle = (low + high) / 2
        met = priced.variance(priced.cut(np.where(enough, 0, np.exp(middle)))) <= budget
        high = np.where(met, middle, high)
        low = np.where(met, low, middle)
    return np.where(enough, 0, np.exp(high))


def common_price(priced: PricedForest, least_price: FloatArray, budget: float) -> float:
    """Return the least common price at which the workload's variance is within budget; 0 if none is needed.

    Parameters
    ----------
    least_price : (groups,) the groups' own prices; a group uses the larger of its own and the common one.
    """

    def within(price: float) -> bool:
        return float(priced.variance(priced.cut(np.maximum(least_price, price))).sum()) <= budget

    if within(0.0):
        return 0.0
    high = float(np.log(priced.census_price().max()))
    low = high + float(np.log(_PRICE_RANGE))
    while high - low > _PRICE_RATIO:
        middle = (low + high) / 2
        if within(float(np.exp(middle))):
            high = middle
        else:
            low = middle
    return float(np.exp(high))
