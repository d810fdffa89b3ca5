"""Strata: the final clusters of a plan, with how many launches to draw from each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.reduction.plan_groups import PlanGroups

#: The group of a stratum that spans the whole workload.
WHOLE_WORKLOAD = -1


@dataclass(frozen=True, slots=True)
class Strata:
    """Disjoint ranges of a reduction's pairs that together hold every launch; all arrays (s,).

    Attributes
    ----------
    group : index of the kernel group or pool, or WHOLE_WORKLOAD.
    start, stop : the pairs ``start:stop`` of the reduction, ascending.
    launches : N, how many launches the stratum has.
    mean_ns, std_ns : mean and population standard deviation of their durations.
    samples : m, how many to draw; 1 <= m <= N.
    notes : what the user should know of how these came about.
    least_samples : what every stratum gets at least, if it is that large.
    groups : the groups whose pairs these are, where some kernel groups are pooled; None: kernel groups.
    chance : the probability by which each launch is drawn, of which ``samples`` is one outcome; None where
        the sizes do not depend on chance.
    """

    group: IntArray
    start: IntArray
    stop: IntArray
    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray
    samples: IntArray
    notes: tuple[str, ...] = ()
    least_samples: int = 1
    groups: PlanGroups | None = None
    chance: float | None = None

    def __len__(self) -> int:
        return len(self.group)

    @property
    def sampled_duration_ns(self) -> float:
        """The expected duration of the drawn launches, sum of m mu (STEM+ROOT's tau)."""
        return float(np.dot(self.samples, self.mean_ns))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Final clusters before their sizes are chosen: as Strata, without samples."""

    group: IntArray
    start: IntArray
    stop: IntArray
    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray

    @property
    def columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]:
        """All arrays, in the order of the fields."""
        return self.group, self.start, self.stop, self.launches, self.mean_ns, self.std_ns

    @property
    def group_offsets(self) -> IntArray:
        """(groups + 1,) clusters of each group that occurs; clusters of a group stand together."""
        first = np.flatnonzero(np.append(True, self.group[1:] != self.group[:-1]))
        return np.append(first, len(self.group))

    def with_samples(self, samples: IntArray, *, notes: tuple[str, ...] = ()) -> Strata:
        """Return the strata."""
        return Strata(*self.columns, samples, notes)


def measured_clusters(counts: DurationCounts, group: IntArray, start: IntArray, stop: IntArray) -> Clusters:
    """Return the clusters that are the ranges ``start[i]:stop[i]`` of pairs, with size, mean and spread."""
    launches = counts.launches_before[stop] - counts.launches_before[start]
    time_ns = counts.time_before_ns[stop] - counts.time_before_ns[start]
    return Clusters(group, start, stop, launches, time_ns / launches, range_std_ns(counts, start, stop))
