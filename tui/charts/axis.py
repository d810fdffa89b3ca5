"""Axes: ticks on round numbers, labels that do not touch, linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from tui.charts.grid import AXIS, LABEL, Grid, glyph_set, put
from tui.charts.quantities import decimal, duration, si, si_tick, time_unit

_LABEL_GAP = 2
_ROWS_A_TICK = 3
_ROWS_A_BAR_TICK = 4
# Values closer than this share of the largest are not drawn further apart than they are.
_LEAST_SPAN = 0.2
_PAD, _SMALLEST = 0.04, 1e-300
# A fraction this small is a rounding error, and counts as 0 on a logarithmic axis.
_ROUNDING = 1e-9
# Values whose logarithms are closer have an axis of other numbers than powers of ten, twice and five times.
_SHORT = 0.3


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick: the column of its mark, and its label with the column where that starts."""

    column: int
    text: str
    text_column: int


def fitting(candidates: Iterable[tuple[Sequence[int], Sequence[str]]], left: int, right: int) -> list[Tick]:
    """The first of several (columns, labels) whose labels do not touch in columns left..right; none if none.

    A label is centred below its column, its unit apart from it.
    """
    for columns, texts in candidates:
        ticks = []
        free = left
        for column, text in zip(columns, texts, strict=True):
            start = min(max(column - len(text.split(" ")[0]) // 2, left), right + 1 - len(text))
            if start < free:
                break
            ticks.append(Tick(column, text, start))
            free = start + len(text) + _LABEL_GAP
        else:
            if ticks:
                return ticks
    return []


def round_step(low: int, high: int, intervals: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 25, 50, ... with at most `intervals` multiples there, or one."""
    steps = (int(digit * 10**power) for power in count() for digit in (1, 2, 2.5, 5) if power or digit != 2.5)
    return next(step for step in steps if len(multiples(low, high, step)) <= max(intervals, 1))


def multiples(low: int, high: int, step: int) -> range:
    """The multiples of `step` in the closed range low..high."""
    return range(-(-low // step) * step, high + 1, step)


def time_labels(ticks_ns: Sequence[int], step_ns: int) -> list[str]:
    """Exact labels in one unit shared by the whole axis; the last one names it."""
    if not ticks_ns:
        return []
    name, factor = time_unit(ticks_ns[-1])
    decimals = next(d for d in range(10) if step_ns * 10**d % factor == 0)
    texts = [decimal(tick * 10**decimals // factor, decimals) for tick in ticks_ns]
    return [*texts[:-1], f"{texts[-1]} {name}"]


def time_ticks(
    low_ns: int, high_ns: int, column_at: Callable[[int], int], left: int, right: int, *, log: bool = False
) -> list[Tick]:
    """As many ticks at round durations in low..high as have room for their labels in columns left..right.

    On a logarithmic axis at 1, 2 and 5 times the powers of ten, or at the powers alone, each with its unit.
    """
    decades = [10**power for power in range(19)]
    sets = [[n * ten for ten in decades for n in (1, 2, 5)], decades, decades[::2], decades[::3]]
    most_ticks = max((right - left) // 6, 1) if low_ns < high_ns else 0

    def candidates() -> Iterator[tuple[list[int], list[str]]]:
        for numbers in sets if log else ():
            ticks = [tick for tick in numbers if low_ns <= tick <= high_ns]
            if len(ticks) > 1:
                units = map(time_unit, ticks)
                labels = [
                    f"{ns // unit_ns:,} {name}" for ns, (name, unit_ns) in zip(ticks, units, strict=True)
                ]
                yield [*map(column_at, ticks)], labels
        for step in dict.fromkeys(round_step(low_ns, high_ns, number) for number in range(most_ticks, 0, -1)):
            round_ns = multiples(low_ns, high_ns, step)
            yield [*map(column_at, round_ns)], time_labels(round_ns, step)
        # Of a single duration one tick says all, in as many digits as the legend.
        yield [column_at(low_ns)], [duration(low_ns)]

    return fitting(candidates(), left, right)


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """An axis of rows from the top."""

    #: The ends of what is shown; logarithms on a logarithmic axis.
    low: float
    high: float
    #: At least one.
    rows: int
    log: bool
    percent: bool
    #: No tick is below it: the room below values that cannot be negative has no number.
    least: float = -math.inf
    #: Whether the lowest row is for values of 0, which a logarithm cannot show.
    has_zero: bool = False
    #: (row, label), from the foot up.
    ticks: tuple[tuple[int, str], ...] = ()

    def row_at(self, value: float) -> int:
        """The row of a value, 0 at the top; values beyond the ends are put at the ends."""
        if self.has_zero and _is_zero(value, percent=self.percent):
            return self.rows - 1
        place = value if not self.log else math.log10(value) if value > 0 else self.low
        share = (place - self.low) / (self.high - self.low)
        return round((1 - min(max(share, 0.0), 1.0)) * (max(self.rows - self.has_zero, 1) - 1))

    def label(self, value: float) -> str:
        """A value in at most three digits."""
        if self.percent:
            return f"{100 * value:.3g} %"
        if abs(value) >= 1e18 or 0 < abs(value) < 1e-3:
            return f"{value:.1e}"
        return si(value) if abs(value) >= 1000 else f"{value:.3g}"

    def value(self, place: float) -> float:
        """The number at a place between `low` and `high`."""
        return 10**place if self.log else max(place, self.least)


def value_axis(values: Sequence[float], rows: int, *, log: bool, percent: bool) -> ValueAxis:
    """An axis with room for the values, labelled with the most round numbers that stand apart, or its ends.

    `values`: finite; an axis from 0 to 1 where there are none. `rows`: of the plot.
    """
    rows = max(rows, 1)
    positive = [value for value in values if not _is_zero(value, percent=percent)]
    has_zero = log and len(positive) < len(values)
    low, high = _log_ends(positive) if log else _ends(values)
    least = 0.0 if min(values, default=0.0) >= 0 else -math.inf
    axis = ValueAxis(low, high, rows, log, percent, least, has_zero)
    zero = ((rows - 1, "0"),) if has_zero else ()
    if has_zero and not positive:
        # Where all is 0 there is nothing to measure above it.
        return replace(axis, ticks=zero)

    def labelled(*numbers: float) -> tuple[tuple[int, str], ...]:
        return (*zero, *((axis.row_at(value), axis.label(value)) for value in numbers))

    placed = [labelled(*numbers) for numbers in _candidates(axis)]
    apart = (
        ticks for ticks in placed if all(row - 1 > next_row for (row, _), (next_row, _) in pairwise(ticks))
    )
    ticks = max(apart, key=len, default=())
    if len(ticks) < 2 and rows > 2 - has_zero:
        ticks = ((zero or labelled(axis.value(low)))[0], (0, axis.label(axis.value(high))))
    elif len(ticks) < 2:
        ticks = zero or labelled(axis.value((low + high) / 2))
    return replace(axis, ticks=ticks)


def ticks_across(axis: ValueAxis, label: Callable[[float], str], right: int) -> list[Tick]:
    """The most ticks with room for their labels on a horizontal axis, which ends in column `right`.

    `label`: a number in words.
    """
    numbers = [*sorted(_candidates(axis), key=len, reverse=True), [axis.value((axis.low + axis.high) / 2)]]
    placed = (([right - axis.row_at(value) for value in ticks], [*map(label, ticks)]) for ticks in numbers)
    return fitting(placed, 0, right)


def _is_zero(value: float, *, percent: bool) -> bool:
    return value <= (_ROUNDING if percent else 0)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    # Smaller ones cannot be divided into steps.
    if all(abs(value) < _SMALLEST for value in values):
        return 0.0, 1.0
    low, high = min(values), max(values)
    missing = max(_LEAST_SPAN * max(abs(low), abs(high)) - (high - low), 0.0)
    pad = missing / 2 or _PAD * (high - low)
    return low - pad, high + pad


def _log_ends(positive: Sequence[float]) -> tuple[float, float]:
    """The logarithms of the round numbers around the values, so that both ends have a label."""
    if not positive:
        return -1.0, 0.0
    low, high = math.log10(min(positive)), math.log10(max(positive))
    if high - low < _SHORT:
        return low - 0.1, high + 0.1
    powers = range(math.floor(low), math.floor(high) + 2)
    places = [power + math.log10(digit) for power in powers for digit in (1, 2, 5)]
    below = max(place for place in places if place <= low + _ROUNDING)
    return below, min(place for place in places if place >= high - _ROUNDING)


def _candidates(axis: ValueAxis) -> list[list[float]]:
    """Sets of round numbers on the axis; on a logarithmic one with both of its ends where these are round."""
    low, high = axis.low, axis.high
    if axis.log:
        decades = [10.0**power for power in range(math.floor(low), math.ceil(high) + 1)]
        thirds = [
            tick
            for tick in (digit * decade for decade in decades for digit in (1, 2, 5))
            if low - _ROUNDING <= math.log10(tick) <= high + _ROUNDING
        ]
        if len(thirds) > 1:
            ends = {thirds[0], thirds[-1]}
            between = [tick for tick in decades if thirds[0] < tick < thirds[-1]]
            selections = (between[start::step] for step in (1, 2, 3) for start in range(step))
            return [thirds, *(sorted(ends.union(ticks)) for ticks in selections), sorted(ends), decades[1:-1]]
        # So short a range is nearly linear.
        low, high = 10**low, 10**high
    least_gap = (high - low) / max(axis.rows // _ROWS_A_TICK, 1)
    power = 10.0 ** math.floor(math.log10(least_gap))
    steps = [digit * power * scale for scale in (1, 10, 100) for digit in (1.0, 2.0, 2.5, 5.0)]
    ranges = [(step, math.ceil(max(low, axis.least) / step), math.floor(high / step)) for step in steps]
    return [[n * step for n in range(first, last + 1)] for step, first, last in ranges if step >= least_gap]


def axis_margin(axis: ValueAxis) -> int:
    """The first column of a plot that has this axis before it."""
    return max(len(text) for _, text in axis.ticks) + 2


def ticks_up(top_value: float, foot: int, *, top: str) -> list[tuple[int, str]]:
    """(row, label) of an axis of bars: 0 at the foot, the highest value at the top, round numbers between.

    `top`: the highest value in words.
    """
    parts = 1 if top_value == int(top_value) else 1000
    top_step = int(top_value * parts)
    step = round_step(1, top_step, max(foot // _ROWS_A_BAR_TICK, 1)) if top_step else 1
    ticks = []
    for n in multiples(1, top_step, step):
        row = foot - max(round(n / parts * foot / top_value), 1)
        if 1 < row < foot - 1:
            ticks.append((row, f"{n / parts:g}" if n < 1000 * parts else si_tick(n // parts)))
    return [(foot, "0"), *ticks, (0, top)]


def draw_up(grid: Grid, ticks: Iterable[tuple[int, str]], foot: int, left: int, top: int = 0) -> None:
    """An axis before column `left`, from the row `top` down to the corner in the row `foot`.

    `ticks`: (row, label); one in the row `foot` has no mark.
    """
    glyphs, column = glyph_set(), left - 1
    grid.glyph[top:foot, column] = glyphs.vertical
    grid.glyph[foot, column] = glyphs.corner
    grid.style[top : foot + 1, column] = AXIS
    for row, text in ticks:
        put(grid, row, max(column - 1 - len(text), 0), f"{text} ", LABEL)
        if row < foot:
            put(grid, row, column, glyphs.tick_left, AXIS)


def draw_across(grid: Grid, foot: int, left: int, ticks: Sequence[Tick], columns: Iterable[int] = ()) -> None:
    """An axis in the row `foot` from column `left` on, its labels in the row below.

    `columns`: of ticks without a label.
    """
    glyphs = glyph_set()
    put(grid, foot, left, glyphs.horizontal * (grid.width - left), AXIS)
    for column in (*columns, *(tick.column for tick in ticks)):
        put(grid, foot, column, glyphs.tick_down, AXIS)
    for tick in ticks:
        put(grid, foot + 1, tick.text_column, tick.text, LABEL)
