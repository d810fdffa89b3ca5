"""Kineto events turned into columns: launches, the API calls behind them, and what only the calls know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampling.errors import ProfileError
from sampling.kernel_names import NameTable

if TYPE_CHECKING:
    from sampling.readers.kineto_events import Arguments, Event

_LARGEST_MICROSECONDS = 9e15
_LARGEST_DIMENSION = (1 << 32) - 1
_LABEL_RANGE = 1 << 31
_LAST_DIGITS = re.compile(r"(\d+)\D*\Z")


class LaunchRows(NamedTuple):
    """Kernel launches in file order: (n,) each, ``grid`` and ``block`` (n, 3) with zeros where unknown."""

    name: NDArray[np.int32]
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    device: NDArray[np.int32]
    stream: NDArray[np.int32]
    correlation: NDArray[np.int64]
    grid: NDArray[np.int64]
    block: NDArray[np.int64]


class CallRows(NamedTuple):
    """API calls: the number that ties a call to what it launched, and its start."""

    correlation: NDArray[np.int64]
    start_ns: NDArray[np.int64]


class ShapeRows(NamedTuple):
    """Grids (m, 3) and blocks (m, 3) that stand on API calls (AMD).

    ``in_work_items``: whether the call counts its grid in work-items instead of blocks.
    """

    correlation: NDArray[np.int64]
    grid: NDArray[np.int64]
    block: NDArray[np.int64]
    in_work_items: NDArray[np.bool_]


class NameCodes(dict[str, int]):
    """The code of every name seen, interned when it is first asked for."""

    def __init__(self, names: NameTable) -> None:
        self._names = names

    def __missing__(self, name: str) -> int:
        code = self[name] = int(self._names.intern([name])[0])
        return code


_Rows = TypeVar("_Rows", LaunchRows, CallRows, ShapeRows)


def joined(parts: Sequence[_Rows]) -> _Rows:
    """Return the rows of all parts (at least one) as one."""
    return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


def launch_rows(
    events: Sequence[Event],
    numbers: Sequence[int],
    arguments: Sequence[Arguments],
    codes: NameCodes,
    path: str,
) -> LaunchRows:
    """Return the columns of kernel events.

    Parameters
    ----------
    numbers : (n,) the 1-based number of each event in the file, for messages.
    arguments : (n,) the events' arguments, empty where an event has none.

    Raises
    ------
    ProfileError : a kernel has no name, start or duration, or a negative duration.
    """
    names = [event.name or "" for event in events]
    start_us = _numbers(map(attrgetter("ts"), events), len(events))
    duration_us = _numbers(map(attrgetter("dur"), events), len(events))
    has_time = {
        "ts": np.abs(start_us) < _LARGEST_MICROSECONDS,
        "dur": np.abs(duration_us) < _LARGEST_MICROSECONDS,
    }
    is_named = np.fromiter(map(bool, names), dtype=np.bool_, count=len(names))
    for column, is_good in {"name": is_named, **has_time}.items():
        if not is_good.all():
            raise _unusable(f"a kernel event without a usable {column}", path, numbers, is_good, column)
    if not (duration_us >= 0).all():
        raise _unusable("a kernel ends before it starts", path, numbers, duration_us >= 0, "dur")
    return LaunchRows(
        name=np.fromiter(map(codes.__getitem__, names), dtype=np.int32, count=len(names)),
        start_ns=_nanoseconds(start_us),
        duration_ns=_nanoseconds(duration_us),
        device=_labels(arguments, "device", events, "pid"),
        stream=_labels(arguments, "stream", events, "tid"),
        correlation=_correlations(arguments),
        grid=_dimensions(arguments, "grid"),
        block=_dimensions(arguments, "block"),
    )


def call_rows(events: Sequence[Event], arguments: Sequence[Arguments]) -> CallRows:
    """Return the columns of the API calls that carry a correlation number and a time."""
    start_us = _numbers(map(attrgetter("ts"), events), len(events))
    correlation = _correlations(arguments)
    usable = (correlation >= 0) & (np.abs(start_us) < _LARGEST_MICROSECONDS)
    return CallRows(correlation[usable], _nanoseconds(start_us[usable]))


def shape_rows(calls: Sequence[tuple[Event, Arguments]]) -> ShapeRows:
    """Return grid and block of the API calls that record them.

    Notes
    -----
    hipExtModuleLaunchKernel and its older name hipHccModuleLaunchKernel take the global size in work-items,
    every other call takes blocks; the profiler writes down what the call was given.
    """
    arguments = [call_arguments for _, call_arguments in calls]
    return ShapeRows(
        correlation=_correlations(arguments),
        grid=_dimensions(arguments, "grid"),
        block=_dimensions(arguments, "block"),
        in_work_items=np.fromiter(
            ((event.name or "").startswith(("hipExtModule", "hipHccModule")) for event, _ in calls),
            dtype=np.bool_,
            count=len(calls),
        ),
    )


def with_shapes_of_calls(launches: LaunchRows, shapes: ShapeRows) -> LaunchRows:
    """Return the launches with the grid and block of their calls, all grids in blocks."""
    place = places_of(launches.correlation, shapes.correlation)
    rows = np.flatnonzero(place >= 0)
    call = place[rows]
    unknown = ~launches.grid[rows].any(axis=1, keepdims=True)
    grid = np.where(unknown, shapes.grid[call], launches.grid[rows])
    block = np.where(unknown, shapes.block[call], launches.block[rows])
    in_blocks = -(-grid // np.maximum(block, 1))
    launches.grid[rows] = np.where(shapes.in_work_items[call, np.newaxis], in_blocks, grid)
    launches.block[rows] = block
    return launches


def places_of(wanted: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each wanted number first occurs among the known, -1 where it does not."""
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    position = np.searchsorted(known, wanted, sorter=order)
    place = order[np.minimum(position, len(known) - 1)]
    return np.where(known[place] == wanted, place, -1)


def _unusable(
    message: str, path: str, numbers: Sequence[int], is_good: NDArray[np.bool_], column: str
) -> ProfileError:
    row = numbers[int(np.argmin(is_good))]
    return ProfileError(message, path=path, row=row, column=column, remedy="record the trace again")


def _numbers(values: Iterable[object], count: int) -> NDArray[np.float64]:
    """Return (count,) the values as numbers, whether written as integer, fraction or text; else NaN.

    Whole microseconds are exact in float64 for 285 years.
    """
    listed = list(values)
    try:
        return np.fromiter(listed, dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(_number, listed), dtype=np.float64, count=count)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _nanoseconds(microseconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole nanoseconds; the whole microseconds are scaled as integers, so a date costs no digits."""
    whole = np.floor(microseconds)
    fraction = np.rint((microseconds - whole) * 1000.0)
    return whole.astype(np.int64) * 1000 + fraction.astype(np.int64)


def _labels(
    arguments: Sequence[Arguments], field: str, events: Sequence[Event], otherwise: str
) -> NDArray[np.int32]:
    """Return device or stream numbers: the argument, else the digits that ``otherwise`` ends with, else 0."""
    values = _numbers(map(attrgetter(field), arguments), len(arguments))
    fallback = attrgetter(otherwise)
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        digits = _LAST_DIGITS.search(str(fallback(events[row])))
        values[row] = int(digits[1]) if digits else 0
    return np.fmod(values, _LABEL_RANGE).astype(np.int32)


def _correlations(arguments: Sequence[Arguments]) -> NDArray[np.int64]:
    """Return correlation numbers, -1 where there is none."""
    values = _numbers(map(attrgetter("correlation"), arguments), len(arguments))
    return np.where(np.abs(values) < _LARGEST_MICROSECONDS, values, -1).astype(np.int64)


def _dimensions(arguments: Sequence[Arguments], field: str) -> NDArray[np.int64]:
    """Return (n, 3) x, y, z; zeros where the event has no three counts."""
    values = list(map(attrgetter(field), arguments))
    try:
        if set(map(len, values)) <= {3}:
            flat = np.fromiter(chain.from_iterable(values), dtype=np.int64, count=3 * len(values))
            if len(flat) == 0 or (flat.min() >= 0 and flat.max() <= _LARGEST_DIMENSION):
                return flat.reshape(-1, 3)
    except (TypeError, ValueError, OverflowError):
        pass  # odd ones among them: told apart one by one below
    return np.array([value if _is_three_counts(value) else (0, 0, 0) for value in values], dtype=np.int64)


def _is_three_counts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(count, int) and 0 <= count <= _LARGEST_DIMENSION for count in value)
    )
