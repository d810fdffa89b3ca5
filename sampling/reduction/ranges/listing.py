"""The ranges of a region as a list: those the program named, by their paths, and the iterations found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import EmptySelectionError
from sampling.parallel import ordered_map
from sampling.profile.named_ranges import NO_RANGES
from sampling.profile.profile import Column, LaunchSequence, Part, Profile, Table
from sampling.progress import Progress
from sampling.reduction.iterations import MOST, find_iterations
from sampling.reduction.ranges.nesting import Paths, RangeTree, range_tree
from sampling.reduction.region import Region, filters_set, selected_parts
from sampling.reduction.row_filters import KeptRows, RowFilters
from sampling.text import Wording, listed

#: Of a loop with more iterations than this none is listed by itself.
MOST_LISTED = 20_000


class RangeOrder(StrEnum):
    """What the ranges of one level are sorted by: where they begin, or their time, largest first."""

    START = "start"
    TIME = "time"


class RangeOrigin(StrEnum):
    """Whether the program named a range, or it is an iteration that was found."""

    NAMED = "named"
    FOUND = "found"


@dataclass(frozen=True, slots=True, eq=False)
class RangeList:
    """Ranges with the same path are one; all arrays (p,), and every range stands after the one it lies in.

    Attributes
    ----------
    paths : the names.
    launches, duration_ns : what the region keeps of them, each launch once.
    first, last : the ids of their first and last launch that it keeps.
    times : how many ranges they are.
    found_from : paths from this one on are iterations that were found, the others are named.
    run_path, run_first, run_stop : (r,) stretches of ids ``first:stop`` that ranges hold, by path and first;
        those of one path do not overlap.
    kept : what the region keeps, in ranges or not.
    """

    paths: Paths
    launches: IntArray
    duration_ns: IntArray
    first: IntArray
    last: IntArray
    times: IntArray
    found_from: int
    run_path: IntArray
    run_first: IntArray
    run_stop: IntArray
    kept: KeptRows

    def __len__(self) -> int:
        return len(self.launches)

    def origin(self, path: int) -> RangeOrigin:
        """Return where a range comes from."""
        return RangeOrigin.FOUND if path >= self.found_from else RangeOrigin.NAMED

    def runs(self, path: int) -> tuple[IntArray, IntArray]:
        """Return where the stretches of ids of a range begin, and where they stop."""
        first, stop = np.searchsorted(self.run_path, (path, path + 1))
        return self.run_first[first:stop], self.run_stop[first:stop]

    def chosen(self, order: RangeOrder, depth: int | None = None, most: int | None = None) -> list[int]:
        """Return the paths to list, each before those inside it; those named before those found.

        Parameters
        ----------
        depth : list no deeper ones; None: all.
        most : list only so many, those of the most time. What a listed one lies in takes as long, so it is
            listed too.
        """
        shown = np.flatnonzero(self.launches > 0)
        if depth is not None:
            shown = shown[self.paths.depth[shown] <= depth]
        # Paths are numbered level by level: of equal ones the outer one is kept.
        by_time = np.lexsort((shown, -self.duration_ns[shown]))
        shown = shown[by_time[:most]]
        by = self.first if order is RangeOrder.START else -self.duration_ns
        shown = shown[np.lexsort((shown, by[shown], shown >= self.found_from))]
        inside: dict[int, list[int]] = {}
        for path, parent in zip(shown.tolist(), self.paths.parent[shown].tolist(), strict=True):
            inside.setdefault(parent, []).append(path)
        walked: list[int] = []
        ahead = inside.get(-1, [])[::-1]
        while ahead:
            walked.append(ahead.pop())
            ahead += inside.get(walked[-1], [])[::-1]
        return walked


def list_ranges(profile: Profile, region: Region, progress: Progress | None = None) -> RangeList:
    """Return the ranges of a region; without any the list is empty.

    Raises
    ------
    EmptySelectionError : the region leaves no launch, says which filter emptied it; or the profile has ranges
        and the region none of their launches.
    NotApplicableError : the profile lacks what the region asks for.
    """
    runs = profile.range_runs() or NO_RANGES
    tree = range_tree(runs, profile.sequences)
    found = found_iterations(profile, region, progress)
    whole, named = _with_found(tree, found, several=len(profile.sequences) > 1)
    path, first, stop = _each_id_once(whole, profile.launches)
    bounds = _distinct(np.concatenate([first, stop]))
    sums = sums_before(profile, region, bounds, progress)
    iterations = np.arange(len(whole.path) - len(runs.opened)) + _beyond(runs.opened)
    launches, duration_ns, first_id, last_id = _summed(path, first, stop, sums, len(whole.paths))
    if len(tree.path) and not launches.any():
        filters = filters_set(region)
        raise EmptySelectionError(
            Wording(f"{listed(filters)} leave{'s' if len(filters) == 1 else ''} no launch of a range"),
            remedy="the profile has ranges, but all of other launches",
        )
    return RangeList(
        paths=whole.paths,
        launches=launches,
        duration_ns=duration_ns,
        first=first_id,
        last=last_id,
        times=_times(whole.path, np.concatenate([runs.opened, iterations]), len(whole.paths)),
        found_from=named,
        run_path=path,
        run_first=first,
        run_stop=stop,
        kept=sums.kept,
    )


def _beyond(opened: IntArray) -> int:
    return int(opened.max(initial=-1)) + 1


def _with_found(tree: RangeTree, found: Sequence[FoundIterations], *, several: bool) -> tuple[RangeTree, int]:
    """Return the tree with found iterations after it, and how many paths are named.

    The iterations of a process and device lie in a range that stands for all of them. Where there are very
    many it stands alone: nobody reads them one by one, and each would take a kilobyte.
    """
    named, texts = len(tree.paths), list(tree.paths.texts)
    text: list[int] = []
    parent: list[int] = []
    depth: list[int] = []
    paths_of: list[IntArray] = [tree.path]
    spans: list[FoundIterations] = []
    for each in found:
        place = f" of process {each.sequence.process} device {each.sequence.device}" if several else ""
        own = named + len(text)
        is_listed = len(each.first_id) <= MOST_LISTED
        numbers = [str(number) for number in range(len(each.first_id))] if is_listed else []
        text += range(len(texts), len(texts) + 1 + len(numbers))
        texts += [f"iterations{place}", *numbers]
        parent += [-1, *[own] * len(numbers)]
        depth += [0, *[1] * len(numbers)]
        paths_of.append(np.full(len(each.first_id), own))
        paths_of.append(np.arange(own + 1, own + 1 + len(numbers)))
        spans += [each, each] if is_listed else [each]

    def joined(before: IntArray, after: Sequence[int]) -> IntArray:
        return np.concatenate([before, np.array(after, dtype=np.int64)])

    paths = Paths(
        texts,
        joined(tree.paths.text, text),
        joined(tree.paths.parent, parent),
        joined(tree.paths.depth, depth),
    )
    # Each iteration for all of them, and where they are listed for itself too.
    first = np.concatenate([tree.first_id, *(each.first_id for each in spans)])
    stop = np.concatenate([tree.stop_id, *(each.stop_id for each in spans)])
    return RangeTree(paths, np.concatenate(paths_of), first, stop), named


def _each_id_once(tree: RangeTree, launches: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return path, first id and stop id of the runs, by path; what an earlier run of it holds is cut off."""
    order = np.lexsort((tree.first_id, tree.path))
    path, first, stop = tree.path[order], tree.first_id[order], tree.stop_id[order]
    # Paths apart, so that one running maximum serves them all.
    reach = np.maximum.accumulate(stop + path * (launches + 1)) - path * (launches + 1)
    begin = first.copy()
    same = path[1:] == path[:-1]
    begin[1:][same] = np.maximum(first[1:], reach[:-1])[same]
    held = begin < stop
    return path[held], begin[held], stop[held]


def _summed(
    path: IntArray, first: IntArray, stop: IntArray, sums: SumsBefore, paths: int
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return launches, time, first and last id of each path; (p,) each."""
    low, high = np.searchsorted(sums.bounds, first), np.searchsorted(sums.bounds, stop)
    count = sums.launches[high] - sums.launches[low]
    launches, duration_ns = np.zeros((2, paths), dtype=np.int64)
    np.add.at(launches, path, count)
    np.add.at(duration_ns, path, sums.duration_ns[high] - sums.duration_ns[low])
    kept = count > 0
    first_id = np.full(paths, np.iinfo(np.int64).max)
    last_id = np.full(paths, -1)
    np.minimum.at(first_id, path[kept], sums.next_id[low[kept]])
    np.maximum.at(last_id, path[kept], sums.last_id[high[kept]])
    return launches, duration_ns, first_id, last_id


def _times(path: IntArray, opened: IntArray, paths: int) -> IntArray:
    """Return (p,) how many different ranges each path is."""
    distinct = _distinct(path * _beyond(opened) + opened) // max(_beyond(opened), 1)
    return np.bincount(distinct, minlength=paths)


def _distinct(values: IntArray) -> IntArray:
    """Return the values, ascending, each once: `np.unique` hashes a million of them for a second first."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


@dataclass(frozen=True, slots=True, eq=False)
class FoundIterations:
    """The iterations of one process and device.

    Attributes
    ----------
    first_id, stop_id : (k,) each is the launches ``first_id:stop_id`` of which the region keeps any.
    """

    sequence: LaunchSequence
    first_id: IntArray
    stop_id: IntArray


def found_iterations(
    profile: Profile, region: Region, progress: Progress | None = None
) -> tuple[FoundIterations, ...]:
    """Return the iterations of each process and device that has a loop which most of its launches repeat.

    Launches are the same by name and shape, else by name alone. One launch again and again is no loop: it is
    a kernel group. It holds 12 bytes a launch.

    Raises
    ------
    EmptySelectionError, NotApplicableError : see `selected_parts`.
    """
    filters = RowFilters(profile, region)
    parts = [(ids, signature) for ids, signature, _ in kept_parts(profile, region, filters, progress)]
    if not parts:
        return ()
    ids = np.concatenate([part[0] for part in parts])
    signature = np.concatenate([part[1] for part in parts])
    name_of = profile.kernels.signature_names()
    found = []
    for sequence in profile.sequences:
        first, stop = np.searchsorted(ids, (sequence.first_id, sequence.first_id + sequence.launches))
        own = signature[first:stop]
        for codes in (own, name_of[own]):
            iterations = find_iterations(codes, progress)
            if iterations is None or iterations.launches == 1:
                continue
            if iterations.equal_launches >= MOST * len(codes):
                begin = first + iterations.first
                last = ids[begin + iterations.launches - 1]
                found.append(FoundIterations(sequence, ids[begin], last + 1))
                break
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class SumsBefore:
    """What is kept of the launches before each of some ids; all arrays (b,).

    Attributes
    ----------
    bounds : the ids, ascending.
    launches, duration_ns : how many are kept of those before each, and how long they last together.
    next_id, last_id : the first that is kept from there on, and the last before; -1 where there is none.
    kept : what is kept in all.
    """

    bounds: IntArray
    launches: IntArray
    duration_ns: IntArray
    next_id: IntArray
    last_id: IntArray
    kept: KeptRows


def sums_before(
    profile: Profile, region: Region, bounds: IntArray, progress: Progress | None = None
) -> SumsBefore:
    """Count what a region keeps before some ids (b,), ascending.

    Raises
    ------
    EmptySelectionError : the region leaves no launch; says which filter emptied it.
    NotApplicableError : the profile lacks what the region asks for.
    """
    filters = RowFilters(profile, region)
    launches, total_ns, next_id, last_id = np.zeros((4, len(bounds)), dtype=np.int64)
    next_id[:] = last_id[:] = -1
    done = before = before_ns = 0
    last = -1
    for ids, _, duration_ns in kept_parts(profile, region, filters, progress):
        stop = int(np.searchsorted(bounds, ids[-1], side="right"))
        here = np.searchsorted(ids, bounds[done:stop])
        sums_ns = np.concatenate([[0], np.cumsum(duration_ns)])
        launches[done:stop] = before + here
        total_ns[done:stop] = before_ns + sums_ns[here]
        next_id[done:stop] = ids[here]
        last_id[done:stop] = np.where(here > 0, ids[here - 1], last)
        done, before, before_ns, last = stop, before + len(ids), before_ns + int(sums_ns[-1]), int(ids[-1])
    launches[done:], total_ns[done:], last_id[done:] = before, before_ns, last
    return SumsBefore(bounds, launches, total_ns, next_id, last_id, filters.total())


def kept_parts(
    profile: Profile, region: Region, filters: RowFilters, progress: Progress | None = None
) -> Iterator[tuple[IntArray, AnyIntArray, AnyIntArray]]:
    """Yield ids, signature codes and durations of what is kept, part by part in id order; none is empty.

    Raises
    ------
    EmptySelectionError, NotApplicableError : see `selected_parts`.
    """
    chosen = selected_parts(profile, region)
    columns: tuple[Column, ...] = ("signature", "duration_ns")

    def read(part: Part) -> Table:
        return part.load(columns)

    for number, (part, table) in enumerate(zip(chosen, ordered_map(read, chosen), strict=True)):
        signature = table["signature"]
        duration_ns = table["duration_ns"].astype(np.int64)
        kept = filters.kept(profile.kernels.signature_names()[signature], duration_ns)
        if progress is not None:
            progress(number + 1, len(chosen), "adding up ranges")
        if kept.any():
            yield part.ids(np.flatnonzero(kept)), signature[kept], duration_ns[kept]
