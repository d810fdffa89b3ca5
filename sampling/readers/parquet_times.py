"""What is wrong with the times in Parquet of others, found once, piece by piece, before they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Column, Part
from sampling.profile.times import NO_START, OverlongScan, low_is_no_start

_NOTHING = np.zeros(0, dtype=np.int64)
#: Rows (k,), ascending, and what their values are in place of those in the file.
Mended = tuple[IntArray, IntArray]


class LookedAt(NamedTuple):
    """What was found."""

    mended: Mapping[Column, Mended]
    #: How many launches have no start.
    without_start: int
    #: The first overlong launch, and how much each is longer than it can be.
    first_overlong: int
    beyond_ns: IntArray


def look_at_times(parts: Sequence[Part], *, has_stream: bool) -> LookedAt:
    """Read the times of all launches; ids are rows.

    Overlong launches are found as by `OverlongScan`.
    """
    columns: tuple[Column, ...] = ("start_ns", "duration_ns", *(("stream",) if has_stream else ()))
    low, missing = [_NOTHING], 0
    overlong: list[tuple[IntArray, IntArray, IntArray]] = [(_NOTHING,) * 3]
    low_ns: list[AnyIntArray] = [_NOTHING]
    first_ns, end_ns = np.iinfo(np.int64).max, NO_START
    turn, sequence = OverlongScan(), 0
    for part, table in zip(parts, ordered_map(lambda part: part.load(columns), parts), strict=True):
        if part.sequence != sequence:
            turn, sequence = OverlongScan(), part.sequence
        start_ns, duration_ns = table["start_ns"], table["duration_ns"]
        rows = np.arange(part.first_id, part.stop_id)
        is_timed = start_ns > NO_START
        missing += len(rows) - int(np.count_nonzero(is_timed))
        if has_stream:
            timed = slice(None) if is_timed.all() else is_timed
            overlong.append(turn.add(rows[timed], *(table[column][timed] for column in columns)))
        is_low = is_timed & (start_ns <= 0)
        low.append(rows[is_low])
        low_ns.append(duration_ns[is_low])
        is_timed &= ~is_low
        first_ns = min(first_ns, int(start_ns.min(initial=first_ns, where=is_timed)))
        end_ns = max(end_ns, int((start_ns + duration_ns).max(initial=end_ns, where=is_timed)))
    lows_ns = np.concatenate(low)
    # All of them are as the clock had them where it never came beyond 0.
    is_missing = low_is_no_start(np.concatenate(low_ns), first_ns, end_ns) & (end_ns > NO_START)
    lows_ns = lows_ns[is_missing]
    rows, recorded_ns, limits_ns = map(np.concatenate, zip(*overlong, strict=True))
    # What begins so early for want of a start contains all others.
    is_real = ~np.isin(rows, lows_ns)
    order = np.argsort(rows[is_real])
    rows, recorded_ns, limits_ns = (column[is_real][order] for column in (rows, recorded_ns, limits_ns))
    return LookedAt(
        {"start_ns": (lows_ns, np.full(len(lows_ns), NO_START)), "duration_ns": (rows, limits_ns)},
        missing + len(lows_ns),
        int(rows[0]) if len(rows) else -1,
        recorded_ns - limits_ns,
    )
