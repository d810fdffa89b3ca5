"""Traces of Triton's profiler Proton (``data="trace"``), ``NAME.chrome_trace``, of all its versions.

Written from Proton's source, not tried on a file that it recorded. The first versions wrote a line of JSON a
stream, in whole nanoseconds; the next microseconds, which always have a fraction, and still call the unit
``us``; the newest one document, with scopes beside the kernels, which have no call stack of their own.
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
_SIGN = re.compile(rb'"call_stack"\s*:\s*\[|"Post Final Time \(ns\)"|"tid"\s*:\s*"Stream: \d')
_SUBJECT = TraceSubject(
    "a trace of Triton's profiler Proton",
    re.compile(rb'"cat"\s*:\s*"kernel"'),
    'record launches with `proton.start(NAME, data="trace")`, without its instrumentation inside kernels',
)
_NEXT_STREAM = re.compile(rb'\]\s*\}\s*\{\s*"displayTimeUnit"\s*:\s*"[^"]*"\s*,\s*"traceEvents"\s*:\s*\[')
_LONGEST_SEAM_BYTES = 1 << 8
# What Proton launches itself, to read the values of metrics
_OF_PROTON = "<metric>"
_STACK = json.Decoder(list[str])


def _scopes(stack: Raw) -> str:
    """Return the scopes of a call stack, which its root and the kernel enclose: ``forward/attention``."""
    try:
        return "/".join(_STACK.decode(stack)[1:-1])
    except DecodeError:
        return ""


def _places(places: Sequence[Place], _titles: Titles) -> Sequence[tuple[int, int]]:
    device = numbered([place.process for place in places])
    stream = numbered([str(place.thread or 0).removeprefix("Stream: ") for place in places])
    return list(zip(device, stream, strict=True))


_DIALECT = Dialect(
    format=FORMAT,
    product="Triton Proton",
    subject=_SUBJECT,
    is_kernel=lambda event: event.cat == "kernel" and event.name != _OF_PROTON,
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
