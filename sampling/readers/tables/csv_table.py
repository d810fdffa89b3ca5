"""Any table of text with a row a launch: CSV, or the same with semicolons or tabs.

``name`` and ``duration_ns`` are required, under these names or those that the user gives; any other column of
numbers is a metric. Launches are in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import Kind, Layout, first_line, header_cells, parse, parts
from sampling.readers.input_file import InputFile, is_binary, is_json
from sampling.readers.tables.cells import MOST_NS, Rows, floats
from sampling.readers.tables.column_map import (
    DIMENSIONS,
    NO_METRIC,
    REQUIRED,
    TIMES,
    NamedColumn,
    matched_columns,
)

FORMAT = "csv"

_REMEDY = "correct the cell or leave the row out"
# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19
_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
# What a list of drawn launches has, as `sample --format csv` and `export --to csv` write it.
_OF_A_PLAN = {"id", "weight", "duration_ns"}


def recognise(file: InputFile) -> bool:
    """Return whether this is a table of launches: by its header, or because the user names its columns."""
    if not file.head.strip() or is_binary(file):
        return False
    if file.columns is not None and not file.columns.where_present:
        return not is_json(file)
    return _matches(file, _header(file)[0])


def has_columns(file: InputFile) -> bool:
    """Return whether the header has the columns of a launch, and is not that of a plan's list."""
    header, _ = _header(file)
    return not _is_of_a_plan(file, header) and _matches(file, header)


def _matches(file: InputFile, header: Sequence[str]) -> bool:
    try:
        matched_columns(file.columns, header, file.path)
    except ProfileError:
        return False
    return True


def _is_of_a_plan(file: InputFile, header: Sequence[str]) -> bool:
    return file.columns is None and set(header) >= _OF_A_PLAN


def _header(file: InputFile) -> tuple[tuple[str, ...], str]:
    """Return the header's cells by the separator that finds most of the columns that count in it."""
    line = first_line(file.head.removeprefix(b"\xef\xbb\xbf"))
    named = () if file.columns is None else file.columns.columns
    wanted = {*REQUIRED, *(column.theirs for column in named)}
    headers = [(tuple(cell.strip() for cell in header_cells(line, mark)), mark) for mark in (",", "\t", ";")]
    # Of equals, max takes the first: the comma.
    return max(headers, key=lambda header: (len(wanted & set(header[0])), len(header[0])))


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the rows as launches.

    Raises
    ------
    ProfileError : a column is not there; a cell holds no number, no time or no grid; there is no row; the
        rows are the launches that a plan draws.
    """
    header, separator = _header(file)
    if _is_of_a_plan(file, header):
        raise ProfileError(
            "a list of the launches that a plan draws, not of all that a program made",
            path=file.path,
            remedy="give the profile that the plan was made from",
        )
    columns = matched_columns(file.columns, header, file.path)
    at = {ours: header.index(column.theirs) for ours, column in columns.items()}
    kinds = _kinds(file, header, columns)
    metrics: dict[int, list[FloatArray]] = {}
    for place in {name: header.index(name) for name in header if name and name not in NO_METRIC}.values():
        if kinds.setdefault(place, "any") == "any":
            metrics[place] = []
    layout = Layout(header, kinds, separator, locale=None, remedy=_REMEDY)
    builder = LaunchTableBuilder(file.path, kernels)
    waiting: list[LaunchColumns] = []
    launches = taken = 0
    for part in parts(file, layout, progress):
        rows = Rows(part, parse(part), _REMEDY)
        for position in [*metrics]:
            values, is_text = floats(rows.table, position, locale=None)
            metrics[position].append(np.where(np.isinf(values), np.nan, values))
            if is_text.any():
                del metrics[position], kinds[position]
        numbers = {ours: _numbers(rows, ours, at[ours], columns[ours].unit_ns) for ours in at
                   if kinds[at[ours]] != "text"}  # fmt: skip
        shapes = {
            what: rows.sizes(at[what]) if what in at else [numbers[axis] for axis in axes if axis in numbers]
            for what, axes in DIMENSIONS.items()
        }
        waiting.append(
            LaunchColumns(
                name=rows.names(at["name"], kernels),
                duration_ns=numbers["duration_ns"],
                order=np.arange(launches, launches + len(rows), dtype=np.int64),
                process=numbers.get("process"),
                device=numbers.get("device"),
                grid=shapes["grid"] or None,
                block=shapes["block"] or None,
                start_ns=numbers.get("start_ns"),
                stream=numbers.get("stream"),
            )
        )
        launches += len(rows)
        if launches - taken >= _ROWS_AT_ONCE:
            builder.append(joined_columns(waiting))
            waiting, taken = [], launches
    if launches == 0:
        raise ProfileError(
            "a table of launches without a single row", path=file.path, remedy="write it with a row a launch"
        )
    if waiting:
        builder.append(joined_columns(waiting))
    known = {header[position]: np.concatenate(column) for position, column in metrics.items()}
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, launches),
        facts=RecordingFacts(),
        metrics={name: column for name, column in known.items() if not np.isnan(column).all()},
    )


def _kinds(file: InputFile, header: Sequence[str], columns: Mapping[str, NamedColumn]) -> dict[int, Kind]:
    """Return what the columns of a launch hold; raise ProfileError for one that is to be of two kinds."""
    kinds: dict[int, Kind] = {}
    for ours, column in columns.items():
        # Whole nanoseconds are read exactly; in larger units times have fractions.
        in_larger_unit = ours in TIMES and column.unit_ns > 1
        kind: Kind = "text" if ours in {"name", *DIMENSIONS} else "number" if in_larger_unit else "integer"
        if kinds.setdefault(header.index(column.theirs), kind) != kind:
            raise ProfileError(
                f"is given for {ours} and for something of another kind",
                path=file.path,
                column=column.theirs,
                remedy="give another column for one of them",
            )
    return kinds


def _numbers(rows: Rows, ours: str, position: int, unit_ns: int) -> AnyIntArray:
    """Return (n,) the times of a column, or its integers, of which an empty one is 0."""
    numbers = rows.times(position, unit_ns) if ours in TIMES else rows.whole(position, empty=0)
    if ours in TIMES:
        rows.refuse(np.abs(numbers) >= MOST_NS, position, lambda row: f"{numbers[row]} is too long a time")
    if ours in {"stream", "device"}:
        rows.refuse(np.abs(numbers) >= 1 << 31, position, lambda row: f"{numbers[row]} is too large a number")
    if ours not in _MAY_BE_NEGATIVE:
        rows.refuse(numbers < 0, position, lambda row: f"{numbers[row]} is negative")
    return numbers
