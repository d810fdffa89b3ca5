"""Benchmarks from a CSV: a row for each benchmark and size.

Columns ``benchmark,size,ipc`` and, where known, ``mpki,f_mem,scaling,mpki_unit``, in any order; others are
not read, which is told, and empty lines are left out. An empty cell is not known: a row may hold the MPKI
alone, as a point of the miss-rate curve. Rows may come in any order. ``f_mem`` is a fraction; ``scaling`` and
``mpki_unit`` are those of the benchmark, the same in all of its rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from scalemodel.errors import InputError, OptionError, Place
from scalemodel.inputs.text_file import Choice, choice_in, csv_errors_placed, number_in, read_text, require
from scalemodel.measurements import (
    NUMBER_REMEDY,
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    measurements_of,
    wrong_size,
)

_REQUIRED = ("benchmark", "size", "ipc")
_OPTIONAL = ("mpki", "f_mem", "scaling", "mpki_unit")
_KNOWN = (*_REQUIRED, *_OPTIONAL)
_CHOICES: Mapping[str, type[StrEnum]] = {"scaling": Scaling, "mpki_unit": MpkiUnit}
# A word of another meaning is further off than a slip.
_LEAST_LIKENESS = 0.8
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}

Tell = Callable[[str], None]
"""Called with a sentence for each thing that a reader leaves out."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: what was measured, by column, and what that means."""

    place: Place
    benchmark: str
    size: int
    values: Mapping[str, float]
    choices: Mapping[str, StrEnum]


def looks_like_benchmarks(text: str) -> bool:
    """Return whether the first line that is not empty is that of a table, whatever is between its cells."""
    header = next((line for line in text.splitlines() if line.strip()), "").replace('"', "")
    return any(_has_required(header.split(separator)) for separator in (",", *_OTHER_SEPARATORS))


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
    left_out = {name: wrong for name, rows in chosen.items() if (wrong := _too_few(name, rows))}
    if len(left_out) == len(chosen):
        raise next(iter(left_out.values()))
    for wrong in left_out.values():
        if tell is not None:
            tell(f"left out: {wrong}")
    return tuple(
        _measurements(name, rows, scaling, mpki_unit) for name, rows in chosen.items() if name not in left_out
    )


def _rows_by_benchmark(text: str, path: str, tell: Tell | None) -> dict[str, dict[int, _Row]]:
    benchmarks: dict[str, dict[int, _Row]] = {}
    for row in _rows(text, path, tell):
        rows = benchmarks.setdefault(row.benchmark, {})
        if row.size in rows:
            what = f"{row.benchmark} has size {row.size} already, in row {rows[row.size].place.row}"
            raise InputError(what, row.place.in_column("size"), remedy="keep one of the two")
        rows[row.size] = row
    if not benchmarks:
        remedy = "give a row for each benchmark and size"
        raise InputError("no row of measurements", Place(path), remedy=remedy)
    return benchmarks


def _too_few(name: str, rows: Mapping[int, _Row]) -> InputError | None:
    """Return what is wrong where there is no IPC at two sizes."""
    count = sum("ipc" in row.values for row in rows.values())
    if count > 1:
        return None
    last = max((row.place for row in rows.values()), key=lambda place: place.row or 0)
    what = f"{name} has an IPC at {'one size alone' if count else 'no size'}, which shows no trend"
    return InputError(what, last.in_column("ipc"), remedy="give two sizes or more")


def _measurements(
    name: str, rows: Mapping[int, _Row], scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> Measurements:
    ipc, mpki, f_mem = (
        [(size, row.values[column]) for size, row in rows.items() if column in row.values]
        for column in WRONG_VALUE
    )
    said_scaling = _one_choice(name, rows, "scaling", Scaling.STRONG)
    said_unit = _one_choice(name, rows, "mpki_unit", MpkiUnit.THREAD)
    return measurements_of(
        ipc, mpki, f_mem, name=name, mpki_unit=mpki_unit or said_unit, scaling=scaling or said_scaling
    )


def _one_choice(name: str, rows: Mapping[int, _Row], column: str, default: Choice) -> Choice:
    """Return what the rows of a benchmark say; the default where none does."""
    said = [row for row in rows.values() if column in row.choices]
    for row in said[1:]:
        if row.choices[column] is not said[0].choices[column]:
            first = f"{said[0].choices[column]} in row {said[0].place.row}"
            raise InputError(
                f"{name} has {row.choices[column]} here and {first}",
                row.place.in_column(column),
                remedy="give a benchmark one, or two benchmarks two names",
            )
    return type(default)(said[0].choices[column]) if said else default


def _rows(text: str, path: str, tell: Tell | None) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    with csv_errors_placed(reader, path):
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _checked_header(cells, Place(path, reader.line_num), tell)
            else:
                yield _row(header, cells, Place(path, reader.line_num))


def _row(header: list[str], cells: list[str], place: Place) -> _Row:
    if len(cells) != len(header):
        remedy = "leave the cell of what was not measured empty, with its comma"
        if len(cells) > len(header):
            remedy = "write numbers with a decimal point: a comma ends the cell"
        count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
        raise InputError(f"{count} where the header has {len(header)}", place, remedy=remedy)
    by_column = dict(zip(header, map(str.strip, cells), strict=True))
    if not by_column["benchmark"]:
        raise InputError("no benchmark is named", place.in_column("benchmark"), remedy="name it")
    size = number_in(by_column["size"], place.in_column("size"), NUMBER_REMEDY)
    require(wrong_size(size), place.in_column("size"), SIZE_REMEDY)
    values: dict[str, float] = {}
    for column, wrong_value in WRONG_VALUE.items():
        if cell := by_column.get(column):
            at = place.in_column(column)
            values[column] = number_in(cell, at, NUMBER_REMEDY)
            remedy = "correct it, or leave the cell empty if it was not measured"
            require(wrong_value(values[column]), at, remedy)
    if not values.keys() & {"ipc", "mpki"}:
        raise InputError("neither an IPC nor an MPKI", place, remedy="give one of them, or drop the row")
    choices = {
        column: choice_in(cell, cell.casefold(), kind, place.in_column(column))
        for column, kind in _CHOICES.items()
        if (cell := by_column.get(column))
    }
    return _Row(place, by_column["benchmark"], int(size), values, choices)


def _checked_header(cells: Sequence[str], place: Place, tell: Tell | None) -> list[str]:
    """Return the columns' names.

    Raises
    ------
    InputError : the cells are not apart by commas; a column is missing, there twice, or misspelt.
    """
    _check_separator(cells, place)
    names = _names(cells)
    stray = [name for name in dict.fromkeys(names) if name not in _KNOWN]
    missing = [column for column in _KNOWN if column not in names]
    for name in stray:
        # Where the column itself is there, this is another one.
        close = get_close_matches(name, missing, 1, _LEAST_LIKENESS) or [
            column for column in missing if sorted(column) == sorted(name)
        ]
        if close:
            remedy = f"did you mean {close[0]!r}?"
            raise InputError(f"no column {name!r} is known", place.in_column(name), remedy=remedy)
    for column in _REQUIRED:
        if column in missing:
            remedy = f"give the columns {','.join(_REQUIRED)} and, where known, {','.join(_OPTIONAL)}"
            raise InputError(f"no column {column}", place, remedy=remedy)
    for column in _KNOWN:
        if names.count(column) > 1:
            raise InputError(f"two columns {column}", place.in_column(column), remedy="keep one of the two")
    if stray and tell is not None:
        shown = ", ".join(name or "without a name" for name in stray)
        tell(f"{place.path}: not read: column{'s' if len(stray) > 1 else ''} {shown}")
    return names


def _names(cells: Sequence[str]) -> list[str]:
    return [cell.strip().casefold() for cell in cells]


def _has_required(cells: Sequence[str]) -> bool:
    return bool(set(_REQUIRED) & set(_names(cells)))


def _check_separator(cells: Sequence[str], place: Place) -> None:
    line = ",".join(cells)
    for separator, name in _OTHER_SEPARATORS.items():
        if separator in line and _has_required(line.split(separator)):
            remedy = "write commas between cells, and a point in numbers, as 100.5"
            raise InputError(f"its cells are apart by {name}", place, remedy=remedy)
