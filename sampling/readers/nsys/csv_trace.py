"""`nsys stats` CSV: the GPU trace or the kernel execution trace, of Nsight Systems 2020.4 to 2026.2.

One file may hold several reports. Of a GPU trace and a kernel execution trace of one run the latter is read,
because it is in API order and names the process, unless it lists fewer launches: it leaves out kernels whose
API call was not recorded. Two traces of the same kind are refused: they may be two runs or one run twice, and
the times of each start at 0.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.csv_cells import Part, Table, lines_before, parse_closely, parse_plain, pieces
from sampling.readers.input_file import HEAD_BYTES, InputFile
from sampling.readers.nsys.csv_dialect import (
    TRACE_NAMES,
    FoundHeader,
    TraceKind,
    find_trace_header,
    first_line_of_content,
    other_report,
    report_end,
    skipped_report,
)
from sampling.readers.nsys.csv_launches import Trace

FORMAT = "nsys-csv"

_PARSED_AHEAD = min(4, os.cpu_count() or 1)


def recognise(file: InputFile) -> bool:
    """Return whether a trace's header is in the head, or may follow a report that fills the head."""
    if find_trace_header(file.head) is not None:
        return True
    more_to_come = len(file.head) == HEAD_BYTES
    return more_to_come and (other_report(file.head) or skipped_report(file.head)) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
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
        # Many regular expressions, which no trace needs.
        from sampling.readers.not_a_profile import file_error

        raise file_error(file)
    if trace.launches == 0:
        raise ProfileError(
            f"an nsys {TRACE_NAMES[trace.header.kind]} that lists no kernel launch"
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
        self._traces: dict[TraceKind, Trace] = {}
        self._open: Trace | None = None
        self._just_ended: Trace | None = None
        self._coming: deque[tuple[Part, Future[Table | None]]] = deque()

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        if self._open is None:
            self._refuse_further_rows(offset, text)
            found = find_trace_header(text)
            if found is None:
                return
            self._open = self._begin(found, offset)
            offset, text = offset + found.stop, text[found.stop :]
        if text:
            part = Part(self._file, self._open.layout, offset, text)
            self._coming.append((part, self._workers.submit(parse_plain, part)))
        while len(self._coming) > _PARSED_AHEAD:
            self._add_next()

    def chosen(self) -> Trace | None:
        """Return the trace with more launches; the kernel execution trace if both have as many."""
        while self._coming:
            self._add_next()
        return max(
            self._traces.values(),
            key=lambda trace: (trace.launches, trace.header.kind == "exec"),
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
            trace.add(rows, parse_closely(rows))
        if end is not None:
            self._end_report(trace, replace(part, offset=part.offset + end[1], text=part.text[end[1] :]))

    def _end_report(self, trace: Trace, rest: Part) -> None:
        self._open, self._just_ended = None, trace
        parts = [rest, *(part for part, _ in self._coming)]
        self._coming.clear()
        for part in parts:
            self.take(part.offset, part.text)

    def _begin(self, found: FoundHeader, offset: int) -> Trace:
        kind, start = found.header.kind, offset + found.start
        if kind in self._traces:
            first = lines_before(self._file, self._traces[kind].offset) + 1
            raise ProfileError(
                f"holds a second nsys {TRACE_NAMES[kind]} (the first is in line {first})",
                path=self._file.path,
                row=lines_before(self._file, start) + 1,
                remedy="write each to a file of its own with `nsys stats --output`, and give one of each run",
            )
        self._traces[kind] = Trace(self._file, found.header, start, self._kernels)
        return self._traces[kind]

    def _refuse_further_rows(self, offset: int, text: bytes) -> None:
        """Raise if more rows of the trace that ended follow: what is between does not end a report."""
        trace = self._just_ended
        line = first_line_of_content(text)
        if trace is None or line is None:
            return
        self._just_ended = None
        if line[0][:1].isdigit() and len(line) == len(trace.header.cells):
            raise ProfileError(
                "the rows of a report are interrupted by a line that is none of them",
                path=self._file.path,
                row=lines_before(self._file, offset) + 1,
                remedy="write the report to a file with `nsys stats --output`, not to the terminal",
            )
