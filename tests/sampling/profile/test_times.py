"""Times that a recording has wrong, against all pairs of launches looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.profile.times import NO_START, OverlongScan, find_starts, overlong_launches
from sampling.profile.workload import join_profiles

Build = Callable[..., Profile]

#: Start, duration, stream, step of the start, and whether the launch is apart; of few streams, or far numbers
LAUNCHES = st.sampled_from([(7, 7), (-1, 7), (0, 999), (7, 70_000)]).flatmap(
    lambda streams: st.lists(
        st.tuples(
            *(st.integers(-20, 20), st.integers(0, 12), st.sampled_from(streams), st.integers(0, 2)),
            st.booleans(),
        ),
        max_size=30,
    )
)


def overlong_by_pairs(rows: Sequence[tuple[int, int, int, int, bool]]) -> list[tuple[int, int]]:
    """Return the launches that contain two whole ones of their stream, and the time to the next start."""
    found = []
    for place, (start, duration, stream, _, is_apart) in enumerate(rows):
        later = [row for row in rows if not row[4] and row[2] == stream and row[0] > start]
        inside = [row for row in later if row[0] + max(row[1], 1) + row[3] <= start + duration]
        if not is_apart and len(inside) >= 2:
            found.append((place, min(row[0] for row in later) - start))
    return found


@given(rows=LAUNCHES, has_steps=st.booleans(), has_apart=st.booleans())
def test_overlong_is_what_contains_two_whole_launches_of_its_stream(
    rows: list[tuple[int, int, int, int, bool]], has_steps: bool, has_apart: bool
) -> None:
    rows = [(*row[:3], row[3] * has_steps, row[4] and has_apart) for row in rows]
    start, duration, stream, step, apart = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    apart = apart.astype(np.bool_)
    places, limits_ns = overlong_launches(
        start, duration, stream, step_ns=step if has_steps else None, apart=apart if has_apart else None
    )
    assert list(zip(places.tolist(), limits_ns.tolist(), strict=True)) == overlong_by_pairs(rows)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=40
    ),
    size=st.integers(1, 9),
)
@example(rows=[(0, 1, 0), (0, 2, 0), (0, 0, 0), (0, 1, 0), (0, 0, 0)], size=1)
def test_what_comes_in_turn_is_found_as_at_once(rows: list[tuple[int, int, int]], size: int) -> None:
    gap, duration, stream = (np.array(column) for column in zip(*rows, strict=True))
    start, row = np.cumsum(gap), np.arange(len(rows))
    # Of launches that start together the ones in a later piece would not be later ones.
    start = start * 40 + row
    duration = duration * 40
    turn = OverlongScan()
    found = [
        each
        for first, stop in pairwise([*range(0, len(rows), size), len(rows)])
        for each in zip(
            *turn.add(*(column[first:stop] for column in (row, start, duration, stream))), strict=True
        )
    ]
    places, limits_ns = overlong_launches(start, duration, stream)
    assert sorted(found) == list(zip(places, duration[places], limits_ns, strict=True))


def test_a_launch_that_outlasts_others_is_cut_at_the_next_start_and_said(launch_table: Build) -> None:
    def recorded(duration: int, **more: object) -> Profile:
        return launch_table(
            ["a", "b", "c", "d"], [duration, 10, 10, 10], start_ns=[100, 120, 140, 160], **more
        )

    one_stream = {"stream": [7] * 4}
    cut = recorded(60, **one_stream)
    assert cut.load(("duration_ns",))["duration_ns"].tolist() == [20, 10, 10, 10]
    assert cut.facts == RecordingFacts(overlong=1, overlong_ns=40, first_overlong="a")
    for whole in (
        recorded(40, **one_stream),
        recorded(60, stream=[7, 7, 8, 8]),
        recorded(60, stream=[7] * 4, device=[0, 0, 1, 1]),
        recorded(60, stream=[7] * 4, process=[0, 1, 0, 1]),
        recorded(60),
    ):
        assert whole.load(("duration_ns",))["duration_ns"].sum() in {70, 90}
        assert whole.facts == RecordingFacts()
    both = join_profiles([recorded(40, kernels=cut.kernels, **one_stream), cut])
    assert (both.facts.overlong, both.facts.overlong_ns, both.facts.first_overlong) == (1, 40, "a")


def finished(*, keep_overlong: bool = False, **columns: Sequence[int | bool]) -> Profile:
    kernels = KernelTable()
    builder = LaunchTableBuilder("x", kernels, keep_overlong=keep_overlong)
    arrays = {name: np.array(values) for name, values in columns.items()}
    builder.append(LaunchColumns(name=kernels.names.intern(["k"] * len(arrays["start_ns"])), **arrays))
    return builder.finish(format_name="test", file=ProfileFile("x", Path("x"), 0), facts=RecordingFacts())


TIMES = {"start_ns": [100, 120, 140, 200], "duration_ns": [90, 10, 10, 5], "stream": [7] * 4}


def test_it_stays_as_recorded_where_it_is_kept_and_is_said_all_the_same() -> None:
    kept = finished(keep_overlong=True, **TIMES)
    assert kept.load(("duration_ns",))["duration_ns"].tolist() == TIMES["duration_ns"]
    facts = RecordingFacts(overlong=1, overlong_ns=70, first_overlong="k", keeps_overlong=True)
    assert kept.facts == facts


@pytest.mark.parametrize(
    "more",
    [
        {"device_launched": [False, True, True, False]},
        {"device_launched": [False, True, False, False]},
        {"start_step_ns": [50] * 4},
    ],
)
def test_what_a_kernel_launched_lies_in_it_rightly_and_rounded_starts_tell_no_order(
    more: dict[str, list[int]],
) -> None:
    assert finished(**TIMES, **more).facts.overlong == 0


# --- launches without a start ------------------------------------------------------------------------------

DATE = 1_615_207_264_506_000_000


@pytest.mark.parametrize(
    ("start_ns", "duration_ns", "missing"),
    [
        ([DATE, 0, DATE + 100, 0], [50, 0, 50, 7], [1, 3]),
        ([DATE, NO_START, DATE + 100], [50, 0, 50], [1]),
        ([0, 50_000_000, 50_000_100], [0, 50, 50], [0]),
        ([0, 3_000_000_000, 3_001_000_000], [90, 50, 50], [0]),
        ([DATE, -1, DATE + 100, -500], [50, 0, 50, 7], [1, 3]),
        ([-DATE, -DATE + 100], [50, 50], []),
        # A clock that began with the first launch, a launch before a long pause, a time before the clock's 0
        ([0, 100, 200, 300], [0, 50, 50, 50], []),
        ([0, 0, 100, 1000], [50, 0, 50, 50], []),
        ([0, 100_000, 100_900], [0, 50, 100], []),
        ([0, 500_000_000, 500_000_900], [50, 50, 100], []),
        ([-5, 0, 900], [1, 0, 1], []),
        ([0, 0], [0, 0], []),
        ([0], [5], []),
    ],
)
def test_a_start_of_0_far_before_all_others_is_none(
    start_ns: list[int], duration_ns: list[int], missing: list[int], launch_table: Build
) -> None:
    profile = launch_table(["k"] * len(start_ns), duration_ns, start_ns=start_ns, order=range(len(start_ns)))
    told = profile.load(("start_ns",))["start_ns"]
    assert np.flatnonzero(told == NO_START).tolist() == missing
    assert profile.facts.without_start == len(missing)
    kept = [place for place in range(len(start_ns)) if place not in missing]
    assert told[kept].tolist() == [start_ns[place] for place in kept]


def test_where_no_launch_has_a_start_there_are_none(launch_table: Build) -> None:
    profile = launch_table(["k"] * 3, [1, 2, 3], start_ns=[NO_START] * 3)
    assert "start_ns" not in profile.columns
    assert profile.facts.without_start == 3


@pytest.mark.parametrize("start_ns", [0, -1])
def test_an_end_without_a_start_makes_no_duration(launch_table: Build, start_ns: int) -> None:
    profile = launch_table(["k"] * 3, [DATE + 60, 50, 50], start_ns=[start_ns, DATE, DATE + 100])
    assert profile.load(("duration_ns",))["duration_ns"].sum() == 100


@given(
    rows=st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=20).filter(
        lambda rows: any(is_known for _, is_known in rows)
    ),
    has_order=st.booleans(),
)
def test_what_has_no_start_stands_behind_the_launch_before_it(
    rows: list[tuple[int, bool]], has_order: bool
) -> None:
    start = np.array([time if is_known else NO_START for time, is_known in rows])
    order = np.arange(len(rows))[::-1] if has_order else start
    found = find_starts(start, np.zeros(len(rows), dtype=np.int64), order)
    key, last = [], next(time for time, is_known in rows if is_known)
    for time, is_known in rows:
        last = time if is_known else last
        key.append(last)
    assert found.missing == sum(not is_known for _, is_known in rows)
    if found.missing:
        assert found.keys[1] is not None
        assert found.keys[1].tolist() == key
    assert found.keys[0] is not None
    assert found.keys[0].tolist() == (order.tolist() if has_order else key)


def test_a_table_of_launches_has_no_start_where_none_was_recorded(launch_table: Build) -> None:
    profile = launch_table(["k"] * 3, [1, 2, 3], start_ns=[DATE, NO_START, DATE + 7], order=range(3))
    start_ns = profile.to_pandas()["start_ns"]
    assert start_ns.isna().tolist() == [False, True, False]
    assert start_ns.dropna().tolist() == [DATE, DATE + 7]
