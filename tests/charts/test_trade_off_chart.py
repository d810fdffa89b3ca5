"""The chart of a trade-off: where its points stand, and that the chosen one is seen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sampling.plan.sensitivity import TradeOffPoint, default_epsilons
from tests.drawing import in_ascii
from tui.charts.grid import Grid, plain
from tui.charts.size_plot import CHOSEN, OTHER, trade_off_chart

GOLDEN = Path(__file__).parent / "golden"
EPSILONS = default_epsilons(0.05)


def points_at(epsilons: Sequence[float], power: float = 1.0) -> list[TradeOffPoint]:
    return [TradeOffPoint(each, 9, 3, 1e6, 1000 * each**power, each, each, None) for each in epsilons]


def cells(grid: Grid, style: int, symbol: str) -> list[tuple[int, int]]:
    """The (row, column) of a symbol within the plot: right of the value axis, above the legend."""
    foot = int(np.argwhere(grid.glyph == "└")[0, 0])
    found = np.argwhere((grid.style == style) & (grid.glyph == symbol)).tolist()
    return sorted((row, column) for row, column in found if row < foot)


def test_every_point_has_its_column_and_the_chosen_one_its_own_sign() -> None:
    grid = trade_off_chart(points_at(EPSILONS), EPSILONS, 0.05, 80, 20)
    assert len(cells(grid, OTHER, "o")) == 12
    (chosen,) = cells(grid, CHOSEN, "■")
    columns = sorted(column for _, column in [*cells(grid, OTHER, "o"), chosen])
    assert columns.index(chosen[1]) == sorted(EPSILONS).index(0.05)
    assert "■ the plan: epsilon 0.05, speedup 50.0x" in plain(grid)


def test_both_axes_are_logarithmic() -> None:
    """Speedup in proportion to epsilon is a straight line: equal ratios are equally far apart."""
    epsilons = [0.01, 0.02, 0.04, 0.08, 0.16]
    grid = trade_off_chart(points_at(epsilons), epsilons, 0.5, 80, 23)
    found = cells(grid, OTHER, "o")
    assert len(found) == 5
    rows, columns = zip(*sorted(found, key=lambda cell: cell[1]), strict=True)
    assert np.ptp(np.diff(columns)) <= 1
    assert np.ptp(np.diff(rows)) <= 1
    assert list(rows) == sorted(rows, reverse=True), "a larger speedup stands higher"


def test_points_not_yet_computed_are_absent_and_the_others_do_not_move_sideways() -> None:
    whole = trade_off_chart(points_at(EPSILONS), EPSILONS, 0.05, 80, 20)
    some = trade_off_chart(points_at(EPSILONS[:4]), EPSILONS, 0.05, 80, 20)
    shown = {column for _, column in cells(some, OTHER, "o")}
    assert len(shown) == 3
    assert shown < {column for _, column in cells(whole, OTHER, "o")}
    assert [column for _, column in cells(some, CHOSEN, "■")] == [
        column for _, column in cells(whole, CHOSEN, "■")
    ]


def test_nothing_yet_is_said() -> None:
    assert plain(trade_off_chart([], EPSILONS, 0.05, 40, 8)).strip() == "no point of the curve yet"
    assert plain(trade_off_chart([], (), 0.05, 5, 1)) == "no p…"


@pytest.mark.parametrize(("size", "ascii_only"), [((80, 16), False), ((40, 10), True)])
@pytest.mark.parametrize("known", [13])
def test_golden(known: int, size: tuple[int, int], ascii_only: bool) -> None:
    """As in golden/; run once with UPDATE_GOLDEN=1 to write them anew, and read the difference."""
    grid = in_ascii(ascii_only, trade_off_chart, points_at(EPSILONS[:known], 0.4), EPSILONS, 0.05, *size)
    text = plain(grid) + "\n"
    name = f"trade-off-{known}-{size[0]}x{size[1]}-{'ascii' if ascii_only else 'unicode'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="\n")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")
