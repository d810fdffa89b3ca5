"""ROOT's strata in place of those that a price finds, where they take less time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.priced_forest import Cut, PricedForest
from sampling.methods.joint.spare_variance import within
from sampling.methods.root import RootRule
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.groups import split_groups
from sampling.strata.allocation import water_filled_sample_sizes
from sampling.strata.strata import Clusters
from sampling.strata.target import Target
from sampling.strata.variance import left_out, spread, summed_by_group


def root_strata(counts: DurationCounts, target: Target, epsilon: float) -> tuple[Clusters, IntArray]:
    """Return ROOT's strata that bound every group by epsilon, with the least sizes that meet it."""
    clusters, _ = split_groups(counts, RootRule(replace(target, epsilon=epsilon)))
    return clusters, root_sizes(clusters, target, epsilon)


def root_sizes(clusters: Clusters, target: Target, epsilon: float) -> IntArray:
    """Return (s,) the least sizes that bound every group of the clusters by epsilon."""
    return water_filled_sample_sizes(
        clusters.launches,
        clusters.mean_ns,
        clusters.std_ns,
        clusters.group_offsets,
        epsilon,
        target.z,
        floor=target.min_samples,
        noise_floor=target.noise_floor,
    )


def cheaper_by_root(
    priced: PricedForest,
    cut: Cut,
    target: Target,
    rooted: Clusters,
    rooted_samples: IntArray,
    group_budget: FloatArray,
    budget: float,
) -> BoolArray:
    """Return (groups,) where ROOT's strata take less time; both bounds hold with all of them together."""
    rooted_spread = spread(rooted.launches, rooted.mean_ns, rooted.std_ns, target.noise_floor)
    rooted_variance = summed_by_group(
        rooted.group, rooted_spread * left_out(rooted_samples, rooted.launches), priced.groups
    )
    rooted_time_ns = summed_by_group(rooted.group, rooted_samples * rooted.mean_ns, priced.groups)
    variance, time_ns = priced.variance(cut), priced.time_ns(cut)
    cheaper = np.flatnonzero((rooted_time_ns < time_ns) & within(rooted_variance, group_budget))
    cheaper = cheaper[np.argsort(rooted_time_ns[cheaper] - time_ns[cheaper], kind="stable")]
    added = rooted_variance[cheaper] - variance[cheaper]
    affordable = within(float(variance.sum()) + np.cumsum(np.maximum(added, 0)), budget)
    chosen = np.zeros(priced.groups, dtype=np.bool_)
    chosen[cheaper[affordable]] = True
    return chosen


def with_root_strata(
    clusters: Clusters, samples: IntArray, rooted: Clusters, rooted_samples: IntArray, from_root: BoolArray
) -> tuple[Clusters, IntArray]:
    """Return the strata with those of the given groups replaced by ROOT's."""
    own, other = ~from_root[clusters.group], from_root[rooted.group]
    start = np.concatenate([clusters.start[own], rooted.start[other]])
    order = np.argsort(start)
    pairs = zip(clusters.columns, rooted.columns, strict=True)
    merged = Clusters(*(np.concatenate([mine[own], roots[other]])[order] for mine, roots in pairs))
    return merged, np.concatenate([samples[own], rooted_samples[other]])[order]
