"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.export import read_export
from sampling.readers.nsys.sqlite_parallel import ParallelReader, not_integers, row_ranges
from sampling.readers.nsys.tables import EXPORT_AGAIN, NULL, STRINGS, NsysTables, is_nsys_table
from sampling.readers.sqlite_file import MAGIC, OpenDatabase, open_database, uri

FORMAT = "nsys-sqlite"

# Importing Arrow takes as long as reading this much row by row.
BY_SEVERAL_THREADS_FROM_BYTES = 64 << 20
# Tables of the first rocprof, of other tools of ROCm, and of MIOpen's caches.
_OF_ROCM = re.compile(r"(?i)hip|hsa|kfd|.*roc(m|pd|prof|tx).*|kern_db|perf_db")
_ROCPROFV3 = "`rocprofv3 --kernel-trace --output-format rocpd`, and give the database that it writes"
_ROWS_AT_ONCE = 1 << 15
_IDS_OF_ONE_QUERY = 10_000


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database; ``read`` refuses those that nsys did not write."""
    return file.head.startswith(MAGIC)


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
    with open_database(file, EXPORT_AGAIN.format("sqlite")) as database:
        yield _SqliteTables(file.path, database)


def _refuse_others(tables: _SqliteTables) -> None:
    if any(is_nsys_table(name) for name in tables.names):
        return
    remedy = f"on AMD record with {_ROCPROFV3}"
    if not any(map(_OF_ROCM.fullmatch, tables.names)):
        remedy = f"give the output of `nsys export --type sqlite REPORT.nsys-rep`; {remedy}"
    raise ProfileError(
        "a SQLite database of neither nsys nor rocprofv3: it has none of their tables",
        path=tables.path,
        remedy=remedy,
    )


class _SqliteTables(NsysTables):
    def __init__(self, path: str, database: OpenDatabase) -> None:
        self._location = database.location
        self._connection = database.connection
        super().__init__(path, database.tables)

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
        reader = ParallelReader(self.path, uri(self._location), self._from(table), nullable)
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
