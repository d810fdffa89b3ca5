"""When a device is busy and when it is idle, held against counting every nanosecond."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile import launch_table as launch_table_module
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.device_time import IdleGaps, device_times, idle_gaps
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, selected_parts

Build = Callable[..., Profile]

LAUNCHES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 12)), min_size=1, max_size=40
)


@pytest.fixture(scope="module", autouse=True)
def _small_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 5)
        yield


def check_times(profile: Profile, rows: list[tuple[int, int, int]], region: Region) -> None:
    """Hold the times against one slot a nanosecond; rows are (device, start, duration)."""
    found = device_times(profile, selected_parts(profile, region))
    devices = sorted({device for device, _, _ in rows})
    assert [time.sequence.device for time in found] == devices
    for time in found:
        here = sorted((start, duration) for device, start, duration in rows if device == time.sequence.device)
        busy = {at for start, duration in here for at in range(start, start + duration)}
        assert time.kernel_ns == sum(duration for _, duration in here)
        assert time.busy_ns == len(busy)
        assert time.first_start_ns == here[0][0]
        assert time.last_end_ns == max(start + duration for start, duration in here)
        expected = 1 - len(busy) / time.kernel_ns if time.kernel_ns else 0
        assert time.overlap_share == pytest.approx(expected)


@given(rows=LAUNCHES)
def test_busy_time_is_the_union_of_the_launches(
    rows: list[tuple[int, int, int]], launch_table: Build
) -> None:
    """Launches in order of their starts, cut into spans of five."""
    device, start, duration = (list(column) for column in zip(*rows, strict=True))
    profile = launch_table(["k"] * len(rows), duration, device=device, start_ns=start, order=start)
    check_times(profile, rows, Region())


def test_kernels_of_two_streams_hide_each_other(launch_table: Build) -> None:
    starts = [0, 0, 100, 100, 200, 200]
    profile = launch_table(["k"] * 6, [50] * 6, start_ns=starts, stream=[1, 2] * 3)
    (time,) = device_times(profile, selected_parts(profile, Region()))
    assert (time.kernel_ns, time.busy_ns) == (300, 150)
    assert time.overlap_share == 0.5


def test_long_starts_do_not_overflow(launch_table: Build) -> None:
    epoch = 1_763_000_000_000_000_000
    profile = launch_table(["k"] * 12, [1000] * 12, start_ns=np.arange(12) * 1000 + epoch)
    (time,) = device_times(profile, selected_parts(profile, Region()))
    assert (time.busy_ns, time.kernel_ns) == (12_000, 12_000)


def test_without_starts_nothing_is_said(launch_table: Build) -> None:
    profile = launch_table(["k"], [5])
    assert device_times(profile, selected_parts(profile, Region())) == ()


NAMED_LAUNCHES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 20), st.integers(0, 99)),
    min_size=1,
    max_size=12,
).map(lambda rows: sorted(rows, key=lambda row: row[1]))


@given(launches=NAMED_LAUNCHES, pooled=st.booleans(), span=st.sampled_from([3, 1000]))
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
