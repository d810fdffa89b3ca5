"""What `nsys stats` prints around its rows: which lines are headers, their units, and where a report ends.

Seen with Nsight Systems 2020.4 to 2026.2. Columns came, went and changed their units from version to version,
so a header is known by the names in it and a column by its name, never by its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sampling.readers.csv_cells import header_cells

#: "gpu": gputrace, cuda_gpu_trace. "exec": kernexectrace, cuda_kern_exec_trace.
TraceKind = Literal["gpu", "exec"]

TRACE_NAMES: Mapping[TraceKind, str] = {"gpu": "GPU trace", "exec": "kernel execution trace"}

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
_NANOSECONDS = {
    "": 1,
    "ns": 1,
    "nsec": 1,
    "us": 1_000,
    "usec": 1_000,
    "\N{MICRO SIGN}s": 1_000,
    "ms": 1_000_000,
    "msec": 1_000_000,
    "s": 1_000_000_000,
    "sec": 1_000_000_000,
}
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


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """The header of a report that lists single launches.

    Attributes
    ----------
    kind : which of the two traces.
    cells : the header's cells as printed.
    positions : the position of each column by its bare name, e.g. "Kernel Dur".
    units : what is in parentheses after a name, "" where there is nothing.
    """

    kind: TraceKind
    cells: tuple[str, ...]
    positions: Mapping[str, int]
    units: Mapping[str, str]

    def nanoseconds(self, column: str) -> int | None:
        """Return how many nanoseconds one unit of a time column is, None for a unit not known."""
        return _NANOSECONDS.get(self.units[column].strip().casefold())


@dataclass(frozen=True, slots=True)
class FoundHeader:
    """A header in a piece of text: where its line starts, and where the line after it does."""

    header: TraceHeader
    start: int
    stop: int


def find_trace_header(text: bytes, start: int = 0) -> FoundHeader | None:
    """Return the first header of a trace from ``start`` on, without a progress bar before it."""
    while mark := _HEADER_MARK.search(text, start):
        line_start = max(text.rfind(b"\n", 0, mark.start()), text.rfind(b"\r", 0, mark.start())) + 1
        line_end = text.find(b"\n", mark.end())
        stop = len(text) if line_end < 0 else line_end + 1
        header = trace_header(text[line_start:stop])
        if header is not None:
            return FoundHeader(header, line_start, stop)
        start = stop
    return None


def trace_header(line: bytes) -> TraceHeader | None:
    """Return a line as the header of a trace, None if it is none."""
    cells = header_cells(line)
    titles = [_title(cell) for cell in cells]
    names = [name for name, _ in titles]
    for kind, required in _REQUIRED.items():
        if required.issubset(names):
            positions = {name: names.index(name) for name in names}
            return TraceHeader(kind, cells, positions, dict(reversed(titles)))
    return None


def _title(cell: str) -> tuple[str, str]:
    match = _TITLE.fullmatch(cell)
    return (match[1], match[2] or "") if match else (cell, "")


def bare_names(cells: tuple[str, ...]) -> frozenset[str]:
    """Return the names of a header's columns without their units."""
    return frozenset(_title(cell)[0] for cell in cells)


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
