"""What nvprof prints around its GPU trace: the header in columns or as CSV, units, and where the rows end."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sampling.readers.csv_cells import header_cells

#: How many nanoseconds one unit of time is. nvprof chooses one for every cell, or one for a column of CSV.
NANOSECONDS = {
    b"ns": 1,
    b"us": 1_000,
    b"ms": 1_000_000,
    b"s": 1_000_000_000,
    b"m": 60_000_000_000,
    b"h": 3_600_000_000_000,
}

#: How the name of a row begins that is a copy or a memset.
NO_KERNEL = b"[CUDA mem"
PRINT_AGAIN = "print the trace again with `nvprof --print-gpu-trace --log-file FILE`"

_IN_COLUMNS = rb"[ \t]*Start {2,}Duration {2,}Grid Size {2,}Block Size {2,}[^\r\n]* {2,}Name"
_AS_CSV = rb'"?Start"?,"?Duration"?,"?Grid X"?,[^\r\n]*'
_HEADER = re.compile(
    rb"^(?:(?P<columns>" + _IN_COLUMNS + rb")|(?P<csv>" + _AS_CSV + rb"))[ \t]*\r?(?:\n|\Z)", re.MULTILINE
)
# An empty line, a line of nvprof's own, or the notes that explain the columns.
_ENDS = (b"\n", b"\r\n", b"==", b"Regs: ")
_BANNER = re.compile(rb"^==\d+== (?:NVPROF is profiling|Profiling (?:application|result))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """The header of a GPU trace.

    Attributes
    ----------
    cells : the titles of its columns.
    is_csv : whether the rows are CSV, after a row of units; else they stand in columns.
    start, stop : where its line starts in the text it was found in, and where the next one does.
    """

    cells: tuple[str, ...]
    is_csv: bool
    start: int
    stop: int


def find_header(text: bytes) -> TraceHeader | None:
    """Return the first header of a GPU trace, None if there is none."""
    found = _HEADER.search(text)
    if found is None:
        return None
    if found["csv"] is not None:
        return TraceHeader(header_cells(found["csv"].strip()), True, *found.span())
    titles = re.split(r" {2,}", found["columns"].decode("utf-8", "replace").strip())
    return TraceHeader(tuple(titles), False, *found.span())


def rows_end(text: bytes) -> int | None:
    """Return where the rows end in whole lines of text, None if they do not."""
    if text.startswith(_ENDS):
        return 0
    found = [place for end in _ENDS if (place := text.find(b"\n" + end)) >= 0]
    return min(found) + 1 if found else None


def has_banner(head: bytes) -> bool:
    """Return whether nvprof says that it is profiling."""
    return _BANNER.search(head) is not None
