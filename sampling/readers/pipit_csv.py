"""The CSV of pipit's GPU traces: an Enter and a Leave event for every kernel and copy, no grids.

Each Enter row has the time of its Leave too, so a launch is one row. Kernels are in order of their start on
the GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import BoolArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import Kind, Layout, first_line, header_cells, parse, parts, texts
from sampling.readers.input_file import InputFile
from sampling.readers.tables.cells import Rows

FORMAT = "pipit-csv"

_REMEDY = "record the program again, to its end"
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
    at = {name: header.index(name) for name in _KINDS if name in header}
    layout = Layout(header, {position: _KINDS[name] for name, position in at.items()})
    builder = LaunchTableBuilder(file.path, kernels)
    launches = 0
    for part in parts(file, layout, progress):
        every = Rows(part, parse(part), _REMEDY)
        rows = every.where(_is(every, at["type"], b"kernel") & _is(every, at["Event Type"], b"Enter"))
        if not len(rows):
            continue
        leave = at["_matching_timestamp"]
        never = to_numpy(rows.table.column(str(leave)).is_null())
        rows.refuse(never, leave, "a kernel is entered and never left")
        start_ns = rows.times(at["Timestamp (ns)"])
        duration_ns = rows.times(leave) - start_ns
        rows.refuse(duration_ns < 0, leave, "a kernel is left before it is entered")
        builder.append(
            LaunchColumns(
                name=rows.names(at["Name"], kernels),
                duration_ns=duration_ns,
                start_ns=start_ns,
                stream=rows.whole_if_complete(at.get("streamId")),
            )
        )
        launches += len(rows)
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


def _is(rows: Rows, position: int, text: bytes) -> BoolArray:
    """Return (n,) whether a text column's cell is ``text``."""
    distinct, codes = texts(rows.table, position)
    return np.array([cell == text for cell in distinct.to_pylist()], dtype=np.bool_)[codes]
