"""nsys SQLite exports (`nsys export --type sqlite`), of every version from 2020.4 on.

Columns of integers come from the pages of the file, or row by row where something in these is unusual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import SQLITE, InputFile, OpenDatabase, open_database
from sampling.readers.nsys_export import NULL, STRINGS, NsysTables, read_export
from sampling.readers.sqlite_pages import NotPlainError, read_table

FORMAT = "nsys-sqlite"

_ROWS_AT_ONCE = 1 << 15
_IDS_OF_ONE_QUERY = 10_000
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

    def _columns(self, table: str) -> dict[str, tuple[int, bool]]:
        """Return the columns of a table: the place of each, and whether it is of the primary key."""
        query = "SELECT name, cid, pk FROM pragma_table_info(?)"
        return {name: (place, key > 0) for name, place, key in self._connection.execute(query, (table,))}

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""
        return frozenset(self._columns(table))

    def most_rows(self, table: str) -> int:
        """Return the number of the last row: more than there are where some were deleted."""
        query = self._select("IFNULL(MAX(rowid), 0)", table) if table in self.names else "SELECT 0"
        return int(self._connection.execute(query).fetchone()[0])

    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts, from the pages of the file or, where these are unusual, row by row."""
        present = self._columns(table)
        wanted = [present[name] for name in columns]
        query = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
        (root,) = self._connection.execute(query, (table,)).fetchone()
        done = 0
        try:
            if any(is_key for _, is_key in wanted):
                raise NotPlainError
            for part in read_table(self._location, root, len(present), [place for place, _ in wanted]):
                yield part
                done += len(part[0])
        except NotPlainError:
            yield from self._row_by_row(table, columns, done)

    def _row_by_row(self, table: str, columns: Sequence[str], done: int) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts, but for the first ones."""
        select = self._select(", ".join(f'IFNULL("{name}", {NULL})' for name in columns), table)
        cursor = self._connection.execute(
            f"{select} ORDER BY rowid LIMIT -1 OFFSET {done}" if done else select
        )
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                part = np.array(rows, dtype=np.int64)
            except (ValueError, TypeError, OverflowError):
                odd = (place for row in rows for place, cell in enumerate(row) if type(cell) is not int)
                raise self.not_integers(columns[next(odd)]) from None
            yield list(np.ascontiguousarray(part.T))

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
