"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.export import read_export
from sampling.readers.nsys.sqlite_parallel import ParallelReader, damaged, not_integers, row_ranges
from sampling.readers.nsys.tables import EXPORT_AGAIN, NULL, STRINGS, NsysTables, is_nsys_table

FORMAT = "nsys-sqlite"

_MAGIC = b"SQLite format 3\0"

# Importing Arrow takes as long as reading this much row by row.
BY_SEVERAL_THREADS_FROM_BYTES = 64 << 20
_ROWS_AT_ONCE = 1 << 15
_IDS_OF_ONE_QUERY = 10_000


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database; ``read`` refuses those that nsys did not write."""
    return file.head.startswith(_MAGIC)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises
    ------
    ProfileError : the database is damaged, none of nsys', or without kernel launches.
    """
    with _opened(file) as tables:
        _refuse_others(tables)
        profile_file = ProfileFile(file.path, file.location, 0)
        return read_export(tables, profile_file, FORMAT, kernels, progress, partial(_opened, file))


@contextmanager
def _opened(file: InputFile) -> Iterator[_SqliteTables]:
    with (
        file.on_disk() as location,
        _damage_reported(file.path),
        closing(_connected(location)) as connection,
    ):
        _refuse_truncated(file, location)
        yield _SqliteTables(file.path, location, connection)


def _uri(location: Path) -> str:
    """Return the address that opens a database for reading only, any character in its path."""
    location = location.resolve()
    # In a folder that cannot be written to, SQLite opens a database in write-ahead mode only as immutable.
    immutable = "" if os.access(location.parent, os.W_OK) else "&immutable=1"
    return f"{location.as_uri()}?mode=ro{immutable}"


def _connected(location: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(_uri(location), uri=True)
    connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
    return connection


@contextmanager
def _damage_reported(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise damaged(path, str(error)) from error


def _refuse_truncated(file: InputFile, location: Path) -> None:
    """Compare the size with the header's; SQLite itself notices a missing page only when it reads it."""
    page_bytes = int.from_bytes(file.head[16:18])
    page_bytes = 1 << 16 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(file.head[28:32])
    counted = file.head[24:28] == file.head[92:96]
    there = location.stat().st_size
    if counted and there < pages * page_bytes:
        raise damaged(file.path, f"{there:,} of {pages * page_bytes:,} bytes are there")


def _refuse_others(tables: _SqliteTables) -> None:
    if any(is_nsys_table(name) for name in tables.names):
        return
    if any(name.startswith("rocpd_") for name in tables.names):
        raise ProfileError(
            "a rocprofv3 database (rocpd), which this version does not read",
            path=tables.path,
            remedy="record the run with the PyTorch profiler and give its Kineto trace",
        )
    raise ProfileError(
        "a SQLite database, but not an nsys export: it has none of the tables that nsys writes",
        path=tables.path,
        remedy="give the output of `nsys export --type sqlite REPORT.nsys-rep`",
    )


class _SqliteTables(NsysTables):
    def __init__(self, path: str, location: Path, connection: sqlite3.Connection) -> None:
        self._location = location
        self._connection = connection
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        super().__init__(path, [name for (name,) in connection.execute(query)])

    def _from(self, table: str) -> str:
        stored = (self.stored_name(table) or table).replace('"', '""')
        return f'FROM "{stored}"'

    def _select(self, what: str, table: str) -> str:
        # Tables and columns cannot be bound as parameters; these names come from the file's own schema.
        return f"SELECT {what} {self._from(table)}"

    def _number(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0])

    def _nullable(self, table: str) -> dict[str, bool]:
        """Return the columns of a table and whether they may hold NULL."""
        query = 'SELECT name, "notnull" FROM pragma_table_info(?)'
        return {
            name: not never for name, never in self._connection.execute(query, (self.stored_name(table),))
        }

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        return frozenset(self._nullable(table))

    def row_count(self, table: str) -> int:
        """Count the rows."""
        return self._number(self._select("COUNT(*)", table)) if self.has(table) else 0

    def row_bound(self, table: str) -> int:
        """Return how far the row numbers span."""
        if not self.has(table):
            return 0
        first, last = self._row_numbers(table)
        return last - first + 1

    def _row_numbers(self, table: str) -> tuple[int, int]:
        # Two queries: SQLite finds a minimum or maximum at once only if it is asked for nothing else.
        first = self._number(self._select("IFNULL(MIN(rowid), 1)", table))
        return first, self._number(self._select("IFNULL(MAX(rowid), 0)", table))

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: row by row from a small file, by several threads from a big one."""
        nullable = self._nullable(table)
        file_bytes = self._location.stat().st_size
        if file_bytes < BY_SEVERAL_THREADS_FROM_BYTES:
            values = [f'IFNULL("{name}", {NULL})' if nullable[name] else f'"{name}"' for name in columns]
            return self._row_by_row(self._select(", ".join(values), table), columns)
        reader = ParallelReader(self.path, _uri(self._location), self._from(table), nullable)
        return reader.parts(columns, row_ranges(*self._row_numbers(table), file_bytes))

    def _row_by_row(self, query: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        cursor = self._connection.execute(query)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                table = np.array(rows, dtype=np.int64)
            except (ValueError, TypeError, OverflowError):
                at_fault = (
                    c for c, name in enumerate(columns) if not all(type(row[c]) is int for row in rows)
                )
                raise not_integers(self.path, columns[next(at_fault)]) from None
            yield list(np.ascontiguousarray(table.T))

    def rows(
        self, table: str, columns: Sequence[str], *, containing: tuple[str, str] | None = None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows one by one; SQLite itself searches for those that contain a text."""
        present = self.columns(table)
        if not present or (containing is not None and containing[0] not in present):
            return
        query = self._select(", ".join(f'"{name}"' if name in present else "NULL" for name in columns), table)
        if containing is None:
            yield from self._connection.execute(query)
        else:
            column, text = containing
            yield from self._connection.execute(f'{query} WHERE instr("{column}", ?) > 0', (text,))

    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return texts by id."""
        if not self.has(STRINGS, "id", "value"):
            return {}
        texts: dict[int, str] = {}
        for first in range(0, len(ids), _IDS_OF_ONE_QUERY):
            wanted = ", ".join(str(int(each)) for each in ids[first : first + _IDS_OF_ONE_QUERY])
            query = self._select("id, value", STRINGS) + f" WHERE id IN ({wanted}) AND value IS NOT NULL"
            texts.update(self._connection.execute(query))
        if not all(isinstance(text, str) for text in texts.values()):
            raise ProfileError(
                f"a text of the table {STRINGS} is stored as something else",
                path=self.path,
                column="value",
                remedy=EXPORT_AGAIN.format("sqlite"),
            )
        return texts

    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key."""
        if not self.has(table, "name", "value"):
            return None
        query = self._select("value", table) + " WHERE name = ?1 OR substr(name, -length(?2)) = ?2"
        row = self._connection.execute(query, (key, f":{key}")).fetchone()
        return None if row is None or row[0] is None else str(row[0])
