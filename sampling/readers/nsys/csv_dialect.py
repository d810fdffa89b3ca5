"""What `nsys stats` prints around its rows: which lines are headers, their units, and where a report ends.

Seen with Nsight Systems 2020.4 to 2026.2. Columns came, went and changed their units from version to version,
so a header is known by the names in it and a column by its name, never by its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from sampling.readers.csv_cells import header_cells

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
