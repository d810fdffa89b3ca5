"""The durations of a node of the split tree, drawn once keys rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual import on
from textual.message import Message
from textual.timer import Timer

from tui.app.frame.chart import Chart, Draw
from tui.charts.grid import Grid, blank, copy
from tui.text.tree import TreeStop, stop_histogram

_DELAY_SECONDS = 0.08
"""A key that is held down draws one histogram, not twenty."""

_DURATIONS_AT_ONCE = 100_000
"""A histogram of more takes longer to draw than a key may wait."""


@dataclass
class HistogramDrawn(Message):
    """The histogram of many durations is drawn."""

    draw: Draw
    grid: Grid


class SplitHistogram(Chart):
    """A chart that is drawn in a worker where it has many durations."""

    def __init__(self, *, ascii_only: bool, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._ascii_only = ascii_only
        self._stop: TreeStop | None = None
        self._log = False
        self._wanted: Draw = blank
        self._timer: Timer | None = None

    def look_at(self, stop: TreeStop, *, log: bool) -> None:
        """Show the durations of the node that is looked at, soon."""
        self._stop, self._log = stop, log
        self._show_soon()

    @property
    def is_resting(self) -> bool:
        """Whether nothing else is to be drawn soon."""
        return self._timer is None

    def on_resize(self) -> None:
        """There is room now, or another."""
        self._show_soon()

    def _show_soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_DELAY_SECONDS, self._show_wanted)

    def _show_wanted(self) -> None:
        self._timer = None
        if self._stop is None:
            return
        draw = self._wanted = partial(stop_histogram, self._stop, log=self._log, ascii_only=self._ascii_only)
        if _durations_of(self._stop) <= _DURATIONS_AT_ONCE:
            self.show(draw)
        elif self.size:
            # The screen's own worker: it knows what to do with a defect.
            self.screen.run_worker(
                partial(self._draw_aside, draw, *self.size),
                thread=True,
                exclusive=True,
                exit_on_error=False,
                group="tree-histogram",
            )

    def _draw_aside(self, draw: Draw, width: int, height: int) -> None:
        self.post_message(HistogramDrawn(draw, draw(width, height)))

    @on(HistogramDrawn)
    def _show_drawn(self, event: HistogramDrawn) -> None:
        event.stop()
        if event.draw is self._wanted:
            self.show(partial(self._fitted, event.grid))

    def _fitted(self, grid: Grid, width: int, height: int) -> Grid:
        """Return what is drawn; for another size what fits of it, until it is drawn anew."""
        if (grid.width, grid.height) == (width, height):
            return grid
        self._show_soon()
        fitting = blank(width, height)
        rows, columns = min(height, grid.height), min(width, grid.width)
        copy(Grid(grid.glyph[:rows, :columns], grid.style[:rows, :columns]), fitting, 0, 0)
        return fitting


def _durations_of(stop: TreeStop) -> int:
    """Return how many different durations the histogram has."""
    if stop.node is not None:
        return stop.node.stop - stop.node.start
    return int(stop.counts.offsets[stop.group + 1] - stop.counts.offsets[stop.group])
