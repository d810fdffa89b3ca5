"""View 6: when in the run the launches of a kernel group execute, and how long they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from sampling.plan.study import Study
from sampling.reduction.timeline import By
from tui.app.actions import APP, COMPARING, TIMELINE, VIEW, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.copying import PaneText
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.view import ViewScreen
from tui.app.state import Session
from tui.app.timeline.presenter import Shown, chart_title, course_lines, part_of, timeline_command
from tui.charts.grid import Grid
from tui.engine.timelines import GroupTimeline, timeline_of_group
from tui.output.writer import Canvas
from tui.text.timeline import group_timeline, timeline_text


class TimelineRead(Message):
    """The launches of a kernel group are read."""

    def __init__(self, timeline: GroupTimeline) -> None:
        super().__init__()
        self.timeline = timeline


class TimelineScreen(ViewScreen):
    """A kernel group's durations over the run."""

    NAME = "Timeline"
    SUMMARY = "when a group's launches run, and how long they take"
    SCOPES = (APP, TIMELINE, COMPARING, VIEW)
    BINDINGS = bindings(APP, TIMELINE, COMPARING, VIEW)
    AUTO_FOCUS = "#timeline"
    ABOUT: ClassVar[str] = (
        "Every launch of the kernel group is a dot: how long it takes, over the order in which launches were "
        "issued or over time. Colours and letters are the strata of the plan, and launches that the plan "
        "draws are marked. A line that rises or falls is drift, a step is a phase, and by time a pause is a "
        "gap. Drawing at random within strata needs no order, so the bound holds with drift too; a plan that "
        "takes the first launches, or one iteration, does not see it."
    )

    def __init__(self) -> None:
        super().__init__()
        self._timeline: GroupTimeline | None = None
        self._part = Shown.whole(1)
        self._by: By = "launch"
        self._wanted: tuple[Study, int] | None = None

    def compose_panes(self) -> ComposeResult:
        """The chart, and its launches in words."""
        ascii_only = self.session.ascii_only
        with Container(id="panes"), Vertical(id="timeline-pane", classes="pane"):
            yield PaneTitle(ascii_only=ascii_only)
            yield Chart(id="timeline")
        yield Line(ascii_only=ascii_only, id="course")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Show the group in focus, of the plan there is."""
        study, group = session.study, session.selected
        if study is None or group is None:
            self.query_one(Chart).say("no kernel group is in focus: choose one in view 1")
            return
        if self._wanted != (study, group):
            self._wanted = (study, group)
            if self._timeline is None:
                self.query_one(Chart).say("reading launches")
            self._read(study, group, session.options.seed)
        elif shown is None or shown.log != session.log:
            self._show()

    @property
    def is_settled(self) -> bool:
        """Whether what is shown is the group in focus."""
        at = self._timeline
        return at is not None and self._wanted == (at.study, at.group)

    @work(thread=True, exit_on_error=False, exclusive=True, group="timeline")
    def _read(self, study: Study, group: int, seed: int) -> None:
        worker = get_current_worker()
        timeline = timeline_of_group(study, group, seed)
        if not worker.is_cancelled:
            self.post_message(TimelineRead(timeline))

    @on(TimelineRead)
    def _take(self, event: TimelineRead) -> None:
        timeline, before = event.timeline, self._timeline
        if self._wanted != (timeline.study, timeline.group):
            return
        is_other = before is None or (before.study.counts, before.group) != (
            timeline.study.counts,
            timeline.group,
        )
        if is_other:
            self._part = Shown.whole(len(timeline.launches))
        if timeline.launches.start_ns is None:
            self._by = "launch"
        self._timeline = timeline
        self._show()

    def _show(self) -> None:
        timeline = self._timeline
        if timeline is None:
            return
        session, part = self.session, part_of(timeline, self._part, self._by)
        self.query_one(PaneTitle).show(*chart_title(part, self._part, log=session.log))
        self.query_one(Chart).show(partial(_draw, part, session))
        self.query_one("#course", Line).show(course_lines(part))

    def _change(self, change: Callable[[Shown], Shown]) -> None:
        if self._timeline is not None:
            self._part = change(self._part)
            self._show()

    def action_zoom_in(self) -> None:
        """Show the middle half."""
        self._change(Shown.zoomed_in)

    def action_zoom_out(self) -> None:
        """Show twice as much."""
        self._change(Shown.zoomed_out)

    def action_pan(self, direction: int) -> None:
        """Go on, or back."""
        self._change(lambda shown: shown.panned(direction))

    def action_whole(self) -> None:
        """Show all launches of the group."""
        self._change(lambda shown: Shown.whole(shown.launches))

    def action_group(self, step: int) -> None:
        """Go to the kernel group of the next rank, or of the one before."""
        session = self.session
        if session.study is not None and session.selected is not None:
            last = len(session.study.counts.groups) - 1
            self.app.change(selected=min(max(session.selected + step, 0), last))

    def action_by(self) -> None:
        """Change between the order of the launches and time."""
        timeline = self._timeline
        if timeline is not None and timeline.launches.start_ns is None:
            self.app.say("this profile does not have the start of every launch", failed=True)
        elif timeline is not None:
            self._by = "launch" if self._by == "time" else "time"
            self._show()

    def action_log(self) -> None:
        """Change between logarithmic and linear durations."""
        self.app.change(log=not self.session.log)

    def own_text(self) -> PaneText:
        """The chart as `timeline` prints it."""
        timeline, session = self._timeline, self.session
        if timeline is None:
            return PaneText("kernelpoint-timeline", "")
        width, height = self.query_one(Chart).printed_size
        canvas = Canvas(width, ascii_only=session.ascii_only, color=False)
        text = timeline_text(part_of(timeline, self._part, self._by), canvas, height, log=session.log)
        return PaneText(f"kernelpoint-timeline-{timeline.group + 1}", text + "\n")

    def command(self) -> str:
        """`timeline` of the same launches, as large as it is drawn."""
        if self._timeline is None:
            return "kernelpoint timeline"
        part = part_of(self._timeline, self._part, self._by)
        return timeline_command(self.app.planned, part, self._part, self.query_one(Chart).printed_size)


def _draw(timeline: GroupTimeline, session: Session, width: int, height: int) -> Grid:
    return group_timeline(timeline, width, height, log=session.log, ascii_only=session.ascii_only)
