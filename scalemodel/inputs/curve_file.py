"""A miss-rate curve from a CSV, as `scale mrc` writes it: points to go beside the IPC of the scale models.

Columns ``size,mpki`` and, where known, ``unit,low,high``, in any order; others are ignored. A size is that of
the system whose last-level cache has the row's capacity; the unit, thread or warp, is whose instructions the
MPKI counts; low to high is the sampling error of the MPKI.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from scalemodel.errors import InputError
from scalemodel.inputs.text_file import read_text
from scalemodel.measurements import MpkiUnit, wrong_mpki, wrong_size

_REQUIRED = ("size", "mpki")


@dataclass(frozen=True, slots=True)
class CurvePoints:
    """A miss-rate curve over system sizes.

    Attributes
    ----------
    mpki : (size, MPKI), in the file's order.
    unit : whose instructions the MPKI counts; None where the file does not say it.
    bounds : (size, low, high) of each MPKI that has a sampling error.
    """

    mpki: tuple[tuple[int, float], ...]
    unit: MpkiUnit | None
    bounds: tuple[tuple[int, float, float], ...] = ()


def read_curve_points(path: str) -> CurvePoints:
    """Return the points of a file.

    Parameters
    ----------
    path : a CSV, gzip or not; "-" is standard input.

    Raises
    ------
    InputError : it cannot be read, lacks a column, or a row is wrong.
    """
    reader = csv.DictReader(read_text(path).splitlines(), skipinitialspace=True)
    try:
        return _points(reader, path)
    except csv.Error as error:
        raise InputError(
            f"not a CSV ({error})", path=path, row=reader.line_num, remedy="check the quotes there"
        ) from error


def _points(reader: csv.DictReader[str], path: str) -> CurvePoints:
    for column in _REQUIRED:
        if column not in (reader.fieldnames or ()):
            raise InputError(
                f"no column {column}",
                path=path,
                row=1,
                remedy="give the CSV of scale mrc --capacity SIZE=BYTES, or one of size,mpki",
            )
    points: list[tuple[int, float]] = []
    bounds: list[tuple[int, float, float]] = []
    units: set[MpkiUnit | None] = set()
    for row in reader:
        points.append(_point(row, path, reader.line_num))
        bounds += _bounds(row, *points[-1], path, reader.line_num)
        units.add(_unit(row.get("unit"), path, reader.line_num))
        if len(units) > 1:
            raise InputError(
                "rows differ in their unit",
                path=path,
                row=reader.line_num,
                column="unit",
                remedy="count all MPKI in the same instructions",
            )
    if not points:
        raise InputError("no point of a curve", path=path, remedy="give a row for each size")
    return CurvePoints(tuple(points), units.pop(), tuple(bounds))


def _point(row: Mapping[str, str | None], path: str, line: int) -> tuple[int, float]:
    size, mpki = (_number(row[column] or "", path, line, column) for column in _REQUIRED)
    wrong = wrong_size(int(size)) if size.is_integer() else f"a size is a whole number, not {size:g}"
    if wrong is not None:
        raise InputError(wrong, path=path, row=line, column="size", remedy="count SMs or chiplets")
    wrong = wrong_mpki(mpki)
    if wrong is not None:
        raise InputError(wrong, path=path, row=line, column="mpki", remedy="correct it, or drop the row")
    return int(size), mpki


def _bounds(
    row: Mapping[str, str | None], size: int, mpki: float, path: str, line: int
) -> list[tuple[int, float, float]]:
    """Return (size, low, high), alone in a list; an empty one where the row states no sampling error."""
    low_cell, high_cell = (row.get(column) or "" for column in ("low", "high"))
    if not low_cell.strip() or not high_cell.strip():
        return []
    low, high = _number(low_cell, path, line, "low"), _number(high_cell, path, line, "high")
    if wrong_mpki(low) or wrong_mpki(high) or not low <= mpki <= high:
        raise InputError(
            f"the MPKI of {mpki:g} is not from {low:g} to {high:g}",
            path=path,
            row=line,
            column="low" if low > mpki else "high",
            remedy="give its sampling error, or drop both columns",
        )
    return [(size, low, high)] if low < high else []


def _number(cell: str, path: str, line: int, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        remedies = {
            "size": "give scale mrc its capacities as SIZE=BYTES",
            "mpki": "give scale mrc the --instructions of the trace",
        }
        what = f"{cell!r} is not a number" if cell.strip() else "nothing where a number is needed"
        raise InputError(
            what, path=path, row=line, column=column, remedy=remedies.get(column, "write a number")
        ) from error


def _unit(cell: str | None, path: str, line: int) -> MpkiUnit | None:
    if not cell:
        return None
    if cell not in list(MpkiUnit):
        raise InputError(
            f"no unit {cell!r} is known", path=path, row=line, column="unit", remedy="write thread or warp"
        )
    return MpkiUnit(cell)
