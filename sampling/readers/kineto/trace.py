"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

JSON events become Python objects, piece by piece, and every piece becomes columns at once: this is the one
format where a launch costs Python steps. Times are microseconds in the file; whole ones and fractions become
exact nanoseconds, but a start counted from 1970 (1.6e15 us, PyTorch 2.2 and 2.3) has the resolution of
float64, 250 ns. Durations do not suffer from that.

The ranges a program names are its annotations (`record_function`, ProfilerStep#N) on the CPU's side. PyTorch
1.8 lists them among the operators, where only those that PyTorch itself names are recognised, by their #.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.named_ranges import NO_CALL, RangeEvents, runs_of
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.profile.range_runs import NO_RANGES, RangeSource
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, place_on_disk
from sampling.readers.kineto.columns import (
    AnnotationRows,
    CallRows,
    DimensionCodes,
    LaunchRows,
    NameCodes,
    ShapeRows,
    annotation_rows,
    call_rows,
    grids_and_blocks,
    joined,
    launch_rows,
    places_of,
    shape_rows,
)

if TYPE_CHECKING:
    from sampling.readers.kineto.events import Document, Event

FORMAT = "kineto"

_BLOCK_BYTES = 1 << 22
_LARGEST_NUMBER = (1 << 63) - 1
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
    # The events may begin beyond the head, after metadata of the user's.
    described = b'"deviceProperties"' in head or b'"distributedInfo"' in head
    return b'"traceEvents"' in head or (b'"schemaVersion"' in head and described)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    Launches are in the order of the API calls that issued them where every launch has its call, else of
    their correlation numbers, else of their start on the GPU.

    Raises
    ------
    ProfileError : the JSON is damaged, a kernel event is not usable, or there is no kernel event.
    """
    events = _collected(file, kernels, progress)
    if not events.launches:
        raise _without_kernels(events, file.path)
    launches = joined(events.launches)
    grid, block = grids_and_blocks(launches, joined(events.shapes), events.dimensions)
    calls = _earliest_first(joined(events.calls))
    place = places_of(launches.correlation, calls.correlation)
    order, launch_order = _order(launches, calls, place)
    builder = LaunchTableBuilder(file.path, kernels)
    builder.append(
        LaunchColumns(
            name=launches.name,
            duration_ns=launches.duration_ns,
            order=order,
            process=np.full(len(launches.name), _rank(events.document), dtype=np.int64),
            device=launches.device,
            grid=tuple(grid),
            block=tuple(block),
            start_ns=launches.start_ns,
            stream=launches.stream,
            api_start_ns=_api_starts(calls, place) if events.annotations else None,
        )
    )
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(path=file.path, location=file.location, launches=len(launches.name)),
        facts=_facts(launches, events, place, launch_order),
        ranges=partial(_ranges, events),
    )


@dataclass(slots=True)
class _Events:
    """What has been read of a trace so far."""

    document: Document
    names: NameCodes
    dimensions: DimensionCodes
    count: int = 0
    launches: list[LaunchRows] = field(default_factory=list)
    calls: list[CallRows] = field(default_factory=list)
    shapes: list[ShapeRows] = field(default_factory=list)
    call_names: Counter[str | None] = field(default_factory=Counter)
    graph_launches: list[int] = field(default_factory=list)
    annotations: list[AnnotationRows] = field(default_factory=list)
    annotation_texts: dict[str, int] = field(default_factory=dict)


def _collected(file: InputFile, kernels: KernelTable, progress: Progress | None) -> _Events:
    """Read the whole file, keeping of each piece only columns."""
    from sampling.readers.kineto.events import Document, decode
    from sampling.readers.kineto.pieces import trace_pieces

    collected = _Events(Document(), NameCodes(kernels.names), DimensionCodes())
    _add_calls(collected, [])  # so that there is a part to join where the trace has no calls
    for piece in trace_pieces(_blocks(file, progress)):
        events, collected.document = decode(piece, file.path, collected.count)
        categories = set(map(attrgetter("cat"), events))
        if chosen := _chosen(events, categories, _is_kernel):
            _add_launches(collected, events, chosen, file.path)
        if chosen := _chosen(events, categories, _is_api):
            _add_calls(collected, chosen)
        if chosen := _annotations(events, categories):
            collected.annotations.append(annotation_rows(chosen, collected.annotation_texts))
        collected.count += len(events)
    return collected


def _blocks(file: InputFile, progress: Progress | None) -> Iterator[bytes]:
    """Yield the decompressed bytes, reporting progress."""
    total = file.location.stat().st_size
    with file.open() as stream:
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            if progress is not None:
                progress(place_on_disk(stream), total, "reading")
            yield block


def _chosen(
    events: list[Event], categories: set[str | None], is_wanted: Callable[[str], bool]
) -> list[Event]:
    """Return the events with a duration whose category is wanted; ``categories`` are all there are."""
    wanted = {category for category in categories if category is not None and is_wanted(category.lower())}
    if not wanted:
        return []
    return [event for event in events if event.cat in wanted and event.ph == "X"]


def _is_kernel(category: str) -> bool:
    return category == "kernel"


def _is_api(category: str) -> bool:
    return category.endswith(("runtime", "driver"))


def _annotations(events: list[Event], categories: set[str | None]) -> list[Event]:
    """Return the ranges named on the CPU's side; ``categories`` are all there are."""
    if "Operator" in categories:
        operators = _chosen(events, {"Operator"}, lambda _: True)
        return [event for event in operators if event.name is not None and "#" in event.name]
    return _chosen(events, categories, lambda category: category == "user_annotation")


def _add_launches(collected: _Events, events: list[Event], kernels: list[Event], path: str) -> None:
    from sampling.readers.kineto.events import Arguments

    def number_in_file(row: int) -> int:
        return (
            collected.count + 1 + next(index for index, event in enumerate(events) if event is kernels[row])
        )

    none = Arguments()
    arguments = [event.args or none for event in kernels]
    collected.launches.append(
        launch_rows(kernels, arguments, collected.names, collected.dimensions, path, number_in_file)
    )


def _add_calls(collected: _Events, calls: list[Event]) -> None:
    """Add the calls of the CUDA or HIP runtime and driver."""
    from sampling.readers.kineto.events import Arguments

    none = Arguments()
    names = [event.name for event in calls]
    arguments = [event.args or none for event in calls]
    collected.calls.append(call_rows(calls, arguments))
    collected.call_names.update(names)
    with_grid = [row for row, known in enumerate(arguments) if known.grid is not None]
    collected.shapes.append(
        shape_rows(
            [names[row] or "" for row in with_grid],
            [arguments[row] for row in with_grid],
            collected.dimensions,
        )
    )
    collected.graph_launches += [
        known.correlation
        for name, known in zip(names, arguments, strict=True)
        if name is not None and "GraphLaunch" in name and isinstance(known.correlation, int)
        if 0 <= known.correlation <= _LARGEST_NUMBER
    ]


def _facts(
    launches: LaunchRows, events: _Events, place: IntArray, launch_order: LaunchOrder
) -> RecordingFacts:
    """Return what the recording says besides the launches."""
    return RecordingFacts(
        devices=_devices(events.document, _distinct(launches.device)),
        launch_order=launch_order,
        api_rows_missing=int(np.count_nonzero(place < 0)),
        hidden_graph_replays=_hidden_replays(events.graph_launches, launches),
        product=_product(events.document),
    )


def _api_starts(calls: CallRows, place: IntArray) -> IntArray | None:
    """Return (n,) when the call behind each launch began."""
    return np.where(place >= 0, calls.start_ns[place], NO_CALL) if len(calls.start_ns) else None


def _ranges(
    events: _Events, sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None
) -> RangeSource:
    if not events.annotations:
        return NO_RANGES
    rows = joined(events.annotations)
    process = np.full(len(rows.text), sequences[0].process)
    found = RangeEvents(tuple(events.annotation_texts), rows.text, process, rows.start_ns, rows.end_ns)
    return runs_of(found, sequences, api_start_ns)


def _distinct(labels: NDArray[np.int32]) -> set[int]:
    """Return the distinct values; fast where equal ones stand in long runs."""
    return set(labels[np.flatnonzero(np.diff(labels, prepend=labels[0] - 1))].tolist())


def _hidden_replays(graph_launches: list[int], launches: LaunchRows) -> int:
    """Return how many CUDA-graph launches have no kernel in the trace."""
    issued = np.array(graph_launches, dtype=np.int64)
    return int(np.count_nonzero(places_of(issued, launches.correlation) < 0))


def _earliest_first(calls: CallRows) -> CallRows:
    by_start = np.argsort(calls.start_ns, kind="stable")
    return CallRows(calls.correlation[by_start], calls.start_ns[by_start])


def _order(launches: LaunchRows, calls: CallRows, place: IntArray) -> tuple[IntArray, LaunchOrder]:
    if (place >= 0).all():
        return calls.start_ns[place], "api-start"
    if (launches.correlation >= 0).all():
        return launches.correlation, "correlation"
    return launches.start_ns, "gpu-start"


def _rank(document: Document) -> int:
    """Return the rank of a distributed run, which tells its processes apart; else 0."""
    info = document.distributed_info
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) and 0 <= rank <= _LARGEST_NUMBER else 0


def _devices(document: Document, launching: set[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    If one GPU is described and one launched, they are the same, whatever their numbers: AMD numbers the CPUs
    too.
    """
    described = document.device_properties if isinstance(document.device_properties, list) else []
    devices = [device for device in map(_device, described) if device is not None]
    if len(devices) == len(launching) == 1:
        return (replace(devices[0], device=min(launching)),)
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
    launched = sum(
        calls for name, calls in events.call_names.items() if name is not None and "Launch" in name
    )
    if launched:
        called = f"{launched} launches were called but the GPU's side was not recorded"
        return ProfileError(f"{what}: {called}", path=path, remedy=_ALLOW_RECORDING)
    return ProfileError(what, path=path, remedy=_RECORD_GPU)
