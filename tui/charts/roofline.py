"""Performance over arithmetic intensity, both logarithmic, below what a GPU can do, with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.charts.axis import axis_margin, draw_across, draw_up, ticks_across, value_axis
from tui.charts.grid import AXIS, SELECTED, Grid, blank, cluster_style, glyph_set, lines, put, too_small
from tui.charts.quantities import si

if TYPE_CHECKING:
    from sampling.estimation.roofline import RooflineSummary

_FOOT_ROWS = 2
_BESIDE = (1, -1, 2, -2, 3, -3)
#: The sign of the run; kernels have the numbers that a table has
RUN_SIGN = "*"


def roofline_chart(summary: RooflineSummary, width: int, height: int) -> Grid:
    """A (height, width) grid: the roof, the kernels by their numbers from 1, the run as a star."""
    signs = [
        (str(number % 10), cluster_style(number), kernel) for number, kernel in enumerate(summary.kernels, 1)
    ]
    shown = [place for place in [*signs[::-1], (RUN_SIGN, SELECTED, summary.run)] if place[2].is_drawable]
    if not shown:
        return lines(["no floating-point operations to draw"], width, height)
    if (sentence := too_small(width, height)) is not None:
        return sentence
    intensities = [end for _, _, point in shown for end in point.intensity.ends]
    performances = [end for _, _, point in shown for end in point.performance.ends]
    if summary.peak_operations and summary.peak_bytes:
        intensities.append(summary.peak_operations / summary.peak_bytes)
        performances.append(summary.peak_operations)
    grid, foot = blank(width, height), height - _FOOT_ROWS
    upward = value_axis(performances, foot, log=True, percent=False)
    left, right = axis_margin(upward), width - 1
    across = value_axis(intensities, right - left + 1, log=True, percent=False)
    draw_up(grid, upward.ticks, foot, left)
    draw_across(
        grid,
        foot,
        left,
        ticks_across(across, lambda value: f"{value:.3g}" if value < 1000 else si(value), right),
    )
    for column in range(left, right + 1):
        share = (column - left) / max(right - left, 1)
        roof = summary.roof_at(across.value(across.low + share * (across.high - across.low)))
        if roof is not None and roof >= upward.value(upward.low):
            put(grid, upward.row_at(roof), column, glyph_set().roof, AXIS)
    taken: set[tuple[int, int]] = set()
    for _, style, point in shown:
        column, row = (
            right - across.row_at(point.intensity.value or 0),
            upward.row_at(point.performance.value or 0),
        )
        low, high = (right - across.row_at(end) for end in point.intensity.ends)
        put(grid, row, low, glyph_set().horizontal * (high - low + 1), style)
        top, bottom = (upward.row_at(end) for end in point.performance.ends[::-1])
        for between in range(top, bottom + 1):
            put(grid, between, column, glyph_set().vertical, style)
    # Signs stand on all bars: the run's in its own place, then those of kernels, beside one that is taken.
    for sign, style, point in reversed(shown):
        row = upward.row_at(point.performance.value or 0)
        column = right - across.row_at(point.intensity.value or 0)
        beside = [column + step for step in _BESIDE if left < column + step <= right]
        column = next((at for at in (column, *beside) if (row, at) not in taken), column)
        taken.add((row, column))
        put(grid, row, column, sign, style)
    return grid
