"""The axes of a histogram: launches upwards, durations to the right."""

from __future__ import annotations

from tui.charts.axis import Tick, linear_time_ticks, log_time_ticks, multiples, round_step
from tui.charts.grid import AXIS, LABEL, put
from tui.charts.histogram_layout import LEFT, Plot
from tui.charts.quantities import si, si_tick

_ROWS_A_TICK = 4


def draw_count_axis(plot: Plot) -> None:
    """The axis of launches: the highest bar's at the top, 0 at the foot, round numbers between."""
    grid, foot, glyphs = plot.grid, plot.layout.foot, plot.glyphs
    grid.glyph[:foot, LEFT - 1] = glyphs.vertical
    grid.style[: foot + 1, LEFT - 1] = AXIS
    grid.glyph[foot, LEFT - 1] = glyphs.corner
    for row, text in _count_ticks(int(plot.data.counts.max()), foot):
        put(grid, row, 0, f"{text:>{LEFT - 2}} ", LABEL)
        if row < foot:
            put(grid, row, LEFT - 1, glyphs.tick_left, AXIS)


def _count_ticks(most: int, foot: int) -> list[tuple[int, str]]:
    """(row, label): the row is the one that a bar of so many launches just reaches."""
    step = round_step(1, most, max(foot // _ROWS_A_TICK, 1))
    ticks = [(foot - max(round(n * foot / most), 1), si_tick(n)) for n in multiples(1, most, step)]
    return [(foot, "0"), *((row, text) for row, text in ticks if 1 < row < foot - 1), (0, si(most))]


def draw_duration_axis(plot: Plot, longest_ns: int, *, log: bool) -> None:
    """The axis of durations, and its labels in the row below."""
    grid, foot, glyphs = plot.grid, plot.layout.foot, plot.glyphs
    put(grid, foot, LEFT, glyphs.horizontal * (grid.width - LEFT), AXIS)
    if plot.data.has_zero_bin:
        put(grid, foot, LEFT + 1, glyphs.gap, AXIS)
    for tick in _duration_ticks(plot, longest_ns, log=log):
        put(grid, foot, tick.column, glyphs.tick_down, AXIS)
        put(grid, foot + 1, tick.text_column, tick.text, LABEL)


def _duration_ticks(plot: Plot, longest_ns: int, *, log: bool) -> list[Tick]:
    edges_ns, right = plot.data.edges_ns, plot.grid.width - 1

    def column_of(ns: int) -> int:
        return plot.layout.column_of(plot.data.bin_of(ns))

    if not log:
        return linear_time_ticks(int(edges_ns[0]), longest_ns, column_of, 0, right)
    if not plot.data.has_zero_bin:
        return log_time_ticks(int(edges_ns[0]), longest_ns, column_of, 0, right)
    zero = Tick(LEFT, "0", LEFT)
    return [zero, *log_time_ticks(int(edges_ns[1]), longest_ns, column_of, LEFT + 3, right)]
