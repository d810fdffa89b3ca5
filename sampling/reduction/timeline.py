"""When in the run the launches of a kernel group execute, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.profile import Column, Profile
from sampling.reduction.duration_counts import DurationCounts, counted_launches
from sampling.reduction.region import clock_ranges

#: What a timeline goes by: the order of the launches, or when they started on the GPU.
By = Literal["launch", "time"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupLaunches:
    """The selected launches of a kernel group, in id order; arrays (n,), 12 to 24 bytes a launch."""

    #: Index in the whole profile.
    id: IntArray
    #: Nanoseconds.
    duration_ns: AnyIntArray
    #: When it started, nanoseconds after the first launch of its file; None where it is not known.
    start_ns: IntArray | None

    def __len__(self) -> int:
        return len(self.id)

    def are(self, ids: IntArray) -> BoolArray:
        """Return (n,) which launches have one of some ids; ids of other groups are none of them."""
        found = np.zeros(len(self), dtype=np.bool_)
        # Ids are ascending, and few are looked for among many.
        found[self.places_of(ids)] = True
        return found

    def places_of(self, ids: IntArray) -> IntArray:
        """Return where the launches with some ids stand, ascending; ids of other groups are left out."""
        place = np.minimum(np.searchsorted(self.id, ids), len(self) - 1)
        return np.unique(place[self.id[place] == ids])

    def part(self, first: int, stop: int) -> GroupLaunches:
        """Return the launches from the place ``first`` up to, not with, ``stop``."""
        rows = slice(first, stop)
        start_ns = None if self.start_ns is None else self.start_ns[rows]
        return GroupLaunches(self.id[rows], self.duration_ns[rows], start_ns)


@dataclass(frozen=True, slots=True, eq=False)
class TimelineBins:
    """Launches of a kernel group, bin by bin; arrays (b,). A bin of time may have none: a gap."""

    #: Ids of its first and last launch; -1 where it has none.
    first: IntArray
    last: IntArray
    #: Where it begins: when its first launch started, or the edge of a bin of time; None if unknown.
    start_ns: IntArray | None
    #: How many.
    launches: IntArray
    #: Of their durations; NaN, and 0, where it has none.
    mean_ns: FloatArray
    min_ns: IntArray
    max_ns: IntArray
    #: How many of them a plan draws.
    drawn: IntArray


def launches_of_group(
    profile: Profile, counts: DurationCounts, group: int, progress: Progress | None = None
) -> GroupLaunches:
    """Read the launches of a kernel group, a part at a time."""
    has_starts = "start_ns" in profile.columns
    columns: tuple[Column, ...] = ("duration_ns", *(("start_ns",) if has_starts else ()))
    origin_ns = {clock: first for clock, (first, _) in clock_ranges(profile).items()} if has_starts else {}
    ids, durations, starts = [], [], []
    for part, group_of, table in counted_launches(profile, counts, columns, progress):
        rows = np.flatnonzero(group_of == group)
        ids.append(part.ids(rows))
        durations.append(table["duration_ns"][rows])
        if has_starts:
            starts.append(table["start_ns"][rows] - origin_ns[profile.clocks[part.sequence]])
    return GroupLaunches(
        np.concatenate(ids), np.concatenate(durations), np.concatenate(starts) if has_starts else None
    )


def timeline_bins(
    launches: GroupLaunches, bins: int, by: By = "launch", drawn_ids: IntArray | None = None
) -> TimelineBins:
    """Return the launches in bins: of as many launches each, as near as may be, or of the same time each.

    Parameters
    ----------
    launches : at least one; with starts where the bins are of time.
    bins : how many; by launch no more than there are launches.
    drawn_ids : ids of launches that a plan draws, of this group and others.
    """
    if by == "time":
        assert launches.start_ns is not None
        order = np.argsort(launches.start_ns, kind="stable")
        edges_ns = _time_edges(launches.start_ns, bins)
        edges = np.searchsorted(launches.start_ns[order], edges_ns)
        begin_ns: IntArray | None = edges_ns[:-1]
    else:
        order = np.arange(len(launches))
        bins = min(bins, len(launches))
        edges = np.arange(bins + 1) * len(launches) // bins
        begin_ns = None if launches.start_ns is None else launches.start_ns[edges[:-1]]
    number = np.diff(edges)
    filled = number > 0
    # Only where a bin begins that has launches does a run of them begin.
    begins = edges[:-1][filled]
    ids, durations = launches.id[order], launches.duration_ns[order].astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    drawn = launches.are(none if drawn_ids is None else drawn_ids)[order].astype(np.int64)

    def over(values: IntArray, reduce: np.ufunc, empty: float) -> np.ndarray:
        found = np.full(len(number), empty, dtype=np.int64)
        found[filled] = reduce.reduceat(values, begins)
        return found

    total_ns = over(durations, np.add, 0)
    return TimelineBins(
        first=over(ids, np.minimum, -1),
        last=over(ids, np.maximum, -1),
        start_ns=begin_ns,
        launches=number,
        mean_ns=np.divide(total_ns, number, out=np.full(len(number), np.nan), where=filled),
        min_ns=over(durations, np.minimum, 0),
        max_ns=over(durations, np.maximum, 0),
        drawn=over(drawn, np.add, 0),
    )


def _time_edges(start_ns: IntArray, bins: int) -> IntArray:
    """Return (b + 1,) nanoseconds: equal steps from the first start to one after the last."""
    low, high = int(start_ns.min()), int(start_ns.max()) + 1
    # Whole numbers: the span times the number of bins may be more than a double resolves.
    steps = [low + (high - low) * place // bins for place in range(bins + 1)]
    return np.array(steps, dtype=np.int64)
