"""A kernel group's launches over the run, with the launches of the plan that the options ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.plan.plan import drawn_plan, locate
from sampling.plan.study import Study
from sampling.progress import Progress
from sampling.reduction.ranges.listing import RangeList, list_ranges
from sampling.reduction.timeline import By, GroupLaunches, launches_of_group
from sampling.reduction.written_region import written_window
from tui.engine.studies import chosen_kernel, progress_of
from tui.options.choices import TimelineBy
from tui.options.commands import TimelineOptions


@dataclass(frozen=True, slots=True, eq=False)
class GroupTimeline:
    """A kernel group's launches, and which of them the plan draws.

    Attributes
    ----------
    group : its index, rank - 1.
    drawn_ids : ids of all launches that the plan draws.
    """

    study: Study
    group: int
    launches: GroupLaunches
    drawn_ids: IntArray
    by: By = "launch"


def timeline_of(study: Study, options: TimelineOptions) -> GroupTimeline:
    """Return the timeline of the kernel group that the options name.

    Raises
    ------
    NotApplicableError : it is to go by time, and the profile has no starts.
    """
    if options.by is TimelineBy.TIME and "start_ns" not in study.profile.columns:
        raise NotApplicableError(
            "--by time needs the start of every launch, and this profile does not have it",
            remedy="leave it out: launches stand in the order in which they were issued",
        )
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    with progress_of(options) as progress:
        found = timeline_of_group(study, group, options.seed, progress)
    return replace(found, launches=_within(found.launches, options.window), by=options.by.value)


def timeline_of_group(study: Study, group: int, seed: int, progress: Progress | None = None) -> GroupTimeline:
    """Return the launches of a kernel group, and which launches the plan draws with a seed."""
    plan = drawn_plan(study.counts, study.design, seed)
    launches = launches_of_group(study.profile, study.counts, group, progress)
    drawn = locate(study.profile, study.counts, plan, progress)
    return GroupTimeline(study, group, launches, drawn.id)


def ranges_of(study: Study, options: TimelineOptions) -> RangeList | None:
    """Return the named ranges and the found iterations of the launches; None where the filters leave none."""
    with progress_of(options) as progress:
        try:
            return list_ranges(study.profile, study.counts.region, progress)
        except EmptySelectionError:
            # There are launches, but none of them in a range.
            return None


def _within(launches: GroupLaunches, window: str | None) -> GroupLaunches:
    """Return the launches whose ids lie in a window.

    Raises
    ------
    EmptySelectionError : there are none.
    """
    if window is None:
        return launches
    low, high = written_window("window", window)
    first, stop = np.searchsorted(launches.id, [low or 0, np.iinfo(np.int64).max if high is None else high])
    if first == stop:
        raise EmptySelectionError(
            f"--window {window} holds no launch of the group",
            remedy=f"its launches have ids from {launches.id[0]} to {launches.id[-1]}",
        )
    return launches.part(int(first), int(stop))
