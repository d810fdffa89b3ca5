"""ROOT: split a cluster when its halves, sampled jointly, cost less time. [STEM+ROOT section IV-C]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.methods.method import GrownByRule, Method
from sampling.methods.options import setting
from sampling.reduction import GroupBy
from sampling.splitting.tree import Cluster, ClusterArrays, Halves, Proposal, Share, Verdict, costs_in_words
from sampling.strata.sizes import joint_sample_sizes, single_sample_size, water_filled_sample_sizes
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

# Equal costs may differ by rounding; a split must be cheaper by more than that.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Options:
    """Variants of ROOT."""

    variant: Literal["exact", "script", "paper"] = setting(
        "exact",
        "exact: keeping a node costs what its parent's allocation gave it, and sizes are allocated anew over "
        "all leaves of a group, so that its bound holds; script: as the published script departs from that, "
        "no new allocation, no floor of 1 in the costs, and equal costs split; paper: keeping a node costs "
        "what its own Eq. 3 asks for",
    )
    k_max: int = setting(
        2, "a decision may split into up to so many parts: as many as cost least", ge=2, le=8
    )


@dataclass(frozen=True, slots=True)
class RootRule:
    """Split iff the parts cost less sampled time than the whole: tau_new < tau_old, strictly.

    Both are of draws with replacement, as in the paper, so a cluster may cost more samples than it has
    launches. Capped there, both would be the whole of a scattered group, and it would never be split.
    """

    target: Target
    options: Options = field(default_factory=Options)

    @property
    def _floor(self) -> int:
        return 0 if self.options.variant == "script" else 1

    @property
    def _worth_splitting(self) -> float:
        """The share of tau_old that tau_new must stay below; the published script splits at equal costs."""
        return 1 + _ROUNDING if self.options.variant == "script" else 1 - _ROUNDING

    @property
    def enough(self) -> int:
        """At one sample no split can cost less, for two parts need one each."""
        return self._floor

    @property
    def most_parts(self) -> int:
        """As the options say."""
        return self.options.k_max

    def samples_alone(self, clusters: ClusterArrays) -> IntArray:
        """Return max(1, ceil((z sigma/(epsilon mu))^2)), not capped at N. [STEM+ROOT Eq. 3, Gaussian]"""
        alone = single_sample_size(clusters.mean_ns, clusters.std_ns, self.target.epsilon, self.target.z)
        return np.maximum(alone, self._floor)

    def samples_kept(self, share: Share) -> int:
        """Return what the parent allocated; in the paper's variant what the cluster's own Eq. 3 asks for."""
        if self.options.variant == "paper":
            return int(self.samples_alone(ClusterArrays.of(share.cluster))[0])
        return share.samples

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return the comparison of tau_old with the least tau_new, and what follows from it."""
        costs = [self._cost(parts) for parts in partitions]
        best = min(range(len(costs)), key=lambda index: costs[index][1])
        samples_new, tau_new_ns = costs[best]
        tau_old_ns = samples_old * cluster.mean_ns
        pays = tau_new_ns < tau_old_ns * self._worth_splitting
        return Proposal(
            parts=partitions[best],
            samples_new=samples_new,
            tau_old_ns=tau_old_ns,
            tau_new_ns=tau_new_ns,
            verdict=Verdict.SPLIT if pays else Verdict.KEEP,
            reason=_reason(cluster, samples_old, partitions[best], samples_new, tau_old_ns, tau_new_ns, pays),
        )

    def halve(self, halves: Halves) -> tuple[BoolArray, IntArray]:
        """Return where two halves cost less than the whole, and the sizes that the comparison gave them."""
        samples_new = self._joint_sizes(halves.parts)
        tau_new_ns = (samples_new * halves.parts.mean_ns).sum(axis=-1)
        splits = tau_new_ns < halves.samples_old * halves.whole.mean_ns * self._worth_splitting
        if self.options.variant == "paper":
            samples_new = self.samples_alone(halves.parts)
        return splits, samples_new

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return the final clusters, the sizes allocated once more, jointly over all of a group.

        The new allocation is needed: a tree where one child is final and its sibling splits on is not covered
        by [STEM+ROOT Theorem 1]; with it the bound holds for each group, and Theorem 1 covers their union.

        Parameters
        ----------
        samples : (s,) what the decision above each gave it; the published script's sizes.
        """
        if self.options.variant == "script":
            return clusters.with_samples(np.clip(samples, 1, clusters.launches))
        sizes = water_filled_sample_sizes(
            clusters.launches,
            clusters.mean_ns,
            clusters.std_ns,
            clusters.group_offsets,
            self.target.epsilon,
            self.target.z,
        )
        return clusters.with_samples(sizes)

    def _cost(self, parts: tuple[Cluster, ...]) -> tuple[tuple[int, ...], float]:
        """Return the joint sizes of the parts and tau_new = sum m mu."""
        clusters = ClusterArrays.of(*parts)
        sizes = self._joint_sizes(clusters)
        return tuple(sizes.tolist()), float((sizes * clusters.mean_ns).sum())

    def _joint_sizes(self, parts: ClusterArrays) -> IntArray:
        """Return the joint sizes, eps relative to the parts' own total, at least the floor."""
        sizes = joint_sample_sizes(
            parts.launches, parts.mean_ns, parts.std_ns, self.target.epsilon, self.target.z
        )
        return np.maximum(sizes, self._floor)


def _reason(
    whole: Cluster,
    samples_old: int,
    parts: tuple[Cluster, ...],
    samples_new: tuple[int, ...],
    tau_old_ns: float,
    tau_new_ns: float,
    pays: bool,
) -> str:
    """Return both costs in words; where sizes exceed their clusters, that they are draws with replacement."""
    parts_cost, whole_costs = costs_in_words(tau_new_ns, tau_old_ns)
    outcome = "less" if tau_new_ns < tau_old_ns * (1 - _ROUNDING) else "not less"
    if pays and outcome == "not less":
        outcome = "equal, which the published script splits"
    priced = zip((samples_old, *samples_new), (whole, *parts), strict=True)
    if any(samples > cluster.launches for samples, cluster in priced):
        outcome = f"{outcome} (priced with replacement, so beyond the launches there are)"
    return (
        f"{' + '.join(map(str, samples_new))} samples cost {parts_cost}, "
        f"{samples_old} of the whole {whole_costs}: {outcome}"
    )


_TREES = GrownByRule(RootRule)

METHOD = Method(
    name="root",
    source="STEM+ROOT, section IV",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=_TREES.stratify,
    trees=_TREES,
)
