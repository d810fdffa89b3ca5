"""nvprof's GPU trace (`nvprof --print-gpu-trace`), printed in columns or as CSV, with what stands around it.

A kernel's name ends with the number of the API call that launched it, and launches are in the order of these
numbers. Where they are missing launches are in the order of their starts, and where starts are equal in that
of the file: starts are printed with six digits, so many are.
"""

from __future__ import annotations

from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchTableBuilder
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import Part, first_line, header_cells, lines_before, pieces
from sampling.readers.input_file import HEAD_BYTES, InputFile
from sampling.readers.nvprof.csv_rows import RowsOfCsv
from sampling.readers.nvprof.devices import Devices
from sampling.readers.nvprof.dialect import TraceHeader, find_header, has_banner, rows_end
from sampling.readers.nvprof.printed_rows import RowsInColumns

FORMAT = "nvprof"


def recognise(file: InputFile) -> bool:
    """Return whether a GPU trace's header is in the head, or may follow what the program printed."""
    if find_header(file.head) is not None:
        return True
    return len(file.head) == HEAD_BYTES and has_banner(file.head)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels of the trace as launches.

    Raises
    ------
    ProfileError : there is no GPU trace, or more than one; a row does not fit the header; there is no kernel.
    """
    trace = _Trace(file, kernels)
    for offset, text in pieces(file, progress):
        trace.take(offset, text)
    if trace.header is None:
        # Many regular expressions, which no trace needs.
        from sampling.readers.not_a_profile import file_error

        raise file_error(file)
    if trace.launches == 0:
        raise ProfileError(
            "a GPU trace of nvprof that lists no kernel, only copies and memsets or nothing",
            path=file.path,
            remedy="record a run that launches kernels with `nvprof --print-gpu-trace`",
        )
    return trace.builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, trace.launches),
        facts=RecordingFacts(devices=trace.devices.described(), launch_order=trace.order, product="nvprof"),
    )


class _Trace:
    """Goes through a file: to the header, through the rows under it, and over what follows them."""

    def __init__(self, file: InputFile, kernels: KernelTable) -> None:
        self.builder = LaunchTableBuilder(file.path, kernels)
        self.devices = Devices()
        self.launches = 0
        self.order: LaunchOrder = "correlation"
        self.header: TraceHeader | None = None
        self._file = file
        self._kernels = kernels
        self._rows: RowsInColumns | RowsOfCsv | None = None
        self._ended = False

    def take(self, offset: int, text: bytes) -> None:
        """Take the next piece: whole lines that start at ``offset``."""
        if self._ended:
            self._refuse_another(offset, text)
        elif self._rows is not None:
            self._take_rows(self._rows, offset, text)
        elif self.header is not None:
            self._open(self.header, offset, text)
        elif (header := find_header(text)) is not None:
            self.header = header
            if text[header.stop :]:
                self._open(header, offset + header.stop, text[header.stop :])

    def _open(self, header: TraceHeader, offset: int, text: bytes) -> None:
        """Take what follows the header: the units where it is CSV, then rows."""
        units = first_line(text) if header.is_csv else b""
        self._rows = (
            RowsOfCsv(header, header_cells(units), self._kernels, self.devices)
            if header.is_csv
            else RowsInColumns(header, self._kernels, self.devices)
        )
        if isinstance(self._rows, RowsOfCsv):
            self._refuse_unusable(self._rows, offset)
        self._take_rows(self._rows, offset + len(units), text[len(units) :])

    def _refuse_unusable(self, rows: RowsOfCsv, offset: int) -> None:
        lacking = rows.lacking()
        untimed = next((column for column in ("Start", "Duration") if not rows.unit(column)), None)
        if lacking is not None:
            message = f"the header of the GPU trace has no column {lacking}"
        elif untimed is not None:
            message = "the row under the header does not say in which unit of time this is"
        else:
            return
        raise ProfileError(
            message,
            path=self._file.path,
            row=lines_before(self._file, offset) + (lacking is None),
            column=None if lacking else untimed,
            remedy="print the trace again with `nvprof --print-gpu-trace --csv --log-file FILE`",
        )

    def _take_rows(self, rows: RowsInColumns | RowsOfCsv, offset: int, text: bytes) -> None:
        end = rows_end(text)
        if text[:end].strip():
            columns = rows.launches(Part(self._file, rows.layout, offset, text[:end]))
            if columns is not None:
                self.builder.append(columns)
                self.launches += len(columns.duration_ns)
                self.order = self.order if columns.order is not None else "gpu-start"
        if end is not None:
            self._ended = True
            self._refuse_another(offset + end, text[end:])

    def _refuse_another(self, offset: int, text: bytes) -> None:
        again = find_header(text)
        if again is not None:
            raise ProfileError(
                "holds a second GPU trace of nvprof",
                path=self._file.path,
                row=lines_before(self._file, offset + again.start) + 1,
                remedy="print each process to a file of its own with `nvprof --log-file FILE.%p`",
            )
