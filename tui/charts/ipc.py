"""IPC over a kernel's cycles: what was simulated before the stop, what came after it, what is projected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from sampling.arrays import FloatArray, IntArray
from tui.charts.axis import Tick, draw_across, draw_up, fitting, multiples, round_step, ticks_up
from tui.charts.grid import MARKER, PROPOSED, Grid, blank, copy, glyph_set, lines, put, too_small
from tui.charts.legend import Entry, legend
from tui.charts.quantities import si, si_tick
from tui.terminal.printable import is_ascii

BEFORE, AFTER = 0, 1
"""The styles of what was simulated before the stop, and of what the log has after it."""

_LEFT = 7
_AXIS_ROWS = 2
_LEAST_ROWS_WITH_LEGEND = 6
_COLUMNS_A_TICK = 8


@dataclass(frozen=True, slots=True)
class IpcCurve:
    """A kernel's IPC, and where its simulation stops."""

    #: (n,) int64, ascending.
    cycle: IntArray
    #: (n,) float64, instructions over cycles up to each.
    ipc: FloatArray
    #: Where the simulation stops; None if it does not.
    stop_cycle: int | None = None
    #: The IPC there, at which the rest is projected.
    stop_ipc: float = 0.0
    #: Of the whole kernel; None if it is not projected.
    projected_cycles: float | None = None

    @property
    def last_cycle(self) -> int:
        """The end of the cycle axis: of the log, or of the projection where that is longer; at least 1."""
        return max(int(self.cycle[-1]), round(self.projected_cycles or 0), 1)


def ipc_chart(curve: IpcCurve, width: int, height: int) -> Grid:
    """A (height, width) grid: IPC since the kernel's start, upwards, over cycles.

    Bars up to the stop, paler ones after it, and a broken line at the IPC that the rest is projected at.
    """
    if curve.cycle.size == 0:
        return lines(["no cycles"], width, height)
    if (sentence := too_small(width, height)) is not None:
        return sentence
    glyphs, grid, columns = glyph_set(), blank(width, height), width - _LEFT
    full, pale, dash = ("#", ".", "-") if is_ascii() else ("█", "░", glyphs.gap)
    entries = _entries(curve, full, pale, dash)
    if height >= _LEAST_ROWS_WITH_LEGEND and len(entries) > 1:
        copy(legend(entries, columns, 1), grid, height - 1, _LEFT)
        height -= 1
    foot = height - _AXIS_ROWS
    by_column = _by_column(curve, columns)
    max_ipc = max(float(np.nanmax(by_column)), curve.stop_ipc) or 1.0
    draw_up(
        grid, ticks_up(max_ipc, foot, top=si(max_ipc) if max_ipc >= 0.01 else f"{max_ipc:.0e}"), foot, _LEFT
    )
    draw_across(grid, foot, _LEFT, _cycle_ticks(curve.last_cycle, width))

    def column_at(cycle: float) -> int:
        return min(int(cycle / curve.last_cycle * columns), columns - 1)

    def top_at(ipc: float) -> tuple[int, str]:
        """The row of the top cell of a bar, and its glyph."""
        levels = glyphs.levels or full
        steps = max(round(ipc * foot * len(levels) / max_ipc), 1)
        return foot - -(-steps // len(levels)), levels[(steps - 1) % len(levels)]

    stop = columns if curve.stop_cycle is None else column_at(curve.stop_cycle)
    for column in np.flatnonzero(~np.isnan(by_column)).tolist():
        row, top = top_at(by_column[column])
        grid.glyph[row:foot, _LEFT + column] = full if column <= stop else pale
        grid.style[row:foot, _LEFT + column] = BEFORE if column <= stop else AFTER
        if column <= stop:
            grid.glyph[row, _LEFT + column] = top
    if curve.stop_cycle is not None:
        ahead = column_at(curve.projected_cycles or 0) - stop
        put(grid, top_at(curve.stop_ipc)[0], _LEFT + stop + 1, dash * ahead, PROPOSED)
        for row in range(foot):
            put(grid, row, _LEFT + stop, glyphs.split, MARKER)
        put(grid, foot, _LEFT + stop, glyphs.split_foot, MARKER)
    return grid


def _by_column(curve: IpcCurve, columns: int) -> FloatArray:
    """The IPC of the interval at the middle of each column; the log's last column has the last interval's."""
    middle = (np.arange(columns) + 0.5) * curve.last_cycle / columns
    index = np.searchsorted(curve.cycle, middle)
    ipc = np.where(index < curve.cycle.size, curve.ipc[np.minimum(index, curve.cycle.size - 1)], np.nan)
    end = min(int(curve.cycle[-1] / curve.last_cycle * columns), columns - 1)
    if np.isnan(ipc[end]):
        ipc[end] = curve.ipc[-1]
    return ipc


def _entries(curve: IpcCurve, full: str, pale: str, dash: str) -> list[Entry]:
    if curve.stop_cycle is None:
        return []
    stop = si(curve.stop_cycle)
    entries = [Entry(full, BEFORE, (f"simulated: {stop} cycles", f"simulated: {stop}", stop))]
    if curve.projected_cycles is not None:
        cycles = si(curve.projected_cycles)
        entries.append(Entry(dash, PROPOSED, (f"projected: {cycles} cycles", f"projected: {cycles}", cycles)))
    if curve.cycle[-1] > curve.stop_cycle:
        entries.append(Entry(pale, AFTER, ("logged after the stop", "logged after", "after")))
    return entries


def _cycle_ticks(last_cycle: int, width: int) -> list[Tick]:
    """As many round numbers of cycles as have room for their labels, and the end, which names the unit.

    The end (of the log or the projection) is seldom a round number, so it has a label of its own; the round
    number before it is left out if the two would touch.
    """
    columns = width - _LEFT
    number = si(last_cycle)
    prefix = number.lstrip("0123456789.,")
    end = number.removesuffix(prefix)
    end = (end.rstrip("0").rstrip(".") if "." in end else end) + prefix

    def column_at(cycle: int) -> int:
        return _LEFT + min(int(cycle / last_cycle * columns), columns - 1)

    def candidates() -> Iterator[tuple[list[int], list[str]]]:
        for intervals in range(max(columns // _COLUMNS_A_TICK, 1), 0, -1):
            steps = multiples(0, last_cycle, round_step(0, last_cycle, intervals + 1))
            ticks = [cycle for cycle in steps if si_tick(cycle) != end]
            for unit, labelled in product((" cycles", ""), (ticks, ticks[:-1])):
                places = [column_at(cycle) for cycle in (*labelled, last_cycle)]
                yield places, [*map(si_tick, labelled), end + unit]

    return fitting(candidates(), 0, width - 1)
