"""The rows of nvprof's GPU trace as launches, from columns of text or from CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.arrow import first_true, to_arrow, to_numpy
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import Device, KernelTable
from sampling.readers.csv_cells import Kind, Layout, Part, parse, texts, values
from sampling.readers.nsys.csv_columns import nanoseconds
from sampling.readers.nvprof.dialect import NANOSECONDS, TraceHeader

_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*")
# The number in brackets ties a kernel to the API call that launched it.
_NAME = r"(?s)^(?P<name>.*?)(?:\s\[(?P<correlation>\d{1,18})\])?\s*$"
_NO_KERNEL = "[CUDA mem"
_TIME = r"(?P<{0}>\d+\.?\d*(?:e[+-]?\d+)?)(?P<{0}_unit>[A-Za-z]+)"
_SIZE = r"(?:-|\((?P<{0}_x>\d{{1,10}}) (?P<{0}_y>\d{{1,10}}) (?P<{0}_z>\d{{1,10}})\))"
_PATTERNS = {
    "Start": _TIME.format("start"),
    "Duration": _TIME.format("duration"),
    "Grid Size": _SIZE.format("grid"),
    "Block Size": _SIZE.format("block"),
    "Device": r"(?P<device>\S.*?)",
    "Stream": r"(?P<stream>\d{1,9})",
    "Name": r"(?P<name>\S.*?)",
}
_GRID = ("Grid X", "Grid Y", "Grid Z")
_BLOCK = ("Block X", "Block Y", "Block Z")
_READ_AS: Mapping[Kind, tuple[str, ...]] = {
    "number": ("Start", "Duration"),
    "integer": (*_GRID, *_BLOCK, "Stream", "Correlation_ID"),
    "text": ("Device", "Name"),
}
_AGAIN = "print the trace again with `nvprof --print-gpu-trace --log-file FILE`"


class Rows(Protocol):
    """What turns the rows under one header into launches."""

    layout: Layout

    def launches(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows, None where there are only copies.

        Raises
        ------
        ProfileError : a row does not fit the header, or a value makes no sense.
        """


class Devices:
    """The GPUs of a trace. Printed in columns, a name may lack its number: then each name is one GPU."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def numbers(self, distinct: Any, codes: AnyIntArray) -> NDArray[np.int32]:
        """Return (n,) device numbers from distinct texts, an Arrow array, and (n,) each row's index."""
        found = [self._number(text.decode("utf-8", "replace")) for text in distinct.to_pylist()]
        return np.array(found, dtype=np.int32)[codes]

    def described(self) -> tuple[Device, ...]:
        """Return the devices by number."""
        return tuple(Device(number, name) for number, name in sorted(self._names.items()))

    def _number(self, text: str) -> int:
        match = _DEVICE.fullmatch(text)
        name = text.strip() if match is None else match["name"]
        unused = len(self._numbers) if match is None else int(match["number"])
        number = self._numbers.setdefault(text, unused)
        self._names[number] = name
        return number


class RowsInColumns:
    """Rows printed for reading: cells between two blanks or more, each time with a unit of its own."""

    def __init__(self, header: TraceHeader, kernels: KernelTable, devices: Devices) -> None:
        self.layout = Layout(header.cells, {})
        self._kernels = kernels
        self._devices = devices
        cells = (_PATTERNS.get(title, r"\S+(?: \S+)*") for title in header.cells)
        self._pattern = r"^\s*" + r" {2,}".join(cells) + r"\s*$"

    def launches(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows."""
        from pyarrow import compute

        lines = _lines(part.text)
        rows = np.flatnonzero(~to_numpy(compute.match_substring(lines, _NO_KERNEL)))
        found = compute.extract_regex(lines.take(to_arrow(rows)), self._pattern)
        if found.null_count:
            row = first_true(found.is_null())
            raise part.error(int(rows[row]), "the row does not fit the header", position=None, remedy=_AGAIN)
        fields = {field.name: values for field, values in zip(found.type, found.flatten(), strict=True)}
        # A row without a grid is a copy of some kind.
        kernel = to_numpy(compute.greater(compute.binary_length(fields["grid_x"]), 0))
        if not kernel.any():
            return None
        rows = rows[kernel]
        fields = {name: values.take(to_arrow(np.flatnonzero(kernel))) for name, values in fields.items()}
        return self._converted(part, rows, fields)

    def _converted(self, part: Part, rows: IntArray, fields: dict[str, Any]) -> LaunchColumns:
        name, order = _names(fields["name"], self._kernels)
        device = fields["device"].dictionary_encode() if "device" in fields else None
        return LaunchColumns(
            name=name,
            duration_ns=self._times(part, rows, fields, "duration"),
            order=order,
            device=None
            if device is None
            else self._devices.numbers(device.dictionary, to_numpy(device.indices)),
            grid=[_whole(fields[f"grid_{axis}"]) for axis in "xyz"],
            block=[_whole(fields[f"block_{axis}"]) for axis in "xyz"],
            start_ns=self._times(part, rows, fields, "start"),
            stream=_whole(fields["stream"]) if "stream" in fields else None,
        )

    def _times(self, part: Part, rows: IntArray, fields: dict[str, Any], column: str) -> IntArray:
        import pyarrow as pa

        units = fields[f"{column}_unit"].dictionary_encode()
        scale = np.array([NANOSECONDS.get(unit, 0) for unit in units.dictionary.to_pylist()])
        factor = scale[to_numpy(units.indices)]
        numbers = to_numpy(fields[column].cast(pa.string()).cast(pa.float64()))
        return _rounded(part, rows, numbers * factor, factor > 0, self.layout.header.index(column.title()))


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

    def unit(self, column: str) -> int:
        """Return how many nanoseconds one unit of a column is, 0 for a unit not known."""
        return NANOSECONDS.get(self._units.get(column, "").strip().encode(), 0)

    def launches(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows."""
        table = parse(part)
        copied = texts(table, self._positions["Name"])
        no_kernel = np.fromiter(
            (name.startswith(_NO_KERNEL.encode()) for name in copied[0].to_pylist()), dtype=np.bool_
        )
        has_grid = to_numpy(table.column(str(self._positions[_GRID[0]])).is_valid())
        rows = np.flatnonzero(has_grid & ~no_kernel[copied[1]]) if table.num_rows else np.zeros(0, np.int64)
        if not len(rows):
            return None
        table = table.take(to_arrow(rows))
        distinct, codes = texts(table, self._positions["Name"])
        name, order = _names(distinct.take(to_arrow(codes)), self._kernels)
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
            device=self._devices.numbers(*texts(table, self._positions["Device"])),
            grid=[values(part, table, self._positions[axis], rows) for axis in _GRID],
            block=[values(part, table, self._positions[axis], rows) for axis in _BLOCK],
            start_ns=start_ns,
            stream=self._whole(part, table, rows, "Stream"),
        )

    def _whole(self, part: Part, table: Any, rows: IntArray, column: str) -> AnyIntArray | None:
        position = self._positions.get(column)
        if position is None or table.column(str(position)).null_count:
            return None
        return values(part, table, position, rows)


def _names(cells: Any, kernels: KernelTable) -> tuple[NDArray[np.int32], IntArray | None]:
    """Return (n,) name codes and (n,) the numbers behind the names, None where a name has none."""
    from pyarrow import compute

    name, correlation = compute.extract_regex(cells, _NAME).flatten()
    encoded = name.dictionary_encode()
    distinct = [each.decode("utf-8", "replace") for each in encoded.dictionary.to_pylist()]
    codes = kernels.names.intern(distinct)[to_numpy(encoded.indices)]
    numbered = to_numpy(compute.greater(compute.binary_length(correlation), 0)).all()
    return codes, _whole(correlation) if numbered else None


def _lines(text: bytes) -> Any:
    """Return the lines as an Arrow binary array."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    return (
        arrow_csv.read_csv(
            pa.BufferReader(text),
            read_options=arrow_csv.ReadOptions(
                column_names=["line"], block_size=len(text) + 1, use_threads=False
            ),
            # No byte of a line parts it.
            parse_options=arrow_csv.ParseOptions(delimiter="\x01", quote_char=False),
            convert_options=arrow_csv.ConvertOptions(column_types={"line": pa.binary()}, check_utf8=False),
        )
        .combine_chunks()
        .column(0)
        .combine_chunks()
    )


def _whole(cells: Any) -> IntArray:
    """Return (n,) integers from an Arrow array of digits."""
    import pyarrow as pa

    numbers: IntArray = to_numpy(cells.cast(pa.string()).cast(pa.int64()))
    return numbers


def _rounded(part: Part, rows: IntArray, time_ns: FloatArray, known: BoolArray, position: int) -> IntArray:
    fits = known & (time_ns < float(1 << 62))
    if not fits.all():
        raise part.error(
            int(rows[np.argmin(fits)]),
            "not a time with a unit that is known",
            position=position,
            remedy=_AGAIN,
        )
    whole: IntArray = np.rint(time_ns).astype(np.int64)
    return whole


def _refuse_negative(part: Part, rows: IntArray, duration_ns: IntArray, position: int) -> None:
    if duration_ns.min() < 0:
        row = int(rows[np.argmax(duration_ns < 0)])
        raise part.error(row, "a launch lasts less than nothing", position=position, remedy=_AGAIN)
