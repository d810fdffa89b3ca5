"""ROCm's kernel lists as CSV: rocprof's and rocprofv2's results, rocprofv3's ``*_kernel_trace.csv``.

A row is a launch in all of them, and in what rocpd and Omniperf make of them, but in rocprofv3's
``*_counter_collection.csv``: there a dispatch has a row a counter, and several of one where its kernel was
replayed; it is one launch, with its first times. Counters, which may be columns too, are metrics.
Times are nanoseconds, grids
are counted in work-items. Columns differ in names, capitals and order. Launches are in the order of their
dispatch or correlation numbers, which count up with the calls of a process, else of their start. Where a file
has only totals of work-items, grid and work-group are given as one-dimensional: their products are right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Layout, Rows, first_line, floats, header_cells, read_rows
from sampling.readers.table_launches import Launches

FORMAT = "rocprof-csv"

# What a column may be called, in small letters: the best first, for a call may dispatch several kernels.
_CALLED: Mapping[str, tuple[str, ...]] = {
    "name": ("kernel_name", "kernelname"),
    "start": ("start_timestamp", "beginns"),
    "end": ("end_timestamp", "endns"),
    "kind": ("kind",),
    "device": ("agent_id", "gpu_id"),
    "queue": ("queue_id",),
    "process": ("process_id", "pid"),
    "database": ("guid",),
    "order": ("dispatch_id", "index", "correlation_id"),
    "dispatch": ("dispatch_id",),
    "counter": ("counter_name",),
    "value": ("counter_value",),
    "items": ("grd", "grid_size"),
    "group": ("wgr", "workgroup_size"),
    **{f"items_{axis}": (f"grid_size_{axis}",) for axis in "xyz"},
    **{f"group_{axis}": (f"workgroup_size_{axis}",) for axis in "xyz"},
}
_SIZES = [[f"{unit}_{axis}" for unit in ("items", "group") for axis in "xyz"], ["items", "group"]]
_COUNTER: Kind = "any"
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("name", "kind", "device", "database", "counter"), "text"),
    "value": "number",
}
# Dispatch ids have so many bits beside the number of their process and device.
_DISPATCH_BITS = 44
# "2", or with the kind of the agent before it: "Agent 2", "GPU-2".
_AGENT = re.compile(r"\D*?(\d{1,9})\s*")
_COPY = "copy the file again, or give the CSV beside it"
# Columns that are no counters beside those above, in small letters and without what stands between words.
_OTHERS = """
    correlationid queueindex tid threadid streamid kernelid ldsblocksize ldsperworkgroup lds scratchsize
    scratchperworkitem scr vgprcount vgpr archvgpr accumvgprcount accumvgpr sgprcount sgpr wavesize fbar sig
    obj dispatchns completens durationns privatesegmentsize groupsegmentsize nodeid xcc
"""
_NO_COUNTERS = frozenset(_OTHERS.split())
_NOTHING = (
    "a ROCm kernel list without a kernel dispatch",
    "record the program with `rocprofv3 --kernel-trace`",
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


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a kernel list."""
    return {"name", "start", "end"} <= _layout(file).columns.keys()


def _layout(file: InputFile) -> Layout:
    cells = header_cells(first_line(file.head))
    columns = columns_called(cells)
    counters = {title: (cells.index(title), _COUNTER) for title in counter_columns(cells)}
    return Layout(cells, {**counters, **columns}, remedy="record the profile again")


def counter_columns(titles: Sequence[str]) -> list[str]:
    """Return the columns that are counters, where a row is a dispatch; none where it is one counter of it."""
    if "counter" in (called := columns_called(titles)):
        return []
    others = {titles[place] for place, _ in called.values()}
    plain = {title: "".join(filter(str.isalnum, title)).casefold() for title in titles}
    known = {
        "".join(filter(str.isalnum, name)) for names in _CALLED.values() for name in names
    } | _NO_COUNTERS
    return [title for title, text in plain.items() if text and text not in known and title not in others]


def columns_called(titles: Sequence[str]) -> dict[str, tuple[int, Kind]]:
    """Return the place and the kind of what is read, by what it is here, among columns with these titles."""
    called = [title.strip().casefold().replace("-", "_") for title in titles]
    columns: dict[str, tuple[int, Kind]] = {}
    for field, names in _CALLED.items():
        for name in [name for name in names if name in called][:1]:
            columns[field] = called.index(name), _KINDS.get(field, "integer")
    return columns


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the dispatches as launches.

    Raises ProfileError: a row is cut short, a value is missing or makes no sense; there is no dispatch.
    """
    launches = Launches(file, kernels)
    return build_profile(
        read_rows(file, _layout(file), progress, launches.left_out), launches, kernels, FORMAT
    )


def build_profile(
    tables: Iterable[Rows], launches: Launches, kernels: KernelTable, format_name: str
) -> Profile:
    """Return the dispatches in some rows, whose columns are called as in `_CALLED`, as launches.

    Raises ProfileError: a value is missing or makes no sense; there is no dispatch.
    """
    launch_order: LaunchOrder = "correlation"
    databases: dict[str, int] = {}
    dispatches = _Dispatches()
    wide: dict[str, list[FloatArray]] = {}
    for rows in tables:
        if "kind" in rows:
            kinds, codes = rows.texts("kind")
            rows = rows.where(np.array([kind == "KERNEL_DISPATCH" for kind in kinds])[codes])  # noqa: PLW2901
        rows, *_ = launches.between(rows, "start", "end")  # noqa: PLW2901
        if not len(rows):
            continue
        process, device = _process(rows, databases), _device(rows)
        is_first = dispatches.first_rows(rows, process, device)
        if not is_first.any():
            continue
        rows = rows.where(is_first)  # noqa: PLW2901
        for title in (title for title, (_, kind) in rows.layout.columns.items() if kind == _COUNTER):
            wide.setdefault(title, []).append(floats(rows, title, None)[0])
        order = rows.if_complete("order")
        if order is None:
            launch_order = "gpu-start"
        axes = next((axes for axes in _SIZES if all(axis in rows for axis in axes)), [])
        sizes = [rows.numbers(axis) for axis in axes]
        for axis, size in zip(axes, sizes, strict=True):
            rows.refuse(size < 0, axis, f"{int(size.min(initial=0))} is no size")
        ones = [np.ones(len(rows), dtype=np.int64)] * (3 - len(sizes) // 2)
        items, block = [*sizes[: len(sizes) // 2], *ones], [*sizes[len(sizes) // 2 :], *ones]
        start_ns = rows.times("start")
        launches.add(
            LaunchColumns(
                name=rows.names("name", kernels, bare_name),
                duration_ns=rows.times("end") - start_ns,
                order=order,
                process=None if process is None else process[is_first],
                device=None if device is None else device[is_first],
                grid=work_groups(items, block) if sizes else None,
                block=block if sizes else None,
                start_ns=start_ns,
                stream=rows.if_complete("queue"),
            )
        )
    facts = RecordingFacts(launch_order=launch_order, replays=dispatches.replays())
    counters = {title: np.concatenate(parts) for title, parts in wide.items()}
    metrics = {title: values for title, values in counters.items() if not np.isnan(values).all()}
    return launches.finish(format_name, facts, _NOTHING, metrics | dispatches.metrics())


def _process(rows: Rows, databases: dict[str, int]) -> AnyIntArray | None:
    """Return (n,) process numbers; the databases that rocpd merged are numbered as they come."""
    if "process" in rows or "database" not in rows:
        return rows.if_complete("process")
    texts, codes = rows.texts("database")
    return np.array([databases.setdefault(text, len(databases)) for text in texts])[codes]


def agent_number(text: str) -> int:
    """Return the number of an agent, which may be "2" or "Agent 2"; -1 where there is none."""
    match = _AGENT.fullmatch(text)
    return int(match[1]) if match else -1


def _device(rows: Rows) -> NDArray[np.int32] | None:
    if "device" not in rows:
        return None
    agents, codes = rows.texts("device")
    device = np.array(list(map(agent_number, agents)), dtype=np.int32)[codes]
    rows.refuse(device < 0, "device", lambda row: f"{agents[codes[row]]!r} does not say which GPU")
    return device


class _Dispatches:
    """Which rows are of one dispatch, and what its counters are."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int, str], int] = {}
        self._known: IntArray = np.zeros(0, dtype=np.int64)
        #: (2, n) dispatch and start of each run, where a run has a row a counter; else rows that run again.
        self._runs: list[IntArray] = [np.zeros((2, 0), dtype=np.int64)]
        self._runs_again = 0
        #: Of the first row of each dispatch in the order of the file, and of all rows with their counters
        self._first_keys: list[IntArray] = []
        self._counted: list[tuple[IntArray, IntArray, FloatArray]] = []
        self._counters: dict[str, int] = {}

    def first_rows(self, rows: Rows, process: AnyIntArray | None, device: AnyIntArray | None) -> BoolArray:
        """Return (n,) which rows are the first of their dispatch: all, where dispatches have no numbers."""
        number = rows.if_complete("dispatch")
        if number is None or number.min() < 0 or int(number.max()) >> _DISPATCH_BITS:
            return np.ones(len(rows), dtype=np.bool_)
        nowhere = np.zeros(len(rows), dtype=np.int64)
        place = [nowhere if column is None else column for column in (process, device)]
        names, name = rows.texts("name")
        codes, first = dense_codes([*(np.unique(column, return_inverse=True)[1] for column in place), name])
        distinct = zip(*(column[first].tolist() for column in place), strict=True)
        places = [
            self._places.setdefault((*pair, names[code]), len(self._places))
            for pair, code in zip(distinct, name[first].tolist(), strict=True)
        ]
        key = np.array(places, dtype=np.int64)[codes] << _DISPATCH_BITS | number
        dispatches, first = np.unique(key, return_index=True)
        is_first = np.zeros(len(rows), dtype=np.bool_)
        is_first[first[~np.isin(dispatches, self._known, assume_unique=True)]] = True
        self._known = np.union1d(self._known, dispatches)
        if "counter" in rows:
            self._runs.append(np.unique(np.stack([key, rows.times("start")]), axis=1))
        else:
            self._runs_again += int(np.count_nonzero(~is_first))
        if "counter" in rows and "value" in rows:
            self._first_keys.append(key[is_first])
            titles, title_codes = rows.texts("counter")
            counter = np.array([self._counters.setdefault(title, len(self._counters)) for title in titles])
            self._counted.append((key, counter[title_codes], floats(rows, "value", None)[0]))
        return is_first

    def replays(self) -> int:
        """Return how often dispatches ran again."""
        runs = np.unique(np.concatenate(self._runs, axis=1), axis=1)
        return self._runs_again + int(runs.shape[1]) - len(np.unique(runs[0]))

    def metrics(self) -> dict[str, FloatArray]:
        """Return (launches,) each counter, NaN where a dispatch has none; of two values the first counts."""
        if not self._counted:
            return {}
        dispatch = np.concatenate(self._first_keys)
        by_key = np.argsort(dispatch)
        key, counter, value = (np.concatenate(column)[::-1] for column in zip(*self._counted, strict=True))
        table = np.full((len(self._counters), len(dispatch)), np.nan)
        table[counter, by_key[np.searchsorted(dispatch[by_key], key)]] = value
        return dict(zip(self._counters, table, strict=True))


def _whole(value: Any) -> int | None:
    """Return the number of a value, None where there is none; ValueError where it is no whole number."""
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r}")
    return None if value in {None, ""} else int(value)


def rows_of_values(file: InputFile, columns: Mapping[str, Sequence[Any]]) -> Rows:
    """Return columns of values by their titles, as of a database, as rows of a kernel list.

    Raises ProfileError: a value is no whole number where one has to be.
    """
    import pyarrow as pa

    layout = Layout(tuple(columns), columns_called([*columns]), remedy=_COPY)
    arrays = {}
    for role, (place, kind) in layout.columns.items():
        title = layout.header[place]
        values = columns[title]
        if kind == "text":
            # The database keeps the quotes of the list.
            texts = [b"" if value is None else str(value).strip('"').encode() for value in values]
            arrays[role] = pa.array(texts, pa.binary()).dictionary_encode()
            continue
        try:
            numbers = values if kind == "number" else [_whole(value) for value in values]
            arrays[role] = pa.array(numbers, pa.float64() if kind == "number" else pa.int64())
        except (TypeError, ValueError, OverflowError) as error:
            message = f"holds what is no whole number ({error})"
            raise ProfileError(message, path=file.path, column=title, remedy=_COPY) from error
    table = pa.table(arrays)
    return Rows(file.path, layout, table, lambda: np.arange(1, table.num_rows + 1))
