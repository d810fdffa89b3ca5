"""nvprof's GPU trace (`nvprof --print-gpu-trace`), printed in columns or as CSV, with what stands around it.

A kernel's name ends with the number of the API call that launched it, and launches are in the order of these
numbers. Where they are missing launches are in the order of their starts, and where starts are equal in that
of the file: starts are printed with six digits, so many are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.arrow import first_true, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    first_line,
    header_cells,
    lines_before,
    parse,
    pieces,
    texts,
)
from sampling.readers.input_file import HEAD_BYTES, InputFile
from sampling.readers.tables.cells import Rows
from sampling.readers.text_lines import lines_of

FORMAT = "nvprof"

# How many nanoseconds one unit of time is. nvprof chooses one for every cell, or one for a column of CSV.
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_GRID = ("Grid X", "Grid Y", "Grid Z")
_BLOCK = ("Block X", "Block Y", "Block Z")
_NEEDED = ("Start", "Duration", *_GRID, *_BLOCK, "Name")
_CSV_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("Start", "Duration"), "number"),
    **dict.fromkeys((*_GRID, *_BLOCK, "Stream", "Correlation_ID"), "integer"),
    **dict.fromkeys(("Device", "Name"), "text"),
}
# How the name of a row begins that is a copy or a memset.
_NO_KERNEL = "[CUDA mem"
_PRINT_AGAIN = "print the trace again with `nvprof --print-gpu-trace --log-file FILE`"

_HEADER = re.compile(
    rb"^(?:(?P<columns>[ \t]*Start {2,}Duration {2,}Grid Size {2,}Block Size {2,}[^\r\n]* {2,}Name)"
    rb'|(?P<csv>"?Start"?,"?Duration"?,"?Grid X"?,[^\r\n]*))[ \t]*\r?(?:\n|\Z)',
    re.MULTILINE,
)
# An empty line, a line of nvprof's own, or the notes that explain the columns.
_ENDS = (b"\n", b"\r\n", b"==", b"Regs: ")
_BANNER = re.compile(rb"^==\d+== (?:NVPROF is profiling|Profiling (?:application|result))", re.MULTILINE)
_SIZE = re.compile(rb"\((\d{1,10}) (\d{1,10}) (\d{1,10})\)|-")
_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*")
# The number in brackets ties a kernel to the API call that launched it.
_NAME = r"(?s)^(?P<name>.*?)(?:\s\[(?P<number>\d{1,18})\])?\s*$"


def recognise(file: InputFile) -> bool:
    """Return whether a GPU trace's header is in the head, or may follow what the program printed."""
    if _HEADER.search(file.head) is not None:
        return True
    return len(file.head) == HEAD_BYTES and _BANNER.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the kernels of the trace as launches.

    Raises
    ------
    ProfileError : there is no GPU trace, or more than one; a row does not fit the header; there is no kernel.
    """
    trace = _Trace(file, kernels)
    for offset, text in pieces(file, progress):
        trace.take(offset, text)
    if not trace.has_header:
        return None
    if trace.launches == 0:
        raise ProfileError(
            "a GPU trace of nvprof that lists no kernel, only copies and memsets or nothing",
            path=file.path,
            remedy="record a run that launches kernels with `nvprof --print-gpu-trace`",
        )
    devices = tuple(Device(number, name) for number, name in sorted(trace.device_names.items()))
    return trace.builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, trace.launches),
        facts=RecordingFacts(devices=devices, launch_order=trace.order, product="nvprof"),
    )


class _Trace:
    """Goes through a file: to the header, through the rows under it, and over what follows them."""

    def __init__(self, file: InputFile, kernels: KernelTable) -> None:
        self.builder = LaunchTableBuilder(file.path, kernels)
        self.device_names: dict[int, str] = {}
        self.launches = 0
        self.order: LaunchOrder = "correlation"
        self.has_header = False
        self._file = file
        self._kernels = kernels
        self._titles: tuple[str, ...] = ()
        # Gives the launches of some rows, as the header says that they are printed.
        self._launches: Callable[[Part], LaunchColumns | None] = self._in_columns
        self._layout: Layout | None = None
        self._units: dict[str, int] = {}
        self._device_numbers: dict[str, int] = {}
        self._has_ended = False

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        found = _HEADER.search(text) if self._has_ended or not self.has_header else None
        if found is not None:
            if self._has_ended:
                raise ProfileError(
                    "holds a second GPU trace of nvprof",
                    path=self._file.path,
                    row=lines_before(self._file, offset + found.start()) + 1,
                    remedy="print each process to a file of its own with `nvprof --log-file FILE.%p`",
                )
            self.has_header = True
            self._launches = self._of_csv if found["csv"] else self._in_columns
            line = (found["csv"] or re.sub(rb" {2,}", b",", found["columns"].strip())).strip()
            self._titles = header_cells(line)
            offset, text = offset + found.end(), text[found.end() :]
        if self._has_ended or not self.has_header or not text:
            return
        if self._layout is None:
            units = first_line(text) if self._launches == self._of_csv else b""
            self._layout = self._read_as(header_cells(units), offset) if units else Layout(self._titles, {})
            offset, text = offset + len(units), text[len(units) :]
        ends = (
            [0]
            if text.startswith(_ENDS)
            else [place + 1 for each in _ENDS if (place := text.find(b"\n" + each)) >= 0]
        )
        rows = text[: min(ends, default=len(text))]
        if (
            rows.strip()
            and (columns := self._launches(Part(self._file, self._layout, offset, rows))) is not None
        ):
            self.builder.append(columns)
            self.launches += len(columns.duration_ns)
            self.order = self.order if columns.order is not None else "gpu-start"
        if ends:
            self._has_ended = True
            self.take(offset + len(rows), text[len(rows) :])

    def _read_as(self, units: tuple[str, ...], offset: int) -> Layout:
        """Return which columns of CSV are read, with the row of units that starts at ``offset``."""
        named = dict(zip(self._titles, units, strict=False))
        self._units = {title: _UNITS.get(unit.strip(), 0) for title, unit in named.items()}
        lacking = next((title for title in _NEEDED if title not in self._titles), None)
        untimed = next((title for title in ("Start", "Duration") if not self._units.get(title)), None)
        if lacking or untimed:
            raise ProfileError(
                f"the header of the GPU trace has no column {lacking}"
                if lacking
                else "the row under the header does not say in which unit of time this is",
                path=self._file.path,
                row=lines_before(self._file, offset) + (lacking is None),
                column=None if lacking else untimed,
                remedy="print the trace again with `nvprof --print-gpu-trace --csv --log-file FILE`",
            )
        kinds = {
            self._titles.index(title): kind for title, kind in _CSV_KINDS.items() if title in self._titles
        }
        return Layout(self._titles, kinds)

    def _of_csv(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows of CSV."""
        place = {title: self._titles.index(title) for title in self._titles}
        every = Rows(part, parse(part), _PRINT_AGAIN)
        distinct, codes = texts(every.table, place["Name"])
        has_grid = to_numpy(every.table.column(str(place["Grid X"])).is_valid())
        rows = every.where(has_grid & ~_starts_with(distinct, _NO_KERNEL)[codes])
        if not len(rows):
            return None
        start_ns, duration_ns = (
            rows.times(place[title], self._units[title]) for title in ("Start", "Duration")
        )
        rows.refuse(duration_ns < 0, place["Duration"], "a launch lasts less than nothing")
        distinct, codes = texts(rows.table, place["Name"])
        name, order = self._numbered_names(distinct.take(to_arrow(codes)))
        correlation = rows.whole_if_complete(place.get("Correlation_ID"))
        return LaunchColumns(
            name=name,
            duration_ns=duration_ns,
            order=order if correlation is None else correlation,
            device=self._devices(*texts(rows.table, place["Device"])) if "Device" in place else None,
            grid=[rows.whole(place[axis]) for axis in _GRID],
            block=[rows.whole(place[axis]) for axis in _BLOCK],
            start_ns=start_ns,
            stream=rows.whole_if_complete(place.get("Stream")),
        )

    def _in_columns(self, part: Part) -> LaunchColumns | None:
        """Return the kernels of some rows: two blanks or more between cells, each time with its own unit."""
        cells = _cells(part)
        grid, has_grid = self._sizes(part, cells, "Grid Size")
        rows = np.flatnonzero(has_grid & ~_starts_with(cells["Name"], _NO_KERNEL))
        if not len(rows):
            return None
        block, has_block = self._sizes(part, cells, "Block Size")
        if not has_block[rows].all():
            raise self._error(part, rows[np.argmin(has_block[rows])], "Block Size", "a kernel without blocks")
        read = {"Start", "Duration", "Device", "Stream", "Name"}.intersection(cells)
        kept = {title: cells[title].take(to_arrow(rows)) for title in read}
        name, order = self._numbered_names(kept["Name"])
        device = kept["Device"].dictionary_encode() if "Device" in kept else None
        stream = None
        if "Stream" in kept:
            self._refuse_unless(r"^\d{1,9}$", part, rows, kept, "Stream", "the number of a stream")
            stream = _integers(kept["Stream"])
        return LaunchColumns(
            name=name,
            duration_ns=self._times(part, rows, kept, "Duration"),
            order=order,
            device=device and self._devices(device.dictionary, to_numpy(device.indices)),
            grid=[axis[rows] for axis in grid],
            block=[axis[rows] for axis in block],
            start_ns=self._times(part, rows, kept, "Start"),
            stream=stream,
        )

    def _sizes(self, part: Part, cells: dict[str, Any], title: str) -> tuple[list[IntArray], BoolArray]:
        """Return x, y and z, (n,) each, zeros where there is no size, and (n,) whether there is one."""
        encoded = cells[title].dictionary_encode()
        codes = to_numpy(encoded.indices)
        sizes = np.zeros((len(encoded.dictionary), 4), dtype=np.int64)
        for code, cell in enumerate(encoded.dictionary.to_pylist()):
            match = _SIZE.fullmatch(cell)
            if match is None:
                shown = cell.decode("utf-8", "replace")
                raise self._error(part, np.argmax(codes == code), title, f"{shown!r} is not a size")
            if match[1]:
                sizes[code] = [*map(int, match.groups()), 1]
        x, y, z, is_known = sizes.T
        return [axis[codes] for axis in (x, y, z)], is_known.astype(np.bool_)[codes]

    def _times(self, part: Part, rows: IntArray, cells: dict[str, Any], title: str) -> IntArray:
        import pyarrow as pa
        from pyarrow import compute

        known = r"^\d+\.?\d*(" + "|".join(_UNITS) + ")$"
        self._refuse_unless(known, part, rows, cells, title, "a time with a unit that is known")
        cell = cells[title].cast(pa.string())
        units = compute.ascii_ltrim(cell, string.digits + ".").dictionary_encode()
        factor = np.array([_UNITS[unit] for unit in units.dictionary.to_pylist()])[to_numpy(units.indices)]
        time_ns = to_numpy(compute.ascii_rtrim(cell, string.ascii_letters).cast(pa.float64())) * factor
        if time_ns.max() >= float(1 << 62):
            raise self._error(part, rows[np.argmax(time_ns)], title, "is not a time that fits")
        whole: IntArray = np.rint(time_ns).astype(np.int64)
        return whole

    def _refuse_unless(
        self, pattern: str, part: Part, rows: IntArray, cells: dict[str, Any], title: str, what: str
    ) -> None:
        from pyarrow import compute

        bad = first_true(compute.invert(compute.match_substring_regex(cells[title], pattern)))
        if bad >= 0:
            shown = cells[title][bad].as_py().decode("utf-8", "replace")
            raise self._error(part, rows[bad], title, f"{shown!r} is not {what}")

    def _error(self, part: Part, row: np.integer, title: str, message: str) -> ProfileError:
        return part.error(int(row), message, position=self._titles.index(title), remedy=_PRINT_AGAIN)

    def _devices(self, distinct: Any, codes: AnyIntArray) -> NDArray[np.int32]:
        """Return (n,) device numbers; printed in columns a name may lack its number: each is a GPU then."""
        numbers = []
        for text in (cell.decode("utf-8", "replace") for cell in distinct.to_pylist()):
            match = _DEVICE.fullmatch(text)
            unused = len(self._device_numbers) if match is None else int(match["number"])
            numbers.append(self._device_numbers.setdefault(text, unused))
            self.device_names[numbers[-1]] = text.strip() if match is None else match["name"]
        return np.array(numbers, dtype=np.int32)[codes]

    def _numbered_names(self, cells: Any) -> tuple[NDArray[np.int32], IntArray | None]:
        """Return (n,) name codes and (n,) the numbers behind the names, None where a name has none."""
        import pyarrow as pa
        from pyarrow import compute

        number: IntArray | None = None
        # A search for the last bracket is quick; it suits where every name has its number.
        split = compute.split_pattern(cells, " [", max_splits=1, reverse=True)
        if compute.all(compute.equal(compute.list_value_length(split), 2)).as_py():
            name, digits = (
                split.flatten().take(to_arrow(np.arange(half, 2 * len(cells), 2))) for half in (0, 1)
            )
            with suppress(pa.ArrowInvalid):
                number = _integers(compute.ascii_rtrim(digits.cast(pa.string()), "] \r"))
        if number is None:
            name, digits = compute.extract_regex(cells, _NAME).flatten()
            if to_numpy(compute.greater(compute.binary_length(digits), 0)).all():
                number = _integers(digits)
        encoded = name.dictionary_encode()
        distinct = [each.decode("utf-8", "replace") for each in encoded.dictionary.to_pylist()]
        return self._kernels.names.intern(distinct)[to_numpy(encoded.indices)], number


def _cells(part: Part) -> dict[str, Any]:
    """Return the cells of rows printed in columns: an Arrow binary array for each title.

    Raises
    ------
    ProfileError : a row has not as many cells as the header.
    """
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    from pyarrow import compute

    titles = part.layout.header
    text = _with_tabs(part.text)
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text),
            read_options=arrow_csv.ReadOptions(
                column_names=titles, block_size=len(text) + 1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(titles, pa.binary()), check_utf8=False
            ),
        ).combine_chunks()
        return {title: table.column(title).combine_chunks() for title in titles}
    except pa.ArrowInvalid:
        # A name may hold two blanks, or a tab.
        lines = lines_of(part.text)
        lines = lines.filter(compute.greater(compute.binary_length(lines), 0))
        cell = r"(?P<c{}>\S+(?: \S+)*)"
        cells = [cell.format(place) for place in range(len(titles) - 1)]
        last = rf"(?P<c{len(titles) - 1}>\S.*?)"
        found = compute.extract_regex(lines, r"^\s*" + r" {2,}".join([*cells, last]) + r"\s*$")
        if found.null_count:
            row = first_true(found.is_null())
            raise part.error(
                row, "the row does not fit the header", position=None, remedy=_PRINT_AGAIN
            ) from None
        return dict(zip(titles, found.flatten(), strict=True))


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


def _integers(cells: Any) -> IntArray:
    import pyarrow as pa

    numbers: IntArray = to_numpy(cells.cast(pa.string()).cast(pa.int64()))
    return numbers


def _starts_with(cells: Any, prefix: str) -> BoolArray:
    from pyarrow import compute

    starts: BoolArray = to_numpy(compute.starts_with(cells, prefix))
    return starts
