"""Traces of Triton's profiler Proton (``data="trace"``), ``NAME.chrome_trace``, of all its versions.

Written from Proton's source, not tried on a file that it recorded. The first versions wrote a line of JSON a
stream, in whole nanoseconds; the next microseconds, which always have a fraction, and still call the unit
``us``; the newest one document, with scopes beside the kernels, which have no call stack of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import DecodeError, Raw, json

from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import Dialect, Kernel
from sampling.readers.trace_text import TraceBlocks

FORMAT = "proton"

_NEXT_STREAM = re.compile(rb'\]\s*\}\s*\{\s*"displayTimeUnit"\s*:\s*"[^"]*"\s*,\s*"traceEvents"\s*:\s*\[')
_LONGEST_SEAM_BYTES = 1 << 8
# What Proton launches itself, to read the values of metrics
_OF_PROTON = "<metric>"
_STACK = json.Decoder(list[str])


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


def _scopes(stack: Raw) -> str:
    """Return the scopes of a call stack, which its root and the kernel enclose: ``forward/attention``."""
    try:
        return "/".join(_STACK.decode(stack)[1:-1])
    except (DecodeError, UnicodeDecodeError):
        return ""


_DIALECT = Dialect(
    format=FORMAT,
    product="Triton Proton",
    sign=re.compile(rb'"call_stack"\s*:\s*\[|"Post Final Time \(ns\)"|"tid"\s*:\s*"Stream: \d'),
    subject=TraceSubject(
        "a trace of Triton's profiler Proton",
        re.compile(rb'"cat"\s*:\s*"kernel"'),
        'record launches with `proton.start(NAME, data="trace")`, without its instrumentation inside kernels',
    ),
    is_kernel=lambda event: event.cat == "kernel" and event.name != _OF_PROTON,
    texts=lambda event: (event.name or "",),
    kernel=Kernel,
    place=lambda place, _titles: (place.process, str(place.thread or 0).removeprefix("Stream: ")),
    operator=lambda event: bytes(event.args.call_stack),
    operator_name=_scopes,
    in_nanoseconds=True,
    blocks=_Blocks,
)

recognise, read = _DIALECT.recognise, _DIALECT.read
