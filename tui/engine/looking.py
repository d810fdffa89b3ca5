"""What is looked at beside the plan: launches over the run, ranges, and what changed between two profiles."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sampling.arrays import BoolArray, IntArray
from sampling.errors import EmptySelectionError, NotApplicableError, OptionError
from sampling.parallel import Progress
from sampling.plan.draft import Draft, Survey
from sampling.plan.plan import drawn_plan, locate
from sampling.profile.profile import Profile
from sampling.profile.times import NO_START
from sampling.readers.registry import refuse_unused_columns
from sampling.reduction.range_list import RangeList, list_ranges
from sampling.reduction.region import Region, region_filters, written_window
from sampling.reduction.run_order import MOST_LAUNCHES
from sampling.reduction.timeline import By, GroupLaunches, IdleGaps, find_group_launches, idle_gaps
from tui.engine import drafts
from tui.engine.drafts import open_profile
from tui.options.choices import TimelineBy
from tui.options.files import is_baseline
from tui.options.look import DifferenceOptions, TimelineOptions, file_and_part, with_part
from tui.terminal.diagnostics import ProgressMeter

if TYPE_CHECKING:
    from sampling.difference.baseline import Baseline
    from sampling.difference.comparison import Difference


@dataclass(frozen=True, slots=True, eq=False)
class GroupTimeline:
    """A kernel group's launches, and which of them the plan draws."""

    draft: Draft
    #: Its index in `survey`, rank - 1.
    group: int
    launches: GroupLaunches
    #: Of all launches that the plan draws.
    drawn_ids: IntArray
    by: By = "launch"
    #: When its device is idle; None where that is not known.
    gaps: IdleGaps | None = None
    #: (n,) the stratum of each launch; None until it is known.
    cluster: npt.NDArray[np.integer] | None = None

    @property
    def survey(self) -> Survey:
        """The kernel groups of which it is one."""
        return self.draft.look

    @property
    def lacks_causes(self) -> bool:
        """Whether what the device is idle for can be told, and was not looked at."""
        has_gaps = self.gaps is not None and len(self.gaps) > 0 and self.gaps.cause is None
        return has_gaps and self.draft.profile.activity_reader is not None

    def part(self, first: int, stop: int, by: By | None = None) -> GroupTimeline:
        """Return the launches from the place `first` up to, not with, `stop`, by what is wanted.

        By time it is of those whose start was recorded; where that is none, by launch.
        """
        rows: slice | BoolArray = slice(first, stop)
        by = by or self.by
        if by == "time":
            starts = self.launches.start_ns
            is_timed = np.zeros(len(self.launches), dtype=np.bool_)
            is_timed[rows] = False if starts is None else starts[rows] != NO_START
            rows, by = (is_timed, by) if is_timed.any() else (rows, "launch")
        cluster = None if self.cluster is None else self.cluster[rows]
        return replace(self, launches=self.launches.part(rows), cluster=cluster, by=by)


def timeline_of(draft: Draft, options: TimelineOptions) -> GroupTimeline:
    """Return the timeline of the kernel group that the options name, of the ids in their window.

    Raises NotApplicableError: it is to go by time, and the profile has no starts; EmptySelectionError: the
    window holds none of its launches.
    """
    if options.by is TimelineBy.TIME and "start_ns" not in draft.profile.columns:
        raise NotApplicableError(
            "--by time needs the start of every launch, and this profile does not have it",
            remedy="leave it out: launches stand in the order in which they were issued",
        )
    group = drafts.chosen_kernel(draft.look.counts, options.kernel, quiet=options.quiet)
    with ProgressMeter(quiet=options.quiet) as progress:
        is_by_time = options.by is TimelineBy.TIME
        timeline = timeline_of_group(draft, group, options.request.seed, progress, causes=is_by_time)
    ids = timeline.launches.id
    low, high = (None, None) if options.window is None else written_window("window", options.window)
    first, stop = np.searchsorted(ids, [low or 0, np.iinfo(np.int64).max if high is None else high])
    if first == stop:
        problem = f"--window {options.window} holds no launch of the group"
        raise EmptySelectionError(problem, remedy=f"its launches have ids from {ids[0]} to {ids[-1]}")
    shown_part = timeline.part(int(first), int(stop), options.by.value)
    if shown_part.by != options.by:
        message = "--by time needs the start of a launch, and none was recorded of these"
        raise NotApplicableError(message, remedy="leave it out: launches stand in the order of their calls")
    return shown_part


def timeline_of_group(
    draft: Draft,
    group: int,
    seed: int,
    progress: Progress | None = None,
    *,
    before: GroupTimeline | None = None,
    causes: bool = False,
) -> GroupTimeline:
    """Return the launches of a kernel group, and which launches the plan draws with a seed.

    `before`: of another group; where it is of the same draft, what that draws is not looked for again.
    `causes`: whether what its device idles for is looked at, for which more of the recording is read.
    """
    counts = draft.look.counts
    launches = find_group_launches(draft.profile, counts, group, progress)
    if before is not None and before.draft is draft:
        drawn_ids = before.drawn_ids
    else:
        plan = drawn_plan(draft.counts, draft.design, seed)
        drawn_ids = locate(draft.profile, plan, progress).id
    gaps = idle_gaps(draft.profile, counts, group, progress, causes=causes)
    return GroupTimeline(draft, group, launches, drawn_ids, gaps=gaps)


def is_quickly_listed(draft: Draft) -> bool:
    """Return whether ranges and iterations are looked for unasked: among few enough launches."""
    return draft.counts.launches <= MOST_LAUNCHES


def ranges_in(
    profile: Profile, region: Region, progress: Progress | None = None, *, steps_apart: bool = False
) -> RangeList | None:
    """Return the named ranges and the found iterations of a region; None where none has launches of it."""
    with suppress(EmptySelectionError):
        # There are launches; perhaps none of them in a range.
        return list_ranges(profile, region, progress, steps_apart=steps_apart) or None
    return None


def found_difference(
    options: DifferenceOptions, progress: Progress, profiles_read: Mapping[str, Profile] | None = None
) -> Difference:
    """Read both profiles, or one file once, or a baseline, and compare them.

    `profiles_read`: the profiles by file that were read already, by the same columns.

    Raises OptionError: a part of a profile is named twice, both are standard input, or a baseline was saved
    with other filters.
    """
    from sampling.difference.baseline import read_baseline
    from sampling.difference.basis import difference_between
    from sampling.difference.comparison import Side
    from sampling.difference.recordings import ProfilePart

    named = [file_and_part(text) for text in (options.before, options.after)]
    baselines = {path: read_baseline(path) for path, _ in named if is_baseline(path)}
    if any(part is not None for path, part in named if path in baselines):
        raise OptionError("a baseline has no parts", remedy="save one of the part that is meant")
    regions = [with_part(options, part).request.region for _, part in named]
    for path, baseline in baselines.items():
        refuse_other_filters(path, baseline, options)
    paths = dict.fromkeys(path for path, _ in named if path not in baselines)
    drafts.check_standard_input(*paths)
    profiles = {path: profile for path, profile in (profiles_read or {}).items() if path in paths}
    for path in paths:
        if path not in profiles:
            is_shown = profiles_read is None
            profiles[path] = open_profile((path,), options, progress, needs_table=False, is_shown=is_shown)
    if options.request.columns is not None:
        refuse_unused_columns(list(profiles.values()))
    sides: list[Side] = [
        baselines[path] if path in baselines else ProfilePart(profiles[path], region)
        for (path, _), region in zip(named, regions, strict=True)
    ]
    return difference_between(
        sides[0],
        sides[1],
        options.request.grouping,
        confidence=options.confidence,
        as_recorded=options.as_recorded,
        progress=progress,
    )


def refuse_other_filters(path: str, baseline: Baseline, options: DifferenceOptions) -> None:
    """Raise OptionError where a baseline was saved with other filters of both sides than the options have."""
    saved, typed = (
        {name: value for name, value in filters.items() if name not in _OF_ONE_SIDE}
        for filters in (baseline.recordings[0].selection.filters, region_filters(options.request.region))
    )
    if saved != typed:
        words = ", ".join(f"{name}={value}" for name, value in saved.items()) or "no filters"
        raise OptionError(f"{path} was saved with {words}", remedy="give the same, or save it again")


# Filters that tell a part of one recording.
_OF_ONE_SIDE = ("launches", "time", "range")
