"""`nsys stats` CSV: the GPU trace or the kernel execution trace, of Nsight Systems 2020.4 to 2026.2.

One file may hold several reports. Of a GPU trace and a kernel execution trace of one run the latter is read,
because it is in API order and names the process, unless it lists fewer launches: it leaves out kernels whose
API call was not recorded. Two traces of the same kind are refused: they may be two runs or one run twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.activity import ActivityReader, make_activity
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.profile.times import NO_START
from sampling.readers.input_file import HEAD_BYTES, InputFile, pieces
from sampling.readers.table import Kind, Layout, Rows, first_line, header_cells, parse, parse_plain
from sampling.readers.table_launches import Launches
from sampling.readers.text_lines import lines_before

FORMAT = "nsys-csv"

#: "gpu": gputrace, cuda_gpu_trace. "exec": kernexectrace, cuda_kern_exec_trace
TraceKind = Literal["gpu", "exec"]

_TRACE_NAMES: Mapping[TraceKind, str] = {"gpu": "GPU trace", "exec": "kernel execution trace"}
_GRID, _BLOCK = ("GrdX", "GrdY", "GrdZ"), ("BlkX", "BlkY", "BlkZ")
_REQUIRED: Mapping[TraceKind, frozenset[str]] = {
    "gpu": frozenset({"Start", "Duration", *_GRID, *_BLOCK, "Name"}),
    "exec": frozenset({"API Start", "Kernel Start", "Kernel Dur", "Kernel Name"}),
}
# Read as times, in nanoseconds as integers and in larger units as fractions; as integers; as texts.
_CALL_LASTS, _CALL_NAME = "API Dur", "API Function"
_TIMES = {"gpu": ("Start", "Duration"), "exec": ("API Start", _CALL_LASTS, "Kernel Start", "Kernel Dur")}
_WHOLE_NUMBERS = {"gpu": ("CorrId", *_GRID, *_BLOCK, "Strm"), "exec": ("PID", "DevId")}
# What a copy or set is of, in bytes or, by newer versions, in the unit that the title names.
_SIZE, _BYTES = "Bytes", {"": 1, "B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_MOST_BYTES = 2.0**62
_TEXTS = {"gpu": ("Device", "Name"), "exec": (_CALL_NAME, "GridXYZ", "BlockXYZ", "Kernel Name")}
_NANOSECONDS = {
    **dict.fromkeys(("", "ns", "nsec"), 1),
    **dict.fromkeys(("us", "usec", "\N{MICRO SIGN}s"), 1_000),
    **dict.fromkeys(("ms", "msec"), 1_000_000),
    **dict.fromkeys(("s", "sec"), 1_000_000_000),
}
#: The header of another report of `nsys stats`, and what it says of one that it left out
OTHER_REPORT = (
    rb"^(?:\xef\xbb\xbf)?(?:Start ?\(\w+\),(?:End|Duration)|Time ?\(%\),Total Time|Name,Projected Start|"
    rb"Total(?: ?\(\w+\))?,(?:Operations|Count))"
)
SKIPPED_REPORT = rb"^SKIPPED: "
_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*|\s*(?P<bare>\d{1,9})\s*")
_TITLE = re.compile(r"\s*(.*?)\s*(?:\(([^()]*)\))?\s*")
_NEWLINE, _QUOTE = b'\n"'
# Which bytes begin a row, or are all of an empty line, which may stand between rows.
_BEGINS_ROW = np.isin(np.arange(256), list(b"0123456789.-\r\n"))


def recognise(file: InputFile) -> bool:
    """Return whether a trace's header is in the head, or may follow a report that fills the head."""
    if any(map(_trace_header, file.head.split(b"\n"))):
        return True
    more_to_come = len(file.head) == HEAD_BYTES
    return more_to_come and any(
        re.search(pattern, file.head, re.MULTILINE) for pattern in (OTHER_REPORT, SKIPPED_REPORT)
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the launches of the trace in the file, None where there is none.

    Raises ProfileError: there are two of one kind; a row is cut short or a value is not a number; the trace
    lists no kernel launch.
    """
    reports = _Reports(file, kernels)
    for offset, text in pieces(file, progress):
        reports.take(offset, text)
    traces = reports.traces.values()
    if not traces:
        return None
    return max(traces, key=lambda trace: (trace.launches.count, trace.kind == "exec")).finish()


class _Reports:
    """The traces of a file, and which of them is open: its rows may go on."""

    def __init__(self, file: InputFile, kernels: KernelTable) -> None:
        self.traces: dict[TraceKind, _Trace] = {}
        self.open: _Trace | None = None
        self._file, self._kernels = file, kernels
        # How many cells the last trace has, and the last line that is none of its rows.
        self._width = self._other_width = 0

    def take(self, offset: int, text: bytes) -> None:
        """Take the next whole lines.

        Raises ProfileError: a second trace of one kind, or rows that go on after a line that is none of them.
        """
        # Most pieces are rows of a trace from their first line to their last.
        plain = None if self.open is None else parse_plain(self._file, self.open.layout, offset, text)
        if plain is not None and self.open is not None:
            self.open.add(plain)
            return
        for start, block, are_rows in _blocks(offset, text):
            cells = len(header_cells(first_line(block)))
            header = None if are_rows else _trace_header(block)
            if header is not None:
                self._begin(*header, start)
            elif self.open is not None and (are_rows or cells == self._width):
                # What is none by its first cell, but has as many, is an odd row.
                left_out = self.open.launches.left_out
                self.open.add(parse(self._file, self.open.layout, start, block, left_out=left_out))
            elif are_rows and cells == self._width != self._other_width:
                raise _error(
                    self._file,
                    start,
                    "the rows of a report are interrupted by a line that is none of them",
                    "write the report to a file with `nsys stats --output`, not to the terminal",
                )
            elif not are_rows:
                self.open, self._other_width = None, cells

    def _begin(self, kind: TraceKind, header: tuple[str, ...], offset: int) -> None:
        if kind in self.traces:
            raise _error(
                self._file,
                offset,
                f"holds a second nsys {_TRACE_NAMES[kind]}",
                "write each to a file of its own with `nsys stats --output`, and give one a run",
            )
        self.open = self.traces[kind] = _Trace(self._file, kind, header, offset, self._kernels)
        self._width = len(header)


def _error(file: InputFile, offset: int, message: str, remedy: str) -> ProfileError:
    """Return the error that points at the line at an offset."""
    return ProfileError(message, path=file.path, row=lines_before(file, offset) + 1, remedy=remedy)


def _blocks(offset: int, text: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield what is not empty: lines that follow each other and look like rows as one, others one by one."""
    characters = np.frombuffer(text, dtype=np.uint8)
    starts = np.append(0, np.flatnonzero(characters == _NEWLINE) + 1)
    starts = starts[starts < len(text)]
    is_quoted = characters[starts] == _QUOTE
    are_rows = _BEGINS_ROW[characters[np.minimum(starts + is_quoted, len(text) - 1)]]
    goes_on = are_rows[1:] & are_rows[:-1]
    first = np.append(0, np.flatnonzero(~goes_on) + 1)
    stops = [*starts[first[1:]].tolist(), len(text)]
    for start, stop, is_row in zip(starts[first].tolist(), stops, are_rows[first].tolist(), strict=True):
        block = text[start:stop]
        if not block.isspace():
            yield offset + start, block, is_row


class _Trace:
    """One trace of a file while its rows come in."""

    def __init__(
        self, file: InputFile, kind: TraceKind, cells: tuple[str, ...], offset: int, kernels: KernelTable
    ) -> None:
        self.kind = kind
        self.launches = Launches(file, kernels)
        self._kernels = kernels
        self._names_of: dict[int, str] = {}
        self._calls, self._copies = ([np.zeros((rows, 0), dtype=np.int64)] for rows in (5, 6))
        self._names: dict[str, int] = {}
        self._order: LaunchOrder = "correlation" if kind == "gpu" else "api-start"
        titles = [_split_title(cell) for cell in cells]
        # Of two columns with one name the first counts.
        places = {name: place for place, (name, _) in reversed([*enumerate(titles)])}
        self._units: dict[str, int] = {}
        kinds: dict[str, Kind] = dict.fromkeys(_WHOLE_NUMBERS[kind], "integer")
        kinds |= dict.fromkeys(_TEXTS[kind], "text")
        for column in (column for column in _TIMES[kind] if column in places):
            printed = titles[places[column]][1]
            unit = _NANOSECONDS.get(printed.strip().casefold())
            if unit is None:
                remedy = "write the report again with `nsys stats --timeunit nsec`"
                raise _error(file, offset, f"the unit {printed!r} of {column} is not known", remedy)
            self._units[column] = unit
            kinds[column] = "integer" if unit == 1 else "number"
        if kind == "gpu" and _SIZE in places:
            self._units[_SIZE] = _BYTES.get(titles[places[_SIZE]][1].strip(), 0)
            kinds[_SIZE] = "number"
        columns = {name: (places[name], kind) for name, kind in kinds.items() if name in places}
        self.layout = Layout(cells, columns, remedy="write the report again, or record the profile again")

    def finish(self) -> Profile:
        """Return the launches."""
        named = sorted((number, name) for number, name in self._names_of.items() if name)
        devices = tuple(Device(number, name) for number, name in named)
        return self.launches.finish(
            FORMAT,
            RecordingFacts(devices=devices, launch_order=self._order),
            (
                f"an nsys {_TRACE_NAMES[self.kind]} that lists no kernel launch, only copies or nothing",
                "record the program again with `nsys profile --trace cuda --cuda-graph-trace node`",
            ),
            activity=self._activity() if {"Duration", _CALL_LASTS} & self._units.keys() else None,
        )

    def add(self, rows: Rows) -> None:
        """Add some rows; raise ProfileError where a value but a duration is missing or makes no sense."""
        is_gpu = self.kind == "gpu"
        if is_gpu:
            # Launches have a grid and the name of no copy or memset.
            distinct, codes = rows.codes("Name")
            is_copy = np.array([name.startswith(b"[CUDA ") for name in distinct.to_pylist()], dtype=np.bool_)
            self._add_copies(rows.where(is_copy[codes]))
            rows = rows.where(rows.has_value("GrdX") & ~is_copy[codes])
        if len(rows) == 0:
            return
        *_, start, duration = _TIMES[self.kind]
        if not is_gpu:
            rows = self.launches.sized(rows, *(cells for cells in ("GridXYZ", "BlockXYZ") if cells in rows))
        rows, duration_ns = self.launches.lasting(rows, duration, self._units[duration])
        order = rows.if_complete("CorrId") if is_gpu else rows.times("API Start", self._units["API Start"])
        if order is None:
            self._order = "gpu-start"
        elif _CALL_LASTS in rows:
            self._add_calls(rows, order)
        grid, block = (
            [[rows.numbers(axis) for axis in axes] for axes in (_GRID, _BLOCK)]
            if is_gpu
            else [rows.sizes(cells) if cells in rows else None for cells in ("GridXYZ", "BlockXYZ")]
        )
        self.launches.add(
            LaunchColumns(
                name=rows.names(_TEXTS[self.kind][-1], self._kernels),
                duration_ns=duration_ns,
                order=order,
                process=rows.narrow("PID") if "PID" in rows else None,
                device=self._devices(rows) if is_gpu else rows.narrow("DevId") if "DevId" in rows else None,
                grid=grid,
                block=block,
                start_ns=rows.times(start, self._units[start], empty=NO_START),
                stream=rows.if_complete("Strm"),
            )
        )

    def _activity(self) -> ActivityReader:
        calls = np.concatenate(self._calls, axis=1)
        if self.kind == "exec":
            return partial(make_activity, calls[4], calls, None, tuple(self._names))
        no_call, copies = np.full(self.launches.count, -1), np.concatenate(self._copies, axis=1)
        return partial(make_activity, no_call, calls, copies, tuple(self._names))

    def _add_calls(self, rows: Rows, start_ns: AnyIntArray) -> None:
        """Add the call of each launch; one that does not say how long it took ends before it starts."""
        process = rows.numbers("PID") if "PID" in rows else np.zeros(len(rows), dtype=np.int64)
        end_ns = start_ns + rows.times(_CALL_LASTS, self._units[_CALL_LASTS], empty=-1)
        number = self.launches.count + np.arange(len(rows))
        self._calls.append(np.stack([start_ns, end_ns, process, self._name_codes(rows, _CALL_NAME), number]))

    def _name_codes(self, rows: Rows, column: str) -> IntArray:
        cells, codes = rows.texts(column) if column in rows else ([""], np.zeros(len(rows), dtype=np.int32))
        return np.array([self._names.setdefault(cell, len(self._names)) for cell in cells], dtype=np.int64)[
            codes
        ]

    def _add_copies(self, rows: Rows) -> None:
        """Add copies and sets, but for those that lack a time."""
        rows = rows.where(rows.has_value("Start") & rows.has_value("Duration"))
        if not len(rows):
            return
        start_ns, lasts_ns = (rows.times(name, self._units[name]) for name in _TIMES["gpu"])
        name = self._name_codes(rows, "Name")
        size = rows.numbers(_SIZE, empty=0) * self._units[_SIZE] if _SIZE in rows else np.zeros(len(rows))
        # No copy is of so many bytes: what they are is not known then.
        size = np.where(np.abs(size) < _MOST_BYTES, size, 0)
        device = process = np.zeros(len(rows), dtype=np.int64)
        if "Device" in rows:
            cells, codes = rows.texts("Device")
            matches = [_DEVICE.fullmatch(cell) for cell in cells]
            numbers = [-1 if match is None else int(match["number"] or match["bare"]) for match in matches]
            device = np.array(numbers, dtype=np.int64)[codes]
        columns = start_ns, start_ns + lasts_ns, process, name, np.rint(size).astype(np.int64), device
        self._copies.append(np.stack(columns))

    def _devices(self, rows: Rows) -> NDArray[np.int32] | None:
        """Return device numbers from ``NAME (id)``, ``(id)`` or a bare number; names are kept."""
        if "Device" not in rows:
            return None
        cells, codes = rows.texts("Device")
        numbers = []
        for code, cell in enumerate(cells):
            if (match := _DEVICE.fullmatch(cell)) is None:
                rows.refuse(codes == code, "Device", f"{cell!r} does not say which GPU")
            else:
                number = int(match["number"] or match["bare"])
                numbers.append(number)
                self._names_of[number] = (match["name"] or "").strip() or self._names_of.get(number, "")
        return np.array(numbers, dtype=np.int32)[codes]


def _trace_header(line: bytes) -> tuple[TraceKind, tuple[str, ...]] | None:
    """Return kind and cells of a trace whose header a line is, maybe behind a progress bar."""
    if b"GrdX" in line or b"API Start" in line:
        cells = header_cells(line.rstrip(b"\r\n").rpartition(b"\r")[2])
        names = {_split_title(cell)[0] for cell in cells}
        for kind, required in _REQUIRED.items():
            if required <= names:
                return kind, cells
    return None


def _split_title(cell: str) -> tuple[str, str]:
    """Return a column's bare name, and what is in parentheses after it, "" where there is nothing."""
    match = _TITLE.fullmatch(cell)
    return (match[1], match[2] or "") if match else (cell, "")
