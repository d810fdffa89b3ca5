"""The charts of a report: every launch is in them, where its duration says."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.timeline import GroupLaunches
from tui.charts.histogram import histogram_data
from tui.report.pictures import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axis,
    bar_shapes,
    cell_shapes,
    curve_shapes,
    digit_ticks,
    point_shapes,
    strata_legend,
    time_ticks,
)

DURATIONS = st.lists(st.integers(1, 10**7), min_size=1, max_size=400)
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")


def strata_of(durations: list[int]) -> list[tuple[int, int]]:
    """Two strata, cut at the middle of what occurs."""
    known = sorted(set(durations))
    middle = len(known) // 2
    return [(part[0], part[-1]) for part in (known[:middle], known[middle:]) if part]


def cells(durations: list[int], *, log: bool) -> list[str]:
    launches = GroupLaunches(np.arange(len(durations)) * 3, np.array(durations), None)
    return list(cell_shapes(launches, strata_of(durations), np.array([0, 7]), log=log))


@given(DURATIONS, st.booleans())
def test_a_cell_stands_where_a_launch_of_its_stratum_does(durations: list[int], log: bool) -> None:
    columns, low, high = min(160, len(durations)), min(durations), max(durations)
    width, height = (RIGHT - LEFT) / columns, (BOTTOM - TOP) / 48
    scale = np.log if log else np.asarray
    wanted = set()
    for number, duration in enumerate(durations):
        part = 0.5 if low == high else (scale(duration) - scale(low)) / (scale(high) - scale(low))
        row = min(int(part * 48), 47)
        stratum = sum(duration > longest for _, longest in strata_of(durations))
        left, top = LEFT + number * columns // len(durations) * width, BOTTOM - (row + 1) * height
        wanted.add((stratum, f"{left:.1f}", f"{top:.1f}"))
    drawn, found = cells(durations, log=log), set()
    for stratum in range(2):
        paths = "".join(part for part in drawn if f'class="fill{stratum}"' in part)
        found |= {(stratum, left, top) for left, top in re.findall(r"M([\d.]+) ([\d.]+)h", paths)}
    # Rounding may put a launch at a border into the cell beside it.
    assert len(found & wanted) >= 0.95 * len(wanted) - 1
    assert {(each, left) for each, left, _ in found} == {(each, left) for each, left, _ in wanted}
    # Of ids 0, 3, 6, ... the plan draws 0, the first launch.
    (circle,) = (part for part in drawn if 'class="drawn"' in part)
    assert f'cx="{LEFT + width / 2:.1f}"' in circle


@given(DURATIONS, st.booleans())
def test_everything_is_drawn_between_the_axes(durations: list[int], log: bool) -> None:
    values, counts = np.unique(durations, return_counts=True)
    data = histogram_data(values, counts, strata_of(durations), 40, log=log)
    bars = list(bar_shapes(data, log=log))
    for path in (part for part in (*bars, *cells(durations, log=log)) if 'class="fill' in part):
        for begin in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path):
            left, top = map(float, begin)
            assert LEFT - 0.1 <= left <= RIGHT + 0.1
            assert TOP - 0.1 <= top <= BOTTOM + 0.1
    assert "".join(bars).count("V") - 1 == 2 * int((data.cluster_counts > 0).sum())


def test_a_legend_has_the_first_of_many_strata() -> None:
    assert len(strata_legend(["a", "b"])) == 2
    many = strata_legend(list(map(str, range(20))), has_drawn=True)
    assert [words for _, words in many[-2:]] == ["and 8 strata more", "drawn by the plan"]


def test_the_highest_bar_is_as_high_as_the_picture() -> None:
    data = histogram_data(np.array([10, 20]), np.array([4, 1]), [(10, 20)], 2)
    path = next(part for part in bar_shapes(data, log=False) if 'class="fill0"' in part)
    heights = [float(number) for number in re.findall(r"V([\d.]+)H", path)]
    assert heights == [TOP, TOP + (BOTTOM - TOP) * 3 / 4]


def test_one_bar_that_hides_the_others_has_launches_on_a_logarithmic_axis() -> None:
    values_ns, counts = np.array([10, 20, 30]), np.array([20_000, 1, 1])
    drawn = list(bar_shapes(histogram_data(values_ns, counts, [(10, 30)], 3), log=False))
    path = next(part for part in drawn if 'class="fill0"' in part)
    tops = [float(number) for number in re.findall(r"V([\d.]+)H", path)]
    assert tops[0] == TOP
    a_bar = (BOTTOM - TOP) * np.log(1 / 0.5) / np.log(20_000 / 0.5)
    assert np.allclose(tops[1:], BOTTOM - a_bar, atol=0.1)
    text = "".join(drawn)
    assert ">launches, log</text>" in text
    assert re.findall(r'text-anchor="end">([\d,]+)<', text) == ["1", "10", "100", "1,000", "10,000"]


def test_strata_of_one_bin_stand_on_each_other() -> None:
    data = histogram_data(np.array([10, 11, 90]), np.array([3, 1, 4]), [(10, 10), (11, 90)], 2)
    lower, upper = (part for part in bar_shapes(data, log=False) if 'class="fill' in part)
    quarter = (BOTTOM - TOP) / 4
    assert f" {BOTTOM}.0V{BOTTOM - 3 * quarter:.1f}H" in lower
    assert f" {BOTTOM - 3 * quarter:.1f}V{TOP}.0H" in upper


def test_the_plan_is_marked_on_the_curve() -> None:
    drawn = list(curve_shapes(np.array([0.01, 0.05, 0.1]), np.array([10.0, 50.0, 50.0]), 0.05))
    assert sum('class="chosen"' in part for part in drawn) == 1
    line = next(part for part in drawn if "polyline" in part)
    points = np.array(list(map(float, _NUMBERS.findall(line)))).reshape(-1, 2)
    assert (np.diff(points[:, 0]) > 0).all()
    assert points[0, 1] > points[1, 1] == points[2, 1]
    assert list(curve_shapes(np.zeros(0), np.zeros(0), 0.05)) == []


def test_ticks_are_round_and_on_the_axis() -> None:
    assert time_ticks(9_000, 31_000, log=False)[0] == (10_000, "10")
    assert [tick for tick, _ in digit_ticks(0.005, 0.5, str)] == [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    assert [text for _, text in time_ticks(7, 7, log=True)] == ["7 ns"]
    narrow = time_ticks(127_681_080, 127_681_110, log=False)
    assert sum(len(text) for _, text in narrow) <= 80
    axis = Axis(1, 100, 0, 200, log=True)
    assert axis.at([1, 10, 100]).tolist() == [0, 100, 200]
    assert Axis(3, 3, 0, 200).at(3) == 100


METHODS = st.lists(st.tuples(st.floats(1, 5_000), st.floats(0, 2)), min_size=1, max_size=13)


@given(METHODS)
def test_every_method_is_named_within_the_axes(methods: list[tuple[float, float]]) -> None:
    speedup, error = (np.array(column) for column in zip(*methods, strict=True))
    names = "ABCDEFGHIJKLM"[: len(methods)]
    drawn = list(point_shapes(speedup, error, names))
    text = "".join(drawn)
    assert all(f">{name}</text>" in text for name in names)
    for circle in (part for part in drawn if part.startswith("<circle")):
        _, x, y, *_ = map(float, _NUMBERS.findall(circle))
        assert LEFT - 0.1 <= x <= RIGHT + 0.1
        assert TOP - 0.1 <= y <= BOTTOM + 0.1
