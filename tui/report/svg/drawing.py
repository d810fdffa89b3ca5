"""Each chart as SVG, and what its colours and marks mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sampling.text import counted
from tui.charts import quantities
from tui.report.drawings import Bars, Cells, Curve, Drawing, Points
from tui.report.escaping import in_html
from tui.report.style import SERIES
from tui.report.svg.axes import BOTTOM, LEFT, RIGHT, TOP, Axis, axes, count_ticks, digit_ticks, time_ticks

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
