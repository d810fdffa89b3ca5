"""Ranges that a program named while it ran (NVTX, annotations), and which launches it issued in them.

A launch belongs to a range if the API call that issued it began while the range was open, its first
nanosecond included and its last not, in the same process. It may come from any thread: nsys' own rule asks
for the thread that opened the range, but PyTorch launches the backward pass from another thread than the one
whose range says "backward" or "step 7".

A sequence is in API order, so the launches of a range have consecutive ordinals. Where it is ordered by
something else (correlation numbers of several threads), times slightly out of order are sorted, which keeps
the number of launches in every range. A launch whose call was not recorded belongs to a range if the nearest
launches before and after it with a recorded call both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sampling.arrays import IntArray


@dataclass(frozen=True, slots=True)
class NamedRange:
    """The launches of one sequence issued while a range the program named (NVTX, annotation) was open.

    Attributes
    ----------
    text : the range's name.
    sequence : index into ``Profile.sequences``.
    first_ordinal, stop_ordinal : the run ``first_ordinal:stop_ordinal`` of the sequence, not empty.
    """

    text: str
    sequence: int
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
    """Named ranges as runs of ordinals, in the order they open; those without launches are left out.

    Attributes
    ----------
    texts : names.
    text, sequence, first_ordinal, stop_ordinal : (r,) as in `NamedRange`, the name by its index.
    opened : (r,) the number of the range in the order they open; one range may have a run in each of several
        sequences.
    """

    texts: Sequence[str]
    text: IntArray
    sequence: IntArray
    first_ordinal: IntArray
    stop_ordinal: IntArray
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
