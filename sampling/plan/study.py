"""A profile looked at once: its reduction, one plan's design and the findings, for all who show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design, make_design_by_launches
from sampling.plan.findings import Evidence, Finding, PlanCost, findings
from sampling.profile.profile import LaunchSequence, Part, Profile
from sampling.reduction import GroupBy
from sampling.reduction.device_time import DeviceTime, device_times
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region, selected_sequences
from sampling.reduction.run_order import RunOrder, run_order
from sampling.splitting.tree import Overrides
from sampling.strata.target import Target

if TYPE_CHECKING:
    from sampling.features.join import JoinReport
    from sampling.readers.table import NumberLocale

# Of more launches it is not looked, unasked, whether the profile itself counts their instructions.
_MOST_LISTED_UNASKED = 1 << 22


Tell = Callable[["JoinReport"], None]


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """Which method designs the plan, and what it is given.

    Attributes
    ----------
    settings : ``METHOD.NAME=VALUE``, see `method_options`.
    overrides : the user's split decisions.
    feature_paths : files with metrics of the launches, for a method that looks at them.
    number_locale : how those files write their numbers.
    cost : the metric that plans are made and stated by in place of time; None: time.
    """

    method: str = DEFAULT_METHOD
    seed: int = 0
    settings: tuple[str, ...] = ()
    overrides: Overrides | None = None
    feature_paths: tuple[str, ...] = ()
    number_locale: NumberLocale = "C"
    cost: str | None = None


def method_grouping(method: str, by: GroupBy, *, pool_devices: bool = False) -> Grouping:
    """Return the grouping for a method's plan; `published` is the key of the method's own paper."""
    if by is GroupBy.PUBLISHED:
        by = method_named(method).published_grouping
    return Grouping(by, pool_devices)


# Two are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False, kw_only=True)
class Workload:
    """A profile looked at once, before a plan is designed.

    Attributes
    ----------
    counted : the launches that every filter of the region keeps, part by part.
    order : what the order of the launches shows.
    reports : how the feature files fitted.
    unfit : why feature files were of no use to a plan that needs none; empty where they were.
    """

    profile: Profile
    counts: DurationCounts
    counted: tuple[Part, ...]
    device_times: tuple[DeviceTime, ...]
    order: RunOrder
    reports: tuple[JoinReport, ...] = ()
    unfit: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Workload):
    """A workload for which one method has designed a plan, and what was found."""

    choice: MethodChoice
    design: Design
    findings: tuple[Finding, ...]

    @property
    def sequences(self) -> tuple[LaunchSequence, ...]:
        """The processes and devices that have launches in the region."""
        return selected_sequences(self.profile, self.counted)

    @property
    def launches_of_sequences(self) -> dict[LaunchSequence, int]:
        """Launches of each process and device that the region keeps."""
        kept: dict[LaunchSequence, int] = {}
        for part in self.counted:
            sequence = self.profile.sequences[part.sequence]
            kept[sequence] = kept.get(sequence, 0) + part.launches
        return kept

    @property
    def speedup(self) -> float | None:
        """The design's expected speedup; None where it samples no time."""
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

    ``share`` is of the total duration, ``running_share`` of the group and all of smaller rank, ``cov`` is 0
    where the mean is 0. ``clusters`` and ``samples`` are those of the design, of a pooled group its pool's;
    None where strata may span all groups.
    """

    launches: IntArray
    total_duration_ns: IntArray
    share: FloatArray
    running_share: FloatArray
    mean_ns: FloatArray
    std_ns: FloatArray
    cov: FloatArray
    min_ns: IntArray
    max_ns: IntArray
    clusters: IntArray | None
    samples: IntArray | None
    pooled: BoolArray


def group_statistics(counts: DurationCounts, design: Design) -> GroupStatistics:
    """Return the statistics of every kernel group, by rank."""
    mean_ns = counts.group_duration_ns / counts.group_launches
    clusters, samples, is_pooled = None, None, np.zeros(len(counts.groups), dtype=np.bool_)
    if design.groups is not None and (design.strata.group >= 0).all():
        of_kernel, groups = design.groups.group_of, len(design.groups.is_pool)
        clusters = np.bincount(design.strata.group, minlength=groups)[of_kernel]
        drawn = np.bincount(design.strata.group, design.strata.samples, minlength=groups)
        samples, is_pooled = drawn.astype(np.int64)[of_kernel], design.groups.pooled_kernels
    return GroupStatistics(
        launches=counts.group_launches,
        total_duration_ns=counts.group_duration_ns,
        share=counts.group_duration_ns / max(counts.total_duration_ns, 1),
        running_share=np.cumsum(counts.group_duration_ns) / max(counts.total_duration_ns, 1),
        mean_ns=mean_ns,
        std_ns=counts.group_std_ns,
        cov=np.divide(counts.group_std_ns, mean_ns, out=np.zeros(len(mean_ns)), where=mean_ns > 0),
        min_ns=counts.duration_ns[counts.offsets[:-1]],
        max_ns=counts.duration_ns[counts.offsets[1:] - 1],
        clusters=clusters,
        samples=samples,
        pooled=is_pooled,
    )


def study(
    profile: Profile,
    grouping: Grouping,
    region: Region,
    target: Target,
    choice: MethodChoice | None = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Study:
    """Reduce a profile, design a plan, and find where the profile breaks an assumption of the methods.

    Parameters
    ----------
    tell : called with how each feature file fitted, before the method may refuse what they give.

    Raises
    ------
    EmptySelectionError, OptionError, NotApplicableError : see `count_durations`, `make_design` and
        `make_design_by_launches`.
    """
    choice = choice or MethodChoice()
    counts = count_durations(profile, grouping, region, progress)
    counts, launches, reports, unfit = _with_cost(profile, counts, choice, progress, tell)
    counted = counted_parts(profile, counts)
    workload = Workload(
        profile=profile,
        counts=counts,
        counted=counted,
        device_times=device_times(profile, counted, progress),
        order=run_order(profile, counts, progress),
        reports=reports,
        unfit=unfit,
    )
    return _studied(workload, launches, target, choice, progress)


def study_again(
    read: Study,
    target: Target,
    choice: MethodChoice,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Study:
    """Design another plan for launches that are read and reduced already."""
    workload, launches = Workload(**{each.name: getattr(read, each.name) for each in fields(Workload)}), None
    given = (choice.feature_paths, choice.cost) != (read.choice.feature_paths, read.choice.cost)
    if given or not method_named(choice.method).draws_at_random:
        counts = read.counts if read.counts.cost is None else replace(read.counts, cost=None)
        counts, launches, reports, unfit = _with_cost(read.profile, counts, choice, progress, tell)
        workload = replace(workload, counts=counts, reports=reports, unfit=unfit)
    return _studied(workload, launches, target, choice, progress)


def _with_cost(
    profile: Profile,
    counts: DurationCounts,
    choice: MethodChoice,
    progress: Progress | None,
    tell: Tell | None,
) -> tuple[DurationCounts, LaunchList | None, tuple[JoinReport, ...], str]:
    """Return the reduction with what launches cost, where that is asked for or known.

    Also the launches, where they are listed for that or for the method, how the feature files fitted, and why
    they were of no use to a plan by durations, which does without them.
    """
    picks = not method_named(choice.method).draws_at_random
    may_know = bool(profile.metric_names) and counts.launches <= _MOST_LISTED_UNASKED
    asked = choice.cost is not None or bool(choice.feature_paths) or may_know
    if not picks and not (asked and counts.total_duration_ns):
        return counts, None, (), ""
    # A plan by durations alone needs none of what reads features.
    from sampling.features.join import with_features
    from sampling.features.metric_names import launch_cost

    try:
        launches, reports = with_features(
            profile,
            list_launches(profile, counts, progress),
            choice.feature_paths,
            progress,
            locale=choice.number_locale,
        )
        if tell is not None:
            for report in reports:
                tell(report)
        launches = replace(launches, cost=launch_cost(launches, choice.cost))
    except ProfileError as error:
        if choice.cost is not None or picks:
            raise
        return counts, None, (), str(error)
    if launches.cost is not None and counts.total_duration_ns:
        counts = counts.with_cost(launches.group, launches.duration_ns, launches.cost)
    return counts, launches, reports, ""


def _studied(
    read: Workload,
    launches: LaunchList | None,
    target: Target,
    choice: MethodChoice,
    progress: Progress | None,
) -> Study:
    """Return the study of a workload; the launches are listed where the method looks at them."""
    method, seed = choice.method, choice.seed
    given: dict[str, Any] = {"settings": choice.settings, "progress": progress}
    if method_named(method).draws_at_random:
        design = make_design(read.counts, method, target, seed, overrides=choice.overrides, **given)
    else:
        assert launches is not None
        design = make_design_by_launches(launches, method, target, seed, **given)
    cost = _plan_cost(read.counts, method, design)
    found = findings(Evidence(read.profile, read.counts, read.device_times, cost, read.order))
    known = {each.name: getattr(read, each.name) for each in fields(Workload)}
    return Study(**known, choice=choice, design=design, findings=found)


def _plan_cost(counts: DurationCounts, method: str, design: Design) -> PlanCost:
    """Return what the plan costs; groups simulated whole are counted where a noise floor was asked for."""
    cost = PlanCost(method, design.samples, design.speedup, design.random)
    bounds_workload = "noise_floor" in method_named(method).target_fields
    if design.groups is None or not bounds_workload:
        return cost
    strata, counts = design.strata, design.groups.counts
    left_out = np.bincount(strata.group, strata.launches - strata.samples, minlength=len(counts.groups))
    whole = (left_out == 0) & (counts.group_launches > strata.least_samples)
    share = float(counts.group_duration_ns[whole].sum()) / max(counts.total_duration_ns, 1)
    bounds_groups = design.target.group_epsilon is not None
    return replace(cost, groups_whole=int(whole.sum()), share_whole=share, bounds_groups=bounds_groups)
