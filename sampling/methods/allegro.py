"""Allegro: split by 2-means until a cluster needs few samples. [Allegro Algorithm 1, Theorem 2]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.settings import Span, setting
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.splitting.groups import Overrides, split_groups
from sampling.splitting.grower import TreeGrower
from sampling.splitting.rule import ClusterArrays, Proposal, SplitRule
from sampling.splitting.tree import Cluster, SplitTree, Verdict
from sampling.strata.allocation import single_sample_size
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target

SOURCE = "Allegro, section IV"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.LAUNCH
RANDOM = True
SPLITS = True


@dataclass(frozen=True, slots=True)
class Options:
    """Allegro's two numbers."""

    threshold: int = setting(
        50, "a cluster that needs no more samples than this is final (m_th)", span=Span(least=1)
    )
    floor: int = setting(
        30,
        "the least samples of a cluster, for the central limit theorem's sake",
        span=Span(least=1),
    )

    def __post_init__(self) -> None:
        for name, value in (("threshold", self.threshold), ("floor", self.floor)):
            if value < 1:
                raise OptionError(f"{name} is 1 or more, not {value}")


@dataclass(frozen=True, slots=True)
class SampleCountRule:
    """Split iff a cluster by itself needs more than ``threshold`` samples."""

    target: Target
    threshold: int
    floor: int

    @property
    def enough(self) -> int:
        """The threshold."""
        return self.threshold

    def samples_alone(
        self,
        launches: IntArray,  # noqa: ARG002 - the size that decides is not capped at N
        mean_ns: FloatArray,
        std_ns: FloatArray,
    ) -> IntArray:
        """Return max(ceil((z sigma/(mu epsilon))^2), 30), not capped. [Allegro Theorem 2]"""
        return np.maximum(single_sample_size(mean_ns, std_ns, self.target.epsilon, self.target.z), self.floor)

    @property
    def most_parts(self) -> int:
        """Two."""
        return 2

    def samples_kept(self, cluster: Cluster, allocated: int) -> int:  # noqa: ARG002 - one form for all rules
        """Return what it was found to need by itself."""
        return allocated

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return a split into two where more than the threshold is needed."""
        parts = partitions[0]
        alone = self.samples_alone(
            np.array([part.launches for part in parts]),
            np.array([part.mean_ns for part in parts]),
            np.array([part.std_ns for part in parts]),
        )
        samples_new = tuple(alone.tolist())
        splits = samples_old > self.threshold
        return Proposal(
            parts=parts,
            samples_new=samples_new,
            tau_old_ns=min(samples_old, cluster.launches) * cluster.mean_ns,
            tau_new_ns=sum(
                min(m, part.launches) * part.mean_ns for m, part in zip(samples_new, parts, strict=True)
            ),
            verdict=Verdict.SPLIT if splits else Verdict.KEEP,
            reason=f"it needs {samples_old} samples, {'more than' if splits else 'within'} {self.threshold}",
        )

    def halve(
        self,
        whole: ClusterArrays,  # noqa: ARG002 - one form for all rules
        samples_old: IntArray,
        halves: ClusterArrays,
    ) -> tuple[BoolArray, IntArray]:
        """Return which need more than the threshold, and what each half needs by itself."""
        alone = self.samples_alone(halves.launches, halves.mean_ns, halves.std_ns)
        return samples_old > self.threshold, alone


def rule(target: Target, options: Options) -> SplitRule:
    """Return the rule Allegro's trees grow by."""
    return SampleCountRule(target, options.threshold, options.floor)


def stratify(
    counts: DurationCounts,
    target: Target,
    options: Options,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn here
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Strata:
    """Split every group; draw from each final cluster what it needs by itself, at most all of it."""
    clusters, samples = split_groups(counts, rule(target, options), overrides, progress)
    return sized(clusters, samples, target, options)


def sized(
    clusters: Clusters,
    samples: IntArray,
    target: Target,
    options: Options,  # noqa: ARG001 - one form for all methods that grow trees by a rule
) -> Strata:
    """Return clusters with what each needs by itself, ``samples`` (s,), at most all of it."""
    if not target.with_replacement:
        samples = np.minimum(samples, clusters.launches)
    return clusters.with_samples(samples, with_replacement=target.with_replacement)


def split_tree(
    counts: DurationCounts, group: int, target: Target, options: Options, overrides: Overrides | None = None
) -> SplitTree:
    """Return how a group is split."""
    decided = (overrides or {}).get(counts.groups[group].key)
    return TreeGrower(counts, group, rule(target, options), decided).run()
