"""The chart of a group's durations over the run: where its dots stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.timeline import By, GroupLaunches, IdleGaps
from tests.drawing import in_ascii
from tui.charts.grid import MARKER, plain
from tui.charts.timeline import RunAxis, timeline_chart

NONE = np.zeros(0, dtype=np.int64)


def falling(launches: int = 300) -> GroupLaunches:
    """Durations that fall from 1,000 us to 100 us, the last third of the launches after a pause."""
    duration_ns = np.linspace(1_000_000, 100_000, launches).astype(np.int64)
    start_ns = np.arange(launches) * 1_000_000 + (np.arange(launches) >= 2 * launches // 3) * 700_000_000
    return GroupLaunches(np.arange(launches) * 2, duration_ns, start_ns)


def rows_of(launches: GroupLaunches, **options: object) -> list[str]:
    chart = in_ascii(True, timeline_chart, launches, [], NONE, 60, 20, **options)  # type: ignore[arg-type]
    return plain(chart).splitlines()


def dots(rows: list[str]) -> list[tuple[int, int]]:
    """Return (row, column) of the dots of the plot."""
    plot = [row[9:] for row in rows if row[8:9] in {"|", "+"} and "--" not in row]
    return [(row, column) for row, text in enumerate(plot) for column, dot in enumerate(text) if dot in "'.:"]


def test_longer_launches_stand_higher_and_later_ones_further_right() -> None:
    found = dots(rows_of(falling()))
    assert found[0] == (0, 0)
    assert found[-1][0] == max(row for row, _ in found)
    assert found[-1][1] > 45
    # A line falls: in every column no dot is above those of the columns before.
    first_row = [min(row for row, at in found if at == column) for column in sorted({c for _, c in found})]
    assert first_row == sorted(first_row)


def test_what_hardly_varies_is_not_stretched_over_the_height() -> None:
    hardly = GroupLaunches(np.arange(300), np.linspace(102_000, 100_000, 300).astype(np.int64), NONE)
    rows = {row for row, _ in dots(rows_of(hardly))}
    assert max(rows) - min(rows) <= 3


def test_by_time_a_pause_is_a_gap() -> None:
    by_launch = {column for _, column in dots(rows_of(falling()))}
    by_time = {column for _, column in dots(rows_of(falling(), by="time"))}
    assert sorted(by_launch) == list(range(min(by_launch), max(by_launch) + 1))
    # 700 ms of 1,000 ms.
    assert len(by_time) < 0.4 * len(by_launch)


def test_a_logarithmic_axis_spreads_short_durations() -> None:
    short = GroupLaunches(np.arange(4), np.array([1, 10, 100, 1000]), None)
    rows = [row for row, _ in dots(rows_of(short, log=True))]
    assert np.ptp(np.diff(rows)) <= 1
    assert [row for row, _ in dots(rows_of(short))][2:] == [rows[-1]] * 2


def test_a_few_long_launches_take_no_room_from_the_others() -> None:
    """As in the histogram, whose axis ends at the 99.5th percentile: they stand in the top row."""
    durations = np.append(np.random.default_rng(3).integers(50_000, 110_000, 998), [1_000_000, 2_000_000])
    launches = GroupLaunches(np.arange(1000), durations, None)
    rows = rows_of(launches)
    assert rows[0].rstrip().endswith("4 above, to 2.00 ms ^"), "two that are far, and two of the others"
    assert len({row for row, _ in dots(rows)}) > len(rows) / 2, "the others are spread"
    assert all("above" not in row for row in rows_of(launches, log=True))
    assert all("above" not in row for row in rows_of(GroupLaunches(np.arange(998), durations[:998], None)))


def test_drawn_launches_are_marked_and_clusters_named() -> None:
    launches = falling()
    clusters = [(100_000, 500_000), (500_001, 1_000_000)]
    chart = timeline_chart(launches, clusters, launches.id[[10, 200]], 60, 20)
    marked = np.argwhere((chart.style == MARKER) & (chart.glyph == "\N{BLACK DIAMOND}"))
    # One more is in the legend.
    assert len(marked) == 3
    text = plain(chart)
    assert "2 launches drawn" in text
    assert "A 100-500 us" in text
    # Each cluster's letter stands at the right edge, the longer one's above.
    edge = [(row, glyph) for row, glyph in enumerate(chart.glyph[:, -1].tolist()) if glyph in "AB"]
    assert [glyph for _, glyph in sorted(edge)] == ["B", "A"]


def test_every_dot_has_the_style_of_a_cluster() -> None:
    """Of a dot beside the edge of a cell too."""
    duration_ns = 1000 + np.arange(997) * 7919 % 997
    launches = GroupLaunches(np.arange(997), duration_ns, None)
    clusters = [(1000, 1300), (1301, 1600), (1601, 1996)]
    for width, height in ((60, 20), (61, 21), (80, 24), (97, 33)):
        chart = timeline_chart(launches, clusters, NONE, width, height)
        is_dot = (chart.glyph >= "\N{BRAILLE PATTERN DOTS-1}") & (
            chart.glyph <= "\N{BRAILLE PATTERN DOTS-12345678}"
        )
        assert is_dot.sum() > 100
        assert (chart.style[is_dot] >= 0).all()


def test_no_launch_has_two_ticks_and_each_stands_under_its_launch() -> None:
    for launches in (1, 2, 3, 7, 8, 9, 40, 300, 5001):
        few = GroupLaunches(np.arange(launches) * 2, np.arange(launches) + 1000, None)
        chart = in_ascii(True, timeline_chart, few, [], NONE, 80, 20)
        foot = next(row for row, text in enumerate(plain(chart).splitlines()) if "--" in text)
        ids = plain(chart).splitlines()[foot + 1].removeprefix(" " * 9).replace("launch ", "").split()
        assert ids[0] == "0"
        assert len(set(ids)) == len(ids) == sum(glyph == "+" for glyph in chart.glyph[foot, 9:])
        if launches <= 3:
            assert ids == [str(2 * each) for each in range(launches)]


def test_the_line_of_means_follows_a_drift_and_is_named() -> None:
    chart = in_ascii(True, timeline_chart, falling(), [], NONE, 60, 20, has_mean=True)
    rows = plain(chart).splitlines()
    assert any("= mean, which drifts" in row for row in rows)
    foot = next(place for place, row in enumerate(rows) if "--" in row)
    marked = np.argwhere((chart.glyph[:foot] == "=") & (chart.style[:foot] == MARKER))
    assert len(set(marked[:, 1].tolist())) == 60 - 9 - 2, "a mean a column"
    # It falls, and so do the rows of its columns from left to right.
    by_column = marked[np.argsort(marked[:, 1])][:, 0]
    assert (np.diff(by_column) >= 0).all()
    assert by_column[0] == 0


def test_the_axis_is_shaded_where_the_device_is_idle_by_time_alone() -> None:
    launches = falling()
    gap = IdleGaps(np.array([200_000_000]), np.array([900_000_000]))
    axis = next(row for row in rows_of(launches, by="time", gaps=gap) if "--" in row)
    idle = [at - 9 for at, glyph in enumerate(axis) if glyph == "~"]
    # Some columns are under a tick.
    assert min(idle) >= 0.2 * 49 - 1
    assert max(idle) <= 0.9 * 49 + 1
    assert len(idle) > 0.5 * 49
    assert "~" not in "".join(rows_of(launches, gaps=gap))


def test_a_wide_margin_holds_the_legend_beside_the_chart() -> None:
    launches = falling()
    clusters = [(100_000, 500_000), (500_001, 1_000_000)]
    chart = timeline_chart(launches, clusters, launches.id[[10]], 90, 20, left=40)
    rows = plain(chart).splitlines()
    assert [row[:15] for row in rows[1:3]] == ["A 100-500 us   ", "B 500 us-1.00 m"]
    assert {row[39] for row in rows[:18]} <= set("│┤"), "the axis stands at the margin, over all rows"


def test_no_label_of_the_axis_stands_in_the_place_of_a_stratum() -> None:
    launches = falling()
    ends = np.linspace(100_000, 1_000_001, 11).astype(int).tolist()
    clusters = [(low, high - 1) for low, high in pairwise(ends)]
    rows = plain(timeline_chart(launches, clusters, launches.id[[10]], 90, 20, left=40)).splitlines()
    assert [row[0] for row in rows[1:11]] == list("ABCDEFGHIJ")


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


def test_letters_say_what_the_device_is_idle_for() -> None:
    gaps = IdleGaps(
        np.array([100_000_000, 600_000_000]), np.array([400_000_000, 900_000_000]), np.array([0, 3])
    )
    rows = rows_of(falling(), by="time", gaps=gaps)
    axis = next(row for row in rows if "--" in row)[9:]
    assert set("hd") <= set(axis)
    assert axis.rindex("h") < axis.index("d")
    assert any("h idle: host" in row and "d idle: dependency" in row for row in rows)
    assert "~" not in "".join(rows)
