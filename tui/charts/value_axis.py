"""The upward axis of numbers of any magnitude: linear or logarithmic, ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tui.charts.quantities import si

_ROWS_A_TICK = 3
# Values closer than this share of the largest are not drawn further apart than they are.
_LEAST_SPAN = 0.2
_PAD = 0.04
# What is 0 on a logarithmic axis: a share of the largest.
_LEAST_SHARE = 1e-4
_ROUND = (1.0, 2.0, 2.5, 5.0)


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """An axis of rows from the top.

    Attributes
    ----------
    low, high : of what is shown; logarithms on a logarithmic axis.
    rows : at least one.
    ticks : (row, label), from the foot up.
    """

    low: float
    high: float
    rows: int
    log: bool
    percent: bool
    ticks: tuple[tuple[int, str], ...] = ()

    def row_of(self, value: float) -> int:
        """The row of a value, 0 at the top; what lies beyond the ends stands at them."""
        place = _log(value, self.low) if self.log else value
        share = (place - self.low) / (self.high - self.low)
        return round((1 - min(max(share, 0.0), 1.0)) * (self.rows - 1))

    def label(self, value: float) -> str:
        """A value in at most three digits."""
        if self.percent:
            return f"{100 * value:.3g} %"
        if abs(value) >= 1e18 or 0 < abs(value) < 1e-3:
            return f"{value:.1e}"
        return si(value) if abs(value) >= 1000 else f"{value:.3g}"


def value_axis(values: Sequence[float], rows: int, *, log: bool, percent: bool) -> ValueAxis:
    """An axis with room for the values.

    Parameters
    ----------
    values : finite; an axis from 0 to 1 where there are none.
    rows : of the plot.
    """
    low, high = _log_ends(values) if log else _ends(values)
    axis = ValueAxis(low, high, max(rows, 1), log, percent)
    candidates = _log_ticks(low, high) if log else _linear_ticks(low, high, rows)
    return ValueAxis(low, high, axis.rows, log, percent, _placed(axis, candidates))


def _ends(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    missing = _LEAST_SPAN * max(abs(low), abs(high)) - (high - low)
    if missing > 0:
        low, high = low - missing / 2, high + missing / 2
    if low == high:
        return 0.0, 1.0
    pad = _PAD * (high - low)
    return low - pad, high + pad


def _log_ends(values: Sequence[float]) -> tuple[float, float]:
    largest = max(values, default=0.0)
    if largest <= 0:
        return -1.0, 0.0
    smallest = max(min(values), largest * _LEAST_SHARE)
    low, high = math.log10(smallest), math.log10(largest)
    return (low - 0.1, high + 0.1) if high - low < 0.3 else (low, high)


def _log(value: float, floor: float) -> float:
    return math.log10(value) if value > 0 else floor


def _linear_ticks(low: float, high: float, rows: int) -> list[list[float]]:
    """Round numbers from low to high, ever fewer."""
    least = (high - low) / max(rows // _ROWS_A_TICK, 1)
    power = 10.0 ** math.floor(math.log10(least))
    steps = [digit * power * scale for scale in (1, 10, 100) for digit in _ROUND]
    return [
        [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        for step in steps
        if step >= least
    ]


def _log_ticks(low: float, high: float) -> list[list[float]]:
    decades = [10.0**power for power in range(math.floor(low), math.ceil(high) + 1)]
    thirds = [digit * decade for decade in decades for digit in (1, 2, 5)]
    kept = [[tick for tick in ticks if low <= math.log10(tick) <= high] for ticks in (thirds, decades)]
    return [*kept, *(kept[0][start::3] for start in (0, 1, 2))]


def _placed(axis: ValueAxis, candidates: Sequence[Sequence[float]]) -> tuple[tuple[int, str], ...]:
    """The first ticks of which no two stand in rows side by side; else the one in the middle."""
    fewest: tuple[tuple[int, str], ...] = ()
    for ticks in candidates:
        placed = tuple((axis.row_of(tick), axis.label(tick)) for tick in ticks)
        rows = [row for row, _ in placed]
        if placed and all(above + 1 < below for below, above in pairwise(rows)):
            return placed
        fewest = placed[len(placed) // 2 :][:1] or fewest
    middle = (axis.low + axis.high) / 2
    value = 10**middle if axis.log else middle
    return fewest or ((axis.row_of(value), axis.label(value)),)
