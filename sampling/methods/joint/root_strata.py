"""ROOT's strata in place of those that a price finds, where they take less time."""

from __future__ import annotations

from dataclasses import replace

from sampling.arrays import IntArray
from sampling.methods.root import RootRule
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.groups import split_groups
from sampling.strata.allocation import water_filled_sample_sizes
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.strata import Clusters
from sampling.strata.target import Target


def root_strata(
    counts: DurationCounts, target: Target, epsilon: float, cycles: CycleSpread
) -> tuple[Clusters, IntArray]:
    """Return ROOT's strata that bound every group by epsilon, with the least sizes that meet it."""
    clusters, _ = split_groups(counts, RootRule(replace(target, epsilon=epsilon)))
    return clusters, root_sizes(clusters, target, epsilon, cycles)


def root_sizes(clusters: Clusters, target: Target, epsilon: float, cycles: CycleSpread) -> IntArray:
    """Return (s,) the least sizes that bound every group of the clusters by epsilon."""
    return water_filled_sample_sizes(
        clusters.launches,
        clusters.mean_ns,
        clusters.std_ns,
        clusters.group_offsets,
        epsilon,
        target.z,
        floor=target.min_samples,
        variance=cycles.of_own_totals().of(clusters),
    )
