"""Every launch of a traced process, from ``kernel_names.txt`` as MacSim's tracer writes it.

Two lines a launch, traced or not: ``KernelN name: NAME``, N counted from 0, and below it
``  Grid size: (x, y, z), Block size: (x, y, z), ...``.
"""

from __future__ import annotations

import re

import numpy as np

from sampling.errors import ProfileError
from sampling.profile.profile import Dimensions
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import LinesSoFar, SeenKernel
from sampling.simulators.trace_list import TraceList, coded

_LINE = re.compile(
    rb"^Kernel(?P<number>\d{1,18}) name: *(?P<name>[^\r\n]*)|"
    rb"^\s*Grid size: *(?P<grid>\([\d, ]*\)), *Block size: *(?P<block>\([\d, ]*\))",
    re.MULTILINE,
)
_SIZE = re.compile(rb"\d+")
_REMEDY = "give the kernel_names.txt that the tracer wrote beside the traces"


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this names kernels as the tracer does."""
    found = _LINE.search(head)
    return found is not None and found["number"] is not None


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order; the last may be without its grid where the tracer was killed.

    Raises
    ------
    ProfileError : no launch is named.
    """
    numbers: list[int] = []
    kernels: list[SeenKernel] = []
    for text in LinesSoFar(file):
        for found in _LINE.finditer(text):
            if found["number"] is not None:
                numbers.append(int(found["number"]))
                kernels.append(SeenKernel(found["name"].strip().decode("utf-8", "replace")))
            elif kernels:
                kernels[-1] = SeenKernel(kernels[-1].name, _sizes(found["grid"]), _sizes(found["block"]))
    if not numbers:
        raise ProfileError("lists no launch", path=file.path, remedy=_REMEDY)
    codes, distinct = coded(kernels)
    return TraceList(file.path, np.array(numbers, dtype=np.int64), 0, codes, distinct)


def _sizes(text: bytes) -> Dimensions | None:
    sizes = [int(size) for size in _SIZE.findall(text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None
