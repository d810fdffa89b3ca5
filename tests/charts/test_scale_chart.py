"""The charts of scale-model prediction: what they show, and that they say what the numbers say."""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scalemodel.measurements import Measurements, Scaling, collect_measurements
from scalemodel.predict import Outcome, predict
from scalemodel.rules import RULES
from scalemodel.validate import validate
from tests.drawing import in_ascii
from tui.charts.axis import value_axis
from tui.charts.grid import AXIS, Grid, blank, plain
from tui.charts.size_plot import (
    MEASURED,
    SIMULATED,
    Mark,
    draw_curve,
    error_chart,
    prediction_chart,
    size_chart,
)

GOLDEN = Path(__file__).parent / "golden"
FITS = collect_measurements(
    [(8, 100), (16, 198), (32, 390), (64, 1500)],
    [(8, 6.0), (16, 6.0), (32, 5.9), (64, 0.2)],
    [(16, 0.5)],
    name="fits",
)
FLAT = collect_measurements([(8, 50), (16, 99), (32, 195), (64, 380)], name="flat", scaling=Scaling.WEAK)


def fits(*rules: str, **options: object) -> tuple[Measurements, Outcome]:
    given_options: dict[str, object] = {"simulated": (8, 16), **options}
    return FITS, predict(FITS, (32, 64), rules=rules or ("additive",), **given_options)  # type: ignore[arg-type]


def without_f_mem() -> tuple[Measurements, Outcome]:
    """A bracket instead of a point at the cliff, and open at the top: no misses are left."""
    alone = collect_measurements([(8, 100), (16, 198)], [(16, 6.0), (32, 5.9), (64, 0.0)])
    return alone, predict(alone, (32, 64))


def plot_of(grid: Grid) -> tuple[int, int]:
    """The row of the size axis and the column of the value axis."""
    corners = np.argwhere((grid.glyph == "└") | ((grid.glyph == "+") & (grid.style == AXIS)))
    row = int(corners[:, 0].max())
    return row, int(corners[corners[:, 0] == row, 1].min())


def columns_of(grid: Grid, style: int, glyph: str | None = None) -> list[int]:
    foot, left = plot_of(grid)
    found = grid.style[1:foot, left + 1 :] == style
    if glyph is not None:
        found &= grid.glyph[1:foot, left + 1 :] == glyph
    return (np.flatnonzero(found.any(axis=0)) + left + 1).tolist()


@st.composite
def pictures(draw: st.DrawFn) -> tuple[Measurements, Outcome]:
    """Any two or three models and targets, with and without a curve, by any rules."""
    sizes = sorted(draw(st.sets(st.integers(1, 10**6), min_size=4, max_size=7)))
    models = sizes[: draw(st.integers(2, 3))]
    magnitude = 10.0 ** draw(st.integers(-6, 6))
    ipc = st.floats(magnitude, 1000 * magnitude)
    mpki = draw(st.lists(st.floats(0, 100), min_size=len(sizes), max_size=len(sizes)))
    has_curve, measured = draw(st.booleans()), draw(st.booleans())
    measurements = collect_measurements(
        [(size, draw(ipc)) for size in (sizes if measured else models)],
        list(zip(sizes, mpki, strict=True)) if has_curve else [],
        [(models[-1], draw(st.floats(0, 0.99)))] if draw(st.booleans()) else [],
    )
    rules = draw(st.lists(st.sampled_from(list(RULES)), min_size=1, max_size=7, unique=True))
    return measurements, predict(measurements, sizes[len(models) :], rules=rules, simulated=models)


@given(pictures(), st.integers(60, 120), st.integers(10, 40))
def test_the_first_rule_is_seen_wherever_it_has_a_point(
    picture: tuple[Measurements, Outcome], width: int, height: int
) -> None:
    measurements, outcome = picture
    grid = prediction_chart(measurements, outcome, width, height)
    first = outcome.predictions[0].method
    points = [each for each in outcome.predictions if each.method == first and each.ipc is not None]
    symbol = "o" if len({each.method for each in outcome.predictions}) == 1 else "A"
    # Sizes far below each other's distance share a column.
    assert bool(points) == bool(columns_of(grid, 0, symbol))


def test_sizes_stand_at_their_logarithms() -> None:
    grid = prediction_chart(*fits(), 80, 16)
    foot, _ = plot_of(grid)
    ticks = np.flatnonzero(grid.glyph[foot] == "┬")
    assert len(ticks) == 4
    assert np.ptp(np.diff(ticks)) <= 1, "8, 16, 32 and 64 are as far from each other"
    uneven = size_chart(
        "", [Mark(8, 1, "o", 0), Mark(80, 1, "o", 0)], [(8, "8"), (10, "10"), (80, "80")], "SMs", 80, 10
    )
    first, second, third = np.flatnonzero(uneven.glyph[plot_of(uneven)[0]] == "┬").tolist()
    assert (second - first) / (third - first) == pytest.approx(math.log(10 / 8) / math.log(10), abs=0.01)


def test_values_stand_at_their_rows() -> None:
    """Nine rows from 0 to 8: the padding is less than half a row."""
    marks = [Mark(2**n, float(n), "o", 0) for n in range(9)]
    grid = size_chart("", marks, [(2**n, str(n)) for n in range(9)], "", 60, 12)
    rows, columns = np.nonzero(grid.style == 0)
    assert rows.tolist() == list(range(1, 10))
    assert columns.tolist() == sorted(columns.tolist(), reverse=True)


def test_what_is_drawn_is_ipc_over_size() -> None:
    """A benchmark that grows in proportion is level: all of it stands on the line."""
    level = collect_measurements([(8, 80), (16, 160), (32, 320), (64, 640)], scaling=Scaling.WEAK)
    grid = prediction_chart(level, predict(level, (32, 64), simulated=(8, 16)), 70, 15)
    rows = {int(row) for style in (SIMULATED, MEASURED) for row in np.nonzero(grid.style == style)[0]}
    foot, _ = plot_of(grid)
    assert len({row for row in rows if row < foot}) == 1


def test_scale_models_targets_and_predictions_differ_without_colour() -> None:
    for ascii_only, model in ((False, "■"), (True, "#")):
        grid = in_ascii(ascii_only, prediction_chart, *fits(), 80, 16)
        foot, left = plot_of(grid)
        ticks = np.flatnonzero(grid.glyph[foot, left + 1 :] == ("+" if ascii_only else "┬")) + left + 1
        assert columns_of(grid, SIMULATED, model) == ticks[:2].tolist()
        assert columns_of(grid, 0, "o") == (ticks[2:] - 1).tolist()
        assert columns_of(grid, MEASURED, "x") == (ticks[2:] + 1).tolist()


def test_the_interval_is_a_bar_from_low_to_high() -> None:
    measurements, outcome = fits()
    grid = prediction_chart(measurements, outcome, 80, 22)
    last = outcome.predictions[-1]
    assert last.low is not None
    assert last.high is not None
    column = columns_of(grid, 0, "o")[-1]
    rows = np.flatnonzero(grid.style[:, column] == 0)
    values = [100 / 8, 198 / 16, 390 / 32, 1500 / 64, last.low / 64, last.high / 64]
    values += [end / 32 for each in outcome.predictions[:1] for end in (each.low, each.high) if end]
    axis = value_axis(values, plot_of(grid)[0] - 1, log=False, percent=False)
    assert rows.tolist() == list(range(1 + axis.row_at(last.high / 64), 2 + axis.row_at(last.low / 64)))


def test_a_bracket_without_a_top_is_open() -> None:
    measurements, outcome = without_f_mem()
    assert outcome.predictions[-1].high is None
    for ascii_only in (False, True):
        grid = in_ascii(ascii_only, prediction_chart, measurements, outcome, 60, 14)
        assert columns_of(grid, 0, "o"), "the target before the cliff has its point"
        (column,) = columns_of(grid, 0, "^")
        assert grid.glyph[1, column] == "^"
        assert "o" not in grid.glyph[:, column]


def test_the_cliff_is_shaded_between_its_sizes() -> None:
    grid = prediction_chart(*fits(), 80, 16)
    foot, left = plot_of(grid)
    ticks = np.flatnonzero(grid.glyph[foot, left + 1 :] == "┬") + left + 1
    shaded = np.flatnonzero((grid.glyph[1:foot] == "░").any(axis=0))
    assert set(shaded.tolist()) <= set(range(ticks[2] + 1, ticks[3]))
    assert len(shaded) >= ticks[3] - ticks[2] - 3
    assert "░ cliff, 32 to 64" in plain(grid)
    flat = prediction_chart(FLAT, predict(FLAT, (32,), simulated=(8, 16)), 80, 16)
    assert "░" not in plain(flat)
    assert "cliff" not in plain(flat)


def test_errors_by_rule_and_target() -> None:
    validation = validate([FITS], rules=("additive", "logarithmic"))
    grid = error_chart(validation, "SMs", 60, 14)
    foot, left = plot_of(grid)
    additive, logarithmic = (np.argwhere(grid.glyph[1:foot, left:] == letter) for letter in "AB")
    assert len(additive) == len(logarithmic) == 2
    means = {
        method: {target: score.mean or 0 for target, score in by_target.items()}
        for method, by_target in validation.scores.items()
    }
    assert max(means["additive"].values()) < min(means["logarithmic"].values())
    assert additive[:, 0].min() > logarithmic[:, 0].max(), "the larger error is the higher"
    assert means["logarithmic"][32] < means["logarithmic"][64]
    assert [column for _, column in sorted(logarithmic.tolist())] == sorted(logarithmic[:, 1], reverse=True)
    assert "%" in plain(grid)


@given(
    st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=6), st.integers(1, 40), st.booleans(), st.booleans()
)
@example([1, 1e-12], 2, True, True)
def test_an_axis_holds_its_values_and_labels_are_apart(
    values: list[float], rows: int, log: bool, percent: bool
) -> None:
    axis = value_axis(values, rows, log=log, percent=percent)
    assert all(0 <= axis.row_at(value) < rows for value in values)
    assert axis.row_at(max(values)) <= axis.row_at(min(values))
    places = [row for row, _ in axis.ticks]
    assert places
    assert places == sorted(places, reverse=True)
    # Above the row of 0 one number may stand alone, in the next row too.
    assert all(first - second > (not axis.has_zero or len(places) > 2) for first, second in pairwise(places))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6), st.integers(1, 60))
@example([0.001, 30.0], 3)
def test_no_label_is_below_zero_where_no_value_is(values: list[float], rows: int) -> None:
    axis = value_axis(values, rows, log=False, percent=False)
    assert [text for _, text in axis.ticks if text.startswith("-")] == []
    assert value_axis([-50.0, 50.0], 30, log=False, percent=False).ticks[0][1].startswith("-")


GOLDENS = {
    "cliff": lambda *size: prediction_chart(*fits(), *size),
    "bracket": lambda *size: prediction_chart(*without_f_mem(), *size),
}


@pytest.mark.parametrize(("size", "ascii_only"), [((80, 16), False), ((40, 10), True)])
@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, size: tuple[int, int], ascii_only: bool) -> None:
    """As in golden/; run once with UPDATE_GOLDEN=1 to write them anew, and read the difference."""
    text = plain(in_ascii(ascii_only, GOLDENS[name], *size)) + "\n"
    path = GOLDEN / f"scale-{name}-{size[0]}x{size[1]}-{'ascii' if ascii_only else 'unicode'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


# Lines between points

POINTS = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 59)), min_size=2, max_size=6).map(
    lambda points: sorted(points, key=lambda point: point[1])
)


def curve_of(points: list[tuple[int, int]], *, ascii_only: bool) -> Grid:
    grid = blank(60, 15)
    in_ascii(ascii_only, draw_curve, grid, points, 3)
    return grid


@pytest.mark.parametrize("ascii_only", [False, True])
@given(points=POINTS)
def test_a_line_fills_every_column_between_its_points_near_the_straight_line(
    ascii_only: bool, points: list[tuple[int, int]]
) -> None:
    grid = curve_of(points, ascii_only=ascii_only)
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
