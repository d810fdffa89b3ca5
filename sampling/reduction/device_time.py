"""When a device runs kernels: how much of their time is side by side, and when it is idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.parallel import Progress, ordered_map
from sampling.profile.profile import LaunchSequence, Part, Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import clock_ranges

_MOST_GAPS = 3
#: A gap shorter than this share of the recording is none: what is held stays small for any profile.
LEAST_SHARE = 1e-4


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """The time one process keeps one device busy."""

    sequence: LaunchSequence
    #: Sum of all durations.
    kernel_ns: int
    #: Time during which at least one kernel runs.
    busy_ns: int
    #: Where the recording of this sequence begins and ends.
    first_start_ns: int
    last_end_ns: int
    #: Launches that start while an earlier one still runs.
    overlapping: int
    #: (ns, id of the launch that ended before, id of the one that starts after) of the largest stretches in
    #: which none of them runs, the largest first.
    gaps: tuple[tuple[int, int, int], ...] = ()
    #: Of the launch that ends last.
    last_id: int = 0

    @property
    def span_ns(self) -> int:
        """From the first launch to the last."""
        return self.last_end_ns - self.first_start_ns

    @property
    def busy_share(self) -> float:
        """The share of that span in which at least one kernel runs; 1 of a span of 0."""
        return self.busy_ns / self.span_ns if self.span_ns else 1.0

    @property
    def overlap_share(self) -> float:
        """The share of kernel time that is hidden behind other kernels."""
        return 1 - self.busy_ns / self.kernel_ns if self.kernel_ns else 0.0


def device_times(
    profile: Profile, chosen: Sequence[Part], progress: Progress | None = None
) -> tuple[DeviceTime, ...]:
    """Return the busy time of every sequence's selected launches; () where starts are not recorded.

    Exact while no launch of a later part starts before the latest end so far in an idle gap that an earlier
    part left open; such a launch counts as overlapping there. Parts have about a million launches.
    """
    if "start_ns" not in profile.columns:
        return ()

    def swept(part: Part) -> tuple[IntArray, IntArray, IntArray | None]:
        table = part.load(("start_ns", "duration_ns"))
        start = table["start_ns"].astype(np.int64, copy=False)
        end = start + table["duration_ns"]
        order = None
        if np.any(start[1:] < start[:-1]):
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        return start, end, order

    times: dict[int, DeviceTime] = {}
    found = zip(chosen, ordered_map(swept, chosen), strict=True)
    for done, (part, (start, end, order)) in enumerate(found):
        if progress is not None:
            progress(done, len(chosen), "looking for launches side by side")
        before = times.get(part.sequence)
        reach = np.maximum.accumulate(end)
        ahead = np.empty_like(reach)
        ahead[0] = start[0] if before is None else before.last_end_ns
        np.maximum(reach[:-1], ahead[0], out=ahead[1:])
        hidden = np.minimum(np.maximum(ahead - start, 0), end - start)
        kernel_ns = int((end - start).sum())
        widest = np.argpartition(ahead - start, min(_MOST_GAPS, len(start)) - 1)[:_MOST_GAPS]
        widest = widest[start[widest] > ahead[widest]]
        # What ended last before each, and of all launches: of the latter place 0 may be in the part before.
        ended = [int(np.argmax(end[:place])) if place else -1 for place in widest.tolist()]
        ended.append(int(np.argmax(end)) if reach[-1] >= ahead[0] else -1)
        places = np.array([*ended, *widest.tolist()])
        ids = part.ids(places if order is None else order[places])
        if before is not None:
            ids[places < 0] = before.last_id
        gaps_ns = (start[widest] - ahead[widest]).tolist()
        gaps = zip(gaps_ns, ids[: len(widest)].tolist(), ids[len(ended) :].tolist(), strict=True)
        here = DeviceTime(
            sequence=profile.sequences[part.sequence],
            kernel_ns=kernel_ns,
            busy_ns=kernel_ns - int(hidden.sum()),
            first_start_ns=int(start[0]),
            last_end_ns=int(max(reach[-1], ahead[0])),
            overlapping=int(np.count_nonzero(hidden)),
            gaps=tuple(sorted(gaps, reverse=True)),
            last_id=int(ids[len(widest)]),
        )
        times[part.sequence] = here if before is None else _joined(before, here)
    return tuple(times[index] for index in sorted(times))


def _joined(before: DeviceTime, here: DeviceTime) -> DeviceTime:
    return DeviceTime(
        sequence=before.sequence,
        kernel_ns=before.kernel_ns + here.kernel_ns,
        busy_ns=before.busy_ns + here.busy_ns,
        first_start_ns=min(before.first_start_ns, here.first_start_ns),
        last_end_ns=here.last_end_ns,
        overlapping=before.overlapping + here.overlapping,
        gaps=tuple(sorted((*before.gaps, *here.gaps), reverse=True)[:_MOST_GAPS]),
        last_id=here.last_id,
    )


@dataclass(frozen=True, slots=True, eq=False)
class IdleGaps:
    """Stretches of time in which no launch runs, ascending and disjoint."""

    #: (g,) nanoseconds after the first launch of the file.
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
    of = counts.groups[group]
    clocks = {
        clock
        for clock, sequence in zip(profile.clocks, profile.sequences, strict=True)
        if of.process in {None, sequence.process}
    }
    parts = [
        part
        for part in profile.parts
        if of.device in {None, profile.sequences[part.sequence].device}
        and profile.clocks[part.sequence] in clocks
    ]
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


def _merged(begin: IntArray, end: IntArray, least_ns: int) -> tuple[IntArray, IntArray]:
    """Return the stretches that intervals cover, those less than `least_ns` apart as one."""
    if np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    reach = np.maximum.accumulate(end)
    apart = np.flatnonzero(begin[1:] - reach[:-1] >= least_ns)
    return begin[np.concatenate([[0], apart + 1])], reach[np.append(apart, len(end) - 1)]
