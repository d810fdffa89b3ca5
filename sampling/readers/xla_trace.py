"""JAX's and TensorFlow's profiles: ``plugins/profile/RUN/HOST.trace.json.gz``, as XLA's profiler writes them.

A process ``/device:GPU:n`` is a GPU, its threads ``Stream #m`` hold what ran on it; other threads of it tell
the same once more by operation, module and step. An event of a kernel has ``kernel_details``, of CUDA and of
ROCm in other words, and ``hlo_op``, the operation that XLA compiled it for. The profiler keeps the earliest
million events of a recording, newer ones five.
"""

from __future__ import annotations

import re

from sampling.readers.rocm_csv import bare_name
from sampling.readers.trace_events import TraceSubject
from sampling.readers.trace_launches import NO_SIZE, Dialect, Kernel, Key, Place, Titles, size

FORMAT = "xla"

_SIZES = [re.compile(rf"\b{name}:(\d+),(\d+),(\d+)") for name in ("grid", "block")]
_GPU, _STREAM = re.compile(r"/device:GPU:(\d{1,9})"), re.compile(r"Stream #(\d{1,9})")


def _kernel(name: Key, details: Key) -> Kernel:
    matches = [text.search(str(details)) for text in _SIZES]
    sizes = (size(*match.groups()) if match else NO_SIZE for match in matches)
    return Kernel(bare_name(str(name or "")), *sizes)


def _place(place: Place, titles: Titles) -> tuple[Key, Key] | None:
    """Return the GPU and the stream; None for a thread that is called otherwise than a stream."""
    gpu = _GPU.search(titles.get((place.process, None), ""))
    stream = _STREAM.match(titles.get((place.process, place.thread), "Stream #0"))
    return None if stream is None else (gpu[1] if gpu else place.process, stream[1])


_DIALECT = Dialect(
    format=FORMAT,
    product="JAX or TensorFlow (XLA)",
    sign=re.compile(rb'"[^"]*/(?:host|device|gpu|task):(?:CPU|GPU|TPU|[0-9])[^"]*"|"hlo_(?:op|module)"\s*:'),
    subject=TraceSubject(
        "a trace of JAX, TensorFlow or another program on XLA",
        re.compile(rb'"kernel_details"\s*:'),
        "profile steps that run on a GPU, with `jax.profiler.trace(FOLDER)` or "
        "`tf.profiler.experimental.start(FOLDER)`",
    ),
    is_kernel=lambda event: event.args.kernel_details is not None,
    texts=lambda event: (event.name, event.args.kernel_details),
    kernel=_kernel,
    place=_place,
    operator=lambda event: event.args.hlo_op or event.args.tf_op or "",
    most_events=(1_000_000, 5_000_000),
)

recognise, read = _DIALECT.recognise, _DIALECT.read
