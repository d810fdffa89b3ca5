"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

JSON holds objects, so this reader makes Python objects of its events, piece by piece, and turns every piece
into columns at once: the one format where a launch costs Python steps. Times are microseconds in the file;
whole ones and fractions become exact nanoseconds, but a fraction behind a date (1.6e15 us, PyTorch 2.2 and
2.3) has the resolution of float64, 250 ns; durations are not concerned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sampling.errors import ProfileError
from sampling.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile import Device, KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.kineto_columns import (
    CallRows,
    LaunchRows,
    NameCodes,
    ShapeRows,
    call_rows,
    joined,
    launch_rows,
    places_of,
    shape_rows,
    with_shapes_of_calls,
)

if TYPE_CHECKING:
    from sampling.readers.kineto_events import Document, Event

FORMAT = "kineto"

_BLOCK_BYTES = 1 << 22
_LIST_OF_EVENTS = re.compile(rb'\[\s*\{.*"ph"\s*:', re.DOTALL)
_RECORD_GPU = "record with `activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`"
_ALLOW_RECORDING = (
    "record again with no other profiler attached and with permission to read GPU activity "
    "(CUPTI on NVIDIA, roctracer on AMD)"
)


def recognise(file: InputFile) -> bool:
    """Return whether the head is a Kineto trace: an object with its keys, or a bare list of trace events."""
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        return _LIST_OF_EVENTS.match(head) is not None
    if not head.startswith(b"{"):
        return False
    # The events may begin beyond the head, behind what the user stored as metadata.
    described = b'"deviceProperties"' in head or b'"distributedInfo"' in head
    return b'"traceEvents"' in head or (b'"schemaVersion"' in head and described)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    Launches stand in the order of the API calls that issued them where every launch has its call, else of
    their correlation numbers, else of their start on the GPU.

    Raises
    ------
    ProfileError : the JSON is damaged, a kernel event is not usable, or there is no kernel event.
    """
    events = _collected(file, kernels, progress)
    if not events.launches:
        raise _without_kernels(events, file.path)
    launches = joined(events.launches)
    if events.shapes:
        launches = with_shapes_of_calls(launches, joined(events.shapes))
    order, facts = _order_and_facts(launches, events)
    builder = LaunchTableBuilder(file.path, kernels)
    builder.append(
        LaunchColumns(
            name=launches.name,
            duration_ns=launches.duration_ns,
            order=order,
            process=np.full(len(launches.name), _rank(events.document), dtype=np.int32),
            device=launches.device,
            grid=tuple(launches.grid.T),
            block=tuple(launches.block.T),
            start_ns=launches.start_ns,
            stream=launches.stream,
        )
    )
    described = ProfileFile(path=file.path, location=file.location, launches=len(launches.name))
    return builder.finish(format_name=FORMAT, file=described, facts=facts)


@dataclass(slots=True)
class _Events:
    """What has been read of a trace so far."""

    document: Document
    count: int = 0
    launches: list[LaunchRows] = field(default_factory=list)
    calls: list[CallRows] = field(default_factory=list)
    shapes: list[ShapeRows] = field(default_factory=list)
    graph_launches: list[int] = field(default_factory=list)
    kernel_launch_calls: int = 0


def _collected(file: InputFile, kernels: KernelTable, progress: Progress | None) -> _Events:
    """Read the whole file, keeping of each piece only columns."""
    from sampling.readers.kineto_events import Document, decode
    from sampling.readers.kineto_text import trace_pieces

    collected = _Events(Document())
    codes = NameCodes(kernels.names)
    for piece in trace_pieces(_blocks(file, progress)):
        events, collected.document = decode(piece, file.path, collected.count)
        _add_launches(collected, events, codes, file.path)
        _add_calls(collected, events)
        collected.count += len(events)
    return collected


def _blocks(file: InputFile, progress: Progress | None) -> Iterator[bytes]:
    """Yield the decompressed bytes, telling how many there were."""
    total = 0 if file.compressed else file.location.stat().st_size
    done = 0
    with file.open() as stream:
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            done += len(block)
            if progress is not None:
                progress(done, total, "reading")
            yield block


def _add_launches(collected: _Events, events: list[Event], codes: NameCodes, path: str) -> None:
    from sampling.readers.kineto_events import Arguments

    kernels = _of_categories(events, collected.categories.kernels)
    if not kernels:
        return

    def number_in_file(row: int) -> int:
        return collected.count + 1 + next(index for index, event in enumerate(events) if event is kernels[row])

    none = Arguments()
    arguments = [event.args or none for event in kernels]
    collected.launches.append(launch_rows(kernels, arguments, codes, path, number_in_file))


def _add_calls(collected: _Events, events: list[Event]) -> None:
    """Add the calls of the CUDA or HIP runtime and driver."""
    from sampling.readers.kineto_events import UNKNOWN_DIMENSIONS

    calls = [event for event in _of_categories(events, collected.categories.calls) if event.args is not None]
    if not calls:
        return
    arguments = [event.args for event in calls if event.args is not None]
    collected.calls.append(call_rows(calls, arguments))
    shaped = [
        (event, call_arguments)
        for event, call_arguments in zip(calls, arguments, strict=True)
        if call_arguments.grid is not UNKNOWN_DIMENSIONS
    ]
    if shaped:
        collected.shapes.append(shape_rows(shaped))
    launching = [event for event in calls if "Launch" in (event.name or "")]
    collected.kernel_launch_calls += len(launching)
    graph_launches = [event for event in launching if "GraphLaunch" in (event.name or "")]
    correlations = [event.args.correlation for event in graph_launches if event.args is not None]
    collected.graph_launches += [number for number in correlations if isinstance(number, int)]


def _is_api(category: str | None) -> bool:
    return category is not None and category.lower().endswith(("runtime", "driver"))


def _order_and_facts(launches: LaunchRows, events: _Events) -> tuple[NDArray[np.int64], RecordingFacts]:
    """Return what puts the launches in order, and what the recording says beside them."""
    known = _earliest_first(joined(events.calls)) if events.calls else None
    calls = known or CallRows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    place = places_of(launches.correlation, calls.correlation)
    missing = int(np.count_nonzero(place < 0))
    order, launch_order = _order(launches, calls, place)
    replays = np.setdiff1d(np.array(events.graph_launches, dtype=np.int64), launches.correlation)
    facts = RecordingFacts(
        devices=_devices(events.document, np.unique(launches.device).tolist()),
        launch_order=launch_order,
        api_rows_missing=missing,
        hidden_graph_replays=len(replays),
        product=_product(events.document),
    )
    return order, facts


def _earliest_first(calls: CallRows) -> CallRows:
    by_start = np.argsort(calls.start_ns, kind="stable")
    return CallRows(calls.correlation[by_start], calls.start_ns[by_start])


def _order(
    launches: LaunchRows, calls: CallRows, place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], LaunchOrder]:
    if (place >= 0).all():
        return calls.start_ns[place], "api-start"
    if (launches.correlation >= 0).all():
        return launches.correlation, "correlation"
    return launches.start_ns, "gpu-start"


def _rank(document: Document) -> int:
    """Return the rank of a distributed run, which tells its processes apart; else 0."""
    info = document.distributed_info
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) else 0


def _devices(document: Document, launching: list[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    A single described GPU is the single one that launched, whatever its number: AMD counts the CPUs too.
    """
    described = document.device_properties if isinstance(document.device_properties, list) else []
    devices = [device for device in map(_device, described) if device is not None]
    if len(devices) == len(launching) == 1:
        only = devices[0]
        return (Device(launching[0], only.name, only.sm_count, only.memory_bytes),)
    return tuple(device for device in devices if device.device in launching)


def _device(properties: Any) -> Device | None:
    if not isinstance(properties, dict) or not isinstance(properties.get("id"), int):
        return None
    sm_count, memory_bytes = properties.get("numSms"), properties.get("totalGlobalMem")
    return Device(
        device=properties["id"],
        name=str(properties.get("name", "")),
        sm_count=sm_count if isinstance(sm_count, int) else None,
        memory_bytes=memory_bytes if isinstance(memory_bytes, int) else None,
    )


def _product(document: Document) -> str:
    for library, version in (("CUPTI", document.cupti_version), ("roctracer", document.roctracer_version)):
        if isinstance(version, int | float | str):
            return f"PyTorch profiler ({library} {version})"
    return "PyTorch profiler"


def _without_kernels(events: _Events, path: str) -> ProfileError:
    """Return why a trace without kernel events has none."""
    what = f"a Kineto (Chrome) trace of {events.count} events without a GPU kernel among them"
    if events.kernel_launch_calls:
        called = f"{events.kernel_launch_calls} launches were called but the GPU's side was not recorded"
        return ProfileError(f"{what}: {called}", path=path, remedy=_ALLOW_RECORDING)
    return ProfileError(what, path=path, remedy=_RECORD_GPU)
