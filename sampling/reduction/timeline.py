"""When in the run the launches of a kernel group execute, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
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
    columns: tuple[Column, ...] = ("duration_ns", "start_ns") if has_starts else ("duration_ns",)
    clocks = clock_ranges(profile) if has_starts else {}
    found = []
    for part, group_of, table in counted_launches(profile, counts, columns, progress):
        rows = np.flatnonzero(group_of == group)
        origin_ns, _ = clocks.get(profile.clocks[part.sequence], (0, 0))
        start_ns = table["start_ns"][rows] - origin_ns if has_starts else rows
        found.append((part.ids(rows), table["duration_ns"][rows], start_ns))
    ids, duration_ns, starts = map(np.concatenate, zip(*found, strict=True))
    return GroupLaunches(ids, duration_ns, starts if has_starts else None)


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
        found = np.full(bins, empty, dtype=np.int64)
        # Only where a bin begins that has launches does a run of them begin.
        found[filled] = reduce.reduceat(values[order], edges[:-1][filled])
        return found

    durations = launches.duration_ns.astype(np.int64)
    is_drawn = np.zeros(len(launches), dtype=np.int64)
    if drawn_ids is not None:
        is_drawn[launches.places_of(drawn_ids)] = 1
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
