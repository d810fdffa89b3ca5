"""Writer of the trace that PyTorch's profiler (Kineto) saves: JSON, compressed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Literal, cast

from workload import Copy, Launch, Recording, Times

_PROCESS = 4242
_STREAM = 7
_MULTIPROCESSORS = 80
_COPY_NAMES = {
    "Host-to-Device": "Memcpy HtoD (Pageable -> Device)",
    "Device-to-Host": "Memcpy DtoH (Device -> Pageable)",
}
_DEVICE = {
    "id": 0,
    "name": "Synthetic V100-like GPU",
    "totalGlobalMem": 16 << 30,
    "computeMajor": 7,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65_536,
    "warpSize": 32,
    "sharedMemPerBlock": 49_152,
    "numSms": _MULTIPROCESSORS,
}

# What older releases called the categories.
_OLD_CATEGORIES = {
    "kernel": "Kernel",
    "cuda_runtime": "Runtime",
    "gpu_memcpy": "Memcpy",
    "user_annotation": "Operator",
}

Event = Mapping[str, object]
#: As written for NVIDIA's GPUs today and in 2020 (not sorted by time), and for those of AMD.
Style = Literal["today", "old", "amd"]


def write_kineto(recording: Recording, path: Path, style: Style = "today", *, calls_lost: int = 0) -> None:
    """Write the trace, one event a line; the same recording gives the same JSON.

    ``calls_lost`` is for how many of the last launches and copies the trace has no event of the API.
    """
    head = {
        "schemaVersion": 1,
        "synthetic": "KernelPoint sample data, made by make_sample_data.py, not recorded",
        "deviceProperties": [_DEVICE],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
    }
    written = list(_events(recording, style, calls_lost))
    if style == "old":
        written = [_of_old(event) for event in reversed(written)]
    events = ",\n".join(_json(event) for event in written)
    text = f'{_json(head)[:-1]},"traceEvents":[\n{events}\n]}}\n'
    # No file name and no time in the header: they would differ from run to run.
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _events(recording: Recording, style: Style, calls_lost: int) -> Iterator[Event]:
    yield {
        "ph": "M",
        "name": "process_name",
        "pid": _PROCESS,
        "tid": 0,
        "ts": 0,
        "args": {"name": "synthetic"},
    }
    yield {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}}
    for number, (begin_ns, end_ns) in enumerate(recording.pass_spans_ns):
        yield _event(
            "user_annotation", f"ProfilerStep#{number}", (begin_ns, end_ns), (_PROCESS, _PROCESS), {}
        )
    called = len(recording.activities) - calls_lost
    for place, activity in enumerate(recording.activities):
        events = [_copy_event(activity) if isinstance(activity, Copy) else _kernel_event(activity)]
        if place < called:
            events.insert(0, _runtime_event(activity))
        if style == "amd":
            events = [_of_amd(event, activity) for event in events]
        yield from events


def _of_old(event: Event) -> Event:
    return {**event, "cat": _OLD_CATEGORIES[str(event["cat"])]} if "cat" in event else event


def _of_amd(event: Event, activity: Launch | Copy) -> Event:
    """Return an event of a launch or copy as AMD's runtime reports it: the call has the grid.

    Every other launch is issued by a function that counts work-items, not blocks.
    """
    arguments = dict(cast("Event", event["args"]))
    if event["cat"] == "kernel":
        unknown = {"grid", "block", "blocks per SM", "warps per SM", "est. achieved occupancy %"}
        kept = {name: value for name, value in arguments.items() if name not in unknown}
        return {**event, "args": kept}
    if event["cat"] != "cuda_runtime" or isinstance(activity, Copy):
        return event
    grid, block = activity.grid, activity.kernel.block
    if activity.times.correlation % 2:
        name = "hipExtModuleLaunchKernel"
        grid = (grid[0] * block[0], grid[1] * block[1], grid[2] * block[2])
    else:
        name = "hipLaunchKernel"
    return {**event, "name": name, "args": {**arguments, "grid": grid, "block": block}}


def _event(
    category: str, name: str, span_ns: tuple[int, int], place: tuple[int, int], arguments: Event
) -> Event:
    """Return a complete event; its times are in microseconds, exact to the nanosecond."""
    begin_ns, end_ns = span_ns
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": place[0],
        "tid": place[1],
        "ts": begin_ns / 1000,
        "dur": (end_ns - begin_ns) / 1000,
        "args": arguments,
    }


def _runtime_event(activity: Launch | Copy) -> Event:
    name, number = ("cudaMemcpyAsync", 41) if isinstance(activity, Copy) else ("cudaLaunchKernel", 211)
    times = activity.times
    span_ns = (times.api_start_ns, times.api_end_ns)
    arguments = {"External id": times.correlation, "cbid": number, "correlation": times.correlation}
    return _event("cuda_runtime", name, span_ns, (_PROCESS, _PROCESS), arguments)


def _on_device(times: Times) -> dict[str, object]:
    return {
        "External id": times.correlation,
        "device": 0,
        "context": 1,
        "stream": _STREAM,
        "correlation": times.correlation,
    }


def _copy_event(copy: Copy) -> Event:
    times = copy.times
    arguments = _on_device(times) | {
        "bytes": copy.size_bytes,
        "memory bandwidth (GB/s)": round(copy.size_bytes / times.duration_ns, 6),
    }
    span_ns = (times.start_ns, times.end_ns)
    return _event("gpu_memcpy", _COPY_NAMES[copy.direction], span_ns, (0, _STREAM), arguments)


def _kernel_event(launch: Launch) -> Event:
    kernel, times = launch.kernel, launch.times
    blocks = prod(launch.grid) / _MULTIPROCESSORS
    warps = blocks * prod(kernel.block) / 32
    arguments = _on_device(times) | {
        "queued": 0,
        "registers per thread": kernel.registers,
        "shared memory": kernel.static_shared_bytes + kernel.dynamic_shared_bytes,
        "blocks per SM": blocks,
        "warps per SM": warps,
        "grid": launch.grid,
        "block": kernel.block,
        "est. achieved occupancy %": min(round(warps / 64 * 100), 100),
    }
    return _event("kernel", kernel.name, (times.start_ns, times.end_ns), (0, _STREAM), arguments)
