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
from tui.app.frame.chart import Chart
from tui.app.frame.line import PaneTitle
from tui.app.groups.presenter import run_text, run_title
from tui.app.state import Session
from tui.charts.grid import Grid
from tui.engine.timelines import GroupTimeline, timeline_of_group
from tui.text.timeline import group_timeline

_DELAY_SECONDS = 0.25
"""Launches are read again for every group: only where the cursor rests."""


@dataclass
class RunRead(Message):
    """The launches of a kernel group are read."""

    timeline: GroupTimeline


class RunPane(Vertical):
    """A kernel group's durations over the run; nothing is read while the pane is hidden."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(id="run-pane", classes="pane")
        self._ascii_only = ascii_only
        self._session: Session | None = None
        self._timeline: GroupTimeline | None = None
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
        is_shown = at is not None and session is not None
        return at if is_shown and (at.study, at.group) == (session.study, session.selected) else None

    @property
    def text(self) -> str:
        """What `timeline` prints of it; nothing while it is read."""
        at, session = self.timeline, self._session
        return "" if at is None or session is None else run_text(session, at, self.chart.printed_size)

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
        if self.timeline is not None or session.selected is None or not session.study.counts.has_durations:
            self._show()
        else:
            wanted = session.study, session.selected, session.options.seed
            self._timer = self.set_timer(_DELAY_SECONDS, partial(self._read, *wanted))

    def _read(self, study: Study, group: int, seed: int) -> None:
        # The screen's own worker: it knows what to do with a defect.
        self.screen.run_worker(
            lambda: self.post_message(RunRead(timeline_of_group(study, group, seed))),
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group="run",
        )

    @on(RunRead)
    def _take(self, event: RunRead) -> None:
        event.stop()
        before, self._timeline = self._timeline, event.timeline
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
        elif session.selected is None:
            self.chart.say("no kernel group matches")
        else:
            self.chart.say("this profile has no durations")


def _draw(at: GroupTimeline, session: Session, width: int, height: int) -> Grid:
    return group_timeline(at, width, height, log=session.log, ascii_only=session.ascii_only)
