"""IPC over a kernel's cycles: what was simulated before the stop, what came after it, what is projected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sampling.arrays import FloatArray, IntArray
from tui.charts.axis import Tick, multiples, place, round_step
from tui.charts.grid import (
    AXIS,
    LABEL,
    MARKER,
    PROPOSED,
    GlyphSet,
    Grid,
    blank,
    copy,
    fitted,
    glyph_set,
    put,
    sparkline,
)
from tui.charts.legend import Entry, legend
from tui.charts.quantities import si, si_tick
from tui.terminal.printable import is_ascii

SMALLEST_WIDTH = 20
SMALLEST_HEIGHT = 4
BEFORE, AFTER = 0, 1
"""The styles of what was simulated before the stop, and of what the log has after it."""

_LEFT = 7
_AXIS_ROWS = 2
_LEAST_ROWS_WITH_LEGEND = 6
_ROWS_A_TICK = 4
_COLUMNS_A_TICK = 8
_PARTS_OF_A_TICK = 1000
_ASCII_BEFORE, _ASCII_AFTER = "#", "."
_AFTER_GLYPH = "\N{LIGHT SHADE}"


@dataclass(frozen=True, slots=True)
class IpcCurve:
    """A kernel's IPC, and where its simulation stops.

    Attributes
    ----------
    cycle : (n,) int64, ascending.
    ipc : (n,) float64, instructions over cycles up to each.
    stop_cycle : where the simulation stops; None if it does not.
    stop_ipc : the IPC there, at which the rest is projected.
    projected_cycles : of the whole kernel; None if it is not projected.
    """

    cycle: IntArray
    ipc: FloatArray
    stop_cycle: int | None = None
    stop_ipc: float = 0.0
    projected_cycles: float | None = None

    @property
    def last_cycle(self) -> int:
        """The end of the cycle axis: of the log, or of the projection where that is longer; at least 1."""
        return max(int(self.cycle[-1]), round(self.projected_cycles or 0), 1)


@dataclass(frozen=True, slots=True)
class _Plot:
    """A chart under construction.

    Attributes
    ----------
    foot : the row of the cycle axis.
    ipc : (columns,) of the log in each column; NaN where the log has ended.
    most : the IPC at the top.
    stop_column : the column of the stop, counted from the axis; all columns where there is none.
    """

    grid: Grid
    curve: IpcCurve
    foot: int
    ipc: FloatArray
    most: float
    stop_column: int
    glyphs: GlyphSet


def ipc_chart(curve: IpcCurve, width: int, height: int) -> Grid:
    """A (height, width) grid: IPC since the kernel's start, upwards, over cycles.

    Bars up to the stop, paler ones after it, and a broken line at the IPC that the rest is projected at.
    Below 20x4 cells it is a sparkline and numbers.
    """
    if curve.cycle.size == 0 or width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        return _numbers(curve, width, height)
    entries = _entries(curve)
    rows = 1 if height >= _LEAST_ROWS_WITH_LEGEND and len(entries) > 1 else 0
    words = legend(entries, width - _LEFT, rows) if rows else blank(0, 0)
    ipc = _by_column(curve, width - _LEFT)
    plot = _Plot(
        grid=blank(width, height),
        curve=curve,
        foot=height - _AXIS_ROWS - rows,
        ipc=ipc,
        most=max(float(np.nanmax(ipc)), curve.stop_ipc) or 1.0,
        stop_column=_stop_column(curve, width - _LEFT),
        glyphs=glyph_set(),
    )
    _draw_axes(plot)
    _draw_bars(plot)
    _draw_projection(plot)
    _draw_stop(plot)
    copy(words, plot.grid, height - words.height, _LEFT)
    return plot.grid


def _by_column(curve: IpcCurve, columns: int) -> FloatArray:
    """The IPC of the interval at the middle of each column; the log's last column has the last interval's."""
    middle = (np.arange(columns) + 0.5) * curve.last_cycle / columns
    index = np.searchsorted(curve.cycle, middle)
    ipc = np.where(index < curve.cycle.size, curve.ipc[np.minimum(index, curve.cycle.size - 1)], np.nan)
    end = min(int(curve.cycle[-1] / curve.last_cycle * columns), columns - 1)
    if np.isnan(ipc[end]):
        ipc[end] = curve.ipc[-1]
    return ipc


def _stop_column(curve: IpcCurve, columns: int) -> int:
    if curve.stop_cycle is None:
        return columns
    return min(int(curve.stop_cycle / curve.last_cycle * columns), columns - 1)


def _entries(curve: IpcCurve) -> list[Entry]:
    glyphs = glyph_set()
    full, pale = (_ASCII_BEFORE, _ASCII_AFTER) if is_ascii() else (glyphs.levels[-1], _AFTER_GLYPH)
    if curve.stop_cycle is None:
        return [Entry(full, BEFORE, ("simulated",) * 3)]
    stop = si(curve.stop_cycle)
    entries = [Entry(full, BEFORE, (f"simulated: {stop} cycles", f"simulated: {stop}", stop))]
    if curve.projected_cycles is not None:
        whole = si(curve.projected_cycles)
        dash = _dash(glyphs)
        entries.append(Entry(dash, PROPOSED, (f"projected: {whole} cycles", f"projected: {whole}", whole)))
    if curve.cycle[-1] > curve.stop_cycle:
        entries.append(Entry(pale, AFTER, ("logged after the stop", "logged after", "after")))
    return entries


def _dash(glyphs: GlyphSet) -> str:
    """The glyph of the projection's broken line; in ASCII a plain one."""
    return glyphs.horizontal if is_ascii() else glyphs.gap


def _height(plot: _Plot, ipc: float) -> tuple[int, str]:
    """The row of the top cell of a bar, and its glyph."""
    if is_ascii():
        return plot.foot - max(round(ipc * plot.foot / plot.most), 1), ""
    levels = plot.glyphs.levels
    steps = max(round(ipc * plot.foot * len(levels) / plot.most), 1)
    return plot.foot - -(-steps // len(levels)), levels[(steps - 1) % len(levels)]


def _draw_bars(plot: _Plot) -> None:
    full, pale = (_ASCII_BEFORE, _ASCII_AFTER) if is_ascii() else (plot.glyphs.levels[-1], _AFTER_GLYPH)
    for column, ipc in enumerate(plot.ipc.tolist()):
        if np.isnan(ipc):
            continue
        is_before = column <= plot.stop_column
        row, top = _height(plot, ipc)
        plot.grid.glyph[row : plot.foot, _LEFT + column] = full if is_before else pale
        plot.grid.style[row : plot.foot, _LEFT + column] = BEFORE if is_before else AFTER
        if is_before and top:
            plot.grid.glyph[row, _LEFT + column] = top


def _draw_projection(plot: _Plot) -> None:
    if plot.curve.projected_cycles is None or plot.curve.stop_cycle is None:
        return
    row, _ = _height(plot, plot.curve.stop_ipc)
    columns = plot.ipc.size
    last = min(int(plot.curve.projected_cycles / plot.curve.last_cycle * columns), columns - 1)
    dash = _dash(plot.glyphs)
    for column in range(plot.stop_column + 1, last + 1):
        put(plot.grid, row, _LEFT + column, dash, PROPOSED)


def _draw_stop(plot: _Plot) -> None:
    """The line at which the simulation stops, through the bars and the axis."""
    if plot.curve.stop_cycle is None:
        return
    column = _LEFT + plot.stop_column
    for row in range(plot.foot):
        put(plot.grid, row, column, plot.glyphs.split, MARKER)
    put(plot.grid, plot.foot, column, plot.glyphs.split_foot, MARKER)


def _draw_axes(plot: _Plot) -> None:
    grid, foot, glyphs = plot.grid, plot.foot, plot.glyphs
    grid.glyph[:foot, _LEFT - 1] = glyphs.vertical
    grid.style[: foot + 1, _LEFT - 1] = AXIS
    grid.glyph[foot, _LEFT - 1] = glyphs.corner
    for row, text in _ipc_ticks(plot.most, foot):
        put(grid, row, 0, f"{text:>{_LEFT - 2}} ", LABEL)
        if row < foot:
            put(grid, row, _LEFT - 1, glyphs.tick_left, AXIS)
    put(grid, foot, _LEFT, glyphs.horizontal * (grid.width - _LEFT), AXIS)
    for tick in _cycle_ticks(plot.curve.last_cycle, grid.width):
        put(grid, foot, tick.column, glyphs.tick_down, AXIS)
        put(grid, foot + 1, tick.text_column, tick.text, LABEL)


def _ipc_ticks(most: float, foot: int) -> list[tuple[int, str]]:
    """(row, label): the highest IPC at the top, 0 at the foot, round numbers between."""
    parts = int(most * _PARTS_OF_A_TICK)
    step = round_step(1, parts, max(foot // _ROWS_A_TICK, 1)) if parts else 1
    ticks = [
        (foot - max(round(n / parts * foot), 1), _ipc_label(n / _PARTS_OF_A_TICK))
        for n in (multiples(1, parts, step) if parts else ())
    ]
    return [(foot, "0"), *((row, text) for row, text in ticks if 1 < row < foot - 1), (0, _top_label(most))]


def _ipc_label(ipc: float) -> str:
    return si_tick(int(ipc)) if ipc >= _PARTS_OF_A_TICK else f"{ipc:g}"


def _top_label(ipc: float) -> str:
    """The highest IPC in at most five glyphs; in scientific notation where two decimals would show 0."""
    return si(ipc) if ipc >= 0.01 else f"{ipc:.0e}"


def _cycle_ticks(last_cycle: int, width: int) -> list[Tick]:
    """As many round numbers of cycles as have room for their labels, and the end, which names the unit.

    The end (of the log or the projection) is seldom a round number, so it has a label of its own; the round
    number before it is left out if the two would touch.
    """
    columns, end = width - _LEFT, _end_label(last_cycle)

    def column_of(cycle: int) -> int:
        return _LEFT + min(int(cycle / last_cycle * columns), columns - 1)

    for most in range(max(columns // _COLUMNS_A_TICK, 1), 0, -1):
        ticks = [
            cycle
            for cycle in multiples(0, last_cycle, round_step(0, last_cycle, most + 1))
            if si_tick(cycle) != end
        ]
        for unit, kept in product((" cycles", ""), (ticks, ticks[:-1])):
            texts = [*map(si_tick, kept), end + unit]
            placed = place([column_of(cycle) for cycle in (*kept, last_cycle)], texts, 0, width - 1)
            if placed:
                return placed
    return []


def _end_label(cycle: int) -> str:
    """A number of cycles to three digits, without trailing zeros after the point: ``"106k"``, ``"50k"``."""
    text = si(cycle)
    number = text.rstrip("kMGTPE")
    prefix = text.removeprefix(number)
    return (number.rstrip("0").rstrip(".") if "." in number else number) + prefix


def _numbers(curve: IpcCurve, width: int, height: int) -> Grid:
    """The chart for too small a grid for axes: a sparkline, the stop, the projection."""
    grid = blank(width, height)
    if curve.cycle.size == 0:
        put(grid, 0, 0, fitted("no cycles", grid.width), LABEL)
        return grid
    columns = max(width, 1)
    line = np.nan_to_num(_by_column(curve, columns))
    rows: Sequence[str] = [
        sparkline(line, width),
        f"IPC {si(float(curve.ipc[-1] if curve.stop_cycle is None else curve.stop_ipc))}",
        "no stop" if curve.stop_cycle is None else f"stop at {si(curve.stop_cycle)}",
        "" if curve.projected_cycles is None else f"of {si(curve.projected_cycles)} cycles",
    ]
    for row, text in enumerate(rows):
        put(grid, row, 0, fitted(text, grid.width), LABEL)
    return grid
