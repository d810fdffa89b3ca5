"""From the tables of an nsys export to a profile, the same for every storage format and nsys version.

The table and column names are those of the SQLite export of every nsys version from 2020.4 to 2026.2; the
folder exports (parquetdir, arrowdir) have one file a table with the same names.

Launches stand in the order in which the program issued them, which the API calls behind the kernels give.
Kernels and API calls share a correlation id, which counts within one process only. A capture that begins
after a launch was queued has the kernel without its API call; within one process correlation ids rise in
API order too, so they give the order where a call is missing.

A recording may have more NVTX ranges than launches (PyTorch's `emit_nvtx` makes one for every operator), and
most runs need none. So they are read when they are asked for, and then only those of the name asked for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, in_sequences
from sampling.profile.named_ranges import NO_CALL, NO_RANGES, STILL_OPEN, RangeEvents, RangeRuns, runs_of
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.text import counted

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
NVTX = "NVTX_EVENTS"
STRINGS = "StringIds"

#: The value of an integer column where the table has NULL
NULL = int(np.iinfo(np.int64).min)

_TIMES = ("start", "end")
# Best first: older nsys versions leave mangledName out, and newer ones may leave any of them NULL.
_NAMES = ("demangledName", "mangledName", "shortName")
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")
_PLACE = ("globalPid", "correlationId", "deviceId", "streamId")
_CALL = ("start", "globalTid", "correlationId")
_RANGE = ("globalTid", "start", "end")
#: Values of ENUM_NSYS_EVENT_TYPE: a push/pop range of one thread, a start/end range that any thread may end
_RANGE_TYPES = (59, 60)
_THREAD_BITS = 0xFFFFFF
_WEAKEST_FIRST: tuple[LaunchOrder, ...] = ("gpu-start", "correlation", "api-start")

# A table indexed by correlation id takes 8 bytes an id; with more ids a launch, a sorted list is searched.
_IDS_PER_LAUNCH = 4
_IDS_ALWAYS = 1 << 16
_ROWS_AT_ONCE = 1 << 15

#: globalPid, correlation id and start of the launches of one part, (n,) each
_Keys = tuple[IntArray, IntArray, IntArray]
# The rows of one process in a part, the part's keys, and when the API call behind each launch began.
_Own = tuple[BoolArray | slice, IntArray, IntArray, IntArray, IntArray]


class NsysTables(ABC):
    """The tables of one export, read by name.

    Tables are written only when they have rows, so any may be absent; an absent one has no columns and no
    rows. Exports by other tools have names with a version suffix (``..._V2``): where the plain name is
    absent, the table with the highest suffix is read.
    """

    #: The type of the export as nsys calls it, e.g. "sqlite"
    kind: str

    def __init__(self, path: str, stored: Collection[str]) -> None:
        #: Of the export as the user gave it, for messages
        self.path = path
        self.names = frozenset(stored)

    def stored_name(self, table: str) -> str | None:
        """Return the name under which the export holds a table, None where it has no such table."""
        if table in self.names:
            return table
        suffix = re.compile(re.escape(table) + r"_V(\d+)")
        versions = [(int(match[1]), name) for name in self.names if (match := suffix.fullmatch(name))]
        return max(versions)[1] if versions else None

    @property
    def remedy(self) -> str:
        """What to do where it is damaged."""
        return f"export it again with `nsys export --type {self.kind} REPORT.nsys-rep`"

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the export has a table with all these columns."""
        return self.stored_name(table) is not None and self.columns(table).issuperset(columns)

    @abstractmethod
    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""

    @abstractmethod
    def row_count(self, table: str) -> int:
        """Return the number of rows."""

    def most_rows(self, table: str) -> int:
        """Return at once how many rows there may be, 0 where there is none: more where some were deleted."""
        return self.row_count(table)

    @abstractmethod
    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: one (n,) int64 array for each column, NULL as ``NULL``.

        Raises ProfileError: the export is damaged, or a column holds something else than integers.
        """

    @abstractmethod
    def rows(
        self, table: str, columns: Sequence[str], *, containing: tuple[str, str] | None = None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a table one by one; a column it lacks is None in all of them.

        ``containing`` is one of the columns, of texts, and what must be part of the text; None: all rows.
        """

    @abstractmethod
    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the texts of ``StringIds``; ids without one are left out."""

    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key of a (name, value) table; the key may carry a prefix "PROCESS_0:".

        These tables also hold command lines and environment variables, so no other row is looked at.
        """
        if self.has(table, "name", "value"):
            for name, value in self.rows(table, ("name", "value"), containing=("name", key)):
                if name == key or str(name).endswith(f":{key}"):
                    return None if value is None else str(value)
        return None

    def not_integers(self, column: str) -> ProfileError:
        """Return the error for a column that nsys did not fill."""
        what = "the column holds something else than integers"
        return ProfileError(what, path=self.path, column=column, remedy=self.remedy)


def read_export(
    tables: NsysTables,
    file: ProfileFile,
    kernels: KernelTable,
    progress: Progress | None,
    opened: Callable[[], AbstractContextManager[NsysTables]],
) -> Profile:
    """Read the launches of an export; ``opened`` opens it once more, for its ranges.

    Raises ProfileError: there are no launches in it (with the reason), or it is damaged.
    """
    if tables.most_rows(KERNEL) == 0:
        raise _without_kernels(tables)
    columns = _columns_present(tables)
    done, total = 0, 0 if progress is None else tables.most_rows(KERNEL) + tables.most_rows(RUNTIME)

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, total), total, f"reading {Path(tables.path).name}")

    builder, texts = LaunchTableBuilder(tables.path, kernels), dict[int, str]()
    parts: list[_Keys] = []
    places: set[tuple[int, int]] = set()
    for arrays in tables.integers(KERNEL, columns):
        part = dict(zip(columns, arrays, strict=True))
        for column in _TIMES:
            if part[column].min() == NULL:
                row = done + int(np.argmax(part[column] == NULL)) + 1
                remedy = "record the profile again; nsys lost the end of this launch"
                raise ProfileError(
                    "a launch has no time", path=tables.path, row=row, column=column, remedy=remedy
                )
        keys = _keys_of(part)
        device = part.get("deviceId")
        for process, rows in _by_process(keys[0]):
            places |= {
                (process, each) for each in ([0] if device is None else np.unique(device[rows]).tolist())
            }
        # Dimensions that are NULL become 0, which is "unknown".
        grid, block = (
            [np.maximum(part[axis], 0) for axis in axes] if part.keys() >= {*axes} else None
            for axes in (_GRID, _BLOCK)
        )
        builder.append(
            LaunchColumns(
                name=_name_codes(part, tables, kernels, texts, done),
                duration_ns=part["end"] - part["start"],
                order=keys[1],
                process=keys[0],
                device=device,
                grid=grid,
                block=block,
                start_ns=keys[2],
                stream=part.get("streamId"),
            )
        )
        parts.append(keys)
        advance(len(arrays[0]))
    launches = done
    if launches == 0:
        raise _without_kernels(tables)
    api_starts, launch_order, _ = _put_in_order(parts, tables, advance)
    api_rows_missing = sum(int(np.count_nonzero(starts == NO_CALL)) for starts in api_starts)
    # The builder has what is still needed of them, and drops it bit by bit.
    parts.clear()
    api_starts.clear()
    has_ranges = tables.has(NVTX, "eventType", *_RANGE)
    return builder.finish(
        format_name=f"nsys-{tables.kind}",
        file=replace(file, launches=launches),
        facts=RecordingFacts(
            devices=_devices(tables, sorted(places)),
            launch_order=launch_order,
            api_rows_missing=api_rows_missing,
            hidden_graph_replays=tables.row_count(GRAPH_TRACE),
            product=_product(tables),
        ),
        ranges=lambda sequences, _: _NvtxRanges(opened, sequences) if has_ranges else NO_RANGES,
    )


def _columns_present(tables: NsysTables) -> list[str]:
    present = tables.columns(KERNEL)
    for column in (*_TIMES, *(() if present.intersection(_NAMES) else _NAMES[:1])):
        if column not in present:
            what = f"the table {KERNEL} of this nsys export has no such column"
            remedy = "export the report again with a released version of nsys"
            raise ProfileError(what, path=tables.path, column=column, remedy=remedy)
    return [column for column in (*_TIMES, *_NAMES, *_PLACE, *_GRID, *_BLOCK) if column in present]


def _name_codes(
    part: Mapping[str, IntArray],
    tables: NsysTables,
    kernels: KernelTable,
    texts: dict[int, str],
    rows_before: int,
) -> NDArray[np.int32]:
    """Return the name code of every launch; ``texts`` are those looked up so far, and more are added."""
    forms = {column: part[column] for column in _NAMES if column in part}
    name, *fallbacks = forms.values()
    for fallback in fallbacks:
        name = np.where(name == NULL, fallback, name) if name.min() == NULL else name
    wrong = [int(np.argmax(name < 0))] if name.min() < 0 else []
    if not wrong:
        codes, first_rows = dense_codes([name])
        ids = name[first_rows].tolist()
        of_form = {column: values[first_rows].tolist() for column, values in forms.items()}
        wanted = {*ids}.union(*of_form.values()) - texts.keys() - {NULL}
        texts.update(tables.strings(sorted(wanted)) if wanted else {})
        wrong = [row for each, row in zip(ids, first_rows.tolist(), strict=True) if each not in texts]
    if wrong:
        raise ProfileError(
            "a launch of this nsys export has no kernel name: its string is not in the table StringIds",
            path=tables.path,
            row=rows_before + wrong[0] + 1,
            column=_NAMES[0],
            remedy="export the whole report again, without `--tables`",
        )
    full = [texts[each] for each in ids]
    short, mangled = (
        [texts.get(each) for each in of_form[form]] if form in of_form else None
        for form in ("shortName", "mangledName")
    )
    return kernels.names.intern(full, short=short, mangled=mangled)[codes]


# --- in which order the program issued its launches --------------------------------------------------------


def _keys_of(part: Mapping[str, IntArray]) -> _Keys:
    """Return what places the launches of one part, ``NULL`` where the export does not say."""
    nothing = np.full(len(part["start"]), NULL)
    # Copies: a column of an Arrow batch would keep the memory of all its other columns.
    pid, correlation = (np.array(part.get(column, nothing)) for column in ("globalPid", "correlationId"))
    return pid, correlation, np.array(part["start"])


def _by_process(process: IntArray) -> Iterator[tuple[int, BoolArray | slice]]:
    """Yield each process with the rows that are its own."""
    if len(process) and process.min() == process.max():
        yield int(process[0]), slice(None)
        return
    for value in np.unique(process).tolist():
        yield value, process == value


def _put_in_order(
    parts: Sequence[_Keys], tables: NsysTables, rows_read: Callable[[int], None]
) -> tuple[list[IntArray], LaunchOrder, dict[int, int]]:
    """Read the API calls, and overwrite in place what is known of the launches by what orders them.

    Of each globalPid becomes the number of its process, and of each correlation id what sorts the launches
    of one process into API order. So launches are in memory only once. Returned is for each part when the API
    call behind each launch began, ``NO_CALL`` where there is none; what the launches are ordered by, in the
    process where that is least reliable; and the process number of every globalPid.
    """
    api_starts = [np.full(len(pid), NO_CALL) for pid, *_ in parts]
    launches: defaultdict[int, list[_Own]] = defaultdict(list)
    for (pid, correlation, start_ns), starts in zip(parts, api_starts, strict=True):
        for process, rows in _by_process(pid):
            launches[process].append((rows, pid, correlation, start_ns, starts))
    _find_api_starts(launches, tables, rows_read)
    # A PID is the number of a process, unless two machines have the same.
    numbers = {process: 0 if process == NULL else _pid(process) for process in sorted(launches)}
    if len(set(numbers.values())) < len(numbers):
        numbers = {process: max(process, 0) for process in numbers}
    kinds: set[LaunchOrder] = set()
    for process, own in launches.items():
        has_calls = all(starts[rows].max() < NO_CALL for rows, *_, starts in own)
        has_ids = all(correlation[rows].min() > NULL for rows, _, correlation, *_ in own)
        kinds.add("api-start" if has_calls else "correlation" if has_ids else "gpu-start")
        for rows, pid, correlation, start_ns, starts in own:
            pid[rows] = numbers[process]
            if has_calls or not has_ids:
                correlation[rows] = (starts if has_calls else start_ns)[rows]
    return api_starts, next(kind for kind in _WEAKEST_FIRST if kind in kinds), numbers


def _find_api_starts(
    launches: Mapping[int, list[_Own]], tables: NsysTables, rows_read: Callable[[int], None]
) -> None:
    """Write when the API call behind each launch began where it is known."""
    if not tables.has(RUNTIME, *_CALL):
        return
    calls: dict[int, _Calls] = {}
    for process, own in launches.items():
        ids = [correlation[rows] for rows, _, correlation, *_ in own]
        if process != NULL and any(part.max() > NULL for part in ids):
            calls[process] = _Calls(ids)
    for start_ns, global_tid, correlation in tables.integers(RUNTIME, _CALL):
        for process, rows in _by_process(global_tid & ~_THREAD_BITS):
            if process in calls:
                calls[process].add(correlation[rows], start_ns[rows])
        rows_read(len(start_ns))
    for process, known in calls.items():
        for rows, _, correlation, _, starts in launches[process]:
            starts[rows] = known.starts(correlation[rows])


def _pid(global_pid: int) -> int:
    return (global_pid >> 24) & 0xFFFFFF


class _Calls:
    """The earliest API start for every correlation id that launches of one process have.

    Ids that lie close together index the table directly; ids that lie far apart are looked up in their
    sorted list.
    """

    def __init__(self, ids: Sequence[IntArray]) -> None:
        self._lowest = min(int(part.min(initial=NO_CALL, where=part > NULL)) for part in ids)
        self._highest = max(int(part.max()) for part in ids)
        span = self._highest - self._lowest + 1
        is_wide = span > max(_IDS_ALWAYS, _IDS_PER_LAUNCH * sum(map(len, ids)))
        self._sorted = np.unique(np.concatenate(ids)) if is_wide else None
        self._start_ns = np.full(span if self._sorted is None else len(self._sorted), NO_CALL)

    def _slots(self, correlation: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the index of the start of each id that has one, and which ids do."""
        known = (correlation >= self._lowest) & (correlation <= self._highest)
        if self._sorted is None:
            return correlation[known] - self._lowest, known
        slots = np.searchsorted(self._sorted, correlation[known])
        found = self._sorted[slots] == correlation[known]
        known[known] = found
        return slots[found], known

    def add(self, correlation: IntArray, start_ns: IntArray) -> None:
        """Add the starts of API calls; calls that launched no kernel are ignored."""
        slots, known = self._slots(correlation)
        np.minimum.at(self._start_ns, slots, start_ns[known])

    def starts(self, correlation: IntArray) -> IntArray:
        """Return the API start of every launch, ``NO_CALL`` where it has none."""
        slots, known = self._slots(correlation)
        starts = np.full(len(correlation), NO_CALL)
        starts[known] = self._start_ns[slots]
        return starts


# --- NVTX ranges -------------------------------------------------------------------------------------------


class _NvtxRanges:
    """The ranges of an export; the API starts of the launches are read once and kept: 8 bytes a launch.

    Its methods raise ProfileError where the export is gone, damaged, or has changed since it was read.
    """

    def __init__(
        self, opened: Callable[[], AbstractContextManager[NsysTables]], sequences: tuple[LaunchSequence, ...]
    ) -> None:
        self._opened = opened
        self._sequences = sequences
        self._calls: tuple[IntArray, Mapping[int, int]] | None = None

    def holding(self, text: str) -> RangeRuns:
        """Return the ranges whose names contain a text, of which "" is part of every one."""
        codes: dict[str, int] = {}
        with self._opened() as tables:
            parts = list(_ranges_holding(tables, text, codes))
            if not codes:
                return NO_RANGES
            if self._calls is None:
                self._calls = self._api_starts(tables)
        api_start_ns, numbers = self._calls
        code, global_tid, start_ns, end_ns = (np.concatenate(column) for column in zip(*parts, strict=True))
        recorded, rows = np.unique(global_tid & ~_THREAD_BITS, return_inverse=True)
        # A process without launches has no number; no sequence has the number -1.
        number = np.array([numbers.get(each, -1) for each in recorded.tolist()], dtype=np.int64)[rows]
        end_ns = np.where(end_ns == NULL, STILL_OPEN, end_ns)
        events = RangeEvents(tuple(codes), code, number, start_ns, end_ns)
        return runs_of(events, self._sequences, api_start_ns)

    def _api_starts(self, tables: NsysTables) -> tuple[IntArray, Mapping[int, int]]:
        """Return (launches,) when the call behind each began, in id order, and the process numbers."""
        columns = [each for each in ("start", *_PLACE[:3]) if each in tables.columns(KERNEL)]
        keys, devices = [], []
        for arrays in tables.integers(KERNEL, columns):
            part = dict(zip(columns, arrays, strict=True))
            keys.append(_keys_of(part))
            devices.append(part.get("deviceId", np.zeros(len(arrays[0]))).astype(np.int32))
        starts, _, numbers = _put_in_order(keys, tables, lambda _: None)
        process, order, start_ns = map(np.concatenate, zip(*keys, strict=True))
        permutation, sequences = in_sequences(
            len(process), process=process, device=np.concatenate(devices), by_time=[order, start_ns]
        )
        if sequences != self._sequences:
            raise ProfileError(
                "the export changed while it was in use", path=tables.path, remedy="run the command again"
            )
        api_start_ns = np.concatenate(starts)
        return api_start_ns if permutation is None else api_start_ns[permutation], numbers


def _ranges_holding(tables: NsysTables, text: str, codes: dict[str, int]) -> Iterator[Sequence[IntArray]]:
    """Yield code, globalTid, start and end of the ranges whose names contain a text, in parts.

    A range carries its name itself or as the id of a registered string. A name has its place in ``codes``, to
    which it is added; an end that was not recorded is ``NULL``.
    """
    rows = tables.rows(NVTX, ("eventType", "text", *_RANGE), containing=("text", text))
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        ranges = [row for row in some if row[0] in _RANGE_TYPES]
        names = [codes.setdefault(str(row[1]), len(codes)) for row in ranges]
        places = (
            _integers(tables, column, [row[place] for row in ranges])
            for place, column in enumerate(_RANGE, start=2)
        )
        yield np.array(names, dtype=np.int64), *places
    strings = list(tables.rows(STRINGS, ("id", "value"), containing=("value", text)))
    if not strings or not tables.has(NVTX, "textId"):
        return
    ids = _integers(tables, "id", [text_id for text_id, _ in strings])
    text_of = dict(zip(ids.tolist(), (str(value) for _, value in strings), strict=True))
    for kind, *place, text_id in tables.integers(NVTX, ("eventType", *_RANGE, "textId")):
        held = np.flatnonzero(np.isin(kind, _RANGE_TYPES) & np.isin(text_id, ids))
        if len(held):
            meant, name = np.unique(text_id[held], return_inverse=True)
            code = [codes.setdefault(text_of[each], len(codes)) for each in meant.tolist()]
            yield np.array(code, dtype=np.int64)[name], *(column[held] for column in place)


def _integers(tables: NsysTables, column: str, values: Sequence[object]) -> IntArray:
    """Return the values of a column, None as ``NULL``; unsigned numbers have the bits that SQLite has."""
    numbers = [NULL if value is None else value for value in values]
    signed = 1 << 63
    if not all(isinstance(number, int) and -signed <= number < 2 * signed for number in numbers):
        raise tables.not_integers(column)
    return np.array([(number + signed) % (2 * signed) - signed for number in numbers], dtype=np.int64)  # type: ignore[operator]


# --- what an export says besides its launches --------------------------------------------------------------


def _product(tables: NsysTables) -> str | None:
    """Return the exporter's name and version, e.g. "NVIDIA Nsight Systems 2023.4.4.54"."""
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        parts = [tables.setting(table, f"EXPORT_PRODUCT_{part}") for part in ("NAME", "VERSION")]
        if any(parts):
            return " ".join(part for part in parts if part)
    return None


def _devices(tables: NsysTables, places: Sequence[tuple[int, int]]) -> tuple[Device, ...]:
    """Return the GPUs of the (globalPid, device) pairs, as far as the export describes them.

    There is one table of GPUs in 2020, and two that belong together from 2024 on. CUDA_VISIBLE_DEVICES
    renumbers the GPUs of a process, so a numbering by process comes first.
    """

    def records(table: str, *columns: str) -> list[dict[str, object]]:
        return [dict(zip(columns, row, strict=True)) for row in tables.rows(table, columns)]

    def positive(value: object) -> int | None:
        return value if isinstance(value, int) and value > 0 else None

    cuda_gpus = records(
        "TARGET_INFO_CUDA_GPU", "deviceId", "pid", "name", "numMultiprocessors", "globalMemorySize"
    )
    gpus = records("TARGET_INFO_GPU", "id", "deviceId", "cuDevice", "name", "smCount", "totalMemory")
    numbering = records("TARGET_INFO_CUDA_DEVICE", "pid", "cudaId", "gpuId")
    known: list[Device] = []
    for process, device in places:
        pid = _pid(process)
        numbers = [each["gpuId"] for each in numbering if (each["pid"], each["cudaId"]) == (pid, device)]
        surest_first = (
            *(gpu for gpu in cuda_gpus if (gpu["deviceId"], gpu["pid"]) == (device, pid)),
            *(gpu for gpu in cuda_gpus if gpu["deviceId"] == device),
            *(gpu for number in numbers for gpu in gpus if gpu["id"] == number),
            *(gpu for key in ("cuDevice", "id", "deviceId") for gpu in gpus if gpu[key] == device),
        )
        gpu = surest_first[0] if surest_first else {}
        name = gpu.get("name")
        if isinstance(name, str):
            # The table of 2020 counts in MiB.
            mib = positive(gpu.get("globalMemorySize"))
            memory_bytes = positive(gpu.get("totalMemory")) or (mib and mib << 20)
            sm_count = positive(gpu.get("smCount", gpu.get("numMultiprocessors")))
            known.append(Device(device, name, sm_count, memory_bytes, process=pid))
    distinct = tuple(dict.fromkeys(replace(device, process=None) for device in known))
    return distinct if len({device.device for device in distinct}) == len(distinct) else tuple(known)


def _without_kernels(tables: NsysTables) -> ProfileError:
    """Return the error for an nsys export without kernel launches: why it has none, and what to do."""
    again = "record again with `nsys profile --trace=cuda ...`"
    replays = tables.row_count(GRAPH_TRACE) or _graph_launches_traced_whole(tables)
    calls = tables.row_count(RUNTIME)
    in_graphs = f"recorded with graph-level tracing: it holds {counted(replays, 'graph replay')}"
    if_still = "if there are still none, set CuptiUseRawGpuTimestamps=false in the config.ini of nsys"
    # The first that is so.
    reasons = (
        (
            replays > 0,
            f"was {in_graphs} but none of the kernels inside",
            "record again with `nsys profile --trace=cuda --cuda-graph-trace=node ...`",
        ),
        (
            calls > 0,
            f"has {counted(calls, 'CUDA API call')} but no kernel launches: kernels were not recorded",
            f"check that the profiled range launches kernels and {again}; {if_still}",
        ),
        (
            any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in tables.names),
            f"has CUDA tables but no kernel launches ({KERNEL} is missing or empty)",
            "check that the profiled range launches kernels, and export the report without `--tables`",
        ),
        (True, "has no CUDA tables at all: CUDA was not traced", again),
    )
    what, remedy = next((what, remedy) for is_so, what, remedy in reasons if is_so)
    return ProfileError(f"this nsys export {what}", path=tables.path, remedy=remedy)


def _graph_launches_traced_whole(tables: NsysTables) -> int:
    """Return the number of cudaGraphLaunch calls where graphs were traced as a whole, else 0."""
    is_whole = tables.setting("META_DATA_CAPTURE", "CUDA_GRAPH_TRACE_OPTIONS:MODE") == "Graph"
    if not is_whole or not tables.has(RUNTIME, "nameId"):
        return 0
    names = [name for (name,) in tables.integers(RUNTIME, ["nameId"])]
    ids, calls = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *names]), return_counts=True)
    texts = tables.strings(ids[ids >= 0].tolist())
    launch = ("cudaGraphLaunch", "cuGraphLaunch")
    counts = zip(ids.tolist(), calls.tolist(), strict=True)
    return sum(count for each, count in counts if texts.get(each, "").startswith(launch))
