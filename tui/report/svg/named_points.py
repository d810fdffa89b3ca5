"""Points with names beside them, which do not run over each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tui.charts import quantities
from tui.report.drawings import Points
from tui.report.escaping import in_html
from tui.report.svg.axes import BOTTOM, LEFT, RIGHT, TOP, Axis, axes, digit_ticks

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
