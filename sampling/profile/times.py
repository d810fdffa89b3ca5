"""Times that a recording has wrong: launches that outlast what ran after them, and launches without a start.

Profilers write an end that is seconds late, or no time at all, beside launches that are whole. What is found
here is mended where launches are put in order, so that every total, span and window goes by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray

#: Stands for a start that was not recorded.
NO_START = int(np.iinfo(np.int64).min)

# CUPTI writes 0 for a time that it could not collect, others -1. A clock may truly begin so, but then other
# launches follow within so many times as long as they all take; more, if the first one takes time.
_FAR, _FAR_FOR_A_DURATION = 10, 1000
_LEAST_SPAN_NS = 1_000_000
# Of so few numbers of streams each is looked for: that is faster than sorting.
_FEW_STREAMS = 16


class Starts(NamedTuple):
    """What the starts of a recording are, where some were not recorded."""

    #: (n,) nanoseconds, `NO_START` where there is none; None where no launch has one.
    start_ns: AnyIntArray | None
    #: (n,) as recorded; 0 where an end without a start made it.
    duration_ns: AnyIntArray
    #: (n,) by which launches are put in order: starts, and what ordered them before.
    keys: tuple[AnyIntArray | None, AnyIntArray | None]
    #: How many have no start.
    missing: int


def find_starts(start_ns: AnyIntArray, duration_ns: AnyIntArray, order: AnyIntArray | None) -> Starts:
    """Return the starts of the launches of one clock (n,), in file order, n > 0.

    What has no start stands behind the launch before it in the file, unless ``order`` has a place for it.
    """
    missing = _without_start(start_ns, duration_ns)
    if missing is None:
        return Starts(start_ns, duration_ns, (order, start_ns), 0)
    number = int(np.count_nonzero(missing))
    if number == len(missing):
        return Starts(None, duration_ns, (None if order is start_ns else order, None), number)
    rows = np.flatnonzero(~missing)
    # The last known one before each, for the first ones the first; then what it has.
    before = rows[np.maximum(np.searchsorted(rows, np.arange(len(missing)), side="right") - 1, 0)]
    if order is not None:
        order = np.where(missing & (order == start_ns), order[before], order)
    is_end = missing & (start_ns != NO_START) & (duration_ns >= start_ns[rows].min())
    duration_ns = np.where(is_end, 0, duration_ns)
    marked = np.where(missing, NO_START, start_ns)
    return Starts(marked, duration_ns, (order, start_ns[before]), number)


def _without_start(start_ns: AnyIntArray, duration_ns: AnyIntArray) -> BoolArray | None:
    """Return (n,) which launches have no start: `NO_START`, or 0 or less, far before all others; or None."""
    if start_ns.min() > 0:
        return None
    missing, is_recorded = start_ns == NO_START, start_ns > 0
    is_low = ~(missing | is_recorded)
    if is_low.any() and is_recorded.any():
        first_ns = int(start_ns[is_recorded].min())
        end_ns = int((start_ns[is_recorded] + duration_ns[is_recorded]).max())
        missing[is_low] = low_is_no_start(duration_ns[is_low], first_ns, end_ns)
    return missing if missing.any() else None


def low_is_no_start(duration_ns: AnyIntArray, first_ns: int, end_ns: int) -> BoolArray:
    """Return (k,) which launches that start at 0 or before have no start, where the others run in a time."""
    span_ns = max(end_ns - first_ns, _LEAST_SPAN_NS)
    if first_ns > _FAR_FOR_A_DURATION * span_ns:
        return np.ones(len(duration_ns), dtype=np.bool_)
    return np.asarray((duration_ns == 0) & (first_ns > _FAR * span_ns))


def overlong_launches(
    start_ns: AnyIntArray,
    duration_ns: AnyIntArray,
    stream: AnyIntArray,
    *,
    step_ns: AnyIntArray | None = None,
    apart: BoolArray | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the launches, ascending, that contain two or more whole ones of their stream, and their limits.

    A stream runs one launch after the other, so these did not last as long as was recorded: their limit (k,)
    is the time from their start to the next later one of their stream, nanoseconds. One launch alone may lie
    in another where a program lets launches overlap on purpose. A launch of 0 ns counts as one of 1 ns, and
    one that starts together with another does not lie in it.

    All are (n,) of one process and device; ``step_ns`` says how coarsely each start was written, None: as the
    clock had it. ``apart`` are launches that count for nothing. It takes O(n), and sorts streams whose
    launches do not start one after another.
    """
    cut: list[tuple[IntArray, IntArray]] = []
    for rows in _stream_rows(stream, apart):
        start = start_ns[rows]
        end = start + duration_ns[rows]
        order = rows
        if np.any(start[1:] < start[:-1]):
            by_start = np.argsort(start, kind="stable")
            start, end = start[by_start], end[by_start]
            order = by_start if isinstance(rows, slice) else rows[by_start]
        # Of two launches in it the second one starts before it ends.
        places = np.flatnonzero(start[2:] < end[:-2])
        if not len(places):
            continue
        least_end = np.maximum(end, start + 1)
        if step_ns is not None:
            least_end += step_ns[order]
        later = np.searchsorted(start, start[places], side="right")
        is_overlong = _second_least(least_end)[later] <= end[places]
        places, later = places[is_overlong], later[is_overlong]
        limit_ns = start[later] - start[places]
        cut.append((places if isinstance(order, slice) else order[places], limit_ns))
    if not cut:
        none = np.zeros(0, dtype=np.int64)
        return none, none
    launches, limits_ns = map(np.concatenate, zip(*cut, strict=True))
    ascending = np.argsort(launches)
    return launches[ascending], limits_ns[ascending]


def _stream_rows(stream: AnyIntArray, apart: BoolArray | None) -> Iterator[slice | IntArray]:
    """Yield the rows of each stream, ascending, without those apart."""
    if not len(stream):
        return
    lowest, highest = int(stream.min()), int(stream.max())
    if apart is None and lowest == highest:
        yield slice(None)
    elif highest - lowest < _FEW_STREAMS:
        for number in range(lowest, highest + 1):
            of_stream = stream == number
            yield np.flatnonzero(of_stream if apart is None else of_stream & ~apart)
    else:
        # Codes of 16 bits are sorted by counting.
        fits = highest - lowest < 1 << 16
        code = (stream - stream.dtype.type(lowest)).astype(np.uint16) if fits else stream
        rows = np.argsort(code, kind="stable")
        rows = rows if apart is None else rows[~apart[rows]]
        code = code[rows]
        yield from np.split(rows, np.flatnonzero(code[1:] != code[:-1]) + 1)


def _second_least(values: IntArray) -> IntArray:
    """Return (n + 1,) the second least of (n,) values from each place on; the largest number where one is."""
    latest = np.int64(np.iinfo(np.int64).max)
    backwards = np.concatenate([[latest], values[::-1]])
    earliest = np.minimum.accumulate(backwards)
    # The larger one of each value and the least of those after it is the second least at most.
    second = np.concatenate([[latest], np.maximum(earliest[:-1], backwards[1:])])
    return np.asarray(np.minimum.accumulate(second)[::-1])


class OverlongScan:
    """`overlong_launches` of columns that come piece by piece.

    Of earlier pieces it holds what may contain launches to come: few, where launches do not overlap.
    What starts before a launch of its stream in an earlier piece is not seen to contain it.
    """

    def __init__(self) -> None:
        # Row, start, duration, stream, and whether it was returned: it still limits those that began before.
        self._held: tuple[AnyIntArray, ...] = (np.zeros(0, dtype=np.int64),) * 5

    def add(
        self, row: IntArray, start_ns: AnyIntArray, duration_ns: AnyIntArray, stream: AnyIntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the rows, durations and limits of launches that the next piece (n,) shows to be overlong."""
        piece = row, start_ns, duration_ns, stream, np.zeros(len(row), dtype=np.int64)
        columns = tuple(np.concatenate(both) for both in zip(self._held, piece, strict=True))
        row, start_ns, duration_ns, stream, returned = columns
        places, limits_ns = overlong_launches(start_ns, duration_ns, stream)
        is_new = returned[places] == 0
        places, limits_ns = places[is_new], limits_ns[is_new]
        result = row[places], duration_ns[places].astype(np.int64), limits_ns
        returned[places] = 1
        streams, code = np.unique(stream, return_inverse=True)
        last_ns, first_open_ns = np.full((2, len(streams)), NO_START)
        np.maximum.at(last_ns, code, start_ns)
        is_open = (start_ns + duration_ns > last_ns[code]) & (returned == 0)
        first_open_ns[:] = np.iinfo(np.int64).max
        np.minimum.at(first_open_ns, code[is_open], start_ns[is_open])
        may_contain = start_ns >= first_open_ns[code]
        self._held = tuple(column[may_contain] for column in columns)
        return result
