"""nsys folder exports (`nsys export --type parquetdir` or `arrowdir`): one file for each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import nulls_as, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.export import read_export
from sampling.readers.nsys.table_files import checked_batches, column_names, row_count
from sampling.readers.nsys.tables import EXPORT_AGAIN, KERNEL, NULL, STRINGS, NsysTables

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "nsys-parquetdir"

_ARROW_FORMAT = "nsys-arrowdir"
# Best last: of a table stored more than once the last is read.
_SUFFIXES = (".arrows", ".arrow", ".parquet")


def recognise(file: InputFile) -> bool:
    """Return whether this is a folder with table files named as nsys names them."""
    return file.is_directory and any(
        name == STRINGS or name.startswith("CUPTI_ACTIVITY_KIND_") for name in _table_files(file.location)
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises
    ------
    ProfileError : a table file is damaged, or there are no kernel launches.
    """
    tables = _FolderTables(file.path, _table_files(file.location))
    profile_file = ProfileFile(file.path, file.location, 0)
    return read_export(
        tables, profile_file, tables.format_name, kernels, progress, lambda: nullcontext(tables)
    )


def _table_files(folder: Path) -> dict[str, Path]:
    """Return the table files of a folder by table name."""
    paths = [path for path in folder.iterdir() if path.suffix in _SUFFIXES]
    return {path.stem: path for path in sorted(paths, key=lambda path: _SUFFIXES.index(path.suffix))}


class _FolderTables(NsysTables):
    def __init__(self, path: str, files: Mapping[str, Path]) -> None:
        super().__init__(path, files.keys())
        self._files = files
        self._columns: dict[str, frozenset[str]] = {}

    @property
    def format_name(self) -> str:
        """What kind of folder this is, by the file of its kernel table."""
        file = self._file(KERNEL) or self._file(STRINGS)
        return FORMAT if file is None or file.suffix == ".parquet" else _ARROW_FORMAT

    def _file(self, table: str) -> Path | None:
        stored = self.stored_name(table)
        return None if stored is None else self._files[stored]

    @contextmanager
    def _damage_reported(self, path: Path) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ProfileError(
                f"the table file {path.name} is damaged or cut short",
                path=self.path,
                remedy=EXPORT_AGAIN.format("parquetdir" if path.suffix == ".parquet" else "arrowdir"),
            ) from error

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        path = self._file(table)
        if path is None:
            return frozenset()
        if table not in self._columns:
            with self._damage_reported(path):
                self._columns[table] = frozenset(column_names(path))
        return self._columns[table]

    def row_count(self, table: str) -> int:
        """Return the number of rows."""
        path = self._file(table)
        if path is None:
            return 0
        with self._damage_reported(path):
            return row_count(path)

    def row_bound(self, table: str) -> int:
        """Return the number of rows."""
        return self.row_count(table)

    def _batches(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[pa.Array]]:
        """Yield the rows of a table in parts, one array for each column."""
        path = self._file(table)
        if path is None:
            return
        with self._damage_reported(path):
            for arrays in checked_batches(path, columns):
                if len(arrays[0]):
                    yield arrays

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows batch by batch."""
        for arrays in self._batches(table, columns):
            yield [self._numbers(array, name) for array, name in zip(arrays, columns, strict=True)]

    def _numbers(self, values: pa.Array, column: str) -> IntArray:
        import pyarrow as pa

        if not pa.types.is_integer(values.type) and values.null_count < len(values):
            raise ProfileError(
                f"the column holds {values.type}, not integers",
                path=self.path,
                column=column,
                remedy=EXPORT_AGAIN.format("parquetdir"),
            )
        # Process ids are unsigned here but signed in SQLite: the bits are what counts.
        return to_numpy(nulls_as(values.cast(pa.int64(), safe=False), NULL))

    def _values(self, values: pa.Array) -> list[object]:
        """Return the values, texts decoded whatever their bytes: nsys stores some that are no valid UTF-8."""
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        if is_text or pa.types.is_string_view(values.type):
            values = values.cast(pa.large_binary())
        try:
            cells: list[object] = values.to_pylist()
        except (ValueError, OverflowError) as error:
            raise ProfileError(
                f"a table holds {values.type} that cannot be read ({error})",
                path=self.path,
                remedy=EXPORT_AGAIN.format("parquetdir"),
            ) from error
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
                found = to_arrow(_places_of(containing[1], self._values(values[containing[0]])))
                values = {name: _taken(value, found) for name, value in values.items()}
            cells = {name: self._values(value) for name, value in values.items()}
            yield from zip(*(cells.get(name, repeat(None)) for name in columns), strict=False)

    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return texts by id."""
        texts: dict[int, str] = {}
        if not ids or not self.has(STRINGS, "id", "value"):
            return texts
        for numbers, values in self._batches(STRINGS, ["id", "value"]):
            known = self._numbers(numbers, "id")
            rows = np.flatnonzero(np.isin(known, ids))
            texts_there = self._values(_taken(values, to_arrow(rows)))
            found = zip(known[rows].tolist(), texts_there, strict=True)
            texts.update((number, text) for number, text in found if isinstance(text, str))
        return texts

    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key."""
        if not self.has(table, "name", "value"):
            return None
        for names, values in self._batches(table, ["name", "value"]):
            for row, name in enumerate(self._values(names)):
                if isinstance(name, str) and (name == key or name.endswith(f":{key}")):
                    (value,) = self._values(values.slice(row, 1))
                    return None if value is None else str(value)
        return None


def _taken(values: pa.Array, rows: pa.Array) -> pa.Array:
    """Return some rows of a column; of texts stored as views Arrow cannot take them."""
    import pyarrow as pa

    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    elif pa.types.is_binary_view(values.type):
        values = values.cast(pa.large_binary())
    return values.take(rows)


def _places_of(text: str, values: list[object]) -> IntArray:
    """Return where a column of texts holds a text."""
    texts = enumerate(values)
    return np.array([row for row, each in texts if isinstance(each, str) and text in each], dtype=np.int64)
