"""Marks over two axes: values over sizes, with lines and intervals; methods by speedup and error."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from tui.charts.axis import Tick, ValueAxis, draw_across, draw_up, left_of, place, ticks_across, value_axis
from tui.charts.grid import (
    AXIS,
    LABEL,
    LETTERS,
    MARKER,
    PROPOSED,
    SELECTED,
    GlyphSet,
    Grid,
    blank,
    cluster_style,
    copy,
    fitted,
    glyph_set,
    lines,
    put,
)
from tui.charts.legend import Entry, legend
from tui.charts.quantities import ratio, share, si_tick
from tui.terminal.printable import is_ascii

if TYPE_CHECKING:
    from sampling.plan.nearby import TradeOffPoint
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
            here = ord(grid.glyph[cell])
            before = here if _BRAILLE < here < _BRAILLE + 256 else _BRAILLE
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
            for each in range(min(row, following), max(row, following)):
                put(grid, each, column, "|", style)


SMALLEST_WIDTH = 20
SMALLEST_HEIGHT = 4
_LEAST_ROWS_WITH_LEGEND = 6
_LEAST_ROWS_WITH_TITLE = 10
_ROWS_A_LEGEND_ROW = 3
_MOST_LANE_WIDTH = 2
_BASELINE = ("\N{BOX DRAWINGS LIGHT DOUBLE DASH HORIZONTAL}", ".")
_SHADE = ("\N{LIGHT SHADE}", ":")
_OPEN_TOP = "^"


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


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through some of the marks, in their order; one without a value is left out."""

    marks: Sequence[Mark]
    style: int


@dataclass(frozen=True, slots=True)
class SizePlot:
    """What a chart shows.

    Attributes
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

    title: str
    marks: Sequence[Mark]
    sizes: Sequence[tuple[float, str]]
    unit: str
    entries: Sequence[Entry] = ()
    curves: Sequence[Curve] = ()
    shaded: tuple[float, float] | None = None
    baseline: float | None = None
    log: bool = False
    percent: bool = False


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things lie.

    Attributes
    ----------
    top, foot : the first row of the plot, and the row of the size axis.
    left : the first column of the plot.
    columns : of each size, in the order of the plot's.
    lane_width : columns from one lane to the next.
    """

    grid: Grid
    plot: SizePlot
    axis: ValueAxis
    top: int
    foot: int
    left: int
    columns: dict[float, int]
    lane_width: int
    glyphs: GlyphSet

    def row_of(self, value: float) -> int:
        return self.top + self.axis.row_of(value)

    def column_of(self, mark: Mark) -> int:
        middle = self.columns[mark.size]
        if mark.lane is None:
            return middle
        shift = mark.lane * self.lane_width - (_lanes(self.plot) - 1) * self.lane_width // 2
        return min(max(middle + shift, self.left), self.grid.width - 1)


def size_chart(plot: SizePlot, width: int, height: int) -> Grid:
    """A (height, width) grid: values upwards over sizes; below 20x4 cells it is numbers."""
    if width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        return _numbers(plot, width, height)
    frame = _frame(plot, width, height)
    _draw_axes(frame)
    _draw_ground(frame)
    for curve in plot.curves:
        shown = [mark for mark in curve.marks if mark.value is not None]
        cells = [(frame.row_of(mark.value or 0.0), frame.column_of(mark)) for mark in shown]
        draw_curve(frame.grid, sorted(cells, key=lambda cell: cell[1]), curve.style)
    for mark in plot.marks:
        _draw_bar(frame, mark)
    for mark in plot.marks:
        if mark.value is not None:
            put(frame.grid, frame.row_of(mark.value), frame.column_of(mark), mark.symbol, mark.style)
    return frame.grid


def _frame(plot: SizePlot, width: int, height: int) -> _Frame:
    grid = blank(width, height)
    words = _legend(plot, width, height)
    top = 1 if height >= _LEAST_ROWS_WITH_TITLE else 0
    if top:
        put(grid, 0, 0, fitted(plot.title, width), LABEL)
    foot = height - words.height - 2
    axis = value_axis(_values(plot), foot - top, log=plot.log, percent=plot.percent)
    left = left_of(axis)
    columns, lane_width = _columns(plot, left, width)
    copy(words, grid, height - words.height, 0)
    glyphs = glyph_set()
    return _Frame(grid, plot, axis, top, foot, left, columns, lane_width, glyphs)


def _legend(plot: SizePlot, width: int, height: int) -> Grid:
    """A few rows that explain the marks; at most a third of the chart."""
    if not plot.entries or height < _LEAST_ROWS_WITH_LEGEND:
        return blank(0, 0)
    return legend(plot.entries, width, max(height // _ROWS_A_LEGEND_ROW, 1), what="signs")


def _values(plot: SizePlot) -> list[float]:
    ends = [value for mark in plot.marks for value in (mark.value, mark.low, mark.high)]
    return [value for value in (*ends, plot.baseline) if value is not None]


def _lanes(plot: SizePlot) -> int:
    return max((mark.lane + 1 for mark in plot.marks if mark.lane is not None), default=1)


def _columns(plot: SizePlot, left: int, width: int) -> tuple[dict[float, int], int]:
    """The column of each size, and the columns of a lane: as many as keep sizes apart, at most two."""
    places = [math.log2(size / plot.sizes[0][0]) for size, _ in plot.sizes]
    lanes = _lanes(plot)
    for lane_width in range(_MOST_LANE_WIDTH, -1, -1):
        margin = (lanes - 1) * lane_width // 2 + 1
        room = width - left - 2 * margin - 1
        if room < 0:
            continue
        columns = [left + margin + round(place / (places[-1] or 1) * room) for place in places]
        gaps = [second - first for first, second in pairwise(columns)]
        if min(gaps, default=width) > (lanes - 1) * lane_width + 1:
            break
    if len(places) == 1:
        columns = [(left + width) // 2]
    return {size: column for (size, _), column in zip(plot.sizes, columns, strict=True)}, lane_width


def _draw_axes(frame: _Frame) -> None:
    ticks = [(frame.top + row, text) for row, text in frame.axis.ticks]
    draw_up(frame.grid, ticks, frame.foot, frame.left, frame.top)
    draw_across(frame.grid, frame.foot, frame.left, frame.columns.values(), _size_ticks(frame), frame.glyphs)


def _size_ticks(frame: _Frame) -> list[Tick]:
    """The labels of all sizes, or of every second, third, ... one, always with the largest."""
    labels = [label for _, label in frame.plot.sizes]
    columns = list(frame.columns.values())
    right = frame.grid.width - 1
    for step in range(1, len(labels) + 1):
        kept = range((len(labels) - 1) % step, len(labels), step)
        for unit in (f" {frame.plot.unit}", ""):
            texts = [labels[index] for index in kept]
            texts[-1] += unit
            ticks = place([columns[index] for index in kept], texts, 0, right)
            if ticks:
                return ticks
    return []


def _draw_ground(frame: _Frame) -> None:
    plot, grid = frame.plot, frame.grid
    if plot.shaded is not None:
        first, last = (frame.columns[size] for size in plot.shaded)
        inside = slice(first + 1, last) if last > first + 1 else slice(last, last + 1)
        grid.glyph[frame.top : frame.foot, inside] = _SHADE[is_ascii()]
        grid.style[frame.top : frame.foot, inside] = AXIS
    if plot.baseline is not None:
        dash = _BASELINE[is_ascii()]
        put(grid, frame.row_of(plot.baseline), frame.left, dash * (grid.width - frame.left), AXIS)


def _draw_bar(frame: _Frame, mark: Mark) -> None:
    if mark.low is None:
        return
    column, last = frame.column_of(mark), frame.row_of(mark.low)
    first = frame.top if mark.high is None else frame.row_of(mark.high)
    for row in range(first + 1, last):
        put(frame.grid, row, column, frame.glyphs.vertical, mark.style)
    if first < last:
        top = _OPEN_TOP if mark.high is None else frame.glyphs.tick_down
        put(frame.grid, first, column, top, mark.style)
    if first < last or mark.value is None:
        put(frame.grid, last, column, "+" if is_ascii() else frame.glyphs.split_foot, mark.style)


def shade_symbol() -> str:
    """The glyph of the shaded background, for the legend."""
    return _SHADE[is_ascii()]


def baseline_symbol() -> str:
    """The glyph of the line, for the legend."""
    return _BASELINE[is_ascii()]


def _numbers(plot: SizePlot, width: int, height: int) -> Grid:
    """The chart for too small a grid for axes: a value a row, the last ones, which the user asked for."""
    labels = dict(plot.sizes)
    axis = value_axis(_values(plot), 2, log=plot.log, percent=plot.percent)
    texts = [
        f"{mark.symbol} {labels[mark.size]} {figure}"
        for mark in plot.marks
        if (figure := _figure(mark, axis)) is not None
    ]
    return lines(texts[-max(height, 1) :], width, height)


def _figure(mark: Mark, axis: ValueAxis) -> str | None:
    """A mark's value, or what its bar spans."""
    if mark.value is not None or mark.low is None:
        return None if mark.value is None else axis.label(mark.value)
    low = axis.label(mark.low)
    return f"from {low}" if mark.high is None else f"{low} to {axis.label(mark.high)}"


SIMULATED, MEASURED = MARKER, PROPOSED
"""The styles of the scale models and of targets that were simulated too; predictions have a series each."""

_SIMULATED = ("\N{BLACK SQUARE}", "#")
_PREDICTED, _MEASURED = "o", "x"


def prediction_chart(measurements: Measurements, outcome: Outcome, width: int, height: int) -> Grid:
    """A (height, width) grid: IPC of each SM or chiplet over the system's size, both simulated and predicted.

    Divided by the size, what grows in proportion is level, and intervals can be seen. Lines go through the
    scale models, and on from the last one through what each rule predicts. A bar is the interval
    or bracket; one that ends in ``^`` is open. The background of the cliff is shaded.
    """
    return size_chart(_prediction_plot(measurements, outcome), width, height)


def error_chart(validation: Validation, unit: str, width: int, height: int) -> Grid:
    """A (height, width) grid: each rule's mean error over the targets, with a bar up to its largest."""
    marks: list[Mark] = []
    symbols = _symbols(list(validation.scores))
    for lane, (method, by_target) in reversed(list(enumerate(validation.scores.items()))):
        marks += [
            Mark(target, score.mean, symbols[method], cluster_style(lane), score.mean, score.max, lane)
            for target, score in by_target.items()
            if score.mean is not None
        ]
    plot = SizePlot(
        title="mean error of each rule, and up to the largest",
        marks=marks,
        sizes=_ticks({target for by_target in validation.scores.values() for target in by_target}),
        unit=unit,
        entries=_rule_entries(symbols),
        log=True,
        percent=True,
    )
    return size_chart(plot, width, height)


def _prediction_plot(measurements: Measurements, outcome: Outcome) -> SizePlot:
    symbols = _symbols(list(dict.fromkeys(each.method for each in outcome.predictions)))
    models = [(size, measurements.ipc[size] / size) for size in outcome.models]
    simulated = Entry(_SIMULATED[is_ascii()], SIMULATED, ("simulated",) * 3)
    targets = {each.target for each in outcome.predictions} - set(outcome.models)
    measured = [(size, measurements.ipc[size] / size) for size in sorted(targets) if size in measurements.ipc]
    cliff = outcome.cliff
    shaded = None if cliff is None else (cliff.smaller, cliff.larger)
    entries = [simulated, *_rule_entries(symbols)]
    if measured:
        entries.append(Entry(_MEASURED, MEASURED, ("measured",) * 3))
    if shaded is not None:
        words = (f"cliff, {shaded[0]} to {shaded[1]}", "cliff", "cliff")
        entries.append(Entry(shade_symbol(), AXIS, words))
    dash = baseline_symbol()
    entries.append(Entry(dash, AXIS, ("in proportion", "proportion", "prop.")))
    unit = measurements.scaling.unit
    simulated_marks = [Mark(size, value, simulated.symbol, SIMULATED) for size, value in models]
    predicted = _prediction_marks(outcome, targets, symbols)
    return SizePlot(
        title=f"IPC of each {unit.removesuffix('s')}",
        marks=[
            *simulated_marks,
            *(Mark(size, value, _MEASURED, MEASURED, lane=len(symbols)) for size, value in measured),
            *predicted,
        ],
        sizes=_ticks({*outcome.models, *targets, *(shaded or ())}),
        unit=unit,
        entries=entries,
        curves=_curves(simulated_marks, predicted),
        shaded=shaded,
        baseline=models[-1][1],
    )


def _prediction_marks(outcome: Outcome, targets: Collection[int], symbols: dict[str, str]) -> list[Mark]:
    """The first rule's marks come last: drawn over the others, they stay visible."""
    lanes = {method: lane for lane, method in enumerate(symbols)}
    marks = []
    for each in outcome.predictions:
        if each.target in targets:
            lane = lanes[each.method]
            # An interval without a finite end is drawn as open.
            ipc, low, high = (
                None if value is None or math.isinf(value) else value / each.target
                for value in (each.ipc, each.low, each.high)
            )
            marks.append(Mark(each.target, ipc, symbols[each.method], cluster_style(lane), low, high, lane))
    return sorted(marks, key=lambda mark: -(mark.lane or 0))


def _curves(simulated: Sequence[Mark], predicted: Sequence[Mark]) -> list[Curve]:
    """Lines through the scale models and on from them by each rule, the first rule's over the others."""
    curves = [Curve(simulated, SIMULATED)]
    for style in dict.fromkeys(mark.style for mark in predicted):
        of_rule = sorted((mark for mark in predicted if mark.style == style), key=lambda mark: mark.size)
        before = [mark for mark in simulated if mark.size < of_rule[0].size]
        curves.append(Curve([*before[-1:], *of_rule], style))
    return curves


def _symbols(methods: Sequence[str]) -> dict[str, str]:
    """A letter for each rule; one alone is `o`."""
    if len(methods) == 1:
        return {methods[0]: _PREDICTED}
    return {method: LETTERS[index % len(LETTERS)] for index, method in enumerate(methods)}


def _rule_entries(symbols: dict[str, str]) -> list[Entry]:
    return [
        Entry(symbol, cluster_style(lane), (method, method, method[:4]))
        for lane, (method, symbol) in enumerate(symbols.items())
    ]


def _ticks(sizes: set[int]) -> list[tuple[float, str]]:
    return [(float(size), str(size)) for size in sorted(sizes)]


CHOSEN, OTHER = MARKER, cluster_style(0)
"""The styles of the chosen epsilon and of all others."""

_CHOSEN = ("\N{BLACK SQUARE}", "#")
_OTHER = "o"


def trade_off_chart(
    points: Sequence[TradeOffPoint],
    epsilons: Sequence[float],
    chosen: float,
    width: int,
    height: int,
) -> Grid:
    """A (height, width) grid: the speedup of a plan over its epsilon as a line, both axes logarithmic.

    Without any point it is a sentence; below 20x4 cells it is numbers.

    Parameters
    ----------
    points : those known so far, in any order; their epsilons are among ``epsilons``.
    epsilons : all that will be known, in any order: the axis has room for each from the start.
    chosen : the epsilon to mark, if its point is there.
    """
    if not points:
        return lines(["no point of the curve yet"], width, height)
    plot = _plot(points, sorted(set(epsilons)), chosen)
    return size_chart(plot, width, height)


def _plot(points: Sequence[TradeOffPoint], epsilons: Sequence[float], chosen: float) -> SizePlot:
    # The chosen one comes last: drawn over the others, it stays visible.
    ordered = sorted(points, key=lambda point: (point.epsilon == chosen, point.epsilon))
    marks = [
        Mark(point.epsilon, point.speedup, _CHOSEN[is_ascii()], CHOSEN)
        if point.epsilon == chosen
        else Mark(point.epsilon, point.speedup, _OTHER, OTHER)
        for point in ordered
    ]
    return SizePlot(
        title="speedup over epsilon",
        marks=marks,
        sizes=[(epsilon, f"{epsilon:g}") for epsilon in epsilons],
        unit="epsilon",
        entries=_entries(ordered, chosen),
        curves=[Curve(marks, OTHER)],
        log=True,
    )


def _entries(points: Sequence[TradeOffPoint], chosen: float) -> list[Entry]:
    speedup = next((ratio(point.speedup) for point in points if point.epsilon == chosen), None)
    if speedup is None:
        return [Entry(_OTHER, OTHER, ("a plan",) * 3)]
    words = (f"the plan: epsilon {chosen:g}, speedup {speedup}", f"epsilon {chosen:g}: {speedup}", speedup)
    return [
        Entry(_CHOSEN[is_ascii()], CHOSEN, words),
        Entry(_OTHER, OTHER, ("at another epsilon", "another epsilon", "others")),
    ]


_TITLE = "mean error over speedup"
_NO_POINTS = "no points"
_LEAST_ROWS_WITH_SCATTER_TITLE = 8
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
    logarithm cannot show, stands in the lowest row, marked 0. What is not finite is left out. Below 20x4
    cells it is numbers.

    Parameters
    ----------
    selected : the name of the method to mark, by no other glyphs.
    """
    shown = [point for point in points if _can_be_drawn(point)]
    if not shown or width < SMALLEST_WIDTH or height < SMALLEST_HEIGHT:
        return _point_numbers(shown, width, height)
    grid = blank(width, height)
    words = blank(0, 0)
    if height >= _LEAST_ROWS_WITH_LEGEND:
        entries = [_point_entry(point, selected) for point in shown]
        rows = height // _ROWS_A_LEGEND_ROW
        words = legend(entries, width, rows, what="methods")
        copy(words, grid, height - words.height, 0)
    top = 1 if height >= _LEAST_ROWS_WITH_SCATTER_TITLE else 0
    put(grid, 0, 0, _TITLE[: width * top], LABEL)
    _draw_plot(grid, shown, top, height - words.height - 2, selected)
    return grid


def _can_be_drawn(point: Point) -> bool:
    return math.isfinite(point.error) and math.isfinite(point.speedup) and point.speedup > 0


def _point_entry(point: Point, selected: str | None) -> Entry:
    longest, shorter, shortest = (point.name[:letters] for letters in _NAME_LENGTHS)
    return Entry(point.symbol, _style(point, selected), (longest, shorter, shortest))


def _style(point: Point, selected: str | None) -> int:
    return SELECTED if point.name == selected else point.style


def _draw_plot(grid: Grid, points: Sequence[Point], top: int, foot: int, selected: str | None) -> None:
    glyphs = glyph_set()
    upward = value_axis([point.error for point in points], foot - top, log=True, percent=True)
    left, right = left_of(upward), grid.width - 1
    across = value_axis([point.speedup for point in points], right - left + 1, log=True, percent=False)
    draw_up(grid, [(top + row, text) for row, text in upward.ticks], foot, left, top)
    ticks = ticks_across(across, _speedup_label, right)
    draw_across(grid, foot, left, [tick.column for tick in ticks], ticks, glyphs)

    def row_of(point: Point) -> int:
        return top + upward.row_of(point.error)

    for row, of_row in groupby(sorted(points, key=row_of), key=row_of):
        level = sorted(of_row, key=lambda point: (point.speedup, point.symbol))
        columns = _apart([right - across.row_of(point.speedup) for point in level], left, right)
        for point, column in zip(level, columns, strict=True):
            put(grid, row, column, point.symbol, _style(point, selected))


def _apart(columns: Sequence[int], left: int, right: int) -> list[int]:
    """The ascending columns, moved as little as needed for no two to be equal, within left..right.

    Equal columns are spread around their place. In a full row, the rest is put on its first cell.
    """
    blocks: list[tuple[int, int]] = []
    for column in columns:
        # A block is its first column and how many stand in it; where it meets the one before, both join,
        # and stand around their middle.
        start, size = column, 1
        while blocks and start < sum(blocks[-1]):
            before, others = blocks.pop()
            middle = (others * (before + (others - 1) / 2) + size * (start + (size - 1) / 2)) / (
                others + size
            )
            size += others
            start = max(min(round(middle - (size - 1) / 2), right + 1 - size), left)
        blocks.append((start, size))
    return [min(start + index, right) for start, size in blocks for index in range(size)]


def _speedup_label(speedup: float) -> str:
    if speedup >= _LEAST_WITH_PREFIX:
        return f"{si_tick(round(speedup))}x"
    return f"{speedup:,.0f}x" if speedup >= _LEAST_WHOLE else f"{speedup:.3g}x"


def _point_numbers(points: Sequence[Point], width: int, height: int) -> Grid:
    """The chart for too small a grid for axes: a method a row, and how many others there are."""
    texts = [f"{point.symbol} {share(point.error)} {ratio(point.speedup)} {point.name}" for point in points]
    rows = texts or [_NO_POINTS]
    if len(rows) > height:
        rows = [*rows[: height - 1], f"+{len(rows) - height + 1} more"]
    return lines(rows, width, height)
