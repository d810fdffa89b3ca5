"""What strata cost by kernel group, and what all groups but one cost together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.strata import Strata
from sampling.strata.variance import total_variance


@dataclass(frozen=True, slots=True)
class GroupCosts:
    """What strata cost, added up by kernel group: (groups,) each, or numbers for one group or several.

    Attributes
    ----------
    strata : how many; samples : expected distinct launches; sampled_ns : their duration.
    variance : of the estimated total, ns^2.
    """

    strata: FloatArray
    samples: FloatArray
    sampled_ns: FloatArray
    variance: FloatArray

    def row(self, group: int) -> GroupCosts:
        """Return the costs of one group."""
        return GroupCosts(
            self.strata[group], self.samples[group], self.sampled_ns[group], self.variance[group]
        )

    def __add__(self, other: GroupCosts) -> GroupCosts:
        return GroupCosts(
            self.strata + other.strata,
            self.samples + other.samples,
            self.sampled_ns + other.sampled_ns,
            self.variance + other.variance,
        )


def group_costs(strata: Strata, groups: int) -> GroupCosts:
    """Return (groups,) what the strata cost."""
    group, simulated = strata.group, strata.samples.astype(np.float64)

    def added_up(values: FloatArray | None = None) -> FloatArray:
        return np.bincount(group, values, minlength=groups).astype(np.float64)

    return GroupCosts(
        added_up(),
        added_up(simulated),
        added_up(simulated * strata.mean_ns),
        added_up(total_variance(strata)),
    )


@dataclass(frozen=True, slots=True)
class OtherGroups:
    """What all groups but the present one cost, for each present group; all (groups,).

    Attributes
    ----------
    before : all groups of smaller rank split to their end; after : all of larger rank kept whole.
    worst_before, worst_after : the largest deviation over total among them.
    """

    before: GroupCosts
    after: GroupCosts
    worst_before: FloatArray
    worst_after: FloatArray

    @classmethod
    def of(cls, final: GroupCosts, whole: GroupCosts, counts: DurationCounts) -> OtherGroups:
        """Return the running sums."""

        def before(values: FloatArray) -> FloatArray:
            return np.concatenate([[0.0], np.cumsum(values)[:-1]])

        def worst(costs: GroupCosts) -> FloatArray:
            return np.asarray(np.sqrt(costs.variance) / np.maximum(counts.group_duration_ns, 1))

        return cls(
            before=GroupCosts(*(before(values) for values in _columns(final))),
            after=GroupCosts(*(before(values[::-1])[::-1] for values in _columns(whole))),
            worst_before=np.concatenate([[0.0], np.maximum.accumulate(worst(final))[:-1]]),
            worst_after=np.concatenate([[0.0], np.maximum.accumulate(worst(whole)[::-1])[:-1]])[::-1],
        )


def _columns(costs: GroupCosts) -> tuple[FloatArray, ...]:
    return costs.strata, costs.samples, costs.sampled_ns, costs.variance
