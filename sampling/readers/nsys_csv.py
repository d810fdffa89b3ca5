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
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.readers.input_file import HEAD_BYTES, InputFile, pieces
from sampling.readers.table import (
    Kind,
    Launches,
    Layout,
    Rows,
    header_cells,
    lines_before,
    parse,
    parse_plain,
)

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
_TIMES = {"gpu": ("Start", "Duration"), "exec": ("API Start", "Kernel Start", "Kernel Dur")}
_WHOLE_NUMBERS = {"gpu": ("CorrId", *_GRID, *_BLOCK, "Strm"), "exec": ("PID", "DevId")}
_TEXTS = {"gpu": ("Device", "Name"), "exec": ("GridXYZ", "BlockXYZ", "Kernel Name")}
_NANOSECONDS = {
    **dict.fromkeys(("", "ns", "nsec"), 1),
    **dict.fromkeys(("us", "usec", "\N{MICRO SIGN}s"), 1_000),
    **dict.fromkeys(("ms", "msec"), 1_000_000),
    **dict.fromkeys(("s", "sec"), 1_000_000_000),
}
_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*|\s*(?P<bare>\d{1,9})\s*")
#: Other reports of `nsys stats`, by names in their headers; the first that fits is named
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
_PARSED_AHEAD = min(4, os.cpu_count() or 1)


def recognise(file: InputFile) -> bool:
    """Return whether a trace's header is in the head, or may follow a report that fills the head."""
    if _find_trace_header(file.head) is not None:
        return True
    more_to_come = len(file.head) == HEAD_BYTES
    return more_to_come and (other_report(file.head) or skipped_report(file.head)) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile | None:
    """Return the launches of the trace in the file.

    Pieces are parsed in advance, as if no report ended in them; where one does, what follows is taken again.

    Raises ProfileError: there is no trace in it, or two of one kind; a row is cut short or a value is not a
    number; the trace lists no kernel launch.
    """
    with ThreadPoolExecutor(_PARSED_AHEAD) as workers:
        reports = _Reports(file, kernels, workers)
        for piece in pieces(file, progress):
            reports.take(*piece)
        return reports.longest()


class _Reports:
    """The traces of a file, whose pieces are parsed ahead as if no report ended in them.

    Where one does, what follows it is taken again.
    """

    def __init__(self, file: InputFile, kernels: KernelTable, workers: ThreadPoolExecutor) -> None:
        self._file, self._kernels, self._workers = file, kernels, workers
        self._traces: dict[TraceKind, _Trace] = {}
        self._open: _Trace | None = None
        self._just_ended: _Trace | None = None
        self._ahead = deque[tuple[int, bytes, Future[Rows | None]]]()

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        if self._open is None:
            if self._just_ended is not None and (line := _first_line_of_content(text)) is not None:
                self._just_ended.refuse_further_row(line, offset)
                self._just_ended = None
            found = _find_trace_header(text)
            if found is None:
                return
            kind, cells, start, stop = found
            if kind in self._traces:
                raise self._traces[kind].second(offset + start)
            self._open = self._traces[kind] = _Trace(self._file, kind, cells, offset + start, self._kernels)
            offset, text = offset + stop, text[stop:]
        if text:
            coming = self._workers.submit(parse_plain, self._file, self._open.layout, offset, text)
            self._ahead.append((offset, text, coming))
        while len(self._ahead) > _PARSED_AHEAD:
            self._add_next()

    def _add_next(self) -> None:
        """Add the rows that came first to the open trace, up to where its report ends."""
        trace = self._open
        assert trace is not None
        offset, text, coming = self._ahead.popleft()
        if (rows := coming.result()) is not None:
            trace.add(rows)
            return
        end = _report_end(text)
        body = text if end is None else text[: end[0]]
        if body.strip():
            trace.add(parse(self._file, trace.layout, offset, body))
        if end is not None:
            self._open, self._just_ended = None, trace
            again = [(offset + end[1], text[end[1] :]), *((at, later) for at, later, _ in self._ahead)]
            self._ahead.clear()
            for piece in again:
                self.take(*piece)

    def longest(self) -> Profile | None:
        """Return the trace with more launches; the kernel execution trace if both have as many."""
        while self._ahead:
            self._add_next()
        if not self._traces:
            return None
        best = max(self._traces.values(), key=lambda trace: (trace.launches.count, trace.kind == "exec"))
        return best.finish()


class _Trace:
    """One trace of a file while its rows come in."""

    def __init__(
        self, file: InputFile, kind: TraceKind, cells: tuple[str, ...], offset: int, kernels: KernelTable
    ) -> None:
        self.kind = kind
        self.launches = Launches(file, kernels)
        self._file, self._offset, self._kernels = file, offset, kernels
        self._others = 0
        self._names_of: dict[int, str] = {}
        self._order: LaunchOrder = "correlation" if kind == "gpu" else "api-start"
        # Of two columns with one name the first counts.
        titles = {
            name: (place, unit) for place, (name, unit) in reversed([*enumerate(map(_title_of, cells))])
        }
        self._units: dict[str, int] = {}
        kinds: dict[str, Kind] = dict.fromkeys(_WHOLE_NUMBERS[kind], "integer")
        kinds |= dict.fromkeys(_TEXTS[kind], "text")
        for column in _TIMES[kind]:
            printed = titles[column][1]
            unit = _NANOSECONDS.get(printed.strip().casefold())
            if unit is None:
                remedy = "write the report again with `nsys stats --timeunit nsec`"
                raise self._error(offset, f"the unit {printed!r} is not known", remedy, column)
            self._units[column] = unit
            kinds[column] = "integer" if unit == 1 else "number"
        columns = {name: (titles[name][0], each) for name, each in kinds.items() if name in titles}
        self.layout = Layout(cells, columns, remedy="write the report again, or record the profile again")

    def _error(self, offset: int, message: str, remedy: str, column: str | None = None) -> ProfileError:
        line = lines_before(self._file, offset) + 1
        return ProfileError(message, path=self._file.path, row=line, column=column, remedy=remedy)

    def second(self, offset: int) -> ProfileError:
        """Return the error for another trace of this kind."""
        first = lines_before(self._file, self._offset) + 1
        return self._error(
            offset,
            f"holds a second nsys {_TRACE_NAMES[self.kind]} (the first is in line {first})",
            "write each to a file of its own with `nsys stats --output`, and give one of each run",
        )

    def refuse_further_row(self, line: tuple[str, ...], offset: int) -> None:
        """Raise if a line after the trace is more of its rows: what is between does not end a report."""
        if line[0][:1].isdigit() and len(line) == len(self.layout.header):
            raise self._error(
                offset,
                "the rows of a report are interrupted by a line that is none of them",
                "write the report to a file with `nsys stats --output`, not to the terminal",
            )

    def finish(self) -> Profile:
        """Return the launches."""
        copies = f", only {self._others:,} copies and memsets" if self._others else ""
        return self.launches.finish(
            FORMAT,
            RecordingFacts(
                devices=tuple(
                    Device(number, name) for number, name in sorted(self._names_of.items()) if name
                ),
                launch_order=self._order,
            ),
            (
                f"an nsys {_TRACE_NAMES[self.kind]} that lists no kernel launch{copies}",
                "record the program again with `nsys profile --trace cuda --cuda-graph-trace node`",
            ),
        )

    def add(self, rows: Rows) -> None:
        """Add some rows.

        Raises ProfileError: a value is missing or makes no sense.
        """
        is_gpu = self.kind == "gpu"
        if is_gpu:
            # Launches have a grid and the name of no copy or memset.
            distinct, codes = rows.codes("Name")
            is_copy = np.array([name.startswith(b"[CUDA ") for name in distinct.to_pylist()], dtype=np.bool_)
            if rows.table.column("GrdX").null_count or is_copy.any():
                launches = rows.where(rows.has_value("GrdX") & ~is_copy[codes])
                self._others += len(rows) - len(launches)
                rows = launches
        if len(rows) == 0:
            return
        *_, start, duration = _TIMES[self.kind]
        start_ns = rows.times(start, self._units[start])
        duration_ns = rows.times(duration, self._units[duration])
        rows.refuse(duration_ns < 0, duration, lambda row: f"a launch lasts {duration_ns[row]:,} ns")
        order = rows.if_complete("CorrId") if is_gpu else rows.times("API Start", self._units["API Start"])
        if order is None:
            self._order = "gpu-start"
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
                start_ns=start_ns,
                stream=rows.if_complete("Strm"),
            )
        )

    def _devices(self, rows: Rows) -> NDArray[np.int32] | None:
        """Return device numbers from ``NAME (id)``, ``(id)`` or a bare number; names are kept."""
        if "Device" not in rows:
            return None
        cells, codes = rows.texts("Device")
        numbers = []
        for code, cell in enumerate(cells):
            match = _DEVICE.fullmatch(cell)
            if match is None:
                rows.refuse(codes == code, "Device", f"{cell!r} does not say which GPU")
                continue
            number = int(match["number"] or match["bare"])
            numbers.append(number)
            self._names_of[number] = (match["name"] or "").strip() or self._names_of.get(number, "")
        return np.array(numbers, dtype=np.int32)[codes]


def _find_trace_header(text: bytes) -> tuple[TraceKind, tuple[str, ...], int, int] | None:
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


def _title_of(cell: str) -> tuple[str, str]:
    """Return a column's bare name, and what is in parentheses after it, "" where there is nothing."""
    match = _TITLE.fullmatch(cell)
    return (match[1], match[2] or "") if match else (cell, "")


def bare_names(cells: tuple[str, ...]) -> frozenset[str]:
    """Return the names of a header's columns without their units."""
    return frozenset(_title_of(cell)[0] for cell in cells)


def _report_end(text: bytes) -> tuple[int, int] | None:
    """Return where the rows of a report end in ``text`` and where what follows starts, None if they do not.

    Empty lines alone do not end a report; what follows them ends it unless it is more rows.
    """
    if match := _END_AT_START.match(text):
        return match.span()
    match = _END_AFTER_LINE.search(text)
    return None if match is None else match.span("end")


def _first_line_of_content(text: bytes) -> tuple[str, ...] | None:
    """Return the cells of the first line that is neither empty nor chatter, None if there is none."""
    start = _EMPTY_OR_CHATTER_LINES.match(text)
    assert start is not None
    return header_cells(text[start.end() :].split(b"\n", 1)[0]) or None


def other_report(head: bytes) -> str | None:
    """Return which other report of `nsys stats` the first known header in ``head`` is of, None if none is."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if b"," in line and line[:1].isalpha():
            names = bare_names(header_cells(line))
            for required, title in _OTHER_REPORTS:
                if required <= names:
                    return title
    return None


def skipped_report(head: bytes) -> str | None:
    """Return the line in which `nsys stats` says that it skipped a report, None if it does not.

    Folders in it are left out: they name users and projects.
    """
    match = re.search(rb"^SKIPPED: [^\r\n]*", head, re.MULTILINE)
    return None if match is None else _FOLDERS.sub("", match[0].decode("utf-8", "replace").strip())
