"""Marks over two axes: values over sizes, with lines and intervals; methods by speedup and error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from tui.charts.axis import axis_margin, draw_across, draw_up, fitting, ticks_across, value_axis
from tui.charts.grid import (
    AXIS,
    LABEL,
    LETTERS,
    MARKER,
    PROPOSED,
    SELECTED,
    Grid,
    blank,
    cluster_style,
    copy,
    fitted,
    glyph_set,
    lines,
    put,
    too_small,
)
from tui.charts.legend import Entry, legend
from tui.charts.quantities import ratio, si_tick
from tui.terminal.printable import is_ascii

if TYPE_CHECKING:
    from sampling.plan.sensitivity import TradeOffPoint
    from scalemodel.measurements import Measurements
    from scalemodel.predict import Outcome
    from scalemodel.validate import Validation

_BRAILLE = 0x2800
# The dots of a braille cell, two columns of four rows, as bits of its code point.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_DOT_ROWS, _DOT_COLUMNS = 4, 2
Cell = tuple[int, int]
"""A row and a column."""


def draw_curve(grid: Grid, points: Sequence[Cell], style: int) -> None:
    """Draw a line from point to point on a grid under construction.

    Lines go between the points' columns: those are left to what marks the points and to their bars.

    Parameters
    ----------
    points : cells of the grid, from the left to the right.
    """
    draw = _draw_strokes if is_ascii() else _draw_dots
    for first, last in pairwise(points):
        draw(grid, first, last, style)


def _draw_dots(grid: Grid, first: Cell, last: Cell, style: int) -> None:
    dots = 1 + 2 * max(_DOT_ROWS * abs(last[0] - first[0]), _DOT_COLUMNS * abs(last[1] - first[1]))
    # Through the middle of both cells.
    rows, columns = (
        np.linspace(size * start + (size - 1) / 2, size * stop + (size - 1) / 2, dots)
        for size, start, stop in zip((_DOT_ROWS, _DOT_COLUMNS), first, last, strict=True)
    )
    for row, column in dict.fromkeys(zip(rows.round().astype(int), columns.round().astype(int), strict=True)):
        cell = int(row) // _DOT_ROWS, int(column) // _DOT_COLUMNS
        if first[1] < cell[1] < last[1]:
            code_point = ord(grid.glyph[cell])
            before = code_point if _BRAILLE < code_point < _BRAILLE + 256 else _BRAILLE
            put(grid, *cell, chr(before | _DOTS[row % _DOT_ROWS][column % _DOT_COLUMNS]), style)


def _draw_strokes(grid: Grid, first: Cell, last: Cell, style: int) -> None:
    columns = range(first[1], last[1] + 1)
    rows = np.interp(columns, (first[1], last[1]), (first[0], last[0])).round().astype(int).tolist()
    for column, (row, following) in zip(columns, pairwise(rows), strict=False):
        if column == first[1]:
            continue
        if following == row:
            put(grid, row, column, "-", style)
        elif abs(following - row) == 1:
            put(grid, max(row, following), column, "/" if following < row else "\\", style)
        else:
            for line_row in range(min(row, following), max(row, following)):
                put(grid, line_row, column, "|", style)


_LEAST_ROWS_WITH_LEGEND = 6
_LEAST_ROWS_WITH_TITLE = 8
_ROWS_A_LEGEND_ROW = 3
_MOST_LANE_WIDTH = 2
# Each in Unicode and in ASCII.
_BASELINE = ("\N{BOX DRAWINGS LIGHT DOUBLE DASH HORIZONTAL}", ".")
SHADE = ("\N{LIGHT SHADE}", ":")
SQUARE = ("\N{BLACK SQUARE}", "#")


@dataclass(frozen=True, slots=True)
class Mark:
    """One value.

    Attributes
    ----------
    size : where it stands.
    value : None where there is only a bar.
    symbol, style : what marks it; the bar has the style too.
    low, high : the ends of its bar; low alone, one that is open at the top; None for none.
    lane : marks of one size stand side by side, by lane from 0; None in the middle.
    """

    size: float
    value: float | None
    symbol: str
    style: int
    low: float | None = None
    high: float | None = None
    lane: int | None = None


Curve = tuple[Sequence[Mark], int]
"""A line through some of the marks, and its style; a mark without a value is left out."""


def size_chart(  # noqa: PLR0913 - what a chart shows, in one place
    title: str,
    marks: Sequence[Mark],
    sizes: Sequence[tuple[float, str]],
    unit: str,
    width: int,
    height: int,
    *,
    entries: Sequence[Entry] = (),
    curves: Sequence[Curve] = (),
    shaded: tuple[float, float] | None = None,
    baseline: float | None = None,
    log: bool = False,
    percent: bool = False,
) -> Grid:
    """A (height, width) grid: values upwards over sizes, which stand at their logarithms.

    Parameters
    ----------
    title : what is upwards, in words; it stands in a row of its own where there is room.
    marks : drawn in this order: of two in one cell the later is seen.
    sizes : (size, label), ascending: the ticks; the marks' sizes are among them.
    unit : of the sizes, for the last label.
    entries : of the legend.
    curves : lines between marks, drawn in this order below the marks and their bars.
    shaded : the sizes between which the background is shaded.
    baseline : a value to draw a line at.
    log : whether values are on a logarithmic axis; those of 0 and below stand at its foot.
    percent : whether values are fractions to be labelled in per cent.
    """
    if (sentence := too_small(width, height)) is not None:
        return sentence
    grid, top, foot = _framed(title, entries, width, height, "signs")
    ends = [value for mark in marks for value in (mark.value, mark.low, mark.high) if value is not None]
    values = ends if baseline is None else [*ends, baseline]
    axis = value_axis(values, foot - top, log=log, percent=percent)
    left = axis_margin(axis)
    lanes = max((mark.lane + 1 for mark in marks if mark.lane is not None), default=1)
    places, lane_width = _columns([size for size, _ in sizes], lanes, left, width)
    size_columns = {size: column for (size, _), column in zip(sizes, places, strict=True)}

    def row_at(value: float) -> int:
        return top + axis.row_at(value)

    def column_at(mark: Mark) -> int:
        shift = 0 if mark.lane is None else mark.lane * lane_width - (lanes - 1) * lane_width // 2
        return min(max(size_columns[mark.size] + shift, left), width - 1)

    draw_up(grid, [(top + row, text) for row, text in axis.ticks], foot, left, top)
    labelled = _labelled(places, [label for _, label in sizes], unit)
    draw_across(grid, foot, left, fitting(labelled, 0, width - 1), places)
    if shaded is not None:
        first, last = (size_columns[size] for size in shaded)
        span = slice(first + 1, max(last, first + 2))
        grid.glyph[top:foot, span] = SHADE[is_ascii()]
        grid.style[top:foot, span] = AXIS
    if baseline is not None:
        put(grid, row_at(baseline), left, _BASELINE[is_ascii()] * (width - left), AXIS)
    for through, style in curves:
        cells = [(row_at(mark.value), column_at(mark)) for mark in through if mark.value is not None]
        draw_curve(grid, sorted(cells, key=lambda cell: cell[1]), style)
    for mark in marks:
        if mark.low is not None:
            ends_at = top if mark.high is None else row_at(mark.high), row_at(mark.low)
            _draw_bar(grid, mark, column_at(mark), *ends_at)
    # Over the bars of all.
    for mark in (candidate for candidate in marks if candidate.value is not None):
        put(grid, row_at(mark.value or 0.0), column_at(mark), mark.symbol, mark.style)
    return grid


def _labelled(columns: list[int], labels: list[str], unit: str) -> Iterator[tuple[list[int], list[str]]]:
    """All sizes with their labels, or every second, third, ... one, always with the largest."""
    for step in range(1, len(labels) + 1):
        selection = slice((len(labels) - 1) % step, None, step)
        for words in (f" {unit}", ""):
            yield columns[selection], [*labels[selection][:-1], labels[-1] + words]


def _draw_bar(grid: Grid, mark: Mark, column: int, first: int, last: int) -> None:
    """The bar of a mark between two rows, open at the top where it has no upper end."""
    glyphs = glyph_set()
    for row in range(first + 1, last):
        put(grid, row, column, glyphs.vertical, mark.style)
    if first < last:
        put(grid, first, column, "^" if mark.high is None else glyphs.tick_down, mark.style)
    if first < last or mark.value is None:
        put(grid, last, column, "+" if is_ascii() else glyphs.split_foot, mark.style)


def _framed(
    title: str, entries: Sequence[Entry], width: int, height: int, reason: str
) -> tuple[Grid, int, int]:
    """A grid with title and legend where they have room, the plot's first row, the row of its lower axis."""
    grid = blank(width, height)
    rows = max(height // _ROWS_A_LEGEND_ROW, 1) if height >= _LEAST_ROWS_WITH_LEGEND else 0
    words = legend(entries, width, rows, noun=reason)
    copy(words, grid, height - words.height, 0)
    top = int(height >= _LEAST_ROWS_WITH_TITLE)
    put(grid, 0, 0, fitted(title, width * top), LABEL)
    return grid, top, height - words.height - 2


def _columns(sizes: Sequence[float], lanes: int, left: int, width: int) -> tuple[list[int], int]:
    """The column of each size, and the columns of a lane: as many as keep sizes apart, at most two."""
    if len(sizes) == 1:
        return [(left + width) // 2], _MOST_LANE_WIDTH
    places = [math.log2(size / sizes[0]) for size in sizes]
    for lane_width in range(_MOST_LANE_WIDTH, -1, -1):
        margin = (lanes - 1) * lane_width // 2 + 1
        room = max(width - left - 2 * margin - 1, 0)
        columns = [left + margin + round(place / places[-1] * room) for place in places]
        if min(second - first for first, second in pairwise(columns)) > (lanes - 1) * lane_width + 1:
            break
    return columns, lane_width


SIMULATED, MEASURED = MARKER, PROPOSED
"""The styles of the scale models and of targets that were simulated too; predictions have a series each."""

_PREDICTED, _MEASURED = "o", "x"


def prediction_chart(measurements: Measurements, outcome: Outcome, width: int, height: int) -> Grid:
    """A (height, width) grid: IPC of each SM or chiplet over the system's size, both simulated and predicted.

    Divided by the size, what grows in proportion is level, and intervals can be seen. Lines go through the
    scale models, and on from the last one through what each rule predicts. A bar is the interval
    or bracket; one that ends in ``^`` is open. The background of the cliff is shaded.
    """
    symbols = _symbols(list(dict.fromkeys(prediction.method for prediction in outcome.predictions)))
    lanes = {method: lane for lane, method in enumerate(symbols)}
    targets = {prediction.target for prediction in outcome.predictions} - set(outcome.models)
    square = SQUARE[is_ascii()]
    simulated = [Mark(size, measurements.ipc[size] / size, square, SIMULATED) for size in outcome.models]
    measured = [
        Mark(size, measurements.ipc[size] / size, _MEASURED, MEASURED, lane=len(lanes))
        for size in sorted(targets)
        if size in measurements.ipc
    ]
    predicted = []
    for prediction in outcome.predictions:
        if prediction.target in targets:
            lane = lanes[prediction.method]
            # An interval without a finite end is drawn as open.
            ipc, low, high = (
                None if value is None or math.isinf(value) else value / prediction.target
                for value in (prediction.ipc, prediction.low, prediction.high)
            )
            symbol = symbols[prediction.method]
            predicted.append(Mark(prediction.target, ipc, symbol, cluster_style(lane), low, high, lane))
    # The first rule's marks come last: drawn over the others, they stay visible.
    predicted.sort(key=lambda mark: -(mark.lane or 0))
    # Lines through the scale models, and on from them by each rule.
    curves: list[Curve] = [(simulated, SIMULATED)]
    for _, marks in groupby(predicted, key=lambda mark: mark.lane):
        of_rule = sorted(marks, key=lambda mark: mark.size)
        before = [mark for mark in simulated if mark.size < of_rule[0].size]
        curves.append(([*before[-1:], *of_rule], of_rule[0].style))
    entries = [Entry(square, SIMULATED, ("simulated",)), *_rule_entries(symbols)]
    if measured:
        entries.append(Entry(_MEASURED, MEASURED, ("measured",)))
    shaded = None if outcome.cliff is None else (outcome.cliff.smaller, outcome.cliff.larger)
    if shaded is not None:
        words = (f"cliff, {shaded[0]} to {shaded[1]}", "cliff", "cliff")
        entries.append(Entry(SHADE[is_ascii()], AXIS, words))
    entries.append(Entry(_BASELINE[is_ascii()], AXIS, ("in proportion", "proportion", "prop.")))
    unit = measurements.scaling.unit
    return size_chart(
        f"IPC of each {unit.removesuffix('s')}",
        [*simulated, *measured, *predicted],
        _ticks({*outcome.models, *targets, *(shaded or ())}),
        unit,
        width,
        height,
        entries=entries,
        curves=curves,
        shaded=shaded,
        baseline=simulated[-1].value,
    )


def error_chart(validation: Validation, unit: str, width: int, height: int) -> Grid:
    """A (height, width) grid: each rule's mean error over the targets, with a bar up to its largest."""
    symbols = _symbols(list(validation.scores))
    marks = [
        Mark(target, score.mean, symbols[method], cluster_style(lane), score.mean, score.max, lane)
        for lane, (method, by_target) in reversed(list(enumerate(validation.scores.items())))
        for target, score in by_target.items()
        if score.mean is not None
    ]
    return size_chart(
        "mean error of each rule, and up to the largest",
        marks,
        _ticks({target for by_target in validation.scores.values() for target in by_target}),
        unit,
        width,
        height,
        entries=_rule_entries(symbols),
        log=True,
        percent=True,
    )


def _symbols(methods: Sequence[str]) -> dict[str, str]:
    """A letter for each rule; one alone is `o`."""
    letters = LETTERS if len(methods) > 1 else _PREDICTED
    return {method: letters[index % len(letters)] for index, method in enumerate(methods)}


def _rule_entries(symbols: dict[str, str]) -> list[Entry]:
    return [
        Entry(symbol, cluster_style(lane), (method, method, method[:4]))
        for lane, (method, symbol) in enumerate(symbols.items())
    ]


def _ticks(sizes: set[int]) -> list[tuple[float, str]]:
    return [(float(size), str(size)) for size in sorted(sizes)]


CHOSEN, OTHER = MARKER, cluster_style(0)
"""The styles of the chosen epsilon and of all others."""


def trade_off_chart(
    points: Sequence[TradeOffPoint], epsilons: Sequence[float], plan_epsilon: float, width: int, height: int
) -> Grid:
    """A (height, width) grid: the speedup of a plan over its epsilon as a line, both axes logarithmic.

    Parameters
    ----------
    points : those known so far, in any order; their epsilons are among ``epsilons``.
    epsilons : all that will be known, in any order: the axis has room for each from the start.
    plan_epsilon : the one to mark, if its point is there.
    """
    if not points:
        return lines(["no point of the curve yet"], width, height)
    signs = {True: (SQUARE[is_ascii()], CHOSEN), False: ("o", OTHER)}
    # The chosen one comes last: drawn over the others, it stays visible.
    ordered = sorted(points, key=lambda point: (point.epsilon == plan_epsilon, point.epsilon))
    marks = [Mark(point.epsilon, point.speedup, *signs[point.epsilon == plan_epsilon]) for point in ordered]
    entries = [Entry(*signs[False], ("a plan",))]
    if ordered[-1].epsilon == plan_epsilon:
        speedup = ratio(ordered[-1].speedup)
        words = (
            f"the plan: epsilon {plan_epsilon:g}, speedup {speedup}",
            f"epsilon {plan_epsilon:g}: {speedup}",
            speedup,
        )
        labels = ("at another epsilon", "another epsilon", "others")
        entries = [Entry(*signs[True], words), Entry(*signs[False], labels)]
    return size_chart(
        "speedup over epsilon",
        marks,
        [(epsilon, f"{epsilon:g}") for epsilon in sorted(set(epsilons))],
        "epsilon",
        width,
        height,
        entries=entries,
        curves=[(marks, OTHER)],
        log=True,
    )


# How long methods' names may be, longest first.
_NAME_LENGTHS = (40, 9, 4)
# From here on a tick has an SI prefix: "10kx".
_LEAST_WITH_PREFIX = 10_000
_LEAST_WHOLE = 100


@dataclass(frozen=True, slots=True)
class Point:
    """One method.

    Attributes
    ----------
    symbol, style : a letter and a colour, which are the method's own in every chart.
    error : the mean error, a fraction.
    """

    name: str
    symbol: str
    style: int
    speedup: float
    error: float


def scatter(points: Sequence[Point], width: int, height: int, *, selected: str | None = None) -> Grid:
    """A (height, width) grid: a letter a method, at its speedup and mean error.

    Letters that fall on one cell stand side by side, the smaller speedup first. An error of 0, which a
    logarithm cannot show, stands in the lowest row, marked 0. What is not finite is left out.

    Parameters
    ----------
    selected : the name of the method to mark, by no other glyphs.
    """
    points = [point for point in points if math.isfinite(point.error) and 0 < point.speedup < math.inf]
    if not points:
        return lines(["no points"], width, height)
    if (sentence := too_small(width, height)) is not None:
        return sentence
    style_of = {point.name: SELECTED if point.name == selected else point.style for point in points}
    longest, shorter, shortest = _NAME_LENGTHS
    entries = [
        Entry(
            point.symbol,
            style_of[point.name],
            (point.name[:longest], point.name[:shorter], point.name[:shortest]),
        )
        for point in points
    ]
    grid, top, foot = _framed("mean error over speedup", entries, width, height, "methods")
    upward = value_axis([point.error for point in points], foot - top, log=True, percent=True)
    left, right = axis_margin(upward), width - 1
    across = value_axis([point.speedup for point in points], right - left + 1, log=True, percent=False)
    draw_up(grid, [(top + row, text) for row, text in upward.ticks], foot, left, top)
    draw_across(grid, foot, left, ticks_across(across, _speedup_label, right))

    def row_at(point: Point) -> int:
        return top + upward.row_at(point.error)

    for row, of_row in groupby(sorted(points, key=row_at), key=row_at):
        level = sorted(of_row, key=lambda point: (point.speedup, point.symbol))
        columns = _apart([right - across.row_at(point.speedup) for point in level], left, right)
        for point, column in zip(level, columns, strict=True):
            put(grid, row, column, point.symbol, style_of[point.name])
    return grid


def _apart(columns: Sequence[int], left: int, right: int) -> list[int]:
    """The ascending columns with no two equal, those that are equal spread around their place.

    In a row that is too full the rest is put on its last cell.
    """
    index = np.arange(len(columns))
    free = np.array(columns) - index
    # Half way between pushing all to the right and all to the left.
    middle = (np.maximum.accumulate(free) + np.minimum.accumulate(free[::-1])[::-1]) // 2
    spread = np.clip(middle, left, max(right + 1 - len(columns), left)) + index
    return [min(column, right) for column in spread.tolist()]


def _speedup_label(speedup: float) -> str:
    if speedup >= _LEAST_WITH_PREFIX:
        return f"{si_tick(round(speedup))}x"
    return f"{speedup:,.0f}x" if speedup >= _LEAST_WHOLE else f"{speedup:.3g}x"
