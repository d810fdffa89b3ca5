"""Traces of Intel's unitrace (``--chrome-kernel-logging``), of Level Zero and OpenCL.

Written from unitrace's source, not tried on a file that it recorded. A command of a GPU is an event of the
category ``gpu_op``; the name of a kernel of Level Zero ends with its shape, groups first, as in
``GEMM[SIMD32 {64; 1; 1} {256; 1; 1}]``, and that of a copy, set or barrier is the name of its call. What a
kernel did on each tile is a launch there.
"""

from __future__ import annotations

import re

from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import Dialect, Event, Kernel, size

FORMAT = "unitrace"

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


_DIALECT = Dialect(
    format=FORMAT,
    product="Intel unitrace",
    sign=re.compile(rb'"cat"\s*:\s*"(?:gpu_op|(?:CL_)?Flow_[HD]2[HD]_)|"(?:HOST|DEVICE)<'),
    subject=TraceSubject(
        "a trace of Intel's unitrace",
        re.compile(rb'"cat"\s*:\s*"gpu_op"'),
        "record the program with `unitrace --chrome-kernel-logging PROGRAM`",
    ),
    is_kernel=_is_kernel,
    texts=lambda event: (event.name or "",),
    kernel=_kernel,
    # Texts are numbered as they come: unitrace numbers places down from 2**32.
    place=lambda place, _titles: (f"process {place.process}", f"thread {place.thread}"),
)

recognise, read = _DIALECT.recognise, _DIALECT.read
