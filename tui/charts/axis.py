"""Ticks on round numbers, and labels that do not touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tui.charts.quantities import decimal, duration, time_unit

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
