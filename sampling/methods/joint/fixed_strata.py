"""Given strata at prices of variance: their sizes alone follow the price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.priced_forest import Cut, best_sizes
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Clusters
from sampling.strata.variance import left_out, spread, summed_by_group


@dataclass(frozen=True, slots=True)
class FixedStrata:
    """Strata whose sizes are to be found; what `price_search` needs of a `PricedForest`. All arrays (s,).

    Attributes
    ----------
    groups : how many kernel groups.
    group, launches, mean_ns : of each stratum.
    spread : N^2 S^2 of simulated time; spread_over_mean : the same over mu, 0 where mu is 0.
    least : what no stratum may fall below.
    """

    groups: int
    group: IntArray
    launches: IntArray
    mean_ns: FloatArray
    spread: FloatArray
    spread_over_mean: FloatArray
    least: IntArray

    @classmethod
    def of(cls, clusters: Clusters, groups: int, min_samples: int, cycles: CycleSpread) -> FixedStrata:
        """Return them for some clusters."""
        spread_ns = spread(clusters.launches, cycles.of(clusters))
        over_mean = np.divide(
            spread_ns, clusters.mean_ns, out=np.zeros(len(spread_ns)), where=clusters.mean_ns > 0
        )
        least = np.minimum(min_samples, clusters.launches)
        return cls(groups, clusters.group, clusters.launches, clusters.mean_ns, spread_ns, over_mean, least)

    def restricted(self, chosen: BoolArray) -> FixedStrata:
        """Return the strata of some groups (groups,), numbered anew in their order."""
        kept = chosen[self.group]
        return FixedStrata(
            int(chosen.sum()),
            (np.cumsum(chosen) - 1)[self.group[kept]],
            self.launches[kept],
            self.mean_ns[kept],
            self.spread[kept],
            self.spread_over_mean[kept],
            self.least[kept],
        )

    def cut(self, price: FloatArray) -> Cut:
        """Return all strata, with the sizes that cost least at a price (groups,)."""
        samples = best_sizes(price[self.group] * self.spread_over_mean, self.least, self.launches)
        return Cut(np.arange(len(samples)), samples)

    def variance(self, cut: Cut) -> FloatArray:
        """Return (groups,) the variance of each group's estimated total, in simulated time, ns^2."""
        return summed_by_group(self.group, self.spread * left_out(cut.samples, self.launches), self.groups)

    def time_ns(self, cut: Cut) -> FloatArray:
        """Return (groups,) the sampled time of each group, sum of m mu."""
        return summed_by_group(self.group, cut.samples * self.mean_ns, self.groups)

    def census_price(self) -> FloatArray:
        """Return (groups,) a price at which every stratum is best simulated whole."""
        one_less = np.maximum(self.launches - 1, 1)
        worth = one_less * self.launches / np.where(self.spread_over_mean > 0, self.spread_over_mean, np.inf)
        most = np.zeros(self.groups)
        np.maximum.at(most, self.group, worth)
        return 2 * most
