"""Benchmarks from a CSV: a row for each benchmark and size.

Columns ``benchmark,size,ipc`` and, where known, ``mpki,f_mem``, in any order; others are ignored, and so are
empty lines. An empty cell is not measured: a row may hold the MPKI alone, as a point of the miss-rate curve.
Rows may come in any order. ``f_mem`` is a fraction.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from scalemodel.errors import InputError
from scalemodel.measurements import (
    Measurements,
    MpkiUnit,
    Scaling,
    measurements_of,
    wrong_f_mem,
    wrong_ipc,
    wrong_mpki,
    wrong_size,
)
from scalemodel.text_file import read_text

_REQUIRED = ("benchmark", "size", "ipc")
_VALUES: Mapping[str, Callable[[float], str | None]] = {
    "ipc": wrong_ipc,
    "mpki": wrong_mpki,
    "f_mem": wrong_f_mem,
}


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table; ``values`` holds what was measured, by column."""

    line: int
    benchmark: str
    size: int
    values: Mapping[str, float]


def read_benchmarks(
    path: str, *, scaling: Scaling = Scaling.STRONG, mpki_unit: MpkiUnit = MpkiUnit.THREAD
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a file, in the order in which they first come.

    Parameters
    ----------
    path : a CSV, gzip or not; "-" is standard input.

    Raises
    ------
    InputError : it cannot be read, lacks a column, or a row is wrong; or a benchmark has an IPC at fewer than
        two sizes.
    """
    return benchmarks_of_text(read_text(path), path, scaling=scaling, mpki_unit=mpki_unit)


def looks_like_benchmarks(text: str) -> bool:
    """Return whether the first line that is not empty has the columns."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return {"size", "ipc"} <= set(_names(header.replace('"', "").split(",")))


def benchmarks_of_text(
    text: str, path: str, *, scaling: Scaling, mpki_unit: MpkiUnit
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a table; see `read_benchmarks`."""
    benchmarks: dict[str, dict[int, _Row]] = {}
    for row in _rows(text, path):
        rows = benchmarks.setdefault(row.benchmark, {})
        if row.size in rows:
            raise InputError(
                f"{row.benchmark} has size {row.size} already, in row {rows[row.size].line}",
                path=path,
                row=row.line,
                column="size",
                remedy="keep one of the two",
            )
        rows[row.size] = row
    if not benchmarks:
        raise InputError("no row of measurements", path=path, remedy="give a row for each benchmark and size")
    return tuple(_measurements(name, rows, path, scaling, mpki_unit) for name, rows in benchmarks.items())


def _measurements(
    name: str, rows: Mapping[int, _Row], path: str, scaling: Scaling, mpki_unit: MpkiUnit
) -> Measurements:
    ipc, mpki, f_mem = (
        [(size, row.values[column]) for size, row in rows.items() if column in row.values]
        for column in _VALUES
    )
    if len(ipc) < 2:
        raise InputError(
            f"{name} has an IPC at {len(ipc)} sizes, which shows no trend",
            path=path,
            row=max(row.line for row in rows.values()),
            column="ipc",
            remedy="give two sizes or more",
        )
    return measurements_of(ipc, mpki, f_mem, name=name, mpki_unit=mpki_unit, scaling=scaling)


def _rows(text: str, path: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, path, reader.line_num)
            else:
                yield _row(header, cells, path, reader.line_num)
    except csv.Error as error:
        raise InputError(
            f"not a CSV ({error})", path=path, row=reader.line_num, remedy="check the quotes there"
        ) from error


def _header(cells: list[str], path: str, line: int) -> list[str]:
    names = _names(cells)
    for column in _REQUIRED:
        if column not in names:
            raise InputError(
                f"no column {column}",
                path=path,
                row=line,
                remedy="give the columns benchmark,size,ipc and, where known, mpki,f_mem",
            )
    for column in (*_REQUIRED, *_VALUES):
        if names.count(column) > 1:
            raise InputError(
                f"two columns {column}", path=path, row=line, column=column, remedy="keep one of the two"
            )
    return names


def _names(cells: list[str]) -> list[str]:
    return [cell.strip().casefold() for cell in cells]


def _row(header: list[str], cells: list[str], path: str, line: int) -> _Row:
    if len(cells) != len(header):
        raise InputError(
            f"{len(cells)} cells where the header has {len(header)}",
            path=path,
            row=line,
            remedy="leave the cell of what was not measured empty, with its comma",
        )
    by_column = dict(zip(header, map(str.strip, cells), strict=True))
    if not by_column["benchmark"]:
        raise InputError("no benchmark is named", path=path, row=line, column="benchmark", remedy="name it")
    size = _number(by_column["size"], path, line, "size")
    wrong = wrong_size(int(size)) if size.is_integer() else f"a size is a whole number, not {size:g}"
    if wrong is not None:
        raise InputError(wrong, path=path, row=line, column="size", remedy="count SMs or chiplets")
    values: dict[str, float] = {}
    for column, wrong_value in _VALUES.items():
        if not by_column.get(column):
            continue
        value = values[column] = _number(by_column[column], path, line, column)
        wrong = wrong_value(value)
        if wrong is not None:
            remedy = "correct it, or leave the cell empty if it was not measured"
            raise InputError(wrong, path=path, row=line, column=column, remedy=remedy)
    if not values.keys() & {"ipc", "mpki"}:
        raise InputError(
            "neither an IPC nor an MPKI", path=path, row=line, remedy="give one of them, or drop the row"
        )
    return _Row(line, by_column["benchmark"], int(size), values)


def _number(cell: str, path: str, line: int, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        what = f"{cell!r} is not a number" if cell else "nothing where a number is needed"
        raise InputError(
            what, path=path, row=line, column=column, remedy="write it with a decimal point, without units"
        ) from error
