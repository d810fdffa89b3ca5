"""The API calls, memory copies and sets of an nsys export, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.activity import HOST, make_activity
from sampling.profile.profile import Activity, LaunchSequence
from sampling.readers.nsys_tables import (
    COPY,
    COPY_KIND,
    KERNEL,
    MEMCPY,
    MEMSET,
    RUNTIME,
    SET_VALUE,
    THREAD_BITS,
    TIMES,
    NsysTables,
    call_keys,
    number_codes,
)

_CALL = (*TIMES, "globalTid", "nameId", "correlationId")
_LAUNCH = ("globalPid", "correlationId")
# What CUPTI numbers from 0; A is an array of a device, the last three are of unified memory.
_KINDS = ("", *("HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"))
_NAMES = (*_KINDS, "HtoD", "DtoH", "DtoD", "", "set")


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
        launched, calls = _rows(tables, KERNEL, _LAUNCH), _rows(tables, RUNTIME, _CALL)
        copies, sets = _rows(tables, MEMCPY, (*COPY, COPY_KIND)), _rows(tables, MEMSET, (*COPY, SET_VALUE))
        ids, name = np.unique(calls[3], return_inverse=True)
        texts = tables.strings(ids.tolist())
    number, codes = np.full(launches, -1), dict[int, int]()
    calls[2] &= ~THREAD_BITS
    if launched.shape[1] and calls.shape[1]:
        launched = np.delete(launched, np.concatenate([*left_out, np.zeros(0, dtype=np.int64)]), axis=1)
        number = call_keys(number_codes(launched[0], codes), launched[1])
        calls[4] = call_keys(number_codes(calls[2], codes), calls[4])
    copies[5], sets[5] = np.clip(copies[5], 0, len(_NAMES) - 2), len(_NAMES) - 1
    copies = np.concatenate([copies, sets], axis=1)
    copies[4:] = np.maximum(copies[:3:-1], 0)
    calls = np.stack([*calls[:3], np.full(calls.shape[1], HOST), name + len(_NAMES), calls[4]])
    events = np.concatenate([calls, copies], axis=1)
    distinct, row = np.unique(events[2], return_inverse=True)
    events[2] = np.array([numbers.get(owner, -1) for owner in distinct.tolist()], dtype=np.int64)[row]
    return make_activity(sequences, number, events, [*_NAMES, *(texts.get(key, "") for key in ids.tolist())])


def _rows(tables: NsysTables, table: str, columns: Sequence[str]) -> IntArray:
    """Return (columns, n) the rows of a table, none where it lacks a column."""
    parts = tables.integers(table, columns) if tables.has(table, *columns) else ()
    nothing = np.zeros((len(columns), 0), dtype=np.int64)
    return np.concatenate([nothing, *(np.stack(part) for part in parts)], axis=1)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (find_activity,)
