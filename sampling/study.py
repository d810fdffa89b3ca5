"""A profile looked at once: its reduction, one plan's design and the findings, for all who show them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sampling.allocation import FloatArray, IntArray
from sampling.duration_counts import DurationCounts, count_durations
from sampling.findings import Evidence, Finding, PlanCost, findings
from sampling.grouping import Grouping
from sampling.methods import DEFAULT_METHOD
from sampling.overlap import DeviceTime, device_times
from sampling.plan import Design, make_design
from sampling.profile import LaunchSequence, Profile
from sampling.progress import Progress
from sampling.regions import Region, Selection, selected_sequences, selections
from sampling.splitting import Overrides
from sampling.targets import Target


@dataclass(frozen=True)
class Study:
    """What is known of a workload once it is read and one method has designed a plan for it."""

    profile: Profile
    counts: DurationCounts
    chosen: tuple[Selection, ...]
    device_times: tuple[DeviceTime, ...]
    design: Design
    findings: tuple[Finding, ...]

    @property
    def sequences(self) -> tuple[LaunchSequence, ...]:
        """The processes and devices that have launches in the region."""
        return selected_sequences(self.profile, self.chosen)

    @property
    def launches_of_sequences(self) -> dict[LaunchSequence, int]:
        """Launches of each process and device that the region keeps; name filters are not looked at."""
        kept: dict[LaunchSequence, int] = {}
        for selection in self.chosen:
            sequence = self.profile.sequences[selection.span.sequence]
            kept[sequence] = kept.get(sequence, 0) + selection.launches
        return kept

    @property
    def speedup(self) -> float:
        """The design's expected speedup."""
        return self.design.speedup

    @property
    def span_ns(self) -> int | None:
        """From the first start to the last end; None where starts are not recorded.

        None for several files too, for each has a clock of its own.
        """
        if not self.device_times or len(self.profile.files) > 1:
            return None
        first = min(time.first_start_ns for time in self.device_times)
        return max(time.last_end_ns for time in self.device_times) - first

    @cached_property
    def groups(self) -> GroupStatistics:
        """The statistics of every kernel group, by rank."""
        return group_statistics(self.counts, self.design)


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """One entry a kernel group, by rank; all (g,).

    Attributes
    ----------
    share : of the total duration; cov : std / mean, 0 where the mean is 0.
    clusters, samples : strata and drawn launches of the design; None where strata span groups.
    """

    launches: IntArray
    total_duration_ns: IntArray
    share: FloatArray
    mean_ns: FloatArray
    std_ns: FloatArray
    cov: FloatArray
    min_ns: IntArray
    max_ns: IntArray
    clusters: IntArray | None
    samples: IntArray | None


def group_statistics(counts: DurationCounts, design: Design) -> GroupStatistics:
    """Return the statistics of every kernel group, by rank."""
    mean_ns = counts.group_duration_ns / counts.group_launches
    per_group = None
    if (design.strata.group >= 0).all():
        groups = len(counts.groups)
        clusters = np.bincount(design.strata.group, minlength=groups)
        samples = np.zeros(groups, dtype=np.int64)
        np.add.at(samples, design.strata.group, design.strata.samples)
        per_group = clusters, samples
    return GroupStatistics(
        launches=counts.group_launches,
        total_duration_ns=counts.group_duration_ns,
        share=counts.group_duration_ns / max(counts.total_duration_ns, 1),
        mean_ns=mean_ns,
        std_ns=counts.group_std_ns,
        cov=np.divide(counts.group_std_ns, mean_ns, out=np.zeros(len(mean_ns)), where=mean_ns > 0),
        min_ns=counts.duration_ns[counts.offsets[:-1]],
        max_ns=counts.duration_ns[counts.offsets[1:] - 1],
        clusters=None if per_group is None else per_group[0],
        samples=None if per_group is None else per_group[1],
    )


def study(
    profile: Profile,
    grouping: Grouping,
    region: Region,
    target: Target,
    *,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Study:
    """Reduce a profile, design a plan, and measure what the profile breaks of the methods' assumptions.

    Raises
    ------
    EmptySelectionError, OptionError : see `count_durations` and `make_design`.
    """
    counts = count_durations(profile, grouping, region, progress)
    chosen = selections(profile, region)
    times = device_times(profile, chosen)
    design = make_design(
        counts,
        method,
        target,
        seed,
        settings=settings,
        overrides=overrides,
        progress=progress,
    )
    evidence = Evidence(profile, counts, chosen, times, PlanCost(method, design.samples, design.speedup))
    return Study(profile, counts, chosen, times, design, findings(evidence))
