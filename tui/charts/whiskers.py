"""A ratio as a bar from 1, with the whiskers of its interval, in one row of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tui.terminal.printable import is_ascii

# Bar, whisker, its ends, the ratio, and where 1 is.
_SIGNS, _ASCII_SIGNS = "█─├┤●│", "=-[]o|"
_LEAST_SPAN = 0.002


def ratio_axis(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that has all ratios, those that are finite and above 0, and 1."""
    values = [1.0, *(ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0)]
    low, high = min(values), max(values)
    margin = 1.0 if high / low > 1 + _LEAST_SPAN else 1 + _LEAST_SPAN
    return low / margin, high * margin


def axis_words(axis: tuple[float, float]) -> str:
    """Return the ends of an axis in words, to stand above it."""
    sign = (_ASCII_SIGNS if is_ascii() else _SIGNS)[-1]
    return f"{axis[0]:.3g} to {axis[1]:.3g}, {sign} is 1"


def whisker_row(ratio: float, low: float, high: float, axis: tuple[float, float], width: int) -> str:
    """Return a ratio and its interval on a logarithmic axis in so many columns; NaN is not drawn."""
    bar, line, start, stop, point, one = list(_ASCII_SIGNS if is_ascii() else _SIGNS)
    span = math.log(axis[1] / axis[0])

    def column(value: float) -> int:
        place = math.log(value / axis[0]) / span
        return min(max(round(place * (width - 1)), 0), width - 1)

    row = [" "] * width
    if math.isfinite(low) and math.isfinite(high) and low < high:
        for place in range(column(low), column(high) + 1):
            row[place] = line
    if math.isfinite(ratio):
        ends = sorted((column(1), column(ratio)))
        for place in range(ends[0], ends[1] + 1):
            row[place] = bar
    row[column(1)] = one
    if math.isfinite(low) and math.isfinite(high) and low < high:
        row[column(low)], row[column(high)] = start, stop
    if math.isfinite(ratio) and ratio != 1:
        row[column(ratio)] = point
    return "".join(row).rstrip()
