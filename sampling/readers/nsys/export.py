"""From the tables of an nsys export to a profile, the same for every storage format and nsys version.

The table and column names are those of the SQLite export of every nsys version from 2020.4 to 2026.2; the
folder exports (parquetdir, arrowdir) have one file a table with the same names.

Launches stand in the order in which the program issued them, which the API calls behind the kernels give.
Kernels and API calls share a correlation id, which counts within one process only. A capture that begins
after a launch was queued has the kernel without its API call; within one process correlation ids rise in
API order too, so they give the order where a call is missing.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.profile.launch_table import NO_CALL, LaunchColumns, LaunchTableBuilder, MakeRanges
from sampling.profile.profile import Device, KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.text import counted

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
STRINGS = "StringIds"

#: The value of an integer column where the table has NULL.
NULL = int(np.iinfo(np.int64).min)

EXPORT_AGAIN = "export it again with `nsys export --type {} REPORT.nsys-rep`"

_TIMES = ("start", "end")
# Best first: older nsys versions leave mangledName out, and newer ones may leave any of them NULL.
_NAMES = ("demangledName", "mangledName", "shortName")
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")
_PLACE = ("globalPid", "correlationId", "deviceId", "streamId")
_CALL = ("start", "globalTid", "correlationId")
_THREAD_BITS = 0xFFFFFF
_WEAKEST_FIRST: tuple[LaunchOrder, ...] = ("gpu-start", "correlation", "api-start")

# A table indexed by correlation id takes 8 bytes an id; with more ids a launch, a sorted list is searched.
_IDS_PER_LAUNCH = 4
_IDS_ALWAYS = 1 << 16

#: globalPid, correlation id and start of the launches of one part, (n,) each.
Keys = tuple[IntArray, IntArray, IntArray]


class NsysTables(ABC):
    """The tables of one export, read by name.

    Tables are written only when they have rows, so any may be absent; an absent one has no columns and no
    rows. Exports by other tools have names with a version suffix (``..._V2``): where the plain name is
    absent, the table with the highest suffix is read.

    Attributes
    ----------
    path : of the export as the user gave it, for messages.
    kind : the type of the export as nsys calls it, e.g. "sqlite".
    remedy : what to do where it is damaged.
    """

    kind: str

    def __init__(self, path: str, stored: Collection[str]) -> None:
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
        return EXPORT_AGAIN.format(self.kind)

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the export has a table with all these columns."""
        return self.stored_name(table) is not None and self.columns(table).issuperset(columns)

    @abstractmethod
    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns."""

    @abstractmethod
    def row_count(self, table: str) -> int:
        """Return the number of rows; may scan the table."""

    def row_bound(self, table: str) -> int:
        """Return at once a number of rows that the table does not exceed, for progress."""
        return self.row_count(table)

    @abstractmethod
    def integers(self, table: str, columns: Sequence[str]) -> Iterator[Sequence[IntArray]]:
        """Yield the rows in parts: one (n,) int64 array for each column, NULL as ``NULL``.

        Raises
        ------
        ProfileError : the export is damaged, or a column holds something else than integers.
        """

    @abstractmethod
    def rows(
        self, table: str, columns: Sequence[str], *, containing: tuple[str, str] | None = None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a table one by one; a column it lacks is None in all of them.

        Parameters
        ----------
        containing : one of the columns, of texts, and what must be part of the text; None: all rows.
        """

    @abstractmethod
    def strings(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the texts of ``StringIds``; ids without one are left out."""

    def setting(self, table: str, key: str) -> str | None:
        """Return the value of one key of a (name, value) table; the key may carry a prefix "PROCESS_0:".

        These tables also hold command lines and environment variables, so no other row is looked at.
        """
        if not self.has(table, "name", "value"):
            return None
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
    ranges: MakeRanges,
) -> Profile:
    """Read the launches of an export.

    Parameters
    ----------
    tables : the export.
    file : what it was read from; its number of launches is filled in.
    ranges : makes its named ranges from the sequences.

    Raises
    ------
    ProfileError : there are no launches in it (with the reason), or it is damaged.
    """
    if tables.row_bound(KERNEL) == 0:
        raise _without_kernels(tables)
    columns = _columns_present(tables)
    done, total = 0, 0 if progress is None else tables.row_bound(KERNEL) + tables.row_bound(RUNTIME)

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, total), total, f"reading {Path(tables.path).name}")

    builder = LaunchTableBuilder(tables.path, kernels)
    texts: dict[int, str] = {}
    parts: list[Keys] = []
    places: set[tuple[int, int]] = set()
    for arrays in tables.integers(KERNEL, columns):
        part = dict(zip(columns, arrays, strict=True))
        for column in _TIMES:
            if part[column].min() == NULL:
                raise ProfileError(
                    "a launch has no time",
                    path=tables.path,
                    row=done + int(np.argmax(part[column] == NULL)) + 1,
                    column=column,
                    remedy="record the profile again; nsys lost the end of this launch",
                )
        keys = keys_of(part)
        device = part.get("deviceId")
        for process, rows in by_process(keys[0]):
            on = [0] if device is None else np.unique(device[rows]).tolist()
            places.update((process, each) for each in on)
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
    api_starts, launch_order, _ = put_in_order(parts, tables, advance)
    api_rows_missing = sum(int(np.count_nonzero(starts == NO_CALL)) for starts in api_starts)
    # The builder has what is still needed of them, and drops it bit by bit.
    parts.clear()
    api_starts.clear()
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
        ranges=ranges,
    )


def _columns_present(tables: NsysTables) -> list[str]:
    present = tables.columns(KERNEL)
    for column in (*_TIMES, *(() if present.intersection(_NAMES) else _NAMES[:1])):
        if column not in present:
            raise ProfileError(
                f"the table {KERNEL} of this nsys export has no such column",
                path=tables.path,
                column=column,
                remedy="export the report again with a released version of nsys",
            )
    return [column for column in (*_TIMES, *_NAMES, *_PLACE, *_GRID, *_BLOCK) if column in present]


def _name_codes(
    part: Mapping[str, IntArray],
    tables: NsysTables,
    kernels: KernelTable,
    texts: dict[int, str],
    rows_before: int,
) -> NDArray[np.int32]:
    """Return the name code of every launch.

    Parameters
    ----------
    texts : those of the export that were looked up so far; more are added.

    Raises
    ------
    ProfileError : a launch names no string, or one that the export does not hold.
    """
    forms = [part[column] for column in _NAMES if column in part]
    name = forms[0]
    for fallback in forms[1:]:
        name = np.where(name == NULL, fallback, name) if name.min() == NULL else name
    nameless = [int(np.argmax(name < 0))] if name.min() < 0 else []
    if not nameless:
        codes, first_rows = dense_codes([name])
        distinct = {column: part[column][first_rows].tolist() for column in _NAMES if column in part}
        ids = name[first_rows].tolist()
        wanted = {*ids, *(each for column in distinct.values() for each in column)}
        if missing := sorted(wanted - texts.keys() - {NULL}):
            texts.update(tables.strings(missing))
        nameless = [row for each, row in zip(ids, first_rows.tolist(), strict=True) if each not in texts]
    if nameless:
        raise ProfileError(
            "a launch of this nsys export has no kernel name: its string is not in the table StringIds",
            path=tables.path,
            row=rows_before + nameless[0] + 1,
            column=_NAMES[0],
            remedy="export the whole report again, without `--tables`",
        )
    short, mangled = (
        [texts.get(each) for each in distinct[form]] if form in distinct else None
        for form in ("shortName", "mangledName")
    )
    return kernels.names.intern([texts[each] for each in ids], short=short, mangled=mangled)[codes]


# --- in which order the program issued its launches --------------------------------------------------------


def keys_of(part: Mapping[str, IntArray]) -> Keys:
    """Return what places the launches of one part, ``NULL`` where the export does not say."""
    nothing = np.full(len(part["start"]), NULL)
    # Copies: a column of an Arrow batch would keep the memory of all its other columns.
    pid, correlation = (np.array(part.get(column, nothing)) for column in ("globalPid", "correlationId"))
    return pid, correlation, np.array(part["start"])


def process_of_thread(global_tid: IntArray) -> IntArray:
    """Return the globalPid of each globalTid."""
    return global_tid & ~_THREAD_BITS


def by_process(process: IntArray) -> Iterator[tuple[int, BoolArray | slice]]:
    """Yield each process with the rows that are its own."""
    if len(process) and process.min() == process.max():
        yield int(process[0]), slice(None)
        return
    for value in np.unique(process).tolist():
        yield value, process == value


def put_in_order(
    parts: Sequence[Keys], tables: NsysTables, rows_read: Callable[[int], None]
) -> tuple[list[IntArray], LaunchOrder, dict[int, int]]:
    """Read the API calls, and overwrite in place what is known of the launches by what orders them.

    Parameters
    ----------
    parts : of each globalPid becomes the number of its process, and of each correlation id what sorts the
        launches of one process into API order. So launches are in memory only once.
    rows_read : told of every part of the API calls how many it has.

    Returns
    -------
    api_starts : for each part when the API call behind each launch began, ``NO_CALL`` where there is none.
    kind : what the launches are ordered by, in the process where that is least reliable.
    numbers : the process number of every globalPid.
    """
    processes, calls = _calls(parts, tables, rows_read)
    api_starts = [_api_starts(pid, correlation, calls) for pid, correlation, _ in parts]
    kinds: set[LaunchOrder] = set()
    for process in processes:
        own = [
            (rows, correlation, start_ns, starts)
            for (pid, correlation, start_ns), starts in zip(parts, api_starts, strict=True)
            if (rows := pid == process).any()
        ]
        if all(starts[rows].max() < NO_CALL for rows, _, _, starts in own):
            kinds.add("api-start")
            for rows, correlation, _, starts in own:
                correlation[rows] = starts[rows]
        elif all(correlation[rows].min() > NULL for rows, correlation, *_ in own):
            kinds.add("correlation")
        else:
            kinds.add("gpu-start")
            for rows, correlation, start_ns, _ in own:
                correlation[rows] = start_ns[rows]
    # A PID is the number of a process, unless two machines have the same.
    numbers = {process: 0 if process == NULL else _pid(process) for process in processes}
    if len(set(numbers.values())) < len(numbers):
        numbers = {process: max(process, 0) for process in processes}
    for pid, *_ in parts:
        for process, rows in by_process(pid.copy()):
            pid[rows] = numbers[process]
    return api_starts, next(kind for kind in _WEAKEST_FIRST if kind in kinds), numbers


def _calls(
    parts: Sequence[Keys], tables: NsysTables, rows_read: Callable[[int], None]
) -> tuple[list[int], dict[int, _Calls]]:
    """Return the processes, and the API calls of those of which some launches have correlation ids."""
    ids: defaultdict[int, list[IntArray]] = defaultdict(list)
    for pid, correlation, _ in parts:
        for process, rows in by_process(pid):
            ids[process].append(correlation[rows])
    if not tables.has(RUNTIME, *_CALL):
        return sorted(ids), {}
    calls = {
        process: _Calls(own)
        for process, own in ids.items()
        if process != NULL and any(part.max() > NULL for part in own)
    }
    for start_ns, global_tid, correlation in tables.integers(RUNTIME, _CALL):
        for process, rows in by_process(process_of_thread(global_tid)):
            if process in calls:
                calls[process].add(correlation[rows], start_ns[rows])
        rows_read(len(start_ns))
    return sorted(ids), calls


def _api_starts(pid: IntArray, correlation: IntArray, calls: Mapping[int, _Calls]) -> IntArray:
    starts = np.full(len(pid), NO_CALL)
    for process, rows in by_process(pid):
        if process in calls:
            starts[rows] = calls[process].starts(correlation[rows])
    return starts


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


# --- what an export says besides its launches --------------------------------------------------------------


def _product(tables: NsysTables) -> str | None:
    """Return the exporter's name and version, e.g. "NVIDIA Nsight Systems 2023.4.4.54"."""
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        parts = [tables.setting(table, f"EXPORT_PRODUCT_{part}") for part in ("NAME", "VERSION")]
        if any(parts):
            return " ".join(part for part in parts if part)
    return None


def _devices(tables: NsysTables, places: Sequence[tuple[int, int]]) -> tuple[Device, ...]:
    """Return the GPUs that launched kernels, as far as the export describes them.

    There is one table of GPUs in 2020, and two that belong together from 2024 on. CUDA_VISIBLE_DEVICES
    renumbers the GPUs of a process, so a numbering by process comes first.

    Parameters
    ----------
    places : (globalPid, device) pairs.
    """

    def records(table: str, *columns: str) -> list[dict[str, object]]:
        return [dict(zip(columns, row, strict=True)) for row in tables.rows(table, columns)]

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
            sm_count = _positive(gpu.get("smCount", gpu.get("numMultiprocessors")))
            # The table of 2020 counts in MiB.
            mib = _positive(gpu.get("globalMemorySize"))
            memory_bytes = _positive(gpu.get("totalMemory")) or (mib and mib << 20)
            known.append(Device(device, name, sm_count, memory_bytes, process=pid))
    distinct = tuple(dict.fromkeys(replace(device, process=None) for device in known))
    return distinct if len({device.device for device in distinct}) == len(distinct) else tuple(known)


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _without_kernels(tables: NsysTables) -> ProfileError:
    """Return the error for an nsys export without kernel launches: why it has none, and what to do."""
    remedy = "record again with `nsys profile --trace=cuda ...`"
    if replays := tables.row_count(GRAPH_TRACE) or _graph_launches_traced_whole(tables):
        what = (
            "was recorded with graph-level tracing: "
            f"it holds {counted(replays, 'graph replay')} but none of the kernels inside"
        )
        remedy = "record again with `nsys profile --trace=cuda --cuda-graph-trace=node ...`"
    elif calls := tables.row_count(RUNTIME):
        what = f"has {counted(calls, 'CUDA API call')} but no kernel launches: kernels were not recorded"
        remedy = (
            f"check that the profiled range launches kernels and {remedy}; if there are still none, set "
            "CuptiUseRawGpuTimestamps=false in the config.ini of nsys"
        )
    elif any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in tables.names):
        what = f"has CUDA tables but no kernel launches ({KERNEL} is missing or empty)"
        remedy = "check that the profiled range launches kernels, and export the report without `--tables`"
    else:
        what = "has no CUDA tables at all: CUDA was not traced"
    return ProfileError(f"this nsys export {what}", path=tables.path, remedy=remedy)


def _graph_launches_traced_whole(tables: NsysTables) -> int:
    """Return the number of cudaGraphLaunch calls where graphs were traced as a whole, else 0."""
    if tables.setting("META_DATA_CAPTURE", "CUDA_GRAPH_TRACE_OPTIONS:MODE") != "Graph":
        return 0
    if not tables.has(RUNTIME, "nameId"):
        return 0
    names = [name for (name,) in tables.integers(RUNTIME, ["nameId"])]
    ids, calls = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *names]), return_counts=True)
    texts = tables.strings(ids[ids >= 0].tolist())
    launch = ("cudaGraphLaunch", "cuGraphLaunch")
    counts = zip(ids.tolist(), calls.tolist(), strict=True)
    return sum(count for each, count in counts if texts.get(each, "").startswith(launch))
