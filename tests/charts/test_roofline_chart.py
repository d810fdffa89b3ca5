"""A roofline as text: where the points stand, the roof above them, and charts without room or points."""

from __future__ import annotations

import pytest

from sampling.estimation.roofline import RooflinePoint, RooflineSummary
from sampling.record import Quantity
from tui.charts.grid import plain
from tui.charts.roofline import RUN_SIGN, roofline_chart
from tui.report.pictures import roofline_shapes
from tui.terminal.printable import ascii_within


def point(intensity: float | None, performance: float | None, key: str = "k") -> RooflinePoint:
    def quantity(value: float | None) -> Quantity:
        return Quantity(value, value and value / 1.2, value and value * 1.2)

    return RooflinePoint(key, 0.5, quantity(intensity), quantity(performance))


def summary(*kernels: RooflinePoint, peaks: bool = True) -> RooflineSummary:
    run = point(5.0, 2e12, "")
    return RooflineSummary(
        10e12 if peaks else None, 1e12 if peaks else None, run, list(kernels), len(kernels), [], {}
    )


def drawn(figure: RooflineSummary, width: int = 100, height: int = 20) -> list[str]:
    with ascii_within():
        return plain(roofline_chart(figure, width, height)).splitlines()


def places(rows: list[str], sign: str) -> tuple[int, int]:
    """Row and column of a sign of the plot; the axes have digits of their own."""
    return next((row, line.index(sign, 8)) for row, line in enumerate(rows[:-2]) if sign in line[8:])


def test_points_stand_further_right_and_higher_for_more() -> None:
    rows = drawn(summary(point(1.0, 5e11), point(50.0, 9e12)))
    first, second, run = (places(rows, sign) for sign in ("1", "2", RUN_SIGN))
    assert first[0] > run[0] > second[0]
    assert first[1] < run[1] < second[1]
    # A bar to either side of it.
    assert rows[run[0]][run[1] - 1 : run[1] + 2] == f"-{RUN_SIGN}-"


def test_the_roof_rises_to_the_ridge_and_is_level_from_there() -> None:
    rows = drawn(summary(point(0.5, 1e11), point(100.0, 1e12)))
    top = [min(row for row, line in enumerate(rows[:-2]) if column < len(line) and line[column] == "=")
           for column in range(20, 98)]  # fmt: skip
    assert top == sorted(top, reverse=True)
    assert top[0] > top[-1] == top[-20]


def test_no_point_hides_another() -> None:
    rows = drawn(summary(*(point(5.0, 2e12) for _ in range(4))))
    (signs,) = (line[8:] for line in rows[:-2] if RUN_SIGN in line)
    assert all(sign in signs for sign in ("1", "2", "3", "4"))


def test_without_ceilings_there_is_no_roof_and_without_operations_no_chart() -> None:
    bare = drawn(summary(point(0.01, 1e9), point(500.0, 1e12), peaks=False))
    assert not any("=" in line for line in bare[:-2])
    empty = RooflineSummary(None, None, point(0.0, 0.0), [point(None, None)], 1, [], {})
    assert drawn(empty)[0].strip() == "no floating-point operations to draw"


@pytest.mark.parametrize(("width", "height"), [(1, 1), (12, 4), (40, 6), (200, 60)])
def test_a_chart_has_the_size_that_is_asked_for(width: int, height: int) -> None:
    grid = roofline_chart(summary(point(1.0, 5e11)), width, height)
    assert grid.glyph.shape == (height, width)


@pytest.mark.parametrize("peaks", [True, False])
def test_the_picture_has_a_point_each_and_the_roof_where_it_is_known(peaks: bool) -> None:
    shapes = list(roofline_shapes(summary(point(1.0, 5e11), point(0.0, 0.0), peaks=peaks)))
    assert sum("<circle" in shape for shape in shapes) == 2
    assert sum("<polyline" in shape for shape in shapes) == peaks
    assert not any("nan" in shape for shape in shapes)
