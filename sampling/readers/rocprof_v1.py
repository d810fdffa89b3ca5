"""rocprof's ``results.db`` and ``results.json``, which it writes beside the kernel list ``results.csv``.

Both hold the rows of that list: the database in its table ``A``, the JSON as the arguments of its events, all
of them texts. So they become such rows, and what is true of the list is true of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, json

from sampling.parallel import Progress
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile, damage_note
from sampling.readers.rocm_csv import build_profile, rows_of_values
from sampling.readers.sqlite_file import SQLITE, open_database
from sampling.readers.table_launches import Launches
from sampling.readers.trace_text import read_at_once

FORMAT = "rocprof-v1"

_TABLE = "A"
_CREATED = re.compile(rb'CREATE TABLE "?A"? \([^)]*"KernelName"')
# An empty event comes first, and what names the tracks has an index by which they are sorted.
_OPENING = re.compile(rb'\s*\{\s*"traceEvents"\s*:\s*\[\s*\{\s*\}\s*,[^]]*"sort_index"')
_AGAIN = "copy the file again, or give the results.csv beside it"


class _Event(Struct, gc=False):
    args: dict[str, Any] = field(default_factory=dict)


class _Trace(Struct):
    events: list[_Event] = field(name="traceEvents")


def recognise(file: InputFile) -> bool:
    """Return whether this is rocprof's database or trace: what rocprofv3 writes has none of its columns."""
    is_database = file.head.startswith(SQLITE)
    return (_CREATED.search if is_database else _OPENING.match)(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernels as launches; the file is small, for rocprof is slow, and is read at once.

    Raises ProfileError: the file is damaged, a value makes no sense, or there is no kernel.
    """
    damage = None
    if file.head.startswith(SQLITE):
        with open_database(file, _AGAIN) as database:
            cursor = database.connection.execute(f"SELECT * FROM {_TABLE} ORDER BY rowid")  # noqa: S608
            titles = [title for title, *_ in cursor.description]
            columns: Mapping[str, Sequence[Any]] = dict(zip(titles, zip(*cursor, strict=True), strict=False))
        if progress is not None:
            progress(1, 1, f"reading {file.path}")
    else:
        trace, damage = read_at_once(file, json.Decoder(_Trace).decode, "a trace of rocprof", progress)
        columns = _arguments(trace)
    launches = Launches(file, kernels)
    profile = build_profile([rows_of_values(file, columns)] if columns else [], launches, kernels, FORMAT)
    if damage is not None:
        profile.notes = (damage_note(file, "kernel", len(next(iter(columns.values())))),)
    return profile


def _arguments(trace: _Trace) -> Mapping[str, Sequence[Any]]:
    """Return the arguments of all kernels by their names, "" where one has none."""
    rows = [event.args for event in trace.events if "KernelName" in event.args]
    titles = dict.fromkeys(title for row in rows for title in row)
    return {title: [row.get(title, "") for row in rows] for title in titles}
