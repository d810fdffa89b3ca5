"""The ranges of a region as a list: those the program named, by their paths, and the iterations found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import EmptySelectionError
from sampling.parallel import Progress
from sampling.profile.named_ranges import NO_RANGES, Paths, RangeTree, range_tree
from sampling.profile.profile import LaunchSequence, Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_launches
from sampling.reduction.grouping import Grouping
from sampling.reduction.iterations import MOST, find_iterations
from sampling.reduction.region import Region, filters_set
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
    """Ranges with the same path are one; all arrays (p,), and every range stands after the one it lies in."""

    #: The names.
    paths: Paths
    #: What the region keeps of them, each launch once.
    launches: IntArray
    duration_ns: IntArray
    #: The ids of their first and last launch that it keeps.
    first: IntArray
    last: IntArray
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
    kept: DurationCounts

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
    """Return the ranges of a region; without any the list is empty. It holds 28 bytes a launch.

    Raises
    ------
    EmptySelectionError : the region leaves no launch, says which filter emptied it; or the profile has ranges
        and the region none of their launches.
    NotApplicableError : the profile lacks what the region asks for.
    """
    kept = count_durations(profile, Grouping(GroupBy.NAME), region, progress)
    parts = [
        (part.ids(np.arange(len(group))), table["signature"], table["duration_ns"])
        for part, group, table in counted_launches(profile, kept, ("signature", "duration_ns"), progress)
    ]
    ids, signature, each_ns = map(np.concatenate, zip(*parts, strict=True))
    runs = profile.range_runs() or NO_RANGES
    tree = range_tree(runs, [each.first_id for each in profile.sequences])
    found = _found_iterations(profile, ids, signature, progress)
    whole, named = _with_found(tree, found, several=len(profile.sequences) > 1)
    path, first, stop = _each_id_once(whole, profile.launches)

    low, high = np.searchsorted(ids, first), np.searchsorted(ids, stop)
    before_ns = np.concatenate([[0], np.cumsum(each_ns)])
    launches, duration_ns = np.zeros((2, len(whole.paths)), dtype=np.int64)
    np.add.at(launches, path, high - low)
    np.add.at(duration_ns, path, before_ns[high] - before_ns[low])
    first_id = np.full(len(whole.paths), np.iinfo(np.int64).max)
    last_id = np.full(len(whole.paths), -1)
    filled = high > low
    np.minimum.at(first_id, path[filled], ids[low[filled]])
    np.maximum.at(last_id, path[filled], ids[high[filled] - 1])
    if len(tree.path) and not launches.any():
        filters = filters_set(region)
        raise EmptySelectionError(
            Wording(f"{listed(filters)} leave{'s' if len(filters) == 1 else ''} no launch of a range"),
            remedy="the profile has ranges, but all of other launches",
        )
    # A range may have a run in each of several sequences; each iteration is a range of its own.
    beyond = int(runs.opened.max(initial=-1)) + 1
    opened = np.concatenate([runs.opened, np.arange(len(whole.path) - len(runs.opened)) + beyond])
    several = int(opened.max(initial=0)) + 1
    each = np.sort(whole.path * several + opened)
    distinct = each[np.diff(each, prepend=-1) > 0] // several
    return RangeList(
        paths=whole.paths,
        launches=launches,
        duration_ns=duration_ns,
        first=first_id,
        last=last_id,
        times=np.bincount(distinct, minlength=len(whole.paths)),
        found_from=named,
        run_path=path,
        run_first=first,
        run_stop=stop,
        kept=kept,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FoundIterations:
    """The iterations of one process and device."""

    sequence: LaunchSequence
    #: (k,) each is the launches ``first_id:stop_id`` of which the region keeps any.
    first_id: IntArray
    stop_id: IntArray


def _found_iterations(
    profile: Profile, ids: IntArray, signature: AnyIntArray, progress: Progress | None
) -> list[FoundIterations]:
    """Return the iterations of each process and device that has a loop which most of its launches repeat.

    Launches are the same by name and shape, else by name alone. One launch again and again is no loop: it is
    a kernel group.
    """
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
    return found


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
