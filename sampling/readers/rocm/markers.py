"""The ranges that a program named while rocprofv3 recorded it (roctx), as runs of launches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.arrays import AnyIntArray
from sampling.profile.named_ranges import RangeEvents, runs_of
from sampling.profile.profile import LaunchSequence
from sampling.profile.range_runs import NO_RANGES, RangeSource

#: Process, name, start and end of a range that the program named (roctx).
Marker = tuple[int, str, int, int]


def ranges_of(
    markers: Sequence[Marker], sequences: tuple[LaunchSequence, ...], api_start_ns: AnyIntArray | None
) -> RangeSource:
    """Return the markers as the launches that were called while they were open."""
    if not markers:
        return NO_RANGES
    codes: dict[str, int] = {}
    process, text, start_ns, end_ns = np.array(
        [(process, codes.setdefault(text, len(codes)), start, end) for process, text, start, end in markers],
        dtype=np.int64,
    ).T
    return runs_of(RangeEvents(tuple(codes), text, process, start_ns, end_ns), sequences, api_start_ns)
