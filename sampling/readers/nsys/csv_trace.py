"""`nsys stats` CSV: the GPU trace or the kernel execution trace, of Nsight Systems 2020.4 to 2026.2.

One file may hold several reports. Of a GPU trace and a kernel execution trace of one run the latter is read,
because it is in API order and names the process, unless it lists fewer launches: it leaves out kernels whose
API call was not recorded. Two traces of the same kind are refused: they may be two runs or one run twice, and
the times of each start at 0.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    header_cells,
    lines_before,
    parse,
    parse_plain,
    pieces,
    texts,
)
from sampling.readers.input_file import HEAD_BYTES, InputFile
from sampling.readers.tables.cells import Rows

FORMAT = "nsys-csv"

_TRACE_NAMES: Mapping[TraceKind, str] = {"gpu": "GPU trace", "exec": "kernel execution trace"}
_GRID = ("GrdX", "GrdY", "GrdZ")
_BLOCK = ("BlkX", "BlkY", "BlkZ")
# Read as times, in nanoseconds as integers and in larger units as fractions; as integers; as texts.
_TIMES = {"gpu": ("Start", "Duration"), "exec": ("API Start", "Kernel Start", "Kernel Dur")}
_WHOLE_NUMBERS = {"gpu": ("CorrId", *_GRID, *_BLOCK, "Strm"), "exec": ("PID", "DevId")}
_TEXTS = {"gpu": ("Device", "Name"), "exec": ("GridXYZ", "BlockXYZ", "Kernel Name")}
_NANOSECONDS = {
    **dict.fromkeys(("", "ns", "nsec"), 1),
    **dict.fromkeys(("us", "usec", "\N{MICRO SIGN}s"), 1_000),
    **dict.fromkeys(("ms", "msec"), 1_000_000),
    **dict.fromkeys(("s", "sec"), 1_000_000_000),
}
_NO_KERNEL = b"[CUDA "
_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*|\s*(?P<bare>\d{1,9})\s*")

_PARSED_AHEAD = min(4, os.cpu_count() or 1)
# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19


def recognise(file: InputFile) -> bool:
    """Return whether a trace's header is in the head, or may follow a report that fills the head."""
    if find_trace_header(file.head) is not None:
        return True
    more_to_come = len(file.head) == HEAD_BYTES
    return more_to_come and (other_report(file.head) or skipped_report(file.head)) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the launches of the trace in the file.

    Raises
    ------
    ProfileError : there is no trace in it, or two of one kind; a row is cut short or a value is not a number;
        the trace lists no kernel launch.
    """
    with ThreadPoolExecutor(_PARSED_AHEAD) as workers:
        reports = _Reports(file, kernels, workers)
        for offset, text in pieces(file, progress):
            reports.take(offset, text)
        trace = reports.chosen()
    if trace is None:
        return None
    if trace.launches == 0:
        raise ProfileError(
            f"an nsys {_TRACE_NAMES[trace.kind]} that lists no kernel launch"
            + (f", only {trace.others:,} copies and memsets" if trace.others else ""),
            path=file.path,
            remedy="record the program again with `nsys profile --trace cuda --cuda-graph-trace node`",
        )
    return trace.builder.finish(
        format_name=FORMAT, file=ProfileFile(file.path, file.location, trace.launches), facts=trace.facts()
    )


class _Reports:
    """Goes through a file's pieces and gives the rows of each trace to it.

    Pieces are parsed in advance, as if no report ended in them; where one does, what follows is taken again.
    """

    def __init__(self, file: InputFile, kernels: KernelTable, workers: ThreadPoolExecutor) -> None:
        self._file = file
        self._kernels = kernels
        self._workers = workers
        self._traces: dict[TraceKind, _Trace] = {}
        self._open: _Trace | None = None
        self._just_ended: _Trace | None = None
        self._coming: deque[tuple[Part, Future[Table | None]]] = deque()

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        if self._open is None:
            self._refuse_further_rows(offset, text)
            found = find_trace_header(text)
            if found is None:
                return
            kind, cells, start, stop = found
            self._open = self._begin(kind, cells, offset + start)
            offset, text = offset + stop, text[stop:]
        if text:
            part = Part(self._file, self._open.layout, offset, text)
            self._coming.append((part, self._workers.submit(parse_plain, part)))
        while len(self._coming) > _PARSED_AHEAD:
            self._add_next()

    def chosen(self) -> _Trace | None:
        """Return the trace with more launches; the kernel execution trace if both have as many."""
        while self._coming:
            self._add_next()
        return max(
            self._traces.values(),
            key=lambda trace: (trace.launches, trace.kind == "exec"),
            default=None,
        )

    def _add_next(self) -> None:
        """Add the rows of the part that came first to the open trace, up to where its report ends."""
        trace = self._open
        assert trace is not None
        part, coming = self._coming.popleft()
        table = coming.result()
        if table is not None:
            trace.add(part, table)
            return
        end = report_end(part.text)
        rows = part if end is None else replace(part, text=part.text[: end[0]])
        if rows.text.strip():
            trace.add(rows, parse(rows))
        if end is not None:
            self._end_report(trace, replace(part, offset=part.offset + end[1], text=part.text[end[1] :]))

    def _end_report(self, trace: _Trace, rest: Part) -> None:
        self._open, self._just_ended = None, trace
        parts = [rest, *(part for part, _ in self._coming)]
        self._coming.clear()
        for part in parts:
            self.take(part.offset, part.text)

    def _begin(self, kind: TraceKind, cells: tuple[str, ...], start: int) -> _Trace:
        if kind in self._traces:
            first = lines_before(self._file, self._traces[kind].offset) + 1
            raise ProfileError(
                f"holds a second nsys {_TRACE_NAMES[kind]} (the first is in line {first})",
                path=self._file.path,
                row=lines_before(self._file, start) + 1,
                remedy="write each to a file of its own with `nsys stats --output`, and give one of each run",
            )
        self._traces[kind] = _Trace(self._file, kind, cells, start, self._kernels)
        return self._traces[kind]

    def _refuse_further_rows(self, offset: int, text: bytes) -> None:
        """Raise if more rows of the trace that ended follow: what is between does not end a report."""
        trace = self._just_ended
        line = first_line_of_content(text)
        if trace is None or line is None:
            return
        self._just_ended = None
        if line[0][:1].isdigit() and len(line) == len(trace.layout.header):
            raise ProfileError(
                "the rows of a report are interrupted by a line that is none of them",
                path=self._file.path,
                row=lines_before(self._file, offset) + 1,
                remedy="write the report to a file with `nsys stats --output`, not to the terminal",
            )


class _Trace:
    """One trace of a file while its rows come in.

    Attributes
    ----------
    kind, offset : which of the two traces, and where its header starts in the decompressed bytes.
    layout : the columns to read.
    launches, others : rows so far that are kernel launches, and that are copies and memsets.
    """

    def __init__(
        self, file: InputFile, kind: TraceKind, cells: tuple[str, ...], offset: int, kernels: KernelTable
    ) -> None:
        self.kind = kind
        self.offset = offset
        self.launches = 0
        self.others = 0
        self._kernels = kernels
        self._builder = LaunchTableBuilder(file.path, kernels)
        self._waiting: list[LaunchColumns] = []
        self._names_of: dict[int, str] = {}
        self._order: LaunchOrder = "correlation" if kind == "gpu" else "api-start"
        # Of two columns with one name the first counts.
        titles = {name: (place, unit) for place, (name, unit) in reversed([*enumerate(map(title_of, cells))])}
        self._units: dict[str, int] = {}
        kinds: dict[str, Kind] = {}
        for column in _TIMES[kind]:
            printed = titles[column][1]
            unit = _NANOSECONDS.get(printed.strip().casefold())
            if unit is None:
                raise ProfileError(
                    f"the unit {printed!r} is not known",
                    path=file.path,
                    row=lines_before(file, offset) + 1,
                    column=column,
                    remedy="write the report again with `nsys stats --timeunit nsec`",
                )
            self._units[column] = unit
            kinds[column] = "integer" if unit == 1 else "number"
        kinds |= dict.fromkeys(_WHOLE_NUMBERS[kind], "integer")
        kinds |= dict.fromkeys(_TEXTS[kind], "text")
        self._place = {column: titles[column][0] for column in kinds if column in titles}
        self.layout = Layout(cells, {place: kinds[column] for column, place in self._place.items()})

    @property
    def builder(self) -> LaunchTableBuilder:
        """The builder, with all rows in it."""
        if self._waiting:
            self._builder.append(joined_columns(self._waiting))
            self._waiting.clear()
        return self._builder

    def facts(self) -> RecordingFacts:
        """Return what the rows say of the recording."""
        devices = tuple(Device(number, name) for number, name in sorted(self._names_of.items()) if name)
        return RecordingFacts(devices=devices, launch_order=self._order)

    def add(self, part: Part, table: Table) -> None:
        """Add the rows of a parsed part.

        Raises
        ------
        ProfileError : a value is missing or makes no sense.
        """
        rows = Rows(part, table, "record the profile again")
        if self.kind == "gpu":
            # Launches have a grid and the name of no copy or memset.
            grid = table.column(str(self._place["GrdX"]))
            distinct, codes = texts(table, self._place["Name"])
            no_kernel = np.array(
                [name.startswith(_NO_KERNEL) for name in distinct.to_pylist()], dtype=np.bool_
            )
            if grid.null_count or no_kernel.any():
                rows = rows.where(to_numpy(grid.is_valid()) & ~no_kernel[codes])
                self.others += table.num_rows - len(rows)
        if len(rows) == 0:
            return
        self._waiting.append(self._launches(rows))
        self.launches += len(rows)
        if sum(len(each.duration_ns) for each in self._waiting) >= _ROWS_AT_ONCE:
            _ = self.builder

    def _launches(self, rows: Rows) -> LaunchColumns:
        *_, start, duration = _TIMES[self.kind]
        *_, name = _TEXTS[self.kind]
        is_gpu = self.kind == "gpu"
        at = self._place
        start_ns = rows.times(at[start], self._units[start])
        duration_ns = rows.times(at[duration], self._units[duration])
        rows.refuse(duration_ns < 0, at[duration], lambda row: f"a launch lasts {duration_ns[row]:,} ns")
        order = (
            rows.whole_if_complete(at.get("CorrId"))
            if is_gpu
            else rows.times(at["API Start"], self._units["API Start"])
        )
        if order is None:
            self._order = "gpu-start"
        grid, block = (
            [[rows.whole(at[axis]) for axis in axes] for axes in (_GRID, _BLOCK)]
            if is_gpu
            else [rows.sizes(at[cells]) if cells in at else None for cells in ("GridXYZ", "BlockXYZ")]
        )
        return LaunchColumns(
            name=rows.names(at[name], self._kernels),
            duration_ns=duration_ns,
            order=order,
            process=rows.narrow(at["PID"]) if "PID" in at else None,
            device=self._devices(rows) if is_gpu else rows.narrow(at["DevId"]) if "DevId" in at else None,
            grid=grid,
            block=block,
            start_ns=start_ns,
            stream=rows.whole_if_complete(at.get("Strm")),
        )

    def _devices(self, rows: Rows) -> NDArray[np.int32] | None:
        """Return device numbers from ``NAME (id)``, ``(id)`` or a bare number; names are kept."""
        if "Device" not in self._place:
            return None
        cells, codes = rows.texts(self._place["Device"])
        numbers = []
        for code, cell in enumerate(cells):
            match = _DEVICE.fullmatch(cell)
            if match is None:
                rows.refuse(codes == code, self._place["Device"], f"{cell!r} does not say which GPU")
                continue
            number = int(match["number"] or match["bare"])
            numbers.append(number)
            self._names_of[number] = (match["name"] or "").strip() or self._names_of.get(number, "")
        return np.array(numbers, dtype=np.int32)[codes]


#: "gpu": gputrace, cuda_gpu_trace. "exec": kernexectrace, cuda_kern_exec_trace.
TraceKind = Literal["gpu", "exec"]

_REQUIRED: Mapping[TraceKind, frozenset[str]] = {
    "gpu": frozenset({"Start", "Duration", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Name"}),
    "exec": frozenset({"API Start", "Kernel Start", "Kernel Dur", "Kernel Name"}),
}
#: Other reports of `nsys stats`, by names in their headers; the first that fits is named.
_OTHER_REPORTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"RangeStack", "NumGPUOps"}), "NVTX projection trace"),
    (frozenset({"RangeStack"}), "NVTX trace"),
    (frozenset({"Start", "Duration", "Name", "Result"}), "CUDA API trace"),
    (frozenset({"Start", "Duration", "Name", "T-Pri"}), "operating-system runtime trace"),
    (frozenset({"Start", "Duration"}), "trace of something other than kernels"),
    (frozenset({"Start", "End"}), "trace of something other than kernels"),
    (frozenset({"Total Time"}), "summary"),
    (frozenset({"Total", "Count"}), "summary"),
    (frozenset({"Total", "Operations"}), "summary"),
    (frozenset({"Count", "QCount"}), "summary"),
)
_TITLE = re.compile(r"\s*(.*?)\s*(?:\(([^()]*)\))?\s*")
_HEADER_MARK = re.compile(rb"GrdX|API Start")
# Lines that nsys prints around its reports, by their first words.
_CHATTER = (
    rb"Processing |Using |Exporting |NOTICE: |SKIPPED: |Generat(?:ing|ed) |WARNING: |ERROR: "
    rb"|\*\* |\[\d+/\d+\]"
)
_EMPTY_OR_CHATTER_LINES = re.compile(rb"(?:[ \t]*(?:(?:" + _CHATTER + rb")[^\n]*|\r?)(?:\n|\Z))*")
# Chatter, a trace's header, what follows empty lines and is no row, or empty lines up to the end.
_END = (
    rb"(?:[ \t]*\r?\n)*(?=[ \t]*(?:" + _CHATTER + rb")|(?:API )?Start ?[(,])"
    rb"|(?:[ \t]*\r?\n)+(?=[A-Za-z])"
    rb"|[ \t\r\n]+\Z"
)
_END_AT_START = re.compile(_END)
# It starts with a literal byte, which makes the search fast.
_END_AFTER_LINE = re.compile(rb"\n(?P<end>" + _END + rb")")
_FOLDERS = re.compile(r"\S*[/\\]")


def find_trace_header(text: bytes) -> tuple[TraceKind, tuple[str, ...], int, int] | None:
    """Return kind and cells of a trace's first header, where it starts (after a progress bar), and ends."""
    stop = 0
    while mark := _HEADER_MARK.search(text, stop):
        start = max(text.rfind(b"\n", 0, mark.start()), text.rfind(b"\r", 0, mark.start())) + 1
        line_end = text.find(b"\n", mark.end())
        stop = len(text) if line_end < 0 else line_end + 1
        cells = header_cells(text[start:stop])
        for kind, required in _REQUIRED.items():
            if required <= bare_names(cells):
                return kind, cells, start, stop
    return None


def title_of(cell: str) -> tuple[str, str]:
    """Return a column's bare name, and what is in parentheses after it, "" where there is nothing."""
    match = _TITLE.fullmatch(cell)
    return (match[1], match[2] or "") if match else (cell, "")


def bare_names(cells: tuple[str, ...]) -> frozenset[str]:
    """Return the names of a header's columns without their units."""
    return frozenset(title_of(cell)[0] for cell in cells)


def other_report(head: bytes) -> str | None:
    """Return which other report of `nsys stats` the first known header in ``head`` is of, None if none is."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if b"," not in line or not line[:1].isalpha():
            continue
        names = bare_names(header_cells(line))
        for required, title in _OTHER_REPORTS:
            if required <= names:
                return title
    return None


def report_end(text: bytes) -> tuple[int, int] | None:
    """Return where the rows of a report end in ``text`` and where what follows starts, None if they do not.

    Empty lines alone do not end a report; what follows them ends it unless it is more rows.
    """
    match = _END_AT_START.match(text)
    if match is not None:
        return match.span()
    match = _END_AFTER_LINE.search(text)
    return None if match is None else match.span("end")


def skipped_report(head: bytes) -> str | None:
    """Return the line in which `nsys stats` says that it skipped a report, None if it does not.

    Folders in it are left out: they name users and projects.
    """
    match = re.search(rb"^SKIPPED: [^\r\n]*", head, re.MULTILINE)
    return None if match is None else _FOLDERS.sub("", match[0].decode("utf-8", "replace").strip())


def first_line_of_content(text: bytes) -> tuple[str, ...] | None:
    """Return the cells of the first line that is neither empty nor chatter, None if there is none."""
    start = _EMPTY_OR_CHATTER_LINES.match(text)
    assert start is not None
    line = text[start.end() :].split(b"\n", 1)[0]
    return header_cells(line) or None
