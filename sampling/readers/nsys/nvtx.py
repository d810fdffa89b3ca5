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
from sampling.profile.launch_table import in_sequences
from sampling.profile.named_ranges import STILL_OPEN, RangeEvents, runs_of
from sampling.profile.profile import LaunchSequence
from sampling.profile.range_runs import NO_RANGES, NamedRange, RangeRuns
from sampling.readers.nsys.order import LaunchKeys, OrderOfLaunches, process_of_thread
from sampling.readers.nsys.tables import KERNEL, NULL, NVTX, STRINGS, NsysTables

#: Values of ENUM_NSYS_EVENT_TYPE: a push/pop range of one thread, a start/end range that any thread may end.
_RANGE_TYPES = (59, 60)
_PLACE_OF_RANGE = ("globalTid", "start", "end")
_PLACE_OF_LAUNCH = ("start", "globalPid", "correlationId", "deviceId")
_SIGNED = 1 << 63
_ROWS_LOOKED_AT_FOR_NAMES = 1000
_ROWS_AT_ONCE = 1 << 15

Opened = Callable[[], AbstractContextManager[NsysTables]]


def has_ranges(tables: NsysTables) -> bool:
    """Return whether the program made any use of NVTX."""
    return tables.has(NVTX, "eventType", *_PLACE_OF_RANGE)


class NvtxRanges:
    """The NVTX ranges of an export.

    Parameters
    ----------
    opened : opens the export again.
    sequences : of the profile read from it.
    """

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
            with self._opened() as tables:
                self._found[text] = self._read(tables, text).named(text)
        return self._found[text]

    def all_runs(self) -> RangeRuns:
        """Return all ranges during which something was launched.

        Raises
        ------
        ProfileError : the export is gone, damaged, or has changed since it was read.
        """
        with self._opened() as tables:
            return self._read(tables, "")

    def some_names(self, most: int) -> tuple[str, ...]:
        """Return distinct names among the first ranges of the table."""
        with self._opened() as tables:
            first = islice(tables.rows(NVTX, ("eventType", "text", "textId")), _ROWS_LOOKED_AT_FOR_NAMES)
            named_by = [(text, text_id) for kind, text, text_id in first if kind in _RANGE_TYPES]
            strings = tables.strings(sorted({each for _, each in named_by if isinstance(each, int)}))
        texts = [text or strings.get(text_id) for text, text_id in named_by]  # type: ignore[call-overload]
        return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))[:most]

    def _read(self, tables: NsysTables, text: str) -> RangeRuns:
        """Return the ranges whose names contain a text, of which "" is part of every one."""
        texts, columns = _ranges_holding(tables, text)
        if not texts:
            return NO_RANGES
        if self._calls is None:
            self._calls = self._api_starts(tables)
        api_start_ns, numbers = self._calls
        code, global_tid, start_ns, end_ns = columns
        recorded, rows = np.unique(process_of_thread(global_tid), return_inverse=True)
        # A process without launches has no number; no sequence has the number -1.
        number = np.array([numbers.get(each, -1) for each in recorded.tolist()], dtype=np.int64)
        end_ns = np.where(end_ns == NULL, STILL_OPEN, end_ns)
        return runs_of(
            RangeEvents(texts, code, number[rows], start_ns, end_ns), self._sequences, api_start_ns
        )

    def _api_starts(self, tables: NsysTables) -> tuple[IntArray, Mapping[int, int]]:
        """Return (launches,) when the call behind each began, in id order, and the process numbers."""
        present = tables.columns(KERNEL)
        columns = [column for column in _PLACE_OF_LAUNCH if column in present]
        order = OrderOfLaunches(keep_api_starts=True)
        keys: list[LaunchKeys] = []
        devices: list[IntArray] = []
        for arrays in tables.integers(KERNEL, columns):
            part = dict(zip(columns, arrays, strict=True))
            device = part.get("deviceId")
            keys.append(order.add(part["start"], part.get("globalPid"), part.get("correlationId"), device))
            devices += [] if device is None else [np.array(device)]
        order.settle(tables, lambda _: None)
        api_start_ns = np.concatenate([key.api_start_ns for key in keys if key.api_start_ns is not None])
        permutation, sequences = in_sequences(
            len(api_start_ns),
            process=np.concatenate([key.process for key in keys]),
            device=np.concatenate(devices).astype(np.int32) if devices else None,
            by_time=[
                np.concatenate([key.order for key in keys]),
                np.concatenate([key.start_ns for key in keys]),
            ],
        )
        if sequences != self._sequences:
            raise ProfileError(
                "the export changed while it was in use", path=tables.path, remedy="run the command again"
            )
        return api_start_ns if permutation is None else api_start_ns[permutation], order.process_numbers


def _ranges_holding(tables: NsysTables, text: str) -> tuple[tuple[str, ...], Sequence[IntArray]]:
    """Return the names that contain a text, and for each range of such a name four columns.

    The columns are the name's index, globalTid, start and end; an end that was not recorded is ``NULL``.
    """
    codes: dict[str, int] = {}
    parts = [*_by_own_text(tables, text, codes), *_by_registered_text(tables, text, codes)]
    return tuple(codes), [np.concatenate(column) for column in zip(*parts, strict=True)]


def _by_own_text(tables: NsysTables, text: str, codes: dict[str, int]) -> Iterator[Sequence[IntArray]]:
    """Yield the ranges that carry their name themselves."""
    rows = tables.rows(NVTX, ("eventType", "text", *_PLACE_OF_RANGE), containing=("text", text))
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        ranges = [row for row in some if row[0] in _RANGE_TYPES]
        names = (codes.setdefault(str(row[1]), len(codes)) for row in ranges)
        columns = (
            _integers(tables, column, [row[place] for row in ranges])
            for place, column in enumerate(_PLACE_OF_RANGE, start=2)
        )
        yield np.fromiter(names, dtype=np.int64, count=len(ranges)), *columns


def _by_registered_text(tables: NsysTables, text: str, codes: dict[str, int]) -> Iterator[Sequence[IntArray]]:
    """Yield the ranges that give their name as the id of a registered string."""
    strings = list(tables.rows(STRINGS, ("id", "value"), containing=("value", text)))
    if not strings or not tables.has(NVTX, "textId"):
        return
    ids = _integers(tables, "id", [text_id for text_id, _ in strings])
    by_id = np.argsort(ids)
    ids = ids[by_id]
    for kind, global_tid, start_ns, end_ns, text_id in tables.integers(
        NVTX, ("eventType", *_PLACE_OF_RANGE, "textId")
    ):
        rows = np.flatnonzero(np.isin(kind, _RANGE_TYPES) & np.isin(text_id, ids))
        if len(rows):
            meant, name = np.unique(text_id[rows], return_inverse=True)
            places = by_id[np.searchsorted(ids, meant)]
            texts = [str(strings[place][1]) for place in places.tolist()]
            code = np.array([codes.setdefault(each, len(codes)) for each in texts], dtype=np.int64)
            yield code[name], global_tid[rows], start_ns[rows], end_ns[rows]


def _integers(tables: NsysTables, column: str, values: Sequence[object]) -> IntArray:
    """Return the values of a column, None as ``NULL``; unsigned numbers have the bits that SQLite has."""
    known = (NULL if value is None else value for value in values)
    numbers = [value for value in known if isinstance(value, int) and -_SIGNED <= value < 2 * _SIGNED]
    if len(numbers) < len(values):
        raise ProfileError(
            "the column holds something else than integers",
            path=tables.path,
            column=column,
            remedy="export the report again",
        )
    return np.array([(number + _SIGNED) % (2 * _SIGNED) - _SIGNED for number in numbers], dtype=np.int64)
