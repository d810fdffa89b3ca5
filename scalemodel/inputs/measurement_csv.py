"""Benchmarks from a CSV: a row for each benchmark and size.

Columns ``benchmark,size,ipc`` and, where known, ``mpki,f_mem,scaling,mpki_unit``, in any order; others are
not read, which is told, and empty lines are left out. An empty cell is not known: a row may hold the MPKI
alone, as a point of the miss-rate curve. Rows may come in any order. ``f_mem`` is a fraction; ``scaling`` and
``mpki_unit`` are those of the benchmark, the same in all of its rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from scalemodel.errors import InputError, OptionError
from scalemodel.inputs.measurement_header import Tell, checked_header
from scalemodel.inputs.text_file import read_text
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

_VALUES: Mapping[str, Callable[[float], str | None]] = {
    "ipc": wrong_ipc,
    "mpki": wrong_mpki,
    "f_mem": wrong_f_mem,
}
_CHOICES: Mapping[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table; ``values`` holds what was measured, by column, and ``choices`` what that means."""

    line: int
    benchmark: str
    size: int
    values: Mapping[str, float]
    choices: Mapping[str, StrEnum]


def read_benchmarks(
    path: str,
    *,
    scaling: Scaling | None = None,
    mpki_unit: MpkiUnit | None = None,
    tell: Tell | None = None,
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a file, in the order in which they first come.

    Parameters
    ----------
    path : a CSV, gzip or not; "-" is standard input.
    scaling, mpki_unit : instead of what the file says; strong and thread where nothing says it.
    tell : is told what is left out: columns, and benchmarks with an IPC at fewer than two sizes.

    Raises
    ------
    InputError : it cannot be read, lacks a column, or a row is wrong; or no benchmark has an IPC at two
        sizes.
    """
    return benchmarks_of_text(read_text(path), path, scaling=scaling, mpki_unit=mpki_unit, tell=tell)


def benchmarks_of_text(
    text: str,
    path: str,
    *,
    benchmark: str | None = None,
    scaling: Scaling | None = None,
    mpki_unit: MpkiUnit | None = None,
    tell: Tell | None = None,
) -> tuple[Measurements, ...]:
    """Return the benchmarks of a table; see `read_benchmarks`.

    Parameters
    ----------
    benchmark : the only one to return; all where None.

    Raises
    ------
    OptionError : there is no such benchmark.
    """
    benchmarks = _rows_by_benchmark(text, path, tell)
    if benchmark is not None and benchmark not in benchmarks:
        raise OptionError(
            f"{path} has no benchmark {benchmark!r}", remedy=f"name one of {', '.join(benchmarks)}"
        )
    chosen = {name: rows for name, rows in benchmarks.items() if benchmark in {None, name}}
    left_out = {name: wrong for name, rows in chosen.items() if (wrong := _too_few(name, rows, path))}
    if len(left_out) == len(chosen):
        raise next(iter(left_out.values()))
    for wrong in left_out.values():
        if tell is not None:
            tell(f"left out: {wrong}")
    return tuple(
        _measurements(name, rows, path, scaling, mpki_unit)
        for name, rows in chosen.items()
        if name not in left_out
    )


def _rows_by_benchmark(text: str, path: str, tell: Tell | None) -> dict[str, dict[int, _Row]]:
    benchmarks: dict[str, dict[int, _Row]] = {}
    for row in _rows(text, path, tell):
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
    return benchmarks


def _too_few(name: str, rows: Mapping[int, _Row], path: str) -> InputError | None:
    """Return what is wrong where there is no IPC at two sizes."""
    count = sum("ipc" in row.values for row in rows.values())
    if count > 1:
        return None
    return InputError(
        f"{name} has an IPC at {'one size alone' if count else 'no size'}, which shows no trend",
        path=path,
        row=max(row.line for row in rows.values()),
        column="ipc",
        remedy="give two sizes or more",
    )


def _measurements(
    name: str,
    rows: Mapping[int, _Row],
    path: str,
    scaling: Scaling | None,
    mpki_unit: MpkiUnit | None,
) -> Measurements:
    ipc, mpki, f_mem = (
        [(size, row.values[column]) for size, row in rows.items() if column in row.values]
        for column in _VALUES
    )
    said_scaling = _one_choice(name, rows, path, "scaling", Scaling.STRONG)
    said_unit = _one_choice(name, rows, path, "mpki_unit", MpkiUnit.THREAD)
    return measurements_of(
        ipc, mpki, f_mem, name=name, mpki_unit=mpki_unit or said_unit, scaling=scaling or said_scaling
    )


def _one_choice(name: str, rows: Mapping[int, _Row], path: str, column: str, default: Choice) -> Choice:
    """Return what the rows of a benchmark say; the default where none does."""
    said = [row for row in rows.values() if column in row.choices]
    for row in said[1:]:
        if row.choices[column] is not said[0].choices[column]:
            raise InputError(
                f"{name} has {row.choices[column]} here and {said[0].choices[column]} in row {said[0].line}",
                path=path,
                row=row.line,
                column=column,
                remedy="give a benchmark one, or two benchmarks two names",
            )
    return type(default)(said[0].choices[column]) if said else default


def _rows(text: str, path: str, tell: Tell | None) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = checked_header(cells, path, reader.line_num, tell)
            else:
                yield _row(header, cells, path, reader.line_num)
    except csv.Error as error:
        raise InputError(
            f"not a CSV ({error})", path=path, row=reader.line_num, remedy="check the quotes there"
        ) from error


def _row(header: list[str], cells: list[str], path: str, line: int) -> _Row:
    if len(cells) != len(header):
        remedy = "leave the cell of what was not measured empty, with its comma"
        if len(cells) > len(header):
            remedy = "write numbers with a decimal point: a comma ends the cell"
        raise InputError(
            f"{len(cells)} cell{'' if len(cells) == 1 else 's'} where the header has {len(header)}",
            path=path,
            row=line,
            remedy=remedy,
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
    choices = {
        column: _choice(cell, kind, path, line, column)
        for column, kind in _CHOICES.items()
        if (cell := by_column.get(column))
    }
    return _Row(line, by_column["benchmark"], int(size), values, choices)


def _choice(cell: str, kind: type[Choice], path: str, line: int, column: str) -> Choice:
    if cell.casefold() not in list(kind):
        raise InputError(
            f"{cell!r} is not known",
            path=path,
            row=line,
            column=column,
            remedy=f"write one of {', '.join(kind)}",
        )
    return kind(cell.casefold())


def _number(cell: str, path: str, line: int, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        what = f"{cell!r} is not a number" if cell else "nothing where a number is needed"
        raise InputError(
            what, path=path, row=line, column=column, remedy="write it with a decimal point, without units"
        ) from error
