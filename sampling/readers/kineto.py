"""Reader of PyTorch profiler traces (Kineto's Chrome trace JSON), gzip or not.

Times are microseconds in the file and become exact nanoseconds, but a start counted from 1970 (1.6e15 us,
PyTorch 2.2 and 2.3) has the resolution of float64, 250 ns.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field

from sampling.arrays import AnyIntArray, IntArray, find_places
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, find_range_runs
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
from sampling.readers.input_file import InputFile
from sampling.readers.kineto_events import (
    Annotations,
    Calls,
    Event,
    EventColumns,
    Kernels,
    LostKernels,
    decode_size,
    join_pieces,
)
from sampling.readers.kineto_operators import find_activity, find_operators
from sampling.readers.kineto_ranks import Ranks, merged_ranks
from sampling.readers.launch_calls import LAUNCHES, classify_call
from sampling.readers.other_traces import is_foreign, is_trace
from sampling.readers.trace_events import read_events
from sampling.readers.trace_text import PieceDecoder

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
    return is_trace(file) and not is_foreign(file) and _KINETO.search(file.head) is not None


class _Trace(Struct, gc=False):
    """What is read of a document; its metadata may hold a user's environment."""

    events: list[Event] | None = field(default=None, name="traceEvents")
    devices: Any = field(default=None, name="deviceProperties")
    distributed: Any = field(default=None, name="distributedInfo")
    cupti_version: Any = None
    roctracer_version: Any = None


_DECODER = PieceDecoder(_Trace, Event)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches of a trace.

    They are in the order of the API calls that issued them where every launch has its call, else of their
    correlation numbers, else of their start on the GPU.

    Raises ProfileError: the JSON is damaged, too many kernel events are not usable, or there is none.
    """
    builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
    events = EventColumns(builder.left_out)
    trace, notes = read_events(file, _DECODER, events, progress)
    if not events.kernels:
        builder.left_out.in_facts(RecordingFacts(), 0)
        raise events.without_kernels(file, is_cut=file.partial and bool(notes))
    launches = join_pieces(Kernels, events.kernels)
    calls = _calls_by_start(events)
    is_of_several = (launches.process != launches.process[0]).any()
    ranks = merged_ranks(events.processes, launches, calls) if is_of_several else None
    numbers = _number(launches, calls, join_pieces(LostKernels, events.lost_kernels), ranks)
    # Of several calls with one number the earliest counts.
    call = find_places(numbers.launches, numbers.calls)
    launch_order, order = _launch_order(launches, calls, call)
    grids, blocks = _sizes(events, launches, calls, call)
    process = np.zeros(len(call), dtype=np.int64) if ranks is None else ranks.launch_numbers()
    facts = replace(
        _facts(trace, launches, ranks),
        launch_order=launch_order,
        api_rows_missing=int(np.count_nonzero(call < 0)),
    )
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(list(events.names))[launches.name],
            duration_ns=launches.duration_ns,
            order=order,
            process=process + (facts.rank or 0),
            device=launches.device,
            grid=tuple(grids.T),
            block=tuple(blocks.T),
            start_ns=launches.start_ns,
            stream=launches.stream,
            api_start_ns=calls.start_ns[call] if len(calls.name) > 1 else None,
        )
    )
    profile = builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(call)),
        facts=_with_calls_counted(facts, events, launches, calls, numbers),
        ranges=partial(_ranges, events, ranks),
        operators=partial(find_operators, replace(file, progress=None), launches.correlation, ranks),
        activity=partial(find_activity, replace(file, progress=None), launches.correlation, ranks),
    )
    if ranks is not None:
        profile.sequences = tuple(replace(sequence, is_rank=True) for sequence in profile.sequences)
    profile.notes = notes
    return profile


def _calls_by_start(events: EventColumns) -> Calls:
    """Return the calls of all pieces as they began; the last one stands for those that are not there."""
    calls = join_pieces(Calls, events.calls)
    return calls.take(np.argsort(calls.start_ns, kind="stable"))


class _Numbers(NamedTuple):
    """The numbers by which launches, calls and lost kernels find each other; those of two ranks differ."""

    launches: IntArray
    calls: IntArray
    lost: IntArray


def _number(launches: Kernels, calls: Calls, lost: LostKernels, ranks: Ranks | None) -> _Numbers:
    if ranks is None:
        return _Numbers(launches.correlation, calls.correlation, lost.correlation)
    numbers = ranks.numbered_apart(
        (launches.correlation, ranks.of_launch),
        (calls.correlation, ranks.of_process[calls.process]),
        (lost.correlation, ranks.of_process[lost.process]),
    )
    return _Numbers(*numbers)


def _launch_order(launches: Kernels, calls: Calls, call: IntArray) -> tuple[LaunchOrder, IntArray]:
    """Return what the launches are ordered by and (n,) its values, ``call`` the call of each."""
    if (call >= 0).all():
        return "api-start", calls.start_ns[call]
    if (launches.correlation >= 0).all():
        return "correlation", launches.correlation
    return "gpu-start", launches.start_ns


def _with_calls_counted(
    facts: RecordingFacts, events: EventColumns, launches: Kernels, calls: Calls, numbers: _Numbers
) -> RecordingFacts:
    """Return the facts with how many calls launch kernels, how many of them and of graphs' have none."""
    names = list(events.call_names)
    is_graph = np.array(["GraphLaunch" in name for name in names])[calls.name]
    is_launch = np.array([classify_call(name) == LAUNCHES for name in names])[calls.name]
    is_hidden = find_places(numbers.calls[is_graph], numbers.launches) < 0
    is_missing = find_places(numbers.calls[is_launch], np.append(numbers.launches, numbers.lost)) < 0
    # A kernel without a number may be any call's.
    missing = np.count_nonzero(is_missing) - np.count_nonzero(launches.correlation < 0)
    return replace(
        facts,
        hidden_graph_replays=int(np.count_nonzero(is_hidden)),
        launch_calls=int(np.count_nonzero(is_launch)),
        calls_without_kernel=max(int(missing), 0),
    )


def _sizes(
    events: EventColumns, launches: Kernels, calls: Calls, call: IntArray
) -> tuple[IntArray, IntArray]:
    """Return (n, 3) grids and blocks, ``call`` the call of each launch.

    On AMD they stand on the call alone, and some calls count the grid in work-items.
    """
    sizes = np.array([decode_size(text) for text in events.sizes], dtype=np.int64)
    lacks_size = ~sizes[launches.grid].any(axis=1)
    grids = sizes[np.where(lacks_size, calls.grid[call], launches.grid)]
    blocks = sizes[np.where(lacks_size, calls.block[call], launches.block)]
    counts_items = np.array([name.startswith(_CALLS_IN_WORK_ITEMS) for name in events.call_names])
    in_items = counts_items[calls.name][call]
    grids[in_items] = -(-grids[in_items] // np.maximum(blocks[in_items], 1))
    return grids, blocks


def _facts(trace: _Trace, launches: Kernels, ranks: Ranks | None) -> RecordingFacts:
    """Return what the document says of the recording."""
    distributed = trace.distributed if isinstance(trace.distributed, dict) else {}
    rank, world_size = distributed.get("rank"), distributed.get("world_size")
    # In a file of several ranks it is that of the first.
    is_rank = isinstance(rank, int) and 0 <= rank <= _LARGEST_RANK and ranks is None
    libraries = {"CUPTI": trace.cupti_version, "roctracer": trace.roctracer_version}
    versions = [
        f" ({name} {version})"
        for name, version in libraries.items()
        if isinstance(version, int | float | str)
    ]
    return RecordingFacts(
        devices=_devices(trace.devices, set(np.unique(launches.device).tolist())),
        product="".join(["PyTorch profiler", *versions[:1]]),
        rank=rank if is_rank else None,
        world_size=world_size if isinstance(world_size, int) else None,
        merged_ranks=0 if ranks is None else len(ranks.numbers),
    )


def _ranges(
    events: EventColumns,
    ranks: Ranks | None,
    sequences: tuple[LaunchSequence, ...],
    api_start_ns: AnyIntArray | None,
) -> RangeSource:
    """Return the launches of every annotation."""
    annotations = join_pieces(Annotations, events.annotations)
    owner = np.full(len(annotations.text), sequences[0].process)
    if ranks is not None:
        # The last one stands for those of no rank.
        owner = np.array([*ranks.numbers, -1])[ranks.of_process[annotations.process]]
    columns = np.stack([annotations.text, owner, annotations.start_ns, annotations.end_ns])
    return find_range_runs(tuple(events.texts), columns, sequences, api_start_ns)


def _devices(described: Any, launching: set[int]) -> tuple[Device, ...]:
    """Return the described GPUs that launched kernels.

    If one is described and one launched they are the same, whatever their numbers: AMD numbers the CPUs too.
    """
    devices_by_id: dict[int, Device] = {}
    for entry in described if isinstance(described, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), int):
            counts = (entry.get("numSms"), entry.get("totalGlobalMem"))
            figures = (count if isinstance(count, int) else None for count in counts)
            # Each of several ranks describes its own.
            devices_by_id.setdefault(entry["id"], Device(entry["id"], str(entry.get("name", "")), *figures))
    devices = [*devices_by_id.values()]
    if len(devices) == len(launching) == 1:
        return (replace(devices[0], device=min(launching)),)
    return tuple(device for device in devices if device.device in launching)
