"""Lines between points: unbroken, where they should be, and in ASCII too."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import in_ascii
from tui.charts.axis import value_axis
from tui.charts.grid import Grid, blank, plain
from tui.charts.size_plot import Mark, draw_curve, size_chart

POINTS = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 59)), min_size=2, max_size=6).map(
    lambda points: sorted(points, key=lambda point: point[1])
)


def drawn(points: list[tuple[int, int]], *, ascii_only: bool) -> Grid:
    grid = blank(60, 15)
    in_ascii(ascii_only, draw_curve, grid, points, 3)
    return grid


@pytest.mark.parametrize("ascii_only", [False, True])
@given(points=POINTS)
def test_a_line_fills_every_column_between_its_points_near_the_straight_line(
    ascii_only: bool, points: list[tuple[int, int]]
) -> None:
    grid = drawn(points, ascii_only=ascii_only)
    marked = {column for _, column in points}
    for (top, left), (bottom, right) in pairwise(points):
        for column in range(left + 1, right):
            rows = np.flatnonzero(grid.glyph[:, column] != " ")
            at = top + (bottom - top) * (column - left) / (right - left)
            slope = abs(bottom - top) / (right - left)
            assert rows.size, f"a gap in column {column}"
            assert np.abs(rows - at).max() <= slope + 1
    for column in range(60):
        inside = points[0][1] < column < points[-1][1]
        if not inside or column in marked:
            assert (grid.glyph[:, column] == " ").all(), "points and what lies beyond are left to others"
    assert set(np.unique(grid.style).tolist()) <= {-1, 3}
    assert plain(grid).isascii() or not ascii_only


def test_marks_stand_over_their_line() -> None:
    marks = [Mark(2.0**n, float(n), "o", 0) for n in range(5)]
    sizes = [(mark.size, f"{mark.size:g}") for mark in marks]
    for ascii_only in (False, True):
        bare = in_ascii(ascii_only, size_chart, "t", marks, sizes, "", 60, 12)
        lined = in_ascii(ascii_only, size_chart, "t", marks, sizes, "", 60, 12, curves=[(marks, 0)])
        assert (lined.glyph == "o").sum() == (bare.glyph == "o").sum() == 5
        changed = lined.glyph != bare.glyph
        assert changed.sum() > 30
        assert (bare.glyph[changed] == " ").all()


@given(st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=6), st.integers(4, 40), st.booleans())
def test_every_axis_has_two_labels_at_least(values: list[float], rows: int, log: bool) -> None:
    assert len(value_axis(values, rows, log=log, percent=False).ticks) >= 2


@pytest.mark.parametrize("rows", [5, 6, 10, 17, 30])
def test_a_logarithmic_axis_is_labelled_from_end_to_end(rows: int) -> None:
    """As the trade-off of 16x to 471x: its largest speedups stood above the highest number."""
    ticks = value_axis([16.0, 70.0, 433.0, 471.0], rows, log=True, percent=False).ticks
    assert ticks[0] == (rows - 1, "10")
    assert ticks[-1] == (0, "500")
