"""When to split: what a rule sees of a cluster, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.splitting.tree import Cluster, Share, Verdict
from sampling.strata.strata import Clusters, Strata

_MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a rule makes of a cluster and its parts; the costs are sampled time in nanoseconds.

    Attributes
    ----------
    parts : two or more runs of the cluster, ascending; samples_new : how many samples each would cost.
    """

    parts: tuple[Cluster, ...]
    samples_new: tuple[int, ...]
    tau_old_ns: float
    tau_new_ns: float
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class ClusterArrays:
    """Size, mean and population standard deviation of many clusters; arrays of one shape."""

    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray

    @classmethod
    def of(cls, *clusters: Cluster) -> ClusterArrays:
        """Return the arrays (c,) of single clusters."""
        return cls(
            np.array([cluster.launches for cluster in clusters]),
            np.array([cluster.mean_ns for cluster in clusters]),
            np.array([cluster.std_ns for cluster in clusters]),
        )


@dataclass(frozen=True, slots=True)
class Halves:
    """Many clusters, each with its best two halves.

    Attributes
    ----------
    whole, samples_old : (k,) the clusters, and what each costs if kept.
    parts : (k, 2) left and right half.
    """

    whole: ClusterArrays
    samples_old: IntArray
    parts: ClusterArrays


class SplitRule(Protocol):
    """When to split. A rule sees one cluster at a time and never its relatives."""

    @property
    def enough(self) -> int:
        """A cluster that costs no more samples than this is kept without looking at its parts."""

    @property
    def most_parts(self) -> int:
        """How many parts one decision may make, 2 or more."""

    def samples_alone(self, clusters: ClusterArrays) -> IntArray:
        """Return how many samples each cluster costs by itself, as at the root of a group."""

    def samples_kept(self, share: Share) -> int:
        """Return how many samples a cluster costs if kept, given what the decision above allocated to it."""

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return the decision on a cluster that costs ``samples_old`` samples if kept.

        Parameters
        ----------
        partitions : its best partitions into 2, 3, ... parts, at most ``most_parts``; at least the first.
        """

    def halve(self, halves: Halves) -> tuple[BoolArray, IntArray]:
        """Return the decisions of `propose` on many clusters at once, each with its best two halves.

        Returns
        -------
        splits : (k,); samples_new : (k, 2) what each half costs by this decision.
        """

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return the final clusters of whole groups with the sizes that the method draws.

        Parameters
        ----------
        samples : (s,) what the decision above each cluster allocated to it.
        """


def costs_in_words(one_ns: float, other_ns: float) -> tuple[str, str]:
    """Return two times in nanoseconds, with the decimals that tell them apart; none where they are equal."""
    for decimals in range(_MOST_DECIMALS + 1):
        one, other = (f"{ns:,.{decimals}f} ns" for ns in (one_ns, other_ns))
        if one != other:
            return one, other
    return f"{one_ns:,.0f} ns", f"{other_ns:,.0f} ns"
