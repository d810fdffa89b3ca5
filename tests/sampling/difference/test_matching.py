"""Which kernels of two recordings are the same: against counts by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.difference.basis import difference_between
from sampling.difference.comparison import Difference
from sampling.difference.recordings import ProfilePart
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from tests.small_recordings import Issued, kineto_of_operators

Launches = list[tuple[str, int, int]]  # name, grid, duration
LaunchTables = Callable[..., Profile]

BEFORE: Launches = [("gemm", 8, 100), ("gemm", 8, 120), ("norm", 4, 10), ("copy", 1, 5), ("old", 1, 7)]
AFTER: Launches = [("gemm", 8, 150), ("norm", 5, 10), ("norm", 6, 11), ("copy", 1, 5), ("new", 2, 3)]


@pytest.fixture
def part(launch_table: LaunchTables) -> Callable[..., ProfilePart]:
    """Build a profile of launches."""

    def build(launches: Launches, region: Region | None = None, **columns: Any) -> ProfilePart:
        names, grids, durations = zip(*launches, strict=True)
        return ProfilePart(launch_table(names, durations, grid_x=grids, **columns), region or Region())

    return build


def rows(found: Difference) -> dict[str, tuple[Any, ...]]:
    """Status, what it is matched by, launches and totals of each kernel, by its key."""
    columns = (found.before.launches, found.after.launches, found.before.total_ns, found.after.total_ns)
    return {
        kernel.key: (kernel.status, kernel.matched_by, *(int(column[index]) for column in columns))
        for index, kernel in enumerate(found.kernels)
    }


def test_kernels_are_matched_by_name_and_shape_then_by_name(part: Callable[..., ProfilePart]) -> None:
    found = difference_between(part(BEFORE), part(AFTER))
    shape = " <<<{0}x1x1, {0}x1x1>>> process 0 device 0"
    assert rows(found) == {
        "gemm" + shape.format(8): ("both", "launch", 2, 1, 220, 150),
        "norm process 0 device 0": ("both", "name", 1, 2, 10, 21),
        "old" + shape.format(1): ("vanished", None, 1, 0, 7, 0),
        "new" + shape.format(2): ("appeared", None, 0, 1, 0, 3),
        "copy" + shape.format(1): ("both", "launch", 1, 1, 5, 5),
    }
    assert [kernel.name for kernel in found.kernels] == ["gemm", "norm", "old", "new", "copy"]
    norm = found.kernels[1]
    assert (norm.grid, norm.block, norm.shapes_before, norm.shapes_after) == (None, None, 1, 2)
    assert found.per_iteration.kernel_ns.ratio == pytest.approx(179 / 242)
    assert found.ratios.ratio[1] == pytest.approx(10.5 / 10)
    assert not found.without_places


def test_kernels_that_another_demangler_wrote_are_the_same(part: Callable[..., ProfilePart]) -> None:
    before = [
        "void f<(int)4>(T1)",
        "copy(const float *)",
        "g(int)",
        "void h<(int)4>(T1)",
        "void h<(long)4>(T1)",
    ]
    after = ["_Z1fILi4EEvPf", "copy(float const*)", "g(float)", "void h<4>(float*)"]
    found = difference_between(*(part([(name, 8, 9) for name in names]) for names in (before, after)))
    of_status: dict[str, set[str]] = defaultdict(set)
    for kernel in found.kernels:
        of_status[kernel.status].add(kernel.name)
    # Overloads of what is no template are kernels of their own, and nothing is guessed.
    assert of_status == {"both": set(before[:2]), "vanished": set(before[2:]), "appeared": set(after[2:])}
    assert all(kernel.key.startswith(f"{kernel.name} <<<8x1x1") for kernel in found.kernels)


def test_other_processes_and_devices_are_left_out(part: Callable[..., ProfilePart]) -> None:
    here = part(BEFORE, device=[0, 1, 0, 0, 0])
    assert not difference_between(here, part(BEFORE, device=[1, 0, 0, 0, 0])).without_places
    found = difference_between(here, part(BEFORE, device=[3] * 5, process=[77] * 5))
    assert found.without_places
    assert {kernel.key for kernel in found.kernels} >= {"copy <<<1x1x1, 1x1x1>>>", "gemm <<<8x1x1, 8x1x1>>>"}
    assert {kernel.device for kernel in found.kernels} == {None}
    assert {kernel.status for kernel in found.kernels} == {"both"}
    assert found.change_ns.tolist() == [0] * 4
    asked = difference_between(here, here, Grouping(pool_devices=True))
    assert not asked.without_places


LAUNCHES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), st.integers(0, 10**6)),
    min_size=1,
    max_size=40,
)


@given(before=LAUNCHES, after=LAUNCHES)
def test_every_launch_is_counted_in_one_kernel(
    launch_table: LaunchTables, before: Launches, after: Launches
) -> None:
    parts = []
    for launches in (before, after):
        names, grids, durations = zip(*launches, strict=True)
        parts.append(ProfilePart(launch_table(names, durations, grid_x=grids)))
    found = difference_between(*parts, as_recorded=True)
    shapes = [{(name, grid) for name, grid, _ in launches} for launches in (before, after)]
    both = shapes[0] & shapes[1]
    left = {name for name, _ in shapes[0] - both} & {name for name, _ in shapes[1] - both}
    expected: dict[tuple[str, int | None], list[Counter[int]]] = defaultdict(lambda: [Counter(), Counter()])
    for side, launches in enumerate((before, after)):
        for name, grid, duration in launches:
            by_name = (name, grid) not in both and name in left
            expected[name, None if by_name else grid][side][duration] += 1
    told = {
        (kernel.name, None if kernel.matched_by == "name" else (kernel.grid or (0,))[0]): [
            Counter(dict(zip(*(column.tolist() for column in side), strict=True)))
            for side in found.distinct(index)
            if side is not None
        ]
        for index, kernel in enumerate(found.kernels)
    }
    assert told == expected
    for index, sides in enumerate(told.values()):
        for side, counted in zip((found.before, found.after), sides, strict=True):
            assert (side.launches[index], side.total_ns[index]) == (
                counted.total(),
                sum(ns * n for ns, n in counted.items()),
            )
        assert (found.kernels[index].status == "both") == all(sides)
    changes = np.abs(found.change_ns)
    assert (changes[:-1] >= changes[1:]).all()


# --- other kernels for the same work ---


@pytest.fixture
def traced(tmp_path: Path) -> Callable[[str, Issued], ProfilePart]:
    """Build a Kineto trace of launches, an operator around the call of each."""

    def build(name: str, launches: Issued) -> ProfilePart:
        return ProfilePart(read_profile([str(kineto_of_operators(tmp_path / f"{name}.json", launches))]))

    return build


def test_other_kernels_are_matched_by_operator_then_by_function(
    traced: Callable[[str, Issued], ProfilePart],
) -> None:
    before = [
        ("aten::mm", "sm90_gemm", 100),
        ("aten::mm", "sm90_gemm", 100),
        # One kernel serves two operators, and its launches go with each.
        ("aten::add", "elementwise<1>", 10),
        ("aten::mul", "elementwise<1>", 20),
        ("", "norm<4>", 7),
        ("", "plain(int)", 3),
        ("aten::gone", "sort", 5),
        ("aten::copy_", "copy", 30),
    ]
    after = [
        ("aten::mm", "Cijk", 150),
        ("aten::mm", "split", 20),
        ("aten::mm", "Cijk", 150),
        ("aten::add", "elementwise<8>", 11),
        ("aten::mul", "manual", 25),
        ("", "norm<8>", 9),
        ("", "plain(long)", 3),
        ("", "scan", 6),
        # The same kernel as before: the operator does not matter.
        ("aten::to", "copy", 31),
        ("aten::to", "copy", 31),
    ]
    found = difference_between(traced("before", before), traced("after", after))
    place = " process 0 device 1"
    shape = " <<<?, ?>>>" + place
    assert rows(found) == {
        "aten::mm [[8, 4]] float" + place: ("both", "operator", 2, 3, 200_000, 320_000),
        "aten::add [[8, 4]] float" + place: ("both", "operator", 1, 1, 10_000, 11_000),
        "aten::mul [[8, 4]] float" + place: ("both", "operator", 1, 1, 20_000, 25_000),
        "norm" + place: ("both", "short-name", 1, 1, 7_000, 9_000),
        # Of what is no template, other parameters make another function.
        "plain(int)" + shape: ("vanished", None, 1, 0, 3_000, 0),
        "plain(long)" + shape: ("appeared", None, 0, 1, 0, 3_000),
        "sort" + shape: ("vanished", None, 1, 0, 5_000, 0),
        "scan" + shape: ("appeared", None, 0, 1, 0, 6_000),
        "copy" + shape: ("both", "launch", 1, 2, 30_000, 62_000),
    }
    assert found.causes == {
        "new": 9_000,
        "gone": -8_000,
        "duration": 2_000,
        "launches": 30_000,
        "other-kernels": 120_000 + 1_000 + 5_000 + 2_000,
    }
    assert sum(found.causes.values()) == int((found.after.total_ns - found.before.total_ns).sum())
    shares = {by.value: pair for by, pair in found.matched_share.items()}
    assert shares["operator"] == pytest.approx((230 / 275, 356 / 436))
    # A launch of an operator that has more of them does another part: there is no ratio of the two.
    of_mm = next(row for row, kernel in enumerate(found.kernels) if kernel.name.startswith("aten::mm"))
    assert math.isnan(found.ratios.ratio[of_mm])


def test_a_kernel_that_goes_to_another_operator_is_no_match(
    traced: Callable[[str, Issued], ProfilePart],
) -> None:
    """A library chooses among its kernels anew: what was one operator's is now the next one's."""
    before = [("aten::mm", "small", 10), ("aten::bmm", "large", 40), ("aten::bmm", "same", 5)]
    after = [("aten::mm", "tiny", 8), ("aten::bmm", "small", 30), ("aten::bmm", "same", 5)]
    found = difference_between(traced("before", before), traced("after", after))
    place = " process 0 device 1"
    assert rows(found) == {
        "aten::mm [[8, 4]] float" + place: ("both", "operator", 1, 1, 10_000, 8_000),
        "aten::bmm [[8, 4]] float" + place: ("both", "operator", 1, 1, 40_000, 30_000),
        "same <<<?, ?>>>" + place: ("both", "launch", 1, 1, 5_000, 5_000),
    }


def test_without_operators_on_a_side_nothing_is_matched_by_them(
    traced: Callable[[str, Issued], ProfilePart],
) -> None:
    before, after = traced("before", [("aten::mm", "a", 1)]), traced("after", [("", "b", 1)])
    assert {kernel.status for kernel in difference_between(before, after).kernels} == {"appeared", "vanished"}


def test_several_kernels_of_a_function_are_not_matched_by_it(part: Callable[..., ProfilePart]) -> None:
    sides = [[("f<1>", 1, 5), ("f<2>", 1, 5)], [("f<3>", 1, 5)]]
    found = difference_between(*map(part, sides))
    assert {kernel.status for kernel in found.kernels} == {"appeared", "vanished"}
    one = difference_between(part(sides[0][:1]), part(sides[1]))
    assert [(kernel.name, kernel.matched_by) for kernel in one.kernels] == [("f", "short-name")]
