"""Ranges that a program named while it ran (NVTX, annotations), and which launches it issued in them.

A launch belongs to a range if the API call that issued it began while the range was open, its first
nanosecond included and its last not, in the same process. It may come from any thread: nsys' own rule asks
for the thread that opened the range, but PyTorch launches the backward pass from another thread than the one
whose range says "backward" or "step 7".

A sequence is in API order, so the launches of a range have consecutive ordinals. Where it is ordered by
something else (correlation numbers of several threads), times slightly out of order are sorted, which keeps
the number of launches in every range. A launch whose call was not recorded belongs to a range if the nearest
launches before and after it with a recorded call both do.

A range lies inside another of its process and device if it opens later, or at once and closes no later, and
all its launches are the other's. It may be of another thread, as the launches of a range may be. Of several
that hold it, the one that opened last is the one it lies directly in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from sampling.arrays import IntArray


@dataclass(frozen=True, slots=True)
class NamedRange:
    """The launches of one sequence issued while a range the program named (NVTX, annotation) was open."""

    #: The range's name.
    text: str
    #: Index into ``Profile.sequences``.
    sequence: int
    #: The run ``first_ordinal:stop_ordinal`` of the sequence, not empty.
    first_ordinal: int
    stop_ordinal: int


class RangeSource(Protocol):
    """Where a profile's named ranges come from."""

    def named(self, text: str) -> tuple[NamedRange, ...] | None:
        """Return what `Profile.named_ranges` returns."""

    def some_names(self, most: int) -> tuple[str, ...]:
        """Return what `Profile.range_names` returns."""

    def all_runs(self) -> RangeRuns:
        """Return what `Profile.range_runs` returns."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeRuns:
    """Named ranges as runs of ordinals, in the order they open; those without launches are left out."""

    #: Names.
    texts: Sequence[str]
    #: (r,) as in `NamedRange`, the name by its index.
    text: IntArray
    sequence: IntArray
    first_ordinal: IntArray
    stop_ordinal: IntArray
    #: (r,) the number of the range in the order they open; one range may have a run in each of several
    #: sequences.
    opened: IntArray

    def all_runs(self) -> RangeRuns:
        """Return these."""
        return self

    def named(self, text: str) -> tuple[NamedRange, ...]:
        """Return the ranges of exactly this name, else those whose name contains it."""
        exact = [code for code, name in enumerate(self.texts) if name == text]
        codes = exact or [code for code, name in enumerate(self.texts) if text in name]
        found = np.flatnonzero(np.isin(self.text, codes))
        columns = (self.text, self.sequence, self.first_ordinal, self.stop_ordinal)
        rows = zip(*(column[found].tolist() for column in columns), strict=True)
        return tuple(NamedRange(self.texts[code], *run) for code, *run in rows)

    def some_names(self, most: int) -> tuple[str, ...]:
        """Return distinct names in the order they first open."""
        distinct = dict.fromkeys(self.texts[code] for code in self.text.tolist())
        return tuple(distinct)[:most]


#: The ranges of a recording that could have some but has none.
NO_RANGES = RangeRuns((), *np.zeros((5, 0), dtype=np.int64))


@dataclass(frozen=True, slots=True)
class JoinedRanges:
    """The ranges of several recordings, one after the other, each with how many sequences it has.

    A name is looked for in all of them, or in none where the format of one has no ranges.
    """

    parts: tuple[tuple[RangeSource | None, int], ...]

    @staticmethod
    def of(parts: Sequence[tuple[RangeSource | None, int]]) -> JoinedRanges | None:
        """Return the ranges; None where no recording may have any."""
        return JoinedRanges(tuple(parts)) if any(ranges is not None for ranges, _ in parts) else None

    def named(self, text: str) -> tuple[NamedRange, ...] | None:
        """Return what `Profile.named_ranges` returns."""
        found: list[NamedRange] = []
        before = 0
        for ranges, sequences in self.parts:
            own = None if ranges is None else ranges.named(text)
            if own is None:
                return None
            found += [replace(each, sequence=before + each.sequence) for each in own]
            before += sequences
        exact = tuple(each for each in found if each.text == text)
        return exact or tuple(found)

    def some_names(self, most: int) -> tuple[str, ...]:
        """Return what `Profile.range_names` returns."""
        names = (name for ranges, _ in self.parts if ranges is not None for name in ranges.some_names(most))
        return tuple(dict.fromkeys(names))[:most]

    def all_runs(self) -> RangeRuns:
        """Return the ranges of all recordings that have any, in their order."""
        codes: dict[str, int] = {}
        columns = [[column] for column in np.zeros((5, 0), dtype=np.int64)]
        sequences_before = opened_before = 0
        for ranges, sequences in self.parts:
            runs = NO_RANGES if ranges is None else ranges.all_runs()
            code = np.array([codes.setdefault(text, len(codes)) for text in runs.texts], dtype=np.int64)
            place = runs.sequence + sequences_before
            added = (
                code[runs.text],
                place,
                runs.first_ordinal,
                runs.stop_ordinal,
                runs.opened + opened_before,
            )
            for column, part in zip(columns, added, strict=True):
                column.append(part)
            sequences_before += sequences
            opened_before += int(runs.opened.max(initial=-1)) + 1
        return RangeRuns(tuple(codes), *map(np.concatenate, columns))


#: Stands between the names of a path.
PATH_SEPARATOR = "/"
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Names inside names: every path once, those before it first."""

    #: Names.
    texts: Sequence[str]
    #: (p,) the last name of each path by its index, the path it lies in (-1: none), and how many it lies in.
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
    """Named ranges by their paths."""

    #: Those that there are.
    paths: Paths
    #: (r,) the path of each run.
    path: IntArray
    #: (r,) its launches ``first_id:stop_id`` of the whole profile.
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


def range_tree(runs: RangeRuns, first_ids: Sequence[int]) -> RangeTree:
    """Return the ranges as a tree, in some passes over them for each level.

    Parameters
    ----------
    first_ids : of the sequences of the profile that has these ranges.
    """
    before = np.array(first_ids, dtype=np.int64)[runs.sequence]
    first_id, stop_id = runs.first_ordinal + before, runs.stop_ordinal + before
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
