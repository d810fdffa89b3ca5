"""One table of an nsys folder export, read from its Parquet file, Arrow stream or Arrow file.

Nothing is memory-mapped: a file that another process cuts short would end this one by a bus error. What
Arrow's own formats say of themselves is checked before it is used, because Arrow takes it as it is; Parquet
is decoded, and its decoder checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.arrow import arrow_file

if TYPE_CHECKING:
    import pyarrow as pa

_ARROW_FILE_MAGIC = b"ARROW1"
_ROWS_AT_ONCE = 1 << 19


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table file."""
    if path.suffix == ".parquet":
        with _parquet(path) as file:
            return list(file.schema_arrow.names)
    with _ipc_batches(path) as (names, _):
        return names


def row_count(path: Path) -> int:
    """Return the number of rows of a table file."""
    if path.suffix == ".parquet":
        with _parquet(path) as file:
            return int(file.metadata.num_rows)
    with _ipc_batches(path) as (_, batches):
        return sum(len(batch) for batch in batches)


def checked_batches(path: Path, columns: Sequence[str]) -> Iterator[Sequence[pa.Array]]:
    """Yield the rows in parts, one array for each column, which hold together.

    Raises
    ------
    pyarrow.ArrowException, OSError : the file is damaged, cut short, or has several columns of one name.
    """
    if path.suffix == ".parquet":
        with _parquet(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(columns)):
                yield [_only(batch, name) for name in columns]
        return
    size_bytes = path.stat().st_size
    with _ipc_batches(path) as (_, batches):
        for batch in batches:
            arrays = [_only(batch, name) for name in columns]
            for array in arrays:
                _check(array)
            yield arrays
    # A stream simply ends where its file does.
    if path.stat().st_size < size_bytes:
        raise OSError("the file shrank while it was read")


def _only(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return the column of a name that only one column has."""
    import pyarrow as pa

    places = batch.schema.get_all_field_indices(name)
    if len(places) != 1:
        raise pa.ArrowInvalid(f"{len(places)} columns have the name {name}")
    return batch.column(places[0])


def _check(array: pa.Array) -> None:
    """Raise pyarrow.ArrowInvalid where an array points beyond its own bytes.

    Texts are checked as bytes, for nsys writes some that are no UTF-8.
    """
    import pyarrow as pa

    array.validate()
    if pa.types.is_string(array.type):
        array = array.view(pa.binary())
    elif pa.types.is_large_string(array.type):
        array = array.view(pa.large_binary())
    array.validate(full=True)


def _parquet(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(arrow_file(path), memory_map=False)


@contextmanager
def _ipc_batches(path: Path) -> Iterator[tuple[list[str], Iterator[pa.RecordBatch]]]:
    """Open an Arrow IPC file or stream: nsys writes streams, other tools turn them into files."""
    import pyarrow as pa

    with path.open("rb") as stream:
        is_file = stream.read(len(_ARROW_FILE_MAGIC)) == _ARROW_FILE_MAGIC
    with pa.OSFile(os.fsencode(path)) as source:
        if is_file:
            file = pa.ipc.open_file(source)
            yield file.schema.names, (file.get_batch(index) for index in range(file.num_record_batches))
        else:
            stream = pa.ipc.open_stream(source)
            yield stream.schema.names, iter(stream)
