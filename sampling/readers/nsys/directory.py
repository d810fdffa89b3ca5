"""nsys folder exports (`nsys export --type parquetdir` or `arrowdir`): one file for each table.

Nothing is memory-mapped: a file that another process cuts short would end this one by a bus error. What
Arrow's own formats say of themselves is checked before it is used, because Arrow takes it as it is; Parquet
is decoded, and its decoder checks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sampling.arrays import IntArray, arrow_file, nulls_as, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile, ProfileFile
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.export import KERNEL, NULL, STRINGS, NsysTables, read_export

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "nsys-parquetdir"

# Best last: of a table stored more than once the last is read.
_SUFFIXES = (".arrows", ".arrow", ".parquet")
_ARROW_FILE_MAGIC = b"ARROW1"
_ROWS_AT_ONCE = 1 << 19

_Batches: TypeAlias = "Callable[..., Iterator[pa.RecordBatch]]"


def recognise(file: InputFile) -> bool:
    """Return whether this is a folder with table files named as nsys names them."""
    return file.is_directory and any(
        name == STRINGS or name.startswith("CUPTI_ACTIVITY_KIND_") for name in _table_files(file.location)
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises ProfileError: a table file is damaged, or there are no kernel launches.
    """
    tables = _FolderTables(file.path, _table_files(file.location))
    profile_file = ProfileFile(file.path, file.location, 0)
    return read_export(tables, profile_file, kernels, progress, lambda: nullcontext(tables))


def _table_files(folder: Path) -> dict[str, Path]:
    """Return the table files of a folder by table name."""
    paths = [path for path in folder.iterdir() if path.suffix in _SUFFIXES]
    return {path.stem: path for path in sorted(paths, key=lambda path: _SUFFIXES.index(path.suffix))}


class _FolderTables(NsysTables):
    def __init__(self, path: str, files: Mapping[str, Path]) -> None:
        super().__init__(path, files.keys())
        self._files = files
        file = self._file(KERNEL) or self._file(STRINGS)
        self.kind = "parquetdir" if file is None or file.suffix == ".parquet" else "arrowdir"
        self._columns: dict[str, frozenset[str]] = {}

    def _file(self, table: str) -> Path | None:
        stored = self.stored_name(table)
        return None if stored is None else self._files[stored]

    @contextmanager
    def _opened(self, path: Path) -> Iterator[tuple[list[str], _Batches]]:
        """Open a Parquet file, or an Arrow stream, as nsys writes, or file, into which others turn it.

        What comes is the names of its columns, and what gives the rows of some columns batch by batch.
        """
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        is_parquet = path.suffix == ".parquet"
        try:
            if is_parquet:
                with ParquetFile(arrow_file(path), memory_map=False) as parquet:
                    yield parquet.schema_arrow.names, partial(parquet.iter_batches, _ROWS_AT_ONCE, columns=[])
                return
            with path.open("rb") as stream:
                is_file = stream.read(len(_ARROW_FILE_MAGIC)) == _ARROW_FILE_MAGIC
            with pa.OSFile(os.fsencode(path)) as source:
                arrow = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
                batches = map(arrow.get_batch, range(arrow.num_record_batches)) if is_file else iter(arrow)
                yield arrow.schema.names, lambda **_: batches
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ProfileError(
                f"the table file {path.name} is damaged or cut short", path=self.path, remedy=self.remedy
            ) from error

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        path = self._file(table)
        if path is not None and table not in self._columns:
            with self._opened(path) as (names, _):
                self._columns[table] = frozenset(names)
        return self._columns.get(table, frozenset())

    def row_count(self, table: str) -> int:
        """Return the number of rows."""
        path = self._file(table)
        if path is None:
            return 0
        with self._opened(path) as (_, batches):
            return sum(len(batch) for batch in batches())

    def _batches(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[pa.Array]]:
        """Yield the rows of a table in parts, one array for each column.

        Texts are bytes because nsys stores some that are no valid UTF-8.
        """
        import pyarrow as pa

        path = self._file(table)
        if path is None:
            return
        size_bytes = path.stat().st_size
        with self._opened(path) as (_, batches):
            for batch in batches(columns=list(columns)):
                places = [batch.schema.get_all_field_indices(name) for name in columns]
                if any(len(place) != 1 for place in places):
                    raise pa.ArrowInvalid("several columns have one name")
                if len(batch):
                    yield [_checked(batch.column(place)) for (place,) in places]
            # A stream simply ends where its file does.
            if path.stat().st_size < size_bytes:
                raise OSError("the file shrank while it was read")

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows batch by batch."""
        for arrays in self._batches(table, columns):
            yield [self._numbers(array, name) for array, name in zip(arrays, columns, strict=True)]

    def _numbers(self, values: pa.Array, column: str) -> IntArray:
        import pyarrow as pa

        if not pa.types.is_integer(values.type) and values.null_count < len(values):
            raise self.not_integers(column)
        # Process ids are unsigned here but signed in SQLite: the bits are what counts.
        return to_numpy(nulls_as(values.cast(pa.int64(), safe=False), NULL))

    def _values(self, values: pa.Array) -> list[object]:
        """Return the values, texts decoded whatever their bytes."""
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        try:
            cells: list[object] = values.to_pylist()
        except (ValueError, OverflowError) as error:
            what = f"a table holds {values.type} that cannot be read ({error})"
            raise ProfileError(what, path=self.path, remedy=self.remedy) from error
        return [cell.decode("utf-8", errors="replace") if isinstance(cell, bytes) else cell for cell in cells]

    def rows(
        self, table: str, columns: Sequence[str], *, containing: tuple[str, str] | None = None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows batch by batch; those that hold a text are picked before the rest is decoded."""
        present = [name for name in columns if name in self.columns(table)]
        if not present or (containing is not None and containing[0] not in present):
            return
        for arrays in self._batches(table, present):
            values = dict(zip(present, arrays, strict=True))
            if containing is not None:
                texts = enumerate(self._values(values[containing[0]]))
                found = [row for row, each in texts if isinstance(each, str) and containing[1] in each]
                rows = to_arrow(np.array(found, dtype=np.int64))
                values = {name: value.take(rows) for name, value in values.items()}
            cells = {name: self._values(value) for name, value in values.items()}
            yield from zip(*(cells.get(name, repeat(None)) for name in columns), strict=False)

    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return texts by id."""
        wanted = set(ids)
        return {
            number: text
            for number, text in self.rows(STRINGS, ("id", "value"))
            if isinstance(number, int) and number in wanted and isinstance(text, str)
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
    # Of views Arrow cannot take some rows.
    is_view = pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type)
    return array.cast(pa.large_binary()) if is_view else array
