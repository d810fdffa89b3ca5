"""When launches run: how busy a device is and when it is idle, and a kernel group's launches over the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.parallel import Progress, ordered_map, scan
from sampling.profile.profile import Column, DeviceTime, Part, Profile
from sampling.profile.times import NO_START
from sampling.record import Amount, Index, Nanoseconds, Record
from sampling.reduction.duration_counts import DurationCounts, counted_launches
from sampling.reduction.idle import CAUSES, find_gaps
from sampling.reduction.region import clock_ranges

#: What a timeline goes by: the order of the launches, or when they started on the GPU.
By = Literal["launch", "time"]
# A gap shorter than this share of the recording is none: what is held stays small for any profile.
_LEAST_SHARE = 1e-4
_MOST_GAPS = 3


def device_times(
    profile: Profile, parts: Sequence[Part], progress: Progress | None = None
) -> tuple[DeviceTime, ...]:
    """Return the busy time of every sequence's selected launches; () where starts are not recorded.

    Launches without a start count in none of it.
    Exact while no launch of a later part starts before the latest end so far in an idle gap that an earlier
    part left open; such a launch counts as hidden there. Parts have about a million launches.
    """
    if "start_ns" not in profile.columns:
        return ()
    if (reduced := profile.find_reduced(parts)) is not None:
        return reduced.device_times
    parts = _with_starts(profile, parts)
    times: dict[int, DeviceTime] = {}
    swept = scan(profile.mapper, parts, _by_start, _last_end, _later_end, _swept, (-1, 0, -1))
    for count, (part, time) in enumerate(zip(parts, swept, strict=True)):
        if progress is not None:
            progress(count, len(parts), "looking for launches side by side")
        sequence, first_ns = profile.sequences[part.sequence], time.first_start_ns
        before = times.get(part.sequence, DeviceTime(sequence, 0, 0, first_ns, first_ns))
        times[part.sequence] = DeviceTime(
            sequence,
            kernel_ns=before.kernel_ns + time.kernel_ns,
            busy_ns=before.busy_ns + time.busy_ns,
            first_start_ns=min(before.first_start_ns, first_ns),
            last_end_ns=time.last_end_ns,
            gaps=tuple(sorted((*before.gaps, *time.gaps), reverse=True)[:_MOST_GAPS]),
            last_id=time.last_id,
        )
    return tuple(times[index] for index in sorted(times))


class _Swept(NamedTuple):
    """What `DeviceTime` says, of one part."""

    kernel_ns: int
    busy_ns: int
    first_start_ns: int
    last_end_ns: int
    gaps: tuple[tuple[int, int, int], ...]
    last_id: int


#: Rows, ascending by their starts, and their starts and ends.
_ByStart = tuple[IntArray, IntArray, IntArray]
#: Of the parts so far: the last one's sequence, when the last launch of that ends, and its id.
_LastEnd = tuple[int, int, int]


def _last_end(part: Part, by_start: _ByStart) -> _LastEnd:
    rows, _, end = by_start
    last_ns = end.max()
    return part.sequence, int(last_ns), int(part.ids(rows[np.flatnonzero(end == last_ns)[-1:]])[0])


def _later_end(before: _LastEnd, later: _LastEnd) -> _LastEnd:
    return before if before[0] == later[0] and before[1] > later[1] else later


def _swept(part: Part, by_start: _ByStart, before: _LastEnd) -> _Swept:
    """Return the busy time of a part's launches, but for those that earlier ones hide."""
    rows, start, end = by_start
    first_ns = int(start[0])
    before_ns, before_id = before[1:] if before[0] == part.sequence else (first_ns, -1)
    # When all launches before each have ended: how far that moves on is time idle or busy.
    last_end = np.maximum.accumulate(np.concatenate([[before_ns], end]))
    gap_ns = np.maximum(start - last_end[:-1], 0)
    busy_ns = int(last_end[-1] - last_end[0] - gap_ns.sum())

    def last_before(place: int) -> int:
        """Return the id of the launch that ends last of those so far, in this part or before it."""
        last = np.flatnonzero(end[:place] == last_end[place])[-1:]
        return int(part.ids(rows[last])[0]) if len(last) else before_id

    gaps = []
    for _ in range(_MOST_GAPS):
        widest = int(gap_ns.argmax())
        if gap_ns[widest]:
            gaps.append((int(gap_ns[widest]), last_before(widest), int(part.ids(rows[[widest]])[0])))
            gap_ns[widest] = 0
    kernel_ns = int((end - start).sum())
    return _Swept(kernel_ns, busy_ns, first_ns, int(last_end[-1]), tuple(gaps), last_before(len(end)))


def _with_starts(profile: Profile, parts: Sequence[Part]) -> Sequence[Part]:
    """Return those launches of parts whose start was recorded."""
    if not profile.facts.without_start:
        return parts
    return [part for part in profile.map(_with_start, parts) if part is not None]


def _with_start(part: Part) -> Part | None:
    return part.narrowed(part.load(("start_ns",))["start_ns"] != NO_START)


def _by_start(part: Part) -> _ByStart:
    """Return a part's rows, ascending by their starts, and their starts and ends."""
    table = part.load(("start_ns", "duration_ns"))
    start = table["start_ns"].astype(np.int64, copy=False)
    end = start + table["duration_ns"]
    rows = np.arange(len(start))
    if np.any(start[1:] < start[:-1]):
        rows = np.argsort(start, kind="stable")
        start, end = start[rows], end[rows]
    return rows, start, end


@dataclass(frozen=True, slots=True, eq=False)
class IdleGaps:
    """Stretches of time in which no launch runs, ascending and disjoint."""

    #: (g,) nanoseconds after the first launch of the file.
    begin_ns: IntArray
    end_ns: IntArray
    #: (g,) what the first of the devices waits for, by its place in `CAUSES`; None: not looked at.
    cause: IntArray | None = None

    def __len__(self) -> int:
        return len(self.begin_ns)

    def within(self, low_ns: int, high_ns: int, least_ns: int = 1) -> IdleGaps:
        """Return what lies between two times and lasts as long as wanted."""
        begin, end = np.maximum(self.begin_ns, low_ns), np.minimum(self.end_ns, high_ns)
        is_gap = end - begin >= max(least_ns, 1)
        return IdleGaps(begin[is_gap], end[is_gap], None if self.cause is None else self.cause[is_gap])

    @property
    def total_ns(self) -> int:
        """How long they are together."""
        return int((self.end_ns - self.begin_ns).sum())


def idle_gaps(
    profile: Profile,
    counts: DurationCounts,
    group: int,
    progress: Progress | None = None,
    *,
    causes: bool = False,
) -> IdleGaps | None:
    """Return when the device of a kernel group runs no launch, selected or not; None without starts.

    A group that spans devices has gaps where none of them runs anything. With ``causes`` each has one.
    """
    if "start_ns" not in profile.columns:
        return None
    ranges, kernel_group = clock_ranges(profile), counts.groups[group]
    places = list(zip(profile.sequences, profile.clocks, strict=True))
    clocks = {clock for sequence, clock in places if kernel_group.process in {None, sequence.process}}
    parts = [
        part
        for part in profile.parts
        if kernel_group.device in {None, places[part.sequence][0].device}
        and places[part.sequence][1] in clocks
    ]
    if not (parts := [*_with_starts(profile, parts)]):
        return None
    longest_ns = max(last - first for first, last in ranges.values())
    # Ends are not among the starts, but what is left out is a small share in any case.
    least_ns = max(int(longest_ns * _LEAST_SHARE), 1)

    def busy(part: Part) -> tuple[IntArray, IntArray]:
        _, begin, end = _by_start(part)
        origin_ns = ranges[profile.clocks[part.sequence]][0]
        return _covered(begin - origin_ns, end - origin_ns, least_ns)

    gaps = []
    for count, stretches in enumerate(ordered_map(busy, parts)):
        gaps.append(stretches)
        if progress is not None:
            progress(count + 1, len(parts), "looking for idle gaps")
    begin, end = map(np.concatenate, zip(*gaps, strict=True))
    order = np.argsort(begin, kind="stable")
    begin, end = _covered(begin[order], end[order], least_ns)
    idle = IdleGaps(end[:-1], begin[1:])
    if not causes or profile.activity is None or not len(idle):
        return idle
    # All devices are idle then, so gaps of the first hold these, but for those before its first launch.
    sequence = parts[0].sequence
    first_gaps, (origin_ns, _) = find_gaps(profile, parts, sequence), ranges[profile.clocks[sequence]]
    place = np.searchsorted(first_gaps.begin_ns - origin_ns, idle.begin_ns, side="right") - 1
    return replace(idle, cause=np.append(first_gaps.cause, CAUSES.index("unknown"))[place])


def _covered(begin: IntArray, end: IntArray, least_ns: int) -> tuple[IntArray, IntArray]:
    """Return the stretches that intervals, by their begin, cover; those less than some time apart as one."""
    reach = np.maximum.accumulate(end)
    apart = np.flatnonzero(begin[1:] - reach[:-1] >= least_ns)
    return begin[np.concatenate([[0], apart + 1])], reach[np.append(apart, len(end) - 1)]


@dataclass(frozen=True, slots=True, eq=False)
class GroupLaunches:
    """The selected launches of a kernel group, in id order; arrays (n,), 12 to 24 bytes a launch."""

    #: Index in the whole profile.
    id: IntArray
    duration_ns: AnyIntArray
    #: When it started, nanoseconds after the first launch of its file, `NO_START` where that was not
    #: recorded; None where it was of none.
    start_ns: IntArray | None

    def __len__(self) -> int:
        return len(self.id)

    def find_places(self, ids: IntArray) -> IntArray:
        """Return where the launches with some ids stand, ascending; ids of other groups are left out."""
        place = np.minimum(np.searchsorted(self.id, ids), len(self) - 1)
        return np.unique(place[self.id[place] == ids])

    def part(self, rows: slice | BoolArray) -> GroupLaunches:
        """Return some of the launches, by their places or as (n,) which of them."""
        start_ns = None if self.start_ns is None else self.start_ns[rows]
        return GroupLaunches(self.id[rows], self.duration_ns[rows], start_ns)


@dataclass(frozen=True, slots=True, eq=False)
class TimelineBins:
    """Launches of a kernel group, bin by bin; arrays (b,). A bin of time may have none: a gap."""

    #: Ids of its first and last launch; -1 where it has none.
    first: IntArray
    last: IntArray
    #: Where it begins: when its first launch started, `NO_START` if that was not recorded, or the edge of a
    #: bin of time; None if unknown.
    start_ns: IntArray | None
    #: How many, and how many of them a plan draws.
    launches: IntArray
    drawn: IntArray
    #: Of their durations; NaN, and 0, where it has none.
    mean_ns: FloatArray
    min_ns: IntArray
    max_ns: IntArray


class TimelineBin(Record, frozen=True):
    """Launches of a kernel group that follow each other; None where a bin of time has no launch."""

    #: Ids.
    first: Index | None
    last: Index | None
    start_ns: Nanoseconds | None
    launches: Index
    mean_ns: Amount | None
    min_ns: Nanoseconds | None
    max_ns: Nanoseconds | None
    #: How many of them the plan draws.
    drawn: Index


def list_bins(bins: TimelineBins) -> list[TimelineBin]:
    """Return the bins one by one."""
    starts = [NO_START] * len(bins.launches) if bins.start_ns is None else bins.start_ns.tolist()
    columns = (bins.first, bins.last, bins.mean_ns, bins.min_ns, bins.max_ns, bins.launches, bins.drawn)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        TimelineBin(
            first=first if launches else None,
            last=last if launches else None,
            start_ns=None if start_ns == NO_START else start_ns,
            launches=launches,
            mean_ns=mean_ns if launches else None,
            min_ns=min_ns if launches else None,
            max_ns=max_ns if launches else None,
            drawn=drawn,
        )
        for start_ns, (first, last, mean_ns, min_ns, max_ns, launches, drawn) in zip(
            starts, rows, strict=True
        )
    ]


def find_group_launches(
    profile: Profile, counts: DurationCounts, group: int, progress: Progress | None = None
) -> GroupLaunches:
    """Read the launches of a kernel group, a part at a time."""
    has_starts = "start_ns" in profile.columns
    columns: tuple[Column, ...] = ("duration_ns", "start_ns") if has_starts else ("duration_ns",)
    clocks = clock_ranges(profile) if has_starts else {}
    bins_ns = []
    for part, group_of, table in counted_launches(profile, counts, columns, progress):
        rows = np.flatnonzero(group_of == group)
        origin_ns, _ = clocks.get(profile.clocks[part.sequence], (0, 0))
        start_ns = table["start_ns"][rows] if has_starts else rows
        if has_starts:
            start_ns = np.where(start_ns == NO_START, NO_START, start_ns - origin_ns)
        bins_ns.append((part.ids(rows), table["duration_ns"][rows], start_ns))
    ids, duration_ns, starts = map(np.concatenate, zip(*bins_ns, strict=True))
    are_told = has_starts and bool((starts != NO_START).any())
    return GroupLaunches(ids, duration_ns, starts if are_told else None)


def timeline_bins(
    launches: GroupLaunches, bins: int, by: By = "launch", drawn_ids: IntArray | None = None
) -> TimelineBins:
    """Return the launches in bins: of as many launches each, as near as may be, or of the same time each.

    By launch there are no more bins than launches; by time each of them has a start. ``drawn_ids`` are of
    this group and others.
    """
    order, begin_ns = np.arange(len(launches)), launches.start_ns
    if by == "time":
        assert launches.start_ns is not None
        order = np.argsort(launches.start_ns, kind="stable")
        starts = launches.start_ns[order]
        low, high = int(starts[0]), int(starts[-1]) + 1
        # Whole numbers: the span times the number of bins may be more than a double resolves.
        edges_ns = np.array([low + (high - low) * place // bins for place in range(bins + 1)])
        edges, begin_ns = np.searchsorted(starts, edges_ns), edges_ns[:-1]
    else:
        bins = min(bins, len(launches))
        edges = np.arange(bins + 1) * len(launches) // bins
        begin_ns = None if begin_ns is None else begin_ns[edges[:-1]]
    number = np.diff(edges)
    filled = number > 0

    def over(values: IntArray, reduce: np.ufunc, empty: int = 0) -> IntArray:
        sums = np.full(bins, empty, dtype=np.int64)
        # Only where a bin begins that has launches does a run of them begin.
        sums[filled] = reduce.reduceat(values[order], edges[:-1][filled])
        return sums

    durations = launches.duration_ns.astype(np.int64)
    is_drawn = np.zeros(len(launches), dtype=np.int64)
    if drawn_ids is not None:
        is_drawn[launches.find_places(drawn_ids)] = 1
    mean_ns = np.full(bins, np.nan)
    return TimelineBins(
        first=over(launches.id, np.minimum, -1),
        last=over(launches.id, np.maximum, -1),
        start_ns=begin_ns,
        launches=number,
        mean_ns=np.divide(over(durations, np.add), number, out=mean_ns, where=filled),
        min_ns=over(durations, np.minimum),
        max_ns=over(durations, np.maximum),
        drawn=over(is_drawn, np.add),
    )
