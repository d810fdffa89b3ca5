"""ONNX Runtime's profiles (``enable_profiling``), of its CUDA and ROCm providers: a list of events.

Written from ONNX Runtime's source, not tried on a file that it recorded. Times are whole microseconds. Copies
and sets are events of kernels too, known by their names; arguments are texts, a stream of ROCm an address.
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
    numbered,
    read_launches,
    size,
)

FORMAT = "onnxruntime"

# What no other tool writes into a trace
_SIGN = re.compile(rb'"cat"\s*:\s*"(?:Session|Node)"')
_SUBJECT = TraceSubject(
    "a trace of ONNX Runtime",
    re.compile(rb'"cat"\s*:\s*"Kernel"'),
    "profile a session whose execution provider is CUDA or ROCm, built with its profiler, or record the "
    "program with `nsys profile --trace cuda`",
)
_NO_KERNEL = re.compile(r"(?:hip)?Mem(?:cpy|set|ory)(?:[A-Z ]|\Z)|not_available_due_to_cupti_error")


def _is_kernel(event: Event) -> bool:
    return event.cat == "Kernel" and event.args.dst is None and not _NO_KERNEL.match(event.name or "")


def _kernel(name: str, *sizes: str | None) -> Kernel:
    return Kernel(name, size(*sizes[:3]), size(*sizes[3:]))


def _places(places: Sequence[Place], _titles: Titles) -> Sequence[tuple[int, int]]:
    return [(0, stream) for stream in numbered([place.stream for place in places])]


_DIALECT = Dialect(
    format=FORMAT,
    product="ONNX Runtime",
    subject=_SUBJECT,
    is_kernel=_is_kernel,
    texts=lambda event: (
        event.name or "",
        *(getattr(event.args, f"{unit}_{axis}") for unit in ("grid", "block") for axis in "xyz"),
    ),
    kernel=_kernel,
    places=_places,
    operator=lambda event: event.args.op_name or "",
)


def recognise(file: InputFile) -> bool:
    """Return whether the head is a trace of events with what only this tool writes."""
    return is_trace(file) and _SIGN.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels as launches.

    Raises ProfileError: see `read_launches`.
    """
    return read_launches(_DIALECT, file, kernels, progress)[0]
