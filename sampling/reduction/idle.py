"""Why a device is idle: what held up the kernel that ends each gap. (docs/methods.md, 16 Idle time)"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.activity import find_sequences
from sampling.profile.profile import Activity, DeviceTime, LaunchSequence, Part, Profile
from sampling.profile.times import NO_START
from sampling.record import Count, Fraction, Index, Nanoseconds, Record
from sampling.reduction.intervals import Covered

#: The next kernel was launched late; or in time, and then waited for a copy, as long as every launch does, or
#: longer; or its call is not known.
Cause = Literal["host", "copy", "turnaround", "dependency", "unknown"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
#: Idle time by cause, that of gaps too short to have one, and, of the host's, what it waits for the device.
IDLE_PARTS = (*CAUSES, "short", "synchronising")
#: From the host (H), a device (D) or another device (P) to one; a set writes one value over and over.
Direction = Literal["HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "set", "other"]

_HOST, _COPY, _TURNAROUND, _DEPENDENCY, _UNKNOWN = range(len(CAUSES))
# Shorter gaps have no cause of their own, and none that waits for anything is shorter than the other.
_LEAST_GAP_NS, _LEAST_DEPENDENCY_NS = 1_000, 10_000
_MOST_GAPS = _MOST_OPERATORS = 5
_FROM_TO = re.compile(r"(Host|Device|Array|Peer|[HDAP])[-_ ]?to[-_ ]?([HDAP])", re.IGNORECASE)
_WAITING = re.compile(r"(?:cuda|cu|hip)(?:\w*Synchronize|Memcpy(?!\w*Async))")
_SHAPES = " [["  # what follows the name of an operator of PyTorch
_FAR_NS = 1 << 62
_NO_EVENTS = np.zeros((5, 0), dtype=np.int64)
_NOTHING = Activity(_NO_EVENTS[0], _NO_EVENTS, _NO_EVENTS, ())


class IdleGap(Record, frozen=True):
    """A stretch of time in which a device runs no kernel."""

    duration_ns: Nanoseconds
    cause: Cause
    #: Ids of the launches on both sides, and their kernels.
    before: Index
    after: Index
    kernel_before: str
    kernel_after: str
    #: The API call that takes most of it; None where none was recorded.
    call: str | None


class IdleTime(Record, frozen=True):
    """Why no kernel runs on a device, from its first launch to its last."""

    idle_ns: Nanoseconds
    #: Of the time from the first launch to the last.
    share: Fraction
    #: Shares of the time in gaps of 1 us and more, by `CAUSES`; None where there is no such gap.
    causes: dict[Cause, Fraction] | None
    #: The share of the idle time in shorter gaps; None where nothing but launches was recorded.
    short: Fraction | None
    #: Of the share of the host, what it spent in calls that wait for the device, and while a copy or set ran.
    synchronising: Fraction
    copying: Fraction
    #: The longest.
    gaps: list[IdleGap]
    #: The time of the host's gaps by the operator or named range that launched late, "" for none; the most.
    operators: dict[str, Nanoseconds]

    def share_of(self, cause: Cause) -> float:
        """Return the share of all idle time that has a cause."""
        return (self.causes or {}).get(cause, 0.0) * (1 - (self.short or 0.0))


class CopyTime(Record, frozen=True):
    """Memory copies or sets in one direction."""

    direction: Direction
    count: Count
    bytes: Index
    duration_ns: Nanoseconds
    #: While a kernel ran on the same device.
    overlapped_ns: Nanoseconds


class Gaps(NamedTuple):
    """Stretches of time in which a sequence runs no launch, ascending, (g,) each."""

    begin_ns: IntArray
    end_ns: IntArray
    #: Ids of the launch that ends last before it, and of the one that starts after it.
    before: IntArray
    after: IntArray
    #: By its place in `CAUSES`, also of those too short to have one.
    cause: IntArray

    def take(self, rows: IntArray | BoolArray) -> Gaps:
        """Return some of them."""
        return Gaps._make(column[rows] for column in self)

    @property
    def duration_ns(self) -> IntArray:
        """(g,) how long they are."""
        return self.end_ns - self.begin_ns


def find_gaps(profile: Profile, parts: Sequence[Part], sequence: int) -> Gaps:
    """Return the gaps between the launches of a sequence that are in these parts, and what each is due to.

    A gap is the host's where the call that issued the next kernel ended after it began; else a copy's where
    copies and sets of the device take more than half of it; else, by its length, it is what every launch
    takes, or the kernel waited for something else. It is not known where that kernel has no call.
    """
    activity = profile.activity
    assert activity is not None
    chosen = [part for part in parts if part.sequence == sequence]
    tables = [part.load(("start_ns", "duration_ns")) for part in chosen]
    start_ns = np.concatenate([table["start_ns"] for table in tables]).astype(np.int64)
    duration_ns = np.concatenate([table["duration_ns"] for table in tables])
    ids = np.concatenate([part.ids(np.arange(part.launches)) for part in chosen])
    return gaps_between(activity, sequence, ids, start_ns, duration_ns)


def gaps_between(
    activity: Activity, sequence: int, ids: IntArray, start_ns: IntArray, duration_ns: IntArray
) -> Gaps:
    """Return the gaps between launches of a sequence, (n,) by id; see `find_gaps`."""
    order = np.argsort(start_ns, kind="stable")
    order = order[start_ns[order] != NO_START]
    start_ns, end_ns, ids = start_ns[order], (start_ns + duration_ns)[order], ids[order]
    reach = np.maximum.accumulate(end_ns)
    place = np.flatnonzero(start_ns[1:] > reach[:-1])
    # The last of those launches so far that end latest.
    latest = np.maximum.accumulate(np.where(end_ns == reach, np.arange(len(order)), 0))
    begin_ns, until_ns, after = reach[place], start_ns[place + 1], ids[place + 1]
    call, copies = activity.launch_call[after], activity.copies[:2, activity.copies[2] == sequence]
    # The last one stands for those that are not there.
    is_late = (call >= 0) & (np.append(activity.calls[1], 0)[call] > begin_ns)
    by_copy = 2 * Covered(*copies).between(begin_ns, until_ns) > until_ns - begin_ns
    conditions = [is_late, by_copy, call < 0, until_ns - begin_ns >= _LEAST_DEPENDENCY_NS]
    cause = np.select(conditions, [_HOST, _COPY, _UNKNOWN, _DEPENDENCY], _TURNAROUND)
    return Gaps(begin_ns, until_ns, ids[latest[place]], after, cause)


def idle_parts(
    activity: Activity, sequences: Sequence[LaunchSequence], sequence: LaunchSequence, gaps: Gaps
) -> IntArray:
    """Return (`IDLE_PARTS`, g) of what gaps of a sequence are, in nanoseconds."""
    is_long, parts_ns = gaps.duration_ns >= _LEAST_GAP_NS, np.zeros((len(IDLE_PARTS), len(gaps.cause)), int)
    late = np.flatnonzero(is_long & (gaps.cause == _HOST))
    parts_ns[np.where(is_long, gaps.cause, len(CAUSES)), np.arange(len(gaps.cause))] = gaps.duration_ns
    calls = _calls_of(activity, sequences, sequence)
    parts_ns[-1, late] = _waited(gaps.take(late), calls, activity.names)
    return parts_ns


def why_idle(
    profile: Profile, parts: Sequence[Part], times: Sequence[DeviceTime], *, operators: bool = True
) -> tuple[dict[LaunchSequence, IdleTime], list[CopyTime] | None]:
    """Return why devices with these times are idle between the selected launches of parts, and the copies.

    Of a selection those copies count that lie, in part, between its first and last launch on their device;
    there are None where the format has none. Without ``operators`` it is not looked which launched late.
    """
    devices, gaps_of = dict[LaunchSequence, IdleTime](), dict[int, Gaps]()
    for time in times:
        if profile.activity is None:
            # Nothing says why, and the launches may be more than memory holds.
            longest_ns, before, after = np.array(time.gaps, dtype=np.int64).reshape(-1, 3).T
            unknown = np.full(len(before), _UNKNOWN)
            gaps = Gaps(np.zeros_like(longest_ns), longest_ns, before, after, unknown)
        else:
            place = profile.sequences.index(time.sequence)
            gaps = gaps_of[place] = find_gaps(profile, parts, place)
        devices[time.sequence] = _idle_time(profile, time, gaps, operators=operators)
    if profile.activity is None or not profile.activity.has_copies:
        return devices, None
    is_whole = sum(part.launches for part in parts) == profile.launches
    return devices, _copy_times(profile.activity, times, gaps_of, is_whole=is_whole)


def _idle_time(profile: Profile, time: DeviceTime, gaps: Gaps, *, operators: bool) -> IdleTime:
    activity = profile.activity or _NOTHING
    names, calls = activity.names, _calls_of(activity, profile.sequences, time.sequence)
    copies = activity.copies[:2, activity.copies[2] == profile.sequences.index(time.sequence)]
    gaps, idle_ns = gaps.take(gaps.duration_ns >= _LEAST_GAP_NS), time.span_ns - time.busy_ns
    late, long_ns = gaps.take(gaps.cause == _HOST), int(gaps.duration_ns.sum())
    cause_ns = np.bincount(gaps.cause, gaps.duration_ns, len(CAUSES))
    longest = gaps.take(np.argsort(-gaps.duration_ns, kind="stable")[:_MOST_GAPS])
    return IdleTime(
        idle_ns,
        share=idle_ns / max(time.span_ns, 1),
        causes=dict(zip(CAUSES, (cause_ns / long_ns).tolist(), strict=True)) if long_ns else None,
        short=None if profile.activity is None else (idle_ns - long_ns) / max(idle_ns, 1),
        synchronising=int(_waited(late, calls, names).sum()) / max(long_ns, 1),
        copying=int(Covered(*copies).between(late.begin_ns, late.end_ns).sum()) / max(long_ns, 1),
        gaps=[_told(profile, calls, names, *gap) for gap in np.stack(longest).T.tolist()],
        operators=_by_operator(profile, late) if operators and len(late.after) else {},
    )


def _calls_of(activity: Activity, sequences: Sequence[LaunchSequence], sequence: LaunchSequence) -> IntArray:
    """Return (5, c) the calls of the process of a sequence."""
    is_own = activity.calls[2] == find_sequences(sequences, np.array([sequence.process]))
    return activity.calls if is_own.all() else activity.calls[:, is_own]


def _waited(gaps: Gaps, calls: IntArray, names: Sequence[str]) -> IntArray:
    """Return (g,) how much of some gaps calls take that wait for the device and end inside them."""
    waits = np.array([bool(_WAITING.match(name)) for name in names], dtype=np.bool_)
    start_ns, end_ns = calls[:2, waits[calls[3]]]
    gap = np.searchsorted(gaps.end_ns, end_ns)
    is_inside = np.append(gaps.begin_ns, _FAR_NS)[gap] < end_ns
    begin_ns = np.maximum(start_ns[is_inside], gaps.begin_ns[gap[is_inside]])
    return Covered(begin_ns, end_ns[is_inside]).between(gaps.begin_ns, gaps.end_ns)


def _told(profile: Profile, calls: IntArray, names: Sequence[str], *gap: int) -> IdleGap:
    """Return a gap with the names of the kernels on both sides and of the call in it."""
    begin_ns, end_ns, before, after, cause = gap
    start_ns, stop_ns, _, name, _ = calls
    inside_ns = np.minimum(stop_ns, end_ns) - np.maximum(start_ns, begin_ns)
    call, kernels = names[name[inside_ns.argmax()]] if inside_ns.max(initial=0) > 0 else None, []
    for launch in (before, after):
        parts = (part.between(launch, launch + 1) for part in profile.parts)
        code = next(part for part in parts if part is not None).load(("name",))["name"][0]
        kernels.append(profile.kernels.names.full(int(code)))
    return IdleGap(end_ns - begin_ns, CAUSES[cause], before, after, kernels[0], kernels[1], call)


def _by_operator(profile: Profile, late: Gaps) -> dict[str, int]:
    """Return the time of gaps by the operators that launched the kernels after them, most first."""
    if "operator" not in profile.columns:
        return {}
    codes, row = np.unique(profile.load(("operator",))["operator"][late.after], return_inverse=True)
    texts, times_ns = profile.kernels.operators()[0], Counter[str]()
    for code, time_ns in zip(codes.tolist(), np.bincount(row, late.duration_ns).tolist(), strict=True):
        times_ns[texts[code].partition(_SHAPES)[0]] += int(time_ns)
    return dict(times_ns.most_common(_MOST_OPERATORS))


def _copy_times(
    activity: Activity, times: Sequence[DeviceTime], gaps_of: Mapping[int, Gaps], *, is_whole: bool
) -> list[CopyTime]:
    """Return the copies by direction, of selections of launches with these times and gaps."""
    start_ns, end_ns, sequence, name, size = activity.copies
    overlapped_ns, is_counted = np.zeros(len(size), dtype=np.int64), np.full(len(size), is_whole)
    for time, (place, gaps) in zip(times, gaps_of.items(), strict=True):
        first_ns, last_ns = time.first_start_ns, time.last_end_ns
        rows = np.flatnonzero((sequence == place) & (start_ns <= last_ns) & (end_ns >= first_ns))
        begin_ns, stop_ns = np.maximum(start_ns[rows], first_ns), np.minimum(end_ns[rows], last_ns)
        idle_ns = Covered(gaps.begin_ns, gaps.end_ns).between(begin_ns, stop_ns)
        is_counted[rows], overlapped_ns[rows] = True, stop_ns - begin_ns - idle_ns
    directions, copied = [copy_direction(text) for text in activity.names], list[CopyTime]()
    for direction in get_args(Direction):
        is_of_direction = np.array([direction == other for other in directions], dtype=np.bool_)
        rows = np.flatnonzero(is_counted & is_of_direction[name])
        figures = (int(column[rows].sum()) for column in (size, end_ns - start_ns, overlapped_ns))
        copied += [CopyTime(direction, len(rows), *figures)] if len(rows) else []
    return copied


def copy_direction(name: str) -> Direction:
    """Return the direction of a copy or set, by what its tool calls it.

    >>> [copy_direction(name) for name in ("Memcpy DtoH (Device -> Pinned)", "MEMORY_COPY_HOST_TO_DEVICE")]
    ['DtoH', 'HtoD']
    """
    match = _FROM_TO.search(name)
    ends = () if match is None else (end[0].upper().replace("A", "D") for end in match.groups())
    text = "to".join(ends) or ("set" if "set" in name.lower() else "other")
    return next((direction for direction in get_args(Direction) if direction == text), "other")
