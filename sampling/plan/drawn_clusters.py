"""Draws at random within clusters that a method found by looking at single launches.

The clusters are no ranges of durations of a kernel group, so the launches are counted anew, by cluster and
duration; strata, bounds and draws are then those of any random plan. (docs/methods.md, 8 Sieve, Photon,
embedding, random)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import Picks
from sampling.methods.registry import launches_drawn_within
from sampling.plan.design import Design, StratumFacts
from sampling.plan.picked_design import AnyDesign, PickedDesign, make_picked_design
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, reduce_by_two_keys
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.launch_list import LaunchList
from sampling.reduction.plan_groups import PlanGroups
from sampling.reduction.region import Region
from sampling.strata.draw import Draw
from sampling.strata.sizes import water_filled_sample_sizes
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, declared_spread, measured_clusters
from sampling.strata.target import Target


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnClusters(Design):
    """A design that draws at random within clusters; its strata span kernel groups.

    Attributes
    ----------
    launches : the list that the clusters part.
    picks : the clusters; which launches would have been picked of them does not matter here.
    groups : the clusters, with the launches by cluster and duration.
    """

    launches: LaunchList
    picks: Picks
    groups: PlanGroups

    def ids(self, drawn: Draw) -> IntArray:
        """Return (n,) the ids of drawn launches, in the order of the draw."""
        place = self.groups.counts.launches_before[drawn.pair] + drawn.occurrence
        return np.asarray(self.launches.id[self._order[place]])

    @cached_property
    def _order(self) -> IntArray:
        """(n,) rows of the list by cluster, duration and id, as the draw counts them."""
        return np.lexsort((self.launches.duration_ns, self.picks.stratum))

    def facts(self, counts: DurationCounts) -> Iterator[StratumFacts]:
        """Yield every stratum in figures; its key is the cluster in words."""
        del counts  # of the kernel groups, which the clusters span
        strata, duration_ns = self.strata, self.groups.counts.duration_ns
        low_ns, high_ns = duration_ns[strata.start], duration_ns[strata.stop - 1]
        columns = (strata.launches, strata.mean_ns, strata.std_ns, low_ns, high_ns, strata.samples)
        pooled = [True] * len(strata)
        return map(StratumFacts, self.picks.labels, *(column.tolist() for column in columns), pooled)


def make_design_by_launches(
    launches: LaunchList,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> AnyDesign:
    """Return the design of a method that looks at single launches: its picks, or draws within its strata.

    Raises
    ------
    OptionError, NotApplicableError : see `make_picked_design`.
    """
    picked = make_picked_design(launches, method, target, seed, settings=settings, progress=progress)
    least = launches_drawn_within(method, settings)
    if least is None:
        return picked
    return drawn_within(picked, least)


def drawn_within(picked: PickedDesign, least: int) -> DrawnClusters:
    """Return the design that draws within the strata of picks, which hold every launch.

    Sizes are the least that bound the error of the total by epsilon; a stratum gets at least ``least``, or
    all it has.
    """
    counts = _counted_by_cluster(picked)
    clusters = measured_clusters(
        counts, np.full(len(counts.groups), WHOLE_WORKLOAD), counts.offsets[:-1], counts.offsets[1:]
    )
    target = picked.target
    size, mean_ns, std_ns = clusters.launches, clusters.mean_ns, clusters.std_ns
    whole = np.array([0, len(size)])
    sizes = water_filled_sample_sizes(size, mean_ns, std_ns, whole, target.epsilon, target.z, floor=least)
    strata: Strata = replace(clusters.with_samples(sizes, notes=picked.notes), least_samples=least)
    listed = picked.launches
    kernel_ns = np.bincount(listed.group, listed.duration_ns, minlength=len(listed.groups)).astype(np.int64)
    # Every cluster may hold launches of any kernel group.
    groups = PlanGroups(counts, np.zeros(len(kernel_ns), np.int64), np.ones(len(size), np.bool_), kernel_ns)
    return DrawnClusters(
        picked.method,
        target,
        strata,
        groups=groups,
        cycles=declared_spread(groups, target),
        launches=listed,
        picks=picked.picks,
    )


def _counted_by_cluster(picked: PickedDesign) -> DurationCounts:
    """Return the launches by cluster and duration, each cluster as a group of its own."""
    picks = picked.picks
    launches = picked.launches
    reduction = reduce_by_two_keys(picks.stratum, launches.duration_ns)
    counts = DurationCounts(
        grouping=Grouping(),
        region=Region(),
        selected=(),
        groups=tuple(KernelGroup(label, label, None, None, None, None) for label in picks.labels),
        offsets=np.searchsorted(reduction.raw, np.arange(len(picks.labels) + 1)),
        duration_ns=reduction.duration_ns,
        count=reduction.count,
        group_of_raw=np.zeros(0, dtype=np.int64),
        names=0,
    )
    if launches.cost is None:
        return counts
    return counts.with_cost(picks.stratum, launches.duration_ns, launches.cost)
