"""What a difference takes of a recording: sums over its launches by kernel group, by iteration, over the run.

No sum depends on the other side, so that a baseline can keep them in place of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from sampling.arrays import GOLDEN_RATIO, AnyIntArray, FloatArray, HashArray, IntArray, mixed
from sampling.difference.intervals import Means, means_of, share_of
from sampling.parallel import Progress
from sampling.profile.identity import signature_hashes
from sampling.profile.profile import Column, Profile
from sampling.profile.times import NO_START
from sampling.reduction.duration_counts import (
    DurationCounts,
    count_durations,
    counted_launches,
    counts_selection,
)
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.idle import IDLE_PARTS, gaps_between, idle_parts
from sampling.reduction.iteration_runs import (
    AHEAD,
    BEHIND,
    OUTSIDE,
    IterationFacts,
    find_iteration_runs,
)
from sampling.reduction.region import Region, Selection

#: The i-th of a group's n launches, from 0, is in piece i PIECES / n, rounded down; and so the i-th of all
#: launches of a process and device is in one of `TENTHS` stretches.
PIECES, TENTHS = 20, 10
#: Of more iterations than this, so many stretches of successive ones are kept.
MOST_STRETCHES = 32
_NEVER = int(np.iinfo(np.int64).max)
# What `_Launches.by_number` gives.
_SUMS = 6 + len(IDLE_PARTS)


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches of a run, one after the other; (m,), times in nanoseconds."""

    #: How many iterations each is; all stretches of a run without iterations together are one.
    iterations: FloatArray
    launches: FloatArray
    kernel_ns: FloatArray
    #: How long devices run at least one kernel, and in how long a time: from a stretch's first start to that
    #: of what follows, of the last to its end. 0 where starts are not recorded.
    busy_ns: FloatArray
    device_ns: FloatArray
    #: How long iterations last, on average of the devices, where their end is recorded; how many these are.
    elapsed_ns: FloatArray
    timed: FloatArray
    #: How long memory copies and sets take; None where they are not recorded.
    copies_ns: FloatArray | None = None
    #: (`IDLE_PARTS`, m) how long devices are idle, on average of them, in iterations whose end is recorded,
    #: and how many these are; None where calls are not recorded, so that nothing says why.
    idle_ns: FloatArray | None = None
    ended: FloatArray | None = None

    def means(self) -> dict[str, Means]:
        """Return the quantities of one iteration that are recorded, as (1, m)."""
        columns = {"kernel_ns": self.kernel_ns, "launches": self.launches, "copies_ns": self.copies_ns}
        if self.device_ns.any():
            columns |= {"busy": self.busy_ns, "device_ns": self.device_ns}
        means = {
            name: means_of(column[np.newaxis], self.iterations)
            for name, column in columns.items()
            if column is not None
        }
        if "busy" in means:
            means["busy"] = share_of(means["busy"], means.pop("device_ns"))
        if self.timed.any():
            means["elapsed_ns"] = means_of(self.elapsed_ns[np.newaxis], self.timed)
        if self.idle_ns is not None and self.ended is not None and self.ended.any():
            rows = (self.idle_ns[: IDLE_PARTS.index("synchronising")].sum(axis=0), *self.idle_ns)
            for name, row in zip(("idle", *IDLE_PARTS), rows, strict=True):
                means[f"{name}_ns"] = means_of(row[np.newaxis], self.ended)
        return means


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recording, or a part of one, by kernel groups of one process and device each; (g,) of these."""

    selection: Selection
    groups: tuple[KernelGroup, ...]
    launches: IntArray
    #: (g, PIECES)
    piece_ns: IntArray
    whole: Stretches
    #: For each process and device, by its streams as they begin, what tells their launches from others'.
    streams: list[list[str]]
    #: The iterations, where there are some; the launches of each group in them, and (g, m) their time.
    facts: IterationFacts | None
    iterations: Stretches | None
    iteration_launches: IntArray
    iteration_ns: IntArray


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
        """Return what a difference takes of it, by groups of one process and device each.

        Raises EmptySelectionError, NotApplicableError: as `count_durations`.
        """
        profile, counts = self.profile, count_durations(self.profile, grouping, self.region, progress)
        runs = find_iteration_runs(profile, counts, progress)
        iterations = 0 if runs is None else runs.facts.iterations
        # One more stretch is of the launches that are in no iteration.
        begins = _stretch_begins(iterations)
        stretch_of = np.append(
            np.repeat(np.arange(len(begins)), np.diff(begins, append=iterations)), len(begins)
        )
        groups = len(counts.groups)
        piece_ns = np.zeros((groups, PIECES), dtype=np.int64)
        group_ns, in_group = np.zeros((2, groups, len(begins) + 1), dtype=np.int64)
        whole, sums = (np.zeros((_SUMS, size)) for size in (TENTHS, iterations))
        outside, activity = np.zeros(3, dtype=np.int64), profile.activity
        streams, devices = [], 0
        for launches in _sequences(profile, counts, progress):
            group, duration_ns, number = launches.group, launches.duration_ns, len(launches.group)
            # Numbers of 16 bits are sorted several times as fast.
            order = np.argsort(group.astype(np.min_scalar_type(groups)), kind="stable")
            in_order = group[order]
            first = np.flatnonzero(np.diff(in_order, prepend=-1))
            nth = np.arange(number) - np.repeat(first, np.diff(first, append=number))
            piece = in_order * PIECES + nth * PIECES // counts.group_launches[in_order]
            np.add.at(piece_ns.reshape(-1), piece, duration_ns[order])
            streams.append(launches.digests(signature_hashes(profile.kernels)))
            tenth = np.repeat(np.arange(TENTHS), np.diff(-(-np.arange(TENTHS + 1) * number // TENTHS)))
            whole += launches.by_number(tenth, TENTHS)
            if runs is None:
                continue
            iteration = runs.iteration[np.searchsorted(runs.edges, launches.ids, side="right") - 1]
            sums += launches.by_number(iteration, iterations)
            devices += bool((iteration >= 0).any())
            outside += [np.count_nonzero(iteration == place) for place in (AHEAD, BEHIND, OUTSIDE)]
            place = group * (len(begins) + 1) + stretch_of[np.maximum(iteration, -1)]
            np.add.at(group_ns.reshape(-1), place, duration_ns)
            np.add.at(in_group.reshape(-1), place, 1)
        of = partial(
            _stretches,
            has_copies=activity is not None and activity.has_copies,
            has_calls=activity is not None and bool((activity.launch_call >= 0).any()),
        )
        return ReadRecording(
            selection=counts_selection(profile, counts),
            groups=counts.groups,
            launches=counts.group_launches,
            piece_ns=piece_ns,
            whole=of(whole, np.full(TENTHS, 1 / TENTHS), len(streams), None, is_closed=True),
            streams=streams,
            facts=None if runs is None else runs.facts.with_outside(*outside.tolist()),
            iterations=None if runs is None else of(sums, np.ones(iterations), devices, runs.own_ns),
            iteration_launches=in_group[:, :-1].sum(axis=1),
            iteration_ns=group_ns[:, :-1],
            counts=counts,
        )


class _Launches(NamedTuple):
    """The launches of one process and device that count, (n,) in id order."""

    ids: IntArray
    group: AnyIntArray
    signature: AnyIntArray
    duration_ns: IntArray
    #: `NO_START` where it was not recorded; None where none was. How much of it no earlier launch hides.
    start_ns: IntArray | None
    busy_ns: IntArray
    #: 0 where streams are not recorded.
    stream: AnyIntArray
    #: (2, m) starts and ends of the device's memory copies and sets; none where they are not recorded.
    copies: IntArray
    #: (c,) when the device falls idle, and (`IDLE_PARTS`, c) for how long; none where calls are not recorded.
    gap_begin_ns: IntArray
    idle_ns: IntArray

    def digests(self, hashes: HashArray) -> list[str]:
        """Return what tells the launches of each stream in their order from others, by streams as they begin.

        It is the sum of hash(launch j) * multiplier(j) modulo 2^64, as in `sampling.profile.identity`.
        """
        streams, begins = np.unique(self.stream, return_index=True)
        digests = []
        for stream in streams[np.argsort(begins)].tolist():
            of_stream = hashes[self.signature[self.stream == stream]]
            multipliers = mixed(np.arange(1, len(of_stream) + 1, dtype=np.uint64) * GOLDEN_RATIO) | np.uint64(
                1
            )
            digests.append(f"{int(np.dot(of_stream, multipliers)):016x}")
        return digests

    def by_number(self, number: IntArray, numbers: int) -> FloatArray:
        """Return (`_SUMS`, numbers) launches, times, open ends, idle parts by (n,) number; negative: none.

        Times are of kernels, busy, of the device, of copies. Launches of a number last to the first start of
        what follows, and copies and gaps that begin meanwhile are theirs; the last are open: to their end.
        """
        first = np.flatnonzero(np.diff(number, prepend=_NEVER))
        rows, (device_ns, copies_ns, is_open), idle_ns = (
            number[first],
            np.zeros((3, len(first))),
            np.zeros((len(IDLE_PARTS), len(first))),
        )
        if self.start_ns is not None:
            starts = np.where(self.start_ns == NO_START, _NEVER, self.start_ns)
            begin_ns = np.minimum.reduceat(starts, first)
            begin_ns[begin_ns == _NEVER] = starts.min()
            # A stream may be behind: what begins before what it follows lasts no time.
            edges = np.maximum.accumulate(np.append(begin_ns, (self.start_ns + self.duration_ns).max()))
            device_ns, is_open[-1] = np.diff(edges), 1
            events = [(copies_ns, self.copies[0], self.copies[1] - self.copies[0])]
            events += [
                (sums, self.gap_begin_ns, part_ns)
                for sums, part_ns in zip(idle_ns, self.idle_ns, strict=True)
            ]
            for sums, start_ns, lasts_ns in events:
                place = np.searchsorted(edges, start_ns, side="right")
                sums[:] = np.bincount(place, lasts_ns, len(first) + 2)[1:-1]
        times_ns = (np.add.reduceat(column, first) for column in (self.duration_ns, self.busy_ns))
        launches, inside = np.diff(first, append=len(number)), rows >= 0
        columns = (launches, *times_ns, device_ns, copies_ns, is_open, *idle_ns)
        return np.stack([np.bincount(rows[inside], column[inside], numbers) for column in columns])


def _sequences(profile: Profile, counts: DurationCounts, progress: Progress | None) -> Iterator[_Launches]:
    """Yield the launches that a reduction counts, those of a process and device at once."""
    columns: list[Column] = ["signature", "duration_ns"]
    columns += [column for column in ("start_ns", "stream") if column in profile.columns]
    counted, activity = counted_launches(profile, counts, columns, progress), profile.activity
    for at, parts in groupby(counted, key=lambda piece: piece[0].sequence):
        pieces: list[dict[str, AnyIntArray]] = [
            {
                **{str(name): column for name, column in table.items()},
                "group": group.astype(np.int32),
                "ids": part.ids(np.arange(len(group))),
            }
            for part, group, table in parts
        ]
        # What is joined is not held twice.
        table = {name: np.concatenate([piece.pop(name) for piece in pieces]) for name in [*pieces[0]]}
        number = len(table["ids"])
        duration_ns, start_ns = table["duration_ns"].astype(np.int64, copy=False), table.get("start_ns")
        busy_ns = np.zeros(number, dtype=np.int64)
        if start_ns is not None:
            start_ns = start_ns.astype(np.int64, copy=False)
            order = np.argsort(start_ns, kind="stable")
            reach = np.maximum.accumulate(np.append(NO_START, (start_ns + duration_ns)[order]))
            busy_ns[order] = np.maximum(reach[1:] - np.maximum(reach[:-1], start_ns[order]), 0)
        stream = table.get("stream", np.broadcast_to(np.int64(0), number))
        nothing = np.zeros((1 + len(IDLE_PARTS), 0), dtype=np.int64)
        copies, gap_begin_ns, idle_ns = nothing[:2], nothing[0], nothing[1:]
        if activity is not None:
            copies = activity.copies[:2, activity.copies[2] == at]
        if activity is not None and start_ns is not None:
            gaps = gaps_between(activity, at, table["ids"], start_ns, duration_ns)
            gap_begin_ns = gaps.begin_ns
            idle_ns = idle_parts(activity, profile.sequences, profile.sequences[at], gaps)
        yield _Launches(
            table["ids"],
            table["group"],
            table["signature"],
            duration_ns,
            start_ns,
            busy_ns,
            stream,
            copies,
            gap_begin_ns,
            idle_ns,
        )


def _stretches(
    sums: FloatArray,
    iterations: FloatArray,
    devices: int,
    own_ns: FloatArray | None,
    *,
    has_copies: bool,
    has_calls: bool,
    is_closed: bool = False,
) -> Stretches:
    """Return stretches of what `_Launches.by_number` gave of iterations, all devices together.

    Where nothing follows an iteration its end is not recorded, unless the run is closed; how long it is by
    what the program says itself goes before that.
    """
    launches, kernel_ns, busy_ns, device_ns, copies_ns, opened = sums[: -len(IDLE_PARTS)]
    idle_ns = sums[-len(IDLE_PARTS) :] / max(devices, 1)
    busy_ns = np.where(device_ns > 0, busy_ns, 0)
    timed = iterations * (device_ns.any() if is_closed else (device_ns > 0) & (opened == 0))
    elapsed_ns = np.where(timed > 0, device_ns / devices, 0)
    # Behind the last of all the device may be idle unseen, which counts where there is no other.
    ended = timed if timed.any() else iterations * (device_ns > 0)
    # Who only hands work to the GPU has a shorter step than that takes.
    if own_ns is not None and own_ns.sum() >= busy_ns.sum() / devices:
        elapsed_ns, timed = own_ns, iterations
    begins = _stretch_begins(len(iterations))
    columns = [iterations, launches, kernel_ns, busy_ns, device_ns, elapsed_ns, timed, copies_ns]
    columns += [np.where(ended > 0, idle_ns, 0), ended]
    stretches = Stretches(*(np.add.reduceat(column, begins, axis=-1) for column in columns))
    if not has_calls:
        stretches = replace(stretches, idle_ns=None, ended=None)
    return stretches if has_copies else replace(stretches, copies_ns=None)


def _stretch_begins(iterations: int) -> IntArray:
    """Return (m,) with which of some iterations each stretch begins."""
    stretches = min(iterations, MOST_STRETCHES)
    return np.arange(stretches) * iterations // max(stretches, 1)
