"""The reduction to (group, duration, count), held against counting one launch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile import launch_table
from sampling.profile.names import short_name
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy, duration_counts
from sampling.reduction.duration_counts import (
    DurationCounts,
    count_durations,
    counted_launches,
    counted_parts,
    counts_by_name,
    reduced,
)
from sampling.reduction.grouping import Grouping
from sampling.reduction.plan_groups import pooled
from sampling.reduction.region import Region

# The first two share a short name, the first three what stands before "(".
NAMES = ("void a::f<(int)4>(int)", "void b::f<(int)4>(int)", "void a::f<(int)5>(int)", "ncclKernel_AllReduce")
GROUPINGS = [
    Grouping(by, pool_devices=pool)
    for by in (GroupBy.LAUNCH, GroupBy.NAME, GroupBy.SHORT_NAME, GroupBy.STEM_SCRIPT)
    for pool in (False, True)
]


@dataclass(frozen=True)
class Launch:
    """One launch of a small profile."""

    process: int
    device: int
    name: str
    grid_x: int
    duration_ns: int


def profiles(durations: st.SearchStrategy[int]) -> st.SearchStrategy[list[Launch]]:
    """Launches in id order."""
    launch = st.builds(
        Launch, st.integers(0, 1), st.integers(0, 1), st.sampled_from(NAMES), st.integers(0, 2), durations
    )
    return st.lists(launch, min_size=1, max_size=60).map(
        lambda launches: sorted(launches, key=lambda launch: (launch.process, launch.device))
    )


SHORT = st.integers(0, 6)
# As many bits as fit a packed key of 32 or 64, and more.
MIXED = st.one_of(SHORT, st.sampled_from([2**24, 2**32 - 1, 2**50]), st.integers(2**56, 2**56 + 3))


@pytest.fixture(scope="module", autouse=True)
def _small_pieces() -> Iterator[None]:
    """Cut profiles into parts so small that they are merged again and again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_table, "PART_LAUNCHES", 7)
        patch.setattr(duration_counts, "_MERGED_FROM", 5)
        yield


@pytest.fixture(scope="session")
def built(launch_table: Callable[..., Profile]) -> Callable[[list[Launch]], Profile]:
    """Build a profile of launches given in id order."""

    def build(launches: list[Launch]) -> Profile:
        return launch_table(
            [launch.name for launch in launches],
            [launch.duration_ns for launch in launches],
            grid_x=[launch.grid_x for launch in launches],
            process=[launch.process for launch in launches],
            device=[launch.device for launch in launches],
        )

    return build


def expected_key(launch: Launch, grouping: Grouping) -> str:
    """Return the key of a launch's group, as the specification of keys says."""
    name = {GroupBy.SHORT_NAME: short_name(launch.name), GroupBy.STEM_SCRIPT: launch.name.split("(")[0]}.get(
        grouping.by, launch.name
    )
    if grouping.by is GroupBy.LAUNCH:
        shape = f"{launch.grid_x}x1x1" if launch.grid_x else "?"
        name += f" <<<{shape}, {shape}>>>"
    return name if grouping.pool_devices else f"{name} process {launch.process} device {launch.device}"


def by_group(counts: DurationCounts) -> dict[str, dict[int, int]]:
    """Return key -> duration -> launches, in rank order."""
    result = {}
    for index, group in enumerate(counts.groups):
        rows = slice(counts.offsets[index], counts.offsets[index + 1])
        durations = counts.duration_ns[rows].tolist()
        assert durations == sorted(set(durations))
        result[group.key] = dict(zip(durations, counts.count[rows].tolist(), strict=True))
    return result


def check_reduction(counts: DurationCounts, launches: list[Launch]) -> None:
    """Hold a reduction of these launches against counting them."""
    expected: dict[str, Counter[int]] = {}
    for launch in launches:
        key = expected_key(launch, counts.grouping)
        expected.setdefault(key, Counter())[launch.duration_ns] += 1
    found = by_group(counts)
    assert found == expected
    totals = {key: sum(duration * n for duration, n in group.items()) for key, group in expected.items()}
    assert list(found) == sorted(totals, key=lambda key: (-totals[key], key))
    assert counts.offsets[0] == 0
    assert counts.offsets[-1] == len(counts.count) == len(counts.duration_ns)
    assert counts.launches == len(launches)
    assert counts.total_duration_ns == sum(launch.duration_ns for launch in launches)
    assert counts.group_launches.tolist() == [sum(group.values()) for group in found.values()]
    assert counts.group_duration_ns.tolist() == [totals[key] for key in found]


@pytest.mark.parametrize("grouping", GROUPINGS, ids=lambda grouping: f"{grouping.by}-{grouping.pool_devices}")
@given(launches=profiles(SHORT) | profiles(MIXED))
def test_every_launch_is_counted_in_its_group(
    grouping: Grouping, launches: list[Launch], built: Callable[[list[Launch]], Profile]
) -> None:
    check_reduction(count_durations(built(launches), grouping), launches)


@given(launches=profiles(SHORT), copies=st.integers(0, 3))
def test_those_that_issue_the_same_launches_are_one_where_nobody_says_otherwise(
    launches: list[Launch], copies: int, built: Callable[[list[Launch]], Profile]
) -> None:
    if copies:
        ranks = range(copies)
        launches = [replace(each, process=rank, device=0) for rank in ranks for each in launches]
    of_rank: dict[tuple[int, int], Counter[tuple[str, int]]] = {}
    for each in launches:
        of_rank.setdefault((each.process, each.device), Counter())[each.name, each.grid_x] += 1
    first, *others = of_rank.values()
    alike = bool(others) and all(each == first for each in others) and first.total() >= 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duration_counts, "FEWEST_ALIKE", 3)
        counts = count_durations(built(launches), Grouping(pool_devices=None))
    assert counts.grouping == Grouping(pool_devices=alike)
    check_reduction(counts, launches)
    total_ns = dict.fromkeys(of_rank, 0)
    for each in launches:
        total_ns[each.process, each.device] += each.duration_ns
    assert counts.replica_times_ns == (tuple(total_ns.values()) if alike else ())


@pytest.mark.parametrize("by", [GroupBy.LAUNCH, GroupBy.NAME, GroupBy.SHORT_NAME, GroupBy.STEM_SCRIPT])
@pytest.mark.parametrize("pool", [False, True])
@given(launches=profiles(SHORT) | profiles(MIXED), picked=st.lists(st.booleans(), min_size=50, max_size=50))
def test_how_many_signatures_any_range_of_pairs_has(
    by: GroupBy,
    pool: bool,
    launches: list[Launch],
    picked: list[bool],
    built: Callable[[list[Launch]], Profile],
) -> None:
    """Of kernel groups, and of plan groups where some are pooled: every range, launch by launch."""
    kernels = count_durations(built(launches), Grouping(by, pool_devices=pool))
    groups = pooled(kernels, np.array(picked[: len(kernels.groups)]))
    group_of = {group.key: int(groups.group_of[index]) for index, group in enumerate(kernels.groups)}
    found: dict[tuple[int, int], set[tuple[str, int]]] = {}
    for each in launches:
        of_pair = group_of[expected_key(each, kernels.grouping)], each.duration_ns
        found.setdefault(of_pair, set()).add((each.name, each.grid_x))
    counts = groups.counts
    signatures = [
        found[pair] for pair in zip(counts.pair_groups.tolist(), counts.duration_ns.tolist(), strict=True)
    ]
    ends = counts.offsets.tolist()
    ranges = [(a, b) for low, high in pairwise(ends) for b in range(low + 1, high + 1) for a in range(low, b)]
    start, stop = np.array(ranges).T
    numbers = [len(set().union(*signatures[a:b])) for a, b in ranges]
    assert counts.pair_signatures.numbers(start, stop).tolist() == numbers
    assert counts.pair_signatures.are_several(start, stop).tolist() == [number > 1 for number in numbers]
    assert not counts.pair_signatures.are_several(start, start).any()


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), MIXED, st.sampled_from([1, 2, 2**40])), min_size=1, max_size=30
    ),
    counted=st.booleans(),
)
def test_pairs_are_counted_whatever_bits_they_take(rows: list[tuple[int, int, int]], counted: bool) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for code, duration_ns, launches in rows:
        expected[code, duration_ns] += launches if counted else 1
    code, duration_ns, count = (np.array(column) for column in zip(*rows, strict=True))
    found = reduced(code, duration_ns, count if counted else None)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [
        (*pair, launches) for pair, launches in sorted(expected.items())
    ]


@given(launches=profiles(MIXED), exclude=st.sampled_from([(), ("communication",), ("b::",)]))
def test_groups_by_name_follow_from_those_by_launch(
    launches: list[Launch], exclude: tuple[str, ...], built: Callable[[list[Launch]], Profile]
) -> None:
    patterns = {"communication": "nccl", "b::": "b::"}
    kept = [each for each in launches if not any(patterns[text] in each.name for text in exclude)]
    if kept:
        table = built(launches)
        counts = count_durations(table, Grouping(GroupBy.LAUNCH), Region(exclude=exclude))
        by_name = counts_by_name(table, counts)
        check_reduction(by_name, kept)
        assert by_name.names == counts.names


@pytest.mark.parametrize("by", [GroupBy.LAUNCH, GroupBy.NAME, GroupBy.SHORT_NAME, GroupBy.STEM_SCRIPT])
@given(launches=profiles(SHORT) | profiles(MIXED))
def test_groups_that_span_devices_follow_from_those_of_each(
    by: GroupBy, launches: list[Launch], built: Callable[[list[Launch]], Profile]
) -> None:
    table = built(launches)
    apart = count_durations(table, Grouping(by))
    counts, group_of = apart.fold
    check_reduction(counts, launches)
    together = count_durations(table, Grouping(by, pool_devices=True))
    assert (counts.groups, counts.grouping) == (together.groups, together.grouping)
    for column in ("offsets", "duration_ns", "count", "group_of_raw"):
        assert getattr(counts, column).tolist() == getattr(together, column).tolist()
    assert [counts.groups[group].name for group in group_of] == [group.name for group in apart.groups]


@given(launches=profiles(MIXED), grouping=st.sampled_from(GROUPINGS))
def test_the_spread_is_the_population_standard_deviation(
    launches: list[Launch], grouping: Grouping, built: Callable[[list[Launch]], Profile]
) -> None:
    counts = count_durations(built(launches), grouping)
    durations: dict[str, list[int]] = {}
    for launch in launches:
        durations.setdefault(expected_key(launch, grouping), []).append(launch.duration_ns)
    expected = [float(np.std(np.array(durations[group.key], dtype=np.longdouble))) for group in counts.groups]
    # A mean of 2^50 ns, 13 days, is known to a quarter of a nanosecond.
    resolution_ns = max(launch.duration_ns for launch in launches) * 2.0**-51
    np.testing.assert_allclose(counts.group_std_ns, expected, rtol=1e-9, atol=1e-9 + resolution_ns)


def test_the_spread_of_long_launches_does_not_cancel(counts_of: Callable[..., DurationCounts]) -> None:
    counts = counts_of({"k": [10**11 + step for step in (-1, 0, 1)]})
    np.testing.assert_allclose(counts.group_std_ns, np.std([-1, 0, 1]), rtol=1e-12)


@given(
    launches=profiles(SHORT),
    grouping=st.sampled_from(GROUPINGS),
    region=st.builds(
        Region,
        exclude=st.sampled_from([(), ("communication",)]),
        launches=st.sampled_from([None, (3, 30)]),
        min_duration_ns=st.sampled_from([None, 3]),
    ),
)
def test_counted_launches_come_with_their_groups(
    launches: list[Launch], grouping: Grouping, region: Region, built: Callable[[list[Launch]], Profile]
) -> None:
    profile = built(launches)
    kept = [
        (index, launch.duration_ns, expected_key(launch, grouping))
        for index, launch in enumerate(launches)
        if not (region.exclude and "nccl" in launch.name)
        and (region.launches is None or 3 <= index < 30)
        and launch.duration_ns >= (region.min_duration_ns or 0)
    ]
    if not kept:
        return
    counts = count_durations(profile, grouping, region)
    found = [
        (launch_id, duration_ns, counts.groups[group].key)
        for part, groups, table in counted_launches(profile, counts, ("duration_ns",))
        for launch_id, duration_ns, group in zip(
            part.ids(np.arange(len(groups))).tolist(),
            table["duration_ns"].tolist(),
            groups.tolist(),
            strict=True,
        )
    ]
    assert found == kept
    assert sum(part.launches for part in counted_parts(profile, counts)) == len(kept)


def test_durations_that_no_recording_lasts_are_refused(launch_table: Callable[..., Profile]) -> None:
    grouping = Grouping(GroupBy.NAME)
    assert count_durations(launch_table(["a", "a"], [2**61, 2**61 - 2**10]), grouping).launches == 2
    with pytest.raises(ProfileError, match="which no recording lasts"):
        count_durations(launch_table(["a", "a"], [2**61] * 2), grouping)
