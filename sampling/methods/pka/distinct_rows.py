"""The distinct rows of a table of numbers, in the order they first occur.

Launches repeat: a million of them may have a few thousand distinct rows. Methods work on these, each with its
count, so that results for equal launches are exactly equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import FloatArray, IntArray
from sampling.dense_codes import dense_codes


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """The d distinct rows of n launches.

    Attributes
    ----------
    values : (d, columns) the rows, in the order of their first launch.
    row_of : (n,) the row of each launch.
    first : (d,) the first launch of each row, ascending.
    count : (d,) launches of each row, at least 1.
    """

    values: FloatArray
    row_of: IntArray
    first: IntArray
    count: IntArray

    def __len__(self) -> int:
        return len(self.values)

    def with_values(self, values: FloatArray, decimals: int | None = None) -> DistinctRows:
        """Return the same launches with other values for each row; rows that become equal are merged.

        Parameters
        ----------
        values : (d, any number of columns).
        decimals : rows that agree when rounded to so many decimals are equal; the first one's values stay.
        """
        compared = values if decimals is None else np.round(values, decimals)
        code, first = row_codes(list(compared.T), len(values))
        count = np.bincount(code, weights=self.count, minlength=len(first)).astype(np.int64)
        return DistinctRows(values[first], code[self.row_of], self.first[first], count)


def distinct_rows(columns: Sequence[NDArray[np.number]], launches: int) -> DistinctRows:
    """Return the distinct rows of columns (n,) of finite numbers; without columns all launches are equal."""
    code, first = row_codes(columns, launches)
    values = np.empty((len(first), len(columns)))
    for index, column in enumerate(columns):
        values[:, index] = column[first]
    return DistinctRows(values, code, first, np.bincount(code, minlength=len(first)).astype(np.int64))


def row_codes(columns: Sequence[NDArray[np.number]], launches: int) -> tuple[IntArray, IntArray]:
    """Return (n,) a code for every row, numbered as they first occur, and (d,) the first row of each code."""
    import pandas as pd

    code = np.zeros(launches, dtype=np.int64)
    first = np.zeros(1, dtype=np.int64)
    for column in columns:
        # One column at a time: more than two columns of codes never exist at once.
        code, first = dense_codes([code, pd.factorize(column)[0]])
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[code], first[order]
