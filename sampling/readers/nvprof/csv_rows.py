"""The rows of a GPU trace that nvprof printed as CSV, under a row of units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import to_arrow, to_numpy
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable
from sampling.readers.csv_cells import Kind, Layout, Part, parse, texts, values
from sampling.readers.nsys.csv_columns import nanoseconds
from sampling.readers.nvprof.devices import Devices
from sampling.readers.nvprof.dialect import NANOSECONDS, NO_KERNEL, PRINT_AGAIN, TraceHeader
from sampling.readers.nvprof.names import numbered_names

_GRID = ("Grid X", "Grid Y", "Grid Z")
_BLOCK = ("Block X", "Block Y", "Block Z")
_READ_AS: Mapping[Kind, tuple[str, ...]] = {
    "number": ("Start", "Duration"),
    "integer": (*_GRID, *_BLOCK, "Stream", "Correlation_ID"),
    "text": ("Device", "Name"),
}


class RowsOfCsv:
    """Rows of CSV under a row of units."""

    def __init__(
        self, header: TraceHeader, units: Sequence[str], kernels: KernelTable, devices: Devices
    ) -> None:
        self._positions = {title: place for place, title in enumerate(header.cells)}
        kinds: dict[int, Kind] = {}
        for kind, titles in _READ_AS.items():
            kinds |= {self._positions[title]: kind for title in titles if title in self._positions}
        self.layout = Layout(header.cells, kinds)
        self._units = dict(zip(header.cells, units, strict=False))
        self._kernels = kernels
        self._devices = devices

    def lacking(self) -> str | None:
        """Return the first column that every launch needs and the header does not name."""
        needed = ("Start", "Duration", *_GRID, *_BLOCK, "Name")
        return next((title for title in needed if title not in self._positions), None)

    def unit(self, column: str) -> int:
        """Return how many nanoseconds one unit of a column is, 0 for a unit not known."""
        return NANOSECONDS.get(self._units.get(column, "").strip().encode(), 0)

    def launches(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows."""
        table = parse(part)
        copied = texts(table, self._positions["Name"])
        no_kernel = np.fromiter(
            (name.startswith(NO_KERNEL) for name in copied[0].to_pylist()), dtype=np.bool_
        )
        has_grid = to_numpy(table.column(str(self._positions[_GRID[0]])).is_valid())
        rows = np.flatnonzero(has_grid & ~no_kernel[copied[1]]) if table.num_rows else np.zeros(0, np.int64)
        if not len(rows):
            return None
        table = table.take(to_arrow(rows))
        distinct, codes = texts(table, self._positions["Name"])
        name, order = numbered_names(distinct.take(to_arrow(codes)), self._kernels)
        start_ns, duration_ns = (
            nanoseconds(part, table, self._positions[column], rows, unit=self.unit(column))
            for column in ("Start", "Duration")
        )
        _refuse_negative(part, rows, duration_ns, self._positions["Duration"])
        correlation = self._whole(part, table, rows, "Correlation_ID")
        return LaunchColumns(
            name=name,
            duration_ns=duration_ns,
            order=order if correlation is None else correlation,
            device=self._device_numbers(table),
            grid=[values(part, table, self._positions[axis], rows) for axis in _GRID],
            block=[values(part, table, self._positions[axis], rows) for axis in _BLOCK],
            start_ns=start_ns,
            stream=self._whole(part, table, rows, "Stream"),
        )

    def _device_numbers(self, table: Any) -> AnyIntArray | None:
        position = self._positions.get("Device")
        return None if position is None else self._devices.numbers(*texts(table, position))

    def _whole(self, part: Part, table: Any, rows: IntArray, column: str) -> AnyIntArray | None:
        position = self._positions.get(column)
        if position is None or table.column(str(position)).null_count:
            return None
        return values(part, table, position, rows)


def _refuse_negative(part: Part, rows: IntArray, duration_ns: IntArray, position: int) -> None:
    if duration_ns.min() < 0:
        row = int(rows[np.argmax(duration_ns < 0)])
        raise part.error(row, "a launch lasts less than nothing", position=position, remedy=PRINT_AGAIN)
