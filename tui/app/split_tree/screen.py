"""View 2: how the kernel groups are split, decision by decision, and the user's own decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import get_current_worker

from sampling.methods.registry import splits_groups
from sampling.plan.walk import TreeWalk
from sampling.splitting.tree import Verdict
from tui.app.actions import APP, COMPARING, TREE, VIEW, bindings
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.view import ViewScreen
from tui.app.split_tree.panes import Branches, SplitCard, SplitHistogram
from tui.app.split_tree.presenter import (
    card_title,
    decided_words,
    node_title,
    refused_words,
    tree_command,
    tree_title,
    undone_words,
)
from tui.app.split_tree.walk_queue import Decided, UndoAsked, WalkMoved, WalkQueue, WalkRefused
from tui.app.split_tree.walking import (
    Change,
    WalkSpec,
    begin,
    decide,
    methods_in_turn,
    move,
    spec_of,
)
from tui.app.state import Session, decisions
from tui.output.writer import Canvas
from tui.text.tree import TreeStop, card_lines, running_lines, tree_text


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
        self._studied: str | None = None
        self._spec: WalkSpec | None = None
        self._shown_spec: WalkSpec | None = None
        self._stop: TreeStop | None = None
        self._cursor: str | None = None
        self._walk = WalkQueue(self.post_message)

    def compose_panes(self) -> ComposeResult:
        """The node, the tree, the running figures."""
        ascii_only = self.session.ascii_only
        with Container(id="split-panes"):
            with Vertical(id="split-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield SplitHistogram(ascii_only=ascii_only, id="split-histogram")
            with Vertical(id="card-pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield SplitCard(ascii_only=ascii_only)
            with Vertical(id="tree-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield Branches(ascii_only=ascii_only, id="branches")
        yield Line(ascii_only=ascii_only, id="running")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Walk by the session's options, in the group it has in focus."""
        has_other_method = shown is not None and shown.options.method != session.options.method
        if has_other_method:
            # The plan's own trees are shown again.
            self._studied = None
        entered = None if self._stop is None else self._group_to_enter(session, self._stop)
        if self._is_outdated(session):
            self._begin(session)
        elif entered is not None:
            self._go(partial(TreeWalk.enter, group=entered))
        elif has_other_method:
            self._show()
        elif shown is not None and shown.log != session.log:
            self._show_histogram()

    @staticmethod
    def _group_to_enter(session: Session, stop: TreeStop) -> int | None:
        """Return the walk's group that is in focus elsewhere; None where the walk is there already."""
        if session.study is None or session.selected is None:
            return None
        return None if session.selected == stop.group else session.selected

    def _is_outdated(self, session: Session) -> bool:
        """Return whether the session asks for another walk; while it plans, its options may be withdrawn."""
        spec = spec_of(session, self._method_wanted(session))
        return session.doing is None and spec is not None and not spec.is_like(self._spec)

    def _method_wanted(self, session: Session) -> str:
        """Return the method whose trees are to be shown: the plan's, or one for study."""
        return self._studied or methods_in_turn(session.options.method)[0]

    def _begin(self, session: Session) -> None:
        """Walk by what the session asks."""
        self._spec = spec_of(session, self._method_wanted(session))
        if self._stop is None:
            self.query_one(SplitCard).show(["splitting"])
        if self._spec is not None:
            self._change(begin(self._spec, session.selected or 0))

    def _go(self, how: Callable[[TreeWalk], object]) -> None:
        """Move on, and look at the decision that comes next there."""
        self._cursor = None
        self._change(move(how))

    def _change(self, change: Change) -> None:
        """Queue a change of the walk."""
        if self._walk.add(change):
            self._make_changes()

    @work(thread=True, exit_on_error=False, group="tree")
    def _make_changes(self) -> None:
        worker = get_current_worker()
        self._walk.work(lambda: worker.is_cancelled)

    @on(WalkMoved)
    def _show_walk(self, event: WalkMoved) -> None:
        study = self.session.study
        if study is None or event.spec.counts is not study.counts:
            return
        self._stop, self._shown_spec = event.at, event.spec
        if self._cursor is not None and self._cursor not in {node.path for node in event.at.nodes}:
            self._cursor = None
        if self.is_current and self.session.selected != event.at.group:
            self.app.change(selected=event.at.group)
        self._show()

    @on(WalkRefused)
    def _say_why_not(self, event: WalkRefused) -> None:
        wanted = self._method_wanted(self.session)
        words = refused_words(event.error, self.session.overrides, wanted)
        if self._shown_spec is None:
            self.query_one(SplitCard).show([words])
            return
        if wanted != self._shown_spec.method:
            # The tree of the other method stays.
            self._studied, self._spec = self._shown_spec.method, self._shown_spec
        self.app.say(words, failed=True)

    @on(Decided)
    def _plan_by_decision(self, event: Decided) -> None:
        """Plan by the decision that the walk has already taken over."""
        spec, of_plan = event.spec, self.session.options.method
        self._spec = spec
        # A plan with strata of kernel groups takes the cuts; one of another kind becomes one by this method.
        by = of_plan if splits_groups(of_plan) else spec.method
        self.app.decide(spec.overrides, by)
        self.app.say(decided_words(event.group, event.path, event.verdict, by, of_plan))

    @on(UndoAsked)
    def _undo(self) -> None:
        before = self.session.options.method
        if self.app.undo_decision():
            session = self.session
            self.app.say(undone_words(decisions(session.overrides), session.options.method, before))
        else:
            self.app.say("there is no decision of yours to take back")

    @property
    def is_settled(self) -> bool:
        """Whether the walk is up to date with the session, and nothing is pending."""
        is_drawn = self.query_one(SplitHistogram).is_resting
        return self._walk.is_done and is_drawn and not self._is_outdated(self.session)

    @property
    def method(self) -> str:
        """The method whose trees are shown; those of another method may still be being made."""
        return self._method_wanted(self.session) if self._shown_spec is None else self._shown_spec.method

    @property
    def looked_at(self) -> TreeStop | None:
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
        title, title_of_card, title_of_tree = self.query(PaneTitle)
        session, of_plan = self.session, self.session.options.method
        title.show(*node_title(stop, session.study, self.method, of_plan, log=session.log))
        title_of_card.show(*card_title(stop))
        title_of_tree.show(*tree_title(stop))
        self.query_one(SplitCard).show(card_lines(stop))
        self.query_one(Branches).look_at(stop)
        self.query_one("#running", Line).show(running_lines(stop))
        self._show_histogram()

    def _show_histogram(self) -> None:
        stop = self.looked_at
        if stop is not None:
            self.query_one(SplitHistogram).look_at(stop, log=self.session.log)

    def action_step(self) -> None:
        """Take the decision ahead."""
        self._go(TreeWalk.step)

    def action_step_back(self) -> None:
        """Undo the last step."""
        self._go(TreeWalk.back)

    def action_next_group(self) -> None:
        """Go to the next group."""
        self._go(TreeWalk.next_group)

    def action_previous_group(self) -> None:
        """Go to the group before."""
        self._go(TreeWalk.previous_group)

    def action_finish_group(self) -> None:
        """Take all decisions on the group."""
        self._go(TreeWalk.finish_group)

    def action_finish(self) -> None:
        """Take all decisions."""
        self._go(TreeWalk.finish)

    def action_node_up(self) -> None:
        """Look at the decision before."""
        stop = self.looked_at
        if stop is not None:
            index = len(stop.nodes) if stop.node is None else stop.node.index
            self._look_at(stop, max(index - 1, 0))

    def action_node_down(self) -> None:
        """Look at the decision after."""
        stop = self.looked_at
        if stop is not None and stop.node is not None:
            self._look_at(stop, stop.node.index + 1)

    def _look_at(self, stop: TreeStop, index: int) -> None:
        self._cursor = stop.nodes[index].path if index < len(stop.nodes) else None
        self._show()

    def action_split_node(self) -> None:
        """Split the node in focus."""
        self._decide(Verdict.SPLIT)

    def action_keep_node(self) -> None:
        """Keep the node in focus whole."""
        self._decide(Verdict.KEEP)

    def _decide(self, verdict: Verdict) -> None:
        stop, cursor = self._stop, self._cursor
        node = None if stop is None or cursor is None else (stop.group, cursor)
        self._change(decide(node, verdict, lambda *found: self.post_message(Decided(*found))))

    def action_undo_decision(self) -> None:
        """Take the last decision back."""
        self._change(move(lambda _: self.post_message(UndoAsked())))

    def action_method(self) -> None:
        """Show the trees of the next method; those of the plan's are not for study."""
        session = self.session
        methods, shown = methods_in_turn(session.options.method), self._method_wanted(session)
        place = methods.index(shown) if shown in methods else -1
        self._studied = methods[(place + 1) % len(methods)]
        self._begin(session)

    def action_log(self) -> None:
        """Change between logarithmic and linear durations."""
        self.app.change(log=not self.session.log)

    def own_text(self) -> PaneText:
        """All of the view as `tree` prints it."""
        stop, session = self.looked_at, self.session
        if stop is None:
            return PaneText("kernelpoint-tree", "")
        canvas = Canvas(self.app.size.width, ascii_only=session.ascii_only, color=False)
        return PaneText(
            f"kernelpoint-tree-{stop.group + 1}",
            tree_text(stop, canvas, log=session.log) + "\n",
        )

    def command(self) -> str:
        """`tree` after as many decisions, looking at the same node."""
        return tree_command(self.session, self._shown_spec, self.looked_at, self.method, self._cursor)
