"""Allegro: split by 2-means until a cluster needs few samples. [Allegro Algorithm 1, Theorem 2]

STEM-only is the same on kernels grouped by name. [STEM+ROOT section V-A]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.methods.method import GrownByRule, Method
from sampling.methods.options import setting
from sampling.reduction import GroupBy
from sampling.splitting.tree import Cluster, ClusterArrays, Halves, Proposal, Share, Verdict
from sampling.strata.sizes import single_sample_size
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target


@dataclass(frozen=True, slots=True)
class Options:
    """Allegro's two numbers."""

    threshold: int = setting(50, "a cluster that needs no more samples than this is final (m_th)", ge=1)
    floor: int = setting(30, "the least samples of a cluster, for the central limit theorem's sake", ge=1)


@dataclass(frozen=True, slots=True)
class SampleCountRule:
    """Split iff a cluster by itself needs more than the threshold's samples.

    A final cluster is drawn from as often as it needs by itself, at most all of it.
    """

    target: Target
    options: Options

    @property
    def enough(self) -> int:
        """The threshold."""
        return self.options.threshold

    @property
    def most_parts(self) -> int:
        """Two."""
        return 2

    def samples_alone(self, clusters: ClusterArrays) -> IntArray:
        """Return max(ceil((z sigma/(mu epsilon))^2), 30), not capped at N. [Allegro Theorem 2]"""
        alone = single_sample_size(clusters.mean_ns, clusters.std_ns, self.target.epsilon, self.target.z)
        return np.maximum(alone, self.options.floor)

    def samples_kept(self, share: Share) -> int:
        """Return what the cluster was found to need by itself."""
        return share.samples

    def propose(
        self, cluster: Cluster, samples_old: int, partitions: Sequence[tuple[Cluster, ...]]
    ) -> Proposal:
        """Return a split into two where more than the threshold is needed."""
        parts, threshold = partitions[0], self.options.threshold
        samples_new = tuple(self.samples_alone(ClusterArrays.of(*parts)).tolist())
        splits = samples_old > threshold
        return Proposal(
            parts=parts,
            samples_new=samples_new,
            tau_old_ns=min(samples_old, cluster.launches) * cluster.mean_ns,
            tau_new_ns=sum(
                min(m, part.launches) * part.mean_ns for m, part in zip(samples_new, parts, strict=True)
            ),
            verdict=Verdict.SPLIT if splits else Verdict.KEEP,
            reason=f"it needs {samples_old} samples, {'more than' if splits else 'within'} {threshold}",
        )

    def halve(self, halves: Halves) -> tuple[BoolArray, IntArray]:
        """Return which clusters need more than the threshold, and what each half needs by itself."""
        return halves.samples_old > self.options.threshold, self.samples_alone(halves.parts)

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return clusters with what each needs by itself, ``samples`` (s,), at most all of it."""
        return clusters.with_samples(np.minimum(samples, clusters.launches))


_TREES = GrownByRule(SampleCountRule)

METHOD = Method(
    name="allegro",
    source="Allegro, section IV",
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    stratify=_TREES.stratify,
    trees=_TREES,
)

STEM = replace(
    METHOD,
    name="stem",
    source="STEM+ROOT, section V-A (STEM-only)",
    published_grouping=GroupBy.NAME,
)
