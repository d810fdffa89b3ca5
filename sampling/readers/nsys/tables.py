"""The tables of an nsys export, read by the names of tables and columns, whatever they are stored in.

The table and column names are those of the SQLite export of every nsys version from 2020.4 to 2026.2; the
folder exports (parquetdir, arrowdir) have one file a table with the same names.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from sampling.arrays import IntArray

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
NVTX = "NVTX_EVENTS"
STRINGS = "StringIds"

#: The value of an integer column where the table has NULL.
NULL = int(np.iinfo(np.int64).min)

EXPORT_AGAIN = "export it again with `nsys export --type {} REPORT.nsys-rep`"

_NSYS_TABLE = re.compile(r"CUPTI_ACTIVITY_KIND_\w+|StringIds|TARGET_INFO_\w+")


def is_nsys_table(name: str) -> bool:
    """Return whether nsys writes a table of this name, and nobody else does."""
    return _NSYS_TABLE.fullmatch(name) is not None


class NsysTables(ABC):
    """The tables of one export, read by name.

    Tables are written only when they have rows, so any may be absent; an absent one has no columns and no
    rows. Exports by other tools have names with a version suffix (``..._V2``): where the plain name is
    absent, the table with the highest suffix is read.

    Attributes
    ----------
    path : of the export as the user gave it, for messages.
    """

    def __init__(self, path: str, stored: Collection[str]) -> None:
        self.path = path
        self.names = frozenset(stored)

    def stored_name(self, table: str) -> str | None:
        """Return the name under which the export holds a table, None where it has no such table."""
        if table in self.names:
            return table
        suffix = re.compile(re.escape(table) + r"_V(\d+)")
        versions = [(int(match[1]), name) for name in self.names if (match := suffix.fullmatch(name))]
        return max(versions)[1] if versions else None

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the export has a table with all these columns."""
        return self.stored_name(table) is not None and self.columns(table).issuperset(columns)

    @abstractmethod
    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""

    @abstractmethod
    def row_count(self, table: str) -> int:
        """Return the number of rows; may scan the table."""

    @abstractmethod
    def row_bound(self, table: str) -> int:
        """Return at once a number of rows that the table does not exceed, for progress."""

    @abstractmethod
    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: one (n,) int64 array for each column, NULL as ``NULL``.

        Raises
        ------
        ProfileError : the export is damaged, or a column holds something else than integers.
        """

    def records(self, table: str, columns: Sequence[str]) -> list[Mapping[str, object]]:
        """Return the rows of a small table; a column it lacks is None in all of them."""
        return [dict(zip(columns, row, strict=True)) for row in self.rows(table, columns)]

    @abstractmethod
    def rows(
        self, table: str, columns: Sequence[str], *, containing: tuple[str, str] | None = None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a table one by one; a column it lacks is None in all of them.

        Parameters
        ----------
        containing : one of the columns, of texts, and what must be part of the text; None: all rows.
        """

    @abstractmethod
    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the texts of ``StringIds``; ids without one are left out."""

    @abstractmethod
    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key of a (name, value) table; the key may carry a prefix "PROCESS_0:".

        These tables also hold command lines and environment variables, so no other row is looked at.
        """
