"""Kineto events as columns: launches, API calls, the shapes that only calls record, and annotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.profile.names import NameTable

if TYPE_CHECKING:
    from sampling.readers.kineto.events import Arguments, Event

_LARGEST_MICROSECONDS = 9e15
_LARGEST_DIMENSION = (1 << 32) - 1
_LABEL_RANGE = 1 << 31
_LAST_DIGITS = re.compile(r"(\d+)\D*\Z")


class LaunchRows(NamedTuple):
    """Kernel launches in file order: (n,) each; ``grid`` and ``block`` are codes of their dimensions."""

    name: NDArray[np.int32]
    start_ns: IntArray
    duration_ns: IntArray
    device: NDArray[np.int32]
    stream: NDArray[np.int32]
    correlation: IntArray
    grid: NDArray[np.int32]
    block: NDArray[np.int32]


class CallRows(NamedTuple):
    """API calls: the number that ties a call to what it launched, and its start."""

    correlation: IntArray
    start_ns: IntArray


class ShapeRows(NamedTuple):
    """What API calls record of the launch itself (AMD): codes of grid and block.

    ``in_work_items``: whether the call counts its grid in work-items instead of blocks.
    """

    correlation: IntArray
    grid: NDArray[np.int32]
    block: NDArray[np.int32]
    in_work_items: BoolArray


class AnnotationRows(NamedTuple):
    """Ranges the program named: the name by its code, and the time it was open."""

    text: IntArray
    start_ns: IntArray
    end_ns: IntArray


class NameCodes(dict[str, int]):
    """The code of every name seen, interned when it is first asked for."""

    def __init__(self, names: NameTable) -> None:
        self._names = names

    def __missing__(self, name: str) -> int:
        code = self[name] = int(self._names.intern([name])[0])
        return code


class DimensionCodes(dict[object, int]):
    """The code of every grid or block seen, as the JSON has it; 0 for what is not three counts."""

    def __init__(self) -> None:
        self._distinct: list[tuple[int, int, int]] = [(0, 0, 0)]

    def __missing__(self, value: object) -> int:
        code = 0
        if _is_three_counts(value):
            code = len(self._distinct)
            self._distinct.append(value)
        self[value] = code
        return code

    def of(self, arguments: Sequence[Arguments], field: str) -> NDArray[np.int32]:
        """Return (n,) the codes of the field."""
        values = list(map(attrgetter(field), arguments))
        try:
            return np.fromiter(map(self.__getitem__, values), dtype=np.int32, count=len(values))
        except TypeError:  # something that has no hash, so it is no triple of counts either
            hashable = (value if _is_three_counts(value) else None for value in values)
            return np.fromiter(map(self.__getitem__, hashable), dtype=np.int32, count=len(values))

    def decoded(self, codes: NDArray[np.int32]) -> IntArray:
        """Return (3, n) x, y and z, zeros where unknown."""
        return np.array(self._distinct, dtype=np.int64).T[:, codes]


_Rows = TypeVar("_Rows", LaunchRows, CallRows, ShapeRows, AnnotationRows)


def joined(parts: Sequence[_Rows]) -> _Rows:
    """Return the rows of all parts (at least one) as one."""
    return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


def launch_rows(
    events: Sequence[Event],
    arguments: Sequence[Arguments],
    names: NameCodes,
    dimensions: DimensionCodes,
    path: str,
    number_in_file: Callable[[int], int],
) -> LaunchRows:
    """Return the columns of kernel events.

    Parameters
    ----------
    arguments : (n,) the events' arguments, empty where an event has none.
    number_in_file : gives the 1-based number of an event of the file from its place in ``events``.

    Raises
    ------
    ProfileError : a kernel has no name, start or duration, or a negative duration.
    """
    name_texts = [event.name or "" for event in events]
    start_us = _numbers(events, "ts")
    duration_us = _numbers(events, "dur")
    checks = (
        ("name", np.fromiter(map(bool, name_texts), dtype=np.bool_, count=len(events)), "is missing"),
        ("ts", np.abs(start_us) < _LARGEST_MICROSECONDS, "is not a time in microseconds"),
        ("dur", np.abs(duration_us) < _LARGEST_MICROSECONDS, "is not a time in microseconds"),
        ("dur", duration_us >= 0, "is negative"),
    )
    for column, is_good, complaint in checks:
        if not is_good.all():
            raise ProfileError(
                f"a kernel event whose {column!r} {complaint}",
                path=path,
                row=number_in_file(int(np.argmin(is_good))),
                column=column,
                remedy="record the trace again",
            )
    return LaunchRows(
        name=np.fromiter(map(names.__getitem__, name_texts), dtype=np.int32, count=len(events)),
        start_ns=_nanoseconds(start_us),
        duration_ns=_nanoseconds(duration_us),
        device=_labels(arguments, "device", events, "pid"),
        stream=_labels(arguments, "stream", events, "tid"),
        correlation=_correlations(arguments),
        grid=dimensions.of(arguments, "grid"),
        block=dimensions.of(arguments, "block"),
    )


def call_rows(events: Sequence[Event], arguments: Sequence[Arguments]) -> CallRows:
    """Return the columns of the API calls that carry a correlation number and a time."""
    start_us = _numbers(events, "ts")
    correlation = _correlations(arguments)
    usable = (correlation >= 0) & (np.abs(start_us) < _LARGEST_MICROSECONDS)
    return CallRows(correlation[usable], _nanoseconds(start_us[usable]))


def shape_rows(names: Sequence[str], arguments: Sequence[Arguments], dimensions: DimensionCodes) -> ShapeRows:
    """Return grid and block of the API calls that record them.

    Notes
    -----
    hipExtModuleLaunchKernel and its older name hipHccModuleLaunchKernel take the global size in work-items,
    every other call takes blocks; the profiler records what the call was given.
    """
    in_work_items = (name.startswith(("hipExtModule", "hipHccModule")) for name in names)
    return ShapeRows(
        correlation=_correlations(arguments),
        grid=dimensions.of(arguments, "grid"),
        block=dimensions.of(arguments, "block"),
        in_work_items=np.fromiter(in_work_items, dtype=np.bool_, count=len(names)),
    )


def annotation_rows(events: Sequence[Event], texts: dict[str, int]) -> AnnotationRows:
    """Return the columns of the annotations that have a name and a time; new names are added to ``texts``."""
    named = [event for event in events if event.name]
    start_us = _numbers(named, "ts")
    duration_us = _numbers(named, "dur")
    usable = (np.abs(start_us) < _LARGEST_MICROSECONDS) & (np.abs(duration_us) < _LARGEST_MICROSECONDS)
    start_ns = _nanoseconds(start_us[usable])
    codes = (texts.setdefault(event.name or "", len(texts)) for event in named)
    return AnnotationRows(
        text=np.fromiter(codes, dtype=np.int64, count=len(named))[usable],
        start_ns=start_ns,
        end_ns=start_ns + _nanoseconds(duration_us[usable]),
    )


def grids_and_blocks(
    launches: LaunchRows, shapes: ShapeRows, dimensions: DimensionCodes
) -> tuple[IntArray, IntArray]:
    """Return (3, n) grids in blocks and (3, n) blocks, from the launch or else from its call, else zeros."""
    grid = dimensions.decoded(launches.grid)
    block = dimensions.decoded(launches.block)
    place = places_of(launches.correlation, shapes.correlation)
    rows = np.flatnonzero(place >= 0)
    if len(rows) == 0:
        return grid, block
    call = place[rows]
    unknown = launches.grid[rows] == 0
    call_grid = np.where(unknown, dimensions.decoded(shapes.grid[call]), grid[:, rows])
    call_block = np.where(unknown, dimensions.decoded(shapes.block[call]), block[:, rows])
    in_blocks = -(-call_grid // np.maximum(call_block, 1))
    grid[:, rows] = np.where(shapes.in_work_items[call], in_blocks, call_grid)
    block[:, rows] = call_block
    return grid, block


def places_of(wanted: IntArray, known: IntArray) -> IntArray:
    """Return where each wanted number >= 0 first occurs among the known, -1 where it does not."""
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    position = np.searchsorted(known, wanted, sorter=order)
    place = order[np.minimum(position, len(known) - 1)]
    return np.where((known[place] == wanted) & (wanted >= 0), place, -1)


def _numbers(owners: Sequence[Event] | Sequence[Arguments], field: str) -> FloatArray:
    """Return (n,) the field as a number, whether written as integer, fraction or text; else NaN.

    Whole microseconds are exact in float64 for 285 years.
    """
    value_of = attrgetter(field)
    try:
        return np.fromiter(map(value_of, owners), dtype=np.float64, count=len(owners))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(
            (_number(value_of(owner)) for owner in owners), dtype=np.float64, count=len(owners)
        )


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _nanoseconds(microseconds: FloatArray) -> IntArray:
    """Return whole nanoseconds; the whole microseconds are scaled as integers, so a date costs no digits."""
    whole = np.floor(microseconds)
    fraction = np.rint((microseconds - whole) * 1000.0)
    return whole.astype(np.int64) * 1000 + fraction.astype(np.int64)


def _labels(
    arguments: Sequence[Arguments], field: str, events: Sequence[Event], otherwise: str
) -> NDArray[np.int32]:
    """Return device or stream numbers: the argument, else the digits that ``otherwise`` ends with, else 0."""
    values = _numbers(arguments, field)
    fallback = attrgetter(otherwise)
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        digits = _LAST_DIGITS.search(str(fallback(events[row])))
        values[row] = int(digits[1]) if digits else 0
    return np.fmod(values, _LABEL_RANGE).astype(np.int32)


def _correlations(arguments: Sequence[Arguments]) -> IntArray:
    """Return correlation numbers, -1 where there is none."""
    values = _numbers(arguments, "correlation")
    return np.where(np.abs(values) < _LARGEST_MICROSECONDS, values, -1).astype(np.int64)


def _is_three_counts(value: object) -> TypeGuard[tuple[int, int, int]]:
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and all(isinstance(count, int) and 0 <= count <= _LARGEST_DIMENSION for count in value)
    )
