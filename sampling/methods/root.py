"""ROOT: split a cluster when its halves, sampled jointly, cost less time. [STEM+ROOT section IV-C]"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sampling.arrays import IntArray
from sampling.methods.method import GrownByRule, Method, setting
from sampling.reduction import GroupBy
from sampling.splitting.tree import Decided, Proposal, Verdict, costs_in_words
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
    def most_parts(self) -> int:
        """As the options say."""
        return self.options.k_max

    @property
    def enough(self) -> int:
        """The least samples: there no split can cost less, for two parts need one each."""
        return 0 if self.options.variant == "script" else 1

    def samples_alone(self, clusters: Clusters) -> IntArray:
        """Return max(1, ceil((z sigma/(epsilon mu))^2)), not capped at N. [STEM+ROOT Eq. 3, Gaussian]"""
        samples = single_sample_size(clusters.mean_ns, clusters.std_ns, self.target.epsilon, self.target.z)
        return np.maximum(samples, self.enough)

    def samples_kept(self, clusters: Clusters, samples: IntArray) -> IntArray:
        """Return what the parent allocated; in the paper's variant what each one's own Eq. 3 asks for."""
        return self.samples_alone(clusters) if self.options.variant == "paper" else samples

    def decide(self, parent: Clusters, samples_old: IntArray, parts: Clusters) -> Decided:
        """Return the comparison of tau_old = m mu with tau_new, of the joint sizes of the parts."""
        moments = parts.launches, parts.mean_ns, parts.std_ns
        sizes = np.maximum(joint_sample_sizes(*moments, self.target.epsilon, self.target.z), self.enough)
        old_ns, new_ns = samples_old * parent.mean_ns, (sizes * parts.mean_ns).sum(axis=-1)
        # The published script splits at equal costs.
        tolerance = 1 + _ROUNDING if self.options.variant == "script" else 1 - _ROUNDING
        return Decided(np.asarray(new_ns < old_ns * tolerance), sizes, old_ns, new_ns)

    def reason(self, parent: Clusters, samples_old: int, proposal: Proposal) -> str:
        """Return both costs in words; where sizes exceed their clusters, that they are with replacement."""
        samples_new, old_ns, new_ns = proposal.samples_new, proposal.tau_old_ns, proposal.tau_new_ns
        parts_cost, whole_costs = costs_in_words(new_ns, old_ns)
        outcome = "less" if new_ns < old_ns * (1 - _ROUNDING) else "not less"
        if proposal.verdict is Verdict.SPLIT and outcome == "not less":
            outcome = "equal, which the published script splits"
        if samples_old > parent.launches[0] or (samples_new > proposal.parts.launches).any():
            outcome = f"{outcome} (priced with replacement, so beyond the launches there are)"
        return (
            f"{' + '.join(map(str, samples_new))} samples cost {parts_cost}, "
            f"{samples_old} of the whole {whole_costs}: {outcome}"
        )

    def sized(self, clusters: Clusters, samples: IntArray) -> Strata:
        """Return the final clusters, the sizes allocated once more, jointly over all of a group.

        The new allocation is needed: a tree where one child is final and its sibling splits on is not covered
        by [STEM+ROOT Theorem 1]; with it the bound holds for each group, and Theorem 1 covers their union.
        The published script keeps what the decision above each gave it, ``samples`` (s,).
        """
        if self.options.variant == "script":
            return clusters.with_samples(np.clip(samples, 1, clusters.launches))
        moments = clusters.launches, clusters.mean_ns, clusters.std_ns
        target, offsets = self.target, clusters.group_offsets
        return clusters.with_samples(water_filled_sample_sizes(*moments, offsets, target.epsilon, target.z))


_TREES = GrownByRule(RootRule)

METHOD = Method(
    name="root",
    source="STEM+ROOT, section IV",
    description="Each kernel group is split in two, and each part again, while a split makes the plan "
    "cheaper. Launches are drawn at random from each part, as many as the error model STEM asks "
    "for.",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=_TREES.stratify,
    trees=_TREES,
)
