"""Axes: ticks on round numbers, labels that do not touch, linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tui.charts.grid import AXIS, LABEL, GlyphSet, Grid, glyph_set, put
from tui.charts.quantities import decimal, duration, si, si_tick, time_unit

_LABEL_GAP = 2


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick: the column of its mark, and its label with the column where that starts."""

    column: int
    text: str
    text_column: int


def round_steps() -> Iterator[int]:
    """The whole numbers that are 1, 2, 2.5 or 5 times a power of ten, ascending: 1, 2, 5, 10, 20, 25, ..."""
    power = 1
    while True:
        yield power
        yield 2 * power
        if power > 1:
            yield 5 * power // 2
        yield 5 * power
        power *= 10


def round_step(low: int, high: int, most: int) -> int:
    """The smallest round step with at most `most` of its multiples (at least one) in low..high."""
    return next(step for step in round_steps() if len(multiples(low, high, step)) <= max(most, 1))


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


def linear_time_ticks(
    low_ns: int, high_ns: int, column_of: Callable[[int], int], left: int, right: int
) -> list[Tick]:
    """As many ticks at round durations in low..high as have room for their labels in columns left..right."""
    if low_ns == high_ns:
        # As in the legend: a single tick needs no digits to differ from others.
        return _one_tick(low_ns, column_of, left, right)
    for most in range(max((right - left) // 6, 1), 0, -1):
        step = round_step(low_ns, high_ns, most)
        ticks = multiples(low_ns, high_ns, step)
        placed = place([column_of(tick) for tick in ticks], time_labels(ticks, step), left, right)
        if placed:
            return placed
    return _one_tick(low_ns, column_of, left, right)


def log_time_ticks(
    low_ns: int, high_ns: int, column_of: Callable[[int], int], left: int, right: int
) -> list[Tick]:
    """Ticks at 1, 2 and 5 times the powers of ten, or at the powers alone, each label with its own unit."""
    decades = [10**power for power in range(19) if 10**power <= high_ns]
    thirds = [digit * decade for decade in decades for digit in (1, 2, 5)]
    for candidates in (thirds, decades, decades[::2], decades[::3]):
        ticks = [tick for tick in candidates if low_ns <= tick <= high_ns]
        placed = place([column_of(tick) for tick in ticks], [_short(tick) for tick in ticks], left, right)
        if len(placed) > 1:
            return placed
    return linear_time_ticks(low_ns, high_ns, column_of, left, right)


def place(columns: Sequence[int], texts: Sequence[str], left: int, right: int) -> list[Tick]:
    """Each label centred below its column within left..right; no tick at all if any two would touch."""
    ticks = []
    free = left
    for column, text in zip(columns, texts, strict=True):
        number = text.split(" ")[0]
        start = min(max(column - len(number) // 2, left), right + 1 - len(text))
        if start < free:
            return []
        ticks.append(Tick(column, text, start))
        free = start + len(text) + _LABEL_GAP
    return ticks


def _one_tick(ns: int, column_of: Callable[[int], int], left: int, right: int) -> list[Tick]:
    return place([column_of(ns)], [duration(ns)], left, right)


def _short(ns: int) -> str:
    name, factor = time_unit(ns)
    return f"{ns // factor:,} {name}"


_ROWS_A_TICK = 3
_ROWS_A_BAR_TICK = 4
# Where so few round numbers are that far apart, they may be closer.
_LEAST_LABELS = 2
# Values closer than this share of the largest are not drawn further apart than they are.
_LEAST_SPAN = 0.2
_PAD = 0.04
# A fraction this small is a rounding error, and counts as 0 on a logarithmic axis.
_ROUNDING = 1e-9
# Values whose logarithms are closer have an axis of other numbers than powers of ten, twice and five times.
_SHORT = 0.3
_ROUND = (1.0, 2.0, 2.5, 5.0)


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """An axis of rows from the top.

    Attributes
    ----------
    low, high : of what is shown; logarithms on a logarithmic axis.
    rows : at least one.
    least : no tick is below it: the room below values that cannot be negative has no number.
    has_zero : whether the lowest row is for values of 0, which a logarithm cannot show.
    ticks : (row, label), from the foot up.
    """

    low: float
    high: float
    rows: int
    log: bool
    percent: bool
    least: float = -math.inf
    has_zero: bool = False
    ticks: tuple[tuple[int, str], ...] = ()

    def row_of(self, value: float) -> int:
        """The row of a value, 0 at the top; values beyond the ends are put at the ends."""
        if self.has_zero and _is_zero(value, percent=self.percent):
            return self.rows - 1
        place = _log(value, self.low) if self.log else value
        share = (place - self.low) / (self.high - self.low)
        return round((1 - min(max(share, 0.0), 1.0)) * (max(self.rows - self.has_zero, 1) - 1))

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
    positive = [value for value in values if not _is_zero(value, percent=percent)]
    low, high = _log_ends(positive) if log else _ends(values)
    has_zero = log and len(positive) < len(values)
    least = 0.0 if min(values, default=0.0) >= 0 else -math.inf
    axis = ValueAxis(low, high, max(rows, 1), log, percent, least, has_zero)
    # Where all is 0 there is nothing to measure above it.
    return replace(axis, ticks=_placed(axis, _candidates(axis) if positive or not has_zero else []))


def ticks_across(axis: ValueAxis, label: Callable[[float], str], right: int) -> list[Tick]:
    """The most ticks with room for their labels on a horizontal axis, which ends in column `right`.

    Parameters
    ----------
    label : a number in words.
    """
    candidates = _candidates(axis)
    alone = [[value] for values in candidates for value in values]
    placed = [
        place([right - axis.row_of(value) for value in values], [label(value) for value in values], 0, right)
        for values in (*candidates, *alone, [_middle(axis)])
    ]
    return max(placed, key=len)


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


def _is_zero(value: float, *, percent: bool) -> bool:
    return value <= (_ROUNDING if percent else 0)


def _log_ends(positive: Sequence[float]) -> tuple[float, float]:
    """The logarithms of the round numbers around the values, so that both ends have a label."""
    if not positive:
        return -1.0, 0.0
    low, high = math.log10(min(positive)), math.log10(max(positive))
    if high - low < _SHORT:
        return low - 0.1, high + 0.1
    rounded = [
        digit * 10.0**power for power in (math.floor(low), math.floor(high)) for digit in (1, 2, 5, 10)
    ]
    # A power of ten may be rounded in its logarithm.
    below = max(math.log10(value) for value in rounded if math.log10(value) <= low + _ROUNDING)
    above = min(math.log10(value) for value in rounded if math.log10(value) >= high - _ROUNDING)
    return below, above


def _log(value: float, floor: float) -> float:
    return math.log10(value) if value > 0 else floor


def _candidates(axis: ValueAxis) -> list[list[float]]:
    """Sets of round numbers on the axis, the preferred ones first."""
    low, high, rows = axis.low, axis.high, axis.rows
    if not axis.log:
        ticks = _linear_ticks(low, high, rows)
        if max(map(len, ticks)) < _LEAST_LABELS:
            ticks = _linear_ticks(low, high, rows * _ROWS_A_TICK // 2)
        return [[value for value in values if value >= axis.least] for values in ticks]
    candidates = _log_ticks(low, high)
    # A range this short may contain no 1, 2 or 5 times a power of ten; there the axis is nearly linear.
    return candidates if len(candidates[0]) > 1 else _linear_ticks(10**low, 10**high, rows)


def _linear_ticks(low: float, high: float, rows: int) -> list[list[float]]:
    """Sets of round numbers from low to high, each with fewer of them."""
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
    kept = [
        [tick for tick in ticks if low - _ROUNDING <= math.log10(tick) <= high + _ROUNDING]
        for ticks in (thirds, decades)
    ]
    ends = [kept[0][0], kept[0][-1]] if len(kept[0]) > 1 else []
    between = [tick for tick in kept[1] if tick not in ends]
    # With both ends rather than with as many others.
    from_end_to_end = [sorted([*ends, *between[start::step]]) for step in (1, 2, 3) for start in range(step)]
    return [
        kept[0],
        *(from_end_to_end if ends else ()),
        ends,
        kept[1],
        *(kept[1][::step] for step in (2, 3, 4)),
        *(kept[0][start::3] for start in (1, 2)),
    ]


def _rounded(value: float, digits: int, to: Callable[[float], int]) -> float:
    """A number rounded up or down to this many digits."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return to(value / unit) * unit


def _middle(axis: ValueAxis) -> float:
    return _value(axis, (axis.low + axis.high) / 2)


def _value(axis: ValueAxis, place: float) -> float:
    return 10**place if axis.log else place


def _placed(axis: ValueAxis, candidates: Sequence[Sequence[float]]) -> tuple[tuple[int, str], ...]:
    """The most ticks of which no two stand in rows side by side, two at least: else one at each end."""
    if axis.has_zero:
        return _placed_above_zero(axis, candidates)
    placed = [_labelled(axis, ticks, axis.rows) for ticks in candidates]
    most = max(filter(_are_apart, placed), key=len, default=())
    if len(most) > 1:
        return most
    low, high = max(_value(axis, axis.low), axis.least), _value(axis, axis.high)
    for digits in (1, 2, 3):
        ends = _labelled(
            axis, [_rounded(low, digits, math.ceil), _rounded(high, digits, math.floor)], axis.rows
        )
        if _are_apart(ends):
            return ends
    return most or _labelled(axis, [_middle(axis)], axis.rows)


def _placed_above_zero(axis: ValueAxis, candidates: Sequence[Sequence[float]]) -> tuple[tuple[int, str], ...]:
    """The most ticks apart from each other and from the row of 0; else the highest, if it is in another."""
    zero = (axis.rows - 1, "0")
    placed = [_labelled(axis, ticks, axis.rows - 2) for ticks in candidates]
    highest = [_labelled(axis, ticks[-1:], axis.rows - 1) for ticks in candidates if ticks]
    return (zero, *max((*filter(_are_apart, placed), *highest[:1]), key=len, default=()))


def _labelled(axis: ValueAxis, ticks: Sequence[float], rows: int) -> tuple[tuple[int, str], ...]:
    """The (row, label) of each tick in the first `rows` rows."""
    return tuple((axis.row_of(tick), axis.label(tick)) for tick in ticks if axis.row_of(tick) < rows)


def _are_apart(placed: Sequence[tuple[int, str]]) -> bool:
    return all(above + 1 < below for (below, _), (above, _) in pairwise(placed))


def left_of(axis: ValueAxis) -> int:
    """The first column of a plot that has this axis before it."""
    return max(len(text) for _, text in axis.ticks) + 2


def ticks_up(most: float, foot: int, *, top: str) -> list[tuple[int, str]]:
    """(row, label) of an axis of bars: 0 at the foot, the highest value at the top, round numbers between.

    Parameters
    ----------
    top : the highest value in words.
    """
    parts = 1 if most == int(most) else 1000
    whole = int(most * parts)
    step = round_step(1, whole, max(foot // _ROWS_A_BAR_TICK, 1)) if whole else 1
    ticks = []
    for n in multiples(1, whole, step):
        row = foot - max(round(n / parts * foot / most), 1)
        if 1 < row < foot - 1:
            ticks.append((row, f"{n / parts:g}" if n < 1000 * parts else si_tick(n // parts)))
    return [(foot, "0"), *ticks, (0, top)]


def draw_up(grid: Grid, ticks: Sequence[tuple[int, str]], foot: int, left: int, top: int = 0) -> None:
    """An axis before column `left`, from the row `top` down to the corner in the row `foot`.

    Parameters
    ----------
    ticks : (row, label); one in the row `foot` has no mark.
    """
    glyphs, at = glyph_set(), left - 1
    grid.glyph[top:foot, at] = glyphs.vertical
    grid.glyph[foot, at] = glyphs.corner
    grid.style[top : foot + 1, at] = AXIS
    for row, text in ticks:
        put(grid, row, 0, f"{text:>{at - 1}} ", LABEL)
        if row < foot:
            put(grid, row, at, glyphs.tick_left, AXIS)


def draw_across(
    grid: Grid, foot: int, left: int, columns: Iterable[int], labels: Sequence[Tick], glyphs: GlyphSet
) -> None:
    """An axis in the row `foot` from column `left` on, ticks in these columns, labels in the row below."""
    put(grid, foot, left, glyphs.horizontal * (grid.width - left), AXIS)
    for column in columns:
        put(grid, foot, column, glyphs.tick_down, AXIS)
    for label in labels:
        put(grid, foot + 1, label.text_column, label.text, LABEL)
