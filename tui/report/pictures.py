"""The charts of a report as SVG: axes, bars, dots, curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import FloatArray
from sampling.text import counted
from tui.charts import quantities
from tui.charts.axis import multiples, round_step, time_labels
from tui.report.sections import Bars, Cells, Curve, Drawing, Figure, Points
from tui.report.style import SERIES, in_html, picture_style
from tui.version import __version__

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


# An error this small, and none at all, stands at the foot of a logarithmic axis.
_LEAST_ERROR = 1e-4
_GAP, _LINE, _LETTER = 9, 14, 6.8

Box = tuple[float, float, float, float]


def points_of(points: Points) -> Iterator[str]:
    """Yield the axes and the points."""
    error = np.maximum(points.error, _LEAST_ERROR)
    across = Axis(float(points.speedup.min()) / 1.4, float(points.speedup.max()) * 1.4, LEFT, RIGHT, log=True)
    up = Axis(float(error.min()) / 1.4, float(error.max()) * 1.4, BOTTOM, TOP, log=True)
    x_ticks = digit_ticks(across.low, across.high, quantities.ratio)
    y_ticks = digit_ticks(up.low, up.high, quantities.share)
    yield from axes(across, up, x_ticks, y_ticks, "speedup", "mean error")
    places = list(zip(across.at(points.speedup).tolist(), up.at(error).tolist(), strict=True))
    boxes = name_boxes(places, points.names)
    for (x, y), (left, foot, right, _), name in zip(places, boxes, points.names, strict=True):
        if abs(foot - 4 - y) > 1:
            # The name is not beside its point, but leads to it.
            near = left - 2 if left > x else right + 2
            yield f'<path class="axis" d="M{x:.1f} {y:.1f}L{near:.1f} {foot - 4:.1f}"/>'
        yield f'<circle class="fill0" r="4.5" cx="{x:.1f}" cy="{y:.1f}"/>'
        yield f'<text x="{left:.1f}" y="{foot:.1f}">{in_html(name)}</text>'


def name_boxes(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[Box]:
    """Return (left, foot, right, top) of each name: beside its point, where no other name or point is.

    Where all such places are taken, it is the last one tried, furthest away.
    """
    taken: list[Box] = [(x - 6, y + 6, x + 6, y - 6) for x, y in places]
    boxes: list[Box] = []
    for (x, y), name in zip(places, names, strict=True):
        width = len(name) * _LETTER
        tried = [
            (left, foot, left + width, foot - 10)
            for away in range(8)
            for foot in dict.fromkeys((y + 4 + away * _LINE, y + 4 - away * _LINE))
            for left in (x + _GAP, x - _GAP - width)
            if left >= LEFT and left + width <= RIGHT and TOP + 10 <= foot <= BOTTOM - 2
        ]
        if not tried:
            # Wider than the picture to either side of its point.
            left, foot = max(min(x - width / 2, RIGHT - width), LEFT), max(y - _GAP, TOP + 10)
            tried = [(left, foot, left + width, foot - 10)]
        free = (each for each in tried if not any(_overlap(each, other) for other in taken))
        box = next(free, tried[-1])
        taken.append(box)
        boxes.append(box)
    return boxes


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes, whose tops have the smaller number, share a place."""
    return one[0] < other[2] and other[0] < one[2] and one[3] < other[1] and other[3] < one[1]


_MOST_ENTRIES = 12
# How solid a cell is by its launches, as shares of the fullest one.
_SHADES = (0.35, 0.55, 0.75, 1.0)

Legend = list[tuple[str, str]]


def svg_of(drawing: Drawing) -> Iterator[str]:
    """Yield the parts of a picture of `WIDTH` by `HEIGHT` pixels."""
    match drawing:
        case Bars():
            return _bars(drawing)
        case Cells():
            return _cells(drawing)
        case Curve():
            return _curve(drawing)
        case Points():
            return points_of(drawing)


def legend_of(drawing: Drawing) -> Legend:
    """Return (mark, words) for each colour and mark; a mark is a picture of 12 by 12."""
    if isinstance(drawing, Points):
        # Each has its name beside it.
        return []
    if isinstance(drawing, Curve):
        return [('<circle class="chosen" cx="6" cy="6" r="4.5"/>', f"the plan: epsilon {drawing.chosen:g}")]
    entries = [
        (f'<rect class="{_fill(stratum)}" width="12" height="12"/>', name)
        for stratum, name in enumerate(drawing.names[:_MOST_ENTRIES])
    ]
    more = len(drawing.names) - len(entries)
    entries += [("", f"and {counted(more, 'stratum', 'strata')} more")] if more > 0 else []
    if isinstance(drawing, Cells) and len(drawing.drawn):
        entries.append(('<circle class="drawn" cx="6" cy="6" r="4.5"/>', "drawn by the plan"))
    return entries


def _fill(stratum: int) -> str:
    return f"fill{stratum % SERIES}"


def _bars(bars: Bars) -> Iterator[str]:
    data = bars.data
    edges_ns, top = data.edges_ns, int(data.counts.max())
    low_ns, high_ns = int(edges_ns[0]), int(edges_ns[-1])
    across, up = Axis(low_ns, high_ns, LEFT, RIGHT, bars.log), Axis(0, top, BOTTOM, TOP)
    x_ticks = time_ticks(low_ns, high_ns, log=bars.log)
    yield from axes(across, up, x_ticks, count_ticks(0, top), "duration", "launches")
    edges = across.at(edges_ns)
    if low_ns == high_ns:
        # One duration alone is a bar in the middle.
        edges = edges[0] + np.linspace(-6, 6, len(edges))
    below = np.zeros(len(data.counts))
    for stratum, counts in enumerate(data.cluster_counts):
        bottom, height = up.at(below), up.at(below + counts)
        there = np.flatnonzero(counts)
        path = "".join(
            f"M{edges[place]:.1f} {bottom[place]:.1f}V{height[place]:.1f}"
            f"H{max(edges[place + 1] - 0.5, edges[place] + 0.7):.1f}V{bottom[place]:.1f}z"
            for place in there.tolist()
        )
        below = below + counts
        yield f'<path class="{_fill(stratum)}" d="{path}"/>'


def _cells(cells: Cells) -> Iterator[str]:
    across, up = (
        Axis(1, cells.launches, LEFT, RIGHT),
        Axis(cells.low_ns, cells.high_ns, BOTTOM, TOP, cells.log),
    )
    y_ticks = time_ticks(cells.low_ns, cells.high_ns, log=cells.log, upright=True)
    x_ticks = count_ticks(1, cells.launches)
    yield from axes(across, up, x_ticks, y_ticks, "launch of the group", "duration")
    width, height = (RIGHT - LEFT) / cells.columns, (BOTTOM - TOP) / cells.rows
    drawn_width = max(width - 0.5, 1.0)
    left, top = LEFT + cells.column * width, BOTTOM - (cells.row + 1) * height
    shade = np.ceil(np.log1p(cells.count) / np.log1p(cells.count.max()) * len(_SHADES)).astype(int) - 1
    for stratum, level in sorted(set(zip(cells.stratum.tolist(), shade.tolist(), strict=True))):
        there = np.flatnonzero((cells.stratum == stratum) & (shade == level)).tolist()
        path = "".join(
            f"M{left[place]:.1f} {top[place]:.1f}h{drawn_width:.1f}v{height:.1f}h-{drawn_width:.1f}z"
            for place in there
        )
        yield f'<path class="{_fill(stratum)}" fill-opacity="{_SHADES[level]}" d="{path}"/>'
    for column, row in cells.drawn.tolist():
        x, y = LEFT + (column + 0.5) * width, BOTTOM - (row + 0.5) * height
        yield f'<circle class="drawn" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _curve(curve: Curve) -> Iterator[str]:
    if not len(curve.epsilon):
        return
    low, high = float(curve.speedup.min()), float(curve.speedup.max())
    # Room around the ends, so that a level curve is no line along an axis.
    across = Axis(float(curve.epsilon[0]) / 1.1, float(curve.epsilon[-1]) * 1.1, LEFT, RIGHT, log=True)
    up = Axis(low / 1.2, high * 1.2, BOTTOM, TOP, log=True)
    x_ticks = digit_ticks(across.low, across.high, lambda value: f"{value:g}")
    y_ticks = digit_ticks(up.low, up.high, quantities.ratio)
    yield from axes(across, up, x_ticks, y_ticks, "epsilon", "speedup")
    x, y = across.at(curve.epsilon), up.at(curve.speedup)
    points = list(zip(x.tolist(), y.tolist(), curve.epsilon.tolist(), strict=True))
    line = " ".join(f"{left:.1f},{top:.1f}" for left, top, _ in points)
    yield f'<polyline class="curve" points="{line}"/>'
    for left, top, epsilon in points:
        mark = 'class="chosen" r="6"' if epsilon == curve.chosen else 'class="fill0" r="3.5"'
        yield f'<circle {mark} cx="{left:.1f}" cy="{top:.1f}"/>'


_FONT = 'font-family="Helvetica, Arial, sans-serif" font-size="12"'
_ROW, _MARK, _GAP, _BELOW = 18, 17, 18, 8
# Wider than most letters of the font, as nothing here measures it.
_LETTER = 6.8

Place = tuple[float, float]


def picture_text(figure: Figure) -> str:
    """Return the whole file."""
    return "\n".join(_lines(figure)) + "\n"


def _lines(figure: Figure) -> Iterator[str]:
    entries = legend_of(figure.drawing)
    places, bottom = _placed(entries)
    size = f'width="{WIDTH}" height="{bottom:g}" viewBox="0 0 {WIDTH} {bottom:g}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" {size} {_FONT} role="img">'
    yield f"<title>{_text(figure.title)}</title>"
    yield f"<desc>{_text(figure.description)}</desc>"
    yield f"<metadata>KernelPoint {_text(__version__)}</metadata>"
    yield f"<style>\n{picture_style()}</style>"
    # Some viewers show what has no ground on a dark one.
    yield f'<rect width="{WIDTH}" height="{bottom:g}" fill="#ffffff"/>'
    yield from svg_of(figure.drawing)
    for (mark, words), (x, y) in zip(entries, places, strict=True):
        yield f'<g transform="translate({x:g} {y:g})">{mark}'
        yield f'<text x="{_MARK if mark else 0}" y="10.5">{_text(words)}</text></g>'
    yield "</svg>"


def _placed(entries: Legend) -> tuple[list[Place], float]:
    """Return where each entry of a legend begins, in rows below the chart, and where the picture ends."""
    places: list[Place] = []
    x, y = float(LEFT), float(HEIGHT + _BELOW)
    for mark, words in entries:
        width = (_MARK if mark else 0) + len(words) * _LETTER
        if places and x + width > RIGHT and x > LEFT:
            x, y = float(LEFT), y + _ROW
        places.append((x, y))
        x += width + _GAP
    return places, y + _ROW if places else float(HEIGHT)


def _text(text: str) -> str:
    """Return a text as it stands in XML, which has fewer letters than HTML."""
    return "".join(letter for letter in in_html(text) if letter not in "\ufffe\uffff")
