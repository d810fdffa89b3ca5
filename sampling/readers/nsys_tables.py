"""The tables of an nsys export and their columns, called as in the SQLite export of nsys 2020.4 to 2026.2.

And the API calls, copies and sets in them, which are read when they are asked for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.profile.activity import make_activity
from sampling.profile.profile import Activity, LaunchSequence

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
STRINGS = "StringIds"
NVTX = "NVTX_EVENTS"
#: The second since nsys 2024
NODES = ("CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS")
CAPTURE = "META_DATA_CAPTURE"
DIAGNOSTICS = "DIAGNOSTIC_EVENT"
SYSTEM = "TARGET_INFO_SYSTEM_ENV"
#: Newer nsys versions first
EXPORTERS = ("META_DATA_EXPORT", "EXPORT_META_DATA")
OLD_GPUS, GPUS, GPU_NUMBERS = "TARGET_INFO_CUDA_GPU", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"

TIMES = ("start", "end")
#: Best first: older nsys versions leave mangledName out, and newer ones may leave any of them NULL.
NAMES = ("demangledName", "mangledName", "shortName")
PLACE = ("globalPid", "correlationId", "deviceId", "streamId")
#: The grid that launched a kernel from the device, as CUPTI calls it
PARENT = "parentGridId"
GRID = ("gridX", "gridY", "gridZ")
BLOCK = ("blockX", "blockY", "blockZ")
CALL = ("start", "globalTid", "correlationId")
#: What is called, and whether that failed
CALLED = ("nameId", "returnValue")
#: A copy or set, the direction of the one and the value of the other
COPY = (*TIMES, "globalPid", "deviceId", "bytes")
COPY_KIND, SET_VALUE = "copyKind", "value"
RANGE = ("eventType", "text", "textId", "globalTid", "start", "end")
NODE = ("globalTid", "graphNodeId", "start", "originalGraphNodeId")
NODE_OF_LAUNCH = ("globalPid", "graphNodeId")
SETTING = ("name", "value")
TEXT = ("id", "value")
DIAGNOSTIC = ("severity", "text")
OLD_GPU = ("deviceId", "pid", "name", "numMultiprocessors", "globalMemorySize")
GPU = ("cuDevice", "id", "deviceId", "name", "smCount", "totalMemory")
GPU_NUMBER = ("pid", "cudaId", "gpuId")

#: What is of the thread in its number, the rest is its process; and of correlation ids
THREAD_BITS = 0xFFFFFF
_CORRELATION_BITS = 32

_ISSUED = (*TIMES, "globalTid", "nameId", "correlationId")
_LAUNCHED = ("globalPid", "correlationId")
# What CUPTI numbers from 0; A is an array of a device, the last three are of unified memory.
_KINDS = ("", *("HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"))
_COPY_NAMES = (*_KINDS, "HtoD", "DtoH", "DtoD", "", "set")

_SPELLING = {
    name.casefold(): name
    for name in (
        *(
            KERNEL,
            RUNTIME,
            MEMCPY,
            MEMSET,
            COPY_KIND,
            *COPY,
            GRAPH_TRACE,
            STRINGS,
            NVTX,
            *NODES,
            CAPTURE,
            DIAGNOSTICS,
            SYSTEM,
            *EXPORTERS,
        ),
        *(OLD_GPUS, GPUS, GPU_NUMBERS, *TIMES, *NAMES, *PLACE, *GRID, *BLOCK, *CALL, *CALLED, *RANGE, *NODE),
        *(PARENT, *NODE_OF_LAUNCH, *SETTING, *TEXT, *DIAGNOSTIC, *OLD_GPU, *GPU, *GPU_NUMBER),
    )
}


def spelled(name: str) -> str:
    """Return the name of a table or column as nsys spells it: SQL does not tell capitals apart."""
    return _SPELLING.get(name.casefold(), name)


def number_codes(values: IntArray, table: dict[int, int]) -> NDArray[np.int32]:
    """Return (n,) the code of each value, of which there are few; new ones are added to the known."""
    if values.min() == values.max():
        return np.full(len(values), table.setdefault(int(values[0]), len(table)), dtype=np.int32)
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([table.setdefault(value, len(table)) for value in distinct.tolist()], dtype=np.int32)[
        place
    ]


def call_keys(process: NDArray[np.int32], correlation: IntArray) -> IntArray:
    """Return (n,) process and correlation id as one number, -1 for an id that is none."""
    keys = process.astype(np.int64) << _CORRELATION_BITS
    keys |= correlation
    keys[correlation >> _CORRELATION_BITS != 0] = -1
    return keys


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

    def not_integers(self, column: str, value: object = None, row: int | None = None) -> ProfileError:
        """Return the error for a column that nsys did not fill."""
        value_text = "" if value is None else f": {value}"
        return self.error(
            f"the column holds something else than integers{value_text}", row=row, column=column
        )

    def has(self, table: str, *columns: str) -> bool:
        """Return whether the export has a table with all these columns."""
        return table in self.names and self.columns(table).issuperset(columns)

    def settings(self, table: str) -> list[tuple[str, str]]:
        """Return the rows of a (name, value) table, names without a prefix such as ``PROCESS_0:``.

        They hold command lines and environment variables too, which are not to be shown.
        """
        rows = self.rows(table, SETTING)
        return [
            (re.sub(r"\APROCESS_\d+:", "", str(name)), str(value))
            for name, value in rows
            if value is not None
        ]

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


def find_activity(
    opened: Callable[[], AbstractContextManager[NsysTables]],
    numbers: Mapping[int, int],
    launches: int,
    left_out: Sequence[IntArray],
    sequences: Sequence[LaunchSequence],
) -> Activity:
    """Return the activity of the launches, whose rows are those that are not left out, in their order.

    ``numbers`` are those of processes by their globalPid.
    """
    with opened() as tables:
        launched, calls = _rows(tables, KERNEL, _LAUNCHED), _rows(tables, RUNTIME, _ISSUED)
        copies, sets = _rows(tables, MEMCPY, (*COPY, COPY_KIND)), _rows(tables, MEMSET, (*COPY, SET_VALUE))
        name, first = dense_codes([np.maximum(calls[3], 0)])
        ids = calls[3, first].tolist()
        texts = tables.strings(ids)
    number, codes = np.full(launches, -1), dict[int, int]()
    calls[2] &= ~THREAD_BITS
    if launched.shape[1] and calls.shape[1]:
        launched = np.delete(launched, np.concatenate([*left_out, np.zeros(0, dtype=np.int64)]), axis=1)
        number = call_keys(number_codes(launched[0], codes), launched[1])
        calls[4] = call_keys(number_codes(calls[2], codes), calls[4])
    calls[3] = name + len(_COPY_NAMES)
    copies[5], sets[5] = np.clip(copies[5], 0, len(_COPY_NAMES) - 2), len(_COPY_NAMES) - 1
    start_ns, end_ns, process, device, size, kind = np.concatenate([copies, sets], axis=1)
    copies = np.stack([start_ns, end_ns, process, kind, np.maximum(size, 0), device])
    for rows in (calls, copies):
        owners = dict[int, int]()
        row = number_codes(rows[2], owners) if rows.shape[1] else 0
        rows[2] = np.array([numbers.get(owner, -1) for owner in owners] or [-1])[row]
    names = [*_COPY_NAMES, *(texts.get(key, "") for key in ids)]
    return make_activity(number, calls, copies, names, sequences)


def _rows(tables: NsysTables, table: str, columns: Sequence[str]) -> IntArray:
    """Return (columns, n) the rows of a table, none where it lacks a column."""
    parts = tables.integers(table, columns) if tables.has(table, *columns) else ()
    nothing = np.zeros((len(columns), 0), dtype=np.int64)
    return np.concatenate([nothing, *(np.stack(part) for part in parts)], axis=1)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (find_activity,)
