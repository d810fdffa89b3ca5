"""Dense codes for rows of integers: equal rows get equal codes, exactly, at any number of columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import to_arrow, to_numpy

# Hashing takes a sixth of the time of a sort, but needs pyarrow, whose import takes 0.1 s.
IMPORT_PAYS_FROM_ROWS = 400_000
HASHING_PAYS_FROM_ROWS = 5_000
_TABLE_ENTRIES = 1 << 20
_KEY_BITS = 63
_EARLY_ROWS = 1 << 14


def dense_codes(columns: Sequence[AnyIntArray]) -> tuple[IntArray, IntArray]:
    """Return a code for every row and, for every code, the first row that has it.

    Parameters
    ----------
    columns : arrays of shape (n,), integers >= 0, at least one.

    Returns
    -------
    codes : (n,) int64, 0 <= code < k
    first_rows : (k,) int64, ``columns[c][first_rows[code]]`` is the value behind a code.

    Notes
    -----
    The columns are packed side by side into 63 bits, each as wide as its largest value needs. Where they do
    not fit, what is packed so far is replaced by its own dense codes and packing goes on: never a hash, so
    two different rows never share a code.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    if len(key) == 0:
        return key, np.zeros(0, dtype=np.int64)
    bits = 0
    column: AnyIntArray
    for column in columns:
        # A column broadcast from one value has stride 0: all its rows are equal.
        if column.strides == (0,) or (width := int(column.max()).bit_length()) == 0:
            continue
        if bits + width > _KEY_BITS:
            key, first_rows = _codes_of_key(key)
            bits = (len(first_rows) - 1).bit_length()
        if bits + width > _KEY_BITS:
            column, first_rows = _codes_of_key(column.astype(np.int64))  # noqa: PLW2901 - the same, narrower
            width = (len(first_rows) - 1).bit_length()
        key <<= width
        key |= column
        bits += width
    return _codes_of_key(key)


def _codes_of_key(key: IntArray) -> tuple[IntArray, IntArray]:
    if key.max() < min(_TABLE_ENTRIES, 4 * len(key)):
        return _codes_by_table(key)
    least = HASHING_PAYS_FROM_ROWS if "pyarrow" in sys.modules else IMPORT_PAYS_FROM_ROWS
    if len(key) < least:
        _, first_rows, codes = np.unique(key, return_index=True, return_inverse=True)
        return codes.astype(np.int64, copy=False), first_rows.astype(np.int64, copy=False)
    encoded = to_arrow(key).dictionary_encode()
    codes = to_numpy(encoded.indices).astype(np.int64)
    return codes, _first_rows(codes, len(encoded.dictionary))


def _codes_by_table(key: IntArray) -> tuple[IntArray, IntArray]:
    """Return the same for keys that are small enough to index a table."""
    first_row = _first_rows(key, int(key.max()) + 1)
    present = np.flatnonzero(first_row >= 0)
    code = np.empty(len(first_row), dtype=np.int64)
    code[present] = np.arange(len(present))
    return code.take(key), first_row[present]


def _first_rows(values: IntArray, size: int) -> IntArray:
    """Return (size,) the first row of each value, -1 for one that does not occur."""
    first_row = np.full(size, -1, dtype=np.int64)
    # Most values occur early, and only what does not is looked for further on.
    for begin, stop in ((0, _EARLY_ROWS), (_EARLY_ROWS, len(values))):
        rows = begin + np.flatnonzero(first_row.take(values[begin:stop]) < 0)[::-1]
        # Backwards, so that the last of several assignments to one index, which numpy keeps, is the first.
        first_row[values[rows]] = rows
    return first_row
