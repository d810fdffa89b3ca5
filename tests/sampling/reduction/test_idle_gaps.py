"""When the device of a group runs nothing: against time looked at nanosecond by nanosecond."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile import launch_table as launch_table_module
from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.idle_gaps import IdleGaps, idle_gaps

Build = Callable[..., LaunchTable]
LAUNCHES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 20), st.integers(0, 99)),
    min_size=1,
    max_size=12,
).map(lambda rows: sorted(rows, key=lambda row: row[1]))


@given(launches=LAUNCHES, pooled=st.booleans(), span=st.sampled_from([3, 1000]))
def test_gaps_are_where_no_launch_of_the_device_runs(
    launches: list[tuple[str, int, int, int]], pooled: bool, span: int, launch_table: Build
) -> None:
    names, device, duration, start = map(list, zip(*launches, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", span)
        profile = launch_table(names, duration, device=device, start_ns=start, order=list(range(len(names))))
    counts = count_durations(profile, Grouping(GroupBy.NAME, pooled))
    for group, wanted in enumerate(counts.groups):
        found = idle_gaps(profile, counts, group)
        assert found is not None
        own = [row for row in launches if wanted.device in {None, row[1]}]
        busy = {ns for _, _, lasts, begin in own for ns in range(begin, begin + lasts)}
        first, end = min(row[3] for row in own), max(row[2] + row[3] for row in own)
        inside = [range(low + min(start), high + min(start)) for low, high in pairs(found)]
        assert [ns for gap in inside for ns in gap] == [ns for ns in range(first, end) if ns not in busy]
        # One that takes no time ends a gap all the same, and the next one begins there.
        assert not {row[3] for row in own} & {ns for gap in inside for ns in gap[1:]}


def pairs(gaps: IdleGaps) -> list[tuple[int, int]]:
    """Where each gap begins and ends."""
    return list(zip(gaps.begin_ns.tolist(), gaps.end_ns.tolist(), strict=True))


def test_what_is_within_two_times_is_cut_off_there_and_short_gaps_are_left_out() -> None:
    gaps = IdleGaps(np.array([10, 50, 80]), np.array([20, 55, 100]))
    found = gaps.within(15, 90, least_ns=6)
    assert (found.begin_ns.tolist(), found.end_ns.tolist(), found.total_ns) == ([80], [90], 10)
    assert len(gaps.within(15, 90)) == 3


def test_without_starts_nothing_is_known_of_gaps(launch_table: Build) -> None:
    profile = launch_table(["a"], [5])
    assert idle_gaps(profile, count_durations(profile, Grouping(GroupBy.NAME)), 0) is None
