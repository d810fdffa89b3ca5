"""rocprofv3's SQLite database (rocpd, `rocprofv3 --output-format rocpd`): a set of tables for each recording.

The names of a set's tables end with its identifier, and several sets may lie in one database. Commands,
environments and hosts stand in it too, and are not read.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import (
    Device,
    KernelTable,
    LaunchOrder,
    Profile,
    ProfileFile,
    RecordingFacts,
)
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.rocm.devices import device_of, distinct_devices
from sampling.readers.rocm.kernels import bare_name, work_groups
from sampling.readers.rocm.markers import Marker, ranges_of
from sampling.readers.rocm.order import call_order
from sampling.readers.sqlite_file import MAGIC, open_database

FORMAT = "rocpd"

_AGAIN = "copy the database again, or record it again with `rocprofv3 --kernel-trace --output-format rocpd`"
_DISPATCHES = re.compile(r"rocpd_kernel_dispatch(_\w+|)")
_COLUMNS = (
    *("pid", "agent_id", "kernel_id", "dispatch_id", "queue_id", "start", "end"),
    *("grid_size_x", "grid_size_y", "grid_size_z"),
    *("workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "stack_id"),
)
_LAUNCHES = """
    SELECT K.pid, K.agent_id, K.kernel_id, K.dispatch_id, K.queue_id, K.start, K."end",
           K.grid_size_x, K.grid_size_y, K.grid_size_z,
           K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z, IFNULL(E.stack_id, -1)
    FROM rocpd_kernel_dispatch K LEFT JOIN rocpd_event E ON E.id = K.event_id
"""
# What is called and what it dispatches stand on one stack.
_CALLS = """
    SELECT R.start, E.stack_id, R.pid
    FROM rocpd_region R
    JOIN rocpd_event E ON E.id = R.event_id
    JOIN rocpd_string C ON C.id = E.category_id
    WHERE E.stack_id IS NOT NULL AND C.string NOT LIKE 'MARKER%'
"""
# A mark of an instant is no range.
_MARKERS = """
    SELECT P.pid, S.string, E.extdata, R.start, R."end"
    FROM rocpd_region R
    JOIN rocpd_event E ON E.id = R.event_id
    JOIN rocpd_string C ON C.id = E.category_id
    JOIN rocpd_string S ON S.id = R.name_id
    JOIN rocpd_info_process P ON P.id = R.pid
    WHERE C.string LIKE 'MARKER%' AND R."end" > R.start
"""
_TABLE = re.compile(r"\brocpd_\w+")
_ROWS_AT_ONCE = 1 << 16


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database whose schema names tables of rocpd."""
    return file.head.startswith(MAGIC) and b"rocpd_" in file.head


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises
    ------
    ProfileError : the database is damaged or lacks a table or column; there is no dispatch.
    """
    builder = LaunchTableBuilder(file.path, kernels)
    with open_database(file, _AGAIN) as database:
        names = [match[1] for name in database.tables if (match := _DISPATCHES.fullmatch(name))]
        sets = [_Set(file.path, database.connection, suffix, kernels) for suffix in names]
        launches = 0
        for number, each in enumerate(sets):
            launches += each.add_to(builder)
            if progress is not None:
                progress(number + 1, len(sets), f"reading {file.path}")
        if launches == 0:
            raise ProfileError(
                "a rocprofv3 database without a kernel dispatch",
                path=file.path,
                remedy="record the program with `rocprofv3 --kernel-trace`",
            )
        markers = [marker for each in sets for marker in each.markers()]
    kinds = [each.kind for each in sets if each.kind is not None]
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, launches),
        facts=RecordingFacts(
            devices=distinct_devices(pair for each in sets for pair in each.devices),
            launch_order="correlation" if "correlation" in kinds else "api-start",
            api_rows_missing=sum(each.calls_missing for each in sets),
            product="rocprofv3",
        ),
        ranges=partial(ranges_of, markers),
    )


class _Set:
    """The tables of one recording.

    Attributes
    ----------
    kind : what its launches are ordered by, once they are added; None where there are none.
    calls_missing : its launches without an API call where others have one.
    devices : the (process, GPU) pairs that its launches ran on.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, suffix: str, kernels: KernelTable) -> None:
        self.kind: LaunchOrder | None = None
        self.calls_missing = 0
        self.devices: list[tuple[int, Device]] = []
        self._path = path
        self._connection = connection
        self._suffix = suffix
        self._kernels = kernels

    def add_to(self, builder: LaunchTableBuilder) -> int:
        """Add the launches; return how many there are."""
        rows = self._integers(_LAUNCHES, len(_COLUMNS))
        if not rows.shape[1]:
            return 0
        column = dict(zip(_COLUMNS, rows, strict=True))
        call_start_ns, call_stack, call_pid = self._integers(_CALLS, 3)
        processes = self._rows("SELECT id, pid FROM rocpd_info_process")
        pid_of = {key: pid for key, pid in processes if isinstance(pid, int)}
        order = call_order(
            _joint_key(column["stack_id"], column["pid"]),
            column["dispatch_id"],
            _joint_key(call_stack, call_pid),
            call_start_ns,
        )
        self.kind, self.calls_missing = order.kind, order.calls_missing
        process = self._looked_up(column["pid"], pid_of, "process")
        device = self._devices(column["agent_id"], process)
        items, block = (
            [column[f"{size}_{axis}"] for axis in "xyz"] for size in ("grid_size", "workgroup_size")
        )
        if min(sizes.min() for sizes in (*items, *block)) < 0:
            raise self._error("a launch has a size below 0")
        builder.append(
            LaunchColumns(
                name=self._names(column["kernel_id"]),
                duration_ns=column["end"] - column["start"],
                order=order.order,
                process=process,
                device=device,
                grid=work_groups(items, block),
                block=block,
                start_ns=column["start"],
                stream=column["queue_id"],
                api_start_ns=order.api_start_ns,
            )
        )
        return len(device)

    def markers(self) -> Iterator[Marker]:
        """Yield the ranges that the program named; marks of an instant are none."""
        for process, name, details, start, end in self._rows(_MARKERS):
            if all(isinstance(value, int) for value in (process, start, end)):
                yield process, _message(details) or str(name), start, end

    def _names(self, kernel: IntArray) -> AnyIntArray:
        """Return (n,) name codes."""
        query = "SELECT id, display_name, kernel_name FROM rocpd_info_kernel_symbol"
        symbols = {key: (shown, symbol) for key, shown, symbol in self._rows(query)}
        ids, rows = np.unique(kernel, return_inverse=True)
        found = [symbols.get(each, (None, None)) for each in ids.tolist()]
        names = [bare_name(str(shown or symbol or "")) for shown, symbol in found]
        if "" in names:
            row = int(np.argmax(rows == names.index("")))
            raise self._error("a launch has no kernel name", row=row + 1, column="kernel_id")
        mangled = [bare_name(str(symbol)) if str(symbol).startswith("_Z") else None for _, symbol in found]
        return self._kernels.names.intern(names, mangled=mangled)[rows]

    def _devices(self, agent: IntArray, process: IntArray) -> IntArray:
        """Return (n,) the number HIP gives the GPU of each launch, and note which GPUs these are."""
        query = "SELECT id, type_index, product_name, extdata FROM rocpd_info_agent"
        agents = {
            key: device_of(number, name, _decoded(details))
            for key, number, name, details in self._rows(query)
            if isinstance(number, int)
        }
        pairs = np.unique(np.stack([process, agent]), axis=1).T.tolist()
        self.devices = [(pid, agents[each]) for pid, each in pairs if each in agents]
        return self._looked_up(agent, {key: device.device for key, device in agents.items()}, "agent_id")

    def _looked_up(self, keys: IntArray, known: dict[int, int], column: str) -> IntArray:
        distinct, rows = np.unique(keys, return_inverse=True)
        if not known.keys() >= set(distinct.tolist()):
            row = int(np.argmax([key not in known for key in distinct[rows].tolist()]))
            raise self._error("a launch refers to what the database lacks", row=row + 1, column=column)
        return np.array([known[key] for key in distinct.tolist()], dtype=np.int64)[rows]

    def _executed(self, query: str) -> sqlite3.Cursor:
        """Run a query on the set's own tables: they cannot be bound as parameters."""
        return self._connection.execute(_TABLE.sub(rf'"\g<0>{self._suffix}"', query))

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._executed(query).fetchall()

    def _integers(self, query: str, columns: int) -> IntArray:
        """Return (columns, n) the values of a query."""
        cursor = self._executed(query)
        parts = [np.zeros((0, columns), dtype=np.int64)]
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            try:
                parts.append(np.array(rows, dtype=np.int64))
            except (ValueError, TypeError, OverflowError):
                raise self._error("a column of whole numbers holds something else") from None
        return np.ascontiguousarray(np.concatenate(parts).T)

    def _error(self, message: str, *, row: int | None = None, column: str | None = None) -> ProfileError:
        return ProfileError(message, path=self._path, row=row, column=column, remedy=_AGAIN)


def _joint_key(stack: IntArray, process: IntArray) -> IntArray:
    """Return (n,) numbers that tell the stacks of different processes apart."""
    return (stack << 24) + (process & ((1 << 24) - 1))


def _decoded(details: object) -> object:
    try:
        return json.loads(details) if isinstance(details, str) else None
    except ValueError:
        return None


def _message(details: object) -> str | None:
    """Return the text the program gave a range, where the database has it among the details."""
    decoded = _decoded(details)
    message = decoded.get("message") if isinstance(decoded, dict) else None
    return message if isinstance(message, str) and message else None
