"""Speedup against error: every method is where its numbers say, and every letter is seen."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tui.charts.axis import ticks_across, value_axis
from tui.charts.grid import AXIS, Grid, plain
from tui.charts.size_plot import Point, scatter

LETTERS = "ABCDEFGHIJKL"


def points_of(*figures: tuple[float, float]) -> list[Point]:
    return [
        Point(f"name-{letter}", letter, index, speedup, error)
        for index, (letter, (speedup, error)) in enumerate(zip(LETTERS, figures, strict=False))
    ]


def frame_of(grid: Grid) -> tuple[int, int]:
    """The row of the speedup axis, and the column of the error axis."""
    (corner,) = np.argwhere((grid.glyph == "└") & (grid.style == AXIS))
    return int(corner[0]), int(corner[1])


def places_of(grid: Grid) -> dict[str, tuple[int, int]]:
    """(row, column) of each letter in the plot, the legend not among them."""
    foot, left = frame_of(grid)
    found = {}
    for row in range(foot):
        for column in range(left + 1, grid.width):
            if grid.glyph[row, column] in LETTERS and grid.style[row, column] >= 0:
                found[str(grid.glyph[row, column])] = (row, column)
    return found


FIGURES = st.tuples(st.floats(1, 1e6), st.one_of(st.just(0.0), st.floats(1e-6, 5)))


@given(st.lists(FIGURES, min_size=1, max_size=12), st.integers(40, 120), st.integers(8, 40))
def test_each_method_is_seen_once_and_stands_in_order(
    figures: list[tuple[float, float]], width: int, height: int
) -> None:
    points = points_of(*figures)
    places = places_of(scatter(points, width, height))
    assert set(places) == {point.symbol for point in points}
    for one in points:
        for other in points:
            if one.error < other.error:
                assert places[one.symbol][0] >= places[other.symbol][0]
            same_row = places[one.symbol][0] == places[other.symbol][0]
            if same_row and one.speedup < other.speedup:
                assert places[one.symbol][1] < places[other.symbol][1]


def test_equal_ratios_are_equal_distances() -> None:
    places = places_of(scatter(points_of((1, 0.001), (10, 0.01), (100, 0.1), (1000, 1)), 80, 24))
    columns = [places[letter][1] for letter in "ABCD"]
    rows = [places[letter][0] for letter in "ABCD"]
    assert len({second - first for first, second in pairwise(columns)}) <= 2
    assert np.ptp(np.diff(columns)) <= 1
    assert np.ptp(np.diff(rows)) <= 1
    assert columns[0] < columns[-1]
    assert rows[0] > rows[-1]


def test_what_falls_on_one_cell_stands_side_by_side_around_it() -> None:
    grid = scatter(points_of((1, 0.001), *[(31.2, 0.01)] * 5, (1000, 0.1)), 80, 24)
    places = places_of(grid)
    alone = places_of(scatter(points_of((1, 0.001), (31.2, 0.01), (1000, 0.1)), 80, 24))["B"]
    assert [places[letter] for letter in "BCDEF"] == [(alone[0], alone[1] + shift) for shift in range(-2, 3)]


def test_zero_errors_stand_in_a_row_of_their_own_that_says_so() -> None:
    grid = scatter(points_of((1, 0.0), (30, 0.0), (20, 1e-6), (50, 0.1)), 80, 20)
    foot, _ = frame_of(grid)
    places = places_of(grid)
    assert places["A"][0] == places["B"][0] == foot - 1
    assert places["C"][0] == foot - 2
    assert places["D"][0] == 1, "the highest is at the top, below the title"
    assert plain(grid).split("\n")[foot - 1].strip().startswith("0 ┤")


def test_the_axes_name_what_they_measure() -> None:
    lines = plain(scatter(points_of((1, 0.001), (500, 0.2)), 80, 20)).split("\n")
    assert lines[0] == "mean error over speedup"
    assert any(line.split()[-1:] == ["500x"] for line in lines)
    assert any(line.startswith(" 10 % ┤") for line in lines)


def test_the_legend_names_every_method_by_its_letter() -> None:
    points = points_of(*[(2.0**n, 0.01 * (n + 1)) for n in range(12)])
    for width, height in ((120, 30), (80, 24), (60, 12)):
        grid = scatter(points, width, height)
        legend = plain(grid).split("\n")[frame_of(grid)[0] + 2 :]
        assert " ".join(" ".join(legend).split()) == " ".join(
            f"{point.symbol} {point.name}" for point in points
        )
    narrow = plain(scatter(points, 40, 10))
    assert all(f"{point.symbol} name" in narrow for point in points), "shortened, but all there"


def test_none_are_said_to_be_none_and_what_is_not_finite_is_none() -> None:
    for points in ([], points_of((math.inf, 0.1), (2, math.nan), (0, 0.1))):
        assert plain(scatter(points, 40, 10)).strip() == "no points"


@given(st.floats(0.01, 1e9), st.floats(1, 1e6), st.integers(4, 150))
def test_ticks_across_are_where_their_numbers_are(low: float, ratio: float, columns: int) -> None:
    axis = value_axis([low, low * ratio], columns, log=True, percent=False)
    numbers: dict[float, int] = {}

    def label(value: float) -> str:
        return str(numbers.setdefault(value, len(numbers)))

    ticks = ticks_across(axis, label, columns + 5)
    values = {str(number): value for value, number in numbers.items()}
    for tick in ticks:
        assert tick.column == columns + 5 - axis.row_at(values[tick.text])
    assert len(ticks) >= 1
    assert [tick.column for tick in ticks] == sorted({tick.column for tick in ticks})
    assert all(0 <= tick.text_column <= columns + 6 - len(tick.text) for tick in ticks)
