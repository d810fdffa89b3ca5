"""The chart of a trade-off: speedup over epsilon, the chosen one marked."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.plan.trade_off import TradeOffPoint
from tui.charts.glyphs import cluster_style
from tui.charts.grid import LABEL, MARKER, Grid, blank, fitted, put
from tui.charts.legend import Entry
from tui.charts.quantities import ratio
from tui.charts.size_plot import Curve, Mark, SizePlot, size_chart

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
    *,
    ascii_only: bool = False,
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
        grid = blank(width, height)
        put(grid, 0, 0, fitted("no point of the curve yet", grid.width, ascii_only=ascii_only), LABEL)
        return grid
    plot = _plot(points, sorted(set(epsilons)), chosen, ascii_only=ascii_only)
    return size_chart(plot, width, height, ascii_only=ascii_only)


def _plot(
    points: Sequence[TradeOffPoint], epsilons: Sequence[float], chosen: float, *, ascii_only: bool
) -> SizePlot:
    # The chosen one comes last: drawn over the others, it stays visible.
    ordered = sorted(points, key=lambda point: (point.epsilon == chosen, point.epsilon))
    marks = [
        Mark(point.epsilon, point.speedup, _CHOSEN[ascii_only], CHOSEN)
        if point.epsilon == chosen
        else Mark(point.epsilon, point.speedup, _OTHER, OTHER)
        for point in ordered
    ]
    return SizePlot(
        title="speedup over epsilon",
        marks=marks,
        sizes=[(epsilon, f"{epsilon:g}") for epsilon in epsilons],
        unit="epsilon",
        entries=_entries(ordered, chosen, ascii_only=ascii_only),
        curves=[Curve(marks, OTHER)],
        log=True,
    )


def _entries(points: Sequence[TradeOffPoint], chosen: float, *, ascii_only: bool) -> list[Entry]:
    speedup = next((ratio(point.speedup) for point in points if point.epsilon == chosen), None)
    if speedup is None:
        return [Entry(_OTHER, OTHER, ("a plan",) * 3)]
    words = (f"the plan: epsilon {chosen:g}, speedup {speedup}", f"epsilon {chosen:g}: {speedup}", speedup)
    return [
        Entry(_CHOSEN[ascii_only], CHOSEN, words),
        Entry(_OTHER, OTHER, ("at another epsilon", "another epsilon", "others")),
    ]
