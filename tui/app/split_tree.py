"""View 2: how the kernel groups are split, decision by decision, and the user's own decisions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Static

from sampling.errors import OptionError, SamplingError
from sampling.methods.registry import method_named, splits_groups
from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.plan.split_stepper import SplitStepper
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Overrides, Verdict
from sampling.text import counted
from tui.app.actions import APP, COMPARING, TREE, VIEW, bindings
from tui.app.planning import decision_error, options_with_overrides
from tui.app.session_app import start
from tui.app.state import Session, decisions, same_overrides
from tui.app.view import PaneText, ViewScreen
from tui.app.widgets import Chart, Line, PaneTitle, Soon, titled
from tui.charts import quantities
from tui.charts.grid import Grid, blank
from tui.charts.tree import tree
from tui.options.command_line import command_line, error_text, options_of
from tui.options.look import TreeOptions
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import printable_lines
from tui.text.groups import group_label
from tui.text.tree import (
    TreeSnapshot,
    card_lines,
    node_name,
    running_lines,
    stop_histogram,
    take_snapshot,
    tree_blocks,
)

_TO_LOOK_AT = ("root", "stem", "allegro")


def methods_in_turn(of_plan: str) -> tuple[str, ...]:
    """Return the methods whose trees are shown in turn, that of the plan first if it splits groups."""
    first = () if method_named(of_plan).trees is None else (of_plan,)
    return tuple(dict.fromkeys((*first, *_TO_LOOK_AT)))


def use_of_trees(method: str, of_plan: str) -> tuple[str, str]:
    """Return whether a plan by one method is split by the trees of another, in few words and in more.

    >>> use_of_trees("stem", "joint")
    ("not the plan's", 'the plan, by joint, takes your cuts alone')
    """
    if method == of_plan:
        return "the plan's", "the plan is split so"
    if splits_groups(of_plan):
        return "not the plan's", f"the plan, by {of_plan}, takes your cuts alone"
    return "not the plan's", f"the plan is by {of_plan}; a decision makes it one by {method}"


@dataclass(frozen=True, slots=True, eq=False)
class WalkSpec:
    """What a walk is made from: whose trees it goes through may be another method than the plan's."""

    counts: DurationCounts
    method: str
    options: SampleOptions
    overrides: Overrides

    def is_like(self, next_spec: WalkSpec | None) -> bool:
        """Return whether a walk made from the other goes the same way."""
        if next_spec is None or self.counts is not next_spec.counts:
            return False
        mine, theirs = (
            (spec.method, spec.options.request.target, spec.options.request.seed, spec.options.request.set)
            for spec in (self, next_spec)
        )
        return mine == theirs and same_overrides(self.overrides, next_spec.overrides)

    def walk(self, progress: Progress) -> SplitStepper:
        """Return a new walk by it, at no group yet."""
        settings, target = self.options.request.set, self.options.request.target
        return SplitStepper(
            self.counts, self.method, target, settings=settings, overrides=self.overrides, progress=progress
        )


Walked = tuple[WalkSpec, SplitStepper]
"""A walk, and what it was made from."""

Change = Callable[[Walked | None, Progress], Walked | None]
"""Moves a walk on, or makes another; raises SamplingError where it cannot."""


def node_title(stop: TreeSnapshot, draft: Draft | None) -> str:
    """Return the group, and which of its decisions is looked at."""
    decisions = len(stop.nodes)
    if stop.node is None:
        place = "its one decision" if decisions == 1 else f"all {counted(decisions, 'decision', 'decisions')}"
    elif stop.node.index == decisions:
        place = f"decision {quantities.count(decisions + 1)}, {node_name(stop.node.path)}"
    else:
        so_far = "" if stop.pending is None else " so far"
        place = f"decision {stop.node.index + 1} of {quantities.count(decisions)}{so_far}"
    label = "" if draft is None else f": {group_label(draft, stop.group)}"
    return f"[2] {stop.name} {place}{label}"


def draw_branches(stop: TreeSnapshot, width: int, height: int) -> Grid:
    """Return the branches so far, as many rows as there is room for, that of the node in focus among them."""
    if width < 1 or height < 2:
        return blank(width, height)
    decisions, room = len(stop.nodes), height - 1
    focus = decisions if stop.node is None else stop.node.index
    first = max(min(focus - room // 2, decisions + (stop.pending is not None) - room), 0)
    # Where a group is split to its end no node is marked.
    marked = "-" if stop.node is None else stop.node.path
    return tree(stop.nodes, width, proposed=stop.pending, marked=marked, rows=(first, first + room))


class SplitTreeScreen(ViewScreen):
    """The histogram and the facts of a node over the tree so far, and what it all would cost."""

    NAME = "Split tree"
    SUMMARY = "how each group is split, decision by decision"
    SCOPES = (APP, TREE, COMPARING, VIEW)
    BINDINGS = bindings(APP, TREE, COMPARING, VIEW)
    AUTO_FOCUS = "#branches"
    ABOUT: ClassVar[str] = (
        "root splits a kernel group in two where its parts, sampled together, cost less than the whole; stem "
        "and allegro split what would need many samples. m shows their trees in turn. tau is what a node "
        "costs: the duration of its samples, tau old kept whole, tau new split. The row marked ? is the "
        "decision that comes next, rows marked ! are decided by you. Your cuts are taken into the plan, by "
        "joint too: it then draws of these ranges, prices their sizes, and keeps its bounds. The line at the "
        "foot is a plan by this tree's method if splitting ended here: groups of smaller rank split to "
        "their end, later ones whole. Of its bounds, total is of the total time, worst group the largest "
        "of any kernel group's own time, this group that of the group in focus."
    )

    def __init__(self) -> None:
        super().__init__()
        self._other_method: str | None = None
        # What the session asks of a walk, what the one shown was made from, and where that is.
        self._spec: WalkSpec | None = None
        self._shown_spec: WalkSpec | None = None
        self._stop: TreeSnapshot | None = None
        self._cursor: str | None = None
        self._histogram = Soon[None](self, lambda _: self._draw_histogram())
        # The walk, which a worker moves, and the changes of it that are not made yet.
        self._walked: Walked | None = None
        self._waiting: deque[Change] = deque()
        self._is_moving = False

    def compose_panes(self) -> ComposeResult:
        card = Vertical(PaneTitle(), Static(id="card", markup=False), id="card-pane")
        histogram, branches = Chart(id="split-histogram"), Chart(id="branches")
        yield Container(titled("split", histogram), card, titled("tree", branches), id="split-panes")
        yield Line(id="running")

    def follow(self, previous: Session | None, session: Session) -> None:
        """Walk by the session's options, in the group it has in focus."""
        has_other_method = previous is not None and previous.request.method != session.request.method
        if has_other_method:
            # The plan's own trees are shown again.
            self._other_method = None
        stop, selected = self._stop, session.selected
        if self._is_outdated(session):
            self._begin(session)
        elif stop is not None and session.draft is not None and selected not in {None, stop.group}:
            # Another group is in focus elsewhere.
            self._go(lambda walk: walk.enter(selected or 0))
        elif has_other_method or (previous is not None and previous.log != session.log):
            self._show()

    def _is_outdated(self, session: Session) -> bool:
        """Return whether the session asks for another walk; while it plans, its options may be withdrawn."""
        spec = self._walk_spec(session)
        return session.doing is None and spec is not None and not spec.is_like(self._spec)

    def _method_wanted(self, session: Session) -> str:
        """Return the method whose trees are to be shown: the plan's, or one to look at."""
        return self._other_method or methods_in_turn(session.request.method)[0]

    def _walk_spec(self, session: Session) -> WalkSpec | None:
        """Return what the session asks of a walk; None while nothing is read."""
        draft, method = session.draft, self._method_wanted(session)
        return None if draft is None else WalkSpec(draft.counts, method, session.options, session.overrides)

    # The walk, which is moved in a worker.

    def _begin(self, session: Session) -> None:
        """Walk by what the session asks."""
        self._spec = spec = self._walk_spec(session)
        if self._stop is None:
            self._say_in_card("splitting")
        if spec is None:
            return

        def begin(walked: Walked | None, progress: Progress) -> Walked:
            walk = spec.walk(progress)
            if walked is not None and walked[0].counts is spec.counts:
                walk.resume(walked[1].position)
            else:
                walk.enter(session.selected or 0)
            return spec, walk

        self._add(begin)

    def _go(self, step: Callable[[SplitStepper], object]) -> None:
        """Move on, and look at the decision that comes next there."""

        def move(walked: Walked | None, _: Progress) -> Walked | None:
            if walked is not None:
                step(walked[1])
            return walked

        self._cursor = None
        self._add(move)

    def _add(self, *changes: Change) -> None:
        """Make changes of the walk once those asked for before are made."""
        self._waiting += changes
        if self._waiting and not self._is_moving:
            self._is_moving = True
            start(self, self._moved, self._take, group="tree", is_exclusive=False)

    def _moved(self, progress: Progress) -> Iterator[tuple[WalkSpec, TreeSnapshot] | SamplingError | None]:
        """Yield where each change leads, or why it cannot be made; None after the last."""
        while self._waiting:
            try:
                self._walked = self._waiting.popleft()(self._walked, progress)
                if self._walked is not None:
                    yield self._walked[0], take_snapshot(self._walked[1])
            except SamplingError as error:
                yield error
        yield None

    def _take(self, result: tuple[WalkSpec, TreeSnapshot] | SamplingError | None) -> None:
        if result is None:
            self._is_moving = False
            self._add()
        elif isinstance(result, SamplingError):
            self._say_why_not(result)
        elif self.session.draft is not None and result[0].counts is self.session.draft.counts:
            self._shown_spec, self._stop = result
            if self._cursor is not None and self._cursor not in {node.path for node in self._stop.nodes}:
                self._cursor = None
            if self.is_current and self.session.selected != self._stop.group:
                self.app.change(selected=self._stop.group)
            self._show()

    def _say_why_not(self, error: SamplingError) -> None:
        words = error_text(decision_error(error, self.session.overrides))
        if self._shown_spec is None:
            self._say_in_card(words)
            return
        if self._method_wanted(self.session) != self._shown_spec.method:
            # The tree of the other method stays.
            self._other_method, self._spec = self._shown_spec.method, self._shown_spec
        self.app.say(words, failed=True)

    def _say_in_card(self, *lines: str) -> None:
        self.query_one("#card", Static).update(printable_lines("\n".join(lines)))

    # The user's decisions.

    def _plan_by_decision(self, spec: WalkSpec, group: str, path: str, verdict: Verdict) -> None:
        """Plan by the decision that the walk has already taken over."""
        self._spec, of_plan = spec, self.session.request.method
        # A plan with strata of kernel groups takes the cuts; one of another kind becomes one by this method.
        by = of_plan if splits_groups(of_plan) else spec.method
        self.app.decide(spec.overrides, by)
        outcome = "split" if verdict is Verdict.SPLIT else "kept whole"
        remedy = "u takes it back" if by == of_plan else f"the plan is by {by} now; u goes back to {of_plan}"
        self.app.say(f"{group} {node_name(path)} {outcome} by you; {remedy}")

    def _undo(self) -> None:
        before = self.session.request.method
        if not self.app.undo_decision():
            self.app.say("there is no decision of yours to take back")
            return
        method = self.session.request.method
        left = counted(decisions(self.session.overrides), "decision", "decisions")
        back = "" if method == before else f", by {method} again"
        self.app.say(f"taken back{back}; {left} of yours left")

    # What is shown.

    @property
    def is_settled(self) -> bool:
        """Whether the walk is up to date with the session, and nothing is pending."""
        is_still = not self._is_moving and self._histogram.is_resting
        return is_still and not self._is_outdated(self.session)

    @property
    def method(self) -> str:
        """The method whose trees are shown; those of another method may still be being made."""
        return self._method_wanted(self.session) if self._shown_spec is None else self._shown_spec.method

    @property
    def looked_at(self) -> TreeSnapshot | None:
        """Where the walk is now, with the node under the cursor; None before it has begun."""
        stop = self._stop
        if stop is None or self._cursor is None:
            return stop
        return replace(stop, node=next(node for node in stop.nodes if node.path == self._cursor))

    def _show(self) -> None:
        """Show the words, the tree and the figures at once, the histogram once no more keys come."""
        stop = self.looked_at
        if stop is None:
            return
        session, method, axis = self.session, self.method, "log" if self.session.log else "linear"
        use, use_in_words = use_of_trees(method, session.request.method)
        self.entitle("split", node_title(stop, session.draft), f"[x] {axis} [m] {method}, {use}")
        # The words are of a decision, with the keys that take it; or of a group that is split.
        self.entitle("card", "This kernel group" if stop.node is None else "[+ -] This decision")
        so_far, keys = ("", "") if stop.pending is None else (" so far", "+ split  - keep  u undo")
        self.entitle("tree", f"[tab] Tree of {method}{so_far}", f"{use_in_words}  {keys}".rstrip(), keys)
        self._say_in_card(*card_lines(stop))
        self.query_one("#branches", Chart).show(partial(draw_branches, stop))
        # Told from the plan's own figures in the row below.
        whose = [method] if method == session.request.method else [f"By {method}, not the plan", method]
        running = [f"{who}: {line[:1].lower()}{line[1:]}" for who in whose for line in running_lines(stop)]
        self.query_one("#running", Line).show(running or [""])
        self._histogram.ask(None)

    def _draw_histogram(self) -> None:
        stop, chart = self.looked_at, self.query_one("#split-histogram", Chart)
        if stop is not None:
            chart.show(partial(stop_histogram, stop, log=self.session.log))

    # Keys.

    def action_walk(self, way: str) -> None:
        """Move on as a method of `SplitStepper` does, and look at the decision that comes next there."""
        self._go(methodcaller(way))

    def action_look(self, by: int) -> None:
        """Look at the decision before or after, at most at the one that comes next."""
        stop = self.looked_at
        if stop is not None and (stop.node is not None or by < 0):
            focus = len(stop.nodes) if stop.node is None else stop.node.index
            index = max(focus + by, 0)
            self._cursor = stop.nodes[index].path if index < len(stop.nodes) else None
            self._show()

    def action_decide(self, verdict: str) -> None:
        """Decide on the node in focus; the one ahead is then taken."""
        node = None if self._stop is None or self._cursor is None else (self._stop.group, self._cursor)
        verdict_value = Verdict(verdict)

        def decide(walked: Walked | None, progress: Progress) -> Walked | None:
            if walked is None:
                return None
            before, place = walked[1], walked[1].position
            group, path = (place.group, place.path) if node is None else node
            if group != place.group:
                # The user is at another node by now.
                return walked
            if path is None:
                raise OptionError("the group is split to its end", remedy="[ or k goes back to a decision")
            spec = replace(walked[0], overrides=before.override(path, verdict_value))
            walk = spec.walk(progress)
            walk.resume(place)
            if path == place.path:
                walk.step()
            self.call_later(self._plan_by_decision, spec, f"#{group + 1}", path, verdict_value)
            return spec, walk

        self._add(decide)

    def action_undo_decision(self) -> None:
        """Take the last decision back; decisions queued before it are made first."""

        def undo(walked: Walked | None, _: Progress) -> Walked | None:
            self.call_later(self._undo)
            return walked

        self._add(undo)

    def action_method(self) -> None:
        """Show the trees of the next method; those of the plan's are not to look at."""
        session = self.session
        methods, method = methods_in_turn(session.request.method), self._method_wanted(session)
        place = methods.index(method) if method in methods else -1
        self._other_method = methods[(place + 1) % len(methods)]
        self._begin(session)

    # What is copied.

    def own_text(self) -> PaneText:
        stop, session = self.looked_at, self.session
        if stop is None:
            return PaneText("kernelpoint-tree", "")
        canvas = Canvas(self.app.size.width, color=False)
        text = canvas_text(tree_blocks(stop, canvas, log=session.log), canvas) + "\n"
        return PaneText(f"kernelpoint-tree-{stop.group + 1}", text)

    def command(self) -> str:
        """`tree` after as many decisions, looking at the same node; the session may be ahead of the walk."""
        stop, spec, session, cursor = self.looked_at, self._shown_spec, self.session, self._cursor
        if spec is not None:
            session = replace(session, options=spec.options, overrides=spec.overrides)
        options = options_with_overrides(session)
        if options.request.group_by is GroupBy.PUBLISHED and spec is not None:
            # That of the plan's method, whose groups these are.
            options = options.with_request(group_by=spec.counts.grouping.by)
        tree_options = options_of(
            TreeOptions,
            options,
            kernel="#1" if stop is None else f"#{stop.group + 1}",
            decisions=0 if stop is None else len(stop.nodes),
            node=None if cursor is None else node_name(cursor),
            log=session.log,
        )
        return command_line("tree", tree_options.with_request(method=self.method))
