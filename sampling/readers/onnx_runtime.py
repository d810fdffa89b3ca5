"""ONNX Runtime's profiles (``enable_profiling``), of its CUDA and ROCm providers: a list of events.

Written from ONNX Runtime's source, not tried on a file that it recorded. Times are whole microseconds. Copies
and sets are events of kernels too, known by their names; arguments are texts, a stream of ROCm an address.
"""

from __future__ import annotations

import re

from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import Dialect, Event, Kernel, Key, size

FORMAT = "onnxruntime"

_NO_KERNEL = re.compile(r"(?:hip)?Mem(?:cpy|set|ory)(?:[A-Z ]|\Z)|not_available_due_to_cupti_error")


def _is_kernel(event: Event) -> bool:
    return event.cat == "Kernel" and event.args.dst is None and not _NO_KERNEL.match(event.name or "")


def _kernel(name: str, *sizes: Key) -> Kernel:
    return Kernel(name, size(*sizes[:3]), size(*sizes[3:]))


_DIALECT = Dialect(
    format=FORMAT,
    product="ONNX Runtime",
    sign=re.compile(rb'"cat"\s*:\s*"(?:Session|Node)"'),
    subject=TraceSubject(
        "a trace of ONNX Runtime",
        re.compile(rb'"cat"\s*:\s*"Kernel"'),
        "profile a session whose execution provider is CUDA or ROCm, built with its profiler, or record the "
        "program with `nsys profile --trace cuda`",
    ),
    is_kernel=_is_kernel,
    texts=lambda event: (
        event.name or "",
        *(getattr(event.args, f"{unit}_{axis}") for unit in ("grid", "block") for axis in "xyz"),
    ),
    kernel=_kernel,
    place=lambda place, _titles: (0, place.stream),
    operator=lambda event: event.args.op_name or "",
)

recognise, read = _DIALECT.recognise, _DIALECT.read
