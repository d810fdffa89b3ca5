"""A big table of an nsys SQLite export, read by several threads: ranges of rows, each in Arrow columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.parallel import ordered_map
from sampling.readers.nsys.tables import EXPORT_AGAIN, NULL
from sampling.readers.sqlite_file import damaged

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_OF_ONE_QUERY = 1 << 16
QUERIES_OF_ONE_PART = 7
_FEWEST_BYTES_OF_A_ROW = 8

# CUPTI counts these in 32 bits (the names are ids of StringIds). Two of them are packed into one column,
# because passing a value to Arrow takes longer than all of SQLite's own work on it.
_NAMES_AND_PLACE = ("demangledName", "shortName", "deviceId", "streamId")
_DIMENSIONS = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_NARROW = frozenset({*_NAMES_AND_PLACE, *_DIMENSIONS})
_HALF = 32


def row_ranges(first: int, last: int, file_bytes: int) -> list[tuple[int, int]]:
    """Return ranges [from, to) that cover the row numbers ``first`` to ``last`` in steps of one query.

    Where rows were deleted the numbers have gaps: there are at most as many ranges as the file has room for.
    """
    most = 1 + file_bytes // (_FEWEST_BYTES_OF_A_ROW * ROWS_OF_ONE_QUERY)
    ranges = max(1, min(most, 1 + (last - first) // ROWS_OF_ONE_QUERY))
    return list(pairwise(first + (last + 1 - first) * each // ranges for each in range(ranges + 1)))


@dataclass(frozen=True, slots=True)
class ParallelReader:
    """Reads integer columns of one table.

    Attributes
    ----------
    path : of the database, for messages.
    uri : opens it for reading.
    source : the FROM clause.
    nullable : for every column whether it may hold NULL.
    """

    path: str
    uri: str
    source: str
    nullable: Mapping[str, bool]

    def parts(self, columns: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[list[IntArray]]:
        """Yield the rows in order, the ranges of several queries at a time, NULL as ``NULL``.

        Raises
        ------
        ProfileError : the database is damaged, or a column holds something else than integers.
        """
        groups = self._groups(columns)
        queried = ordered_map(lambda rows: self._read(groups, rows), ranges)
        while some := list(islice(queried, QUERIES_OF_ONE_PART)):
            joined = {name: np.concatenate([part[name] for part in some]) for name in columns}
            some.clear()
            if len(joined[columns[0]]):
                yield [joined.pop(name) for name in columns]

    def _groups(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the columns in groups of those that are packed together."""
        narrow = [name for name in columns if name in _NARROW and not self.nullable[name]]
        pairs = list(zip(narrow[::2], narrow[1::2], strict=False))
        paired = {name for pair in pairs for name in pair}
        return [*pairs, *((name,) for name in columns if name not in paired)]

    def _value(self, group: tuple[str, ...]) -> str:
        if len(group) == 2:
            return f'("{group[0]}" << {_HALF}) | "{group[1]}"'
        return f'IFNULL("{group[0]}", {NULL})' if self.nullable[group[0]] else f'"{group[0]}"'

    def _read(self, groups: Sequence[tuple[str, ...]], rows: tuple[int, int]) -> dict[str, IntArray]:
        """Read the rows numbered from ``rows[0]`` to below ``rows[1]`` through a connection of their own."""
        import pyarrow as pa

        values = ", ".join(map(self._value, groups))
        table = self._queried(f"SELECT {values} {self.source} WHERE rowid >= {rows[0]} AND rowid < {rows[1]}")
        columns: dict[str, IntArray] = {}
        for group, column in zip(groups, table.columns, strict=True):
            if not pa.types.is_int64(column.type):
                raise not_integers(self.path, group[0])
            numbers = to_numpy(column)
            halves = (numbers >> _HALF, numbers & (1 << _HALF) - 1) if len(group) == 2 else (numbers,)
            columns.update(zip(group, halves, strict=True))
        return columns

    def _queried(self, query: str) -> pa.Table:
        import adbc_driver_manager
        import adbc_driver_sqlite
        import pyarrow as pa

        try:
            with (
                adbc_driver_sqlite.connect(self.uri) as database,
                adbc_driver_manager.AdbcConnection(database) as connection,
                adbc_driver_manager.AdbcStatement(connection) as statement,
            ):
                batch_rows = adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value
                statement.set_options(**{batch_rows: str(ROWS_OF_ONE_QUERY)})
                statement.set_sql_query(query)
                stream, _ = statement.execute_query()
                return pa.RecordBatchReader._import_from_c(stream.address).read_all()
        except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
            raise damaged(self.path, str(error), EXPORT_AGAIN.format("sqlite")) from error


def not_integers(path: str, column: str) -> ProfileError:
    """Return the error for a column that nsys did not fill."""
    return ProfileError(
        "the column holds something else than integers",
        path=path,
        column=column,
        remedy=EXPORT_AGAIN.format("sqlite"),
    )
