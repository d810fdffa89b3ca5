"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from sampling.errors import ProfileError
from sampling.parallel import ordered_map
from sampling.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.nsys_export import read_export
from sampling.readers.nsys_tables import EXPORT_AGAIN, NULL, STRINGS, Int64Array, NsysTables, is_nsys_table

FORMAT = "nsys-sqlite"

_MAGIC = b"SQLite format 3\0"
_EXPORT_AGAIN = EXPORT_AGAIN.format("sqlite")

# Importing Arrow costs as much as reading this much row by row.
_IN_ARROW_FROM_BYTES = 64 << 20
_ROWS_AT_ONCE = 1 << 15
_ROWS_OF_ONE_QUERY = 1 << 16
_QUERIES_OF_ONE_PART = 7
_FEWEST_BYTES_OF_A_ROW = 8
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
    with (
        file.on_disk() as location,
        _damage_reported(file.path),
        closing(_connected(location)) as connection,
    ):
        tables = _SqliteTables(file.path, location, connection)
        _refuse_others(tables)
        return read_export(tables, ProfileFile(file.path, file.location, 0), FORMAT, kernels, progress)


def _uri(location: Path) -> str:
    """Return the address that opens a database for reading only, any character in its path."""
    location = location.resolve()
    # Without leave to write beside it, SQLite cannot open a database that is in write-ahead mode otherwise.
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
        raise _damaged(path, str(error)) from error


def _damaged(path: str, reason: str) -> ProfileError:
    return ProfileError(
        f"the SQLite database is damaged or cut short ({reason})", path=path, remedy=_EXPORT_AGAIN
    )


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

    def _select(self, what: str, table: str) -> str:
        stored = (self.stored_name(table) or table).replace('"', '""')
        # Tables and columns cannot be bound as parameters; these names come from the file's own schema.
        return f'SELECT {what} FROM "{stored}"'  # noqa: S608

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
        # One query for each end: only alone does SQLite take it from the tree at once.
        first = self._number(self._select("IFNULL(MIN(rowid), 1)", table))
        return first, self._number(self._select("IFNULL(MAX(rowid), 0)", table))

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[Int64Array]]:
        """Yield the rows in parts: row by row from a small file, by several threads from a big one."""
        nullable = self._nullable(table)
        values = [f'IFNULL("{name}", {NULL})' if nullable[name] else f'"{name}"' for name in columns]
        query = self._select(", ".join(values), table)
        if self._location.stat().st_size < _IN_ARROW_FROM_BYTES:
            return self._row_by_row(query, columns)
        return self._range_by_range(query, columns, self._row_ranges(table))

    def _row_by_row(self, query: str, columns: Sequence[str]) -> Iterator[Sequence[Int64Array]]:
        cursor = self._connection.execute(query)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                table = np.array(rows, dtype=np.int64)
            except (ValueError, TypeError, OverflowError):
                at_fault = (
                    c for c, name in enumerate(columns) if not all(type(row[c]) is int for row in rows)
                )
                raise _not_integers(self.path, columns[next(at_fault)]) from None
            yield list(np.ascontiguousarray(table.T))

    def _range_by_range(
        self, query: str, columns: Sequence[str], ranges: Sequence[tuple[int, int]]
    ) -> Iterator[Sequence[Int64Array]]:
        uri = _uri(self._location)
        queried = ordered_map(lambda rows: _read_range(uri, query, rows, columns, self.path), ranges)
        while some := list(islice(queried, _QUERIES_OF_ONE_PART)):
            joined = [np.concatenate(column) for column in zip(*some, strict=True)]
            some.clear()
            if len(joined[0]):
                yield joined

    def _row_ranges(self, table: str) -> list[tuple[int, int]]:
        first, last = self._row_numbers(table)
        # Where rows were deleted the numbers are sparse: as many parts as the file has room for, no more.
        most = 1 + self._location.stat().st_size // (_FEWEST_BYTES_OF_A_ROW * _ROWS_OF_ONE_QUERY)
        parts = min(most, 1 + (last - first) // _ROWS_OF_ONE_QUERY)
        return list(pairwise(first + (last + 1 - first) * part // parts for part in range(parts + 1)))

    def records(self, table: str, columns: Sequence[str]) -> list[Mapping[str, object]]:
        """Return the rows of a small table."""
        present = self.columns(table)
        if not present:
            return []
        values = [f'"{name}"' if name in present else "NULL" for name in columns]
        rows = self._connection.execute(self._select(", ".join(values), table))
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return texts by id."""
        if not self.has(STRINGS, "id", "value"):
            return {}
        texts: dict[int, str] = {}
        for first in range(0, len(ids), _IDS_OF_ONE_QUERY):
            wanted = ", ".join(str(int(each)) for each in ids[first : first + _IDS_OF_ONE_QUERY])
            query = self._select("id, value", STRINGS) + f" WHERE id IN ({wanted}) AND value IS NOT NULL"
            texts.update(self._connection.execute(query))
        return texts

    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key."""
        if not self.has(table, "name", "value"):
            return None
        query = self._select("value", table) + " WHERE name = ?1 OR substr(name, -length(?2)) = ?2"
        row = self._connection.execute(query, (key, f":{key}")).fetchone()
        return None if row is None or row[0] is None else str(row[0])


def _not_integers(path: str, column: str) -> ProfileError:
    return ProfileError(
        "the column holds something else than integers", path=path, column=column, remedy=_EXPORT_AGAIN
    )


def _read_range(
    uri: str, query: str, rows: tuple[int, int], columns: Sequence[str], path: str
) -> list[Int64Array]:
    """Read the rows numbered from ``rows[0]`` to below ``rows[1]`` through a connection of their own."""
    import adbc_driver_manager
    import adbc_driver_sqlite
    import pyarrow as pa

    try:
        with (
            adbc_driver_sqlite.connect(uri) as database,
            adbc_driver_manager.AdbcConnection(database) as connection,
            adbc_driver_manager.AdbcStatement(connection) as statement,
        ):
            batch_rows = adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value
            statement.set_options(**{batch_rows: str(_ROWS_OF_ONE_QUERY)})
            statement.set_sql_query(f"{query} WHERE rowid >= {rows[0]} AND rowid < {rows[1]}")
            stream, _ = statement.execute_query()
            table = pa.RecordBatchReader._import_from_c(stream.address).read_all()
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
        raise _damaged(path, str(error)) from error
    for column, values in zip(columns, table.columns, strict=True):
        if not pa.types.is_int64(values.type):
            raise _not_integers(path, column)
    return [values.to_numpy() for values in table.columns]
