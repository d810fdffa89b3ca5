"""From the tables of an nsys export to a profile, the same for every storage format and nsys version.

Tables and columns are called as in the SQLite export of nsys 2020.4 to 2026.2. Launches stand in the order
of the API calls behind them, which have the same process and correlation id. A capture that begins after a
launch was queued lacks its call; ids of one process rise in API order too, so there they give the order.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import (
    NO_CALL,
    STILL_OPEN,
    FoundOperators,
    LaunchColumns,
    LaunchTableBuilder,
    in_sequences,
    runs_of,
)
from sampling.profile.named_ranges import NO_RANGES, RangeRuns, operators_of
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

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
STRINGS = "StringIds"
#: The value of an integer column where the table has NULL
NULL = int(np.iinfo(np.int64).min)

_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_NVTX = "NVTX_EVENTS"
_TIMES = ("start", "end")
# Best first: older nsys versions leave mangledName out, and newer ones may leave any of them NULL.
_NAMES = ("demangledName", "mangledName", "shortName")
_PLACE = ("globalPid", "correlationId", "deviceId", "streamId")
# The grid that launched a kernel from the device, as CUPTI calls it.
_PARENT = "parentGridId"
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")
_CALL = ("start", "globalTid", "correlationId")
_RANGE = ("eventType", "text", "textId", "globalTid", "start", "end")
_NODE = ("globalTid", "graphNodeId", "start", "originalGraphNodeId")
# The second since nsys 2024.
_NODES = ("CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS")
_NODE_OF_LAUNCH = ("globalPid", "graphNodeId")
_OLD_GPU = ("deviceId", "pid", "name", "numMultiprocessors", "globalMemorySize")
_GPU = ("cuDevice", "id", "deviceId", "name", "smCount", "totalMemory")
# Values of ENUM_NSYS_EVENT_TYPE: a push/pop range of one thread, a start/end range that any thread may end
_RANGE_TYPES = (59, 60)
_THREAD_BITS = 0xFFFFFF
_CORRELATION_BITS = 32
_KEYS_APART = 4
_WEAKEST_FIRST: tuple[LaunchOrder, ...] = ("gpu-start", "correlation", "api-start")
_ROWS_AT_ONCE = 1 << 15


class NsysTables(ABC):
    """The tables of one export by name; nsys leaves out those without rows: they have no columns."""

    #: The type of the export as nsys calls it, e.g. "sqlite"
    kind: str

    def __init__(self, path: str, names: Iterable[str]) -> None:
        #: Of the export as the user gave it, for messages
        self.path = path
        self.names = frozenset(names)

    @property
    def remedy(self) -> str:
        """What to do where it is damaged."""
        return f"export it again with `nsys export --type {self.kind} REPORT.nsys-rep`"

    def error(self, message: str, *, row: int | None = None, column: str | None = None) -> ProfileError:
        """Return the error for an export that nsys did not write so."""
        return ProfileError(message, path=self.path, row=row, column=column, remedy=self.remedy)

    def not_integers(self, column: str) -> ProfileError:
        """Return the error for a column that nsys did not fill."""
        return self.error("the column holds something else than integers", column=column)

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the export has a table with all these columns."""
        return table in self.names and self.columns(table).issuperset(columns)

    @abstractmethod
    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""

    @abstractmethod
    def most_rows(self, table: str) -> int:
        """Return at once about how many rows there are, 0 for none."""

    @abstractmethod
    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: one (n,) int64 array for each column, NULL as ``NULL``, n > 0.

        Raises ProfileError: the export is damaged, or a column holds something else than integers.
        """

    @abstractmethod
    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table one by one; a column it lacks is None in all of them."""

    @abstractmethod
    def strings(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the texts of ``StringIds``; ids without one are left out."""


class _Part(NamedTuple):
    """What orders the launches of one part, (n,) each; overwritten once all API calls are known."""

    process: NDArray[np.int32]  #: code of its globalPid; then the number of the process
    key: IntArray  #: process and correlation id, -1 without one; then what orders launches of a process
    start_ns: IntArray
    api_start_ns: IntArray  #: when the API call behind it began, ``NO_CALL`` where it was not recorded


def read_export(
    tables: NsysTables,
    file: InputFile,
    kernels: KernelTable,
    progress: Progress | None,
    opened: Callable[[], AbstractContextManager[NsysTables]],
) -> Profile:
    """Read the launches of an export; ``opened`` opens it once more, for its ranges.

    Raises ProfileError: there are no launches in it (with the reason), or it is damaged.
    """
    present = tables.columns(KERNEL)
    if not present:
        raise _without_kernels(tables)
    columns = [
        column for column in (*_TIMES, *_NAMES, *_PLACE, *_GRID, *_BLOCK, _PARENT) if column in present
    ]
    if lacking := [column for column in _TIMES if column not in columns]:
        raise tables.error(f"the table {KERNEL} has no such column", column=lacking[0])
    done, total = 0, 0 if progress is None else tables.most_rows(KERNEL) + tables.most_rows(_RUNTIME)

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, total), total, f"reading {Path(tables.path).name}")

    has_ranges = tables.has(_NVTX, "eventType", "globalTid", "start", "end")
    builder = LaunchTableBuilder(tables.path, kernels, keep_overlong=file.keep_overlong)
    texts = dict[int, str]()
    parts, processes = list[_Part](), dict[int, int]()
    for arrays in tables.integers(KERNEL, columns):
        column = dict(zip(columns, arrays, strict=True))
        for time in _TIMES:
            if column[time].min() == NULL:
                row = done + int(np.argmin(column[time])) + 1
                raise tables.error("a launch has no time", row=row, column=time)
        nothing = np.broadcast_to(np.int64(NULL), len(column["start"]))
        process = _codes(column.get("globalPid", nothing), processes)
        key = _keys(process, column.get("correlationId", nothing))
        # A copy: a column of an Arrow batch would keep the memory of all its other columns.
        start_ns = column["start"] if column["start"].base is None else column["start"].copy()
        part = _Part(process, key, start_ns, np.full(len(nothing), NO_CALL))
        # Dimensions that are NULL become 0, which is "unknown".
        grid, block = (
            [each if each.min() >= 0 else np.maximum(each, 0) for each in map(column.__getitem__, axes)]
            if column.keys() >= {*axes}
            else None
            for axes in (_GRID, _BLOCK)
        )
        builder.append(
            LaunchColumns(
                name=_name_codes(column, tables, kernels, texts, done),
                duration_ns=column["end"] - column["start"],
                order=key,
                process=process,
                device=column.get("deviceId"),
                grid=grid,
                block=block,
                start_ns=part.start_ns,
                stream=column.get("streamId"),
                device_launched=column[_PARENT] > 0 if _PARENT in column else None,
                api_start_ns=part.api_start_ns if has_ranges else None,
            )
        )
        parts.append(part)
        advance(len(process))
    if not parts:
        raise _without_kernels(tables)
    launches = done
    _find_calls(parts, processes, tables, advance)
    numbers = _process_numbers(processes)
    launch_order, api_rows_missing = _put_in_order(parts, np.array(list(numbers.values())))
    # The builder has what is still needed of them, and drops it bit by bit.
    parts.clear()

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> _NvtxRanges:
        return _NvtxRanges(opened, numbers, sequences, api_start_ns)

    facts = RecordingFacts(
        launch_order=launch_order,
        api_rows_missing=api_rows_missing,
        hidden_graph_replays=sum(1 for _ in tables.rows(_GRAPH_TRACE, ("start",))),
        product=_product(tables),
    )
    profile = builder.finish(
        format_name=f"nsys-{tables.kind}",
        file=ProfileFile(file.path, file.location, launches),
        facts=facts,
        ranges=ranges if has_ranges else lambda *_: NO_RANGES,
        captured=partial(_captured, opened, numbers, launches) if present >= {*_NODE_OF_LAUNCH} else None,
    )
    profile.facts = replace(profile.facts, devices=_devices(tables, profile.sequences))
    return profile


def _codes(values: IntArray, known: dict[int, int]) -> NDArray[np.int32]:
    """Return (n,) the code of each value, of which there are few; new ones are added to the known."""
    if values.min() == values.max():
        return np.full(len(values), known.setdefault(int(values[0]), len(known)), dtype=np.int32)
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([known.setdefault(each, len(known)) for each in distinct.tolist()], dtype=np.int32)[place]


def _keys(process: NDArray[np.int32], correlation: IntArray) -> IntArray:
    """Return (n,) process and correlation id as one number, -1 for an id that is none."""
    keys = process.astype(np.int64) << _CORRELATION_BITS
    keys |= correlation
    keys[correlation >> _CORRELATION_BITS != 0] = -1
    return keys


def _name_codes(
    column: Mapping[str, IntArray],
    tables: NsysTables,
    kernels: KernelTable,
    texts: dict[int, str],
    rows_before: int,
) -> NDArray[np.int32]:
    """Return the name code of every launch; ``texts`` are those looked up so far, and more are added."""
    forms = {form: column[form] for form in _NAMES if form in column}
    name, *others = [*forms.values()] or [np.broadcast_to(np.int64(NULL), len(column["start"]))]
    for form in others:
        name = np.where(name == NULL, form, name) if name.min() == NULL else name
    codes, first_rows = dense_codes([name if name.min() >= 0 else np.maximum(name, -1) + 1])
    ids = {form: values[first_rows].tolist() for form, values in {"full": name, **forms}.items()}
    wanted = set().union(*ids.values()) - texts.keys()
    texts.update(tables.strings(sorted(wanted)) if wanted else {})
    found = {form: [texts.get(each) for each in of_form] for form, of_form in ids.items()}
    if None in found["full"]:
        row = min(row for row, text in zip(first_rows.tolist(), found["full"], strict=True) if text is None)
        message = f"a launch has no kernel name in the table {STRINGS}"
        raise tables.error(message, row=rows_before + row + 1, column=_NAMES[0])
    full = cast("list[str]", found["full"])
    return kernels.names.intern(full, found.get("shortName"), found.get("mangledName"))[codes]


# --- in which order the program issued its launches --------------------------------------------------------


def _find_calls(
    parts: Sequence[_Part], processes: Mapping[int, int], tables: NsysTables, advance: Callable[[int], None]
) -> None:
    """Write when the first API call of each launch's process and correlation id began, where one did."""
    has_id = [part.key >= 0 for part in parts]
    if not any(each.any() for each in has_id) or not tables.has(_RUNTIME, *_CALL):
        return
    with_id = zip(parts, has_id, strict=True)
    place_of, places = _places([part.key if known.all() else part.key[known] for part, known in with_id])
    first_start_ns = np.full(places, NO_CALL)
    codes = dict(processes)
    for start_ns, thread, correlation in tables.integers(_RUNTIME, _CALL):
        key = _keys(_codes(thread & ~_THREAD_BITS, codes), correlation)
        if thread.min() == NULL:
            key[thread == NULL] = -1
        place = place_of(key)
        if (place[1:] > place[:-1]).all():
            # Each once, as ids of one thread come: this takes a third of the time of the other way.
            first_start_ns[place] = np.minimum(first_start_ns[place], start_ns)
        else:
            np.minimum.at(first_start_ns, place, start_ns)
        advance(len(key))
    for part, known in zip(parts, has_id, strict=True):
        np.take(first_start_ns, place_of(part.key), out=part.api_start_ns, mode="clip")
        part.api_start_ns[~known] = NO_CALL


def _places(parts: Sequence[IntArray]) -> tuple[Callable[[IntArray], IntArray], int]:
    """Return what gives each of some keys >= 0 a place of its own, and how many places there are.

    All other keys have places that none of these has. Keys that lie close together, as those of one process
    do, are their places, which takes a tenth of the time.
    """
    first = min(int(part.min()) for part in parts if len(part))
    last = max(int(part.max()) for part in parts if len(part))
    if last - first <= _KEYS_APART * sum(map(len, parts)):
        return lambda numbers: np.clip(numbers, first - 1, last + 1) - (first - 1), last - first + 3
    keys = np.concatenate(parts)
    keys.sort()
    # Each once, and one beyond them, which nothing has.
    keys = np.append(keys[np.append(True, keys[1:] > keys[:-1])], NO_CALL)

    def place_of(numbers: IntArray) -> IntArray:
        place = np.searchsorted(keys, numbers)
        return np.where(keys[place] == numbers, place, len(keys) - 1)

    return place_of, len(keys)


def _process_numbers(processes: Mapping[int, int]) -> dict[int, int]:
    """Return the number of each globalPid: its PID, or 0, 1, 2... where two machines have the same."""
    numbers = {process: 0 if process == NULL else (process >> 24) & 0xFFFFFF for process in processes}
    if len({*numbers.values()}) < len(numbers):
        places = {process: number for number, process in enumerate(sorted(processes))}
        return {process: places[process] for process in processes}
    return numbers


def _put_in_order(parts: Sequence[_Part], numbers: IntArray) -> tuple[LaunchOrder, int]:
    """Overwrite keys and processes in place; return what orders the process known least of, and lost calls.

    Launches of one process are ordered by what all of them have: their calls, their correlation ids, or else
    their starts on the GPU.
    """
    lost, without_id = np.zeros((2, len(numbers)), dtype=np.int64)
    for part in parts:
        lost += np.bincount(part.process[part.api_start_ns == NO_CALL], minlength=len(numbers))
        without_id += np.bincount(part.process[part.key < 0], minlength=len(numbers))
    by = np.where(lost == 0, 2, np.where(without_id == 0, 1, 0))
    for part in parts:
        keys = (part.start_ns, part.key, part.api_start_ns)
        part.key[:] = keys[by[0]] if (by == by[0]).all() else np.choose(by[part.process], keys)
        part.process[:] = numbers[part.process]
    return _WEAKEST_FIRST[by.min()], int(lost.sum())


# --- NVTX ranges -------------------------------------------------------------------------------------------


class _NvtxRanges(NamedTuple):
    """The ranges of an export, which may be more than launches: they are read when they are asked for."""

    opened: Callable[[], AbstractContextManager[NsysTables]]
    numbers: Mapping[int, int]  #: the number of a process by its globalPid
    sequences: tuple[LaunchSequence, ...]
    api_start_ns: AnyIntArray | None

    def holding(self, text: str) -> RangeRuns:
        """Return the ranges whose names contain a text, of which "" is part of every one."""
        codes: dict[str, int] = {}
        parts = [np.zeros((0, 4), dtype=np.int64)]
        with self.opened() as tables:
            rows = _range_rows(tables, text)
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                try:
                    numbers = [(codes.setdefault(name, len(codes)), *place) for name, *place in some]
                    parts.append(np.array(numbers, dtype=np.int64))
                except (TypeError, ValueError, OverflowError):
                    raise tables.not_integers("start") from None
        code, thread, start_ns, end_ns = np.concatenate(parts).T
        recorded, place = np.unique(thread & ~_THREAD_BITS, return_inverse=True)
        # A process without launches has no number; no sequence has the number -1.
        number = np.array([self.numbers.get(each, -1) for each in recorded.tolist()], dtype=np.int64)
        events = np.stack([code, number[place], start_ns, end_ns])
        return runs_of(tuple(codes), events, self.sequences, self.api_start_ns)


def _range_rows(tables: NsysTables, text: str) -> Iterator[tuple[Any, ...]]:
    """Yield name, globalTid, start and end of the ranges whose names contain a text.

    A range carries its name itself or as the id of a registered string.
    """
    strings = {number: value for number, value in tables.rows(STRINGS, ("id", "value")) if text in str(value)}
    for kind, own, number, thread, start, end in tables.rows(_NVTX, _RANGE):
        name = own or strings.get(number)
        if kind in _RANGE_TYPES and isinstance(name, str) and text in name:
            yield name, NULL if thread is None else thread, start, STILL_OPEN if end is None else end


def _captured(
    opened: Callable[[], AbstractContextManager[NsysTables]], numbers: Mapping[int, int], launches: int
) -> FoundOperators:
    """Return the operators that were open where the graph node of each launch was made.

    What replays a graph does not say what its nodes compute; what captured or added them does. The nodes of
    executable graphs and of clones are copies, made later than what they are copies of.
    """
    made: dict[tuple[int, int], tuple[int, int]] = {}
    none = (("",), np.zeros(launches, dtype=np.int64))
    with opened() as tables:
        for table in _NODES:
            arrays = tables.integers(table, _NODE) if tables.has(table, *_NODE) else ()
            for row in chain.from_iterable(
                zip(*map(np.ndarray.tolist, each), strict=True) for each in arrays
            ):
                thread, node, start, copied = row
                # A copy is told of twice: as a node, and as a copy.
                first, original = made.get((thread & ~_THREAD_BITS, node), (start, 0))
                made[thread & ~_THREAD_BITS, node] = min(first, start), max(copied, original)
        if not made:
            return none
        launched = [np.stack(each) for each in tables.integers(KERNEL, _NODE_OF_LAUNCH)]

    def first_made_ns(process: int, node: int) -> int:
        start, original = made.get((process, node), (NO_CALL, 0))
        while 0 < original < node and (process, original) in made:
            node = original
            start, original = made[process, node]
        return start

    rows = np.maximum(np.concatenate(launched, axis=1), 0)
    codes, first_rows = dense_codes([*rows])
    distinct = rows[:, first_rows].T.tolist()
    made_ns = np.array([first_made_ns(process, node) for process, node in distinct], dtype=np.int64)
    known = np.flatnonzero(made_ns != NO_CALL)
    if not len(known):
        return none
    process = np.array([numbers.get(distinct[place][0], -1) for place in known.tolist()])
    order, sequences = in_sequences(len(known), process=process, device=None, by_time=[made_ns[known]])
    known = known if order is None else known[order]
    ranges = _NvtxRanges(opened, numbers, sequences, made_ns[known])
    text = np.zeros(len(made_ns), dtype=np.int64)
    texts, text[known] = operators_of(ranges, [each.launches for each in sequences])
    return texts, text[codes]


# --- what an export says besides its launches --------------------------------------------------------------


def _settings(tables: NsysTables, table: str) -> dict[str, str]:
    """Return the values of a (name, value) table, by name without a prefix such as ``PROCESS_0:``.

    They hold command lines and environment variables too, which are not to be shown.
    """
    rows = tables.rows(table, ("name", "value"))
    return {re.sub(r"\APROCESS_\d+:", "", str(name)): str(value) for name, value in rows if value is not None}


def _product(tables: NsysTables) -> str | None:
    """Return the exporter's name and version, e.g. "NVIDIA Nsight Systems 2023.4.4.54"."""
    known = _settings(tables, "META_DATA_EXPORT") | _settings(tables, "EXPORT_META_DATA")
    parts = (known.get(f"EXPORT_PRODUCT_{part}") for part in ("NAME", "VERSION"))
    return " ".join(filter(None, parts)) or None


def _devices(tables: NsysTables, sequences: Iterable[LaunchSequence]) -> tuple[Device, ...]:
    """Return the GPUs of the sequences, as far as the export describes them.

    There is one table of GPUs in 2020, and two that belong together from 2024 on. CUDA_VISIBLE_DEVICES
    renumbers the GPUs of a process, so a numbering by process comes first.
    """
    old = list(tables.rows("TARGET_INFO_CUDA_GPU", _OLD_GPU))
    gpus = list(tables.rows("TARGET_INFO_GPU", _GPU))
    numbering = list(tables.rows("TARGET_INFO_CUDA_DEVICE", ("pid", "cudaId", "gpuId")))
    known: list[tuple[int, Device]] = []
    for process, device in dict.fromkeys((each.process, each.device) for each in sequences):
        numbers = [gpu for *place, gpu in numbering if place == [process, device]]
        surest_first = (
            *(gpu for gpu in old if gpu[:2] == (device, process)),
            *(gpu for gpu in old if gpu[0] == device),
            *(gpu for number in numbers for gpu in gpus if gpu[1] == number),
            *(gpu for key in range(3) for gpu in gpus if gpu[key] == device),
        )
        for gpu in surest_first[:1]:
            name, *sizes = gpu[-3:]
            sm_count, memory = (size if isinstance(size, int) and size > 0 else None for size in sizes)
            if isinstance(name, str):
                # The table of 2020 counts in MiB.
                memory_bytes = memory << 20 if memory and len(gpu) == len(_OLD_GPU) else memory
                known.append((process, Device(device, name, sm_count, memory_bytes)))
    distinct = tuple(dict.fromkeys(device for _, device in known))
    if len({device.device for device in distinct}) == len(distinct):
        return distinct
    return tuple(replace(device, process=process) for process, device in known)


def _without_kernels(tables: NsysTables) -> ProfileError:
    """Return the error for an nsys export without kernel launches: why it has none, and what to do."""
    mode = _settings(tables, "META_DATA_CAPTURE").get("CUDA_GRAPH_TRACE_OPTIONS:MODE")
    texts = tables.rows(STRINGS, ("value",)) if mode == "Graph" else ()
    what, trace, besides = "has no CUDA tables at all: CUDA was not traced", "--trace=cuda", ""
    if any("GraphLaunch" in str(text) for (text,) in texts) or tables.most_rows(_GRAPH_TRACE):
        what = "was recorded with graph-level tracing: it has replays but none of the kernels inside"
        trace += " --cuda-graph-trace=node"
    elif any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in tables.names):
        what = "has CUDA activities but no kernel launches: kernels were not recorded"
        besides = (
            ", the profiled range around kernels; if none are there, set CuptiUseRawGpuTimestamps=false "
            "in the config.ini of nsys"
        )
    remedy = f"record again with `nsys profile {trace} ...`{besides}"
    return ProfileError(f"this nsys export {what}", path=tables.path, remedy=remedy)
