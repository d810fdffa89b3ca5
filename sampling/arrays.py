"""The arrays that functions are given and return; to Arrow and back; dense codes for rows of integers.

Arrays become Arrow's and come back sharing memory. pyarrow's own ``to_numpy``, ``pa.array``, ``pa.scalar``
and all else in it that turns Python or numpy values into Arrow ones import pandas where it is installed,
which takes 0.2 s.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

# Integers of any width, as files and columns store them.
AnyIntArray = NDArray[np.integer]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
HashArray = NDArray[np.uint64]

#: The step of SplitMix64, by which consecutive numbers are spread before they are mixed.
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


def arrow_file(path: str | Path, *, writing: bool = False) -> Any:
    """Return what pyarrow opens: the path of a file, or the open file where its name is no UTF-8."""
    import pyarrow as pa

    try:
        str(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path), "wb" if writing else "rb")
    return path


def to_numpy(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return (n,) the integers, floats or truth values of an Arrow array; ValueError if a null is among them.

    Numbers in one chunk are not copied; then the result is read-only.
    """
    import pyarrow as pa

    if values.null_count:
        raise ValueError("an array with nulls has no numpy equal")
    if pa.types.is_boolean(values.type):
        return to_numpy(values.cast(pa.uint8())).view(np.bool_)
    kind = np.dtype(values.type.to_pandas_dtype())
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    parts = [
        np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * kind.itemsize)
        for chunk in chunks
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind), *parts])


def to_arrow(values: NDArray[np.number[Any]]) -> pa.Array:
    """Return (n,) numbers as an Arrow array; contiguous ones are not copied."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def to_arrow_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow string array."""
    import pyarrow as pa

    cells = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    large = pa.Array.from_buffers(
        pa.large_string(), len(cells), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(cells))]
    )
    return large.cast(pa.string())


def nulls_as(values: pa.Array | pa.ChunkedArray, number: int) -> pa.Array | pa.ChunkedArray:
    """Return integers or floats with ``number`` in place of each null."""
    if values.null_count == 0:
        return values
    return values.fill_null(to_arrow(np.array([number])).cast(values.type)[0])


def first_true(values: pa.Array | pa.ChunkedArray) -> int:
    """Return the index of the first value that is true, -1 if none is; a null is not true."""
    from pyarrow import compute

    places = compute.indices_nonzero(values)
    return int(places[0].as_py()) if len(places) else -1


# Hashing takes a sixth of the time of a sort, but needs pyarrow, whose import takes 0.1 s.
IMPORT_PAYS_FROM_ROWS = 400_000
_TABLE_ENTRIES = 1 << 20
_KEY_BITS = 63


def joined(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return (n,) the pieces of a column; where all rows have one value, memory has it once: stride 0."""
    value = next((piece[0] for piece in pieces if len(piece)), None)
    if value is not None and all((piece == value).all() for piece in pieces):
        return np.broadcast_to(value, sum(map(len, pieces)))
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def dense_codes(columns: Sequence[AnyIntArray]) -> tuple[IntArray, IntArray]:
    """Return (n,) a code for every row, 0 <= code < k, and (k,) the first row that has each.

    The columns, at least one of (n,) integers >= 0, are packed side by side into 63 bits, each as wide as its
    largest value needs. Where they do not fit, what is packed so far is replaced by its own dense codes and
    packing goes on: never a hash, so two different rows never share a code.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    if len(key) == 0:
        return key, key
    bits = 0
    column: AnyIntArray
    for column in columns:
        # A column broadcast from one value has stride 0: all its rows are equal.
        if column.strides == (0,) or (width := int(column.max()).bit_length()) == 0:
            continue
        if bits + width > _KEY_BITS:
            key, first_rows = _key_codes(key)
            bits = (len(first_rows) - 1).bit_length()
        if bits + width > _KEY_BITS:
            column, first_rows = _key_codes(column.astype(np.int64))  # noqa: PLW2901 - the same, narrower
            width = (len(first_rows) - 1).bit_length()
        key <<= width
        key |= column
        bits += width
    return _key_codes(key)


def _key_codes(key: IntArray) -> tuple[IntArray, IntArray]:
    """Return the same for one column, by a table of all values where they are small, else by hashing."""
    if (size := int(key.max()) + 1) <= min(_TABLE_ENTRIES, 4 * len(key)):
        first_row = _first_rows(key, size)
        present = np.flatnonzero(first_row >= 0)
        code = np.empty(size, dtype=np.int64)
        code[present] = np.arange(len(present))
        return code.take(key), first_row[present]
    if "pyarrow" not in sys.modules and len(key) < IMPORT_PAYS_FROM_ROWS:
        _, first_rows, codes = np.unique(key, return_index=True, return_inverse=True)
        return codes.astype(np.int64, copy=False), first_rows.astype(np.int64, copy=False)
    encoded = to_arrow(key).dictionary_encode()
    # In ascending order as above: codes are the same in every process, whatever it has imported.
    order = np.argsort(to_numpy(encoded.dictionary))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    codes = rank.take(to_numpy(encoded.indices))
    return codes, _first_rows(codes, len(order))


def _first_rows(values: IntArray, size: int) -> IntArray:
    """Return (size,) the first row of each value, -1 for one that does not occur."""
    first_row = np.full(size, -1, dtype=np.int64)
    # Of several assignments to one index numpy keeps the last.
    first_row[values[::-1]] = np.arange(len(values))[::-1]
    return first_row


def find_places(targets: IntArray, values: IntArray) -> IntArray:
    """Return where each wanted number >= 0 first occurs among the known, -1 where it does not."""
    if not len(values):
        return np.full(len(targets), -1)
    # Most are in order.
    order = np.argsort(values, kind="stable") if (values[1:] < values[:-1]).any() else np.arange(len(values))
    position = np.searchsorted(values[order], targets)
    place = order[np.minimum(position, len(values) - 1)]
    return np.where((values[place] == targets) & (targets >= 0), place, -1)


def mixed(state: HashArray) -> HashArray:
    """Return SplitMix64's mixing of each state: all bits depend on all bits. [Steele, Lea, Flood]"""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
