"""Allegro: split by 2-means until a cluster needs few samples. [Allegro Algorithm 1, Theorem 2]

STEM-only is the same on kernels grouped by name. [STEM+ROOT section V-A]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import GrownByRule, Method, setting
from sampling.reduction import GroupBy
from sampling.splitting.tree import Decided, Proposal, Verdict
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
    """Split iff a cluster by itself needs more than the threshold's samples; what it needs is drawn of it."""

    target: Target
    options: Options

    most_parts = 2

    @property
    def enough(self) -> int:
        """The threshold."""
        return self.options.threshold

    def samples_alone(self, clusters: Clusters) -> IntArray:
        """Return max(ceil((z sigma/(mu epsilon))^2), 30), not capped at N. [Allegro Theorem 2]"""
        samples = single_sample_size(clusters.mean_ns, clusters.std_ns, self.target.epsilon, self.target.z)
        return np.maximum(samples, self.options.floor)

    def samples_kept(self, _: Clusters, samples: IntArray) -> IntArray:
        """Return what each was found to need by itself."""
        return samples

    def decide(self, parent: Clusters, samples_old: IntArray, parts: Clusters) -> Decided:
        """Return a split where more than the threshold is needed."""
        samples_new = self.samples_alone(parts)
        old_ns = np.minimum(samples_old, parent.launches) * parent.mean_ns
        new_ns = (np.minimum(samples_new, parts.launches) * parts.mean_ns).sum(axis=-1)
        return Decided(np.asarray(samples_old > self.options.threshold), samples_new, old_ns, new_ns)

    def reason(self, _: Clusters, samples_old: int, proposal: Proposal) -> str:
        """Return how many samples it needs, beside the threshold."""
        compared = "more than" if proposal.verdict is Verdict.SPLIT else "within"
        return f"it needs {samples_old} samples, {compared} {self.options.threshold}"

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return clusters with what each needs by itself, ``samples`` (s,), at most all of it."""
        return clusters.with_samples(np.minimum(samples, clusters.launches))


_TREES = GrownByRule(SampleCountRule)

METHOD = Method(
    name="allegro",
    source="Allegro, section IV",
    description="Each kernel group is split by k-means until the durations of a part are alike. Launches are "
    "drawn at random from each part, as many as the central limit theorem asks for.",
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    stratify=_TREES.stratify,
    trees=_TREES,
)

STEM = replace(
    METHOD,
    name="stem",
    source="STEM+ROOT, section V-A (STEM-only)",
    description="Launches are drawn at random from each kernel group, as many as the error model STEM asks "
    "for.",
    published_grouping=GroupBy.NAME,
)
