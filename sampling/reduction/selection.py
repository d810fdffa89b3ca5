"""The rows of a span that a region selects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.profile import Span


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A span and the rows of it that are wanted, at least one.

    Attributes
    ----------
    rows : indexes the columns of the span: a slice where the rows follow each other, as they mostly do, else
        (span.launches,) whether a row is wanted.
    first_id : the id of the first wanted row.
    """

    span: Span
    rows: slice | BoolArray
    first_id: int

    @property
    def launches(self) -> int:
        """How many rows are wanted."""
        if isinstance(self.rows, slice):
            stop: int = self.rows.stop
            start: int = self.rows.start
            return stop - start
        return int(np.count_nonzero(self.rows))

    def ids(self, places: IntArray) -> IntArray:
        """Return the ids of wanted rows, counted among the wanted ones from 0."""
        if isinstance(self.rows, slice):
            return self.first_id + places
        wanted = np.flatnonzero(self.rows)
        return np.asarray(self.first_id - wanted[0] + wanted[places])

    def holds(self, rows: IntArray, first_row: int = 0) -> BoolArray:
        """Return whether rows of the span, counted from ``first_row``, are wanted."""
        wanted: BoolArray
        if isinstance(self.rows, slice):
            wanted = (rows >= self.rows.start - first_row) & (rows < self.rows.stop - first_row)
        else:
            wanted = self.rows[first_row:][rows]
        return wanted

    def narrowed(self, inside: BoolArray) -> Selection | None:
        """Return the part of the selection that is still wanted, None if there is none.

        Parameters
        ----------
        inside : (launches,) whether a wanted row is still wanted.
        """
        if inside.all():
            return self
        before = np.arange(self.span.launches)[self.rows]
        left = before[inside]
        if not len(left):
            return None
        first, last = int(left[0]), int(left[-1])
        first_id = self.first_id + first - int(before[0])
        if last - first + 1 == len(left):
            return Selection(self.span, slice(first, last + 1), first_id)
        rows = np.zeros(self.span.launches, dtype=np.bool_)
        rows[left] = True
        return Selection(self.span, rows, first_id)
