"""The least duration: which launches it keeps, what it leaves out, and who is blamed for leaving none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import EmptySelectionError, OptionError
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import read_plan
from sampling.plan.study import MethodChoice, study
from sampling.profile.profile import Profile
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations, counts_by_name
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.reduction.region import LeftOut, Region
from sampling.strata.target import Target

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=30)
BY_NAME = Grouping(GroupBy.NAME)


@given(rows=ROWS, least=st.integers(1, 9), include=st.sampled_from([(), ("a",), ("a", "b")]))
def test_it_keeps_what_lasts_as_long_and_counts_the_rest(
    launch_table: Callable[..., Profile],
    rows: list[tuple[str, int]],
    least: int,
    include: tuple[str, ...],
) -> None:
    profile = launch_table([name for name, _ in rows], [duration for _, duration in rows])
    named = [
        (place, duration) for place, (name, duration) in enumerate(rows) if not include or name in include
    ]
    kept = [(place, duration) for place, duration in named if duration >= least]
    region = Region(include=include, min_duration_ns=least)
    if not kept:
        blamed = "`min_duration_ns" if named else "`include="
        with pytest.raises(EmptySelectionError, match=blamed):
            count_durations(profile, BY_NAME, region)
        return
    counts = count_durations(profile, BY_NAME, region)
    short_ns = sum(duration for _, duration in named) - sum(duration for _, duration in kept)
    assert counts.left_out == LeftOut(len(named) - len(kept), short_ns)
    assert (counts.launches, counts.total_duration_ns) == (len(kept), sum(each for _, each in kept))
    assert list_launches(profile, counts).id.tolist() == [place for place, _ in kept]
    assert {group.name for group in counts.groups} == {rows[place][0] for place, _ in kept}


def test_the_share_is_of_the_time_without_it() -> None:
    assert LeftOut(3, 25).share_of(75) == 0.25
    assert LeftOut(3, 0).share_of(0) == 0


def test_a_threshold_that_keeps_all_says_so(launch_table: Callable[..., Profile]) -> None:
    profile = launch_table(["a", "b"], [5, 6])
    assert count_durations(profile, BY_NAME, Region(min_duration_ns=5)).left_out == LeftOut(0, 0)
    assert count_durations(profile, BY_NAME).left_out is None


def test_the_longest_launch_there_is_is_named(launch_table: Callable[..., Profile]) -> None:
    profile = launch_table(["a", "b"], [5, 60])
    with pytest.raises(EmptySelectionError, match=r"`min_duration_ns=7` leaves .* longest lasts 5 ns"):
        count_durations(profile, BY_NAME, Region(exclude=("b",), min_duration_ns=7))


@pytest.mark.parametrize("least", [0, -1])
def test_what_leaves_out_nothing_by_its_nature_is_refused(least: int) -> None:
    with pytest.raises(OptionError, match="`min_duration_ns="):
        Region(min_duration_ns=least)


def test_groups_by_name_from_groups_by_launch_know_what_was_left_out(
    launch_table: Callable[..., Profile],
) -> None:
    profile = launch_table(["a", "a", "b"], [5, 60, 3], grid_x=[1, 2, 3])
    counts = count_durations(profile, Grouping(), Region(min_duration_ns=5))
    by_name = counts_by_name(profile, counts)
    assert by_name.left_out == counts.left_out == LeftOut(1, 3)
    assert [group.name for group in by_name.groups] == ["a"]


def test_writing_keeps_the_same_launches(launch_table: Callable[..., Profile], tmp_path: Path) -> None:
    profile, path = launch_table(["a", "b", "a"], [5, 6, 7]), tmp_path / "x.parquet"
    kept = write_launch_parquet(profile, Region(include=("a",), min_duration_ns=6), path)
    assert (kept.launches, kept.total_duration_ns, kept.left_out) == (1, 7, LeftOut(1, 5))
    assert read_profile([str(path)]).launches == 1
    with pytest.raises(EmptySelectionError, match="longest lasts 7 ns"):
        write_launch_parquet(profile, Region(min_duration_ns=8), tmp_path / "none.parquet")


def test_a_plan_file_tells_what_was_left_out(launch_table: Callable[..., Profile], tmp_path: Path) -> None:
    recording = tmp_path / "x"
    recording.write_text("")
    profile = launch_table(["a"] * 9, [1, 2, *[50] * 7], location=recording)
    studied = study(profile, BY_NAME, Region(min_duration_ns=2), Target(), MethodChoice("root"))
    plan = drawn_plan(studied.counts, studied.design, 0)
    path = tmp_path / "plan.json"
    path.write_text(plan_document(studied, plan, find_planned_launches(studied, plan)).text())
    read = read_plan(str(path))
    assert read.profile.left_out == LeftOut(1, 1)
    assert read.options.region == Region(min_duration_ns=2)
    assert {launch.id for launch in read.drawn} <= set(range(1, 9))
