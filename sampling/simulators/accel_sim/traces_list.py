"""The traced launches of a process, from ``kernelslist`` or ``kernelslist.g`` and the heads of its traces.

A line that begins with ``kernel`` names a trace beside the list, ``kernel-N.traceg``; newer tracers put the
context behind the number. The trace begins with ``-kernel name = ...``, ``-grid dim = (x,y,z)`` and so on.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.accel_sim.trace_head import sizes_of, trace_file, trace_head
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.trace_list import TraceList, coded

_TRACE = re.compile(r"kernel-(\d{1,18})(?:-ctx_0x[0-9a-fA-F]+)?\.trace[gz]?(?:\.xz|\.gz)?")
_SIGN = re.compile(rb"^(kernel-\d|MemcpyHtoD,)", re.MULTILINE)
_REMEDY = "give a list beside its traces, or the stats.csv that the tracer wrote"


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this names traces."""
    return _SIGN.search(head) is not None


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order.

    Raises
    ------
    ProfileError : a trace is not there, cannot be read, or does not begin like one; none is named.
    """
    with file.open() as stream:
        lines = stream.read().decode("utf-8", "replace").splitlines()
    folder = Path(file.location).parent
    numbers: list[int] = []
    kernels: list[SeenKernel] = []
    for row, line in enumerate(lines, start=1):
        if found := _TRACE.fullmatch(line.strip()):
            numbers.append(int(found[1]))
            kernels.append(_kernel(file, folder, line.strip(), row))
    if not numbers:
        raise ProfileError("names no trace kernel-N", path=file.path, remedy=_REMEDY)
    codes, distinct = coded(kernels)
    return TraceList(file.path, np.array(numbers, dtype=np.int64), 1, codes, distinct)


def _kernel(file: InputFile, folder: Path, name: str, row: int) -> SeenKernel:
    there = trace_file(folder, name)
    if there is None:
        raise ProfileError(f"{name} is not there", path=file.path, row=row, remedy=_REMEDY)
    head = trace_head(there)
    if not head:
        raise ProfileError("its head is packed in a way not read here", path=there, remedy=_REMEDY)
    return SeenKernel(head["kernel name"], sizes_of(head.get("grid dim")), sizes_of(head.get("block dim")))
