"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on.

A small one is read row by row, a big one by several threads: ranges of rows, each in Arrow columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from sampling.arrays import IntArray, to_numpy
from sampling.errors import ProfileError
from sampling.parallel import Progress, ordered_map
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import SQLITE, InputFile, OpenDatabase, damaged, open_database, uri
from sampling.readers.nsys_export import NULL, STRINGS, NsysTables, read_export

FORMAT = "nsys-sqlite"

# Importing Arrow takes as long as reading this much row by row.
BY_SEVERAL_THREADS_FROM_BYTES = 64 << 20
ROWS_OF_ONE_QUERY = 1 << 16
QUERIES_OF_ONE_PART = 7
_FEWEST_BYTES_OF_A_ROW = 8
_ROWS_AT_ONCE = 1 << 15
_IDS_OF_ONE_QUERY = 10_000

# CUPTI counts these in 32 bits (the names are ids of StringIds). Two of them are packed into one column,
# because passing a value to Arrow takes longer than all of SQLite's own work on it.
_NARROW = frozenset({"demangledName", "shortName", "deviceId", "streamId"}) | {
    f"{size}{axis}" for size in ("grid", "block") for axis in "XYZ"
}
_HALF = 32
_OF_NSYS = re.compile(r"CUPTI_ACTIVITY_KIND_\w+|StringIds|TARGET_INFO_\w+")


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database; ``read`` refuses those that nsys did not write."""
    return file.head.startswith(SQLITE)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises ProfileError: the database is damaged, none of nsys', or without kernel launches.
    """
    with _opened(file) as tables:
        if not any(map(_OF_NSYS.fullmatch, tables.names)):
            raise ProfileError(
                "a SQLite database of neither nsys nor rocprofv3: it has none of their tables",
                path=file.path,
                remedy="give what `nsys export --type sqlite REPORT.nsys-rep` writes, or on AMD what "
                "`rocprofv3 --kernel-trace --output-format rocpd` does",
            )
        return read_export(tables, file, kernels, progress, partial(_opened, file))


@contextmanager
def _opened(file: InputFile) -> Iterator[_SqliteTables]:
    with open_database(file, "export it again with `nsys export --type sqlite REPORT.nsys-rep`") as database:
        yield _SqliteTables(file.path, database)


class _SqliteTables(NsysTables):
    kind = "sqlite"

    def __init__(self, path: str, database: OpenDatabase) -> None:
        self._location, self._connection = database.location, database.connection
        super().__init__(path, database.tables)

    def _select(self, what: str, table: str) -> str:
        # Tables and columns cannot be bound as parameters; these names are nsys' own.
        return f'SELECT {what} FROM "{table}"'  # noqa: S608

    def _row_number(self, which: str, table: str) -> int:
        """Return the MIN or MAX of the row numbers, 0 where there is none; of both at once SQLite is slow."""
        query = self._select(f"IFNULL({which}(rowid), 0)", table) if table in self.names else "SELECT 0"
        return int(self._connection.execute(query).fetchone()[0])

    def _nullable(self, table: str) -> dict[str, bool]:
        """Return the columns of a table and whether they may hold NULL."""
        query = 'SELECT name, NOT "notnull" FROM pragma_table_info(?)'
        return dict(self._connection.execute(query, (table,)))

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        return frozenset(self._nullable(table))

    def most_rows(self, table: str) -> int:
        """Return the number of the last row: more than there are where some were deleted."""
        return self._row_number("MAX", table)

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: row by row from a small file, by several threads from a big one."""
        nullable = self._nullable(table)
        values = {name: f'IFNULL("{name}", {NULL})' if nullable[name] else f'"{name}"' for name in columns}
        if self._location.stat().st_size >= BY_SEVERAL_THREADS_FROM_BYTES:
            narrow = [name for name in columns if name in _NARROW and not nullable[name]]
            yield from self._by_several_threads(table, values, narrow)
            return
        cursor = self._connection.execute(self._select(", ".join(values.values()), table))
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                part = np.array(rows, dtype=np.int64)
            except (ValueError, TypeError, OverflowError):
                odd = (place for row in rows for place, cell in enumerate(row) if type(cell) is not int)
                raise self.not_integers(columns[next(odd)]) from None
            yield list(np.ascontiguousarray(part.T))

    def _by_several_threads(
        self, table: str, values: Mapping[str, str], narrow: Sequence[str]
    ) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in order, the ranges of several queries at a time.

        ``values`` are the expressions of the columns, of which the narrow ones are packed in pairs.
        """
        pairs = list(zip(narrow[::2], narrow[1::2], strict=False))
        paired = {name for pair in pairs for name in pair}
        groups: dict[tuple[str, ...], str] = {
            (high, low): f"({values[high]} << {_HALF}) | {values[low]}" for high, low in pairs
        }
        groups |= {(name,): value for name, value in values.items() if name not in paired}
        select = self._select(", ".join(groups.values()), table)

        def columns_of(rows: tuple[int, int]) -> dict[str, IntArray]:
            columns: dict[str, IntArray] = {}
            found = self._queried(f"{select} WHERE rowid >= {rows[0]} AND rowid < {rows[1]}")
            for group, column in zip(groups, found.columns, strict=True):
                if str(column.type) != "int64":
                    raise self.not_integers(group[0])
                numbers = to_numpy(column)
                halves = (numbers >> _HALF, numbers & (1 << _HALF) - 1) if len(group) == 2 else (numbers,)
                columns.update(zip(group, halves, strict=True))
            return columns

        first, last = self._row_number("MIN", table), self._row_number("MAX", table)
        queried = ordered_map(columns_of, row_ranges(first, last + 1, self._location.stat().st_size))
        while some := list(islice(queried, QUERIES_OF_ONE_PART)):
            joined = {name: np.concatenate([part[name] for part in some]) for name in values}
            some.clear()
            if len(next(iter(joined.values()))):
                yield [joined.pop(name) for name in values]

    def _queried(self, query: str) -> Any:
        """Return the result as an Arrow table, through a connection of its own."""
        import adbc_driver_manager
        import adbc_driver_sqlite
        import pyarrow as pa

        try:
            with (
                adbc_driver_sqlite.connect(uri(self._location)) as database,
                adbc_driver_manager.AdbcConnection(database) as connection,
                adbc_driver_manager.AdbcStatement(connection) as statement,
            ):
                batch_rows = adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value
                statement.set_options(**{batch_rows: str(ROWS_OF_ONE_QUERY)})
                statement.set_sql_query(query)
                stream, _ = statement.execute_query()
                return pa.RecordBatchReader._import_from_c(stream.address).read_all()
        except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
            raise damaged(self.path, str(error), self.remedy) from error

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows one by one."""
        if present := self.columns(table):
            values = (f'"{name}"' if name in present else "NULL" for name in columns)
            yield from self._connection.execute(self._select(", ".join(values), table))

    def strings(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return texts by id."""
        texts: dict[int, object] = {}
        for first in range(0, len(ids) if self.has(STRINGS, "id", "value") else 0, _IDS_OF_ONE_QUERY):
            wanted = ", ".join(str(int(each)) for each in ids[first : first + _IDS_OF_ONE_QUERY])
            texts.update(
                self._connection.execute(f"{self._select('id, value', STRINGS)} WHERE id IN ({wanted})")
            )
        return {number: text for number, text in texts.items() if isinstance(text, str)}


def row_ranges(first: int, stop: int, file_bytes: int) -> list[tuple[int, int]]:
    """Return ranges [from, to) that cover the row numbers from ``first`` on in steps of one query.

    Where rows were deleted the numbers have gaps: there are at most as many ranges as the file has room for.
    """
    most = 1 + file_bytes // (_FEWEST_BYTES_OF_A_ROW * ROWS_OF_ONE_QUERY)
    ranges = max(1, min(most, 1 + (stop - 1 - first) // ROWS_OF_ONE_QUERY))
    return list(pairwise(first + (stop - first) * each // ranges for each in range(ranges + 1)))
