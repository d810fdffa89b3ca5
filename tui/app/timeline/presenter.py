"""View 6 without widgets: what part of the run is shown, its titles, and the command that prints the same."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.reduction.timeline import By
from tui.app.overrides_file import options_with_overrides
from tui.app.state import Session
from tui.charts import quantities
from tui.engine.timelines import GroupTimeline
from tui.options.choices import TimelineBy
from tui.options.command_line import command_line, options_of
from tui.options.commands import TimelineOptions
from tui.text import facts
from tui.text.timeline import course

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

    def _about(self, number: int) -> Shown:
        number = min(number, self.launches)
        first = min(max((self.first + self.stop - number) // 2, 0), self.launches - number)
        return Shown(first, first + number, self.launches)


def part_of(timeline: GroupTimeline, shown: Shown, by: By) -> GroupTimeline:
    """Return what is shown of a timeline."""
    return GroupTimeline(
        timeline.study,
        timeline.group,
        timeline.launches.part(shown.first, shown.stop),
        timeline.drawn_ids,
        by,
    )


def chart_title(timeline: GroupTimeline, shown: Shown, *, log: bool) -> tuple[str, str]:
    """Return the group and how much of it is shown, and the axes."""
    group = f"#{timeline.group + 1} {facts.group_label(timeline.study, timeline.group)}"
    # What a narrow title loses is its end.
    part = "" if shown.is_whole else f"{quantities.share((shown.stop - shown.first) / shown.launches)} of "
    name = f"[6] {part}{group}"
    return name, f"[t] by {timeline.by}, [x] {'log' if log else 'linear'}"


def course_lines(timeline: GroupTimeline) -> list[str]:
    """Return where the launches shown stand and how their durations begin and end, the longest form first."""
    words = course(timeline.launches)
    return [words, words.partition("; ")[0]]


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
