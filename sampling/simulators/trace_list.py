"""The launches that a tracer lists: numbers, names, grids and blocks, by the file's content.

Accel-Sim's tracer writes ``stats.csv`` (every launch, traced or not) and ``kernelslist`` (those traced; what
each is stands in the head of its trace), MacSim's tracer ``kernel_names.txt`` (every launch).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.measured_run import SeenKernel

#: The lists of a folder, that of all launches before that of the traced ones.
_IN_A_FOLDER = ("stats.csv", "kernel_names.txt", "kernelslist.g", "kernelslist")
_READERS = (
    "sampling.simulators.accel_sim.tracer_list",
    "sampling.simulators.accel_sim.traces_list",
    "sampling.simulators.macsim.tracer_list",
)


@dataclass(frozen=True, slots=True, eq=False)
class TraceList:
    """The launches of a traced process, in the list's order.

    Attributes
    ----------
    number : (n,) the tracer's number of each launch.
    first_number : the number that the first launch of a process has.
    kernel : (n,) which of `kernels` each launch is of.
    kernels : the distinct kernels with their launch shapes.
    """

    path: str
    number: IntArray
    first_number: int
    kernel: IntArray
    kernels: tuple[SeenKernel, ...]


class TraceListReader(Protocol):
    """What every module that reads lists of launches offers."""

    def recognises_list(self, head: bytes) -> bool:
        """Return whether a file that starts like this is of its format."""

    def read_list(self, file: InputFile) -> TraceList:
        """Return the launches."""


def read_trace_list(path: str) -> TraceList:
    """Read a list of launches, or that of a folder of traces; "-" is standard input.

    Raises
    ------
    ProfileError : there is none, it is of no known format, lists nothing, or is damaged.
    """
    with open_input(_list_in(path)) as file:
        readers = (cast("TraceListReader", import_module(name)) for name in _READERS)
        reader = next((each for each in readers if each.recognises_list(file.head)), None)
        if reader is None:
            raise ProfileError(
                "neither stats.csv or kernelslist of Accel-Sim's tracer, nor kernel_names.txt of MacSim's",
                path=file.path,
                remedy="give one of them, or the folder of the traces",
            )
        return reader.read_list(file)


def _list_in(path: str) -> str:
    folder = Path(path)
    if not folder.is_dir():
        return path
    found = next((folder / name for name in _IN_A_FOLDER if (folder / name).is_file()), None)
    if found is None:
        raise ProfileError(
            f"no {', '.join(_IN_A_FOLDER[:-1])} or {_IN_A_FOLDER[-1]} is there",
            path=path,
            remedy="give the folder of the traces, or the tracer's list itself",
        )
    return str(found)


def coded(kernels: Iterable[SeenKernel]) -> tuple[IntArray, tuple[SeenKernel, ...]]:
    """Return (n,) which of the distinct kernels each is, and these."""
    codes: dict[SeenKernel, int] = {}
    each = [codes.setdefault(kernel, len(codes)) for kernel in kernels]
    return np.array(each, dtype=np.int64), tuple(codes)
