"""A recording as a side of a difference: its kernel groups, and what its launches come to.

Nothing of it depends on the other side, so that a baseline can keep it in place of the recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from sampling.arrays import IntArray
from sampling.difference.iterations import IterationFacts, find_iteration_runs
from sampling.difference.launch_sums import LaunchSums, add_up
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, count_durations, counts_selection
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.region import Region, Selection


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recording, or a part of one, reduced to kernel groups of one process and device each."""

    selection: Selection
    groups: tuple[KernelGroup, ...]
    #: (g,)
    launches: IntArray
    sums: LaunchSums
    iterations: IterationFacts | None


@dataclass(frozen=True, slots=True, eq=False)
class ReadRecording(Recording):
    """One of which single durations are there too."""

    counts: DurationCounts = field(kw_only=True)


class ProfilePart(NamedTuple):
    """A profile and which of its launches count."""

    profile: Profile
    region: Region = Region()

    @property
    def names_operators(self) -> bool:
        """Whether launches may have operators."""
        return "operator" in self.profile.columns

    def recording(self, grouping: Grouping, progress: Progress | None = None) -> ReadRecording:
        """Return what a difference takes of it.

        Raises EmptySelectionError, NotApplicableError: as `count_durations`.
        """
        counts = count_durations(self.profile, grouping, self.region, progress)
        runs = find_iteration_runs(self.profile, counts, progress)
        sums, facts = add_up(self.profile, counts, runs, progress), None
        if runs is not None:
            ahead, behind, outside = sums.outside
            facts = replace(
                runs.facts, launches_ahead=ahead, launches_behind=behind, launches_outside=outside
            )
        selection = counts_selection(self.profile, counts)
        return ReadRecording(selection, counts.groups, counts.group_launches, sums, facts, counts=counts)
