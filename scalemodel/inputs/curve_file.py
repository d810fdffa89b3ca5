"""A miss-rate curve from a CSV: points to go beside the IPC of the scale models.

Columns ``size,mpki`` and, where known, ``unit,low,high,line_bytes``, in any order; others are ignored. A size
is that of the system whose last-level cache has the row's capacity; the unit, thread or warp, is whose
instructions the MPKI counts; low to high is the sampling error of the MPKI; line_bytes is what one miss
fetches.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from scalemodel.errors import InputError, Place
from scalemodel.inputs.text_file import csv_errors_placed, number_in, read_text, require
from scalemodel.measurements import SIZE_REMEDY, MpkiUnit, wrong_mpki, wrong_size

#: Remedies that ask for another curve; a front door may say how it makes one.
GIVE_COLUMNS = "give a curve with the columns size and mpki"
GIVE_SIZES = "make the curve with a system size for each capacity"
GIVE_INSTRUCTIONS = "make the curve with the `instructions` of the trace"
_REQUIRED = {"size": GIVE_SIZES, "mpki": GIVE_INSTRUCTIONS}


@dataclass(frozen=True, slots=True)
class CurvePoints:
    """A miss-rate curve over system sizes.

    Attributes
    ----------
    mpki : (size, MPKI), in the file's order.
    unit : whose instructions the MPKI counts; None where the file does not say it.
    bounds : (size, low, high) of each MPKI that has a sampling error.
    line_bytes : bytes that one miss fetches; None where the file does not say it.
    """

    mpki: tuple[tuple[int, float], ...]
    unit: MpkiUnit | None
    bounds: tuple[tuple[int, float, float], ...] = ()
    line_bytes: int | None = None


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
    with csv_errors_placed(reader, path):
        return _points(reader, path)


def _points(reader: csv.DictReader[str], path: str) -> CurvePoints:
    for column in _REQUIRED:
        if column not in (reader.fieldnames or ()):
            raise InputError(f"no column {column}", Place(path, 1), remedy=GIVE_COLUMNS)
    points: list[tuple[int, float]] = []
    bounds: list[tuple[int, float, float]] = []
    units: set[MpkiUnit | None] = set()
    lines: set[int | None] = set()
    for row in reader:
        place = Place(path, reader.line_num)
        points.append(_point(row, place))
        bounds += _bounds(row, *points[-1], place)
        units.add(_unit(row.get("unit"), place))
        if len(units) > 1:
            what, remedy = "rows differ in their unit", "count all MPKI in the same instructions"
            raise InputError(what, place.in_column("unit"), remedy=remedy)
        lines.add(_line_bytes(row.get("line_bytes"), place))
        if len(lines) > 1:
            what, remedy = "rows differ in their line size", "count all misses in lines of one size"
            raise InputError(what, place.in_column("line_bytes"), remedy=remedy)
    if not points:
        raise InputError("no point of a curve", Place(path), remedy="give a row for each size")
    return CurvePoints(tuple(points), units.pop(), tuple(bounds), lines.pop())


def _point(row: Mapping[str, str | None], place: Place) -> tuple[int, float]:
    size, mpki = (
        number_in(row[column] or "", place.in_column(column), remedy) for column, remedy in _REQUIRED.items()
    )
    require(wrong_size(size), place.in_column("size"), SIZE_REMEDY)
    require(wrong_mpki(mpki), place.in_column("mpki"), "correct it, or drop the row")
    return int(size), mpki


def _bounds(
    row: Mapping[str, str | None], size: int, mpki: float, place: Place
) -> list[tuple[int, float, float]]:
    """Return (size, low, high), alone in a list; an empty one where the row states no sampling error."""
    cells = {column: row.get(column) or "" for column in ("low", "high")}
    if not all(cell.strip() for cell in cells.values()):
        return []
    low, high = (number_in(cell, place.in_column(column), "write a number") for column, cell in cells.items())
    if wrong_mpki(low) or wrong_mpki(high) or not low <= mpki <= high:
        raise InputError(
            f"the MPKI of {mpki:g} is not from {low:g} to {high:g}",
            place.in_column("low" if low > mpki else "high"),
            remedy="give its sampling error, or drop both columns",
        )
    return [(size, low, high)] if low < high else []


def _unit(cell: str | None, place: Place) -> MpkiUnit | None:
    if not cell:
        return None
    if cell not in list(MpkiUnit):
        what = f"no unit {cell!r} is known"
        raise InputError(what, place.in_column("unit"), remedy="write thread or warp")
    return MpkiUnit(cell)


def _line_bytes(cell: str | None, place: Place) -> int | None:
    if not cell:
        return None
    remedy = "write the bytes of a line, a power of two"
    number = number_in(cell, place.in_column("line_bytes"), remedy)
    if number < 1 or not number.is_integer() or int(number) & (int(number) - 1):
        raise InputError(f"{cell} is no line size", place.in_column("line_bytes"), remedy=remedy)
    return int(number)
