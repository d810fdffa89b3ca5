"""One pass over the launches of a recording: what they come to by kernel group, by iteration, over the run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sampling.arrays import GOLDEN_RATIO, AnyIntArray, BoolArray, FloatArray, HashArray, IntArray, mixed
from sampling.difference.intervals import Means, means_of, share_of
from sampling.difference.iterations import AHEAD, BEHIND, OUTSIDE, IterationRuns
from sampling.parallel import Progress
from sampling.profile.identity import signature_hashes
from sampling.profile.profile import Column, Profile
from sampling.profile.times import NO_START
from sampling.reduction.duration_counts import DurationCounts, counted_launches

#: The i-th of a group's n launches, from 0, is in piece i PIECES / n, rounded down.
PIECES = 20
#: Into so many stretches, one after the other, all launches of a process and device are parted.
TENTHS = 10
#: Of more iterations than this, so many stretches of successive ones are kept.
MOST_STRETCHES = 32
_NEVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches of a run, one after the other; (m,), times in nanoseconds."""

    #: How many iterations each is; all stretches of a run without iterations together are one.
    iterations: FloatArray
    launches: FloatArray
    kernel_ns: FloatArray
    #: How long devices run at least one kernel, and in how long a time: from a stretch's first start to the
    #: next one's, of the last to its end. 0 where starts are not recorded.
    busy_ns: FloatArray
    device_ns: FloatArray
    #: How long iterations last, on average of the devices, of those whose end is recorded; how many these are.
    elapsed_ns: FloatArray
    timed: FloatArray
    #: How long memory copies take; None where they are not read.
    copies_ns: FloatArray | None = None

    def means(self) -> dict[str, Means]:
        """Return the quantities of one iteration that are recorded, as (1, m)."""
        sums = {
            "kernel_ns": self.kernel_ns,
            "elapsed_ns": self.elapsed_ns,
            "busy": self.busy_ns,
            "launches": self.launches,
            "copies_ns": self.copies_ns,
        }
        means = {
            name: means_of(values[np.newaxis], self.timed if name == "elapsed_ns" else self.iterations)
            for name, values in sums.items()
            if values is not None
        }
        if not self.timed.any():
            del means["elapsed_ns"]
        if self.device_ns.any():
            means["busy"] = share_of(means["busy"], means_of(self.device_ns[np.newaxis], self.iterations))
        else:
            del means["busy"]
        return means


class LaunchSums(NamedTuple):
    """What the launches of a recording come to."""

    #: (g, PIECES) the time of each group's pieces.
    piece_ns: IntArray
    #: The whole run in tenths.
    whole: Stretches
    #: For each process and device, by its streams as they begin, what tells their launches from others'.
    streams: list[list[str]]
    #: The iterations, where there are some; (g,) the launches of each group in them, and (g, m) their time.
    iterations: Stretches | None
    group_launches: IntArray
    group_ns: IntArray
    #: How many launches stand before the first, behind the last, and in none for another reason.
    outside: tuple[int, int, int]


def add_up(
    profile: Profile, counts: DurationCounts, runs: IterationRuns | None, progress: Progress | None = None
) -> LaunchSums:
    """Go over the launches that a reduction counts, part by part; its groups are of one place each."""
    columns: list[Column] = ["signature", "duration_ns"]
    columns += [column for column in ("start_ns", "stream") if column in profile.columns]
    places = {(sequence.process, sequence.device): at for at, sequence in enumerate(profile.sequences)}
    of_group = [places[group.process or 0, group.device or 0] for group in counts.groups]
    in_sequence = np.bincount(of_group, counts.group_launches, len(places)).astype(np.int64)
    done, reach_ns = np.zeros(len(places), dtype=np.int64), np.full(len(places), NO_START)
    pieces, streams, tenths = _Pieces(counts.group_launches), _Streams(profile), _Bins(TENTHS * len(places))
    iterations = None if runs is None else _Iterations(len(counts.groups), runs)
    for part, group, table in counted_launches(profile, counts, columns, progress):
        at, numbers = part.sequence, np.arange(len(group))
        duration_ns, start_ns = table["duration_ns"].astype(np.int64, copy=False), table.get("start_ns")
        busy_ns, reach_ns[at] = _busy(start_ns, duration_ns, int(reach_ns[at]))
        pieces.add(group, duration_ns)
        streams.add(at, table["signature"], table.get("stream"))
        tenth = (done[at] + numbers) * TENTHS // in_sequence[at] + TENTHS * at
        tenths.add(tenth, duration_ns, start_ns, busy_ns)
        done[at] += len(group)
        if iterations is not None:
            iterations.add_launches(group, part.ids(numbers), duration_ns, start_ns, busy_ns)
    sequence, tenth = np.divmod(np.arange(TENTHS * len(places)), TENTHS)
    whole = tenths.stretches(sequence, tenth, np.full(TENTHS, 1 / TENTHS), is_closed=True)
    of_iterations = (None, *np.zeros((2, 0), dtype=np.int64), (0, 0, 0))
    if iterations is not None:
        of_iterations = iterations.sums(
            np.searchsorted(profile.first_ids, iterations.runs.edges, "right") - 1
        )
    return LaunchSums(pieces.piece_ns, whole, streams.digests(), *of_iterations)


def _busy(start_ns: AnyIntArray | None, duration_ns: IntArray, reach_ns: int) -> tuple[IntArray, int]:
    """Return how much of each launch (n,) of a device no earlier one hides, and when all have ended."""
    busy = np.zeros(len(duration_ns), dtype=np.int64)
    if start_ns is None:
        return busy, reach_ns
    rows = np.argsort(start_ns, kind="stable")
    start = start_ns[rows].astype(np.int64, copy=False)
    reach = np.maximum.accumulate(np.append(reach_ns, start + duration_ns[rows]))
    busy[rows] = np.maximum(reach[1:] - np.maximum(reach[:-1], start), 0)
    return busy, int(reach[-1])


class _Pieces:
    """The durations of kernel groups, of each in pieces of successive launches."""

    def __init__(self, launches: IntArray) -> None:
        self.launches = launches
        self.piece_ns = np.zeros((len(launches), PIECES), dtype=np.int64)
        self._done = np.zeros(len(launches), dtype=np.int64)

    def add(self, group: IntArray, duration_ns: IntArray) -> None:
        """Add the next launches."""
        # Numbers of 16 bits are sorted several times as fast.
        order = np.argsort(group.astype(np.min_scalar_type(len(self.launches))), kind="stable")
        group = group[order]
        first = np.flatnonzero(np.diff(group, prepend=-1))
        number = np.diff(first, append=len(group))
        nth = np.arange(len(group)) + np.repeat(self._done[group[first]] - first, number)
        piece = group * PIECES + nth * PIECES // self.launches[group]
        np.add.at(self.piece_ns.reshape(-1), piece, duration_ns[order])
        self._done[group[first]] += number


class _Streams:
    """Digests of the launches of each stream in their order: equal where two recordings have the same.

    A digest is the sum of hash(launch j) * multiplier(j) modulo 2^64, as in `sampling.profile.identity`.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile, self._hashes = profile, signature_hashes(profile.kernels)
        self._sums: defaultdict[int, dict[int, tuple[int, HashArray]]] = defaultdict(dict)

    def add(self, sequence: int, signature: AnyIntArray, stream: AnyIntArray | None) -> None:
        """Add the next launches of a sequence."""
        if len(self._hashes) < len(self._profile.kernels):
            self._hashes = signature_hashes(self._profile.kernels)
        number = np.zeros(len(signature), dtype=np.int64) if stream is None else stream
        streams, begins = np.unique(number, return_index=True)
        for key in streams[np.argsort(begins)].tolist():
            hashes = self._hashes[signature[number == key]]
            done, total = self._sums[sequence].get(key, (0, np.zeros(1, dtype=np.uint64)))
            places = np.arange(done + 1, done + 1 + len(hashes), dtype=np.uint64)
            total = total + np.dot(hashes, mixed(places * GOLDEN_RATIO) | np.uint64(1))
            self._sums[sequence][key] = done + len(hashes), total

    def digests(self) -> list[list[str]]:
        """Return those of each sequence, by its streams as they begin."""
        sequences = (self._sums[sequence].values() for sequence in sorted(self._sums))
        return [[f"{int(total[0]):016x}" for _, total in streams] for streams in sequences]


class _Bins:
    """What launches come to in bins that follow each other in ids; (b,) each."""

    def __init__(self, bins: int) -> None:
        self.launches, self.kernel_ns, self.busy_ns = np.zeros((3, bins), dtype=np.int64)
        self.begin_ns, self.end_ns = np.full(bins, _NEVER), np.full(bins, NO_START)

    def add(
        self, place: IntArray, duration_ns: IntArray, start_ns: AnyIntArray | None, busy_ns: IntArray
    ) -> None:
        """Add the next launches (n,), whose places ascend."""
        first = np.flatnonzero(np.diff(place, prepend=-1))
        bins = place[first]
        self.launches[bins] += np.diff(first, append=len(place))
        self.kernel_ns[bins] += np.add.reduceat(duration_ns, first)
        self.busy_ns[bins] += np.add.reduceat(busy_ns, first)
        if start_ns is not None:
            begin_ns = np.minimum.reduceat(np.where(start_ns == NO_START, _NEVER, start_ns), first)
            self.begin_ns[bins] = np.minimum(self.begin_ns[bins], begin_ns)
            end_ns = np.maximum.reduceat(start_ns + duration_ns, first)
            self.end_ns[bins] = np.maximum(self.end_ns[bins], end_ns)

    def stretches(
        self,
        sequence: IntArray,
        iteration: IntArray,
        iterations: FloatArray,
        own_ns: FloatArray | None = None,
        *,
        is_closed: bool = False,
    ) -> Stretches:
        """Return them by iterations (n,), of which each of the bins is one or part of one, negative: of none.

        An iteration lasts to the start of what follows on its device. Where nothing does its end is not
        recorded, unless the run is closed; what the program says itself goes before that.
        """
        rows = np.flatnonzero(self.begin_ns != _NEVER)
        is_last = np.append(sequence[rows[1:]] != sequence[rows[:-1]], True)[: len(rows)]
        until_ns = np.where(is_last, self.end_ns[rows], np.append(self.begin_ns[rows[1:]], 0)[: len(rows)])
        window_ns, is_open = np.zeros((2, len(iteration)), dtype=np.int64)
        window_ns[rows], is_open[rows] = np.maximum(until_ns - self.begin_ns[rows], 0), is_last
        inside = iteration >= 0

        def together(values: IntArray) -> FloatArray:
            return np.bincount(iteration[inside], values[inside], len(iterations))

        launches, kernel_ns, busy_ns, device_ns, opened = map(
            together, (self.launches, self.kernel_ns, self.busy_ns, window_ns, is_open)
        )
        timed = iterations * (device_ns.any() if is_closed else (device_ns > 0) & (opened == 0))
        elapsed_ns = np.where(timed > 0, device_ns / len(np.unique(sequence[inside])), 0)
        if own_ns is not None:
            elapsed_ns, timed = own_ns, iterations
        columns = (iterations, launches, kernel_ns, busy_ns, device_ns, elapsed_ns, timed)
        return Stretches(*(np.add.reduceat(column, _stretch_begins(len(iterations))) for column in columns))


class _Iterations(_Bins):
    """What launches come to in iterations, and the kernel groups in stretches of these."""

    def __init__(self, groups: int, runs: IterationRuns) -> None:
        super().__init__(len(runs.edges))
        self.runs = runs
        begins = _stretch_begins(runs.facts.iterations)
        # One more stretch is of the launches that are in no iteration.
        sizes = np.diff(begins, append=runs.facts.iterations)
        self._stretch_of = np.append(np.repeat(np.arange(len(begins)), sizes), len(begins))
        self._in_groups, self._group_ns = np.zeros((2, groups, len(begins) + 1), dtype=np.int64)

    def add_launches(
        self,
        group: IntArray,
        ids: IntArray,
        duration_ns: IntArray,
        start_ns: AnyIntArray | None,
        busy_ns: IntArray,
    ) -> None:
        """Add the next launches (n,)."""
        place = np.searchsorted(self.runs.edges, ids, side="right") - 1
        self.add(place, duration_ns, start_ns, busy_ns)
        stretch = self._stretch_of[np.maximum(self.runs.iteration[place], -1)]
        at = group * self._group_ns.shape[1] + stretch
        np.add.at(self._group_ns.reshape(-1), at, duration_ns)
        np.add.at(self._in_groups.reshape(-1), at, 1)

    def sums(self, sequence: IntArray) -> tuple[Stretches, IntArray, IntArray, tuple[int, int, int]]:
        """Return what `LaunchSums` has of iterations; (b,) the sequence of each of the bins."""
        iteration, number = self.runs.iteration, np.ones(self.runs.facts.iterations)
        ahead, behind, outside = (
            int(self.launches[iteration == place].sum()) for place in (AHEAD, BEHIND, OUTSIDE)
        )
        return (
            self.stretches(sequence, iteration, number, self.runs.own_ns),
            self._in_groups[:, :-1].sum(axis=1),
            self._group_ns[:, :-1],
            (ahead, behind, outside),
        )


def _stretch_begins(iterations: int) -> IntArray:
    """Return (m,) with which of some iterations each stretch begins."""
    stretches = min(iterations, MOST_STRETCHES)
    return np.arange(stretches) * iterations // stretches
