"""The chart of IPC over cycles: what it shows, and that it says what the numbers say."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import in_ascii
from tui.charts.grid import MARKER, PROPOSED, Grid, ansi, plain
from tui.charts.ipc import AFTER, BEFORE, IpcCurve, ipc_chart

GOLDEN = Path(__file__).parent / "golden"
LEFT = 7
LEVELS = " ▁▂▃▄▅▆▇█"


def ramp(records: int = 100, stop: int | None = 39, projected: float | None = 51_000) -> IpcCurve:
    """IPC that rises to 800, a record every 500 cycles."""
    cycle = np.arange(1, records + 1) * 500
    ipc = 800 * (1 - np.exp(-cycle / 4000))
    if stop is None:
        return IpcCurve(cycle, ipc)
    return IpcCurve(cycle, ipc, int(cycle[stop]), float(ipc[stop]), projected)


@st.composite
def curves(draw: st.DrawFn) -> IpcCurve:
    """Any log, stopped or not, projected or not."""
    n = draw(st.integers(1, 50))
    lengths = draw(st.lists(st.integers(1, 10 ** draw(st.integers(1, 8))), min_size=n, max_size=n))
    largest = 10.0 ** draw(st.integers(-4, 6))
    ipc = np.array(draw(st.lists(st.floats(0, largest), min_size=n, max_size=n)))
    cycle = np.cumsum(lengths)
    if draw(st.booleans()):
        return IpcCurve(cycle, ipc)
    at = draw(st.integers(0, n - 1))
    projected = draw(st.none() | st.floats(1, 1e6).map(lambda times: float(cycle[at]) * times))
    return IpcCurve(cycle, ipc, int(cycle[at]), float(ipc[at]), projected)


def columns_in(grid: Grid, style: int, foot: int) -> list[int]:
    """The columns of the plot in which a style is."""
    return np.flatnonzero((grid.style[:foot, LEFT:] == style).any(axis=0)).tolist()


@given(curves(), st.integers(20, 120), st.integers(4, 40), st.booleans())
def test_every_part_is_seen(curve: IpcCurve, width: int, height: int, ascii_only: bool) -> None:
    grid = in_ascii(ascii_only, ipc_chart, curve, width, height)
    foot = int(np.flatnonzero(grid.glyph[:, LEFT - 1] == ("+" if ascii_only else "└"))[-1])
    is_line = (grid.style[: foot + 1] == MARKER).all(axis=0)
    assert is_line.sum() == (curve.stop_cycle is not None)
    if curve.stop_cycle is None:
        assert columns_in(grid, BEFORE, foot)
        assert not columns_in(grid, PROPOSED, foot)
        return
    line = int(np.flatnonzero(is_line)[0]) - LEFT
    assert line == min(curve.stop_cycle * (width - LEFT) // curve.last_cycle, width - LEFT - 1)
    assert all(column < line for column in columns_in(grid, BEFORE, foot))
    assert all(column > line for column in columns_in(grid, AFTER, foot) + columns_in(grid, PROPOSED, foot))


def test_bars_are_as_high_as_the_ipc() -> None:
    """One record a column: eighths of a cell in proportion to the highest."""
    ipc = np.array([1.0, 2, 4, 8, 16, 8, 4, 2, 1] * 6)[:53]
    grid = ipc_chart(IpcCurve(np.arange(1, 54) * 100, ipc), 60, 18)
    heights = [sum(LEVELS.index(glyph) for glyph in grid.glyph[:16, LEFT + i]) for i in range(53)]
    assert heights == [round(8 * value) for value in ipc]


def test_the_projection_is_drawn_at_the_ipc_of_the_stop_and_ends_with_it() -> None:
    curve = IpcCurve(np.array([100, 200]), np.array([10.0, 5.0]), 200, 5.0, 400)
    grid = ipc_chart(curve, 47, 12)
    rows, columns = np.nonzero(grid.style[:9] == PROPOSED)
    assert set(rows.tolist()) == {4}  # 5 of 10 in 9 rows: four and a half cells
    assert columns.tolist() == list(range(LEFT + 21, LEFT + 40))
    short = ipc_chart(IpcCurve(curve.cycle, curve.ipc, 100, 10.0, 150), 47, 12)
    assert columns_in(short, PROPOSED, 9) == list(range(21, 31))


def test_the_legend_says_what_is_what() -> None:
    text = plain(ipc_chart(ramp(), 80, 20)).split("\n")[-1]
    assert "█ simulated: 20.0k" in text
    assert "╌ projected: 51.0k" in text
    assert "░ logged after" in text
    cut = plain(ipc_chart(ramp(40), 80, 20)).split("\n")[-1]
    assert "logged after" not in cut
    assert "simulated" not in plain(ipc_chart(ramp(stop=None), 80, 20))


def test_the_axes_name_the_highest_ipc_and_the_cycles() -> None:
    rows = plain(ipc_chart(ramp(stop=None), 80, 20)).split("\n")
    assert rows[0].startswith("  800 ┤")
    assert rows[-1].split()[-2:] == ["50k", "cycles"]
    low = plain(ipc_chart(IpcCurve(np.array([9]), np.array([0.004])), 40, 10))
    assert low.startswith("4e-03 ┤")


@pytest.mark.parametrize("width", [20, 40, 72, 80, 200])
def test_the_axis_ends_where_the_projection_or_the_log_does(width: int) -> None:
    """100 records are 50,000 cycles; what is projected may be more or less."""
    for projected, end in ((106_231, "106k"), (50_100, "50.1k"), (1_999_999, "2M"), (20_000, "50k")):
        curve = ramp(projected=projected)
        grid = ipc_chart(curve, width, 12)
        foot, labels = plain(grid).split("\n")[-3:-1]
        # As on every axis, a label is moved inwards where it would run out of the chart.
        assert labels.removesuffix(" cycles").split()[-1] == end
        assert foot.endswith("┬")
        dashes = columns_in(grid, PROPOSED, 9)
        assert (dashes[-1] == width - LEFT - 1) == (projected > 50_000) if dashes else projected == 20_000
    assert "cycles" in plain(ipc_chart(ramp(), 40, 12))


@given(curves(), st.integers(20, 250))
def test_no_number_stands_twice_on_the_cycle_axis(curve: IpcCurve, width: int) -> None:
    labels = plain(ipc_chart(curve, width, 5)).split("\n")[-1].removesuffix(" cycles").split()
    assert len(set(labels)) == len(labels)


def test_the_parts_differ_in_colour_and_without_it() -> None:
    grid = ipc_chart(ramp(), 80, 20)
    for code in ("36", "33", "1", "1;31"):
        assert f"\x1b[{code}m" in ansi(grid)
    drawn = in_ascii(True, ipc_chart, ramp(), 80, 20)
    glyphs = {
        style: set(drawn.glyph[:17, LEFT:][drawn.style[:17, LEFT:] == style].tolist())
        for style in (BEFORE, AFTER, PROPOSED, MARKER)
    }
    assert glyphs == {BEFORE: {"#"}, AFTER: {"."}, PROPOSED: {"-"}, MARKER: {"|"}}


GOLDENS = {"stopped": ramp(), "cut": ramp(40, 30, 180_000)}


@pytest.mark.parametrize(("size", "ascii_only"), [((80, 20), False), ((40, 10), True)])
@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, size: tuple[int, int], ascii_only: bool) -> None:
    """As in golden/; run once with UPDATE_GOLDEN=1 to write them anew, and read the difference."""
    text = plain(in_ascii(ascii_only, ipc_chart, GOLDENS[name], *size)) + "\n"
    path = GOLDEN / f"ipc-{name}-{size[0]}x{size[1]}-{'ascii' if ascii_only else 'unicode'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")
