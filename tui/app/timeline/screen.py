"""View 6: when in the run the launches of a kernel group execute, and how long they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import get_current_worker

from sampling.plan.study import Study
from sampling.profile.profile import Profile
from sampling.reduction.region import Region
from sampling.reduction.timeline import By
from tui.app.actions import APP, COMPARING, RANGES, TIMELINE, VIEW, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.copying import PaneText
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.view import ViewScreen
from tui.app.state import Session
from tui.app.timeline.presenter import Shown, chart_title, ranges_title, shown_range, timeline_command
from tui.app.timeline.ranges_pane import RangeChosen, RangeReached, RangeTree, RangeZoomed
from tui.app.timeline.reading import RangesRead, ReadingSaid, TimelineRead, tell_ranges, tell_timeline
from tui.app.timeline.region_choice import RegionChoice
from tui.charts.grid import Grid
from tui.charts.timeline import LEFT, RIGHT, RunAxis
from tui.engine.studies import region_of
from tui.engine.timelines import GroupTimeline, is_quickly_listed
from tui.options.commands import SampleOptions
from tui.output.writer import Canvas
from tui.terminal import tty as terminal
from tui.text.ranges import RangeForest, above_chart, left_of
from tui.text.timeline import course_forms, group_timeline, timeline_text


class TimelineScreen(ViewScreen):
    """A kernel group's durations over the run."""

    NAME = "Timeline"
    SUMMARY = "when a group's launches run, and how long they take"
    SCOPES = (APP, RANGES, TIMELINE, COMPARING, VIEW)
    BINDINGS = bindings(APP, TIMELINE, COMPARING, VIEW)
    AUTO_FOCUS = "#timeline"
    ABOUT: ClassVar[str] = (
        "Every launch of the kernel group is a dot: how long it takes, over the order in which launches were "
        "issued or over time. Colours and letters are the strata of the plan, and launches that the plan "
        "draws are marked. Where the findings say that the group drifts a line runs through its means, where "
        "the run turns to other kernels a dotted line stands, and by time the axis is shaded where the "
        "device is idle. Drawing at random within strata needs no order, so the bound holds with drift too; "
        "a plan that takes the first launches, or one iteration, does not see it. Above are the ranges that "
        "the program named and the iterations that were found, each with a bar where its launches of this "
        "group stand in the chart. tab goes there: l opens a range and h closes it, enter zooms the chart to "
        "it, and space makes it the region, so that every view shows its launches alone. esc shows the whole "
        "run again, then gives the region from before back."
    )

    def __init__(self) -> None:
        super().__init__()
        self._timeline: GroupTimeline | None = None
        self._part = Shown.whole(1)
        self._by: By = "launch"
        self._wanted: tuple[Study, int] | None = None
        self._profile: Profile | None = None
        self._above: dict[Region, RangeForest | str | None] = {}
        self._choice: RegionChoice | None = None

    def compose_panes(self) -> ComposeResult:
        """The ranges, the chart, and its launches in words."""
        ascii_only = self.session.ascii_only
        with Container(id="panes"):
            with Vertical(id="ranges-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield RangeTree(ascii_only=ascii_only)
            with Vertical(id="timeline-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield Chart(id="timeline")
        yield Line(ascii_only=ascii_only, id="course")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Show the group in focus, of the plan there is, and the ranges of the region."""
        study, group = session.study, session.selected
        if study is not None:
            self._follow_ranges(session, study)
        if study is None or group is None:
            self._wanted = self._timeline = None
            self._part = Shown.whole(1)
            self.query_one("#timeline-pane PaneTitle", PaneTitle).show("[6] no kernel group")
            self.query_one("#course", Line).show([""])
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
    def is_ready(self) -> bool:
        """Whether there are launches to zoom into."""
        return self._timeline is not None or self.session.selected is None

    @property
    def is_settled(self) -> bool:
        """Whether what is shown is the group in focus, and the ranges are those of the region."""
        at = self._timeline
        is_shown = at is not None and self._wanted == (at.study, at.group)
        return is_shown and bool(self._above) and None not in self._above.values()

    @work(thread=True, exit_on_error=False, exclusive=True, group="timeline")
    def _read(self, study: Study, group: int, seed: int) -> None:
        worker = get_current_worker()
        tell_timeline(study, group, seed, self._timeline, self.post_message, lambda: worker.is_cancelled)

    @on(ReadingSaid)
    def _say_reading(self, event: ReadingSaid) -> None:
        # What is shown stays until there is something else to show.
        if event.ranges and self._shown_above() is None:
            self.query_one(RangeTree).say(event.words)
        elif not event.ranges and self._timeline is None:
            self.query_one(Chart).say(event.words)

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

    def _base(self, options: SampleOptions) -> SampleOptions:
        """Return options without the range that was chosen here, if they have it still."""
        if self._choice is not None and self._choice.is_in(options):
            return self._choice.taken_out(options)
        return options

    def _follow_ranges(self, session: Session, study: Study) -> None:
        """Read the ranges of the study's region, and of the one from before a range was chosen."""
        if study.profile is not self._profile:
            self._profile, self._above = study.profile, {}
        for region in (study.counts.region, region_of(self._base(session.options))):
            if region in self._above:
                continue
            # Without a choice the second one is what is being planned, and read once it is.
            if region == study.counts.region:
                is_looked_for = is_quickly_listed(study)
                self._above[region] = None if is_looked_for else above_chart(None, is_looked_for=False)
                if is_looked_for:
                    self._read_ranges(study.profile, region)
        self._show_ranges()

    @work(thread=True, exit_on_error=False, group="ranges")
    def _read_ranges(self, profile: Profile, region: Region) -> None:
        worker = get_current_worker()
        tell_ranges(profile, region, self.post_message, lambda: worker.is_cancelled)

    @on(RangesRead)
    def _take_ranges(self, event: RangesRead) -> None:
        self._above[event.region] = event.above
        self._show_ranges()
        self._show()

    def _shown_above(self) -> RangeForest | str | None:
        """Return the ranges of the region from before the choice; None while they are read."""
        return self._above.get(region_of(self._base(self.session.options)))

    def _show_ranges(self) -> None:
        above, tree = self._shown_above(), self.query_one(RangeTree)
        if isinstance(above, RangeForest):
            tree.show(above)
        elif above is not None:
            tree.say(above)
        self.query_one("#ranges-pane").set_class(isinstance(above, str), "-none")
        choice = self._choice
        in_force = None if choice is None or not choice.is_in(self.session.options) else choice.path
        tree.show_axis(self._axis, in_force)
        title = ranges_title(tree.forest, tree.cursor)
        self.query_one("#ranges-pane PaneTitle", PaneTitle).show(*title)

    def _axis(self, width: int) -> RunAxis | None:
        """Return the axis of a chart so wide; None where there is no room for words beside it."""
        left = left_of(width, has_ranges=True)
        if self._timeline is None or left == LEFT:
            return None
        shown = self._timeline.part(self._part.first, self._part.stop, self._by)
        return RunAxis(shown.launches, shown.by, width - left - RIGHT)

    def _show(self) -> None:
        timeline = self._timeline
        if timeline is None:
            return
        session, part = self.session, timeline.part(self._part.first, self._part.stop, self._by)
        title = chart_title(part, self._part, log=session.log)
        self.query_one("#timeline-pane PaneTitle", PaneTitle).show(*title)
        has_ranges = isinstance(self._shown_above(), RangeForest)
        self.query_one(Chart).show(partial(_draw, part, session, has_ranges))
        self.query_one("#course", Line).show(course_forms(part))
        self._show_ranges()

    @on(RangeReached)
    def _name_range(self, event: RangeReached) -> None:
        title = ranges_title(self.query_one(RangeTree).forest, event.path)
        self.query_one("#ranges-pane PaneTitle", PaneTitle).show(*title)

    @on(RangeZoomed)
    def _zoom_to(self, event: RangeZoomed) -> None:
        forest, timeline = self.query_one(RangeTree).forest, self._timeline
        if forest is None or timeline is None:
            return
        shown = shown_range(timeline.launches, *forest.listed.runs(event.path))
        if shown is None:
            self.app.say("no launch of this group is in that range; another group may have some")
        else:
            self._change(lambda _: shown)

    @on(RangeChosen)
    def _choose(self, event: RangeChosen) -> None:
        forest, options, choice = self.query_one(RangeTree).forest, self.session.options, self._choice
        if forest is None:
            return
        if choice is not None and choice.is_in(options) and choice.path == event.path:
            self._give_back()
            return
        self._choice = RegionChoice.of(forest.listed, event.path, self._base(options))
        self.app.plan(self._choice.after)

    def _give_back(self) -> None:
        if self._choice is not None:
            options = self._choice.taken_out(self.session.options)
            self._choice = None
            self.app.plan(options)

    def action_choose(self) -> None:
        """Make the range under the cursor the region; the key works in its pane, the palette anywhere."""
        self.query_one(RangeTree).action_choose()

    def action_leave(self) -> None:
        """Show all launches of the group; where all are shown, give the region from before back."""
        if not self._part.is_whole:
            self.action_whole()
        elif self._choice is not None and self._choice.is_in(self.session.options):
            self._give_back()
        else:
            raise SkipAction

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
        part = timeline.part(self._part.first, self._part.stop, self._by)
        # The command lists the ranges of the region that is in force.
        above = self._above.get(timeline.study.counts.region) or ""
        text = timeline_text(part, canvas, height, log=session.log, above=above)
        return PaneText(f"kernelpoint-timeline-{timeline.group + 1}", text + "\n")

    def command(self) -> str:
        """`timeline` of the same launches, as large as it is drawn."""
        if self._timeline is None:
            return "kernelpoint timeline"
        part = self._timeline.part(self._part.first, self._part.stop, self._by)
        return timeline_command(self.app.planned, part, self._part, self.query_one(Chart).printed_size)


def _draw(timeline: GroupTimeline, session: Session, has_ranges: bool, width: int, height: int) -> Grid:
    return group_timeline(
        timeline,
        width,
        height,
        log=session.log,
        ascii_only=session.ascii_only,
        dots=terminal.app_dots(session.options.ascii, ascii_only=session.ascii_only),
        left=left_of(width, has_ranges=has_ranges),
    )
