"""Every launch of a traced process, from ``stats.csv`` as Accel-Sim's tracer writes it beside the traces."""

from __future__ import annotations

from sampling.dense_codes import dense_codes
from sampling.readers.accel_sim import has_header, read_rows
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.trace_list import TraceList


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of such a list."""
    return has_header(head)


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; there is no row.
    """
    rows = read_rows(file)
    codes, first_rows = dense_codes([rows.name, *rows.sizes.T])
    kernels = []
    for name, sizes in zip(rows.name[first_rows].tolist(), rows.sizes[first_rows].tolist(), strict=True):
        grid, block = (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])
        kernels.append(SeenKernel(rows.names[name], grid, block))
    return TraceList(file.path, rows.number, 1, codes.astype("int64"), tuple(kernels))
