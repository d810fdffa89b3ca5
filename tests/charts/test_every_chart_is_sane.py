"""Every chart at every size, with every kind of numbers: as wide as asked, and the same in each sink."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Size

from sampling.plan.sensitivity import TradeOffPoint
from sampling.reduction.timeline import By, GroupLaunches
from scalemodel.measurements import Measurements, collect_measurements
from scalemodel.predict import Outcome, predict
from scalemodel.rules import RULES
from scalemodel.validate import validate
from tests.drawing import in_ascii
from tui.app.widgets import Chart
from tui.charts.grid import MARKER, PLAIN, SELECTED, Grid, ansi, plain, runs
from tui.charts.histogram import DurationAxis, Side, histogram, two_histograms
from tui.charts.ipc import IpcCurve, ipc_chart
from tui.charts.size_plot import (
    Mark,
    Point,
    error_chart,
    prediction_chart,
    scatter,
    size_chart,
    trade_off_chart,
)
from tui.charts.timeline import timeline_chart
from tui.charts.waterfall import waterfall

Draw = Callable[[int, int, bool], Grid]

SIZES = [(0, 0), (1, 1), (10, 2), (19, 3), (20, 4), (21, 5), (40, 10), (80, 24), (300, 12), (300, 60)]
HUGE_NS, LARGEST_NS = 10**15, 2**62
_SGR = re.compile(r"\x1b\[[0-9;]*m")


def histogram_of(values: list[int], counts: list[int] | None = None, **options: object) -> Draw:
    """A histogram whose clusters, where asked for, are as many as its durations."""
    values_ns = np.array(values, dtype=np.int64)
    launches = np.array(counts or [1] * len(values), dtype=np.int64)
    clusters = [(ns, ns) for ns in values] if options.pop("clusters", False) else []
    axis: DurationAxis = "log" if options.pop("log", False) else "linear"

    def draw(width: int, height: int, ascii_only: bool) -> Grid:
        return in_ascii(
            ascii_only, histogram, values_ns, launches, clusters, width, height, axis=axis, **options
        )  # type: ignore[arg-type]

    return draw


def ipc_of(cycles: list[int], ipc: list[float], **stop: float) -> Draw:
    curve = IpcCurve(np.array(cycles, dtype=np.int64), np.array(ipc, dtype=np.float64), **stop)  # type: ignore[arg-type]
    return lambda width, height, ascii_only: in_ascii(ascii_only, ipc_chart, curve, width, height)


def scatter_of(*points: tuple[float, float], selected: int = 0) -> Draw:
    drawn = [
        Point(f"method-number-{i}", chr(65 + i % 26), i % 100, speedup, error)
        for i, (speedup, error) in enumerate(points)
    ]
    name = f"method-number-{selected}"
    return lambda width, height, ascii_only: in_ascii(
        ascii_only, scatter, drawn, width, height, selected=name
    )


@cache
def measured(magnitude: float, *, curve: bool = True) -> Measurements:
    """Four sizes, IPC of a magnitude; with a curve it has a cliff between 32 and 64."""
    ipc = [(size, value * magnitude) for size, value in ((8, 100.0), (16, 198), (32, 390), (64, 1500))]
    misses = [(8, 6.0), (16, 6.0), (32, 5.9), (64, 0.2)] if curve else []
    return collect_measurements(ipc, misses, [(16, 0.5)] if curve else [], name="some")


@cache
def outcome_of(magnitude: float, rules: tuple[str, ...], *, curve: bool = True) -> Outcome:
    return predict(measured(magnitude, curve=curve), (32, 64), rules=rules, simulated=(8, 16))


def predicted(magnitude: float, *rules: str, curve: bool = True) -> Draw:
    def draw(width: int, height: int, ascii_only: bool) -> Grid:
        outcome = outcome_of(magnitude, rules, curve=curve)
        return in_ascii(
            ascii_only, prediction_chart, measured(magnitude, curve=curve), outcome, width, height
        )

    return draw


def errors_of(magnitude: float) -> Draw:
    validation = validate([measured(magnitude)], simulated=(8, 16))
    return lambda width, height, ascii_only: in_ascii(
        ascii_only, error_chart, validation, "SMs", width, height
    )


def sizes_of(values: list[float | None], **options: object) -> Draw:
    marks = [
        Mark(2.0**n, value, "o", n % 100, low=0 if value is None else value) for n, value in enumerate(values)
    ]
    sizes = [(mark.size, f"{mark.size:g}") for mark in marks]
    plot = "title", marks, sizes or [(1.0, "1")], "SMs"
    return lambda width, height, ascii_only: in_ascii(ascii_only, size_chart, *plot, width, height, **options)


def trade_off_of(*speedups: float) -> Draw:
    points = [
        TradeOffPoint(0.01 * (i + 1), 10, 2, 1e6, speedup, 0.01, 0.01, 0.1)
        for i, speedup in enumerate(speedups)
    ]
    epsilons = [0.01 * (i + 1) for i in range(10)]
    return lambda width, height, ascii_only: in_ascii(
        ascii_only, trade_off_chart, points, epsilons, 0.02, width, height
    )


def timeline_of(durations: list[int], starts: list[int] | None = None, *, log: bool = False) -> Draw:
    """A timeline whose clusters are its two halves, with a drawn launch."""
    start_ns = None if starts is None else np.array(starts, dtype=np.int64)
    launches = GroupLaunches(np.arange(len(durations)) + 10**9, np.array(durations, dtype=np.int64), start_ns)
    ordered = sorted(set(durations))
    half = ordered[len(ordered) // 2]
    clusters = [(ordered[0], half - 1), (half, ordered[-1])] if half > ordered[0] else []

    def draw(width: int, height: int, ascii_only: bool) -> Grid:
        by: By = "launch" if starts is None else "time"
        drawn = launches.id[:1]
        return in_ascii(ascii_only, timeline_chart, launches, clusters, drawn, width, height, by=by, log=log)

    return draw


def two_of(before: list[int], after: list[int], *, log: bool = False) -> Draw:
    """Two histograms of durations with as many launches as their places."""
    sides = [
        Side(word, np.array(values, dtype=np.int64), np.arange(1, len(values) + 1))
        for word, values in (("before: some", before), ("after: more", after))
    ]
    return lambda width, height, ascii_only: in_ascii(
        ascii_only, two_histograms, (sides[0], sides[1]), width, height, log=log
    )


def waterfall_of(before_ns: int, *changes_ns: int) -> Draw:
    causes = [(f"cause {number}" * number, ns) for number, ns in enumerate(changes_ns, 1)]
    return lambda width, height, ascii_only: in_ascii(ascii_only, waterfall, before_ns, causes, width, height)


CHARTS: dict[str, Draw] = {
    **{
        f"waterfall, {name}": waterfall_of(*values)
        for name, values in {
            "nothing changed": [12_345],
            "of nothing": [0, 12_345],
            "to nothing": [7, -7],
            "any magnitude": [HUGE_NS, 1, -1, 10_000, -HUGE_NS // 2],
        }.items()
    },
    **{
        f"two histograms, {name}{', log' if log else ''}": two_of(before, after, log=log)
        for name, before, after in (
            ("none", [], []),
            ("appeared", [], [12_345]),
            ("vanished", [0], []),
            ("same", [7], [7]),
            ("any magnitude", [0, 1, HUGE_NS], [1, LARGEST_NS]),
            ("many", list(range(1000, 9000, 7)), list(range(5000, 9000))),
        )
        for log in (False, True)
    },
    **{
        f"timeline, {name}{', log' if log else ''}": timeline_of(durations, starts, log=log)
        for name, durations, starts in (
            ("one", [12_345], None),
            ("one of nothing", [0], [0]),
            ("zeros", [0, 0, 0], None),
            ("same start", [1, 2, 3], [5, 5, 5]),
            ("any magnitude", [0, 1, HUGE_NS, LARGEST_NS], [0, 1, HUGE_NS, LARGEST_NS]),
            ("many", [1000 + 7 * (i % 13) for i in range(5000)], None),
        )
        for log in (False, True)
    },
    **{
        f"histogram, {name}{', log' if log else ''}": histogram_of(values, counts, log=log, **options)
        for name, values, counts, options in (
            ("none", [], None, {}),
            ("one", [12_345], None, {}),
            ("one, many times", [12_345], [10**12], {}),
            ("zeros", [0], [7], {}),
            ("zero and one", [0, 1], None, {}),
            ("huge", [HUGE_NS, HUGE_NS + 1, 3 * HUGE_NS], None, {}),
            ("tiny to largest", [0, 1, LARGEST_NS], [1, 10**15, 2], {}),
            ("100 clusters", [1_000 + 17 * i for i in range(100)], None, {"clusters": True}),
            ("130 clusters", [10 * 2**i for i in range(50)], None, {"clusters": True}),
            ("proposed", [10, 20, 30, 500], None, {"split": (30, True)}),
            ("proposed outside", [10, 20], None, {"split": (10**9, False)}),
        )
        for log in (False, True)
    },
    "ipc, none": ipc_of([], []),
    "ipc, one": ipc_of([1], [0.5]),
    "ipc, zeros": ipc_of([500, 1000], [0.0, 0.0]),
    "ipc, zero cycles": ipc_of([0], [0.0]),
    "ipc, stopped at nothing": ipc_of([0, 0], [0.0, 0.0], stop_cycle=0, stop_ipc=0.0, projected_cycles=0.0),
    "ipc, huge": ipc_of([10**15, 3 * 10**15], [1e15, 2e15], stop_cycle=10**15, projected_cycles=1e18),
    "ipc, tiny": ipc_of([1, 2, 3], [1e-12, 1e-9, 2e-9], stop_cycle=2, stop_ipc=1e-9, projected_cycles=3.0),
    "scatter, none": scatter_of(),
    "scatter, one": scatter_of((31.2, 0.004)),
    "scatter, no speedup and no error": scatter_of((1.0, 0.0)),
    "scatter, all zeros": scatter_of(*[(float(i + 1), 0.0) for i in range(5)]),
    "scatter, all in one place": scatter_of(*[(31.2, 0.004)] * 12, selected=7),
    "scatter, more than a row holds": scatter_of(*[(31.2, 0.004)] * 400),
    "scatter, any magnitude": scatter_of((1.0, 1e-300), (1e15, 1e15), (0.001, 0.0), (7.0, 1e-9)),
    "scatter, not finite": scatter_of((float("inf"), 0.1), (2.0, float("nan")), (0.0, 0.1)),
    **{
        f"prediction, {magnitude:g}, {len(rules)} rules": predicted(magnitude, *rules)
        for magnitude in (1e-12, 1.0, 1e8)
        for rules in (("additive",), tuple(RULES))
    },
    "prediction, without a curve": predicted(1.0, "additive", curve=False),
    "errors": errors_of(1.0),
    "errors, tiny": errors_of(1e-12),
    "trade-off, none": trade_off_of(),
    "trade-off, one": trade_off_of(3.0),
    "trade-off, all whole": trade_off_of(1.0, 1.0, 1.0),
    "trade-off, any magnitude": trade_off_of(1e-3, 1.0, 1e15),
    "sizes, none": sizes_of([]),
    "sizes, one": sizes_of([1.0]),
    "sizes, one without value": sizes_of([None]),
    "sizes, zeros": sizes_of([0.0, 0.0, 0.0]),
    "sizes, zeros, log": sizes_of([0.0, 0.0, 0.0], log=True, percent=True),
    "sizes, zero among others, log": sizes_of([0.0, 1e-12, 0.5], log=True, percent=True),
    "sizes, huge and tiny, log": sizes_of([1e-15, 1e15], log=True),
    "sizes, negative": sizes_of([-5.0, 0.0, 5.0]),
    "sizes, 30": sizes_of([float(n) for n in range(30)]),
}


class Sized(Chart):
    """The Textual sink without an app around it."""

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self._sized = Size(grid.width, grid.height)
        self.show(lambda *_: grid)

    @property
    def size(self) -> Size:
        return self._sized

    @property
    def rich_style(self) -> Style:
        return Style()


def rows_in_textual(grid: Grid) -> list[str]:
    """What the app shows, blanks and all."""
    chart = Sized(grid)
    return [chart.render_line(row).text for row in range(grid.height)]


def check(draw: Draw, width: int, height: int, ascii_only: bool) -> None:
    """Everything that holds for any chart of any size."""
    grid = draw(width, height, ascii_only)
    assert grid.glyph.shape == grid.style.shape == (height, width)
    rows = ["".join(row) for row in grid.glyph.tolist()]
    assert all(cell_len(row) == width for row in rows)
    assert all(row.isprintable() for row in rows)
    assert set(np.unique(grid.style).tolist()) <= {PLAIN, *range(MARKER), *range(MARKER, SELECTED + 1)}
    if ascii_only:
        assert all(row.isascii() for row in rows)
    text = plain(grid)
    assert text == "\n".join(row.rstrip() for row in rows)
    assert _SGR.sub("", ansi(grid)) == text
    assert rows_in_textual(grid) == rows


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("name", CHARTS)
def test_each_chart_at_each_size(name: str, ascii_only: bool) -> None:
    for width, height in SIZES:
        check(CHARTS[name], width, height, ascii_only)


@given(st.sampled_from(list(CHARTS)), st.integers(0, 90), st.integers(0, 30), st.booleans())
@example("histogram, one", 20, 4, True)
def test_each_chart_at_any_size(name: str, width: int, height: int, ascii_only: bool) -> None:
    check(CHARTS[name], width, height, ascii_only)


def colours_of(grid: Grid) -> set[int]:
    return {style for row in range(grid.height) for _, style in runs(grid, row) if 0 <= style < MARKER}


def test_a_hundred_clusters_have_a_colour_each_and_are_counted_in_the_legend() -> None:
    assert len(colours_of(CHARTS["histogram, 100 clusters"](200, 24, False))) == 100
    grid = CHARTS["histogram, 100 clusters"](60, 24, False)
    assert re.search(r"\+\d+ more( clusters)?$", plain(grid).rstrip())


def test_what_is_selected_differs_in_style_alone() -> None:
    marked, other = (partial(scatter_of((2.0, 0.1), (9.0, 0.3), selected=n))(60, 12, False) for n in (0, 5))
    assert plain(marked) == plain(other)
    letters = marked.glyph[marked.style == SELECTED]
    assert letters.tolist() == ["A", "A"], "the point and its entry in the legend"
    assert not (other.style == SELECTED).any()
