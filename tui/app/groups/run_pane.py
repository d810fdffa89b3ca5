"""The third pane of view 1 in a large window: the launches of the group in focus over the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from sampling.plan.study import Study
from sampling.reduction.duration_counts import DurationCounts
from tui.app.frame.chart import Chart
from tui.app.frame.line import PaneTitle
from tui.app.groups.presenter import run_text, run_title
from tui.app.state import Session
from tui.charts.grid import Grid
from tui.engine.timelines import GroupTimeline, is_quickly_listed, ranges_in, timeline_of_group
from tui.terminal.tty import app_dots
from tui.text.ranges import RangeForest, above_chart
from tui.text.timeline import group_timeline, with_clusters

_DELAY_SECONDS = 0.25
"""Launches are read again for every group: only where the cursor rests."""


@dataclass
class RunRead(Message):
    """The launches of a kernel group are read, and the ranges that its command prints above them."""

    timeline: GroupTimeline
    above: RangeForest | str


class RunPane(Vertical):
    """A kernel group's durations over the run; nothing is read while the pane is hidden."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(id="run-pane", classes="pane")
        self._ascii_only = ascii_only
        self._session: Session | None = None
        self._timeline: GroupTimeline | None = None
        self._above: tuple[DurationCounts, RangeForest | str] | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """A title over the chart."""
        yield PaneTitle(ascii_only=self._ascii_only)
        yield Chart(id="run")

    def follow(self, session: Session) -> None:
        """Show the group in focus, of the plan there is."""
        self._session = session
        self._show_soon()

    def on_show(self) -> None:
        """Read what was not read while the pane was hidden."""
        self._show_soon()

    @property
    def timeline(self) -> GroupTimeline | None:
        """What is shown; None while it is not of the group in focus."""
        at, session = self._timeline, self._session
        if at is None or session is None:
            return None
        return at if (at.study, at.group) == (session.study, session.selected) else None

    @property
    def text(self) -> str:
        """What `timeline` prints of it; nothing while it is read."""
        at, session = self.timeline, self._session
        if at is None or session is None or self._above is None:
            return ""
        return run_text(session, at, self._above[1], self.chart.printed_size)

    @property
    def chart(self) -> Chart:
        """The chart, which takes the focus."""
        return self.query_one(Chart)

    def _show_soon(self) -> None:
        session = self._session
        if not self.display or session is None or session.study is None:
            return
        if self._timer is not None:
            self._timer.stop()
        if self.timeline is not None or session.selected is None:
            self._show()
        else:
            wanted = session.study, session.selected, session.options.seed
            self._timer = self.set_timer(_DELAY_SECONDS, partial(self._read, *wanted))

    def _read(self, study: Study, group: int, seed: int) -> None:
        # The screen's own worker: it knows what to do with a defect.
        self.screen.run_worker(
            partial(self._read_aside, study, group, seed),
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group="run",
        )

    def _read_aside(self, study: Study, group: int, seed: int) -> None:
        timeline = with_clusters(timeline_of_group(study, group, seed, before=self._timeline))
        known = self._above
        above = known[1] if known is not None and known[0] is study.counts else _above(study)
        self.post_message(RunRead(timeline, above))

    @on(RunRead)
    def _take(self, event: RunRead) -> None:
        event.stop()
        before, self._timeline = self._timeline, event.timeline
        self._above = event.timeline.study.counts, event.above
        if self.timeline is None:
            # The cursor has gone on.
            self._timeline = before
        else:
            self._show()

    def _show(self) -> None:
        session, at = self._session, self.timeline
        if session is None:
            return
        self.query_one(PaneTitle).show(*run_title(session, at))
        if at is not None:
            self.chart.show(partial(_draw, at, session))
        else:
            self.chart.say("no kernel group matches")


def _above(study: Study) -> RangeForest | str:
    """Return the ranges of the run, or what is said where they are not looked for."""
    if not is_quickly_listed(study):
        return above_chart(None, is_looked_for=False)
    return above_chart(ranges_in(study.profile, study.counts.region))


def _draw(at: GroupTimeline, session: Session, width: int, height: int) -> Grid:
    ascii_only = session.ascii_only
    dots = app_dots(session.options.ascii, ascii_only=ascii_only)
    return group_timeline(at, width, height, log=session.log, ascii_only=ascii_only, dots=dots)
