"""Traces of Triton's profiler Proton (``data="trace"``), ``NAME.chrome_trace``: a line of JSON a stream.

Written from Proton's source, not tried on a file that it recorded. Its first versions wrote whole
nanoseconds, later ones microseconds, which always have a fraction; both call the unit ``us``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import DecodeError, Raw, json

from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile
from sampling.readers.other_traces import is_trace
from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import Dialect, Kernel, Place, Titles, numbered, read_launches
from sampling.readers.trace_text import TraceBlocks

FORMAT = "proton"

# What no other tool writes into a trace
_SIGN = re.compile(rb'"call_stack"\s*:\s*\[|"Post Final Time \(ns\)"')
_SUBJECT = TraceSubject(
    "a trace of Triton's profiler Proton",
    re.compile(rb'"cat"\s*:\s*"kernel"'),
    'record launches with `proton.start(NAME, data="trace")`, without its instrumentation inside kernels',
)
_NEXT_STREAM = re.compile(rb'\]\s*\}\s*\{\s*"displayTimeUnit"\s*:\s*"[^"]*"\s*,\s*"traceEvents"\s*:\s*\[')
_LONGEST_SEAM_BYTES = 1 << 8
_STACK = json.Decoder(list[str])


def _scopes(stack: Raw) -> str:
    """Return the scopes of a call stack, which its root and the kernel enclose: ``forward/attention``."""
    try:
        return "/".join(_STACK.decode(stack)[1:-1])
    except DecodeError:
        return ""


def _places(places: Sequence[Place], _titles: Titles) -> Sequence[tuple[int, int]]:
    device, stream = (numbered([getattr(place, of) for place in places]) for of in ("process", "thread"))
    return list(zip(device, stream, strict=True))


_DIALECT = Dialect(
    format=FORMAT,
    product="Triton Proton",
    subject=_SUBJECT,
    is_kernel=lambda event: event.cat == "kernel",
    texts=lambda event: (event.name or "",),
    kernel=Kernel,
    places=_places,
    operator=lambda event: bytes(event.args.call_stack),
    operator_name=_scopes,
    in_nanoseconds=True,
)


class _Blocks(TraceBlocks):
    """The bytes of a trace with the events of all streams in one list."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks; what may begin another stream is held back until more is read."""
        rest = b""
        for block in super().__iter__():
            rest = _NEXT_STREAM.sub(b",", rest + block)
            yield rest[:-_LONGEST_SEAM_BYTES]
            rest = rest[-_LONGEST_SEAM_BYTES:]
        yield rest


def recognise(file: InputFile) -> bool:
    """Return whether the head is a trace of events with what only this tool writes."""
    return is_trace(file) and _SIGN.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels of all streams as launches, their scopes as operators.

    Raises ProfileError: see `read_launches`.
    """
    return read_launches(_DIALECT, file, kernels, progress, _Blocks(file, progress))[0]
