"""The durations of each kernel of a difference, against counting them launch by launch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sampling.difference.difference import ProfilePart, difference_between
from sampling.readers.registry import read_profile

HEAD = "name,duration_ns,grid_x,grid_y,grid_z,block_x,block_y,block_z\n"
Launch = tuple[str, int, int]


def profile_part(path: Path, launches: list[Launch]) -> ProfilePart:
    rows = "".join(f"{name},{ns},{grid},1,1,1,1,1\n" for name, grid, ns in launches)
    path.write_text(HEAD + rows, encoding="utf-8")
    return ProfilePart(read_profile((str(path),)))


def test_every_launch_of_either_side_is_in_its_kernel(tmp_path: Path) -> None:
    # What lasts longest changed least, so the kernels stand in another order than the groups.
    # Of b both sides have other grids: it is one kernel of several groups.
    before = [
        ("a", 1, 9000),
        ("a", 1, 9000),
        ("a", 1, 9001),
        ("b", 2, 5),
        ("b", 3, 5),
        ("b", 3, 6),
        ("gone", 1, 3000),
    ]
    after = [("a", 1, 18000), ("a", 1, 9000), ("b", 4, 5), ("new", 1, 2)]
    found = difference_between(
        profile_part(tmp_path / "before.csv", before), profile_part(tmp_path / "after.csv", after)
    )
    assert {kernel.name for kernel in found.kernels} == {"a", "b", "gone", "new"}
    for index, kernel in enumerate(found.kernels):
        for launches, durations in zip((before, after), found.durations, strict=True):
            values_ns, counts = durations.of(index)
            expected = Counter(ns for name, _, ns in launches if name == kernel.name)
            assert values_ns.tolist() == sorted(expected)
            assert dict(zip(values_ns.tolist(), counts.tolist(), strict=True)) == expected
