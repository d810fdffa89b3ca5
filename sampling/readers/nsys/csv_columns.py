"""The columns of one part of an `nsys stats` trace as numpy arrays: units, devices, dimensions, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import to_arrow, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.readers.csv_cells import NULLS, Part, Table, texts, values
from sampling.readers.nsys.csv_dialect import TraceHeader

_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*|\s*(?P<bare>\d{1,9})\s*")
_WRITE_AGAIN = "write the report again"


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """The launches of one part, column by column.

    Attributes
    ----------
    table : the rows that are launches.
    rows : (n,) their rows in ``part``; None if they are all of it.
    """

    header: TraceHeader
    part: Part
    table: Table
    rows: IntArray | None

    def times(self, column: str) -> IntArray:
        """Return (n,) nanoseconds, rounded where the report has larger units."""
        return nanoseconds(
            self.part,
            self.table,
            self.header.positions[column],
            self.rows,
            unit=self.header.nanoseconds(column) or 1,
        )

    def durations(self, column: str) -> IntArray:
        """Return (n,) nanoseconds, none of them negative."""
        duration_ns = self.times(column)
        if duration_ns.min() < 0:
            row = int(np.argmax(duration_ns < 0))
            raise self._error(
                row, column, f"a launch lasts {duration_ns[row]:,} ns", "record the profile again"
            )
        return duration_ns

    def whole(self, column: str) -> AnyIntArray | None:
        """Return (n,) integers, None where the report lacks the column."""
        position = self.header.positions.get(column)
        return None if position is None else _compact(values(self.part, self.table, position, self.rows))

    def whole_if_complete(self, column: str) -> AnyIntArray | None:
        """Return (n,) integers, None where the report lacks the column or any value in it."""
        position = self.header.positions.get(column)
        if position is None or self.table.column(str(position)).null_count:
            return None
        return self.whole(column)

    def axes(self, columns: Sequence[str]) -> list[AnyIntArray]:
        """Return x, y and z, (n,) each, from a column each."""
        return [values(self.part, self.table, self.header.positions[c], self.rows) for c in columns]

    def dimensions(self, column: str) -> list[AnyIntArray] | None:
        """Return x, y and z, (n,) each, from one column of three numbers; zeros where it is empty."""
        import pyarrow as pa
        from pyarrow import compute

        position = self.header.positions.get(column)
        if position is None:
            return None
        distinct, codes = texts(self.table, position)
        cells = to_arrow_texts([cell.decode("utf-8", "replace") for cell in distinct.to_pylist()])
        empty = compute.is_in(cells, value_set=to_arrow_texts(NULLS))
        cells = compute.if_else(empty, to_arrow_texts(["0 0 0"])[0], cells)
        bare = compute.utf8_trim_whitespace(compute.replace_substring_regex(cells, r"[\s,;x()]+", " "))
        bad = compute.invert(compute.match_substring_regex(bare, r"^\d{1,10} \d{1,10} \d{1,10}$"))
        wrong = np.flatnonzero(to_numpy(bad)[codes])
        if len(wrong):
            row = int(wrong[0])
            cell = cells[int(codes[row])].as_py()
            raise self._error(row, column, f"{cell!r} is not three numbers", _WRITE_AGAIN)
        numbers = compute.list_flatten(compute.split_pattern(bare, " ")).cast(pa.int64())
        axes = to_numpy(numbers).reshape(-1, 3)
        return [axes[:, axis][codes] for axis in range(3)]

    def devices(self, known: dict[int, str]) -> NDArray[np.int32] | None:
        """Return (n,) device numbers from ``NAME (id)``, ``(id)`` or a bare number; names go to ``known``."""
        position = self.header.positions.get("Device")
        if position is None:
            return None
        distinct, codes = texts(self.table, position)
        numbers = np.zeros(len(distinct), dtype=np.int32)
        for code, cell in enumerate(distinct.to_pylist()):
            if not np.any(codes == code):
                continue
            text = cell.decode("utf-8", "replace")
            match = _DEVICE.fullmatch(text)
            if match is None:
                row = int(np.argmax(codes == code))
                raise self._error(row, "Device", f"{text!r} does not say which GPU", _WRITE_AGAIN)
            numbers[code] = int(match["number"] or match["bare"])
            known[int(numbers[code])] = (match["name"] or "").strip() or known.get(int(numbers[code]), "")
        return numbers[codes]

    def names(self, column: str, kernels: KernelTable) -> NDArray[np.int32]:
        """Return (n,) name codes; only the names of launches are interned."""
        return names(self.part, self.table, self.header.positions[column], self.rows, kernels)

    def _error(self, row: int, column: str, message: str, remedy: str) -> ProfileError:
        row = row if self.rows is None else int(self.rows[row])
        return self.part.error(row, message, position=self.header.positions[column], remedy=remedy)


def nanoseconds(part: Part, table: Table, position: int, rows: IntArray | None, *, unit: int) -> IntArray:
    """Return (n,) times, rounded to nanoseconds.

    Raises
    ------
    ProfileError : a cell is empty, or not a time that fits.
    """
    raw = values(part, table, position, rows)
    if raw.dtype.kind == "i":
        return raw.astype(np.int64, copy=False) * unit if unit > 1 else raw.astype(np.int64, copy=False)
    scaled = np.rint(raw.astype(np.float64) * unit)
    fits = np.abs(scaled) < float(1 << 62)
    if not fits.all():
        row = int(np.argmin(fits))
        raise part.error(
            row if rows is None else int(rows[row]),
            f"{raw[row]} is not a time",
            position=position,
            remedy=part.layout.remedy or _WRITE_AGAIN,
        )
    return scaled.astype(np.int64)


def names(
    part: Part,
    table: Table,
    position: int,
    rows: IntArray | None,
    kernels: KernelTable,
    *,
    spelt_as: Callable[[str], str] = str,
) -> NDArray[np.int32]:
    """Return (n,) codes of the kernel names in a column.

    Parameters
    ----------
    spelt_as : gives the name of a kernel from what stands in the cell.

    Raises
    ------
    ProfileError : a launch has no name.
    """
    distinct, codes = texts(table, position)
    used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    spelt = [spelt_as(name.decode("utf-8", "replace")) for name in distinct.take(to_arrow(used)).to_pylist()]
    if "" in spelt:
        row = int(np.argmax(codes == used[spelt.index("")]))
        raise part.error(
            row if rows is None else int(rows[row]),
            "a launch has no kernel name",
            position=position,
            remedy=part.layout.remedy or _WRITE_AGAIN,
        )
    interned = np.zeros(len(distinct), dtype=np.int32)
    interned[used] = kernels.names.intern(spelt)
    return interned[codes]


def _compact(numbers: AnyIntArray) -> AnyIntArray:
    """Return the numbers in 32 bits where they fit."""
    fits = numbers.min() >= -(1 << 31) and numbers.max() < 1 << 31
    return numbers.astype(np.int32) if fits else numbers
