"""A profile looked at once: its reduction, one plan's design and the findings, for all who show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.methods.registry import DEFAULT_METHOD, method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design
from sampling.plan.findings import Evidence, Finding, findings
from sampling.profile.profile import LaunchSequence, Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.region import Region
from sampling.reduction.run_order import run_order
from sampling.reduction.timeline import device_times
from sampling.splitting.tree import Overrides
from sampling.strata.target import Target

if TYPE_CHECKING:
    from sampling.features.join import JoinReport
    from sampling.readers.cells import NumberLocale

# Of more launches it is not looked, unasked, whether the profile itself counts their instructions.
_MOST_LISTED_UNASKED = 1 << 22

#: Called with how each feature file fitted, before the method may refuse what they give.
Tell = Callable[["JoinReport"], None]


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """Which method designs the plan, and what it is given."""

    method: str = DEFAULT_METHOD
    seed: int = 0
    #: ``METHOD.NAME=VALUE``, see `method_options`.
    settings: tuple[str, ...] = ()
    #: The user's split decisions.
    overrides: Overrides | None = None
    #: Files with metrics of the launches, for a method that looks at them; and how they write their numbers.
    feature_paths: tuple[str, ...] = ()
    number_locale: NumberLocale = "C"
    #: The metric that plans are made and stated by in place of time; None: time.
    cost: str | None = None

    def design(
        self, counts: DurationCounts, launches: LaunchList | None, target: Target, progress: Progress | None
    ) -> Design:
        """Return the design for a reduction, with its launches where the method looks at these."""
        given: dict[str, Any] = {"settings": self.settings, "overrides": self.overrides, "progress": progress}
        return make_design(counts, self.method, target, self.seed, launches=launches, **given)


def method_grouping(method: str, by: GroupBy, *, pool_devices: bool | None = False) -> Grouping:
    """Return the grouping for a method's plan; `published` is the key of the method's own paper."""
    if by is GroupBy.PUBLISHED:
        by = method_named(method).published_grouping
    return Grouping(by, pool_devices)


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """One entry a kernel group, by rank; all (g,)."""

    launches: IntArray
    total_duration_ns: IntArray
    #: Of the total duration, and of the group and all of smaller rank.
    share: FloatArray
    running_share: FloatArray
    mean_ns: FloatArray
    std_ns: FloatArray
    #: 0 where the mean is 0.
    cov: FloatArray
    min_ns: IntArray
    max_ns: IntArray
    #: Those of the design, of a pooled group its pool's; None where strata may span all groups.
    clusters: IntArray | None
    samples: IntArray | None
    pooled: BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey(Evidence):
    """A profile looked at once: its kernel groups, and what was found."""

    findings: tuple[Finding, ...] = ()

    @property
    def launches_of_sequences(self) -> Counter[LaunchSequence]:
        """Launches of each process and device that the region keeps."""
        kept: Counter[LaunchSequence] = Counter()
        for part in self.counted:
            kept[self.profile.sequences[part.sequence]] += part.launches
        return kept

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
        counts, design = self.counts, self.design
        mean_ns = counts.group_duration_ns / counts.group_launches
        clusters, samples, is_pooled = None, None, np.zeros(len(counts.groups), dtype=np.bool_)
        if design is not None and design.groups is not None and (design.strata.group >= 0).all():
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Survey):
    """A profile looked at once, for which one method has designed a plan."""

    choice: MethodChoice
    design: Design
    #: How the feature files fitted.
    reports: tuple[JoinReport, ...] = ()
    #: Why feature files were of no use to a plan that needs none; empty where they were.
    unfit: str = ""

    @property
    def speedup(self) -> float | None:
        """The design's expected speedup; None where it samples no time."""
        return self.design.speedup


def survey_profile(
    profile: Profile, grouping: Grouping, region: Region, progress: Progress | None = None
) -> Survey:
    """Reduce a profile and find what is odd about it; nothing is planned.

    Raises EmptySelectionError, NotApplicableError: see `count_durations`.
    """
    counts = count_durations(profile, grouping, region, progress)
    counted = counted_parts(profile, counts)
    survey = Survey(
        profile=profile,
        counts=counts,
        counted=counted,
        device_times=device_times(profile, counted, progress),
        order=run_order(profile, counts, progress),
    )
    return replace(survey, findings=findings(survey))


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

    Raises EmptySelectionError, OptionError, NotApplicableError: see `count_durations` and `make_design`.
    """
    choice = choice or MethodChoice()
    counts = count_durations(profile, grouping, region, progress)
    counts, launches, reports, unfit = _with_cost(profile, counts, choice, progress, tell)
    counted = counted_parts(profile, counts)
    made = Study(
        profile=profile,
        counts=counts,
        counted=counted,
        device_times=device_times(profile, counted, progress),
        order=run_order(profile, counts, progress),
        choice=choice,
        design=choice.design(counts, launches, target, progress),
        reports=reports,
        unfit=unfit,
    )
    return replace(made, findings=findings(made))


def study_again(
    read: Study,
    target: Target,
    choice: MethodChoice,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Study:
    """Design another plan for launches that are read and reduced already."""
    launches = None
    given = (choice.feature_paths, choice.cost) != (read.choice.feature_paths, read.choice.cost)
    if given or not method_named(choice.method).draws_at_random:
        counts = read.counts if read.counts.cost is None else replace(read.counts, cost=None)
        counts, launches, reports, unfit = _with_cost(read.profile, counts, choice, progress, tell)
        read = replace(read, counts=counts, reports=reports, unfit=unfit)
    made = replace(read, choice=choice, design=choice.design(read.counts, launches, target, progress))
    return replace(made, findings=findings(made))


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
    from sampling.readers.input_file import check_there

    paths, locale = choice.feature_paths, choice.number_locale
    for path in paths:
        check_there(path)
    try:
        listed = list_launches(profile, counts, progress)
        launches, reports = with_features(profile, listed, paths, progress, locale=locale)
        for report in reports:
            if tell is not None:
                tell(report)
        launches = replace(launches, cost=launch_cost(launches, choice.cost))
    except ProfileError as error:
        if choice.cost is not None or picks:
            raise
        return counts, None, (), str(error)
    if launches.cost is not None and counts.total_duration_ns:
        counts = counts.with_cost(launches.group, launches.duration_ns, launches.cost)
    return counts, launches, reports, ""
