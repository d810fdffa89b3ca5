"""ROOT: split a cluster when its halves, sampled jointly, cost less time. [STEM+ROOT section IV-C]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.allocation import (
    FloatArray,
    IntArray,
    joint_sample_sizes,
    single_sample_size,
    water_filled_sample_sizes,
)
from sampling.duration_counts import DurationCounts
from sampling.group_by import GroupBy
from sampling.progress import Progress
from sampling.split_tree import Cluster, Proposal, SplitRule, Verdict
from sampling.splitting import Overrides, split_groups
from sampling.strata import Strata
from sampling.targets import Target

SOURCE = "STEM+ROOT, section IV"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.NAME
RANDOM = True


@dataclass(frozen=True, slots=True)
class Options:
    """Variants of ROOT.

    Attributes
    ----------
    variant : ``exact`` builds the tree by the costs its parents' allocations gave and allocates anew over all
        leaves of a group, so that its bound holds; ``script``, as the published script: no new allocation
        and no floor of 1 in the costs; ``paper``: the cost of keeping any node from its own Eq. 3.
    """

    variant: Literal["exact", "script", "paper"] = "exact"


@dataclass(frozen=True, slots=True)
class RootRule:
    """Split iff the halves cost less sampled time than the whole: tau_new < tau_old, strictly."""

    target: Target
    variant: str

    @property
    def _floor(self) -> int:
        return 0 if self.variant == "script" else 1

    @property
    def enough(self) -> int:
        """At one sample no split can cost less, for two halves need one each."""
        return self._floor

    def samples_alone(self, launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray) -> IntArray:
        """Return max(1, ceil((z sigma/(epsilon mu))^2)), at most N. [STEM+ROOT Eq. 3, Gaussian]"""
        alone = single_sample_size(mean_ns, std_ns, self.target.epsilon, self.target.z)
        return np.minimum(np.maximum(alone, self._floor), launches)

    def propose(self, cluster: Cluster, samples_old: int, halves: tuple[Cluster, Cluster]) -> Proposal:
        """Return the comparison of tau_old with tau_new, and what follows from it."""
        launches = np.array([half.launches for half in halves])
        mean_ns = np.array([half.mean_ns for half in halves])
        std_ns = np.array([half.std_ns for half in halves])
        sizes = joint_sample_sizes(launches, mean_ns, std_ns, self.target.epsilon, self.target.z)
        left, right = np.clip(sizes, self._floor, launches).tolist()
        if self.variant == "paper":
            alone = self.samples_alone(
                np.array([cluster.launches]), np.array([cluster.mean_ns]), np.array([cluster.std_ns])
            )
            samples_old = int(alone[0])
        tau_old_ns = samples_old * cluster.mean_ns
        tau_new_ns = left * halves[0].mean_ns + right * halves[1].mean_ns
        pays = tau_new_ns < tau_old_ns
        return Proposal(
            samples_new=(left, right),
            tau_old_ns=tau_old_ns,
            tau_new_ns=tau_new_ns,
            verdict=Verdict.SPLIT if pays else Verdict.KEEP,
            reason=f"{left} + {right} samples cost {tau_new_ns:,.0f} ns, "
            f"{samples_old} of the whole {tau_old_ns:,.0f} ns: " + ("less" if pays else "not less"),
        )


def rule(target: Target, options: Options) -> SplitRule:
    """Return the rule ROOT's trees grow by."""
    return RootRule(target, options.variant)


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
    if options.variant == "script":
        sizes = np.clip(samples, 1, clusters.launches)
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
