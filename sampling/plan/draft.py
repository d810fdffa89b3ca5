"""A profile looked at once: its reduction, one plan's design and the findings, for all who show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design
from sampling.plan.findings import Evidence, Finding, findings
from sampling.plan.request import PlanRequest
from sampling.profile.profile import LaunchSequence, Profile
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.idle import why_idle
from sampling.reduction.launch_list import LaunchList, list_launches
from sampling.reduction.run_order import run_order
from sampling.reduction.timeline import device_times
from sampling.splitting.tree import Overrides

if TYPE_CHECKING:
    from sampling.features.join import JoinReport

# Of more launches it is not looked, unasked, whether the profile itself counts their instructions.
_MOST_LISTED_UNASKED = 1 << 22

#: Called with how each feature file fitted, before the method may refuse what they give.
Tell = Callable[["JoinReport"], None]
AnySurvey = TypeVar("AnySurvey", bound="Survey")


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

    request: PlanRequest
    findings: tuple[Finding, ...] = ()

    def kernel(self, group: int) -> str:
        """Return a kernel group as findings name it: by its rank among those that people look at."""
        return super().kernel(group) if self.look is self else self.look.kernel(self.look.holder(group))

    @property
    def launches_of_sequences(self) -> Counter[LaunchSequence]:
        """Launches of each process and device that the region keeps."""
        launches: Counter[LaunchSequence] = Counter()
        for part in self.counted:
            launches[self.profile.sequences[part.sequence]] += part.launches
        return launches

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
    def look(self) -> Survey:
        """The survey as people look at it: a kernel of several GPUs of one model is one group.

        It is this one where there are none, where ranks are to be apart, or the plan has no groups apart.
        """
        sequences, is_apart = self.sequences, self.request.each_rank or self.counts.grouping.pool_devices
        places = {(process, place.device) for place in sequences for process in (None, place.process)}
        devices = self.profile.facts.devices
        models = {device.name for device in devices if (device.process, device.device) in places}
        if is_apart or len(sequences) < 2 or len(models) > 1:
            return self
        counts, group_of = self.counts.fold
        shared = {name: getattr(self, name) for name in Survey.__dataclass_fields__ if name != "counts"}
        return FoldedSurvey(**shared, counts=counts, plan_survey=self, group_of=group_of)

    def members(self, group: int) -> list[int]:
        """Return the kernel groups of the plan that a group stands for, the largest first: itself."""
        return [group]

    def holder(self, planned_group: int) -> int:
        """Return the group that stands for a kernel group of the plan: itself."""
        return planned_group

    @cached_property
    def groups(self) -> GroupStatistics:
        """The statistics of every kernel group, by rank."""
        counts, design = self.counts, self.design
        mean_ns = counts.group_duration_ns / counts.group_launches
        clusters, samples, is_pooled = None, None, np.zeros(len(counts.groups), dtype=np.bool_)
        if design is not None and design.clusters is None and (design.strata.group >= 0).all():
            of_kernel, groups = design.groups.group_of, len(design.groups.is_pool)
            clusters = np.bincount(design.strata.group, minlength=groups)[of_kernel]
            drawn_launches = np.bincount(design.strata.group, design.strata.samples, minlength=groups)
            samples, is_pooled = drawn_launches.astype(np.int64)[of_kernel], design.groups.pooled_kernels
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
class FoldedSurvey(Survey):
    """A survey whose groups span GPUs that are planned apart; its strata are those of several groups."""

    plan_survey: Survey
    #: (kernel groups of the plan,) the group that stands for each.
    group_of: IntArray

    def members(self, group: int) -> list[int]:
        """Return the kernel groups of the plan that a group stands for, the largest first."""
        members: list[int] = np.flatnonzero(self.group_of == group).tolist()
        return members

    def holder(self, planned_group: int) -> int:
        """Return the group that stands for a kernel group of the plan."""
        return int(self.group_of[planned_group])

    @cached_property
    def groups(self) -> GroupStatistics:
        """The statistics of every group; its strata and drawn launches are sums of those in no pool."""
        of_plan = self.plan_survey.groups

        def summed(values: IntArray | BoolArray) -> IntArray:
            return np.bincount(self.group_of, ~of_plan.pooled * values).astype(np.int64)

        clusters, samples = (
            None if values is None else summed(values) for values in (of_plan.clusters, of_plan.samples)
        )
        is_pooled = summed(~of_plan.pooled) == 0
        return replace(super().groups, clusters=clusters, samples=samples, pooled=is_pooled)


@dataclass(frozen=True, eq=False, kw_only=True)
class Draft(Survey):
    """A profile looked at once, for which one method has designed a plan."""

    #: The user's split decisions.
    overrides: Overrides = field(default_factory=dict)
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
    profile: Profile, request: PlanRequest, progress: Progress | None = None, *, with_findings: bool = True
) -> Survey:
    """Reduce a profile, and find what is odd about it; of what is asked only the selection counts.

    Without findings neither the times of devices nor the order of the run are looked at.

    Raises EmptySelectionError, NotApplicableError: see `count_durations`.
    """
    counts = count_durations(profile, request.grouping, request.region, progress)
    survey = Survey(profile=profile, counts=counts, counted=counted_parts(profile, counts), request=request)
    return _with_findings(survey, progress) if with_findings else survey


def draft_plan(
    profile: Profile,
    request: PlanRequest,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Draft:
    """Reduce a profile, design a plan, and find where the profile breaks an assumption of the methods.

    Its options of how a profile is read are those of whoever read it.

    Raises EmptySelectionError, OptionError, NotApplicableError: see `count_durations` and `make_design`.
    """
    counts = count_durations(profile, request.grouping, request.region, progress)
    counts, launches, reports, unfit = _with_cost(profile, counts, request, progress, tell)
    draft = Draft(
        profile=profile,
        counts=counts,
        counted=counted_parts(profile, counts),
        request=request,
        overrides=overrides or {},
        design=_design(counts, launches, request, overrides, progress),
        reports=reports,
        unfit=unfit,
    )
    return _with_findings(draft, progress)


def with_idle(survey: AnySurvey, *, operators: bool = True) -> AnySurvey:
    """Return a survey with why its devices are idle, what was copied, and what is odd with these.

    What the recording has besides launches is read for it. ``operators``: see `why_idle`.
    """
    idle, copies = why_idle(survey.profile, survey.counted, survey.device_times, operators=operators)
    survey = replace(survey, idle=idle, copies=copies)
    return replace(survey, findings=findings(survey))


def _with_findings(survey: AnySurvey, progress: Progress | None) -> AnySurvey:
    """Return a survey with when its devices were busy, the order of its run, and what is odd about them."""
    profile, counts = survey.profile, survey.counts
    times, order = device_times(profile, survey.counted, progress), run_order(profile, counts, progress)
    survey = replace(survey, device_times=times, order=order)
    return replace(survey, findings=findings(survey))


def redraft(
    before: Draft, request: PlanRequest, overrides: Overrides | None = None, progress: Progress | None = None
) -> Draft:
    """Design another plan for launches that are read and reduced already.

    Of the request, what says which launches count and what their groups are is that of the draft ``before``.
    """
    launches, reduced = None, before
    metrics_before, metrics = (
        (either.features, either.number_locale, either.cost) for either in (before.request, request)
    )
    if metrics != metrics_before or not method_named(request.method).draws_at_random:
        counts = before.counts if before.counts.cost is None else replace(before.counts, cost=None)
        counts, launches, reports, unfit = _with_cost(before.profile, counts, request, progress)
        reduced = replace(before, counts=counts, reports=reports, unfit=unfit)
    design = _design(reduced.counts, launches, request, overrides, progress)
    draft = replace(reduced, request=request, overrides=overrides or {}, design=design)
    return replace(draft, findings=findings(draft))


def _design(
    counts: DurationCounts,
    launches: LaunchList | None,
    request: PlanRequest,
    overrides: Overrides | None,
    progress: Progress | None,
) -> Design:
    """Return the design for a reduction, with its launches where the method looks at these."""
    return make_design(
        counts,
        request.method,
        request.target,
        request.seed,
        settings=request.set,
        overrides=overrides,
        launches=launches,
        progress=progress,
    )


def _with_cost(
    profile: Profile,
    counts: DurationCounts,
    request: PlanRequest,
    progress: Progress | None,
    tell: Tell | None = None,
) -> tuple[DurationCounts, LaunchList | None, tuple[JoinReport, ...], str]:
    """Return the reduction with what launches cost, where that is asked for or known.

    Also the launches, where they are listed for that or for the method, how the feature files fitted, and why
    they were of no use to a plan by durations, which does without them.
    """
    picks = not method_named(request.method).draws_at_random
    may_know = bool(profile.metric_names) and counts.launches <= _MOST_LISTED_UNASKED
    needs_list = request.cost is not None or bool(request.features) or may_know
    if not picks and not (needs_list and counts.total_duration_ns):
        return counts, None, (), ""
    # A plan by durations alone needs none of what reads features.
    from sampling.features.join import with_features
    from sampling.features.metric_names import launch_cost
    from sampling.readers.input_file import check_there

    paths, locale = request.features, request.number_locale
    for path in paths:
        check_there(path)
    try:
        listed = list_launches(profile, counts, progress)
        launches, reports = with_features(profile, listed, paths, progress, locale=locale)
        for report in reports:
            if tell is not None:
                tell(report)
        launches = replace(launches, cost=launch_cost(launches, request.cost))
    except ProfileError as error:
        if request.cost is not None or picks:
            raise
        return counts, None, (), str(error)
    if launches.cost is not None and counts.total_duration_ns:
        counts = counts.with_cost(launches.group, launches.duration_ns, launches.cost)
    return counts, launches, reports, ""
