"""View 6: when in the run the launches of a kernel group execute, and how long they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip

from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.profile.profile import Profile
from sampling.reduction.region import Region as LaunchRegion
from sampling.reduction.timeline import By
from tui.app.actions import APP, COMPARING, RANGES, TIMELINE, VIEW, bindings
from tui.app.planning import options_with_overrides
from tui.app.session_app import in_words, start
from tui.app.state import Session
from tui.app.view import PaneText, ViewScreen
from tui.app.widgets import Chart, Line, Rows, make_strip, titled
from tui.charts import quantities
from tui.charts.grid import Grid, blank
from tui.charts.grid import runs as grid_runs
from tui.charts.timeline import LEFT, RIGHT, RunAxis
from tui.engine.looking import GroupTimeline, is_quickly_listed, ranges_in, timeline_of_group
from tui.options.choices import TimelineBy
from tui.options.command_line import command_line, options_of
from tui.options.look import TimelineOptions
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.groups import group_label
from tui.text.timeline import (
    RangeForest,
    TreeMarks,
    above_chart,
    columns_before_chart,
    course_forms,
    group_timeline,
    range_words,
    timeline_blocks,
    tree_grid,
    with_clusters,
)

#: No fewer launches are shown, where a group has as many.
LEAST_SHOWN = 8


class Shown(NamedTuple):
    """Which of a group's launches are shown: from place ``first`` up to, not with, ``stop``."""

    first: int
    stop: int
    launches: int

    @property
    def number(self) -> int:
        """How many are shown."""
        return self.stop - self.first

    def about(self, number: int) -> Shown:
        """Return so many about the same middle, as many as there are at most and `LEAST_SHOWN` at least."""
        number = min(max(number, LEAST_SHOWN), self.launches)
        return self._from((self.first + self.stop - number) // 2, number)

    def panned(self, direction: int) -> Shown:
        """Return as many, a quarter of them further on, or back."""
        return self._from(self.first + max(self.number // 4, 1) * direction, self.number)

    def _from(self, first: int, number: int) -> Shown:
        first = min(max(first, 0), self.launches - number)
        return Shown(first, first + number, self.launches)


class RegionChoice(NamedTuple):
    """A range that was made the region of the whole app: its path, the options without it, and with it."""

    path: int
    #: Whether its path is one where steps are apart.
    steps_apart: bool
    before: SampleOptions
    after: SampleOptions

    def is_in(self, options: SampleOptions) -> bool:
        """Whether options have it still: its filter may have been changed since, by the filters' form too."""
        asked, after = options.request, self.after.request
        return (asked.range, asked.launches) == (after.range, after.launches)

    def taken_out(self, options: SampleOptions) -> SampleOptions:
        """Return options with the region from before; what else changed since stays."""
        return options.with_request(range=self.before.request.range, launches=self.before.request.launches)


class RangeTree(Rows):
    """Ranges to open and to choose, a bar each on the axis of the chart below; or a text in their place."""

    BINDINGS = bindings(RANGES)

    def __init__(self) -> None:
        super().__init__()
        self.forest: RangeForest | None = None
        self._opened: set[int] = set()
        self._paths: list[int] = []
        self._in_force: int | None = None
        self._axis_of: Callable[[int], RunAxis | None] = lambda _: None
        self._grid = blank(0, 0)

    def say(self, words: str) -> None:
        """Show a text in place of ranges."""
        self.forest = None
        self.fill(0, words=words)

    def show(
        self, forest: RangeForest, axis_of: Callable[[int], RunAxis | None], in_force: int | None
    ) -> None:
        """Show ranges, the cursor on the first of other ones; bars on an axis of a width; mark the region."""
        self._axis_of, self._in_force = axis_of, in_force
        if self.forest is not forest:
            self.forest, self._opened = forest, set(forest.opened_at_first())
            self._walk(forest)
        self.refresh()

    @property
    def path(self) -> int | None:
        """The range at the cursor; None where there is none."""
        return self._paths[self.cursor] if self.row_count else None

    def _walk(self, forest: RangeForest, path: int | None = None) -> None:
        """List what is open, the cursor on a range."""
        self._paths = forest.walked(self._opened)
        self.fill(len(self._paths), 0 if path is None else self._paths.index(path))
        self.post_message(self.Moved())

    def action_open(self) -> None:
        forest, path = self.forest, self.path
        if forest is None or path is None or not forest.has_inside(path):
            return
        if path in self._opened:
            self.move(1)
        else:
            self._opened.add(path)
            self._walk(forest, path)

    def action_close(self) -> None:
        forest, path = self.forest, self.path
        if forest is None or path is None:
            return
        if path in self._opened and forest.has_inside(path):
            self._opened.remove(path)
            self._walk(forest, path)
        elif (parent := forest.parent_of(path)) >= 0:
            self._walk(forest, parent)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw all that is in sight at once: columns are as wide as what they have there."""
        if self.forest is not None:
            marks = TreeMarks(self._opened, self.path if self.has_focus else None, self._in_force)
            rows = self._paths[self._first : self._first + self.page]
            width = self.size.width
            self._grid = tree_grid(self.forest, rows, self._axis_of(width), width, marks)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        if self.forest is None:
            return super().render_line(y)
        runs = grid_runs(self._grid, y) if y < self._grid.height else ()
        return make_strip(runs, self.size.width, self.rich_style)


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
        "the run turns to other kernels a dotted line stands, and by time letters on the axis say where the "
        "device is idle, and why: host, copy, turnaround, dependency or unknown. Drawing at random within "
        "strata needs no order, so the bound holds with drift too; a plan that takes the first launches, or "
        "one iteration, does not see it. Above are the ranges that "
        "the program named and the iterations that were found, each with a bar where its launches of this "
        "group stand in the chart. tab goes there: l opens a range and h closes it, s lists steps apart that "
        "differ in a number alone, enter zooms the chart to a range, and space makes it the region, so that "
        "every view shows its launches alone. esc shows the whole run again, then gives the region from "
        "before back."
    )

    def __init__(self) -> None:
        super().__init__()
        self._timeline: GroupTimeline | None = None
        self._part = Shown(0, 1, 1)
        self._by: By = "launch"
        self._wanted: tuple[Draft, int] | None = None
        self._profile: Profile | None = None
        self._steps_apart = False
        #: What stands above the chart, by region and whether steps are apart; None while it is read.
        self._above: dict[tuple[LaunchRegion, bool], RangeForest | str | None] = {}
        self._choice: RegionChoice | None = None
        self._tree, self._chart = RangeTree(), Chart(id="timeline")

    def compose_panes(self) -> ComposeResult:
        yield Container(titled("ranges", self._tree), titled("timeline", self._chart), id="panes")
        yield Line(id="course")

    def follow(self, previous: Session | None, session: Session) -> None:
        """Show the group in focus, of the plan there is, and the ranges of the region."""
        draft, group = session.draft, session.focus
        if draft is not None:
            self._follow_ranges(draft)
        if draft is None or group is None:
            self._wanted = self._timeline = None
            self.entitle("timeline", "[6] no kernel group")
            self.query_one("#course", Line).show([""])
            self._chart.say("no kernel group is in focus: choose one in view 1")
        elif self._wanted != (draft, group):
            self._wanted = (draft, group)
            self._read(draft, group, session.request.seed)
        elif previous is None or previous.log != session.log:
            self._show()

    @property
    def is_ready(self) -> bool:
        """Whether there are launches to zoom into."""
        return self._timeline is not None or self.session.selected is None

    @property
    def is_settled(self) -> bool:
        """Whether what is shown is the group in focus, and the ranges are those of the region."""
        timeline = self._timeline
        is_shown = timeline is not None and self._wanted == (timeline.draft, timeline.group)
        is_shown = is_shown and not (self._by == "time" and timeline is not None and timeline.lacks_causes)
        return is_shown and bool(self._above) and None not in self._above.values()

    # What is read.

    def _read(self, draft: Draft, group: int, seed: int) -> None:
        before, causes = self._timeline, self._by == "time"

        def read(progress: Progress) -> Iterator[GroupTimeline]:
            yield with_clusters(timeline_of_group(draft, group, seed, progress, before=before, causes=causes))

        def say(words: str) -> None:
            # What is shown stays until there is something else to show.
            if self._timeline is None:
                self._chart.say(words)

        say("reading launches")
        start(self, read, self._take, in_words(say), group="timeline")

    def _take(self, timeline: GroupTimeline) -> None:
        before = self._timeline
        if self._wanted != (timeline.draft, timeline.group):
            return
        place = timeline.draft.counts, timeline.group
        if before is None or (before.draft.counts, before.group) != place:
            launches = len(timeline.launches)
            self._part = Shown(0, launches, launches)
        if timeline.launches.start_ns is None:
            self._by = "launch"
        self._timeline = timeline
        self._show()

    def _follow_ranges(self, draft: Draft) -> None:
        """Read the ranges of the draft's region and of that from before a choice, where they are not read."""
        if draft.profile is not self._profile:
            self._profile, self._above = draft.profile, {}
        for region in dict.fromkeys((draft.counts.region, self._base.request.region)):
            self._read_ranges(draft, region)
        self._show_ranges()

    def _read_ranges(self, draft: Draft, region: LaunchRegion) -> None:
        profile, steps_apart = draft.profile, self._steps_apart
        key = region, steps_apart

        def read(progress: Progress) -> Iterator[RangeForest | str]:
            yield above_chart(ranges_in(profile, region, progress, steps_apart=steps_apart))

        def say(words: str) -> None:
            if self._shown_above is None:
                self._tree.say(words)

        def take(above: RangeForest | str) -> None:
            self._above[key] = above
            self._show_ranges()
            self._show()

        if key not in self._above and is_quickly_listed(draft):
            self._above[key] = None
            start(self, read, take, in_words(say), group="ranges", is_exclusive=False)
        elif key not in self._above:
            self._above[key] = above_chart(None, is_looked_for=False)

    # What is shown.

    @property
    def _in_force(self) -> RegionChoice | None:
        """The range that was chosen here, if the options have it still."""
        choice = self._choice
        return choice if choice is not None and choice.is_in(self.session.options) else None

    @property
    def _base(self) -> SampleOptions:
        """The options without the range that was chosen here."""
        options, choice = self.session.options, self._in_force
        return options if choice is None else choice.taken_out(options)

    @property
    def _shown_above(self) -> RangeForest | str | None:
        """The ranges of the region from before the choice; None while they are read."""
        return self._above.get((self._base.request.region, self._steps_apart))

    @property
    def _path_in_force(self) -> int | None:
        """The path of the range that was chosen here, among those that are listed."""
        choice = self._in_force
        return choice.path if choice is not None and choice.steps_apart == self._steps_apart else None

    def _show_ranges(self) -> None:
        above = self._shown_above
        if isinstance(above, RangeForest):
            self._tree.show(above, self._axis, self._path_in_force)
        elif above is not None:
            self._tree.say(above)
        self.query_one("#ranges-pane").set_class(isinstance(above, str), "-none")
        self._name_range()

    @on(Rows.Moved)
    def _name_range(self) -> None:
        forest, path = self._tree.forest, self._tree.path
        if forest is None or path is None:
            self.entitle("ranges", "[tab] Ranges and iterations")
        else:
            self.entitle("ranges", f"[tab] {range_words(forest, path)}", "enter zooms, space: region")

    def _in_part(self, timeline: GroupTimeline) -> GroupTimeline:
        return timeline.part(self._part.first, self._part.stop, self._by)

    def _axis(self, width: int) -> RunAxis | None:
        """Return the axis of a chart so wide; None where there is no room for words beside it."""
        left = columns_before_chart(width, has_ranges=True)
        if self._timeline is None or left == LEFT:
            return None
        timeline = self._in_part(self._timeline)
        return RunAxis(timeline.launches, timeline.by, width - left - RIGHT)

    def _show(self) -> None:
        if self._timeline is None:
            return
        session, part, visible = self.session, self._in_part(self._timeline), self._part
        # What a narrow title loses is its end.
        share = f"{quantities.share(visible.number / visible.launches)} of " if self._is_zoomed else ""
        group = f"#{part.group + 1} {group_label(part.survey, part.group)}"
        axes = f"[t] by {part.by}, [x] {'log' if session.log else 'linear'}"
        self.entitle("timeline", f"[6] {share}{group}", axes)
        has_ranges = isinstance(self._shown_above, RangeForest)

        def draw(width: int, height: int) -> Grid:
            left = columns_before_chart(width, has_ranges=has_ranges)
            return group_timeline(part, width, height, log=session.log, left=left)

        self._chart.show(draw)
        self.query_one("#course", Line).show(course_forms(part))
        self._show_ranges()

    # Keys.

    def _asked_range(self) -> tuple[RangeForest, int] | None:
        forest, path = self._tree.forest, self._tree.path
        if forest is None or path is None:
            self.app.say("there are no ranges to choose from here", failed=True)
            return None
        return forest, path

    def action_zoom_to(self) -> None:
        requested, timeline = self._asked_range(), self._timeline
        if requested is None or timeline is None:
            return
        first, stop = requested[0].listed.runs(requested[1])
        ends = int(first.min()), int(stop.max())
        low, high = np.searchsorted(timeline.launches.id, ends).tolist()
        if high == low:
            self.app.say("no launch of this group is in that range; another group may have some")
        else:
            # Of few launches their neighbours are shown too.
            self._show_part(Shown(low, high, len(timeline.launches)).about(high - low))

    def action_choose(self) -> None:
        """Make the range under the cursor the region, a named one by its path, an iteration by its launches.

        Where it is the region, the one from before is given back.
        """
        requested, base = self._asked_range(), self._base
        if requested is None:
            return
        path, listed = requested[1], requested[0].listed
        if self._path_in_force == path:
            self._give_back()
            return
        if path < listed.found_from:
            after = base.with_request(range=listed.paths.written(path))
        else:
            after = base.with_request(launches=f"{int(listed.first[path])}:{int(listed.last[path]) + 1}")
        self._choice = RegionChoice(path, self._steps_apart, base, after)
        self.app.plan(after)

    def action_steps(self) -> None:
        """List steps apart, or those that differ in a number alone as one."""
        self._steps_apart = not self._steps_apart
        if self.session.draft is not None:
            self._follow_ranges(self.session.draft)
            self._show()

    def _give_back(self) -> None:
        options, self._choice = self._base, None
        self.app.plan(options)

    @property
    def _is_zoomed(self) -> bool:
        return self._part.number < self._part.launches

    def action_leave(self) -> None:
        if self._is_zoomed:
            self.action_whole()
        elif self._in_force is not None:
            self._give_back()
        else:
            raise SkipAction

    def _show_part(self, part: Shown) -> None:
        if self._timeline is not None:
            self._part = part
            self._show()

    def action_zoom(self, factor: float) -> None:
        self._show_part(self._part.about(int(self._part.number * factor)))

    def action_pan(self, direction: int) -> None:
        self._show_part(self._part.panned(direction))

    def action_whole(self) -> None:
        self._show_part(Shown(0, self._part.launches, self._part.launches))

    def action_group(self, step: int) -> None:
        draft, group = self.session.draft, self.session.focus
        if draft is not None and group is not None:
            last = len(draft.look.counts.groups) - 1
            self.app.change(selected=draft.look.members(min(max(group + step, 0), last))[0])

    def action_by(self) -> None:
        timeline = self._timeline
        if timeline is not None and timeline.launches.start_ns is None:
            self.app.say("this profile does not have the start of every launch", failed=True)
        elif timeline is not None:
            self._by = "launch" if self._by == "time" else "time"
            self._show()
            if self._by == "time" and timeline.lacks_causes:
                self._read(timeline.draft, timeline.group, self.session.request.seed)

    def own_text(self) -> PaneText:
        timeline, session = self._timeline, self.session
        if timeline is None:
            return PaneText("kernelpoint-timeline", "")
        width, height = self._chart.printed_size
        canvas = Canvas(width, color=False)
        # The command lists the ranges of the region that is in force.
        above = self._above.get((timeline.draft.counts.region, self._steps_apart)) or ""
        blocks = timeline_blocks(self._in_part(timeline), canvas, height, log=session.log, above=above)
        return PaneText(f"kernelpoint-timeline-{timeline.group + 1}", canvas_text(blocks, canvas) + "\n")

    def command(self) -> str:
        """`timeline` of the same launches, as large as it is drawn."""
        if self._timeline is None:
            return "kernelpoint timeline"
        session, part = self.app.planned, self._in_part(self._timeline)
        ids, (width, height) = part.launches.id, self._chart.printed_size
        options = options_of(
            TimelineOptions,
            options_with_overrides(session),
            kernel=f"#{part.group + 1}",
            by=TimelineBy(part.by),
            window=f"{ids[0]}:{ids[-1] + 1}" if self._is_zoomed else None,
            steps=self._steps_apart,
            log=session.log,
            width=width,
            height=height,
        )
        return command_line("timeline", options)
