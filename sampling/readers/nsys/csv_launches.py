"""The rows of one `nsys stats` trace as launches."""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import Device, KernelTable, LaunchOrder, RecordingFacts
from sampling.readers.csv_cells import Kind, Layout, Part, Table, lines_before, texts
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.csv_columns import TraceColumns
from sampling.readers.nsys.csv_dialect import TraceHeader

_GRID_AXES = ("GrdX", "GrdY", "GrdZ")
_BLOCK_AXES = ("BlkX", "BlkY", "BlkZ")
_TIMES = {"gpu": ("Start", "Duration"), "exec": ("API Start", "Kernel Start", "Kernel Dur")}
_WHOLE_NUMBERS = {"gpu": ("CorrId", *_GRID_AXES, *_BLOCK_AXES, "Strm"), "exec": ("PID", "DevId")}
_TEXTS = {"gpu": ("Device", "Name"), "exec": ("GridXYZ", "BlockXYZ", "Kernel Name")}
_NO_KERNEL = b"[CUDA "

# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19


class Trace:
    """One trace of a file while its rows come in.

    Attributes
    ----------
    header, offset : the header, and where it starts in the decompressed bytes.
    layout : the columns to read.
    launches, others : rows so far that are kernel launches, and that are copies and memsets.
    """

    def __init__(self, file: InputFile, header: TraceHeader, offset: int, kernels: KernelTable) -> None:
        self.header = header
        self.offset = offset
        self.launches = 0
        self.others = 0
        self._file = file
        self._kernels = kernels
        self._builder = LaunchTableBuilder(file.path, kernels)
        self._waiting: list[LaunchColumns] = []
        self._waiting_rows = 0
        self._devices: dict[int, str] = {}
        self._correlated = "CorrId" in header.positions
        self.layout = Layout(header.cells, self._kinds())

    def _kinds(self) -> dict[int, Kind]:
        """Return how each column is read: times in nanoseconds as integers, in larger units as fractions."""
        kind, positions = self.header.kind, self.header.positions
        kinds: dict[int, Kind] = {}
        for column in _TIMES[kind]:
            kinds[positions[column]] = "integer" if self._unit(column) == 1 else "number"
        kinds |= {positions[column]: "integer" for column in _WHOLE_NUMBERS[kind] if column in positions}
        return kinds | {positions[column]: "text" for column in _TEXTS[kind] if column in positions}

    def _unit(self, column: str) -> int:
        unit = self.header.nanoseconds(column)
        if unit is None:
            raise ProfileError(
                f"the unit {self.header.units[column]!r} is not known",
                path=self._file.path,
                row=lines_before(self._file, self.offset) + 1,
                column=column,
                remedy="write the report again with `nsys stats --timeunit nsec`",
            )
        return unit

    @property
    def builder(self) -> LaunchTableBuilder:
        """The builder, with all rows in it."""
        self._flush()
        return self._builder

    def facts(self) -> RecordingFacts:
        """Return what the rows say of the recording."""
        order: LaunchOrder = "correlation" if self._correlated else "gpu-start"
        return RecordingFacts(
            devices=tuple(Device(number, name) for number, name in sorted(self._devices.items()) if name),
            launch_order="api-start" if self.header.kind == "exec" else order,
        )

    def add(self, part: Part, table: Table) -> None:
        """Add the rows of a parsed part.

        Raises
        ------
        ProfileError : a value is missing or makes no sense.
        """
        rows = self._launch_rows(table) if self.header.kind == "gpu" else None
        if rows is not None:
            self.others += table.num_rows - len(rows)
            table = table.take(to_arrow(rows))
        if table.num_rows == 0:
            return
        columns = TraceColumns(self.header, part, table, rows)
        self._waiting.append(self._gpu(columns) if self.header.kind == "gpu" else self._executed(columns))
        self.launches += table.num_rows
        self._waiting_rows += table.num_rows
        if self._waiting_rows >= _ROWS_AT_ONCE:
            self._flush()

    def _launch_rows(self, table: Table) -> IntArray | None:
        """Return the rows with a grid, whose name is no copy's or memset's; None if that is all of them."""
        grid = table.column(str(self.header.positions["GrdX"]))
        names, codes = texts(table, self.header.positions["Name"])
        no_kernel = np.fromiter((name.startswith(_NO_KERNEL) for name in names.to_pylist()), dtype=np.bool_)
        if not grid.null_count and not no_kernel.any():
            return None
        return np.flatnonzero(to_numpy(grid.is_valid()) & ~no_kernel[codes])

    def _flush(self) -> None:
        if self._waiting:
            self._builder.append(joined_columns(self._waiting))
        self._waiting.clear()
        self._waiting_rows = 0

    def _gpu(self, columns: TraceColumns) -> LaunchColumns:
        start_ns = columns.times("Start")
        correlation = columns.whole_if_complete("CorrId")
        self._correlated &= correlation is not None
        return LaunchColumns(
            name=columns.names("Name", self._kernels),
            duration_ns=columns.durations("Duration"),
            order=correlation,
            device=columns.devices(self._devices),
            grid=columns.axes(_GRID_AXES),
            block=columns.axes(_BLOCK_AXES),
            start_ns=start_ns,
            stream=columns.whole_if_complete("Strm"),
        )

    def _executed(self, columns: TraceColumns) -> LaunchColumns:
        return LaunchColumns(
            name=columns.names("Kernel Name", self._kernels),
            duration_ns=columns.durations("Kernel Dur"),
            order=columns.times("API Start"),
            process=columns.whole("PID"),
            device=columns.whole("DevId"),
            grid=columns.dimensions("GridXYZ"),
            block=columns.dimensions("BlockXYZ"),
            start_ns=columns.times("Kernel Start"),
        )
