"""rocprofv3's SQLite database (rocpd, `rocprofv3 --output-format rocpd`): a set of tables for each recording.

The names of a set's tables end with its identifier, and several sets may lie in one database. Commands,
environments and hosts stand in it too, and are not read.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile
from sampling.readers.rocm.recording import COLUMNS, Recording, device_of, profile_of
from sampling.readers.sqlite_file import MAGIC, OpenDatabase, open_database

FORMAT = "rocpd"

_AGAIN = "copy the database again, or record it again with `rocprofv3 --kernel-trace --output-format rocpd`"
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
_ROWS_AT_ONCE = 1 << 16
_BEYOND = 1 << 63


def recognise(file: InputFile) -> bool:
    """Return whether this is a SQLite database whose schema names tables of rocpd."""
    return file.head.startswith(MAGIC) and b"rocpd_" in file.head


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises ProfileError: the database is damaged or lacks a table or column; there is no dispatch.
    """
    with open_database(file, _AGAIN) as database:
        recordings = _recordings(file.path, database, progress)
        return profile_of(recordings, file, kernels, format_name=FORMAT, remedy=_AGAIN)


def _recordings(path: str, database: OpenDatabase, progress: Progress | None) -> Iterator[Recording]:
    found = [match[1] for name in database.tables if (match := _DISPATCHES.fullmatch(name))]
    for number, suffix in enumerate(found):

        def executed(query: str, suffix: str = suffix) -> sqlite3.Cursor:
            # The set's own tables cannot be bound as parameters.
            return database.connection.execute(_TABLE.sub(rf'"\g<0>{suffix}"', query))

        launches = _integers(path, executed(_LAUNCHES), COLUMNS)
        calls, call_start_ns = _integers(path, executed(_CALLS), ("call", "start"))
        symbols = executed("SELECT id, display_name, kernel_name FROM rocpd_info_kernel_symbol")
        agents = executed("SELECT id, type_index, product_name, extdata FROM rocpd_info_agent")
        yield Recording(
            launches=dict(zip(COLUMNS, launches, strict=True)),
            calls=calls,
            call_start_ns=call_start_ns,
            symbols={key: (str(shown or ""), str(symbol or "")) for key, shown, symbol in symbols},
            agents={
                key: device_of(index, name, _decoded(details))
                for key, index, name, details in agents
                if isinstance(index, int)
            },
            # The text that the program gave a range stands among the details.
            markers=[
                (process, text if isinstance(text, str) and text else str(name), start, end)
                for process, name, details, start, end in executed(_MARKERS)
                if all(isinstance(value, int) for value in (process, start, end))
                for text in [_decoded(details).get("message")]
            ],
        )
        if progress is not None:
            progress(number + 1, len(found), f"reading {path}")


def _integers(path: str, cursor: sqlite3.Cursor, columns: Sequence[str]) -> IntArray:
    """Return (columns, n) the values of a query."""
    parts = [np.zeros((0, len(columns)), dtype=np.int64)]
    done = 0
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        try:
            parts.append(np.array(rows, dtype=np.int64))
        except (ValueError, TypeError, OverflowError):
            # SQLite keeps text in a column of integers, or numbers beyond them.
            row, column, value = next(
                (row, column, value)
                for row, values in enumerate(rows, start=done + 1)
                for column, value in zip(columns, values, strict=True)
                if not (isinstance(value, int | float) and -_BEYOND <= value < _BEYOND)
            )
            what = f"{value!r} is no whole number"
            raise ProfileError(what, path=path, row=row, column=column, remedy=_AGAIN) from None
        done += len(rows)
    return np.ascontiguousarray(np.concatenate(parts).T)


def _decoded(details: object) -> dict[str, Any]:
    try:
        found = json.loads(details) if isinstance(details, str) else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
