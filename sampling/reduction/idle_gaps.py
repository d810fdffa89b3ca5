"""When nothing runs on the device of a kernel group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Part, Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import clock_ranges

#: A gap shorter than this share of the recording is none: what is held stays small for any profile.
LEAST_SHARE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class IdleGaps:
    """Stretches of time in which no launch runs, ascending and disjoint.

    Attributes
    ----------
    begin_ns, end_ns : (g,) nanoseconds after the first launch of the file.
    """

    begin_ns: IntArray
    end_ns: IntArray

    def __len__(self) -> int:
        return len(self.begin_ns)

    def within(self, low_ns: int, high_ns: int, least_ns: int = 1) -> IdleGaps:
        """Return what lies between two times and lasts as long as wanted."""
        begin, end = np.maximum(self.begin_ns, low_ns), np.minimum(self.end_ns, high_ns)
        kept = end - begin >= max(least_ns, 1)
        return IdleGaps(begin[kept], end[kept])

    @property
    def total_ns(self) -> int:
        """How long they are together."""
        return int((self.end_ns - self.begin_ns).sum())


def idle_gaps(
    profile: Profile, counts: DurationCounts, group: int, progress: Progress | None = None
) -> IdleGaps | None:
    """Return when the device of a kernel group runs no launch, selected or not; None without starts.

    A group that spans devices has gaps where none of them runs anything.
    """
    if "start_ns" not in profile.columns:
        return None
    ranges = clock_ranges(profile)
    own = _sequences(profile, counts, group)
    parts = [part for part in profile.parts if part.sequence in own]
    # Ends are not among the starts, but what is left out is a small share in any case.
    longest_ns = max((last - first for first, last in ranges.values()), default=0)
    least_ns = max(int(longest_ns * LEAST_SHARE), 1)

    def busy(part: Part) -> tuple[IntArray, IntArray]:
        table = part.load(("start_ns", "duration_ns"))
        begin = table["start_ns"].astype(np.int64) - ranges[profile.clocks[part.sequence]][0]
        return _merged(begin, begin + table["duration_ns"], least_ns)

    begins, ends = [], []
    for done, (begin, end) in enumerate(ordered_map(busy, parts)):
        begins.append(begin)
        ends.append(end)
        if progress is not None:
            progress(done + 1, len(parts), "looking for idle gaps")
    begin, end = _merged(np.concatenate(begins), np.concatenate(ends), least_ns)
    return IdleGaps(end[:-1], begin[1:])


def _sequences(profile: Profile, counts: DurationCounts, group: int) -> frozenset[int]:
    """Return the sequences whose launches run on a group's device, and have its clock."""
    of = counts.groups[group]
    own = {
        profile.clocks[index]
        for index, sequence in enumerate(profile.sequences)
        if of.process in {None, sequence.process}
    }
    return frozenset(
        index
        for index, sequence in enumerate(profile.sequences)
        if of.device in {None, sequence.device} and profile.clocks[index] in own
    )


def _merged(begin: IntArray, end: IntArray, least_ns: int) -> tuple[IntArray, IntArray]:
    """Return the stretches that intervals cover, those less than `least_ns` apart as one."""
    if np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    reach = np.maximum.accumulate(end)
    apart = np.flatnonzero(begin[1:] - reach[:-1] >= least_ns)
    return begin[np.concatenate([[0], apart + 1])], reach[np.append(apart, len(end) - 1)]
