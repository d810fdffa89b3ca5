"""Arrays from numpy to Arrow and back, sharing memory and without importing pandas.

pyarrow's own ``to_numpy``, ``pa.array``, ``pa.scalar`` and all else in it that turns Python or numpy values
into Arrow ones import pandas where it is installed. That takes 0.2 s, in which an interrupt is lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_file(path: str | Path, *, writing: bool = False) -> Any:
    """Return what pyarrow opens: the path of a file, or the open file where its name is no UTF-8."""
    import pyarrow as pa

    try:
        str(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path), "wb" if writing else "rb")
    return path


def to_numpy(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return (n,) the integers, floats or truth values of an Arrow array.

    Numbers in one chunk are not copied; then the result is read-only.

    Raises
    ------
    ValueError : there is a null among them.
    """
    import pyarrow as pa

    if values.null_count:
        raise ValueError("an array with nulls has no numpy equal")
    if not isinstance(values, pa.ChunkedArray):
        return _to_numpy(values)
    if values.num_chunks == 1:
        return _to_numpy(values.chunk(0))
    return np.concatenate([_empty(values.type), *map(_to_numpy, values.chunks)])


def _to_numpy(values: pa.Array) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_boolean(values.type):
        return _to_numpy(values.cast(pa.uint8())).view(np.bool_)
    if len(values) == 0:
        return _empty(values.type)
    kind = np.dtype(values.type.to_pandas_dtype())
    return np.frombuffer(
        values.buffers()[1], dtype=kind, count=len(values), offset=values.offset * kind.itemsize
    )


def _empty(kind: pa.DataType) -> NDArray[Any]:
    return np.zeros(0, dtype=kind.to_pandas_dtype())


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


def to_arrow_dictionary(codes: NDArray[np.integer[Any]], texts: pa.Array) -> pa.DictionaryArray:
    """Return ``texts[codes]`` as a dictionary array; (n,) codes, each an index into ``texts``."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(to_arrow(codes), texts)


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
