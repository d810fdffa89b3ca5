"""Results as CSV, for simulators without a module of their own: ``id``, a launch id, and one column a metric.

An empty cell is a value that is not known. All columns are metrics but those that say which launch it is, and
``caches``, which says how it found them: cold, own, warm, after:16.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    first_line,
    header_cells,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, STATE, MeasuredRun
from sampling.text import nearest

_ID, _CACHES = "id", "caches"
_NO_METRICS = frozenset(
    {
        *(_ID, _CACHES, "simulator_id", "process", "device", "ordinal", "occurrence", "stratum", "weight"),
        *("duration_ns", "grid", "block", "name", "kernel", "launch", "stream"),
        *(f"{shape}_{axis}" for shape in ("grid", "block") for axis in "xyz"),
    }
)
_REMEDY = "the columns are id, the launch ids of the plan, and one for each metric: cycles, instructions, ..."
_LARGEST, _LARGEST_ID = 1e100, 2.0**53
_NO_ROW = "has no row below its header"
_UNKNOWN = "{} has no value there"


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this has a column of ids and others."""
    return _ID in _columns(header_cells(first_line(head).lstrip(b"\r\n")))


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what a file says of each launch.

    Parameters
    ----------
    metrics : columns; none: all that hold numbers and do not say which launch it is.

    Raises
    ------
    ProfileError : a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    line = first_line(file.head)
    header = header_cells(line.lstrip(b"\r\n"))
    columns = _columns(header)
    if _ID not in columns:
        raise ProfileError("no column id", path=file.path, row=1, remedy=_REMEDY)
    names = tuple(metrics) or _columns_of_numbers(file, line, columns)
    for name in names:
        if name not in columns:
            there = [each for each in columns if each not in _NO_METRICS]
            raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=nearest(name, there))
    if not names:
        raise ProfileError("has no column of a metric", path=file.path, row=1, remedy=_REMEDY)
    kinds: dict[int, Kind] = {columns[name]: "number" for name in (_ID, *names)}
    if _CACHES in columns:
        kinds[columns[_CACHES]] = "text"
    ids, known, told = _read(file, Layout(header, kinds), columns, names)
    missing = {
        int(place): _UNKNOWN.format(", ".join(name for name in names if np.isnan(known[name][place])))
        for place in np.flatnonzero(np.any([np.isnan(known[name]) for name in names], axis=0))
    }
    return MeasuredRun(file.path, ids, None, known, missing=missing, told=told)


def _columns(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column; of two of one name the first. Without ids launches are theirs."""
    names = [cell.strip() for cell in header]
    if _ID not in names:
        names = [_ID if name == "launch" else name for name in names]
    return {name: names.index(name) for name in names if name}


def _columns_of_numbers(file: InputFile, line: bytes, columns: dict[str, int]) -> tuple[str, ...]:
    """Return the columns whose first cell is a number."""
    cells = header_cells(first_line(file.head[len(line) :]).lstrip(b"\r\n"))
    if not cells:
        raise ProfileError(_NO_ROW, path=file.path, remedy=_REMEDY)
    return tuple(
        name
        for name, place in columns.items()
        if name in {CYCLES, INSTRUCTIONS}
        or (name.lower() not in _NO_METRICS and place < len(cells) and _is_number(cells[place]))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return not cell.strip()
    return True


def _read(
    file: InputFile, layout: Layout, columns: dict[str, int], names: Sequence[str]
) -> tuple[IntArray, dict[str, FloatArray], list[str]]:
    ids: list[IntArray] = []
    told: list[str] = []
    known: dict[str, list[FloatArray]] = {name: [] for name in names}
    for start, text in pieces(file):
        skipped = len(first_line(text)) if start == 0 else 0
        part = Part(file, layout, start + skipped, text[skipped:])
        if not part.text.strip():
            continue
        table = parse(part)
        number = values(part, table, columns[_ID], None)
        is_id = (number >= 0) & (number <= _LARGEST_ID)
        is_id[is_id] = number[is_id] % 1 == 0
        _refuse(part, ~is_id, columns[_ID], "an id is a whole number from 0 on")
        ids.append(number.astype(np.int64))
        for name, arrays in known.items():
            arrays.append(_metric(part, table, columns[name], name))
        if _CACHES in columns:
            distinct, code = texts(table, columns[_CACHES])
            states = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
            wrong = np.array([STATE.fullmatch(state) is None for state in states])
            _refuse(part, wrong[code], columns[_CACHES], "is no way to find the caches")
            told += [states[each] or "unknown" for each in code.tolist()]
    if not ids:
        raise ProfileError(_NO_ROW, path=file.path, remedy=_REMEDY)
    return np.concatenate(ids), {name: np.concatenate(arrays) for name, arrays in known.items()}, told


def _metric(part: Part, table: Table, position: int, name: str) -> FloatArray:
    from pyarrow import compute

    column = table.column(str(position))
    unknown: BoolArray = to_numpy(compute.is_null(column))
    number: FloatArray = (
        to_numpy(compute.fill_null(column, float("nan"))) if unknown.any() else to_numpy(column)
    )
    bad = ~unknown & ~(np.abs(number) < _LARGEST)
    _refuse(part, bad, position, "the number is not finite")
    if name == CYCLES:
        _refuse(part, ~unknown & (number <= 0), position, "a launch takes more than 0 cycles")
    elif name == INSTRUCTIONS:
        _refuse(part, ~unknown & (number < 0), position, "a launch has 0 instructions or more")
    return number


def _refuse(part: Part, bad: BoolArray, position: int, message: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        raise part.error(int(rows[0]), message, position=position, remedy=_REMEDY)
