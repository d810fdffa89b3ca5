"""Clusters of launches by what is known of each one, not by durations alone: with a method's picks of them.

A plan is the picks, or launches drawn at random within the clusters. (docs/methods.md, 8 Sieve, Photon,
embedding, random)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.methods.method import Picks
from sampling.reduction.duration_counts import DurationCounts, pair_signatures, reduced
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.launch_list import LaunchList
from sampling.reduction.plan_groups import PlanGroups
from sampling.reduction.region import Region
from sampling.strata.strata import WHOLE_WORKLOAD, Strata


class StratumFacts(NamedTuple):
    """What the strata (s,) of a design are, beside their moments and sizes."""

    key: Sequence[str]
    low_ns: IntArray
    high_ns: IntArray
    #: Whether it may hold launches of several kernel groups, and is drawn from at random.
    pooled: BoolArray
    #: How many distinct names, grids and blocks its launches have.
    signatures: IntArray


@dataclass(frozen=True, eq=False)
class LaunchClusters:
    """The launches that a method looked at one by one, its clusters of them, and its picks."""

    launches: LaunchList
    picks: Picks

    @cached_property
    def by_cluster(self) -> IntArray:
        """(n,) rows of the list by cluster, duration and id, as a draw counts them."""
        return np.lexsort((self.launches.duration_ns, self.picks.stratum))

    @cached_property
    def picked_order(self) -> IntArray:
        """(k,) the picks by their stratum."""
        return np.argsort(self.picks.stratum[self.picks.row], kind="stable")

    def strata(self) -> Strata:
        """Return the clusters as strata that no pairs of a reduction make up, with their picks as samples."""
        stratum, clusters = self.picks.stratum, len(self.picks.labels)
        order = np.argsort(stratum, kind="stable")
        ends = np.searchsorted(stratum[order], np.arange(clusters + 1))
        durations_ns = np.split(self.launches.duration_ns[order], ends[1:-1])
        nowhere = np.zeros(clusters, dtype=np.int64)
        return Strata(
            group=np.full(clusters, WHOLE_WORKLOAD),
            start=nowhere,
            stop=nowhere,
            launches=np.diff(ends),
            mean_ns=np.array([of_cluster.mean() for of_cluster in durations_ns]),
            std_ns=np.array([of_cluster.std() for of_cluster in durations_ns]),
            samples=np.bincount(stratum[self.picks.row], minlength=clusters),
            notes=self.picks.notes,
        )

    def facts(self, *, pooled: bool) -> StratumFacts:
        """Return what the clusters are; launches that no pick stands for are in none."""
        stratum, labels = self.picks.stratum, self.picks.labels
        ends = np.searchsorted(stratum[self.by_cluster], np.arange(len(labels) + 1))
        duration_ns = self.launches.duration_ns[self.by_cluster]
        is_held = stratum >= 0
        width = int(self.launches.signature.max()) + 1
        pairs = np.unique(stratum[is_held] * width + self.launches.signature[is_held])
        signatures = np.bincount(pairs // width, minlength=len(labels))
        is_pooled = np.full(len(labels), pooled)
        return StratumFacts(labels, duration_ns[ends[:-1]], duration_ns[ends[1:] - 1], is_pooled, signatures)

    def groups(self) -> PlanGroups:
        """Return the launches counted anew, by cluster and duration; the clusters hold every launch."""
        launches, stratum, labels = self.launches, self.picks.stratum, self.picks.labels
        cluster, duration_ns, count = reduced(stratum, launches.duration_ns)
        counts = DurationCounts(
            grouping=Grouping(),
            region=Region(),
            selected=(),
            groups=tuple(KernelGroup(label, label, None, None, None, None) for label in labels),
            offsets=np.searchsorted(cluster, np.arange(len(labels) + 1)),
            duration_ns=duration_ns,
            count=count,
            group_of_raw=np.zeros(0, dtype=np.int64),
            names=0,
            signatures=pair_signatures(stratum, launches.duration_ns, launches.signature),
        )
        if launches.cost is not None:
            counts = counts.with_cost(stratum, launches.duration_ns, launches.cost)
        kernel_ns = np.bincount(launches.group, launches.duration_ns, len(launches.groups)).astype(np.int64)
        # Every cluster may hold launches of any kernel group.
        is_pool, of_kernel = np.ones(len(labels), dtype=np.bool_), np.zeros(len(kernel_ns), dtype=np.int64)
        return PlanGroups(counts, of_kernel, is_pool, kernel_ns)
