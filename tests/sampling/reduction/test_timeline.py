"""When launches run: devices held against counting every nanosecond, groups against single launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile import launch_table as launch_table_module
from sampling.profile.profile import Profile
from sampling.profile.times import NO_START
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, selected_parts
from sampling.reduction.timeline import (
    GroupLaunches,
    IdleGaps,
    device_times,
    find_group_launches,
    idle_gaps,
    timeline_bins,
)

Build = Callable[..., Profile]

# Name, device, duration, start of a launch.
LAUNCHES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 50), st.integers(-9, 900)),
    min_size=1,
    max_size=40,
)


@pytest.fixture(scope="module", autouse=True)
def _small_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table_module, "PART_LAUNCHES", 7)
        yield


@given(launches=LAUNCHES, first=st.integers(0, 5), group=st.integers(0, 3))
def test_launches_of_a_group_are_those_of_its_name_and_device(
    launches: list[tuple[str, int, int, int]], first: int, group: int, launch_table: Build
) -> None:
    """Ids are those of the whole profile, whatever the region; time starts with its first launch."""
    # Ids run through the devices, launches of a device in the order given.
    launches = sorted(launches, key=lambda each: each[1])
    names, device, duration, start = map(list, zip(*launches, strict=True))
    order = list(range(len(launches)))
    profile = launch_table(names, duration, device=device, start_ns=start, order=order)
    first = min(first, len(launches) - 1)
    counts = count_durations(profile, Grouping(GroupBy.NAME), Region(launches=(first, None)))
    group %= len(counts.groups)
    wanted = counts.groups[group]
    brute = [
        (launch_id, ns, begin - min(start))
        for launch_id, (name, at, ns, begin) in enumerate(launches)
        if launch_id >= first and (name, at) == (wanted.name, wanted.device)
    ]
    found = find_group_launches(profile, counts, group)
    assert found.start_ns is not None
    columns = (found.id.tolist(), found.duration_ns.tolist(), found.start_ns.tolist())
    assert list(zip(*columns, strict=True)) == brute


OF_GROUP = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 10**12)), min_size=1, max_size=50)


def group_launches(launches: list[tuple[int, int]]) -> GroupLaunches:
    """Every third id of the profile."""
    duration, start = (np.array(column, dtype=np.int64) for column in zip(*launches, strict=True))
    return GroupLaunches(np.arange(len(launches)) * 3, duration, start)


def check_bin(bins: object, place: int, inside: list[tuple[int, int]], drawn: set[int]) -> None:
    """Hold a bin against the launches in it, (id, duration)."""
    of = {name: getattr(bins, name)[place] for name in ("first", "last", "launches", "min_ns", "max_ns")}
    ids = [launch_id for launch_id, _ in inside]
    durations = [ns for _, ns in inside]
    assert of["launches"] == len(inside)
    assert (of["first"], of["last"]) == ((min(ids), max(ids)) if ids else (-1, -1))
    assert (of["min_ns"], of["max_ns"]) == ((min(durations), max(durations)) if ids else (0, 0))
    mean = float(bins.mean_ns[place])  # type: ignore[attr-defined]
    assert mean == pytest.approx(sum(durations) / len(ids)) if ids else math.isnan(mean)
    assert bins.drawn[place] == len(drawn & set(ids))  # type: ignore[attr-defined]


@given(launches=OF_GROUP, bins=st.integers(1, 60), drawn=st.sets(st.integers(0, 200)))
def test_bins_of_launches_share_them_out_evenly_and_in_order(
    launches: list[tuple[int, int]], bins: int, drawn: set[int]
) -> None:
    found = timeline_bins(group_launches(launches), bins, "launch", np.array(sorted(drawn), dtype=np.int64))
    assert len(found.launches) == min(bins, len(launches))
    assert found.launches.sum() == len(launches)
    assert found.launches.max() - found.launches.min() <= 1
    assert found.start_ns is not None
    place = 0
    for index, number in enumerate(found.launches.tolist()):
        inside = [(3 * row, launches[row][0]) for row in range(place, place + number)]
        check_bin(found, index, inside, drawn)
        assert found.start_ns[index] == launches[place][1]
        place += number


@given(launches=OF_GROUP, bins=st.integers(1, 60), drawn=st.sets(st.integers(0, 200)))
def test_bins_of_time_are_equally_long_and_may_be_empty(
    launches: list[tuple[int, int]], bins: int, drawn: set[int]
) -> None:
    found = timeline_bins(group_launches(launches), bins, "time", np.array(sorted(drawn), dtype=np.int64))
    starts = [start for _, start in launches]
    assert found.start_ns is not None
    edges = [*found.start_ns.tolist(), max(starts) + 1]
    assert (len(edges), edges[0]) == (bins + 1, min(starts))
    assert np.ptp(np.diff(edges)) <= 1
    for index in range(bins):
        inside = [
            (3 * row, ns)
            for row, (ns, start) in enumerate(launches)
            if edges[index] <= start < edges[index + 1]
        ]
        check_bin(found, index, inside, drawn)


STARTS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 12)), min_size=1, max_size=40
)


@given(rows=STARTS)
def test_busy_time_is_the_union_of_the_launches(
    rows: list[tuple[int, int, int]], launch_table: Build
) -> None:
    """Held against one slot a nanosecond: launches in order of their starts, cut into parts."""
    device, start, duration = (list(column) for column in zip(*rows, strict=True))
    profile = launch_table(["k"] * len(rows), duration, device=device, start_ns=start, order=start)
    found = device_times(profile, selected_parts(profile, Region()))
    devices = sorted({device for device, _, _ in rows})
    assert [time.sequence.device for time in found] == devices
    for time in found:
        here = sorted((begin, lasts) for at, begin, lasts in rows if at == time.sequence.device)
        busy = {at for begin, lasts in here for at in range(begin, begin + lasts)}
        assert time.kernel_ns == sum(lasts for _, lasts in here)
        assert time.busy_ns == len(busy)
        assert time.first_start_ns == here[0][0]
        assert time.last_end_ns == max(map(sum, here))
        expected = 1 - len(busy) / time.kernel_ns if time.kernel_ns else 0
        assert time.overlap_share == pytest.approx(expected)


# Starts of a real clock; None: it was not recorded.
TIMED = st.lists(
    st.tuples(
        *(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 20)),
        st.none() | st.integers(10**15, 10**15 + 99),
    ),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(row[3] for row in rows))


@given(launches=TIMED, span=st.sampled_from([3, 1000]))
def test_launches_without_a_start_have_no_part_in_any_time(
    launches: list[tuple[str, int, int, int | None]], span: int, launch_table: Build
) -> None:
    """All that goes by time is that of the profile without them; their durations count."""
    # Starts ascend, as busy time over several parts is exact then.
    starts = iter(sorted(row[3] for row in launches if row[3] is not None))
    launches = sorted(launches, key=lambda row: row[1])
    launches = [(*row[:3], None if row[3] is None else next(starts)) for row in launches]
    timed = [row for row in launches if row[3] is not None]

    def recorded(rows: list[tuple[str, int, int, int | None]]) -> Profile:
        names, device, duration, start = map(list, zip(*rows, strict=True))
        start_ns = [each or NO_START for each in start]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(launch_table_module, "PART_LAUNCHES", span)
            return launch_table(names, duration, device=device, start_ns=start_ns, order=range(len(rows)))

    whole, known = recorded(launches), recorded(timed)
    assert whole.facts.without_start == len(launches) - len(timed)
    window = Region(time_ns=(0, 50))
    for region in (Region(), window):
        parts = [selected_parts(each, region) for each in (whole, known)]
        times = [device_times(each, part) for each, part in zip((whole, known), parts, strict=True)]
        busy = [[(time.sequence.device, time.busy_ns, time.span_ns) for time in of] for of in times]
        assert busy[0] == busy[1]
    assert sum(part.launches for part in selected_parts(whole, window)) == sum(
        part.launches for part in selected_parts(known, window)
    )
    counts = count_durations(whole, Grouping(GroupBy.NAME))
    assert counts.total_duration_ns == sum(row[2] for row in launches)
    origin_ns = min(row[3] for row in timed if row[3] is not None)
    for group, of in enumerate(counts.groups):
        own = [(row[2], row[3]) for row in launches if row[:2] == (of.name, of.device)]
        found = find_group_launches(whole, counts, group)
        assert found.duration_ns.tolist() == [duration for duration, _ in own]
        assert (found.start_ns is None) == (not any(start for _, start in own))
        if found.start_ns is not None:
            wanted = [NO_START if start is None else start - origin_ns for _, start in own]
            assert found.start_ns.tolist() == wanted
        gaps = idle_gaps(whole, counts, group)
        assert (gaps is None) == all(row[3] is None for row in launches if row[1] == of.device)


def test_long_starts_do_not_overflow(launch_table: Build) -> None:
    epoch = 1_763_000_000_000_000_000
    profile = launch_table(["k"] * 12, [1000] * 12, start_ns=np.arange(12) * 1000 + epoch)
    (time,) = device_times(profile, selected_parts(profile, Region()))
    assert (time.busy_ns, time.kernel_ns) == (12_000, 12_000)


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_the_largest_gaps_and_the_launches_on_both_sides(
    rows: int, launch_table: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: launch 2 ends last before the pause of 50, launch 0 still runs when launch 1 has ended."""
    start, length = [0, 10, 20, 100, 130, 175], [25, 5, 30, 10, 5, 10]
    monkeypatch.setattr(launch_table_module, "PART_LAUNCHES", rows)
    profile = launch_table(["k"] * 6, length, start_ns=start)
    (time,) = device_times(profile, selected_parts(profile, Region()))
    assert time.gaps == ((50, 2, 3), (40, 4, 5), (20, 3, 4))
    assert time.busy_share == pytest.approx(75 / 185)


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
