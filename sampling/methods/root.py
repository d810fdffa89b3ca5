"""ROOT: split a cluster when its halves, sampled jointly, cost less time. [STEM+ROOT section IV-C]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.settings import Span, setting
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.splitting.costs_in_words import costs_in_words
from sampling.splitting.groups import Overrides, split_groups
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import ClusterArrays, Proposal, SplitRule
from sampling.splitting.tree import Cluster, SplitTree, Verdict
from sampling.strata.allocation import joint_sample_sizes, single_sample_size, water_filled_sample_sizes
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

SOURCE = "STEM+ROOT, section IV"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.NAME
RANDOM = True
SPLITS = True

_MOST_PARTS = 8
# Equal costs may differ by rounding; a split must be cheaper by more than that.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Options:
    """Variants of ROOT."""

    variant: Literal["exact", "script", "paper"] = setting(
        "exact",
        "exact: keeping a node costs what its parent's allocation gave it, and sizes are allocated anew over "
        "all leaves of a group, so that its bound holds; script: as the published script departs from that, "
        "no new allocation, and no floor of 1 in the costs; paper: keeping a node costs what its own Eq. 3 "
        "asks for",
    )
    k_max: int = setting(
        2,
        "a decision may split into up to so many parts: as many as cost least",
        span=Span(least=2, most=_MOST_PARTS),
    )

    def __post_init__(self) -> None:
        if not 2 <= self.k_max <= _MOST_PARTS:
            raise OptionError(f"root.k_max is 2 to {_MOST_PARTS}, not {self.k_max}")


@dataclass(frozen=True, slots=True)
class RootRule:
    """Split iff the parts cost less sampled time than the whole: tau_new < tau_old, strictly."""

    target: Target
    variant: str = "exact"
    most_parts: int = 2

    @property
    def _floor(self) -> int:
        return 0 if self.variant == "script" else 1

    @property
    def enough(self) -> int:
        """At one sample no split can cost less, for two parts need one each."""
        return self._floor

    def samples_alone(self, launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray) -> IntArray:
        """Return max(1, ceil((z sigma/(epsilon mu))^2)), at most N. [STEM+ROOT Eq. 3, Gaussian]"""
        alone = single_sample_size(mean_ns, std_ns, self.target.epsilon, self.target.z)
        return np.minimum(np.maximum(alone, self._floor), launches)

    def samples_kept(self, cluster: Cluster, allocated: int) -> int:
        """Return what the parent allocated; in the paper's variant what the cluster's own Eq. 3 asks for."""
        return self._alone(cluster) if self.variant == "paper" else allocated

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return the comparison of tau_old with the least tau_new, and what follows from it."""
        costs = [self._cost(parts) for parts in partitions]
        best = min(range(len(costs)), key=lambda index: costs[index][1])
        samples_new, tau_new_ns = costs[best]
        tau_old_ns = samples_old * cluster.mean_ns
        pays = tau_new_ns < tau_old_ns * (1 - _ROUNDING)
        parts_cost, whole_costs = costs_in_words(tau_new_ns, tau_old_ns)
        return Proposal(
            parts=partitions[best],
            samples_new=samples_new,
            tau_old_ns=tau_old_ns,
            tau_new_ns=tau_new_ns,
            verdict=Verdict.SPLIT if pays else Verdict.KEEP,
            reason=f"{' + '.join(map(str, samples_new))} samples cost {parts_cost}, "
            f"{samples_old} of the whole {whole_costs}: " + ("less" if pays else "not less"),
        )

    def halve(
        self, whole: ClusterArrays, samples_old: IntArray, halves: ClusterArrays
    ) -> tuple[BoolArray, IntArray]:
        """Return where two halves cost less than the whole, and the sizes that the comparison gave them."""
        samples_new = self._sizes(halves)
        tau_new_ns = (samples_new * halves.mean_ns).sum(axis=-1)
        splits = tau_new_ns < samples_old * whole.mean_ns * (1 - _ROUNDING)
        if self.variant == "paper":
            samples_new = self.samples_alone(halves.launches, halves.mean_ns, halves.std_ns)
        return splits, samples_new

    def _cost(self, parts: tuple[Cluster, ...]) -> tuple[tuple[int, ...], float]:
        """Return the joint sizes of the parts and tau_new = sum m mu."""
        clusters = ClusterArrays(
            np.array([part.launches for part in parts]),
            np.array([part.mean_ns for part in parts]),
            np.array([part.std_ns for part in parts]),
        )
        sizes = self._sizes(clusters)
        return tuple(sizes.tolist()), float((sizes * clusters.mean_ns).sum())

    def _sizes(self, parts: ClusterArrays) -> IntArray:
        """Return the joint sizes, eps relative to the parts' own total, at least the floor, at most N."""
        sizes = joint_sample_sizes(
            parts.launches, parts.mean_ns, parts.std_ns, self.target.epsilon, self.target.z
        )
        return np.clip(sizes, self._floor, parts.launches)

    def _alone(self, cluster: Cluster) -> int:
        alone = self.samples_alone(
            np.array([cluster.launches]), np.array([cluster.mean_ns]), np.array([cluster.std_ns])
        )
        return int(alone[0])


def rule(target: Target, options: Options) -> SplitRule:
    """Return the rule ROOT's trees grow by."""
    return RootRule(target, options.variant, options.k_max)


def stratify(
    counts: DurationCounts,
    target: Target,
    options: Options,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn here
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Strata:
    """Split every group, then allocate once, jointly over all leaves of the group.

    The new allocation is needed: a tree where one child is final and its sibling splits on is not covered by
    [STEM+ROOT Theorem 1]; with it the bound holds for each group, and Theorem 1 covers their union.
    """
    clusters, samples = split_groups(counts, rule(target, options), overrides, progress)
    return sized(clusters, samples, target, options)


def sized(clusters: Clusters, samples: IntArray, target: Target, options: Options) -> Strata:
    """Return clusters, whole groups of them, with the sizes that keep each group's bound.

    Parameters
    ----------
    samples : (s,) what the decision above each gave it; the published script's sizes.
    """
    if options.variant == "script":
        sizes = np.maximum(samples, 1)
        if not target.with_replacement:
            sizes = np.minimum(sizes, clusters.launches)
    elif target.with_replacement:
        sizes = _closed_form(
            clusters.launches, clusters.mean_ns, clusters.std_ns, clusters.group_offsets, target
        )
    else:
        sizes = water_filled_sample_sizes(
            clusters.launches,
            clusters.mean_ns,
            clusters.std_ns,
            clusters.group_offsets,
            target.epsilon,
            target.z,
        )
    return clusters.with_samples(sizes, with_replacement=target.with_replacement)


def _closed_form(
    launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray, offsets: IntArray, target: Target
) -> IntArray:
    """Return the papers' sizes group by group, with floor 1 and no cap at N."""
    parts = [
        joint_sample_sizes(launches[rows], mean_ns[rows], std_ns[rows], target.epsilon, target.z)
        for rows in map(slice, offsets[:-1].tolist(), offsets[1:].tolist())
    ]
    return np.maximum(np.concatenate(parts), 1)


def split_tree(
    counts: DurationCounts, group: int, target: Target, options: Options, overrides: Overrides | None = None
) -> SplitTree:
    """Return how a group is split."""
    decided = (overrides or {}).get(counts.groups[group].key)
    return TreeGrower(counts, group, rule(target, options), decided).run()
