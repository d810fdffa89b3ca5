"""nsys folder exports (`nsys export --type parquetdir` or `arrowdir`): one file for each table.

Nothing is memory-mapped: a file that another process cuts short would end this one by a bus error. What
Arrow's own formats say of themselves is checked before it is used, because Arrow takes it as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.arrays import IntArray, arrow_file, nulls_as, to_numpy
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.cells import NULL
from sampling.readers.input_file import InputFile
from sampling.readers.nsys_export import read_export
from sampling.readers.nsys_tables import KERNEL, STRINGS, TEXT, NsysTables

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "nsys-parquetdir"

# Best last: of a table stored more than once the last is read.
_SUFFIXES = (".arrows", ".arrow", ".parquet")
_ARROW_FILE_MAGIC = b"ARROW1"
_ROWS_AT_ONCE = 1 << 19


def recognise(file: InputFile) -> bool:
    """Return whether this is a folder with table files named as nsys names them."""
    return file.is_directory and any(
        name == STRINGS or name.startswith("CUPTI_ACTIVITY_KIND_") for name in _table_files(file.location)
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises ProfileError: a table file is damaged, or there are no kernel launches.
    """
    with _opened(file) as tables:
        return read_export(tables, file, kernels, progress, partial(_opened, file))


def _opened(file: InputFile) -> AbstractContextManager[NsysTables]:
    """Every table file is opened when it is read."""
    return nullcontext(_FolderTables(file.path, _table_files(file.location)))


def _table_files(folder: Path) -> dict[str, Path]:
    """Return the table files of a folder by table name."""
    paths = [path for path in folder.iterdir() if path.suffix in _SUFFIXES]
    return {path.stem: path for path in sorted(paths, key=lambda path: _SUFFIXES.index(path.suffix))}


class _FolderTables(NsysTables):
    def __init__(self, path: str, files: Mapping[str, Path]) -> None:
        super().__init__(path, files)
        self._files = files
        file = self._files.get(KERNEL) or self._files.get(STRINGS)
        self.kind = "parquetdir" if file is None or file.suffix == ".parquet" else "arrowdir"
        self._columns: dict[str, frozenset[str]] = {}

    @contextmanager
    def _opened(self, table: str) -> Iterator[tuple[list[str], Callable[..., Iterator[pa.RecordBatch]]]]:
        """Open a Parquet file, or an Arrow stream, as nsys writes, or file, into which others turn it.

        What comes is the names of its columns, and what gives the rows of some columns batch by batch.
        """
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        path = self._files[table]
        try:
            if path.suffix == ".parquet":
                with ParquetFile(arrow_file(path), memory_map=False) as parquet:
                    yield parquet.schema_arrow.names, partial(parquet.iter_batches, _ROWS_AT_ONCE)
                return
            size_bytes = path.stat().st_size
            with path.open("rb") as stream:
                is_file = stream.read(len(_ARROW_FILE_MAGIC)) == _ARROW_FILE_MAGIC
            with pa.OSFile(os.fsencode(path)) as source:
                arrow = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
                batches = map(arrow.get_batch, range(arrow.num_record_batches)) if is_file else iter(arrow)
                yield arrow.schema.names, lambda **_: batches
            # A stream simply ends where its file does.
            if path.stat().st_size < size_bytes:
                raise OSError("the file shrank while it was read")
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise self.error(f"the table file {path.name} is damaged or cut short") from error

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        if table in self.names and table not in self._columns:
            with self._opened(table) as (names, _):
                self._columns[table] = frozenset(names)
        return self._columns.get(table, frozenset())

    def most_rows(self, table: str) -> int:
        """Return the number of rows."""
        if table not in self.names:
            return 0
        with self._opened(table) as (_, batches):
            return sum(len(batch) for batch in batches(columns=[]))

    def _batches(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[pa.Array]]:
        """Yield the rows of a table in parts, one array for each column.

        Texts are bytes, for some are no valid UTF-8; unsigned numbers are signed, as in SQLite.
        """
        import pyarrow as pa

        if table in self.names:
            with self._opened(table) as (_, batches):
                for batch in batches(columns=list(columns)):
                    places = [batch.schema.get_all_field_indices(name) for name in columns]
                    if any(len(place) != 1 for place in places):
                        raise pa.ArrowInvalid("several columns have one name")
                    if len(batch):
                        yield [_checked(batch.column(place)) for (place,) in places]

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows batch by batch."""
        import pyarrow as pa

        for arrays in self._batches(table, columns):
            for array, name in zip(arrays, columns, strict=True):
                if not pa.types.is_integer(array.type) and array.null_count < len(array):
                    raise self.not_integers(name)
            yield [to_numpy(nulls_as(array.cast(pa.int64()), NULL)) for array in arrays]

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows batch by batch."""
        if present := [name for name in columns if name in self.columns(table)]:
            for arrays in self._batches(table, present):
                try:
                    cells = {name: _cells(array) for name, array in zip(present, arrays, strict=True)}
                except (ValueError, OverflowError) as error:
                    raise self.error(
                        f"the table {table} has a value that cannot be read ({error})"
                    ) from error
                yield from zip(*(cells.get(name, repeat(None)) for name in columns), strict=False)

    def strings(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return texts by id."""
        targets = set(ids)
        return {
            number: text
            for number, text in self.rows(STRINGS, TEXT)
            if isinstance(number, int) and number in targets and isinstance(text, str)
        }


def _checked(array: pa.Array) -> pa.Array:
    """Return a column, a text as bytes; raise pyarrow.ArrowInvalid where it points beyond its own bytes."""
    import pyarrow as pa

    array.validate()
    if pa.types.is_string(array.type):
        array = array.view(pa.binary())
    elif pa.types.is_large_string(array.type):
        array = array.view(pa.large_binary())
    array.validate(full=True)
    return array.cast(pa.int64(), safe=False) if pa.types.is_unsigned_integer(array.type) else array


def _cells(array: pa.Array) -> list[object]:
    """Return the values, texts decoded whatever their bytes; nsys writes no nested ones."""
    cells: list[object] = [None] * len(array) if array.type.num_fields else array.to_pylist()
    return [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell for cell in cells]


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (_opened,)
