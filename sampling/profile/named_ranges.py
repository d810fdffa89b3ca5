"""Ranges that a program named while it ran (NVTX, annotations), and which launches it issued in them.

A launch belongs to a range if the API call that issued it began while the range was open, its first
nanosecond included and its last not, in the same process and on any thread: PyTorch launches the backward
pass from another thread than the one whose range says "step 7". A launch whose call was not recorded belongs
to a range if the nearest ones before and after it with a recorded call do.

A range lies inside another of its process and device if it opens later, or at once and closes no later, and
all its launches are the other's; of several such, directly in the one that opened last.

Ranges whose names tell calls apart, as PyTorch's ``emit_nvtx`` writes them, or steps have one name in common:
``aten::mm, op_id = 4`` is ``aten::mm``, ``ProfilerStep#7`` is ``ProfilerStep#*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sampling.arrays import IntArray

#: Stands between the names of a path.
PATH_SEPARATOR = "/"
#: The operators of PyTorch's own library: those of other GPUs and versions have the same names and shapes.
ATEN = "aten::"
#: Stands for a number that tells steps apart.
ANY_NUMBER = "*"
_COUNTED = re.compile(r", (?:seq|op_id) = \d+|, input_op_ids = \[.*\]")
_SIZES = re.compile(r", sizes = ")
_OF_CALL = re.compile(r", (?:seq|op_id|sizes|input_op_ids) = .*", re.DOTALL)
# Not one within a word, as in conv2d.
_NUMBER = re.compile(r"[0-9]+(?![^\W_])")
_NONE = -1


def without_call(name: str) -> str:
    """Return the name of a range but for what tells one call from another of the same operator."""
    return _OF_CALL.sub("", name)


def without_step(name: str) -> str:
    """Return what the names of a range's steps have in common: numbers are `ANY_NUMBER`, calls are one."""
    return _NUMBER.sub(ANY_NUMBER, without_call(name))


#: What a range is called in a path, and what it is called together with others in the same range.
NameForms = tuple[Callable[[str], str], Callable[[str], str]]
STEPS_TOGETHER: NameForms = (without_call, without_step)
STEPS_APART: NameForms = (without_call, without_call)
#: As texts may write paths, in the order in which one is looked for.
PATH_FORMS = (STEPS_TOGETHER, STEPS_APART, (str, str))
_FORMS = (without_call, str, without_step)


def is_named(name: str, text: str) -> bool:
    """Return whether a text is a range's name, but for its call or its step."""
    return any(form(name) == text for form in _FORMS)


class NamedRange(NamedTuple):
    """The launches ``first_ordinal:stop_ordinal`` of one sequence, issued while a range was open."""

    text: str
    #: Index into ``Profile.sequences``.
    sequence: int
    first_ordinal: int
    stop_ordinal: int


@dataclass(frozen=True, slots=True, eq=False)
class RangeRuns:
    """Named ranges as runs of launches, in the order they open; those without launches are left out."""

    #: Names; several ranges may share one.
    texts: Sequence[str]
    #: (r,) as in `NamedRange`, the name by its index.
    text: IntArray
    sequence: IntArray
    first_ordinal: IntArray
    stop_ordinal: IntArray
    #: (r,) the number of the range in the order they open; it may have a run in each of several sequences.
    opened: IntArray
    #: (r,) how long the range was open, nanoseconds; 0 where its end was not recorded.
    open_ns: IntArray

    def holding(self, text: str) -> RangeRuns:
        """Return the ranges whose name contains a text."""
        return self.select([code for code, name in enumerate(self.texts) if text in name])

    def select(self, codes: list[int]) -> RangeRuns:
        """Return the ranges of some of the names."""
        rows = np.flatnonzero(np.isin(self.text, codes))
        columns = (self.text, self.sequence, self.first_ordinal, self.stop_ordinal, self.opened, self.open_ns)
        return RangeRuns(self.texts, *(column[rows] for column in columns))

    def rows(self) -> list[NamedRange]:
        """Return the ranges one by one."""
        columns = (self.text, self.sequence, self.first_ordinal, self.stop_ordinal)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [NamedRange(self.texts[code], *run) for code, *run in rows]

    def ids(self, first_ids: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return (r,) the id of each run's first launch, and one after its last, of these sequences."""
        before = np.array(first_ids, dtype=np.int64)[self.sequence]
        return self.first_ordinal + before, self.stop_ordinal + before


#: The ranges of a recording that could have some but has none.
NO_RANGES = RangeRuns((), *np.zeros((6, 0), dtype=np.int64))


class RangeSource(Protocol):
    """Where a profile's named ranges come from: `RangeRuns`, or what reads them when they are asked for."""

    def holding(self, text: str) -> RangeRuns:
        """Return the ranges whose name contains a text, of which "" is part of every one."""


@dataclass(frozen=True, slots=True)
class JoinedRanges:
    """The ranges of several recordings (None: it has none), each with the place of its first sequence.

    And with the number of launches that stand before its own in that sequence.
    """

    parts: tuple[tuple[RangeSource | None, int, int], ...]

    def holding(self, text: str) -> RangeRuns:
        """Return those of one recording after those of the one before."""
        codes: dict[str, int] = {}
        columns: list[tuple[IntArray, ...]] = []
        opened = 0
        for source, sequence, before in self.parts:
            runs = NO_RANGES if source is None else source.holding(text)
            code = np.array([codes.setdefault(name, len(codes)) for name in runs.texts], dtype=np.int64)
            place = (runs.sequence + sequence, runs.first_ordinal + before, runs.stop_ordinal + before)
            columns.append((code[runs.text], *place, runs.opened + opened, runs.open_ns))
            opened += int(runs.opened.max(initial=-1)) + 1
        return RangeRuns(tuple(codes), *map(np.concatenate, zip(*columns, strict=True)))


def ranges_named(source: RangeSource, text: str) -> tuple[RangeRuns, bool]:
    """Return the ranges of a name, and True; where there are none, those whose name contains it.

    The name is one without calls, as it was recorded, or one for all steps, the first of these that there is.
    """
    runs = source.holding(max(text.split(ANY_NUMBER), key=len))
    for form in _FORMS:
        if codes := [code for code, name in enumerate(runs.texts) if form(name) == text]:
            return runs.select(codes), True
    return runs.holding(text), False


def find_range_operators(source: RangeSource, launches: Sequence[int]) -> tuple[Sequence[str], IntArray]:
    """Return the texts of operators, the first one "", and (n,) the index of every launch's, 0 for none.

    It is the outermost range of an operator of ATen (PyTorch's ``emit_nvtx`` makes some), else the innermost
    range: of several the one that opened last. ``launches`` says how many each sequence has.
    """
    runs = source.holding("")
    # What counts the calls of an operator is no part of what it is.
    texts = ["", *(_SIZES.sub(" ", _COUNTED.sub("", text)) for text in runs.texts)]
    is_aten = np.array([text.startswith(ATEN) for text in texts], dtype=np.bool_)
    first_ids = np.cumsum([0, *launches])
    text = np.zeros(first_ids[-1], dtype=np.int64)
    first, stop = runs.ids(first_ids.tolist())
    for code, low, high in zip((runs.text + 1).tolist(), first.tolist(), stop.tolist(), strict=True):
        if not is_aten[text[low]]:
            text[low:high] = code
    return texts, text


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Names inside names: every path once, after the one it lies in."""

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

    def matching(self, text: str) -> list[int]:
        """Return the paths that are written so; where there is none, those that end so."""
        texts: list[str] = []
        for code, parent in zip(self.text.tolist(), self.parent.tolist(), strict=True):
            above = "" if parent == _NONE else texts[parent] + PATH_SEPARATOR
            texts.append(above + self.texts[code])
        exact = [path for path, path_text in enumerate(texts) if path_text == text]
        ending = PATH_SEPARATOR + text
        return exact or [path for path, path_text in enumerate(texts) if path_text.endswith(ending)]


def enclosing(reach: IntArray) -> IntArray:
    """Return (r,) the nearest range before each that ends no earlier and so holds it, -1 for none.

    ``reach`` (r,) is where each ends, in the order in which they begin.
    """
    # All between a range and the one it points to end before it does, so a pointer to one that ends too early
    # may follow that one's own pointer.
    above = np.arange(-1, len(reach) - 1)
    going = np.flatnonzero(above != _NONE)
    while len(going := going[reach[above[going]] < reach[going]]):
        above[going] = above[above[going]]
        going = going[above[going] != _NONE]
    return above


def range_paths(runs: RangeRuns, forms: NameForms = STEPS_TOGETHER) -> tuple[Paths, IntArray]:
    """Return the distinct paths of ranges, level by level, and (r,) the path of each run.

    Those in the same range with names that differ in their numbers alone are one path, as `forms` has them.
    """
    codes: dict[str, int] = {}
    own, common = (
        np.array([codes.setdefault(form(text), len(codes)) for text in runs.texts], dtype=np.int64)[runs.text]
        for form in forms
    )
    # Runs of one sequence stand together, and none reaches as far as any of the next.
    order = np.argsort(runs.sequence, kind="stable")
    reach = (runs.stop_ordinal + runs.sequence * (runs.stop_ordinal.max(initial=0) + 1))[order]
    above = enclosing(reach)
    parent = np.empty_like(order)
    parent[order] = np.where(above == _NONE, _NONE, order[above])

    # One more place, which -1 finds: what no range holds lies in no path.
    path = np.full(len(parent) + 1, _NONE)
    columns = [tuple(np.zeros((3, 0), dtype=np.int64))]
    paths = level = 0
    rows, inner = np.flatnonzero(parent == _NONE), np.flatnonzero(parent != _NONE)
    while len(rows):
        keys, number = np.unique((path[parent[rows]] + 1) * len(codes) + common[rows], return_inverse=True)
        path[rows] = paths + number
        # Several names are what they have in common, a single one stays as it is.
        text, is_several = np.empty_like(keys), np.zeros(len(keys), dtype=np.bool_)
        text[number] = own[rows]
        is_several[number[text[number] != own[rows]]] = True
        text = np.where(is_several, keys % len(codes), text)
        columns.append((text, keys // len(codes) - 1, np.full(len(keys), level)))
        paths, level = paths + len(keys), level + 1
        is_next = path[parent[inner]] != _NONE
        rows, inner = inner[is_next], inner[~is_next]
    return Paths(tuple(codes), *map(np.concatenate, zip(*columns, strict=True))), path[:-1]


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (RangeRuns, find_range_operators)
