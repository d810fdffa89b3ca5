"""Named ranges as runs of the launches issued in them, and where a profile has them from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

    def named(self, text: str) -> tuple[NamedRange, ...]:
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
