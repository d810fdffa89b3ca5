"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

JSON events become Python objects, piece by piece, and every piece becomes columns at once: this is the one
format where a launch costs Python steps. Times are microseconds in the file and become exact nanoseconds, but
a start counted from 1970 (1.6e15 us, PyTorch 2.2 and 2.3) has the resolution of float64, 250 ns.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, runs_of
from sampling.profile.named_ranges import RangeSource
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.readers.input_file import COPY_AGAIN, WHOLE, InputFile, note_of_damage
from sampling.readers.kineto_events import Event, EventColumns, places_of, size_of
from sampling.readers.kineto_operators import find_operators
from sampling.readers.kineto_ranks import Activities, Ranks, merged_ranks
from sampling.readers.launch_calls import LAUNCHES, kind_of_call
from sampling.readers.other_traces import is_of_another_tool, is_trace
from sampling.readers.trace_text import PieceDecoder, TraceBlocks, trace_pieces
from sampling.text import joined_texts

FORMAT = "kineto"

_LARGEST_RANK = (1 << 63) - 1
# What only Kineto writes: keys of the document and of events, and categories. A head that is all metadata of
# the user has no event yet.
_KINETO = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|[Ee]xternal id|correlation)"\s*:'
    rb'|"cat"\s*:\s*"(?:\w+_(?:runtime|driver)|Runtime|Operator|(?:gpu_)?user_annotation|gpu_mem\w+'
    rb'|python_function|cpu_instant_event|ac2g|async_\w+|fwdbwd)"'
)
# These take the grid in work-items, every other call takes blocks; the profiler records what it was given.
_CALLS_IN_WORK_ITEMS = ("hipExtModule", "hipHccModule")


def recognise(file: InputFile) -> bool:
    """Return whether the head is a trace of events with something in it that only Kineto writes."""
    return is_trace(file) and not is_of_another_tool(file) and _KINETO.search(file.head) is not None


class _Trace(Struct, gc=False):
    """What is read of a document; its metadata may hold a user's environment."""

    events: list[Event] | None = field(default=None, name="traceEvents")
    devices: Any = field(default=None, name="deviceProperties")
    distributed: Any = field(default=None, name="distributedInfo")
    cupti_version: Any = None
    roctracer_version: Any = None


_DECODER = PieceDecoder(_Trace, Event)


class _Launches(NamedTuple):
    """The launches of a trace, (n,), in the order of the file; name, grid, block and process are codes."""

    name: AnyIntArray
    start_ns: IntArray
    duration_ns: IntArray
    device: AnyIntArray
    stream: AnyIntArray
    correlation: IntArray
    grid: AnyIntArray
    block: AnyIntArray
    process: AnyIntArray


class _Calls(NamedTuple):
    """The API calls of a trace, in the order in which they began; the last one stands for those not there."""

    correlation: IntArray
    start_ns: IntArray
    name: AnyIntArray
    grid: AnyIntArray
    block: AnyIntArray
    process: AnyIntArray


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    They are in the order of the API calls that issued them where every launch has its call, else of their
    correlation numbers, else of their start on the GPU.

    Raises ProfileError: the JSON is damaged, too many kernel events are not usable, or there is none.
    """
    builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
    seen = EventColumns(builder.left_out)
    trace, notes = _events_read(file, seen, progress)
    if not seen.launches:
        builder.left_out.in_facts(RecordingFacts(), 0)
        raise _without_kernels(file, seen.events, is_cut=file.partial and bool(notes))
    launches, calls, ranks = _joined(seen)
    number, call, lost = _numbers(launches, calls, np.concatenate(seen.kernels_left_out, axis=1), ranks)
    # Of several calls with one number the earliest counts.
    place = places_of(number, call)
    order = launches.start_ns
    launch_order: LaunchOrder = "gpu-start"
    if (place >= 0).all():
        order, launch_order = calls.start_ns[place], "api-start"
    elif (launches.correlation >= 0).all():
        order, launch_order = launches.correlation, "correlation"
    grids, blocks = _sizes(seen, launches, calls, place)
    facts, process = _facts(trace, launches, ranks)
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(list(seen.names))[launches.name],
            duration_ns=launches.duration_ns,
            order=order,
            process=process,
            device=launches.device,
            grid=tuple(grids.T),
            block=tuple(blocks.T),
            start_ns=launches.start_ns,
            stream=launches.stream,
            api_start_ns=calls.start_ns[place] if len(call) > 1 else None,
        )
    )
    is_graph, is_launch = _that_launch(seen, calls)
    # A kernel without a number may be any call's.
    missing = np.count_nonzero(places_of(call[is_launch], np.append(number, lost)) < 0)
    unnumbered = np.count_nonzero(launches.correlation < 0)
    profile = builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(number)),
        facts=replace(
            facts,
            launch_order=launch_order,
            api_rows_missing=int(np.count_nonzero(place < 0)),
            hidden_graph_replays=int(np.count_nonzero(places_of(call[is_graph], number) < 0)),
            launch_calls=int(np.count_nonzero(is_launch)),
            calls_without_kernel=max(int(missing - unnumbered), 0),
        ),
        ranges=partial(_ranges, seen, ranks),
        operators=partial(find_operators, replace(file, progress=None), launches.correlation, ranks),
    )
    if ranks is not None:
        profile.sequences = tuple(replace(each, is_rank=True) for each in profile.sequences)
    profile.notes = notes
    return profile


def _without_kernels(file: InputFile, events: int, *, is_cut: bool) -> ProfileError:
    if is_cut:
        message = "a Kineto trace that is cut short or damaged before its first GPU kernel"
        return ProfileError(message, path=file.path, remedy=COPY_AGAIN)
    return ProfileError(
        f"a Kineto (Chrome) trace of {events:,} events without a GPU kernel among them",
        path=file.path,
        remedy="record with `activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`, no other "
        "profiler attached and permission to read GPU activity",
    )


def _events_read(
    file: InputFile, seen: EventColumns, progress: Progress | None
) -> tuple[_Trace, tuple[str, ...]]:
    """Add the events of a trace to columns; return its document and what to say of how it was read.

    Raises ProfileError: it is not whole and `partial` is not set, or more than single events are damaged.
    """
    trace, damage = _Trace(), None
    notes = []
    blocks = TraceBlocks(file, progress)
    for piece in trace_pieces(blocks):
        decoded = _DECODER.decode(piece)
        trace, damage = decoded.document, decoded.cut_short
        if lost := next((each for each in decoded.unread if not each.is_one), None):
            place = seen.events + lost.place
            if not file.partial:
                raise _not_read_beyond(file, place, lost.reason)
            notes.append(f"{file.path}: damaged at its event {place + 1:,}, where others may be lost")
        seen.add(decoded.events, decoded.unread)
    damage = blocks.damage or damage
    if damage is not None:
        if not file.partial:
            raise _not_read_beyond(file, seen.events, damage)
        notes.append(note_of_damage(file, "event", seen.events))
    unread = seen.note(file.path)
    return trace, tuple(notes if unread is None else [*notes, unread])


def _not_read_beyond(file: InputFile, events: int, reason: str) -> ProfileError:
    message = f"a Kineto trace that cannot be read beyond its first {events:,} events: {reason}"
    stacks = "if it was recorded with stacks, with_stack=False leaves out the names that break JSON"
    return ProfileError(message, path=file.path, remedy=joined_texts("; ", (WHOLE, stacks)))


def _joined(seen: EventColumns) -> tuple[_Launches, _Calls, Ranks | None]:
    """Return the launches and calls of all pieces, and the ranks they are of if the file holds several."""
    launches = _Launches(*(np.concatenate(column) for column in zip(*seen.launches, strict=True)))
    columns = [np.concatenate(column) for column in zip(*seen.calls, strict=True)]
    by_start = np.argsort(columns[1], kind="stable")
    calls = _Calls(*(column[by_start] for column in columns))
    ranks = merged_ranks(
        seen.processes,
        Activities(launches.correlation, launches.start_ns, launches.process),
        launches.device,
        Activities(calls.correlation, calls.start_ns, calls.process),
    )
    return launches, calls, ranks


def _that_launch(seen: EventColumns, calls: _Calls) -> tuple[BoolArray, BoolArray]:
    """Return which calls launch a graph, and which a kernel."""
    names = list(seen.call_names)
    is_graph = np.array(["GraphLaunch" in name for name in names])
    is_launch = np.array([kind_of_call(name) == LAUNCHES for name in names])
    return is_graph[calls.name], is_launch[calls.name]


def _numbers(
    launches: _Launches, calls: _Calls, lost: IntArray, ranks: Ranks | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the numbers by which launches, calls and kernels that are left out find each other."""
    if ranks is None:
        return launches.correlation, calls.correlation, lost[0]
    number, call, lost_number = ranks.numbered_apart(
        (launches.correlation, ranks.of_launch),
        (calls.correlation, ranks.of_process[calls.process]),
        (lost[0], ranks.of_process[lost[1]]),
    )
    return number, call, lost_number


def _sizes(
    seen: EventColumns, launches: _Launches, calls: _Calls, place: IntArray
) -> tuple[IntArray, IntArray]:
    """Return (n, 3) grids and blocks, ``place`` the call of each launch.

    On AMD they stand on the call alone, and some calls count the grid in work-items.
    """
    sizes = np.array([size_of(text) for text in seen.sizes], dtype=np.int64)
    lacks_size = ~sizes[launches.grid].any(axis=1)
    grids = sizes[np.where(lacks_size, calls.grid[place], launches.grid)]
    blocks = sizes[np.where(lacks_size, calls.block[place], launches.block)]
    counts_items = np.array([name.startswith(_CALLS_IN_WORK_ITEMS) for name in seen.call_names])
    in_items = counts_items[calls.name][place]
    grids[in_items] = -(-grids[in_items] // np.maximum(blocks[in_items], 1))
    return grids, blocks


def _facts(
    trace: _Trace, launches: _Launches, ranks: Ranks | None
) -> tuple[RecordingFacts, NDArray[np.int64]]:
    """Return what the document says of the recording, and (n,) the processes: ranks where they are told."""
    distributed = trace.distributed if isinstance(trace.distributed, dict) else {}
    rank, world_size = distributed.get("rank"), distributed.get("world_size")
    # In a file of several ranks it is that of the first.
    is_rank = isinstance(rank, int) and 0 <= rank <= _LARGEST_RANK and ranks is None
    libraries = {"CUPTI": trace.cupti_version, "roctracer": trace.roctracer_version}
    told = [f" ({name} {known})" for name, known in libraries.items() if isinstance(known, int | float | str)]
    process = np.full(len(launches.name), rank if is_rank else 0, dtype=np.int64)
    if ranks is not None:
        process = np.array(ranks.numbers)[ranks.of_launch]
    facts = RecordingFacts(
        devices=_devices(trace.devices, set(np.unique(launches.device).tolist())),
        product="".join(["PyTorch profiler", *told[:1]]),
        rank=rank if is_rank else None,
        world_size=world_size if isinstance(world_size, int) else None,
        merged_ranks=0 if ranks is None else len(ranks.numbers),
    )
    return facts, process


def _ranges(
    seen: EventColumns,
    ranks: Ranks | None,
    sequences: tuple[LaunchSequence, ...],
    api_start_ns: AnyIntArray | None,
) -> RangeSource:
    """Return the launches of every annotation."""
    columns = (np.concatenate(column) for column in zip(*seen.annotations, strict=True))
    text, start_ns, end_ns, process = columns
    owner = np.full(len(text), sequences[0].process)
    if ranks is not None:
        # The last one stands for those of no rank.
        owner = np.array([*ranks.numbers, -1])[ranks.of_process[process]]
    return runs_of(tuple(seen.texts), np.stack([text, owner, start_ns, end_ns]), sequences, api_start_ns)


def _devices(described: Any, launching: set[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    If one is described and one launched they are the same, whatever their numbers: AMD numbers the CPUs too.
    """
    found: dict[int, Device] = {}
    for each in described if isinstance(described, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), int):
            counts = (each.get("numSms"), each.get("totalGlobalMem"))
            known = (count if isinstance(count, int) else None for count in counts)
            # Each of several ranks describes its own.
            found.setdefault(each["id"], Device(each["id"], str(each.get("name", "")), *known))
    devices = [*found.values()]
    if len(devices) == len(launching) == 1:
        return (replace(devices[0], device=min(launching)),)
    return tuple(device for device in devices if device.device in launching)
