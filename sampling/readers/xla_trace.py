"""JAX's and TensorFlow's profiles: ``plugins/profile/RUN/HOST.trace.json.gz``, as XLA's profiler writes them.

A process ``/device:GPU:n`` is a GPU, its threads ``Stream #m`` hold what ran on it; other threads of it tell
the same once more by operation, module and step. An event of a kernel has ``kernel_details``, of CUDA and of
ROCm in other words, and ``hlo_op``, the operation that XLA compiled it for. The profiler keeps the earliest
million events of a recording, newer ones five.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile
from sampling.readers.other_traces import is_trace
from sampling.readers.rocm_csv import bare_name
from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import (
    NO_SIZE,
    Dialect,
    Kernel,
    Key,
    Place,
    Titles,
    numbered,
    read_launches,
    size,
)

FORMAT = "xla"

_MOST_EVENTS = (1_000_000, 5_000_000)
_SIZES = [re.compile(rf"\b{name}:(\d+),(\d+),(\d+)") for name in ("grid", "block")]
_GPU, _STREAM = re.compile(r"/device:GPU:(\d{1,9})"), re.compile(r"Stream #(\d{1,9})")
# What no other tool writes into a trace
_SIGN = re.compile(rb'"[^"]*/(?:host|device|gpu|task):(?:CPU|GPU|TPU|[0-9])[^"]*"|"hlo_(?:op|module)"\s*:')
_SUBJECT = TraceSubject(
    "a trace of JAX, TensorFlow or another program on XLA",
    re.compile(rb'"kernel_details"\s*:'),
    "profile steps that run on a GPU, with `jax.profiler.trace(FOLDER)` or "
    "`tf.profiler.experimental.start(FOLDER)`",
)


def _kernel(name: Key, details: Key) -> Kernel:
    sizes = [text.search(str(details)) for text in _SIZES]
    return Kernel(
        bare_name(str(name or "")), *(size(*match.groups()) if match else NO_SIZE for match in sizes)
    )


def _places(places: Sequence[Place], titles: Titles) -> list[tuple[int, int] | None]:
    """Return the device and stream of each place, None of a thread that is called otherwise than a stream."""
    gpus = [_GPU.search(titles.get((place.process, None), "")) for place in places]
    streams = [_STREAM.match(titles.get((place.process, place.thread), "Stream #0")) for place in places]
    device = numbered([gpu[1] if gpu else place.process for gpu, place in zip(gpus, places, strict=True)])
    return [
        (number, int(stream[1])) if stream else None for number, stream in zip(device, streams, strict=True)
    ]


_DIALECT = Dialect(
    format=FORMAT,
    product="JAX or TensorFlow (XLA)",
    subject=_SUBJECT,
    is_kernel=lambda event: event.args.kernel_details is not None,
    texts=lambda event: (event.name, event.args.kernel_details),
    kernel=_kernel,
    places=_places,
    operator=lambda event: event.args.hlo_op or event.args.tf_op or "",
)


def recognise(file: InputFile) -> bool:
    """Return whether the head is a trace of events with what only this tool writes."""
    return is_trace(file) and _SIGN.search(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels as launches, and a note where the profiler's limit has cut the recording.

    Raises ProfileError: see `read_launches`.
    """
    profile, events = read_launches(_DIALECT, file, kernels, progress)
    if events.recorded in _MOST_EVENTS:
        limit = f"{file.path}: has {events.recorded:,} events, the most that the profiler writes"
        profile.notes += (f"{limit}: what came later is missing; profile fewer steps",)
    return profile
