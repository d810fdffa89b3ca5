"""The axis of the run that a timeline shares with the bars above it: against single launches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.timeline import By, GroupLaunches
from tests.drawing import in_ascii
from tui.charts.timeline import RunAxis

LAUNCHES = st.lists(st.integers(0, 900), min_size=1, max_size=40).map(sorted)


def axis_of(starts: list[int], by: By, columns: int) -> RunAxis:
    """Every second id of the profile is a launch of the group."""
    number = len(starts)
    return RunAxis(GroupLaunches(np.arange(number) * 2, np.ones(number), np.array(starts)), by, columns)  # type: ignore[arg-type]


def column(starts: list[int], row: int, by: By, columns: int) -> int:
    """The column of a launch, by hand."""
    if by == "launch":
        return row * columns // len(starts)
    return (starts[row] - starts[0]) * columns // (starts[-1] - starts[0] + 1)


@given(starts=LAUNCHES, by=st.sampled_from(["launch", "time"]), columns=st.integers(1, 60))
def test_dots_and_places_are_those_of_the_launches(starts: list[int], by: By, columns: int) -> None:
    axis = axis_of(starts, by, columns)
    wanted = [column(starts, row, by, columns) for row in range(len(starts))]
    assert axis.of_places(np.arange(len(starts))).tolist() == pytest.approx(wanted, abs=int(by == "time"))
    dots = [column(starts, row, by, 2 * columns) for row in range(len(starts))]
    assert axis.dots(2).tolist() == pytest.approx(dots, abs=int(by == "time"))


RUNS = st.lists(st.tuples(st.integers(0, 80), st.integers(1, 30)), min_size=1, max_size=4)


@given(starts=LAUNCHES, by=st.sampled_from(["launch", "time"]), runs=RUNS, ascii_only=st.booleans())
def test_a_bar_covers_the_launches_of_its_range(
    starts: list[int], by: By, runs: list[tuple[int, int]], ascii_only: bool
) -> None:
    axis = axis_of(starts, by, 30)
    first, stop = (
        np.array(column) for column in zip(*((low, low + size) for low, size in runs), strict=True)
    )
    bar = in_ascii(ascii_only, axis.bar, first, stop)
    assert len(bar) == 30
    covered: set[int] = set()
    for low, high in zip(first.tolist(), stop.tolist(), strict=True):
        rows = [row for row in range(len(starts)) if low <= 2 * row < high]
        if rows:
            ends = axis.of_places(np.array([rows[0], rows[-1]])).tolist()
            covered |= set(range(ends[0], ends[1] + 1))
    last = 2 * (len(starts) - 1)
    if covered:
        assert {place for place, glyph in enumerate(bar) if glyph == ("=" if ascii_only else "━")} == covered
    elif all(high <= 0 for high in stop.tolist()):
        assert bar.startswith("<")
    elif all(low > last for low in first.tolist()):
        assert bar.endswith(">")
    else:
        assert set(bar) == {" ", "." if ascii_only else "·"}


def test_stretches_of_time_have_a_column_each_at_least() -> None:
    axis = axis_of([0, 999], "time", 10)
    found = axis.stretches(np.array([100, 510, 995]), np.array([300, 512, 1999]))
    assert found == [(1, 3), (5, 6), (9, 10)]


@pytest.mark.parametrize("first", [0, 9_999, 10_000, 12_345_678])
@pytest.mark.parametrize("launches", [1, 8, 5_000])
@pytest.mark.parametrize("columns", [20, 69, 159])
def test_the_first_launch_is_named_whatever_its_id(first: int, launches: int, columns: int) -> None:
    ids = first + 6 * np.arange(launches)
    axis = RunAxis(GroupLaunches(ids, np.ones(launches, dtype=np.int64), None), "launch", columns)
    ticks = axis.ticks(10, 10 + columns)
    assert ticks
    assert ticks[0].text == f"launch {first:,}"
