"""Any table of text with a row a launch: CSV, or the same with semicolons or tabs.

``name`` and ``duration_ns`` are required, under these names or those that the user gives; any other column of
numbers is a metric. Launches are in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import nulls_as, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    first_line,
    header_cells,
    names,
    nanoseconds,
    parse,
    pieces,
    texts,
)
from sampling.readers.file_content import is_binary, is_json
from sampling.readers.input_file import InputFile
from sampling.readers.tables.column_map import DIMENSIONS, GRID, REQUIRED, TIMES, NamedColumn
from sampling.readers.tables.dimension_cells import WRITTEN, dimensions_of
from sampling.readers.tables.matched_columns import matched_columns
from sampling.readers.tables.text_metrics import Metrics

FORMAT = "csv"

_SEPARATORS = (",", "\t", ";")
_CORRECT_CELL = "correct the cell or leave the row out"
# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19
_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
# A total of many launches must fit in 64 bits.
_MOST_NS = 1 << 62
# What a list of drawn launches has, as `sample --format csv` and `export --to csv` write it.
_OF_A_PLAN = {"id", "weight", "duration_ns"}


@dataclass(frozen=True, slots=True)
class _Header:
    """The first line that is not empty, by the separator that it shows."""

    cells: tuple[str, ...]
    separator: str


def recognise(file: InputFile) -> bool:
    """Return whether this is a table of launches: by its header, or because the user names its columns."""
    if not file.head.strip() or is_binary(file):
        return False
    if file.columns is not None and not file.columns.where_present:
        return not is_json(file)
    try:
        matched_columns(file.columns, _header(file).cells, file.path)
    except ProfileError:
        return False
    return True


def has_columns(file: InputFile) -> bool:
    """Return whether the header has the columns of a launch, and is not that of a plan's list."""
    header = _header(file)
    if _is_of_a_plan(file, header):
        return False
    try:
        matched_columns(file.columns, header.cells, file.path)
    except ProfileError:
        return False
    return True


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the rows as launches.

    Raises
    ------
    ProfileError : a column is not there; a cell holds no number, no time or no grid; there is no row; the
        rows are the launches that a plan draws.
    """
    header = _header(file)
    if _is_of_a_plan(file, header):
        raise ProfileError(
            "a list of the launches that a plan draws, not of all that a program made",
            path=file.path,
            remedy="give the profile that the plan was made from",
        )
    matched = matched_columns(file.columns, header.cells, file.path)
    table = _LaunchRows(file, header, matched, kernels)
    for start, text in pieces(file, progress):
        skipped = len(first_line(text)) if start == 0 else 0
        if text[skipped:].strip():
            table.take(start + skipped, text[skipped:])
    if table.rows == 0:
        raise ProfileError(
            "a table of launches without a single row", path=file.path, remedy="write it with a row a launch"
        )
    return table.profile()


def _is_of_a_plan(file: InputFile, header: _Header) -> bool:
    return file.columns is None and set(header.cells) >= _OF_A_PLAN


def _header(file: InputFile) -> _Header:
    """Return the header by the separator that finds most of the columns that count in it."""
    line = first_line(file.head.removeprefix(b"\xef\xbb\xbf"))
    named = () if file.columns is None else file.columns.columns
    wanted = {*REQUIRED, *(column.theirs for column in named)}
    headers = [
        _Header(tuple(cell.strip() for cell in header_cells(line, separator)), separator)
        for separator in _SEPARATORS
    ]
    # Of equals, max takes the first: the comma.
    return max(headers, key=lambda header: (len(wanted & set(header.cells)), len(header.cells)))


class _LaunchRows:
    """Takes a table piece by piece."""

    def __init__(
        self, file: InputFile, header: _Header, matched: Mapping[str, NamedColumn], kernels: KernelTable
    ) -> None:
        self.rows = 0
        self._file = file
        self._kernels = kernels
        self._builder = LaunchTableBuilder(file.path, kernels)
        self._waiting: list[LaunchColumns] = []
        self._taken = 0
        self._columns = dict(matched)
        self._positions = {ours: header.cells.index(column.theirs) for ours, column in matched.items()}
        kinds: dict[int, Kind] = {}
        for ours, position in self._positions.items():
            if kinds.setdefault(position, self._kind(ours)) != self._kind(ours):
                raise ProfileError(
                    f"is given for {ours} and for something of another kind",
                    path=file.path,
                    column=header.cells[position],
                    remedy="give another column for one of them",
                )
        self._metrics = Metrics(header.cells, frozenset(kinds))
        self._layout = Layout(
            header.cells, kinds, header.separator, has_thousands=False, remedy=_CORRECT_CELL
        )

    def _kind(self, ours: str) -> Kind:
        if ours == "name" or ours in DIMENSIONS:
            return "text"
        # Whole nanoseconds are read exactly; in larger units times have fractions.
        return "number" if ours in TIMES and self._columns[ours].unit_ns > 1 else "integer"

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        part = Part(self._file, self._layout, offset, text)
        table = self._metrics.parse(part)
        if table is None:
            table = parse(part)
        self._waiting.append(self._launches(part, table))
        self.rows += table.num_rows
        if self.rows - self._taken >= _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._builder.append(joined_columns(self._waiting))
        self._waiting.clear()
        self._taken = self.rows

    def profile(self) -> Profile:
        """Return what was taken."""
        self._flush()
        return self._builder.finish(
            format_name=FORMAT,
            file=ProfileFile(self._file.path, self._file.location, self.rows),
            facts=RecordingFacts(),
            metrics=self._metrics.finish(),
        )

    def _launches(self, part: Part, table: Table) -> LaunchColumns:
        """Return the rows of a part."""
        duration_ns = self._times(part, table, "duration_ns")
        self._refuse_negative(part, duration_ns, "duration_ns")
        return LaunchColumns(
            name=names(part, table, self._positions["name"], None, self._kernels),
            duration_ns=duration_ns,
            order=np.arange(self.rows, self.rows + len(duration_ns), dtype=np.int64),
            process=self._whole(part, table, "process"),
            device=self._short(part, table, "device"),
            grid=self._dimensions(part, table, "grid"),
            block=self._dimensions(part, table, "block"),
            start_ns=self._times(part, table, "start_ns") if "start_ns" in self._positions else None,
            stream=self._short(part, table, "stream"),
        )

    def _times(self, part: Part, table: Table, ours: str) -> IntArray:
        unit_ns = self._columns[ours].unit_ns
        times = nanoseconds(part, table, self._positions[ours], None, unit=unit_ns)
        too_large = np.flatnonzero((times >= _MOST_NS) | (times <= -_MOST_NS))
        if len(too_large):
            row = int(too_large[0])
            raise self._error(part, row, ours, f"{times[row]} ns is too long a time")
        return times

    def _whole(self, part: Part, table: Table, ours: str) -> IntArray | None:
        """Return (n,) whole numbers, 0 where a cell is empty; None where the table has none."""
        position = self._positions.get(ours)
        if position is None:
            return None
        numbers = to_numpy(nulls_as(table.column(str(position)), 0)).astype(np.int64, copy=False)
        if ours not in _MAY_BE_NEGATIVE:
            self._refuse_negative(part, numbers, ours)
        return numbers

    def _short(self, part: Part, table: Table, ours: str) -> IntArray | None:
        """Return (n,) numbers of a stream or device, which have 32 bits."""
        numbers = self._whole(part, table, ours)
        if numbers is not None and (wrong := np.flatnonzero(np.abs(numbers) >= 1 << 31)).size:
            row = int(wrong[0])
            raise self._error(part, row, ours, f"{numbers[row]} is too large for a number of a {ours}")
        return numbers

    def _dimensions(self, part: Part, table: Table, ours: str) -> list[IntArray] | None:
        """Return x, y and z, (n,) each, from a column of cells or from three; None where there are none."""
        if ours not in self._positions:
            axes = [self._whole(part, table, axis) for axis in DIMENSIONS[ours]]
            return [axis for axis in axes if axis is not None] or None
        distinct, codes = texts(table, self._positions[ours])
        cells = to_arrow_texts([cell.decode("utf-8", "replace") for cell in distinct.to_pylist()])
        axes_of, bad = dimensions_of(cells)
        if bad >= 0:
            row = int(np.argmax(codes == bad))
            raise self._error(part, row, ours, f"{cells[bad].as_py()!r} is not {WRITTEN}")
        return [axes_of[:, axis][codes] for axis in range(len(GRID))]

    def _refuse_negative(self, part: Part, numbers: IntArray, ours: str) -> None:
        if len(numbers) and numbers.min() < 0:
            row = int(np.argmax(numbers < 0))
            raise self._error(part, row, ours, f"{numbers[row]} is negative")

    def _error(self, part: Part, row: int, ours: str, message: str) -> ProfileError:
        return part.error(row, message, position=self._positions[ours], remedy=_CORRECT_CELL)
