"""Axes of a chart: where a value lies, and ticks on round numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import FloatArray
from tui.charts import quantities
from tui.charts.axis import multiples, round_step, time_labels
from tui.report.escaping import in_html

#: The picture and the part of it that the axes enclose.
WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 92, 735, 12, 250
_MOST_TICKS = 7
# Letters that labels have room for: in all below the picture, and each at its side.
_LETTERS_BELOW, _LETTERS_BESIDE = 80, 9

Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from low to high over the pixels from first to last."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def at(self, values: Any) -> FloatArray:
        """Return where values lie, in pixels; in the middle where the axis has one value alone."""
        low, high = self._place(self.low), self._place(self.high)
        if low == high:
            return np.full(np.shape(values), (self.first + self.last) / 2)
        places = (self._place(values) - low) / (high - low)
        return np.asarray(self.first + places * (self.last - self.first))

    def _place(self, values: Any) -> Any:
        array = np.asarray(values, dtype=np.float64)
        return np.log(np.maximum(array, 1e-12)) if self.log else array


def time_ticks(low_ns: int, high_ns: int, *, log: bool, upright: bool = False) -> Ticks:
    """Return ticks at round durations in the range, as many as there is room for.

    Parameters
    ----------
    upright : whether the labels stand beside each other's lines, not in one.
    """
    if low_ns == high_ns:
        return [(low_ns, quantities.duration(low_ns))]
    if log:
        return digit_ticks(low_ns, high_ns, quantities.duration)
    for most in range(_MOST_TICKS, 0, -1):
        step = round_step(low_ns, high_ns, most)
        ticks = multiples(low_ns, high_ns, step)
        labels = time_labels(ticks, step)
        longest = max(map(len, labels), default=0)
        if longest <= _LETTERS_BESIDE if upright else longest * len(labels) <= _LETTERS_BELOW:
            break
    return list(zip(ticks, labels, strict=True))


def count_ticks(low: int, high: int) -> Ticks:
    """Return ticks at round whole numbers in the range."""
    step = round_step(low, high, _MOST_TICKS)
    return [(tick, quantities.count(tick)) for tick in multiples(low, high, step)]


def digit_ticks(low: float, high: float, text: Callable[[float], str]) -> Ticks:
    """Return ticks at 1, 2 and 5 times the powers of ten in the range, at its ends where there is none."""
    powers = range(math.floor(math.log10(max(low, 1e-12))), math.ceil(math.log10(max(high, 1e-12))) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        # Through text, as 2e-3 is the number nearest to 0.002 and 2 * 10.0**-3 need not be.
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        there = [tick for tick in ticks if low <= tick <= high]
        if len(there) <= _MOST_TICKS:
            break
    return [(tick, text(tick)) for tick in (there or sorted({low, high}))]


def axes(across: Axis, up: Axis, x_ticks: Ticks, y_ticks: Ticks, x_title: str, y_title: str) -> Iterator[str]:
    """Yield both axes with their ticks and titles."""
    for value, text in y_ticks:
        y = float(up.at(value))
        yield f'<path class="rule" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{in_html(text)}</text>'
    for value, text in x_ticks:
        x = float(across.at(value))
        yield f'<path class="axis" d="M{x:.1f} {BOTTOM}v5"/>'
        yield f'<text x="{x:.1f}" y="{BOTTOM + 19}" text-anchor="middle">{in_html(text)}</text>'
    yield f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{in_html(x_title)}</text>'
    y = (TOP + BOTTOM) / 2
    yield f'<text transform="translate(14 {y}) rotate(-90)" text-anchor="middle">{in_html(y_title)}</text>'
