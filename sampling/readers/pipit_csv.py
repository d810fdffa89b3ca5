"""The CSV of pipit's GPU traces: an Enter and a Leave event for every kernel and copy, no grids.

Each Enter row has the time of its Leave too, so a launch is one row. Kernels are in order of their start on
the GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable, Profile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Layout, first_line, header_cells, read_rows
from sampling.readers.table_launches import Launches

FORMAT = "pipit-csv"

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("Name", "type", "Event Type"), "text"),
    **dict.fromkeys(("Timestamp (ns)", "_matching_timestamp", "streamId"), "integer"),
}
_NOTHING = "a pipit trace that lists no kernel", "give the trace of a run with GPU activity recorded"


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a pipit trace with kernels in it."""
    return ({*_KINDS} - {"streamId"}).issubset(header_cells(first_line(file.head)))


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels' Enter events as launches.

    Raises ProfileError: a kernel's Enter has no Leave; a row is cut short or a value is not a number; there
    is no kernel.
    """
    header = header_cells(first_line(file.head))
    columns = {name: (header.index(name), kind) for name, kind in _KINDS.items() if name in header}
    launches = Launches(file, kernels)
    for rows in read_rows(
        file,
        Layout(header, columns, remedy="record the program again, to its end"),
        progress,
        launches.left_out,
    ):
        for column, label in (("type", "kernel"), ("Event Type", "Enter")):
            texts, codes = rows.texts(column)
            rows = rows.where(np.array([text == label for text in texts], dtype=np.bool_)[codes])  # noqa: PLW2901
        if not len(rows):
            continue
        rows, start_ns, duration_ns = launches.between(rows, "Timestamp (ns)", "_matching_timestamp")  # noqa: PLW2901
        launches.add(
            LaunchColumns(
                name=rows.names("Name", kernels),
                duration_ns=duration_ns,
                start_ns=start_ns,
                stream=rows.if_complete("streamId"),
            )
        )
    return launches.finish(FORMAT, RecordingFacts(launch_order="gpu-start"), _NOTHING)
