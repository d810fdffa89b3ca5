"""From the tables of an nsys export to a profile, the same for every storage format and nsys version.

Launches stand in the order of the API calls behind them, which have the same process and correlation id. A
capture that begins after a launch was queued lacks its call; ids of one process rise in API order too, so
there they give the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import (
    NO_CALL,
    NO_NAME,
    STILL_OPEN,
    FoundOperators,
    LaunchColumns,
    LaunchTableBuilder,
    RowsLeftOut,
    find_range_runs,
    in_sequences,
)
from sampling.profile.named_ranges import NO_RANGES, RangeRuns, find_range_operators
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.readers.cells import NULL, NoWholeNumberError, whole_numbers
from sampling.readers.input_file import InputFile
from sampling.readers.launch_calls import ENDS_CAPTURE, LaunchCalls, classify_call
from sampling.readers.nsys_tables import (
    BLOCK,
    CALL,
    CALLED,
    EXPORTERS,
    GPU,
    GPU_NUMBER,
    GPU_NUMBERS,
    GPUS,
    GRAPH_TRACE,
    GRID,
    KERNEL,
    NAMES,
    NODE,
    NODE_OF_LAUNCH,
    NODES,
    NVTX,
    OLD_GPU,
    OLD_GPUS,
    PARENT,
    PLACE,
    RANGE,
    RUNTIME,
    STRINGS,
    TEXT,
    THREAD_BITS,
    TIMES,
    NsysTables,
    call_keys,
    find_activity,
    number_codes,
)

# Values of ENUM_NSYS_EVENT_TYPE: a push/pop range of one thread, a start/end range that any thread may end
_RANGE_TYPES = (59, 60)
_OF_RANGE = ("text", "globalTid", "start", "end")
_KEYS_APART = 4
_WEAKEST_FIRST: tuple[LaunchOrder, ...] = ("gpu-start", "correlation", "api-start")
_ROWS_AT_ONCE = 1 << 15


class _Part(NamedTuple):
    """What orders the launches of one part, (n,) each; overwritten once all API calls are known."""

    process: NDArray[np.int32]  #: code of its globalPid; then the number of the process
    key: IntArray  #: process and correlation id, -1 without one; then what orders launches of a process
    start_ns: IntArray
    api_start_ns: IntArray  #: when the API call behind it began, ``NO_CALL`` where it was not recorded


class _Launches(NamedTuple):
    """The launches of an export as they were read."""

    parts: list[_Part]
    processes: dict[int, int]  #: the code of each globalPid
    left_out: list[IntArray]  #: the rows from 0 that can be no launch
    keys_left_out: list[IntArray]  #: their keys: the calls behind them have a kernel


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
    rows_read, total = 0, 0 if progress is None else tables.most_rows(KERNEL) + tables.most_rows(RUNTIME)

    def advance(rows: int) -> None:
        nonlocal rows_read
        rows_read += rows
        if progress is not None:
            progress(min(rows_read, total), total, f"reading {Path(tables.path).name}")

    has_ranges = tables.has(NVTX, "eventType", "globalTid", "start", "end")
    builder = LaunchTableBuilder(tables.path, kernels, keep_overlong=file.keep_overlong)
    parts, processes, left_out, keys_left_out = _read_launches(
        tables, builder, kernels, advance, has_ranges=has_ranges
    )
    launches = sum(len(part.key) for part in parts)
    launch_calls, calls_without_kernel = _find_calls(parts, keys_left_out, processes, tables, advance)
    numbers = _process_numbers(processes)
    launch_order, api_rows_missing = _put_in_order(parts, np.array(list(numbers.values())))
    # The builder has what is still needed of them, and drops it bit by bit.
    parts.clear()

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> _NvtxRanges:
        return _NvtxRanges(opened, numbers, sequences, api_start_ns)

    facts = RecordingFacts(
        launch_order=launch_order,
        api_rows_missing=api_rows_missing,
        launch_calls=launch_calls,
        calls_without_kernel=calls_without_kernel,
        hidden_graph_replays=sum(1 for _ in tables.rows(GRAPH_TRACE, ("start",))),
        product=_product(tables),
    )
    profile = builder.finish(
        format_name=f"nsys-{tables.kind}",
        file=ProfileFile(file.path, file.location, launches),
        facts=facts,
        ranges=ranges if has_ranges else lambda *_: NO_RANGES,
        captured=partial(_captured, opened, numbers, launches, left_out)
        if tables.has(KERNEL, *NODE_OF_LAUNCH)
        else None,
        activity=partial(find_activity, opened, numbers, launches, left_out),
    )
    profile.facts = replace(profile.facts, devices=_devices(tables, profile.sequences))
    return profile


def _read_launches(
    tables: NsysTables,
    builder: LaunchTableBuilder,
    kernels: KernelTable,
    advance: Callable[[int], None],
    *,
    has_ranges: bool,
) -> _Launches:
    """Give the builder the launches part by part."""
    present = tables.columns(KERNEL)
    if not present:
        raise _without_kernels(tables)
    columns = [column for column in (*TIMES, *NAMES, *PLACE, *GRID, *BLOCK, PARENT) if column in present]
    if lacking := [column for column in TIMES if column not in columns]:
        raise tables.error(f"the table {KERNEL} has no such column", column=lacking[0])
    texts, launches, rows = dict[int, str](), _Launches([], {}, [], []), 0
    for arrays in tables.integers(KERNEL, columns):
        column = dict(zip(columns, arrays, strict=True))
        is_wrong = _are_no_launches(column, builder.left_out, rows)
        if is_wrong is not None:
            launches.left_out.append(rows + np.flatnonzero(is_wrong))
            launches.keys_left_out.append(_who_and_which(column, launches.processes)[1][is_wrong])
            column = {name: values[~is_wrong] for name, values in column.items()}
        if len(column["start"]):
            part = _part(column, launches.processes)
            name = _name_codes(column, tables, kernels, texts)
            builder.append(_launches(part, column, name, has_ranges=has_ranges))
            launches.parts.append(part)
        rows += len(arrays[0])
        advance(len(arrays[0]))
    if not rows:
        raise _without_kernels(tables)
    if not launches.parts:
        builder.left_out.in_facts(RecordingFacts(), 0)
    if not any(map(str.strip, texts.values())):
        raise tables.error(f"the launches have no kernel name in the table {STRINGS}")
    return launches


def _without_kernels(tables: NsysTables) -> ProfileError:
    # What nsys says of it takes regular expressions, which no export with kernels needs.
    from sampling.readers.nsys_without_kernels import without_kernels

    return without_kernels(tables)


def _are_no_launches(
    column: Mapping[str, IntArray], left_out: RowsLeftOut, rows_before: int
) -> BoolArray | None:
    """Return (n,) whether each row can be no launch, None where all can; such rows are counted."""
    start_ns, end_ns = column["start"], column["end"]
    is_wrong: BoolArray = (end_ns < start_ns) | (start_ns == NULL) | (end_ns - start_ns < 0)
    rows = np.flatnonzero(is_wrong)
    if not len(rows):
        return None
    first = int(rows[0])
    lacking = [time for time in TIMES if column[time][first] == NULL]
    message = "a launch has no time" if lacking else "a launch ends before it starts"
    name = lacking[0] if lacking else "end"
    left_out.add(len(rows), message, row=rows_before + first + 1, column=name)
    return is_wrong


def _who_and_which(
    column: Mapping[str, IntArray], processes: dict[int, int]
) -> tuple[NDArray[np.int32], IntArray]:
    """Return (n,) code of the process and key of each row; new processes are added."""
    nothing = np.broadcast_to(np.int64(NULL), len(column["start"]))
    process = number_codes(column.get("globalPid", nothing), processes)
    return process, call_keys(process, column.get("correlationId", nothing))


def _part(column: Mapping[str, IntArray], processes: dict[int, int]) -> _Part:
    process, key = _who_and_which(column, processes)
    # A copy: a column of an Arrow batch would keep the memory of all its other columns.
    start_ns = column["start"] if column["start"].base is None else column["start"].copy()
    return _Part(process, key, start_ns, np.full(len(key), NO_CALL))


def _launches(
    part: _Part, column: Mapping[str, IntArray], name: NDArray[np.int32], *, has_ranges: bool
) -> LaunchColumns:
    # Dimensions that are NULL become 0, which is "unknown".
    grid, block = (
        [axis if axis.min() >= 0 else np.maximum(axis, 0) for axis in map(column.__getitem__, axes)]
        if column.keys() >= {*axes}
        else None
        for axes in (GRID, BLOCK)
    )
    return LaunchColumns(
        name=name,
        duration_ns=column["end"] - column["start"],
        order=part.key,
        process=part.process,
        device=column.get("deviceId"),
        grid=grid,
        block=block,
        start_ns=part.start_ns,
        stream=column.get("streamId"),
        device_launched=column[PARENT] > 0 if PARENT in column else None,
        api_start_ns=part.api_start_ns if has_ranges else None,
    )


def _name_codes(
    column: Mapping[str, IntArray], tables: NsysTables, kernels: KernelTable, texts: dict[int, str]
) -> NDArray[np.int32]:
    """Return the name code of every launch; ``texts`` are those looked up so far, and more are added."""
    forms = {form: column[form] for form in NAMES if form in column}
    name, *mangled_forms = [*forms.values()] or [np.broadcast_to(np.int64(NULL), len(column["start"]))]
    for form in mangled_forms:
        name = np.where(name == NULL, form, name) if name.min() == NULL else name
    codes, first_rows = dense_codes([name if name.min() >= 0 else np.maximum(name, -1) + 1])
    ids = {form: values[first_rows].tolist() for form, values in {"full": name, **forms}.items()}
    missing = set().union(*ids.values()) - texts.keys()
    texts.update(tables.strings(sorted(missing)) if missing else {})
    texts_of_forms = {form: [texts.get(number) for number in of_form] for form, of_form in ids.items()}
    full = [
        next((text for text in row if text and text.strip()), NO_NAME)
        for row in zip(*texts_of_forms.values(), strict=True)
    ]
    return kernels.names.intern(full, texts_of_forms.get("shortName"), texts_of_forms.get("mangledName"))[
        codes
    ]


# --- in which order the program issued its launches --------------------------------------------------------


def _find_calls(
    parts: Sequence[_Part],
    keys_left_out: Sequence[IntArray],
    processes: Mapping[int, int],
    tables: NsysTables,
    advance: Callable[[int], None],
) -> tuple[int, int]:
    """Write when the first API call of each launch's process and correlation id began, where one did.

    Return how many calls launch a kernel, and how many of these have none.
    """
    has_id = [part.key >= 0 for part in parts]
    if not any(mask.any() for mask in has_id) or not tables.has(RUNTIME, *CALL):
        return 0, 0
    with_id = zip(parts, has_id, strict=True)
    keys = [part.key if is_numbered.all() else part.key[is_numbered] for part, is_numbered in with_id]
    keys += [key[key >= 0] for key in keys_left_out]
    find_places, places = _place_finder(keys)
    first_start_ns, has_kernel = np.full(places, NO_CALL), np.zeros(places, dtype=np.bool_)
    for key in keys:
        has_kernel[find_places(key)] = True
    # A launch that does not say whose it is may be any call's.
    is_told = NULL not in processes and all(mask.all() for mask in has_id)
    named = [name for name in CALLED if is_told and tables.has(RUNTIME, name)]
    codes, calls, kinds = dict(processes), LaunchCalls(), _KindsOfCalls(tables)
    for start_ns, thread, correlation, *called in tables.integers(RUNTIME, (*CALL, *named)):
        process = number_codes(thread & ~THREAD_BITS, codes)
        key = call_keys(process, correlation)
        if NULL in {thread.min(), start_ns.min()}:
            key[(thread == NULL) | (start_ns == NULL)] = -1
        place = find_places(key)
        if (place[1:] > place[:-1]).all():
            # Each once, as ids of one thread come: this takes a third of the time of the other way.
            first_start_ns[place] = np.minimum(first_start_ns[place], start_ns)
        else:
            np.minimum.at(first_start_ns, place, start_ns)
        if called:
            kind = kinds.of(called[0])
            failed = np.any([(column != 0) & (column != NULL) for column in called[1:]], axis=0)
            is_none = (key < 0) | (failed & (kind != ENDS_CAPTURE))
            kind = np.where(is_none, 0, kind) if is_none.any() else kind
            calls.add(kind, has_kernel[place], process=process, start_ns=start_ns)
        advance(len(key))
    for part, is_numbered in zip(parts, has_id, strict=True):
        np.take(first_start_ns, find_places(part.key), out=part.api_start_ns, mode="clip")
        part.api_start_ns[~is_numbered] = NO_CALL
    return calls.counted(_last_calls(parts) if calls.any_alone else ())


class _KindsOfCalls:
    """What calls do, by the ids of their names; a name is looked up once."""

    def __init__(self, tables: NsysTables) -> None:
        self._tables = tables
        self._kinds: dict[int, int] = {}

    def of(self, names: IntArray) -> AnyIntArray | int:
        """Return (n,) what each call does, one number where all have one name."""
        lowest, highest = int(names.min()), int(names.max())
        if highest - lowest <= _KEYS_APART * len(names):
            # Ids that lie close together, as they do, are looked up in a tenth of the time.
            place = names - lowest
            distinct = np.flatnonzero(np.bincount(place))
            kinds = np.zeros(highest - lowest + 1, dtype=np.int8)
            kinds[distinct] = self._looked_up((distinct + lowest).tolist())
        else:
            distinct, place = np.unique(names, return_inverse=True)
            kinds = np.array(self._looked_up(distinct.tolist()), dtype=np.int8)
        return int(kinds[0]) if lowest == highest else kinds[place]

    def _looked_up(self, ids: list[int]) -> list[int]:
        if unknown := [number for number in ids if number not in self._kinds]:
            texts = self._tables.strings(unknown)
            self._kinds.update({number: classify_call(texts.get(number, "")) for number in unknown})
        return [self._kinds[number] for number in ids]


def _last_calls(parts: Sequence[_Part]) -> list[tuple[int, int]]:
    """Return the processes in which a launch has no call, each with the start of the last call it has."""
    last_ns: dict[int, int] = {}
    amid_work: set[int] = set()
    for part in parts:
        for process in np.unique(part.process).tolist():
            start_ns = part.api_start_ns[part.process == process]
            is_called = start_ns != NO_CALL
            last_ns[process] = max(last_ns.get(process, NULL), int(start_ns[is_called].max(initial=NULL)))
            if not is_called.all():
                amid_work.add(process)
    return [(process, last_ns[process]) for process in sorted(amid_work)]


def _place_finder(parts: Sequence[IntArray]) -> tuple[Callable[[IntArray], IntArray], int]:
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

    def find_places(numbers: IntArray) -> IntArray:
        place = np.searchsorted(keys, numbers)
        return np.where(keys[place] == numbers, place, len(keys) - 1)

    return find_places, len(keys)


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
            while batch := list(islice(rows, _ROWS_AT_ONCE)):
                numbers = [(codes.setdefault(name, len(codes)), *place) for name, *place in batch]
                try:
                    parts.append(whole_numbers(numbers).T)
                except NoWholeNumberError as error:
                    raise tables.not_integers(_OF_RANGE[error.column], error) from None
        code, thread, start_ns, end_ns = np.concatenate(parts).T
        recorded, place = np.unique(thread & ~THREAD_BITS, return_inverse=True)
        # A process without launches has no number; no sequence has the number -1.
        number = np.array([self.numbers.get(number, -1) for number in recorded.tolist()], dtype=np.int64)
        events = np.stack([code, number[place], start_ns, end_ns])
        return find_range_runs(tuple(codes), events, self.sequences, self.api_start_ns)


def _range_rows(tables: NsysTables, text: str) -> Iterator[tuple[Any, ...]]:
    """Yield name, globalTid, start and end of the ranges whose names contain a text.

    A range carries its name itself or as the id of a registered string.
    """
    strings = {number: value for number, value in tables.rows(STRINGS, TEXT) if text in str(value)}
    for kind, range_text, number, thread, start, end in tables.rows(NVTX, RANGE):
        name = range_text or strings.get(number)
        if kind in _RANGE_TYPES and isinstance(name, str) and text in name and start is not None:
            yield name, NULL if thread is None else thread, start, STILL_OPEN if end is None else end


def _captured(
    opened: Callable[[], AbstractContextManager[NsysTables]],
    numbers: Mapping[int, int],
    launches: int,
    left_out: Sequence[IntArray],
) -> FoundOperators:
    """Return the operators that were open where the graph node of each launch was made.

    ``left_out`` are the rows that are no launches.

    What replays a graph does not say what its nodes compute; what captured or added them does. The nodes of
    executable graphs and of clones are copies, made later than what they are copies of.
    """
    calls: dict[tuple[int, int], tuple[int, int]] = {}
    none = (("",), np.zeros(launches, dtype=np.int64))
    with opened() as tables:
        for table in NODES:
            arrays = tables.integers(table, NODE) if tables.has(table, *NODE) else ()
            for row in chain.from_iterable(
                zip(*map(np.ndarray.tolist, columns), strict=True) for columns in arrays
            ):
                thread, node, start, copied = row
                # A copy is told of twice: as a node, and as a copy.
                first, original = calls.get((thread & ~THREAD_BITS, node), (start, 0))
                calls[thread & ~THREAD_BITS, node] = min(first, start), max(copied, original)
        if not calls:
            return none
        launched = [np.stack(columns) for columns in tables.integers(KERNEL, NODE_OF_LAUNCH)]

    def first_made_ns(process: int, node: int) -> int:
        start, original = calls.get((process, node), (NO_CALL, 0))
        while 0 < original < node and (process, original) in calls:
            node = original
            start, original = calls[process, node]
        return start

    rows = np.maximum(np.concatenate(launched, axis=1), 0)
    if left_out:
        rows = np.delete(rows, np.concatenate(left_out), axis=1)
    codes, first_rows = dense_codes([*rows])
    distinct = rows[:, first_rows].T.tolist()
    made_ns = np.array([first_made_ns(process, node) for process, node in distinct], dtype=np.int64)
    issued = np.flatnonzero(made_ns != NO_CALL)
    if not len(issued):
        return none
    process = np.array([numbers.get(distinct[place][0], -1) for place in issued.tolist()])
    order, sequences = in_sequences(len(issued), process=process, device=None, by_time=[made_ns[issued]])
    issued = issued if order is None else issued[order]
    ranges = _NvtxRanges(opened, numbers, sequences, made_ns[issued])
    text = np.zeros(len(made_ns), dtype=np.int64)
    texts, text[issued] = find_range_operators(ranges, [sequence.launches for sequence in sequences])
    return texts, text[codes]


# --- what an export says besides its launches --------------------------------------------------------------


def _product(tables: NsysTables) -> str | None:
    """Return the exporter's name and version, e.g. "NVIDIA Nsight Systems 2023.4.4.54"."""
    settings = dict(row for table in EXPORTERS for row in tables.settings(table))
    parts = (settings.get(f"EXPORT_PRODUCT_{part}") for part in ("NAME", "VERSION"))
    return " ".join(filter(None, parts)) or None


def _devices(tables: NsysTables, sequences: Iterable[LaunchSequence]) -> tuple[Device, ...]:
    """Return the GPUs of the sequences, as far as the export describes them.

    There is one table of GPUs in 2020, and two that belong together from 2024 on. CUDA_VISIBLE_DEVICES
    renumbers the GPUs of a process, so a numbering by process comes first.
    """
    old = list(tables.rows(OLD_GPUS, OLD_GPU))
    gpus = list(tables.rows(GPUS, GPU))
    numbering = list(tables.rows(GPU_NUMBERS, GPU_NUMBER))
    described: list[tuple[int, Device]] = []
    for process, device in dict.fromkeys((sequence.process, sequence.device) for sequence in sequences):
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
                memory_bytes = memory << 20 if memory and len(gpu) == len(OLD_GPU) else memory
                described.append((process, Device(device, name, sm_count, memory_bytes)))
    distinct = tuple(dict.fromkeys(device for _, device in described))
    if len({device.device for device in distinct}) == len(distinct):
        return distinct
    return tuple(replace(device, process=process) for process, device in described)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (_NvtxRanges, _captured)
