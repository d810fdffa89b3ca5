"""rocprofv3's SQLite database (`rocprofv3 --output-format rocpd`), and the launches of any of its recordings.

The names of a recording's tables end with its identifier, and several may lie in one database. Grids are
counted in work-items. Launches are in the order of the calls where every launch has its call, else of their
dispatch numbers.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import NO_CALL, LaunchColumns, LaunchTableBuilder, runs_of
from sampling.profile.named_ranges import RangeSource
from sampling.profile.profile import Device, KernelTable, LaunchSequence, Profile, ProfileFile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.rocm_csv import bare_name, work_groups
from sampling.readers.sqlite_file import MAGIC, OpenDatabase, open_database

FORMAT = "rocpd"

#: The columns of a recording's launches; the call is the number of the call behind one, -1 where unknown
COLUMNS = (
    *("start", "end", "call", "dispatch", "process", "agent", "queue", "kernel"),
    *("items_x", "items_y", "items_z", "group_x", "group_y", "group_z"),
)
_AGAIN = "copy the file again, or record it again with `rocprofv3 --kernel-trace`"
_DISPATCHES = re.compile(r"rocpd_kernel_dispatch(_\w+|)")
_TABLE = re.compile(r"\brocpd_\w+")
# In the order of COLUMNS. What is called and what it dispatches stand on one stack of their process.
_LAUNCHES = """
    SELECT K.start, K."end", IFNULL((E.stack_id << 24) + (K.pid & 0xFFFFFF), -1), K.dispatch_id, P.pid,
           K.agent_id, K.queue_id, K.kernel_id, K.grid_size_x, K.grid_size_y, K.grid_size_z,
           K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z
    FROM rocpd_kernel_dispatch K
    LEFT JOIN rocpd_event E ON E.id = K.event_id
    LEFT JOIN rocpd_info_process P ON P.id = K.pid
"""
_CALLS = """
    SELECT (E.stack_id << 24) + (R.pid & 0xFFFFFF), R.start
    FROM rocpd_region R
    JOIN rocpd_event E ON E.id = R.event_id
    JOIN rocpd_string C ON C.id = E.category_id
    WHERE E.stack_id IS NOT NULL AND C.string NOT LIKE 'MARKER%'
"""
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


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What rocprofv3 recorded of one process, or in one set of tables."""

    launches: Mapping[str, IntArray]  #: (n,) each of `COLUMNS`
    #: (2, c) the numbers of the calls that were recorded, and when; of those with one number the first counts
    calls: IntArray
    symbols: Mapping[int, tuple[str, str]]  #: a kernel's name as it is shown and its symbol, by its number
    agents: Mapping[int, Device]  #: the GPUs, as HIP numbers them, by the numbers of the agents
    #: process, name, start and end of the ranges that the program named (roctx)
    markers: Sequence[tuple[int, str, int, int]]


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database whose schema names tables of rocpd."""
    return file.head.startswith(MAGIC) and b"rocpd_" in file.head


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises ProfileError: the database is damaged or lacks a table or column; there is no dispatch.
    """
    with open_database(file, _AGAIN) as database:
        return profile_of(_recordings(file.path, database, progress), file, kernels, FORMAT)


def _recordings(path: str, database: OpenDatabase, progress: Progress | None) -> Iterator[Recording]:
    found = [match[1] for name in database.tables if (match := _DISPATCHES.fullmatch(name))]
    for number, suffix in enumerate(found, start=1):

        def executed(query: str, suffix: str = suffix) -> sqlite3.Cursor:
            # The set's own tables cannot be bound as parameters.
            return database.connection.execute(_TABLE.sub(rf'"\g<0>{suffix}"', query))

        symbols = executed("SELECT id, display_name, kernel_name FROM rocpd_info_kernel_symbol")
        agents = executed("SELECT id, type_index, product_name, extdata FROM rocpd_info_agent")
        yield Recording(
            launches=dict(zip(COLUMNS, _integers(path, executed(_LAUNCHES), len(COLUMNS)), strict=True)),
            calls=_integers(path, executed(_CALLS), 2),
            symbols={key: (str(shown or ""), str(symbol or "")) for key, shown, symbol in symbols},
            agents={
                key: device_of(index, name, _decoded(details))
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
            progress(number, len(found), f"reading {path}")


def _integers(path: str, cursor: sqlite3.Cursor, columns: int) -> IntArray:
    """Return (columns, n) the values of a query."""
    parts = [np.zeros((0, columns), dtype=np.int64)]
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        try:
            parts.append(np.array(rows, dtype=np.int64))
        except (ValueError, TypeError, OverflowError) as error:
            # SQLite keeps text in a column of integers, or numbers beyond them.
            before = sum(map(len, parts))
            message = (
                f"a number in row {before + 1:,} or one of the {len(rows) - 1:,} after it is none ({error})"
            )
            raise ProfileError(message, path=path, remedy=_AGAIN) from error
    return np.ascontiguousarray(np.concatenate(parts).T)


def _decoded(details: object) -> dict[str, Any]:
    try:
        found = json.loads(details) if isinstance(details, str) else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def device_of(number: int, name: object, properties: Mapping[str, Any]) -> Device:
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


def profile_of(
    recordings: Iterable[Recording], file: InputFile, kernels: KernelTable, format_name: str
) -> Profile:
    """Return the launches of all recordings in a file.

    Raises ProfileError: a launch has no kernel name, no GPU or a size below 0; there is none.
    """
    builder = LaunchTableBuilder(file.path, kernels)
    launches = calls_missing = 0
    in_order_of_calls = True
    places: dict[tuple[int, int], Device] = {}
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
        gpus = [recording.agents.get(agent, Device(-1, "")) for agent in of_agent.tolist()]
        device = np.array([gpu.device for gpu in gpus], dtype=np.int64)[agent_row]
        items, block = ([column[f"{what}_{axis}"] for axis in "xyz"] for what in ("items", "group"))
        for wrong, message in (
            (np.array([not name for name in names])[kernel_row], "a launch has no kernel name"),
            (device < 0, "a launch ran on no GPU that is listed"),
            (np.minimum.reduce([*items, *block]) < 0, "a launch has a size below 0"),
        ):
            if wrong.any():
                raise ProfileError(message, path=file.path, row=int(np.argmax(wrong)) + 1, remedy=_AGAIN)
        for process, agent in np.unique([column["process"], agent_row], axis=1).T.tolist():
            places[process, gpus[agent].device] = gpus[agent]
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
        message, remedy = (
            "a recording of rocprofv3's without a kernel dispatch",
            "--kernel-trace records them",
        )
        raise ProfileError(message, path=file.path, remedy=f"record the program again: `rocprofv3` {remedy}")
    devices = tuple(dict.fromkeys(places[place] for place in sorted(places)))
    if len({gpu.device for gpu in devices}) < len(devices):
        # With their process where processes number them differently.
        devices = tuple(replace(places[place], process=place[0]) for place in sorted(places))
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
    calls, start_ns = recording.calls[:, np.lexsort(recording.calls[::-1])]
    if not len(calls):
        return dispatch, None, 0
    numbers, first = np.unique(calls, return_index=True)
    place = np.minimum(np.searchsorted(numbers, call), len(numbers) - 1)
    known = numbers[place] == call
    api_start_ns = np.where(known, start_ns[first][place], NO_CALL)
    if not known.all():
        return dispatch, api_start_ns if known.any() else None, int(np.count_nonzero(~known))
    return np.argsort(np.lexsort((dispatch, api_start_ns))), api_start_ns, 0
