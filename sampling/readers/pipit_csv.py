"""The CSV of pipit's GPU traces: an Enter and a Leave event for every kernel and copy, no grids.

Each Enter row has the time of its Leave too, so a launch is one row. Kernels are in order of their start on
the GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import BoolArray
from sampling.arrow import first_true, to_arrow
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    first_line,
    header_cells,
    names,
    nanoseconds,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile

FORMAT = "pipit-csv"

_KINDS: Mapping[str, Kind] = {
    "Name": "text",
    "type": "text",
    "Event Type": "text",
    "Timestamp (ns)": "integer",
    "_matching_timestamp": "integer",
    "streamId": "integer",
}
_REQUIRED = frozenset(_KINDS) - {"streamId"}


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a pipit trace with kernels in it."""
    return _REQUIRED.issubset(header_cells(first_line(file.head)))


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels' Enter events as launches.

    Raises
    ------
    ProfileError : a kernel's Enter has no Leave; a row is cut short or a value is not a number; there is no
        kernel.
    """
    header = header_cells(first_line(file.head))
    positions = {name: header.index(name) for name in _KINDS if name in header}
    layout = Layout(header, {position: _KINDS[name] for name, position in positions.items()})
    builder = LaunchTableBuilder(file.path, kernels)
    launches = 0
    for start, text in pieces(file, progress):
        skipped = len(first_line(text)) if start == 0 else 0
        part = Part(file, layout, start + skipped, text[skipped:])
        columns = _launches(part, positions, kernels)
        if columns is not None:
            builder.append(columns)
            launches += len(columns.duration_ns)
    if launches == 0:
        raise ProfileError(
            "a pipit trace that lists no kernel",
            path=file.path,
            remedy="give the trace of a run with GPU activity recorded",
        )
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, launches),
        facts=RecordingFacts(launch_order="gpu-start"),
    )


def _launches(part: Part, positions: Mapping[str, int], kernels: KernelTable) -> LaunchColumns | None:
    """Return the kernels that a part enters, None if there are none."""
    if not part.text.strip():
        return None
    table = parse(part)
    rows = np.flatnonzero(
        _equal(table, positions["type"], b"kernel") & _equal(table, positions["Event Type"], b"Enter")
    )
    if len(rows) == 0:
        return None
    table = table.take(to_arrow(rows))
    leave = positions["_matching_timestamp"]
    if table.column(str(leave)).null_count:
        row = int(rows[first_true(table.column(str(leave)).is_null())])
        raise part.error(
            row,
            "a kernel is entered and never left",
            position=leave,
            remedy="record the program to its end, or drop the kernels that had not ended",
        )
    start_ns = nanoseconds(part, table, positions["Timestamp (ns)"], rows, unit=1)
    duration_ns = nanoseconds(part, table, leave, rows, unit=1) - start_ns
    if duration_ns.min() < 0:
        row = int(rows[np.argmax(duration_ns < 0)])
        raise part.error(
            row, "a kernel is left before it is entered", position=leave, remedy="record it again"
        )
    stream = positions.get("streamId")
    if stream is not None and table.column(str(stream)).null_count:
        stream = None
    return LaunchColumns(
        name=names(part, table, positions["Name"], rows, kernels),
        duration_ns=duration_ns,
        start_ns=start_ns,
        stream=None if stream is None else values(part, table, stream, rows),
    )


def _equal(table: Table, position: int, text: bytes) -> BoolArray:
    """Return (n,) whether a text column's cell is ``text``."""
    distinct, codes = texts(table, position)
    wanted = np.fromiter((cell == text for cell in distinct.to_pylist()), dtype=np.bool_)
    return wanted[codes]
