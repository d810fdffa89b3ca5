"""How named ranges nest, found from the launches that they hold.

A range lies inside another of its process and device if it opens later, or at once and closes no later, and
all its launches are the other's. It may be of another thread, as the launches of a range may be. Of several
that hold it, the one that opened last is the one it lies directly in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.profile.named_ranges import RangeRuns
from sampling.profile.profile import LaunchSequence, Part, Profile
from sampling.text import Wording

#: Stands between the names of a path.
PATH_SEPARATOR = "/"
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Names inside names: every path once, those before it first.

    Attributes
    ----------
    texts : names.
    text, parent, depth : (p,) the last name of each path by its index, the path it lies in (-1: none), and
        how many it lies in.
    """

    texts: Sequence[str]
    text: IntArray
    parent: IntArray
    depth: IntArray

    def __len__(self) -> int:
        return len(self.text)

    def name(self, path: int) -> str:
        """Return the last name of a path."""
        return self.texts[int(self.text[path])]

    def written(self, path: int) -> str:
        """Return the names of a path, the outermost first, with slashes between."""
        names = []
        while path != _NONE:
            names.append(self.name(path))
            path = int(self.parent[path])
        return PATH_SEPARATOR.join(reversed(names))


# Cached properties need a dictionary, so no slots.
@dataclass(frozen=True, eq=False)
class RangeTree:
    """Named ranges by their paths.

    Attributes
    ----------
    paths : those that there are.
    path : (r,) the path of each run.
    first_id, stop_id : (r,) its launches ``first_id:stop_id`` of the whole profile.
    """

    paths: Paths
    path: IntArray
    first_id: IntArray
    stop_id: IntArray

    def runs_of_path(self, text: str) -> IntArray:
        """Return the runs whose path is written so; where there is none, those whose path ends so."""
        codes = self._written.get(text)
        if codes is None:
            ends = PATH_SEPARATOR + text
            codes = [code for written, of in self._written.items() if written.endswith(ends) for code in of]
        return np.flatnonzero(np.isin(self.path, codes))

    @cached_property
    def _written(self) -> dict[str, list[int]]:
        """The paths by how they are written; names with slashes of their own may be written alike."""
        found: dict[str, list[int]] = {}
        texts: list[str] = []
        for path in range(len(self.paths)):
            parent = int(self.paths.parent[path])
            name = self.paths.name(path)
            texts.append(name if parent == _NONE else texts[parent] + PATH_SEPARATOR + name)
            found.setdefault(texts[-1], []).append(path)
        return found


def range_tree(runs: RangeRuns, sequences: Sequence[LaunchSequence]) -> RangeTree:
    """Return the ranges as a tree, in some passes over them for each level.

    Parameters
    ----------
    sequences : of the profile that has these ranges.
    """
    first_ids = np.array([each.first_id for each in sequences], dtype=np.int64)[runs.sequence]
    first_id, stop_id = runs.first_ordinal + first_ids, runs.stop_ordinal + first_ids
    order = np.argsort(runs.sequence, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    # Ids of two sequences do not mix, so no range lies inside one of another sequence.
    above = _next_that_holds(stop_id[order])
    parent = np.where(above == _NONE, _NONE, order[above])[place]
    paths, path = _paths(runs, parent)
    return RangeTree(paths, path, first_id, stop_id)


def _next_that_holds(stop: IntArray) -> IntArray:
    """Return (r,) for each run the nearest before it that ends no earlier, -1 where there is none.

    All between a run and where it points to end before the run does, so a pointer to one that ends too early
    may follow that one's own pointer: each round takes many steps at once.
    """
    pointer = np.arange(-1, len(stop) - 1)
    going = np.flatnonzero(pointer != _NONE)
    while len(going := going[stop[pointer[going]] < stop[going]]):
        pointer[going] = pointer[pointer[going]]
        going = going[pointer[going] != _NONE]
    return np.asarray(pointer)


def _depths(parent: IntArray) -> IntArray:
    """Return (r,) how many runs each lies in."""
    depth = (parent != _NONE).astype(np.int64)
    pointer = parent.copy()
    while len(going := np.flatnonzero(pointer != _NONE)):
        depth[going] += depth[pointer[going]]
        pointer[going] = pointer[pointer[going]]
    return np.asarray(depth)


def _paths(runs: RangeRuns, parent: IntArray) -> tuple[Paths, IntArray]:
    """Return the distinct paths, level by level, and (r,) the path of each run."""
    depth = _depths(parent)
    by_depth = np.argsort(depth, kind="stable")
    levels = int(depth.max()) + 1 if len(depth) else 0
    bounds = np.searchsorted(depth[by_depth], np.arange(levels + 1))
    path = np.empty(len(parent), dtype=np.int64)
    texts, parents, depths = (np.zeros(0, dtype=np.int64) for _ in range(3))
    columns: list[tuple[IntArray, IntArray, IntArray]] = [(texts, parents, depths)]
    found = 0
    for level in range(levels):
        rows = by_depth[bounds[level] : bounds[level + 1]]
        above = np.where(parent[rows] == _NONE, _NONE, path[parent[rows]])
        keys, number = np.unique((above + 1) * len(runs.texts) + runs.text[rows], return_inverse=True)
        path[rows] = found + number
        columns.append((keys % len(runs.texts), keys // len(runs.texts) - 1, np.full(len(keys), level)))
        found += len(keys)
    text, above_path, level_of = map(np.concatenate, zip(*columns, strict=True))
    return Paths(runs.texts, text, above_path, level_of), path


_NAMES_SHOWN = 5
_RANGES_ARE_IN = (
    "an nsys SQLite or folder export, a PyTorch profiler trace (Kineto), or rocprofv3's database or JSON"
)


def within_ranges(profile: Profile, text: str, chosen: Sequence[Part]) -> tuple[Part, ...]:
    """Keep the launches that any range of this name holds; else of this path; else whose name contains it.

    Raises
    ------
    EmptySelectionError : none of them is held by such a range.
    NotApplicableError : the profile has no ranges.
    """
    runs = _runs_meant(profile, text)
    if runs is None:
        raise NotApplicableError(
            Wording(
                "`named_range` needs named ranges, and a profile of the format {} has none", profile.format
            ),
            remedy=f"give {_RANGES_ARE_IN}",
        )
    if not len(runs):
        raise EmptySelectionError(
            Wording(
                "`named_range={!r}` leaves no launch: none was issued in a range whose name contains it", text
            ),
            remedy=_names_there_are(profile),
        )
    by_sequence = {
        index: runs[runs[:, 0] == index, 1:] + profile.sequences[index].first_id
        for index in np.unique(runs[:, 0]).tolist()
    }
    none = np.zeros((0, 2), dtype=np.int64)
    inside = ((each, _covered(each, by_sequence.get(each.sequence, none))) for each in chosen)
    left = tuple(part for each, rows in inside if (part := each.narrowed(rows)) is not None)
    if not left:
        raise EmptySelectionError(
            Wording("`named_range={!r}` leaves no launch of those that the other filters keep", text),
            remedy=Wording("leave out `devices`, `processes`, `launches` or the range"),
        )
    return left


def _runs_meant(profile: Profile, text: str) -> IntArray | None:
    """Return (r, 3) sequence, first and stop ordinal of each range meant; None where the format has none."""
    found = profile.named_ranges(text)
    if found is None:
        return None
    is_name = bool(found) and found[0].text == text
    if PATH_SEPARATOR in text and not is_name:
        runs = profile.range_runs()
        on_path = None if runs is None else range_tree(runs, profile.sequences).runs_of_path(text)
        if runs is not None and on_path is not None and len(on_path):
            return np.stack([runs.sequence, runs.first_ordinal, runs.stop_ordinal], axis=1)[on_path]
    rows = [(each.sequence, each.first_ordinal, each.stop_ordinal) for each in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _covered(part: Part, runs: IntArray) -> BoolArray:
    """Return (part.launches,) which launches lie in any of the runs, rows of a first and a stop id."""
    launches = part.stop_id - part.first_id
    bounds = np.clip(runs - part.first_id, 0, launches)
    open_runs = np.zeros(launches + 1, dtype=np.int64)
    np.add.at(open_runs, bounds[:, 0], 1)
    np.add.at(open_runs, bounds[:, 1], -1)
    return np.cumsum(open_runs[:-1]) > 0


def _names_there_are(profile: Profile) -> str:
    names = profile.range_names(_NAMES_SHOWN + 1)
    shown = ", ".join(map(repr, names[:_NAMES_SHOWN]))
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"names there are: {shown}{more}" if names else "there is no range in this profile"
