"""Any table of text with a row a launch: CSV, or the same with semicolons or tabs.

``name`` and ``duration_ns`` are required, under these names or those that the user gives; any other column of
numbers is a metric. Launches are in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable, Profile, RecordingFacts
from sampling.readers.columns import DIMENSIONS, NO_METRIC, REQUIRED, TIMES, NamedColumn, matched_columns
from sampling.readers.input_file import InputFile, is_binary, is_json
from sampling.readers.table import Kind, Launches, Layout, Rows, floats, read_rows, separated_header

FORMAT = "csv"
REMEDY = "correct the cell or leave the row out"

_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
_PLAIN = {"duration_ns", *_MAY_BE_NEGATIVE}
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
    named = () if file.columns is None else file.columns.columns
    return separated_header(file.head, {*REQUIRED, *(column.theirs for column in named)})


def launch_layout(
    header: tuple[str, ...],
    matched: Mapping[str, NamedColumn],
    path: str,
    separator: str = ",",
    texts: frozenset[str] = frozenset({"name", *DIMENSIONS}),
) -> Layout:
    """Return how columns of launches are read, by what they hold of one.

    Raises ProfileError: one column is given for a text and for numbers.
    """
    columns: dict[str, tuple[int, Kind]] = {}
    for ours, column in matched.items():
        # Whole nanoseconds are read exactly; in larger units times have fractions.
        number: Kind = "number" if ours in TIMES and column.unit_ns > 1 else "integer"
        place, kind = header.index(column.theirs), "text" if ours in texts else number
        if any(kind != other for at, other in columns.values() if at == place):
            message, remedy = (
                f"is given for {ours} and for another kind",
                "give another column for one of them",
            )
            raise ProfileError(message, path=path, column=column.theirs, remedy=remedy)
        columns[ours] = place, kind
    return Layout(header, columns, separator, None, REMEDY)


def launch_integers(rows: Rows, ours: str, unit_ns: int) -> AnyIntArray:
    """Return (n,) the times of a column, or its integers, of which an empty one is 0.

    Raises ProfileError: a time has no value or does not fit, or a number is negative that cannot be.
    """
    numbers: AnyIntArray = rows.times(ours, unit_ns) if ours in TIMES else rows.numbers(ours, empty=0)
    if ours not in _MAY_BE_NEGATIVE and len(numbers) and numbers.min() < 0:
        rows.refuse(numbers < 0, ours, lambda row: f"{numbers[row]} is negative")
    return numbers


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the rows as launches.

    Raises ProfileError: a column is not there; a cell holds no number, no time or no grid; there is no row;
    the rows are the launches that a plan draws.
    """
    header, separator = _header(file)
    if _is_of_a_plan(file, header):
        message = "a list of the launches that a plan draws, not of all that a program made"
        raise ProfileError(message, path=file.path, remedy="give the profile that the plan was made from")
    matched = matched_columns(file.columns, header, file.path)
    layout = launch_layout(header, matched, file.path, separator)
    taken = {place for place, _ in layout.columns.values()}
    metrics = [name for name in header if name and name not in NO_METRIC and header.index(name) not in taken]
    return table_in_memory(file, kernels, layout, matched, metrics, (FORMAT, RecordingFacts()), progress)


def table_in_memory(
    file: InputFile,
    kernels: KernelTable,
    layout: Layout,
    matched: Mapping[str, NamedColumn],
    metrics: Sequence[str],
    described: tuple[str, RecordingFacts],
    progress: Progress | None,
) -> Profile:
    """Return the rows of a table as launches, in the order of the file within each process and device.

    Raises ProfileError: a cell holds no number, no time or no grid; there is no row.
    """
    numeric = [ours for ours, (_, kind) in layout.columns.items() if kind != "text"]
    values: dict[str, list[FloatArray]] = {name: [] for name in metrics}
    layout.columns.update({name: (layout.header.index(name), "any") for name in metrics})
    launches = Launches(file, kernels)
    for rows in read_rows(file, layout, progress):
        for name in [*values]:
            found, is_text = floats(rows, name, None)
            values[name].append(np.where(np.isinf(found), np.nan, found))
            if is_text.any():
                del values[name], layout.columns[name]
        numbers = {ours: launch_integers(rows, ours, matched[ours].unit_ns) for ours in numeric}
        for ours in {"stream", "device"} & numbers.keys():
            rows.refuse(np.abs(numbers[ours]) >= 1 << 31, ours, "is too large a number")
        grid, block = (
            rows.sizes(what) if what in matched else [numbers[axis] for axis in axes if axis in numbers]
            for what, axes in DIMENSIONS.items()
        )
        launches.add(
            LaunchColumns(
                name=rows.names("name", kernels),
                order=np.arange(launches.count, launches.count + len(rows), dtype=np.int64),
                grid=grid or None,
                block=block or None,
                **{ours: numbers[ours] for ours in _PLAIN & numbers.keys()},
            )
        )
    known = {name: np.concatenate(parts) for name, parts in values.items() if parts}
    nothing = "a table of launches without a single row", "write it with a row a launch"
    known = {name: column for name, column in known.items() if not np.isnan(column).all()}
    return launches.finish(*described, nothing, known)
