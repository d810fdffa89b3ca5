"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on.

Columns of integers come from the pages of the file, or row by row where something in these is unusual.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.cells import NULL, NoWholeNumberError, whole_numbers
from sampling.readers.input_file import InputFile
from sampling.readers.nsys_export import read_export
from sampling.readers.nsys_tables import STRINGS, TEXT, NsysTables, spelled
from sampling.readers.sqlite_file import SQLITE, NotPlainError, OpenDatabase, open_database, read_table

FORMAT = "nsys-sqlite"

_ROWS_AT_ONCE = 1 << 15
_IDS_OF_ONE_QUERY = 10_000
_OF_NSYS = re.compile(r"CUPTI_ACTIVITY_KIND_\w+|StringIds|TARGET_INFO_\w+", re.IGNORECASE)
_OF_NVPROF = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
# What SQL calls the number of a row, where no column has that name
_ROW_NUMBERS = ("rowid", "_rowid_", "oid")
# A column that is generated when it is read; one that is generated when it is written stands in the row.
_IN_NO_ROW = 2


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database; ``read`` refuses those that nsys did not write."""
    return file.head.startswith(SQLITE)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Read the export.

    Raises ProfileError: the database is damaged, none of nsys', or without kernel launches.
    """
    with opened_tables(file) as tables:
        if _OF_NVPROF in tables.names:
            raise ProfileError(
                "a database of nvprof's, and such are not read",
                path=file.path,
                remedy="give what `nvprof --import-profile FILE --print-gpu-trace --csv --log-file F` writes",
            )
        if not any(map(_OF_NSYS.fullmatch, tables.names)):
            raise ProfileError(
                "a SQLite database of neither nsys nor rocprofv3: it has none of their tables",
                path=file.path,
                remedy="give what `nsys export --type sqlite REPORT.nsys-rep` writes, or on AMD what "
                "`rocprofv3 --kernel-trace --output-format rocpd` does",
            )
        return read_export(tables, file, kernels, progress, partial(opened_tables, file))


@contextmanager
def opened_tables(file: InputFile) -> Iterator[NsysTables]:
    """Open the tables of a database, whoever wrote it.

    Raises ProfileError: it is damaged or cannot be used as it lies there; also from all that is done with it.
    """
    with open_database(file, "export it again with `nsys export --type sqlite REPORT.nsys-rep`") as database:
        yield _SqliteTables(file.path, database)


class _Table(NamedTuple):
    """A table or view as its pages and SQL have it."""

    root: int  #: the page at which its rows begin, 0 for a view
    #: by name, the place of each column in a row of the file; None where SQLite alone knows it
    columns: dict[str, int | None]
    stored: int  #: how many columns a row of the file has
    row_number: str | None  #: what SQL calls it; None: rows of views and of some tables have none


class _SqliteTables(NsysTables):
    kind = "sqlite"

    def __init__(self, path: str, database: OpenDatabase) -> None:
        self._location, self._connection = database.location, database.connection
        query = "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view')"
        self._roots = {spelled(name): root or 0 for name, root in self._connection.execute(query)}
        self._tables: dict[str, _Table] = {}
        super().__init__(path, self._roots)

    def _table(self, table: str) -> _Table:
        if table not in self._tables:
            self._tables[table] = self._described(table)
        return self._tables[table]

    def _described(self, table: str) -> _Table:
        root, columns, stored = self._roots[table], dict[str, int | None](), 0
        query = "SELECT name, pk, hidden FROM pragma_table_xinfo(?)"
        for name, key, hidden in self._connection.execute(query, (table,)):
            # A primary key may be the number of the row, and is then not in it.
            columns[spelled(name)] = None if key or hidden == _IN_NO_ROW else stored
            stored += hidden != _IN_NO_ROW
        present = {name.casefold() for name in columns}
        number = next((name for name in _ROW_NUMBERS if name not in present), None) if root else None
        if number is not None:
            try:
                self._connection.execute(f'SELECT {number} FROM "{table}" LIMIT 0')  # noqa: S608
            except sqlite3.OperationalError:
                number = None
        return _Table(root, columns, stored, number)

    def _select(self, columns: str, table: str, rest: str = "") -> str:
        # Tables and columns cannot be bound as parameters; these names are nsys' own.
        return f'SELECT {columns} FROM "{table}" {rest}'  # noqa: S608

    def _in_order(self, table: str) -> str:
        """Return what has rows come as they stand in the file, where an index would give another order."""
        number = self._table(table).row_number
        return "" if number is None else f"ORDER BY {number}"

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        return frozenset(self._table(table).columns if table in self.names else ())

    def most_rows(self, table: str) -> int:
        """Return the number of the last row: more than there are where some were deleted."""
        if table not in self.names:
            return 0
        number = self._table(table).row_number
        count = "COUNT(*)" if number is None else f"IFNULL(MAX({number}), 0)"
        return int(self._connection.execute(self._select(count, table)).fetchone()[0])

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts, from the pages of the file or, where these are unusual, row by row."""
        pages = self._table(table)
        places = [place for name in columns if (place := pages.columns[name]) is not None]
        rows = 0
        try:
            if not pages.root or len(places) < len(columns):
                raise NotPlainError
            for part in read_table(self._location, pages.root, pages.stored, places):
                yield part
                rows += len(part[0])
        except NotPlainError:
            yield from self._row_by_row(table, columns, rows)

    def _row_by_row(self, table: str, columns: Sequence[str], first: int) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts, but for the first ones."""
        selected = ", ".join(f'IFNULL("{name}", {NULL})' for name in columns)
        rest = f"{self._in_order(table)} LIMIT -1 OFFSET {first}"
        cursor = self._connection.execute(self._select(selected, table, rest))
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                yield list(whole_numbers(rows))
            except NoWholeNumberError as error:
                raise self.not_integers(columns[error.column], error, first + error.row + 1) from None
            first += len(rows)

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows one by one."""
        if present := self.columns(table):
            values = ", ".join(f'"{name}"' if name in present else "NULL" for name in columns)
            yield from self._connection.execute(self._select(values, table, self._in_order(table)))

    def strings(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return texts by id."""
        texts: dict[int, object] = {}
        for first in range(0, len(ids) if self.has(STRINGS, *TEXT) else 0, _IDS_OF_ONE_QUERY):
            listed = ", ".join(str(int(number)) for number in ids[first : first + _IDS_OF_ONE_QUERY])
            query = self._select("id, value", STRINGS, f"WHERE id IN ({listed})")
            texts.update(self._connection.execute(query))
        return {number: text for number, text in texts.items() if isinstance(text, str)}


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (opened_tables,)
