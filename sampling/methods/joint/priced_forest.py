"""A forest at a price: what a cluster costs when variance has a price, and the cheapest strata.

The engine of the method `joint`. With a price lambda >= 0 for the variance of the estimated total, a cluster
costs

    J(C) = min over integer m in [min(m_min, N), N] of  m mu + lambda N^2 S^2 (1/m - 1/N),

and a split is kept iff its parts are strictly cheaper. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.forced_nodes import ForcedNodes
from sampling.progress import Progress
from sampling.splitting.forest import UNSPLIT, ClusterForest, report_split
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.variance import left_out, sample_variance, spread, summed_by_group

# Equal costs may differ by rounding; a split must be cheaper by more than that.
_ROUNDING = 1e-12
# A node whose variance, halved, is less than this share of what a group may have is deep enough.
_DEEP_ENOUGH = 1e-3


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


@dataclass(frozen=True, slots=True)
class Decisions:
    """What becomes of each node of a `PricedForest` at a price; all arrays (n,).

    Attributes
    ----------
    samples, whole : size and cost of the node kept whole.
    least : the cost of the cheapest strata of the node.
    splits : whether those are parts of it.
    """

    samples: IntArray
    whole: FloatArray
    least: FloatArray
    splits: BoolArray


@dataclass(frozen=True, slots=True)
class PricedForest:
    """The nodes of a forest down to where it is deep enough for one target, ready to be pruned at any price.

    Attributes
    ----------
    groups : how many trees.
    group, start, stop, launches, mean_ns, std_ns : (n,) of each node, as the forest has them; breadth first,
        so that the first ``groups`` are the roots.
    spread : (n,) N^2 S^2 of simulated time, what a price multiplies; 0 where N = 1.
    spread_over_mean : (n,) the same over mu; 0 where mu is 0.
    left : (n,) row of the left child, UNSPLIT for a leaf; the right child is the next row.
    least : (n,) min(m_min, N).
    must_split, must_keep : (n,) whether the user decided so.
    parents : for every depth the rows that have children.
    """

    groups: int
    group: IntArray
    start: IntArray
    stop: IntArray
    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray
    spread: FloatArray
    spread_over_mean: FloatArray
    left: IntArray
    least: IntArray
    must_split: BoolArray
    must_keep: BoolArray
    parents: tuple[IntArray, ...]

    def restricted(self, chosen: BoolArray) -> PricedForest:
        """Return the trees of some groups (groups,), numbered anew in their order."""
        kept = chosen[self.group]
        rows = np.flatnonzero(kept)
        row_of = np.cumsum(kept) - 1
        left = self.left[rows]
        return PricedForest(
            groups=int(chosen.sum()),
            group=(np.cumsum(chosen) - 1)[self.group[rows]],
            start=self.start[rows],
            stop=self.stop[rows],
            launches=self.launches[rows],
            mean_ns=self.mean_ns[rows],
            std_ns=self.std_ns[rows],
            spread=self.spread[rows],
            spread_over_mean=self.spread_over_mean[rows],
            left=np.where(left == UNSPLIT, UNSPLIT, row_of[left]),
            least=self.least[rows],
            must_split=self.must_split[rows],
            must_keep=self.must_keep[rows],
            parents=tuple(row_of[parents[kept[parents]]] for parents in self.parents),
        )

    def _worth(self, price: FloatArray) -> FloatArray:
        """Return (n,) x = lambda N^2 S^2 / mu, 0 where mu is 0."""
        worth: FloatArray = price[self.group]
        worth *= self.spread_over_mean
        return worth

    def decisions(self, price: FloatArray) -> Decisions:
        """Return what becomes of every node.

        Parameters
        ----------
        price : (groups,) lambda of each group.
        """
        worth = self._worth(price)
        samples = best_sizes(worth, self.least, self.launches)
        # J = m mu + lambda N^2 S^2 (1/m - 1/N) = mu (m + x (1/m - 1/N))
        whole = self.mean_ns * (samples + worth * left_out(samples, self.launches))
        least = whole.copy()
        splits = np.zeros(len(whole), dtype=np.bool_)
        for parents in reversed(self.parents):
            left = self.left[parents]
            parts = least[left] + least[left + 1]
            pays = is_less(parts, whole[parents])
            pays = (pays | self.must_split[parents]) & ~self.must_keep[parents]
            least[parents] = np.where(pays, parts, whole[parents])
            splits[parents] = pays
        return Decisions(samples, whole, least, splits)

    def cut(self, price: FloatArray) -> Cut:
        """Return the cheapest strata at a price for each group."""
        decisions = self.decisions(price)
        rows = self.leaves(decisions.splits)
        return Cut(rows, decisions.samples[rows])

    def leaves(self, splits: BoolArray) -> IntArray:
        """Return the rows of the leaves when the given nodes split, ordered by group and duration."""
        reached = np.zeros(len(splits), dtype=np.bool_)
        reached[: self.groups] = True
        for parents in self.parents:
            split = parents[reached[parents] & splits[parents]]
            reached[self.left[split]] = True
            reached[self.left[split] + 1] = True
        rows = np.flatnonzero(reached & ~splits)
        return np.asarray(rows[np.argsort(self.start[rows], kind="stable")])

    def variance(self, cut: Cut) -> FloatArray:
        """Return (groups,) the variance of each group's estimated total, in simulated time, ns^2."""
        per_stratum = self.spread[cut.rows] * left_out(cut.samples, self.launches[cut.rows])
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
        return 2 * most


def priced_forest(
    forest: ClusterForest,
    group_total_ns: FloatArray,
    *,
    epsilon: float,
    z: float,
    min_samples: int,
    cycles: CycleSpread,
    forced: ForcedNodes | None = None,
    progress: Progress | None = None,
) -> PricedForest:
    """Return the nodes that a plan may need, splitting in the forest what is not deep enough yet.

    A node is deep enough where N^2 S^2 / 2 < 1e-3 (epsilon * total of its group / z)^2, or where its
    durations are equal. A small size alone is not enough, for a few launches may hold much of the time.

    Parameters
    ----------
    group_total_ns : (groups,) the total of each group; epsilon : the smallest bound that will be asked for.
    cycles : how simulated time is declared to vary.
    """
    forced = forced or ForcedNodes.none()
    least_variance = 2 * _DEEP_ENOUGH * (epsilon * group_total_ns / z) ** 2
    level = np.arange(len(group_total_ns))
    levels, lefts, parents_of = [], [], []
    rows = 0
    while len(level):
        if progress is not None:
            report_split(progress, forest.group[level], len(group_total_ns))
        variance = forest.launches[level].astype(np.float64) ** 2 * sample_variance(
            forest.launches[level], forest.std_ns[level]
        )
        wanted = (variance >= least_variance[forest.group[level]]) | np.isin(level, forced.split)
        parents = np.flatnonzero(wanted & forest.splittable(level))
        forest.split(level[parents])
        left = np.full(len(level), UNSPLIT)
        left[parents] = rows + len(level) + 2 * np.arange(len(parents))
        levels.append(level)
        lefts.append(left)
        parents_of.append(rows + parents)
        rows += len(level)
        children = forest.left[level[parents]]
        level = np.stack([children, children + 1], axis=1).ravel()
    nodes = np.concatenate(levels)
    launches, mean_ns, std_ns = forest.launches[nodes], forest.mean_ns[nodes], forest.std_ns[nodes]
    spread_ns = spread(launches, cycles.variance(forest.group[nodes], launches, mean_ns, std_ns))
    return PricedForest(
        groups=len(group_total_ns),
        group=forest.group[nodes],
        start=forest.start[nodes],
        stop=forest.stop[nodes],
        launches=launches,
        mean_ns=mean_ns,
        std_ns=std_ns,
        spread=spread_ns,
        spread_over_mean=np.divide(spread_ns, mean_ns, out=np.zeros(len(nodes)), where=mean_ns > 0),
        left=np.concatenate(lefts),
        least=np.minimum(min_samples, launches),
        must_split=np.isin(nodes, forced.split),
        must_keep=np.isin(nodes, forced.keep),
        parents=tuple(parents_of),
    )


def best_sizes(worth: FloatArray, least: IntArray, launches: IntArray) -> IntArray:
    """Return the sizes that cost least at a worth x = lambda N^2 S^2/mu; all of one shape.

    m mu + lambda N^2 S^2/m is convex in m: one sample more pays where x > m (m + 1), so the best whole number
    is floor(sqrt(x)) or the next.
    """
    best = np.sqrt(worth)
    np.floor(best, out=best)
    np.clip(best, least, launches, out=best)
    best += (worth > best * (best + 1)) & (best < launches)
    return best.astype(np.int64)


def is_less(cost: FloatArray, other: FloatArray) -> BoolArray:
    """Return whether a cost is less than another by more than rounding."""
    return np.asarray(cost < other * (1 - _ROUNDING))
