"""NVTX ranges of an nsys export, read when they are asked for.

A recording may have more ranges than launches (PyTorch's `emit_nvtx` makes one for every operator), and most
runs need none. So they are not read with the profile, and then only those of the name asked for. The start of
the API call behind each launch, which decides what ranges it is in, is read once and kept: 8 bytes a launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.profile.launch_table import STILL_OPEN, RangeEvents, in_sequences, runs_of
from sampling.profile.named_ranges import NO_RANGES, NamedRange, RangeRuns, RangeSource
from sampling.profile.profile import LaunchSequence
from sampling.readers.nsys.export import (
    KERNEL,
    NULL,
    STRINGS,
    NsysTables,
    keys_of,
    process_of_thread,
    put_in_order,
)

_NVTX = "NVTX_EVENTS"
#: Values of ENUM_NSYS_EVENT_TYPE: a push/pop range of one thread, a start/end range that any thread may end.
_RANGE_TYPES = (59, 60)
_PLACE_OF_RANGE = ("globalTid", "start", "end")
_PLACE_OF_LAUNCH = ("start", "globalPid", "correlationId", "deviceId")
_SIGNED = 1 << 63
_ROWS_LOOKED_AT_FOR_NAMES = 1000
_ROWS_AT_ONCE = 1 << 15

#: Opens an export once more.
Opened = Callable[[], AbstractContextManager[NsysTables]]


def nvtx_ranges(
    tables: NsysTables, opened: Opened, sequences: tuple[LaunchSequence, ...], _: object
) -> RangeSource:
    """Return where the ranges are read from, should they be asked for.

    Parameters
    ----------
    opened : opens the export again.
    sequences : of the profile read from it.
    """
    has_any = tables.has(_NVTX, "eventType", *_PLACE_OF_RANGE)
    return _NvtxRanges(opened, sequences) if has_any else NO_RANGES


class _NvtxRanges:
    def __init__(self, opened: Opened, sequences: tuple[LaunchSequence, ...]) -> None:
        self._opened = opened
        self._sequences = sequences
        self._found: dict[str, tuple[NamedRange, ...]] = {}
        self._calls: tuple[IntArray, Mapping[int, int]] | None = None

    def named(self, text: str) -> tuple[NamedRange, ...]:
        """Return the ranges of exactly this name, else those whose name contains it.

        Raises
        ------
        ProfileError : the export is gone, damaged, or has changed since it was read.
        """
        if text not in self._found:
            self._found[text] = self._holding(text).named(text)
        return self._found[text]

    def all_runs(self) -> RangeRuns:
        """Return all ranges during which something was launched; it raises what `named` does."""
        return self._holding("")

    def some_names(self, most: int) -> tuple[str, ...]:
        """Return distinct names among the first ranges of the table."""
        with self._opened() as tables:
            first = islice(tables.rows(_NVTX, ("eventType", "text", "textId")), _ROWS_LOOKED_AT_FOR_NAMES)
            named_by = [(text, text_id) for kind, text, text_id in first if kind in _RANGE_TYPES]
            strings = tables.strings(sorted({each for _, each in named_by if isinstance(each, int)}))
        texts = [text or strings.get(text_id) for text, text_id in named_by]  # type: ignore[call-overload]
        return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))[:most]

    def _holding(self, text: str) -> RangeRuns:
        """Return the ranges whose names contain a text, of which "" is part of every one."""
        codes: dict[str, int] = {}
        with self._opened() as tables:
            parts = [*_by_own_text(tables, text, codes), *_by_registered_text(tables, text, codes)]
            if not codes:
                return NO_RANGES
            if self._calls is None:
                self._calls = self._api_starts(tables)
        api_start_ns, numbers = self._calls
        code, global_tid, start_ns, end_ns = (np.concatenate(column) for column in zip(*parts, strict=True))
        recorded, rows = np.unique(process_of_thread(global_tid), return_inverse=True)
        # A process without launches has no number; no sequence has the number -1.
        number = np.array([numbers.get(each, -1) for each in recorded.tolist()], dtype=np.int64)[rows]
        end_ns = np.where(end_ns == NULL, STILL_OPEN, end_ns)
        return runs_of(
            RangeEvents(tuple(codes), code, number, start_ns, end_ns), self._sequences, api_start_ns
        )

    def _api_starts(self, tables: NsysTables) -> tuple[IntArray, Mapping[int, int]]:
        """Return (launches,) when the call behind each began, in id order, and the process numbers."""
        columns = [column for column in _PLACE_OF_LAUNCH if column in tables.columns(KERNEL)]
        keys, devices = [], []
        for arrays in tables.integers(KERNEL, columns):
            part = dict(zip(columns, arrays, strict=True))
            keys.append(keys_of(part))
            devices.append(part.get("deviceId", np.zeros(len(arrays[0]))).astype(np.int32))
        starts, _, numbers = put_in_order(keys, tables, lambda _: None)
        process, order, start_ns = map(np.concatenate, zip(*keys, strict=True))
        api_start_ns = np.concatenate(starts)
        permutation, sequences = in_sequences(
            len(api_start_ns),
            process=process,
            device=np.concatenate(devices),
            by_time=[order, start_ns],
        )
        if sequences != self._sequences:
            raise ProfileError(
                "the export changed while it was in use", path=tables.path, remedy="run the command again"
            )
        return api_start_ns if permutation is None else api_start_ns[permutation], numbers


def _by_own_text(tables: NsysTables, text: str, codes: dict[str, int]) -> Iterator[Sequence[IntArray]]:
    """Yield code, globalTid, start and end of the ranges that carry their name themselves.

    A name has its place in ``codes``, to which it is added; an end that was not recorded is ``NULL``.
    """
    rows = tables.rows(_NVTX, ("eventType", "text", *_PLACE_OF_RANGE), containing=("text", text))
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        ranges = [row for row in some if row[0] in _RANGE_TYPES]
        names = [codes.setdefault(str(row[1]), len(codes)) for row in ranges]
        places = [
            _integers(tables, column, [row[place] for row in ranges])
            for place, column in enumerate(_PLACE_OF_RANGE, start=2)
        ]
        yield np.array(names, dtype=np.int64), *places


def _by_registered_text(tables: NsysTables, text: str, codes: dict[str, int]) -> Iterator[Sequence[IntArray]]:
    """Yield the same of the ranges that give their name as the id of a registered string."""
    strings = list(tables.rows(STRINGS, ("id", "value"), containing=("value", text)))
    if not strings or not tables.has(_NVTX, "textId"):
        return
    ids = _integers(tables, "id", [text_id for text_id, _ in strings])
    text_of = dict(zip(ids.tolist(), (str(value) for _, value in strings), strict=True))
    for kind, global_tid, start_ns, end_ns, text_id in tables.integers(
        _NVTX, ("eventType", *_PLACE_OF_RANGE, "textId")
    ):
        rows = np.flatnonzero(np.isin(kind, _RANGE_TYPES) & np.isin(text_id, ids))
        if len(rows):
            meant, name = np.unique(text_id[rows], return_inverse=True)
            code = [codes.setdefault(text_of[each], len(codes)) for each in meant.tolist()]
            yield np.array(code, dtype=np.int64)[name], global_tid[rows], start_ns[rows], end_ns[rows]


def _integers(tables: NsysTables, column: str, values: Sequence[object]) -> IntArray:
    """Return the values of a column, None as ``NULL``; unsigned numbers have the bits that SQLite has."""
    known = (NULL if value is None else value for value in values)
    numbers = [value for value in known if isinstance(value, int) and -_SIGNED <= value < 2 * _SIGNED]
    if len(numbers) < len(values):
        raise tables.not_integers(column)
    return np.array([(number + _SIGNED) % (2 * _SIGNED) - _SIGNED for number in numbers], dtype=np.int64)
