"""rocprofv3's recordings: a SQLite database (`rocprofv3 --output-format rocpd`) or JSON (`json`).

The names of a recording's tables end with its identifier, and several may lie in one database. Grids are
counted in work-items. Launches are in the order of the calls where every launch has its call, else of their
dispatch numbers.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from msgspec import DecodeError, Meta, Raw, defstruct, field
from msgspec.json import Decoder

from sampling.arrays import AnyIntArray, BoolArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.activity import join_activities, make_activity
from sampling.profile.launch_table import (
    NO_CALL,
    NO_NAME,
    LaunchColumns,
    LaunchTableBuilder,
    RowsLeftOut,
    find_range_runs,
)
from sampling.profile.named_ranges import RangeSource
from sampling.profile.profile import (
    Activity,
    Device,
    KernelTable,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.readers.cells import NULL, NoWholeNumberError, whole_numbers
from sampling.readers.input_file import COPY_AGAIN, InputFile, damage_note, decoded
from sampling.readers.launch_calls import LaunchCalls, classify_call
from sampling.readers.rocm_csv import bare_name, work_groups
from sampling.readers.sqlite_file import SQLITE, OpenDatabase, open_database
from sampling.readers.trace_text import read_at_once

FORMAT = "rocprofv3"

# The columns of a recording's launches; the call is the number of the call behind one, -1 where unknown
_COLUMNS = (
    *("start", "end", "call", "dispatch", "process", "agent", "queue", "kernel"),
    *("items_x", "items_y", "items_z", "group_x", "group_y", "group_z"),
)
_AGAIN = "copy the file again, or record it again with `rocprofv3 --kernel-trace`"
_DISPATCHES = re.compile(r"rocpd_kernel_dispatch(_\w+|)", re.IGNORECASE)
_SCHEMA = tuple("rocpd_".encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))
_TABLE = re.compile(r"\brocpd_\w+")
_VIEWS = "SELECT name FROM sqlite_master WHERE type = 'view'"
# In the order of _COLUMNS. What is called and what it dispatches stand on one stack of their process.
_LAUNCHES = """
    SELECT K.start, K."end", IFNULL((E.stack_id << 24) + (K.pid & 0xFFFFFF), -1), K.dispatch_id, P.pid,
           K.agent_id, IFNULL(K.queue_id, 0), K.kernel_id, K.grid_size_x, K.grid_size_y, K.grid_size_z,
           K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z
    FROM rocpd_kernel_dispatch K
    LEFT JOIN rocpd_event E ON E.id = K.event_id
    LEFT JOIN rocpd_info_process P ON P.id = K.pid
    ORDER BY K.id
"""
# Calls and copies as `make_activity` takes them; a copy is of the GPU to which it goes or from which it comes
_CALLS = """
    SELECT R.start, R."end", P.pid, R.name_id, (E.stack_id << 24) + (R.pid & 0xFFFFFF)
    FROM rocpd_region R
    JOIN rocpd_event E ON E.id = R.event_id
    JOIN rocpd_string C ON C.id = E.category_id
    LEFT JOIN rocpd_info_process P ON P.id = R.pid
    WHERE E.stack_id IS NOT NULL AND C.string NOT LIKE 'MARKER%'
"""
_CALL_NAMES = "SELECT id, string FROM rocpd_string WHERE id IN (SELECT name_id FROM rocpd_region)"
_COPIES = """
    SELECT M.start, M."end", P.pid, M.name_id, M.size,
           CASE T.type WHEN 'GPU' THEN T.type_index ELSE F.type_index END
    FROM rocpd_memory_copy M
    LEFT JOIN rocpd_info_process P ON P.id = M.pid
    LEFT JOIN rocpd_info_agent T ON T.id = M.dst_agent_id
    LEFT JOIN rocpd_info_agent F ON F.id = M.src_agent_id
"""
_COPY_NAMES = "SELECT id, string FROM rocpd_string WHERE id IN (SELECT name_id FROM rocpd_memory_copy)"
# The text that the program gave a range stands among the details. A mark of an instant is no range.
_MARKERS = """
    SELECT P.pid, S.string, E.extdata, R.start, R."end"
    FROM rocpd_region R
    JOIN rocpd_event E ON E.id = R.event_id
    JOIN rocpd_string C ON C.id = E.category_id
    JOIN rocpd_string S ON S.id = R.name_id
    JOIN rocpd_info_process P ON P.id = R.pid
    WHERE C.string LIKE 'MARKER%' AND R."end" > R.start
"""
_ROWS_AT_ONCE = 1 << 16
_NO_GPU = Device(-1, "")

# --- JSON: what is decoded of it ---

_RECORDS_AT_ONCE = 1 << 13
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
_GPU = 2

# What is decoded of each record: the name, type and default of its fields. Times are nanoseconds.
_Whole = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
_Size = Annotated[int, Meta(ge=-(1 << 31), le=(1 << 32) - 1)]
_DeviceNumber = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
_Handle = defstruct("_Handle", [("handle", _Whole, 0)], gc=False)
_Correlation = defstruct("_Correlation", [("internal", _Whole, -1)], gc=False)
_Axes = defstruct("_Axes", [(axis, _Size) for axis in "xyz"], gc=False)
_INFO = {"agent_id": _Handle, "queue_id": _Handle, "kernel_id": _Whole, "dispatch_id": _Whole}
_Info = defstruct("_Info", [*_INFO.items(), ("workgroup_size", _Axes), ("grid_size", _Axes)], gc=False)
_TIMED = (
    ("start_timestamp", _Whole),
    ("end_timestamp", _Whole),
    ("correlation_id", _Correlation, field(default_factory=_Correlation)),
)
_CALLED = ("kind", int, -1), ("operation", int, -1)
_Call = defstruct("_Call", [*_TIMED, *_CALLED], gc=False)
_ENDS = [(name, _Handle, field(default_factory=_Handle)) for name in ("dst_agent_id", "src_agent_id")]
_Copy = defstruct("_Copy", [*_TIMED, *_CALLED, ("bytes", _Whole, 0), *_ENDS], gc=False)
_Dispatch = defstruct("_Dispatch", [("dispatch_info", _Info), *_TIMED], gc=False)
# Stands for a record that is not usable.
_NO_DISPATCH = _Dispatch(_Info(_Handle(), _Handle(), 0, 0, _Axes(0, 0, 0), _Axes(0, 0, 0)), NULL, NULL)
_Agent = defstruct(
    "_Agent",
    [
        *(("id", _Handle), ("type", int, 0), ("logical_node_type_id", _DeviceNumber, 0)),
        *((name, Any, None) for name in ("product_name", "cu_count", "mem_banks")),
    ],
)
_NAMES = ("kernel_name", str, ""), ("formatted_kernel_name", str, "")
_Symbol = defstruct("_Symbol", [("kernel_id", int), *_NAMES])
_Text = defstruct("_Text", [("key", int), ("value", str)])
_Names = defstruct("_Names", [("operations", list[Any], [])])
_Strings = defstruct(
    "_Strings",
    [("marker_api", list[_Text], []), ("buffer_records", list[_Names], [])],  # type: ignore[valid-type]
)
_Metadata = defstruct("_Metadata", [("pid", _Whole, 0)])
_EMPTY = b"[]"
_LISTS = ("kernel_dispatch", "hip_api", "hsa_api", "marker_api", "memory_copy")
_Lists = defstruct("_Lists", [(name, Raw, Raw(_EMPTY)) for name in _LISTS])
_Process = defstruct(
    "_Process",
    [
        ("metadata", _Metadata, field(default_factory=_Metadata)),
        ("agents", list[_Agent], []),  # type: ignore[valid-type]
        ("kernel_symbols", list[_Symbol], []),  # type: ignore[valid-type]
        ("strings", _Strings, field(default_factory=_Strings)),
        ("buffer_records", _Lists, field(default_factory=_Lists)),
    ],
)
_Document = defstruct(
    "_Document",
    [("processes", list[_Process])],  # type: ignore[valid-type]
    rename={"processes": "rocprofiler-sdk-tool"},
)
# Where a dispatch has each of _COLUMNS; its process stands elsewhere.
_PATHS = (
    *("start_timestamp", "end_timestamp", "correlation_id.internal", "dispatch_info.dispatch_id", ""),
    *("dispatch_info.agent_id.handle", "dispatch_info.queue_id.handle", "dispatch_info.kernel_id"),
    *(f"dispatch_info.{size}.{axis}" for size in ("grid_size", "workgroup_size") for axis in "xyz"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What rocprofv3 recorded of one process, or in one set of tables."""

    launches: Mapping[str, IntArray]  #: (n,) each of `_COLUMNS`
    #: (5, c) of the calls that were recorded, as `make_activity` takes them, and the texts of their names
    calls: IntArray
    names: Mapping[int, str]
    copies: Callable[[], IntArray]  #: reads (6, m) copies, and adds to the texts those of their names
    symbols: Mapping[int, tuple[str, str]]  #: a kernel's name as it is shown and its symbol, by its number
    agents: Mapping[int, Device]  #: the GPUs, as HIP numbers them, by the numbers of the agents
    #: process, name, start and end of the ranges that the program named (roctx)
    markers: Sequence[tuple[int, str, int, int]]


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database whose schema names tables of rocpd, or rocprofv3's JSON."""
    return is_database(file.head) or _OPENING.match(file.head) is not None


def is_database(head: bytes) -> bool:
    """Return whether a file that starts like this is a database of rocpd."""
    return head.startswith(SQLITE) and any(name in head.lower() for name in _SCHEMA)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises ProfileError: the file is damaged or lacks a table or column; a record is not usable; there is no
    dispatch.
    """
    if not file.head.startswith(SQLITE):
        # Of its long lists pieces become columns at once, of the fields that are used: commands and hosts are
        # not read.
        document, damage = read_at_once(file, Decoder(_Document).decode, "rocprofv3 JSON", progress)
        lists = [bytes(process.buffer_records.kernel_dispatch) for process in document.processes]
        if damage is not None and {*lists} <= {_EMPTY}:
            message = "rocprofv3 JSON that is cut short or damaged before its first kernel dispatch"
            raise ProfileError(message, path=file.path, remedy=COPY_AGAIN)
        recordings = (_recording(process, file.path) for process in document.processes)
        profile = _build_profile(recordings, file, kernels, "rocprofv3-json")
        if damage is not None:
            dispatches = profile.launches + profile.facts.rows_left_out
            profile.notes = (damage_note(file, "kernel dispatch", dispatches),)
        return profile
    with open_database(file, _AGAIN) as database:
        return _build_profile(_recordings(file.path, database, progress), file, kernels, "rocpd")


def find_activity(file: InputFile, sequences: Sequence[LaunchSequence]) -> Activity:
    """Return the activity of a file's launches, in the order of their records; the file is read once more."""

    def joined(recordings: Iterable[Recording]) -> Activity:
        parts = []
        for recorded in recordings:
            number = _with_launches(recorded, RowsLeftOut(file.path), 0)[0].launches["call"]
            calls, copies = recorded.calls, recorded.copies()
            keys, name = np.unique(np.append(calls[3], copies[3]), return_inverse=True)
            calls[3], copies[3] = np.split(name, [calls.shape[1]])
            names = [str(recorded.names.get(key, "")) for key in keys.tolist()]
            parts.append((partial(make_activity, number, calls, copies, names, sequences), 0, len(number)))
        return join_activities(parts)

    if not file.head.startswith(SQLITE):
        document, _ = read_at_once(file, Decoder(_Document).decode, "rocprofv3 JSON", None)
        return joined(_recording(process, file.path) for process in document.processes)
    with open_database(file, _AGAIN) as database:
        return joined(_recordings(file.path, database, None))


def recordings_in(database: OpenDatabase) -> dict[str, Callable[[str], sqlite3.Cursor]]:
    """Return of each recording in a database, by how the names of its tables end, what queries it alone."""

    def executed(suffix: str, query: str) -> sqlite3.Cursor:  # its tables cannot be bound as parameters
        return database.connection.execute(_TABLE.sub(rf'"\g<0>{suffix}"', query))

    # Where the tables are divided by recordings, there are views of all of them together.
    for names in (database.tables, _views(database)):
        if matches := list(filter(None, map(_DISPATCHES.fullmatch, names))):
            return {match[1]: partial(executed, match[1]) for match in matches}
    return {}


def _views(database: OpenDatabase) -> list[str]:
    return [name for (name,) in database.connection.execute(_VIEWS)]


def _recordings(path: str, database: OpenDatabase, progress: Progress | None) -> Iterator[Recording]:
    views, recordings = _views(database), recordings_in(database)
    for number, (suffix, executed) in enumerate(recordings.items(), start=1):
        calls, texts = _integers(path, executed(_CALLS), 5), dict(executed(_CALL_NAMES))

        def copies(
            executed: Callable[[str], sqlite3.Cursor] = executed,
            suffix: str = suffix,
            texts: dict[int, str] = texts,
        ) -> IntArray:
            if f"rocpd_memory_copy{suffix}" not in (*database.tables, *views):
                return np.zeros((6, 0), dtype=np.int64)
            texts.update(executed(_COPY_NAMES))
            return _integers(path, executed(_COPIES), 6)

        symbols = executed("SELECT id, display_name, kernel_name FROM rocpd_info_kernel_symbol")
        agents = executed("SELECT id, type_index, product_name, extdata FROM rocpd_info_agent")
        yield Recording(
            launches=dict(zip(_COLUMNS, _integers(path, executed(_LAUNCHES), len(_COLUMNS)), strict=True)),
            calls=calls[:, (calls[[0, 4]] != NULL).all(axis=0)],
            names=texts,
            copies=copies,
            symbols={key: (str(title or ""), str(symbol or "")) for key, title, symbol in symbols},
            agents={
                key: _describe_device(index, name, _decoded(details))
                for key, index, name, details in agents
                if isinstance(index, int)
            },
            markers=[
                (process, str(_decoded(details).get("message") or name), start, end)
                for process, name, details, start, end in executed(_MARKERS)
                if all(isinstance(value, int) for value in (process, start, end))
            ],
        )
        if progress is not None:
            progress(number, len(recordings), f"reading {path}")


def _integers(path: str, cursor: sqlite3.Cursor, columns: int) -> IntArray:
    """Return (columns, n) the values of a query, ``NULL`` where there is none."""
    parts, rows_before = [np.zeros((columns, 0), dtype=np.int64)], 0
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        try:
            parts.append(whole_numbers(rows))
        except NoWholeNumberError as error:
            message, row = f"a value is no whole number: {error}", rows_before + error.row + 1
            raise ProfileError(message, path=path, row=row, remedy=_AGAIN) from error
        rows_before += len(rows)
    return np.concatenate(parts, axis=1)


def _decoded(details: object) -> dict[str, Any]:
    try:
        values = decoded(json.loads, details.encode()) if isinstance(details, str) else None
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _describe_device(number: int, name: object, properties: Mapping[str, Any]) -> Device:
    """Return a GPU from what rocprofv3 writes of an agent; what is of another form is ignored."""
    units, banks = properties.get("cu_count"), properties.get("mem_banks")
    banks = [bank for bank in banks if isinstance(bank, dict)] if isinstance(banks, list) else []
    sizes = [size for bank in banks if isinstance(size := bank.get("size_in_bytes"), int)]
    return Device(
        device=number,
        name=name if isinstance(name, str) else "",
        sm_count=units if isinstance(units, int) and units > 0 else None,
        memory_bytes=max(sum(sizes), 0) or None,
    )


def _recording(process: Any, path: str) -> Recording:
    """Return what was recorded of one process."""
    pid, lists = process.metadata.pid, process.buffer_records
    fields = [attrgetter(path) if path else None for path in _PATHS]
    columns = [np.zeros((len(_COLUMNS), 0), dtype=np.int64)]
    for piece in _records(lists.kernel_dispatch, _Dispatch, path, instead=_NO_DISPATCH):
        columns.append(np.full((len(_COLUMNS), len(piece)), pid, dtype=np.int64))
        for column, value in zip(columns[-1], fields, strict=True):
            if value is not None:
                column[:] = np.fromiter(map(value, piece), np.int64, len(piece))
    names = {
        kind << 32 | operation: str(name)
        for kind, records in enumerate(process.strings.buffer_records)
        for operation, name in enumerate(records.operations)
    }
    calls = [
        (*_event(record, pid), record.correlation_id.internal)
        for raw in (lists.hip_api, lists.hsa_api)
        for piece in _records(raw, _Call, path)
        for record in piece
    ]
    agents = {
        agent.id.handle: _describe_device(
            agent.logical_node_type_id,
            agent.product_name,
            {"cu_count": agent.cu_count, "mem_banks": agent.mem_banks},
        )
        for agent in process.agents
        if agent.type == _GPU
    }

    def copies() -> IntArray:
        rows = [
            (*_event(record, pid), record.bytes, gpu.device)
            for piece in _records(lists.memory_copy, _Copy, path)
            for record in piece
            for ends in [(record.dst_agent_id.handle, record.src_agent_id.handle)]
            for gpu in [next((agents[agent] for agent in ends if agent in agents), _NO_GPU)]
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, 6).T

    texts = {record.key: record.value for record in process.strings.marker_api}
    return Recording(
        launches=dict(zip(_COLUMNS, np.concatenate(columns, axis=1), strict=True)),
        calls=np.array(calls, dtype=np.int64).reshape(-1, 5).T,
        names=names,
        copies=copies,
        symbols={
            symbol.kernel_id: (symbol.formatted_kernel_name, symbol.kernel_name)
            for symbol in process.kernel_symbols
        },
        agents=agents,
        markers=[
            (pid, text, record.start_timestamp, record.end_timestamp)
            for piece in _records(lists.marker_api, _Call, path)
            for record in piece
            if (text := texts.get(record.correlation_id.internal))
            and record.end_timestamp > record.start_timestamp
        ],
    )


def _event(record: Any, pid: int) -> tuple[int, ...]:
    name = record.kind << 32 | record.operation
    return record.start_timestamp, record.end_timestamp, pid, name


def _records(raw: Raw, kind: Any, path: str, *, instead: Any = None) -> Iterator[list[Any]]:
    """Yield the records of a list in pieces, so that never all of them are Python objects.

    One that is not usable is left out, or another stands in its place.

    Raises ProfileError: it is no list.
    """
    decoder, several = Decoder(kind), Decoder(list[kind])
    try:
        records = decoded(Decoder(list[Raw]).decode, memoryview(raw))
    except DecodeError as error:
        message = f"holds no list where records stand ({error})"
        raise ProfileError(message, path=path, remedy=_AGAIN) from error
    for start in range(0, len(records), _RECORDS_AT_ONCE):
        batch = records[start : start + _RECORDS_AT_ONCE]
        try:
            yield decoded(several.decode, b"[" + b",".join(batch) + b"]")
        except (DecodeError, UnicodeDecodeError):
            usable = [_record(decoder, record, instead) for record in batch]
            yield [record for record in usable if record is not None]


def _record(decoder: Any, text: Raw, instead: Any) -> Any:
    try:
        return decoded(decoder.decode, memoryview(text))
    except (DecodeError, UnicodeDecodeError):
        return instead


def _build_profile(
    recordings: Iterable[Recording], file: InputFile, kernels: KernelTable, format_name: str
) -> Profile:
    """Return the launches of all recordings in a file.

    Raises ProfileError: there is none, too many rows can be none, or none has a name.
    """
    builder = LaunchTableBuilder(file.path, kernels, keep_overlong=file.keep_overlong)
    rows, launches, names = 0, 0, set[str]()
    facts = RecordingFacts(launch_order="api-start", product="rocprofv3")
    places: dict[tuple[int, int], Device] = {}
    markers: list[tuple[int, str, int, int]] = []
    for recorded in recordings:
        markers += recorded.markers
        recording, replays = _with_launches(recorded, builder.left_out, rows)
        rows, column = rows + len(recorded.launches["start"]), recording.launches
        order, api_start_ns, missing = _call_order(recording)
        calls, is_alone = _launch_calls(recorded)
        # The dispatch number is a correlation number that the profiler gives.
        is_by_number = len(order) > 0 and order is column["dispatch"]
        facts = replace(
            facts,
            launch_order="correlation" if is_by_number else facts.launch_order,
            replays=facts.replays + replays,
            api_rows_missing=facts.api_rows_missing + missing,
            launch_calls=facts.launch_calls + calls,
            calls_without_kernel=facts.calls_without_kernel + is_alone,
        )
        if len(order):
            places |= _gpus(recording)
            part = _launches(recording, kernels, order, api_start_ns)
            builder.append(part)
            launches += len(order)
            names |= {kernels.names.full(code) for code in np.unique(part.name).tolist()}
    if rows == 0:
        message = "a recording of rocprofv3's without a kernel dispatch"
        remedy = "--kernel-trace records them"
        raise ProfileError(message, path=file.path, remedy=f"record the program again: `rocprofv3` {remedy}")
    if names == {NO_NAME}:
        raise ProfileError("the launches have no kernel name", path=file.path, remedy=_AGAIN)
    devices = tuple(dict.fromkeys(places[place] for place in sorted(places)))
    if len({gpu.device for gpu in devices}) < len(devices):
        # With their process where processes number them differently.
        devices = tuple(replace(places[place], process=place[0]) for place in sorted(places))

    def ranges(sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None) -> RangeSource:
        codes: dict[str, int] = {}
        rows = [(codes.setdefault(text, len(codes)), process, *times) for process, text, *times in markers]
        events = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return find_range_runs(tuple(codes), events, sequences, api_start_ns)

    return builder.finish(
        format_name=format_name,
        file=ProfileFile(file.path, file.location, launches),
        facts=replace(facts, devices=devices),
        ranges=ranges,
        activity=partial(find_activity, replace(file, progress=None)),
    )


def _launches(
    recording: Recording, kernels: KernelTable, order: IntArray, api_start_ns: IntArray | None
) -> LaunchColumns:
    column = recording.launches
    of_kernel, kernel_row = np.unique(column["kernel"], return_inverse=True)
    symbols = [recording.symbols.get(kernel, ("", "")) for kernel in of_kernel.tolist()]
    names = [bare_name(title or symbol) or NO_NAME for title, symbol in symbols]
    mangled = [bare_name(symbol) if symbol.startswith("_Z") else None for _, symbol in symbols]
    of_agent, agent_row = np.unique(column["agent"], return_inverse=True)
    device = np.array([recording.agents[agent].device for agent in of_agent.tolist()], dtype=np.int64)
    items, block = ([column[f"{unit}_{axis}"] for axis in "xyz"] for unit in ("items", "group"))
    return LaunchColumns(
        name=kernels.names.intern(names, mangled=mangled)[kernel_row],
        duration_ns=column["end"] - column["start"],
        order=order,
        process=column["process"],
        device=device[agent_row],
        grid=work_groups(items, block),
        block=block,
        start_ns=column["start"],
        stream=column["queue"],
        api_start_ns=api_start_ns,
    )


def _gpus(recording: Recording) -> dict[tuple[int, int], Device]:
    """Return the GPUs that launches ran on, by process and number."""
    pairs = np.unique([recording.launches["process"], recording.launches["agent"]], axis=1).T.tolist()
    return {(process, (gpu := recording.agents[agent]).device): gpu for process, agent in pairs}


def _are_no_launches(recording: Recording, left_out: RowsLeftOut, rows_before: int) -> BoolArray:
    """Return (n,) whether each dispatch can be no launch; such rows are counted."""
    column = recording.launches
    agents, agent_row = np.unique(column["agent"], return_inverse=True)
    is_listed = np.array([recording.agents.get(agent, _NO_GPU).device >= 0 for agent in agents.tolist()])
    needed = [values for name, values in column.items() if name not in {"agent", "kernel"}]
    sizes = [column[f"{unit}_{axis}"] for unit in ("items", "group") for axis in "xyz"]
    reasons = {
        "a launch lacks a time or another number": np.minimum.reduce(needed) == NULL,
        "a launch ends before it starts": column["end"] < column["start"],
        "a launch ran on no GPU that is listed": ~is_listed[agent_row] if len(agents) else agent_row > 0,
        "a launch has a size below 0": np.minimum.reduce(sizes) < 0,
    }
    is_wrong: BoolArray = np.logical_or.reduce([*reasons.values()])
    if len(rows := np.flatnonzero(is_wrong)):
        message = next(message for message, wrong in reasons.items() if wrong[rows[0]])
        left_out.add(len(rows), message, row=rows_before + int(rows[0]) + 1)
    return is_wrong


def _with_launches(recorded: Recording, left_out: RowsLeftOut, rows_before: int) -> tuple[Recording, int]:
    """Return a recording with those dispatches alone that are launches, and how many repeat another."""
    is_wrong = _are_no_launches(recorded, left_out, rows_before)
    column = {name: values[~is_wrong] for name, values in recorded.launches.items()}
    is_first = _are_first(column)
    column = {name: values[is_first] for name, values in column.items()}
    return replace(recorded, launches=column), int(np.count_nonzero(~is_first))


def _are_first(column: Mapping[str, IntArray]) -> BoolArray:
    """Return (n,) whether each record is the first of its dispatch: replaying a kernel makes several."""
    is_first = np.ones(len(column["dispatch"]), dtype=np.bool_)
    if len(np.unique(column["dispatch"])) < len(is_first):
        # Numbers count from 1: 0 is none.
        repeated = np.flatnonzero(column["dispatch"] > 0)
        _, first = dense_codes(
            [column[name][repeated] for name in ("process", "agent", "dispatch", "kernel")]
        )
        is_first[repeated] = False
        is_first[repeated[first]] = True
    return is_first


def _launch_calls(recording: Recording) -> tuple[int, int]:
    """Return how many calls launch a kernel, and how many of these have none; (0, 0) where it is not told."""
    launched, (start_ns, _, process, name, number) = recording.launches["call"], recording.calls
    if (launched < 0).any() or not len(number):
        return 0, 0
    keys, row = np.unique(name, return_inverse=True)
    kind = np.array([classify_call(str(recording.names.get(key, ""))) for key in keys.tolist()])[row]
    calls, has_kernel = LaunchCalls(), np.isin(number, launched)
    calls.add(kind, has_kernel, process=process, start_ns=start_ns)
    # Of a recording that has launches without a call, and calls without a kernel
    ends_ns = [
        (process_number, int(start_ns[has_kernel & (process == process_number)].max(initial=NULL)))
        for process_number in (np.unique(process).tolist() if not np.isin(launched, number).all() else ())
    ]
    return calls.counted(ends_ns)


def _call_order(recording: Recording) -> tuple[IntArray, IntArray | None, int]:
    """Return (n,) what ascends with the calls within a process, when each call began, how many have none.

    Launches of one call are in the order of dispatch; all are where a call is missing.
    """
    dispatch, call = recording.launches["dispatch"], recording.launches["call"]
    start_ns, calls = recording.calls[::4, np.lexsort(recording.calls[::4])]
    if not len(calls):
        return dispatch, None, 0
    numbers, first = np.unique(calls, return_index=True)
    place = np.minimum(np.searchsorted(numbers, call), len(numbers) - 1)
    is_numbered = numbers[place] == call
    api_start_ns = np.where(is_numbered, start_ns[first][place], NO_CALL)
    if not is_numbered.all():
        return dispatch, api_start_ns if is_numbered.any() else None, int(np.count_nonzero(~is_numbered))
    return np.argsort(np.lexsort((dispatch, api_start_ns))), api_start_ns, 0


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (find_activity,)
