"""What view 6 reads in workers: a kernel group's launches, and the ranges of a region; no widget here."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from sampling.plan.study import Study
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.region import Region
from tui.app.planning import CancelledError, throttled
from tui.engine.timelines import GroupTimeline, ranges_in, timeline_of_group
from tui.text.ranges import RangeForest, above_chart
from tui.text.timeline import with_clusters

Tell = Callable[[Message], object]


class TimelineRead(Message):
    """The launches of a kernel group are read."""

    def __init__(self, timeline: GroupTimeline) -> None:
        super().__init__()
        self.timeline = timeline


class RangesRead(Message):
    """The ranges of a region are read: a tree of them, or why there is none."""

    def __init__(self, region: Region, above: RangeForest | str) -> None:
        super().__init__()
        self.region, self.above = region, above


class ReadingSaid(Message):
    """What is read, and how far it is; for the pane of ranges, or for the chart."""

    def __init__(self, done: int, total: int, what: str, *, ranges: bool) -> None:
        super().__init__()
        self.words = f"{what}, {100 * done / total:.0f} %" if total else what
        self.ranges = ranges


def tell_timeline(
    study: Study,
    group: int,
    seed: int,
    before: GroupTimeline | None,
    tell: Tell,
    is_cancelled: Callable[[], bool],
) -> None:
    """Read the launches of a kernel group; they are sent as a message, unless they are no longer wanted.

    Parameters
    ----------
    before : what is shown.
    """
    try:
        progress = _telling(tell, is_cancelled, ranges=False)
        timeline = with_clusters(timeline_of_group(study, group, seed, progress, before=before))
    except CancelledError:
        return
    if not is_cancelled():
        tell(TimelineRead(timeline))


def tell_ranges(profile: Profile, region: Region, tell: Tell, is_cancelled: Callable[[], bool]) -> None:
    """Read the ranges of a region, and look for iterations; they are sent as a message."""
    try:
        listed = ranges_in(profile, region, _telling(tell, is_cancelled, ranges=True))
    except CancelledError:
        return
    tell(RangesRead(region, above_chart(listed)))


def _telling(tell: Tell, is_cancelled: Callable[[], bool], *, ranges: bool) -> Progress:
    def said(done: int, total: int, what: str) -> None:
        tell(ReadingSaid(done, total, what, ranges=ranges))

    return throttled(said, is_cancelled)
