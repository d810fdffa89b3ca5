"""View 6 without widgets: what part of the run is shown, its titles, and the command that prints the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.timeline import GroupLaunches
from tui.app.overrides_file import options_with_overrides
from tui.app.state import Session
from tui.charts import quantities
from tui.engine.timelines import GroupTimeline
from tui.options.choices import TimelineBy
from tui.options.command_line import command_line, options_of
from tui.options.commands import TimelineOptions
from tui.text import facts
from tui.text.ranges import RangeForest, range_words

#: No fewer launches are shown, where a group has as many.
LEAST_SHOWN = 8
_ZOOM = 2
_PAN = 4


@dataclass(frozen=True, slots=True)
class Shown:
    """Which of a group's launches are shown: from place ``first`` up to, not with, ``stop``."""

    first: int
    stop: int
    launches: int

    @classmethod
    def whole(cls, launches: int) -> Shown:
        """Return all of them."""
        return cls(0, launches, launches)

    @property
    def is_whole(self) -> bool:
        """Whether all are shown."""
        return self.stop - self.first == self.launches

    def zoomed_in(self) -> Shown:
        """Return the middle half."""
        return self._about(max((self.stop - self.first) // _ZOOM, LEAST_SHOWN))

    def zoomed_out(self) -> Shown:
        """Return twice as many, about the same middle."""
        return self._about((self.stop - self.first) * _ZOOM)

    def panned(self, direction: int) -> Shown:
        """Return as many, a quarter of them further on, or back."""
        number = self.stop - self.first
        step = max(number // _PAN, 1) * direction
        first = min(max(self.first + step, 0), self.launches - number)
        return Shown(first, first + number, self.launches)

    def of_range(self, first: int, stop: int) -> Shown:
        """Return the launches from one place up to, not with, another; of few their neighbours too."""
        if stop - first >= min(LEAST_SHOWN, self.launches):
            return Shown(first, stop, self.launches)
        return Shown(first, stop, self.launches)._about(LEAST_SHOWN)

    def _about(self, number: int) -> Shown:
        number = min(number, self.launches)
        first = min(max((self.first + self.stop - number) // 2, 0), self.launches - number)
        return Shown(first, first + number, self.launches)


def chart_title(timeline: GroupTimeline, shown: Shown, *, log: bool) -> tuple[str, str]:
    """Return the group and how much of it is shown, and the axes."""
    group = f"#{timeline.group + 1} {facts.group_label(timeline.study, timeline.group)}"
    # What a narrow title loses is its end.
    part = "" if shown.is_whole else f"{quantities.share((shown.stop - shown.first) / shown.launches)} of "
    name = f"[6] {part}{group}"
    return name, f"[t] by {timeline.by}, [x] {'log' if log else 'linear'}"


def shown_range(launches: GroupLaunches, first: IntArray, stop: IntArray) -> Shown | None:
    """Return the launches of a range, from its first to its last; None where none is of this group."""
    low, high = np.searchsorted(launches.id, (int(first.min()), int(stop.max()))).tolist()
    return Shown.whole(len(launches)).of_range(low, high) if high > low else None


def ranges_title(forest: RangeForest | None, path: int | None) -> tuple[str, str]:
    """Return what the upper pane shows, and its keys."""
    if forest is None or path is None:
        return "[tab] Ranges and iterations", ""
    return f"[tab] {range_words(forest, path)[0]}", "enter zooms, space: region"


def timeline_command(session: Session, timeline: GroupTimeline, shown: Shown, size: tuple[int, int]) -> str:
    """Return the `timeline` command that draws the same.

    Raises
    ------
    OSError : the file of split decisions cannot be written.
    """
    width, height = size
    ids = timeline.launches.id
    options = options_of(
        TimelineOptions,
        options_with_overrides(session),
        kernel=f"#{timeline.group + 1}",
        by=TimelineBy(timeline.by),
        window=None if shown.is_whole else f"{ids[0]}:{ids[-1] + 1}",
        log=session.log,
        width=width,
        height=height,
    )
    return command_line("timeline", options)
