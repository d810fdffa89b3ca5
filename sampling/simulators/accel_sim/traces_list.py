"""The traced launches of a process, from ``kernelslist`` or ``kernelslist.g`` and the heads of its traces.

A line that begins with ``kernel`` names a trace beside the list, ``kernel-N.traceg``; newer tracers put the
context behind the number. The trace begins with ``-kernel name = ...``, ``-grid dim = (x,y,z)`` and so on.
"""

from __future__ import annotations

import gzip
import lzma
import re
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.accel_sim.announced_launches import OF_HEADER, AnnouncedLaunches
from sampling.simulators.accel_sim.printed_lines import printed_lines
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.trace_list import TraceList, coded

_TRACE = re.compile(r"kernel-(\d{1,18})(?:-ctx_0x[0-9a-fA-F]+)?\.trace[gz]?(?:\.xz|\.gz)?")
_SIGN = re.compile(rb"^(kernel-\d|MemcpyHtoD,)", re.MULTILINE)
_HEAD_BYTES = 1 << 14
# A trace may have been packed, or made ready, since the list was written.
_ENDINGS = ("", ".gz", ".xz", "g", "g.gz", "g.xz")
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
    there = next((each for end in _ENDINGS if (each := folder / f"{name}{end}").is_file()), None)
    if there is None:
        raise ProfileError(f"{name} is not there", path=file.path, row=row, remedy=_REMEDY)
    try:
        text = _first_bytes(there)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=there, remedy=_REMEDY) from error
    announced = AnnouncedLaunches()
    for key, value in printed_lines([text]):
        if key in OF_HEADER:
            announced.take(key, value)
    if not announced.launches:
        raise ProfileError("does not begin like a trace", path=there, remedy=_REMEDY)
    launch = announced.launches[0]
    return SeenKernel(launch.name, launch.grid, launch.block)


def _first_bytes(path: Path) -> bytes:
    """Return the start of a trace, unpacked."""
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
    with cast("IO[bytes]", openers.get(path.suffix, Path.open)(path, "rb")) as stream:
        return stream.read(_HEAD_BYTES)
