"""What ROCm's profilers write their own way, and the launches of a recording of rocprofv3's.

Names of kernels end with suffixes, grids are counted in work-items. Launches are in the order of the calls
where every launch has its call, else of their dispatch numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import NO_CALL, LaunchColumns, LaunchTableBuilder, runs_of
from sampling.profile.named_ranges import RangeSource
from sampling.profile.profile import Device, KernelTable, LaunchSequence, Profile, ProfileFile, RecordingFacts
from sampling.readers.input_file import InputFile

#: The columns of a recording's launches
COLUMNS = (
    *("start", "end", "call", "dispatch", "process", "agent", "queue", "kernel"),
    *("items_x", "items_y", "items_z", "group_x", "group_y", "group_z"),
)

# A kernel's symbol is that of its descriptor; demanglers print what follows the name as a clone.
_DESCRIPTOR = re.compile(r"\s*(?:\[clone \.kd\]|\(\.kd\)|\.kd)\s*\Z")
_CLONE_OF_DESCRIPTOR = re.compile(r"(\[clone [^\[\]]*?)\.kd\]\s*\Z")


def bare_name(name: str) -> str:
    """Return a kernel's name without the suffix of its descriptor; other clones keep theirs.

    >>> bare_name("void add<int>(int*) [clone .kd]"), bare_name("_Z3addPi.kd")
    ('void add<int>(int*)', '_Z3addPi')
    """
    return _CLONE_OF_DESCRIPTOR.sub(r"\1]", _DESCRIPTOR.sub("", name)).strip()


def work_groups(work_items: Sequence[AnyIntArray], group: Sequence[AnyIntArray]) -> list[IntArray]:
    """Return x, y and z, (n,) each, of the grid in work-groups, the last one maybe not full; 0: unknown."""
    return [
        -(-items.astype(np.int64, copy=False) // np.maximum(size, 1))
        for items, size in zip(work_items, group, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What rocprofv3 recorded of one process, or in one set of tables."""

    #: (n,) each of `COLUMNS`; "call" is the number of the call behind a launch, -1 where unknown
    launches: Mapping[str, IntArray]
    #: (c,) the calls that were recorded, and when; of those with one number the first counts
    calls: IntArray
    call_start_ns: IntArray
    #: A kernel's name as it is shown and its symbol, by its number
    symbols: Mapping[int, tuple[str, str]]
    #: The GPUs, as HIP numbers them, by the numbers of the agents; CPUs are agents too
    agents: Mapping[int, Device]
    #: Process, name, start and end of the ranges that the program named (roctx)
    markers: Sequence[tuple[int, str, int, int]]


def profile_of(
    recordings: Iterable[Recording], file: InputFile, kernels: KernelTable, *, format_name: str, remedy: str
) -> Profile:
    """Return the launches of all recordings in a file.

    Raises ProfileError: a launch has no kernel name, no GPU or a size below 0; there is none.
    """
    builder = LaunchTableBuilder(file.path, kernels)
    launches = calls_missing = 0
    in_order_of_calls = True
    found: set[tuple[int, Device]] = set()
    markers: list[tuple[int, str, int, int]] = []
    for recording in recordings:
        markers += recording.markers
        column = recording.launches
        if not len(column["start"]):
            continue
        of_kernel, kernel_row = np.unique(column["kernel"], return_inverse=True)
        symbols = [recording.symbols.get(kernel, ("", "")) for kernel in of_kernel.tolist()]
        names = [bare_name(shown or symbol) for shown, symbol in symbols]
        mangled = [bare_name(symbol) if symbol.startswith("_Z") else None for _, symbol in symbols]
        of_agent, agent_row = np.unique(column["agent"], return_inverse=True)
        gpus = [recording.agents.get(agent) for agent in of_agent.tolist()]
        device = np.array([-1 if gpu is None else gpu.device for gpu in gpus], dtype=np.int64)[agent_row]
        items, block = ([column[f"{what}_{axis}"] for axis in "xyz"] for what in ("items", "group"))
        for wrong, message in (
            (np.array([not name for name in names])[kernel_row], "a launch has no kernel name"),
            (device < 0, "a launch ran on no GPU that is listed"),
            (np.minimum.reduce([*items, *block]) < 0, "a launch has a size below 0"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong)) + 1
                raise ProfileError(message, path=file.path, row=row, remedy=remedy)
        pairs = np.unique(np.stack([column["process"], agent_row]), axis=1).T.tolist()
        found |= {(process, gpu) for process, agent in pairs if (gpu := gpus[agent]) is not None}
        order, api_start_ns, missing = _call_order(recording)
        calls_missing += missing
        # The dispatch number is a correlation number that the profiler gives.
        in_order_of_calls &= order is not column["dispatch"]
        builder.append(
            LaunchColumns(
                name=kernels.names.intern(names, mangled=mangled)[kernel_row],
                duration_ns=column["end"] - column["start"],
                order=order,
                process=column["process"],
                device=device,
                grid=work_groups(items, block),
                block=block,
                start_ns=column["start"],
                stream=column["queue"],
                api_start_ns=api_start_ns,
            )
        )
        launches += len(kernel_row)
    if launches == 0:
        raise ProfileError(
            "a recording of rocprofv3's without a kernel dispatch",
            path=file.path,
            remedy="record the program with `rocprofv3 --kernel-trace`",
        )
    # With their process where processes number them differently.
    places = sorted(found, key=lambda pair: (pair[0], pair[1].device))
    devices = tuple(dict.fromkeys(gpu for _, gpu in places))
    if len({gpu.device for gpu in devices}) < len(devices):
        devices = tuple(replace(gpu, process=process) for process, gpu in places)
    facts = RecordingFacts(
        devices=devices,
        launch_order="api-start" if in_order_of_calls else "correlation",
        api_rows_missing=calls_missing,
        product="rocprofv3",
    )

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> RangeSource:
        codes: dict[str, int] = {}
        rows = [(codes.setdefault(text, len(codes)), process, *times) for process, text, *times in markers]
        events = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return runs_of(tuple(codes), events, sequences, api_start_ns)

    profile_file = ProfileFile(file.path, file.location, launches)
    return builder.finish(format_name=format_name, file=profile_file, facts=facts, ranges=ranges)


def _call_order(recording: Recording) -> tuple[IntArray, IntArray | None, int]:
    """Return (n,) what ascends with the calls within a process, when each call began, how many have none.

    Launches of one call are in the order of dispatch; all are where a call is missing.
    """
    dispatch, call = recording.launches["dispatch"], recording.launches["call"]
    if not len(recording.calls):
        return dispatch, None, 0
    by_start = np.lexsort((recording.call_start_ns, recording.calls))
    numbers, first = np.unique(recording.calls[by_start], return_index=True)
    place = np.minimum(np.searchsorted(numbers, call), len(numbers) - 1)
    known = numbers[place] == call
    api_start_ns = np.where(known, recording.call_start_ns[by_start][first][place], NO_CALL)
    if not known.all():
        return dispatch, api_start_ns if known.any() else None, int(np.count_nonzero(~known))
    return np.argsort(np.lexsort((dispatch, api_start_ns))), api_start_ns, 0


def device_of(number: int, name: object, properties: object) -> Device:
    """Return a GPU from what rocprofv3 writes of an agent, decoded JSON; of another form it is ignored."""
    known = properties if isinstance(properties, dict) else {}
    banks, units = known.get("mem_banks"), known.get("cu_count")
    sizes = [
        bank.get("size_in_bytes")
        for bank in (banks if isinstance(banks, list) else ())
        if isinstance(bank, dict)
    ]
    return Device(
        device=number,
        name=name if isinstance(name, str) else "",
        sm_count=units if isinstance(units, int) and units > 0 else None,
        memory_bytes=max(sum(size for size in sizes if isinstance(size, int)), 0) or None,
    )
