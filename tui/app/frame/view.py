"""What every view can do with its panes: copy, write, name the command that prints the same."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic

from textual import on
from textual.app import ComposeResult
from textual.worker import Worker, WorkerState

from sampling.errors import SamplingError
from sampling.plan.study import Study
from scalemodel.errors import ScaleModelError
from tui.app.frame import wording
from tui.app.frame.line import HeaderLine, KeysLine, Line, PaneTitle
from tui.app.frame.page import CopyingScreen, FindingsScreen, PaneText
from tui.app.frame.panes import Rows, Sort, next_in
from tui.app.planning import failure_words
from tui.app.session_app import SessionApp
from tui.app.state import Session
from tui.options.command_line import error_text
from tui.output.blocks import Words
from tui.output.writer import heading_text
from tui.terminal.printable import printable_lines
from tui.text.profile import header_forms, heading_lines, part_of_study


class ViewScreen(CopyingScreen):
    """A view on the session: tabs, the profile in a row, its own panes, the plan in a line, keys.

    A view draws in `compose_panes` and `follow`; it follows the session only while it is on the screen.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (36, "-high")]  # noqa: RUF012

    NAME: ClassVar[str]
    TAB: ClassVar[str] = ""
    """The view that it belongs to, where it is none of its own."""
    SUMMARY: ClassVar[str]
    """What it shows, in a few words."""
    SCOPES: ClassVar[tuple[str, ...]]
    """The scopes of its actions, as help lists them."""
    ABOUT: ClassVar[str]
    """How to read the view."""
    OF_PROFILE: ClassVar[bool] = True
    """Whether it shows the profile, or part of it."""

    app: SessionApp

    def __init__(self) -> None:
        super().__init__()
        # Textual parses all styles twice for a screen that it holds to be out of date; a new one is not.
        self._css_update_count = self.app._css_update_count
        self._shown: Session | None = None

    @property
    def session(self) -> Session:
        """What the app shows."""
        return self.app.session

    def compose(self) -> ComposeResult:
        """The frame around the view's own panes."""
        yield HeaderLine(self.app.tabs, self.TAB or self.NAME)
        yield Line(id="profile")
        yield from self.compose_panes()
        yield Line(id="plan")
        yield KeysLine()

    @property
    def is_ready(self) -> bool:
        """Whether the view shows what its actions are about; a view that computes it first overrides this."""
        return True

    @abstractmethod
    def compose_panes(self) -> ComposeResult:
        """The view's own panes."""

    @abstractmethod
    def follow(self, shown: Session | None, session: Session) -> None:
        """Show what differs from what is shown; `shown` is None before the first time."""

    def on_mount(self) -> None:
        """Follow the session from now on."""
        self.watch(self.app, "session", self._follow)

    def on_screen_resume(self) -> None:
        """Catch up with what changed while another view was open."""
        if self._shown is not None:
            self._follow(self.session)

    def _follow(self, session: Session) -> None:
        if session is self._shown or (self._shown is not None and not self.is_current):
            return
        shown, self._shown, study = self._shown, session, session.study
        profile, plan = self.query_one("#profile", Line), self.query_one("#plan", Line)
        profile.display = plan.display = bool(session.profiles)
        if study is not None:
            # What is in the profile changes with the study alone, and many groups take a moment to add up.
            if shown is None or shown.study is not study:
                self.query_one(HeaderLine).show(wording.workload_lines(session, study))
                profile.show(header_forms(study))
            plan.show(self.status(session, study))
        self.follow(shown, session)

    def status(self, session: Session, study: Study) -> list[Words]:
        """What is said of the plan, the longest form first."""
        return wording.status_lines(session, study)

    @on(Worker.StateChanged)
    def _notice_failure(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and isinstance(error, Exception):
            self.worker_failed(event.worker, error)

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:  # noqa: ARG002
        """Say why a worker of this view failed; an exception that no engine raises on purpose ends the app.

        A view that shows such errors elsewhere overrides this, and calls it for all others.
        """
        if isinstance(error, SamplingError | ScaleModelError | OSError):
            self.app.say(error_text(error), failed=True)
        else:
            self.app.fail(error)

    def pane_text(self) -> PaneText:
        """The text of the pane that has the focus, as its command prints it, under what it is a part of."""
        own, study, heading = self.own_text(), self.session.study, ""
        if own.text and study is not None and self.OF_PROFILE:
            heading = heading_text(heading_lines(part_of_study(study)), self.app.size.width)
        return PaneText(own.name, printable_lines(heading + own.text))

    @abstractmethod
    def own_text(self) -> PaneText:
        """The same text before characters that a terminal must not see are escaped."""

    @abstractmethod
    def command(self) -> str:
        """The command line that prints what the pane in focus shows."""

    def entitle(self, name: str, left: str, *rights: str) -> None:
        """Show a pane's name and, at the right end of its title, what it shows of how much."""
        self.query_one(f"#{name}-pane PaneTitle", PaneTitle).show(left, *rights)

    def action_log(self) -> None:
        """Change between logarithmic and linear durations, in all views."""
        self.app.change(log=not self.session.log)

    def action_findings(self) -> None:
        """Show every finding in full."""
        if self.session.study is not None:
            self.app.push_screen(FindingsScreen(self.session.study, beside=self.session.beside))

    def action_filters(self) -> None:
        """Show which launches count and what a kernel group is, to change it."""
        from tui.app.filters import FiltersScreen

        if self.session.study is None:
            self.app.say("no profile is open; `kernelpoint PROFILE` opens one")
        else:
            self.app.push_screen(FiltersScreen(self.session.study.profile, self.session))

    def action_copy_command(self) -> None:
        """Copy the command line that prints the same; split decisions are written to a file it names."""
        try:
            line = self.command()
        except OSError as error:
            self.app.say(f"your split decisions are not written: {failure_words(error)}", failed=True)
            return
        self.app.copy_to_clipboard(line)
        self.app.say(line)


class TableScreen(ViewScreen, Generic[Sort]):
    """A view with one sorted table, whose cursor moves from all its panes."""

    @property
    @abstractmethod
    def order(self) -> tuple[Sort, bool]:
        """What the table is sorted by, and whether the other way round."""

    @property
    @abstractmethod
    def orders(self) -> Sequence[Sort]:
        """What it can be sorted by in turn."""

    @abstractmethod
    def sort_by(self, sort: Sort, *, reverse: bool) -> None:
        """Sort by another figure, or the other way round."""

    def action_sort(self) -> None:
        self.sort_by(next_in(self.orders, self.order[0]), reverse=False)

    def action_reverse(self) -> None:
        sort, reverse = self.order
        self.sort_by(sort, reverse=not reverse)

    def action_move(self, rows: int) -> None:
        self.query_one(Rows).move(rows)

    def action_page(self, pages: int) -> None:
        self.query_one(Rows).action_page(pages)
