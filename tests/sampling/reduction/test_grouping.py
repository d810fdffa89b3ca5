"""Pools of small kernel groups hold every launch once; a group is found by the label that a table shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping, KernelGroup, choose_kernel, is_pool_key, pool_key
from sampling.reduction.plan_groups import PlanGroups, pooled
from tests.drawing import in_ascii
from tui.text.labels import KernelLabels, place_names

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
            assert group.key == pool_key(group.place)
            assert is_pool_key(group.key)
        else:
            assert [counts.groups[member] for member in members] == [group]
            assert not is_pool_key(group.key)
    assert groups.is_pool.tolist() == sorted(groups.is_pool), "own groups by rank come first"
    own = [group for group, is_in in zip(counts.groups, expected, strict=True) if not is_in]
    assert list(made.groups[: len(own)]) == own
    assert len({group.key for group in made.groups}) == len(made.groups)


@pytest.mark.parametrize("place", ["", "process 0 device 0", "rank 4242 device 1"])
def test_the_key_of_a_pool_is_known_again(place: str) -> None:
    assert is_pool_key(pool_key(place))
    assert not is_pool_key("(pooled kernels)2")
    assert not is_pool_key("void k<(pooled kernels)>")


SGEMM = "volta_sgemm_{}_sliced1x4_tn"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<{}>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<{}>)"
)
CUTLASS = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_{}_16x5_{}_align4>(T1::Params)"
NAMES = [
    *(SGEMM.format(tile) for tile in ("64x32", "128x32", "32x128")),
    *(ADD.format(kind, kind) for kind in ("float", "c10::Half", "double")),
    *(CUTLASS.format(tile, form) for tile in ("128x64", "64x128") for form in ("nn", "tn")),
    "relu",
    "Relu_backward",
]


def group(name: str, grid: int, block: int = 64, device: int = 0) -> KernelGroup:
    where = f"process {7 + device} device {device}"
    key = f"{name} <<<{grid}x4x3, {block}x1x1>>> {where}"
    return KernelGroup(key, name, (grid, 4, 3), (block, 1, 1), 7 + device, device)


def labels(groups: list[KernelGroup]) -> KernelLabels:
    return KernelLabels(groups, place_names(((each.process, each.device) for each in groups), ranks=False))


ANY_GROUPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from([8, 16]), st.sampled_from([64, 128]), st.integers(0, 1)
    ),
    min_size=1,
    max_size=14,
    unique=True,
).map(lambda rows: [group(*row) for row in rows])


@settings(max_examples=40)
@given(ANY_GROUPS, st.sampled_from([None, 28, 32, 48, 64]), st.booleans())
# The number that tells two labels apart stands before grid and device.
@example(
    groups=[group(NAMES[0], 8, 64, 1), *(group(name, 16) for name in NAMES[3:6:2])], room=28, ascii_only=True
)
def test_a_shown_label_finds_its_group_or_says_that_it_fits_others(
    groups: list[KernelGroup], room: int | None, ascii_only: bool
) -> None:
    shown = labels(groups)
    for index in range(len(groups)):
        label = in_ascii(ascii_only, shown.label, index, room)
        assert choose_kernel(groups, f"#{index + 1} {label}")[0] == index
        # In little room what differs may be left out; several may have what is left then.
        found, others = choose_kernel(groups, label)
        assert found == index or others


@pytest.mark.parametrize(
    ("wanted", "rank"),
    [
        ("volta_sgemm_64x32\N{HORIZONTAL ELLIPSIS}1x4_tn 8x4x3", 1),
        ("volta_sgemm..32x128..tn 8x4x3", 3),
        ("vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5 vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5", 5),
        ("#11 relu", 11),
        ("_Z4convILi1EEvPf", 13),
    ],
)
def test_examples(wanted: str, rank: int) -> None:
    groups = [group(name, 8) for name in (*NAMES, "void conv<1>(float*)")]
    assert choose_kernel(groups, wanted) == (rank - 1, 0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("#4 relu", "#4 is void at::native::vectorized_elementwise_kernel"),
        ("#99", "ranks run from #1 to #"),
        ("volta_sgem_64x32", "no kernel group's key contains it"),
        ("relu 99x4x3", "no kernel group's key contains it"),
        ("..", "no kernel group's key contains it"),
    ],
)
def test_what_fits_nothing_is_refused(wanted: str, said: str) -> None:
    with pytest.raises(OptionError) as refused:
        choose_kernel([group(name, 8) for name in NAMES], wanted)
    assert said in f"{refused.value}"
