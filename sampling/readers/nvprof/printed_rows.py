"""The rows of a GPU trace that nvprof printed in columns, with two blanks or more between cells."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.arrow import first_true, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable
from sampling.readers.csv_cells import Layout, Part
from sampling.readers.nvprof.devices import Devices
from sampling.readers.nvprof.dialect import NANOSECONDS, NO_KERNEL, PRINT_AGAIN, TraceHeader
from sampling.readers.nvprof.names import numbered_names, whole_numbers

_TIME = r"^\d+\.?\d*[A-Za-z]+$"
_SIZE = re.compile(rb"\((\d{1,10}) (\d{1,10}) (\d{1,10})\)")
_NO_SIZE = b"-"


class RowsInColumns:
    """Rows printed for reading: cells with two blanks or more between them, each time with its own unit."""

    def __init__(self, header: TraceHeader, kernels: KernelTable, devices: Devices) -> None:
        self.layout = Layout(header.cells, {})
        self._kernels = kernels
        self._devices = devices

    def launches(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows."""
        cells = cells_of(part)
        grid, has_grid = self._sizes(part, cells, "Grid Size")
        rows = np.flatnonzero(has_grid & ~_starts_with(cells["Name"], NO_KERNEL))
        if not len(rows):
            return None
        block, has_block = self._sizes(part, cells, "Block Size")
        if not has_block[rows].all():
            raise self._error(part, rows[np.argmin(has_block[rows])], "Block Size", "a kernel without blocks")
        kept = to_arrow(rows)
        name, order = numbered_names(cells["Name"].take(kept), self._kernels)
        device = cells["Device"].take(kept).dictionary_encode() if "Device" in cells else None
        return LaunchColumns(
            name=name,
            duration_ns=self._times(part, rows, cells["Duration"].take(kept), "Duration"),
            order=order,
            device=device and self._devices.numbers(device.dictionary, to_numpy(device.indices)),
            grid=[axis[rows] for axis in grid],
            block=[axis[rows] for axis in block],
            start_ns=self._times(part, rows, cells["Start"].take(kept), "Start"),
            stream=self._streams(part, rows, cells["Stream"].take(kept)) if "Stream" in cells else None,
        )

    def _sizes(self, part: Part, cells: Mapping[str, Any], column: str) -> tuple[list[IntArray], BoolArray]:
        """Return x, y and z, (n,) each, zeros where there is no size, and (n,) whether there is one."""
        encoded = cells[column].dictionary_encode()
        codes = to_numpy(encoded.indices)
        distinct = encoded.dictionary.to_pylist()
        sizes = np.zeros((len(distinct), 3), dtype=np.int64)
        for code, cell in enumerate(distinct):
            match = _SIZE.fullmatch(cell)
            if match is not None:
                sizes[code] = [int(axis) for axis in match.groups()]
            elif cell != _NO_SIZE:
                shown = cell.decode("utf-8", "replace")
                raise self._error(part, np.argmax(codes == code), column, f"{shown!r} is not a size")
        known = np.fromiter((cell != _NO_SIZE for cell in distinct), dtype=np.bool_)
        return [sizes[:, axis][codes] for axis in range(3)], known[codes]

    def _times(self, part: Part, rows: IntArray, cells: Any, column: str) -> IntArray:
        import pyarrow as pa
        from pyarrow import compute

        bad = first_true(compute.invert(compute.match_substring_regex(cells, _TIME)))
        if bad >= 0:
            raise self._no_time(part, rows[bad], cells[bad], column)
        texts = cells.cast(pa.string())
        units = compute.ascii_ltrim(texts, string.digits + ".").dictionary_encode()
        scale = np.array([NANOSECONDS.get(unit.encode(), 0) for unit in units.dictionary.to_pylist()])
        factor = scale[to_numpy(units.indices)]
        time_ns = to_numpy(compute.ascii_rtrim(texts, string.ascii_letters).cast(pa.float64())) * factor
        good = (factor > 0) & (time_ns < float(1 << 62))
        if not good.all():
            row = int(np.argmin(good))
            raise self._no_time(part, rows[row], cells[row], column)
        whole: IntArray = np.rint(time_ns).astype(np.int64)
        return whole

    def _no_time(self, part: Part, row: np.integer, cell: Any, column: str) -> ProfileError:
        shown = cell.as_py().decode("utf-8", "replace")
        return self._error(part, row, column, f"{shown!r} is not a time with a unit that is known")

    def _streams(self, part: Part, rows: IntArray, cells: Any) -> IntArray:
        from pyarrow import compute

        bad = first_true(compute.invert(compute.match_substring_regex(cells, r"^\d{1,9}$")))
        if bad >= 0:
            shown = cells[bad].as_py().decode("utf-8", "replace")
            raise self._error(part, rows[bad], "Stream", f"{shown!r} is not the number of a stream")
        return whole_numbers(cells)

    def _error(self, part: Part, row: np.integer, column: str, message: str) -> ProfileError:
        position = self.layout.header.index(column)
        return part.error(int(row), message, position=position, remedy=PRINT_AGAIN)


def cells_of(part: Part) -> Mapping[str, Any]:
    """Return the cells of rows printed in columns: an Arrow binary array for each title.

    Raises
    ------
    ProfileError : a row has not as many cells as the header.
    """
    import pyarrow as pa

    titles = part.layout.header
    try:
        table = _parsed(_with_tabs(part.text), titles, delimiter="\t")
    except pa.ArrowInvalid:
        # A name may hold two blanks, or a tab.
        return _matched(part, titles)
    return {title: table.column(title).combine_chunks() for title in titles}


def _with_tabs(text: bytes) -> bytes:
    """Return the rows with a tab in place of every two blanks or more, but none where a line begins."""
    characters = np.frombuffer(text, dtype=np.uint8)
    blank = characters == ord(" ")
    beside = np.zeros_like(blank)
    beside[1:] = blank[:-1]
    first = blank & ~beside
    first[:-1] &= blank[1:]
    first[-1:] = False
    tabbed = np.where(first, np.uint8(ord("\t")), characters)[~(blank & beside)]
    lines: bytes = b"\n" + tabbed.tobytes()
    return lines.replace(b"\n\t", b"\n").replace(b"\n ", b"\n")[1:]


def _parsed(text: bytes, titles: Sequence[str], *, delimiter: str) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    return arrow_csv.read_csv(
        pa.BufferReader(text),
        read_options=arrow_csv.ReadOptions(column_names=titles, block_size=len(text) + 1, use_threads=False),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, quote_char=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(titles, pa.binary()), check_utf8=False
        ),
    ).combine_chunks()


def _matched(part: Part, titles: Sequence[str]) -> Mapping[str, Any]:
    from pyarrow import compute

    cell = r"(?P<c{}>\S+(?: \S+)*)"
    cells = [cell.format(place) for place in range(len(titles) - 1)]
    pattern = r"^\s*" + r" {2,}".join([*cells, rf"(?P<c{len(titles) - 1}>\S.*?)"]) + r"\s*$"
    # No character parts a line.
    lines = _parsed(part.text.replace(b"\x01", b" "), ["line"], delimiter="\x01").column(0).combine_chunks()
    found = compute.extract_regex(lines, pattern)
    if found.null_count:
        row = first_true(found.is_null())
        raise part.error(row, "the row does not fit the header", position=None, remedy=PRINT_AGAIN)
    return dict(zip(titles, found.flatten(), strict=True))


def _starts_with(cells: Any, prefix: bytes) -> BoolArray:
    from pyarrow import compute

    starts: BoolArray = to_numpy(compute.starts_with(cells, prefix.decode()))
    return starts
