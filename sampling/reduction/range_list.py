"""The ranges of a region as a list: those the program named, by their paths, and the iterations found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import EmptySelectionError
from sampling.parallel import Progress
from sampling.profile.named_ranges import NO_RANGES, STEPS_APART, STEPS_TOGETHER, Paths, range_paths
from sampling.profile.profile import Column, Profile
from sampling.profile.times import NO_START
from sampling.record import Count, Fraction, Index, Nanoseconds, Record
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_at_once
from sampling.reduction.grouping import Grouping
from sampling.reduction.intervals import Covered
from sampling.reduction.iterations import MOST, Iterations, find_iterations
from sampling.reduction.region import Region
from sampling.reduction.timeline import By, TimelineBin, TimelineBins, list_bins

#: Of a loop with more iterations than this none is listed by itself: nobody reads them one by one.
MOST_LISTED = 20_000
_FAR_NS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class RangeList:
    """Ranges with the same path are one; all arrays (p,), and every range stands after the one it lies in."""

    paths: Paths
    #: What the region keeps of them, each launch once, with the ids of the first and the last.
    launches: IntArray
    duration_ns: IntArray
    #: From the first start to the last end of each range, together; None where starts are not recorded.
    elapsed_ns: IntArray | None
    first: IntArray
    last: IntArray
    #: How many others the region keeps between these two.
    between: IntArray
    #: How many ranges they are.
    times: IntArray
    #: Paths from this one on are iterations that were found, the others are named.
    found_from: int
    #: (r,) stretches of ids ``first:stop`` that ranges hold, by path and first; those of one path do not
    #: overlap.
    run_path: IntArray
    run_first: IntArray
    run_stop: IntArray
    #: What the region keeps, in ranges or not, by name.
    counts: DurationCounts

    def __len__(self) -> int:
        return len(self.launches)

    def runs(self, path: int) -> tuple[IntArray, IntArray]:
        """Return where the stretches of ids of a range begin, and where they stop."""
        first, stop = np.searchsorted(self.run_path, (path, path + 1))
        return self.run_first[first:stop], self.run_stop[first:stop]

    def select_paths(
        self, *, by_time: bool = False, depth: int | None = None, limit: int | None = None
    ) -> list[int]:
        """Return the paths to list, each before those inside it; those named before those found.

        Those of one level go by where they begin, or by their time, largest first; no deeper ones than
        ``depth``; only the ``limit`` of the most time. What a listed one lies in takes as long, so it is too.
        """
        rows = np.flatnonzero(self.launches > 0)
        if depth is not None:
            rows = rows[self.paths.depth[rows] <= depth]
        # Paths are numbered level by level: of equal ones the outer one is kept.
        rows = rows[np.lexsort((rows, -self.duration_ns[rows]))[:limit]]
        by = -self.duration_ns if by_time else self.first
        rows = rows[np.lexsort((rows, by[rows], rows >= self.found_from))]
        children: dict[int, list[int]] = {}
        for path, parent in zip(rows.tolist(), self.paths.parent[rows].tolist(), strict=True):
            children.setdefault(parent, []).append(path)
        walked: list[int] = []
        ahead = children.get(-1, [])[::-1]
        while ahead:
            walked.append(ahead.pop())
            ahead += children.get(walked[-1], [])[::-1]
        return walked


class RangeSummary(Record, frozen=True):
    """A named range, or an iteration that was found; of those with the same path all together."""

    #: As `--range` takes it.
    path: str
    name: str
    depth: Index
    #: How many ranges they are.
    times: Count
    launches: Count
    duration_ns: Nanoseconds
    #: From the first start to the last end of each, where ranges overlap once; None without starts.
    elapsed_ns: Nanoseconds | None
    #: Of the time of all launches.
    share: Fraction
    #: Ids of its first and last launch.
    first: Index
    last: Index
    source: Literal["named", "found"]


class KernelTimeline(Record, frozen=True):
    """Launches of a kernel group over the run, and the ranges and iterations of the run."""

    key: str
    rank: Count
    by: By
    bins: list[TimelineBin]
    ranges: list[RangeSummary]
    iterations: list[RangeSummary]


def summarise_ranges(ranges: RangeList, paths: Sequence[int]) -> list[RangeSummary]:
    """Return the ranges of these paths, in their order."""
    total_ns = max(ranges.counts.total_duration_ns, 1)
    return [
        RangeSummary(
            path=ranges.paths.written(path),
            name=ranges.paths.name(path),
            depth=int(ranges.paths.depth[path]),
            times=int(ranges.times[path]),
            launches=int(ranges.launches[path]),
            duration_ns=int(ranges.duration_ns[path]),
            elapsed_ns=None if ranges.elapsed_ns is None else int(ranges.elapsed_ns[path]),
            share=int(ranges.duration_ns[path]) / total_ns,
            first=int(ranges.first[path]),
            last=int(ranges.last[path]),
            source="found" if path >= ranges.found_from else "named",
        )
        for path in paths
    ]


def kernel_timeline(
    key: str, group: int, by: By, bins: TimelineBins, ranges: RangeList | None
) -> KernelTimeline:
    """Return the bins of a kernel group, beside all ranges of the run; without any where these are None."""
    summaries = [] if ranges is None else summarise_ranges(ranges, ranges.select_paths())
    return KernelTimeline(
        key=key,
        rank=group + 1,
        by=by,
        bins=list_bins(bins),
        ranges=[summary for summary in summaries if summary.source == "named"],
        # The range that stands for all iterations of a process and device is none itself.
        iterations=[summary for summary in summaries if summary.source == "found" and summary.depth],
    )


def list_ranges(
    profile: Profile, region: Region, progress: Progress | None = None, *, steps_apart: bool = False
) -> RangeList:
    """Return the ranges of a region; without any the list is empty. It holds 50 bytes a launch.

    ``steps_apart``: whether ranges whose names differ in a number alone are several.

    The iterations of a process and device, where most of its launches are some, lie in a range that stands
    for all of them. Raises EmptySelectionError also where the region has no launch of the profile's ranges.
    """
    counts = count_durations(profile, Grouping(GroupBy.NAME), region, progress)
    columns: tuple[Column, ...] = ("signature", "duration_ns")
    if has_starts := "start_ns" in profile.columns:
        columns = (*columns, "start_ns")
    ids, sequences, _, signature, duration, *starts = counted_at_once(profile, counts, columns, progress)
    paths, stretches, times, found_from = _named_and_found(profile, ids, signature, steps_apart=steps_apart)
    count = len(paths)
    run_path, run_first, run_stop = _each_id_once(stretches, profile.launches)
    low, high = np.searchsorted(ids, run_first), np.searchsorted(ids, run_stop)
    before_ns = np.concatenate([[0], np.cumsum(duration)])
    launches, duration_ns = np.zeros((2, count), dtype=np.int64)
    np.add.at(launches, run_path, high - low)
    np.add.at(duration_ns, run_path, before_ns[high] - before_ns[low])
    first_id, last_id = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    filled = high > low
    np.minimum.at(first_id, run_path[filled], ids[low[filled]])
    np.maximum.at(last_id, run_path[filled], ids[high[filled] - 1])
    span = np.searchsorted(ids, last_id, side="right") - np.searchsorted(ids, first_id)
    if found_from and not launches.any():
        raise EmptySelectionError(
            "the filters leave no launch of a range",
            remedy="the profile has ranges, but all of other launches",
        )
    elapsed_ns = None
    if has_starts:
        clock = np.array(profile.clocks)[sequences[low[filled]]]
        edges = np.stack([low[filled], high[filled]])
        elapsed_ns = _elapsed(run_path[filled], clock, edges, starts[0], duration, count)
    return RangeList(
        paths=paths,
        launches=launches,
        duration_ns=duration_ns,
        elapsed_ns=elapsed_ns,
        first=first_id,
        last=last_id,
        between=np.where(launches > 0, span - launches, 0),
        times=times,
        found_from=found_from,
        run_path=run_path,
        run_first=run_first,
        run_stop=run_stop,
        counts=counts,
    )


def _named_and_found(
    profile: Profile, ids: IntArray, signature: AnyIntArray, *, steps_apart: bool
) -> tuple[Paths, IntArray, IntArray, int]:
    """Return the paths of ranges, with iterations behind the named ones, and where these begin.

    Between these are path, first and stop id (3, r) of each run, and (p,) how often each path was run.
    """
    runs = NO_RANGES if profile.ranges is None else profile.ranges.holding("")
    named, path = range_paths(runs, STEPS_APART if steps_apart else STEPS_TOGETHER)
    # Of each path its text, parent and depth; of each run its path and ids.
    texts, paths = list(named.texts), [np.stack([named.text, named.parent, named.depth])]
    stretches = [np.stack([path, *runs.ids(profile.first_ids)])]
    several = int(runs.opened.max(initial=0)) + 1
    of_range = np.unique(path * several + runs.opened) // several
    times = [np.bincount(of_range, minlength=len(named))]
    count, is_several = len(named), len(profile.sequences) > 1
    for sequence in profile.sequences:
        begin, stop = np.searchsorted(ids, (sequence.first_id, sequence.first_id + sequence.launches))
        iterations = find_loop_iterations(profile, signature[begin:stop])
        if iterations is None:
            continue
        first = begin + iterations.first
        rows = np.stack([np.full(len(first), count), ids[first], ids[first + iterations.launches - 1] + 1])
        numbers = np.arange(len(first) if len(first) <= MOST_LISTED else 0)
        place = f" of {sequence.place}" if is_several else ""
        inner = np.stack([len(texts) + 1 + numbers, np.full(len(numbers), count), np.ones_like(numbers)])
        paths += [np.array([[len(texts)], [-1], [0]]), inner]
        texts += [f"iterations{place}", *map(str, numbers.tolist())]
        stretches += [rows, np.stack([count + 1 + numbers, *rows[1:, : len(numbers)]])]
        times += [np.array([len(first)]), np.ones_like(numbers)]
        count += 1 + len(numbers)
    all_paths = Paths(texts, *np.concatenate(paths, axis=1))
    return all_paths, np.concatenate(stretches, axis=1), np.concatenate(times), len(named)


def find_loop_iterations(profile: Profile, signature: AnyIntArray) -> Iterations | None:
    """Return the loop that most launches of a sequence repeat, the same by name and shape, else by name.

    One launch again and again is no loop: it is a kernel group.
    """
    for codes in (signature, profile.kernels.signature_names()[signature]):
        iterations = find_iterations(codes)
        if (
            iterations is not None
            and iterations.launches > 1
            and iterations.equal_launches >= MOST * len(codes)
        ):
            return iterations
    return None


def _elapsed(
    path: IntArray, clock: IntArray, edges: IntArray, start_ns: IntArray, duration_ns: IntArray, paths: int
) -> IntArray:
    """Return (paths,) how long stretches of launches (2, r), from their first start to their last end, take.

    Of one path and clock what several take at once counts once.
    """
    is_timed = start_ns != NO_START
    order = np.argsort(edges[0], kind="stable")
    places = edges[:, order].T.ravel()
    # Beyond the last launch there is one that neither begins nor ends anything.
    starts = np.append(np.where(is_timed, start_ns, _FAR_NS), _FAR_NS)
    ends = np.append(np.where(is_timed, start_ns + duration_ns, -_FAR_NS), -_FAR_NS)
    begin_ns = np.minimum.reduceat(starts, places)[::2]
    end_ns = np.maximum.reduceat(ends, places)[::2]
    timed = begin_ns <= end_ns
    if not timed.any():
        return np.zeros(paths, dtype=np.int64)
    begin_ns, end_ns, clocks = begin_ns[timed], end_ns[timed], int(clock.max()) + 1
    origin_ns, span_ns = begin_ns.min(), end_ns.max() - begin_ns.min() + 1
    # Paths and clocks apart, so that one coverage serves them all.
    apart_ns = (path * clocks + clock)[order][timed] * span_ns - origin_ns
    edges_ns = np.arange(paths * clocks) * span_ns
    lasts_ns = Covered(begin_ns + apart_ns, end_ns + apart_ns).between(edges_ns, edges_ns + span_ns)
    total_ns: IntArray = lasts_ns.reshape(paths, clocks).sum(axis=1)
    return total_ns


def _each_id_once(stretches: IntArray, launches: int) -> IntArray:
    """Return path, first id and stop id (3, r) by path; what an earlier stretch of it holds is cut off."""
    path, first, stop = stretches[:, np.lexsort((stretches[1], stretches[0]))]
    # Paths apart, so that one running maximum serves them all.
    reach = np.maximum.accumulate(stop + path * (launches + 1)) - path * (launches + 1)
    begin = first.copy()
    same = path[1:] == path[:-1]
    begin[1:][same] = np.maximum(first[1:], reach[:-1])[same]
    is_held = begin < stop
    return np.stack([path[is_held], begin[is_held], stop[is_held]])
