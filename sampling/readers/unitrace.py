"""Traces of Intel's unitrace (``--chrome-kernel-logging``), of Level Zero and OpenCL.

Written from unitrace's source, not tried on a file that it recorded. A command of a GPU is an event of the
category ``gpu_op``; the name of a kernel of Level Zero ends with its shape, groups first, as in
``GEMM[SIMD32 {64; 1; 1} {256; 1; 1}]``, and that of a copy, set or barrier is the name of its call. What a
kernel did on each tile is a launch there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile
from sampling.readers.other_traces import is_trace
from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import (
    Dialect,
    Event,
    Kernel,
    Place,
    Titles,
    read_launches,
    size,
)

FORMAT = "unitrace"

# What no other tool writes into a trace
_SIGN = re.compile(rb'"cat"\s*:\s*"(?:gpu_op|(?:CL_)?Flow_[HD]2[HD]_)|"(?:HOST|DEVICE)<')
_SUBJECT = TraceSubject(
    "a trace of Intel's unitrace",
    re.compile(rb'"cat"\s*:\s*"gpu_op"'),
    "record the program with `unitrace --chrome-kernel-logging PROGRAM`",
)
_CALL = re.compile(r"(?:ze|cl)[A-Z]")
_TILE = re.compile(r"Tile #\d+: ")
_TRIPLE = r"\{(\d+); (\d+); (\d+)\}"
_SHAPE = re.compile(rf"\[(?:SIMD\w+)? ?{_TRIPLE} {_TRIPLE}\]\Z")


def _is_kernel(event: Event) -> bool:
    return event.cat == "gpu_op" and not _CALL.match(_TILE.sub("", event.name or "", count=1))


def _kernel(name: str) -> Kernel:
    name = _TILE.sub("", name, count=1)
    shape = _SHAPE.search(name)
    if shape is None:
        return Kernel(name)
    return Kernel(name[: shape.start()], size(*shape.groups()[:3]), size(*shape.groups()[3:]))


def _places(places: Sequence[Place], _titles: Titles) -> Sequence[tuple[int, int]]:
    """Return places whose processes and threads are numbered as they come, for unitrace counts them down."""
    device, stream = (
        [*dict.fromkeys(getattr(place, of) for place in places)] for of in ("process", "thread")
    )
    return [(device.index(place.process), stream.index(place.thread)) for place in places]


_DIALECT = Dialect(
    format=FORMAT,
    product="Intel unitrace",
    subject=_SUBJECT,
    is_kernel=_is_kernel,
    texts=lambda event: (event.name or "",),
    kernel=_kernel,
    places=_places,
)


def recognise(file: InputFile) -> bool:
    """Return whether the head is a trace of events with what only this tool writes."""
    return is_trace(file) and _SIGN.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels as launches.

    Raises ProfileError: see `read_launches`.
    """
    return read_launches(_DIALECT, file, kernels, progress)[0]
