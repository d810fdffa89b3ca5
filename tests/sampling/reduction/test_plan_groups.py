"""Pools of small kernel groups: every launch once, by brute force over single launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.plan_groups import PlanGroups, is_pool_key, pool_key, pooled

Build = Callable[..., Profile]

# Name, process, device and duration of a launch.
LAUNCHES = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 1), st.integers(0, 1), st.integers(0, 9)),
    min_size=1,
    max_size=60,
)


def table_of(launch_table: Build, launches: list[tuple[str, int, int, int]]) -> Profile:
    names, process, device, durations = map(list, zip(*launches, strict=True))
    return launch_table(names, durations, process=process, device=device)


def of_launches(
    counts: DurationCounts, groups: PlanGroups, launches: list[tuple[str, int, int, int]], one_device: bool
) -> list[int]:
    """Return the plan's group of each launch, told by its name, process and device alone."""
    key = {
        (group.name, group.process, group.device): int(groups.group_of[index])
        for index, group in enumerate(counts.groups)
    }
    return [
        key[name, None if one_device else process, None if one_device else device]
        for name, process, device, _ in launches
    ]


@given(launches=LAUNCHES, picked=st.lists(st.booleans(), min_size=20, max_size=20), one_device=st.booleans())
def test_every_launch_is_in_one_group_and_pools_are_of_one_device(
    launches: list[tuple[str, int, int, int]], picked: list[bool], one_device: bool, launch_table: Build
) -> None:
    counts = count_durations(table_of(launch_table, launches), Grouping(GroupBy.NAME, one_device))
    in_pool = np.array(picked[: len(counts.groups)])
    groups = pooled(counts, in_pool)
    place = [(group.process, group.device) for group in counts.groups]
    company = Counter(place[index] for index in np.flatnonzero(in_pool))
    # A kernel group alone in its pool is on its own.
    expected = [bool(in_pool[index]) and company[place[index]] > 1 for index in range(len(place))]
    assert groups.pooled_kernels.tolist() == expected
    of = of_launches(counts, groups, launches, one_device)
    brute = Counter((group, launch[3]) for group, launch in zip(of, launches, strict=True))
    made = groups.counts
    pair_group = np.repeat(np.arange(len(made.groups)), np.diff(made.offsets))
    pairs = zip(pair_group.tolist(), made.duration_ns.tolist(), strict=True)
    assert dict(zip(pairs, made.count.tolist(), strict=True)) == brute
    assert made.launches == counts.launches == len(launches)
    assert made.total_duration_ns == counts.total_duration_ns
    assert groups.kernel_duration_ns.tolist() == counts.group_duration_ns.tolist()
    for index, group in enumerate(made.groups):
        members = np.flatnonzero(groups.group_of == index)
        if groups.is_pool[index]:
            assert len(members) > 1
            assert {place[member] for member in members} == {(group.process, group.device)}
            assert group.key == pool_key(group.process, group.device)
            assert is_pool_key(group.key)
        else:
            assert [counts.groups[member] for member in members] == [group]
            assert not is_pool_key(group.key)
    assert groups.is_pool.tolist() == sorted(groups.is_pool), "own groups by rank come first"
    own = [group for group, is_in in zip(counts.groups, expected, strict=True) if not is_in]
    assert list(made.groups[: len(own)]) == own
    assert len({group.key for group in made.groups}) == len(made.groups)


@pytest.mark.parametrize(("process", "device"), [(None, None), (0, 0), (4242, 1)])
def test_the_key_of_a_pool_is_known_again(process: int | None, device: int | None) -> None:
    assert is_pool_key(pool_key(process, device))
    assert not is_pool_key("(pooled kernels)2")
    assert not is_pool_key("void k<(pooled kernels)>")
