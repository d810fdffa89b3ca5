"""The app: it holds the session, loads the workload in a worker, and changes between views."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.command import CommandPalette
from textual.reactive import reactive
from textual.screen import Screen
from textual.worker import Worker, WorkerState, get_current_worker

from tui import terminal
from tui.app import wording
from tui.app.actions import APP, actions_of, bindings
from tui.app.loading import LoadCancelledError, load_study, throttled
from tui.app.messages import LoadFailed, LoadProgress, StudyReady
from tui.app.screens.help import HelpScreen
from tui.app.screens.loading import LoadingScreen
from tui.app.screens.view import ViewScreen
from tui.app.state import Session
from tui.app.views import VIEWS
from tui.engine import target_of
from tui.options import PlanningOptions
from tui.output import write_stdout


class KernelPointApp(App[None]):
    """KernelPoint on one workload.

    Attributes
    ----------
    session : what is shown; see `change`.
    failure : why the app left, where it did not leave by the user's wish.
    """

    CSS_PATH = "app.tcss"
    TITLE = "KernelPoint"
    MODES = {view.name: view.screen for view in VIEWS}  # noqa: RUF012
    BINDINGS = [  # noqa: RUF012
        *bindings(APP),
        *(Binding(view.key, f"view('{view.name}')", view.name, show=False) for view in VIEWS),
    ]

    session: reactive[Session] = reactive(Session((), PlanningOptions()), init=False)

    def __init__(self, session: Session) -> None:
        # The terminal's own colours; asked for here, for NO_COLOR looks at nothing later.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.set_reactive(KernelPointApp.session, session)
        self.set_class(session.ascii_only, "-ascii")
        self.failure: Exception | None = None
        self._generation = 0

    def get_default_screen(self) -> Screen[None]:
        """What is there before the workload is."""
        return LoadingScreen(self.session)

    def on_mount(self) -> None:
        """Start to read."""
        self.load()

    def change(self, **changes: Any) -> None:
        """Show a session that differs in these fields."""
        self.session = replace(self.session, **changes)

    def load(self) -> None:
        """Read the workload anew; what an earlier reading still reports is stale."""
        self._generation += 1
        self._load(self._generation, self.session)

    @work(thread=True, exclusive=True, exit_on_error=False, group="load")
    def _load(self, generation: int, session: Session) -> None:
        worker = get_current_worker()

        def report(done: int, total: int, what: str) -> None:
            self.post_message(LoadProgress(generation, done, total, what))

        progress = throttled(report, lambda: worker.is_cancelled)
        try:
            study = load_study(session.profiles, session.options, progress)
        except LoadCancelledError:
            return
        self.post_message(StudyReady(generation, study))

    @on(Worker.StateChanged)
    def _notice_failure(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and isinstance(error, Exception):
            self.post_message(LoadFailed(self._generation, error))

    @on(LoadProgress)
    def _show_progress(self, event: LoadProgress) -> None:
        if event.generation == self._generation and isinstance(self.screen, LoadingScreen):
            self.screen.report(event.done, event.total, event.what)

    @on(StudyReady)
    async def _show_study(self, event: StudyReady) -> None:
        if event.generation == self._generation:
            self.change(study=event.study)
            await self.switch_mode(VIEWS[0].name)

    @on(LoadFailed)
    def _leave_failed(self, event: LoadFailed) -> None:
        if event.generation == self._generation:
            self.failure = event.error
            self.exit(return_code=1)

    def say(self, text: str, *, failed: bool = False) -> None:
        """Tell the user what an action did."""
        self.notify(text, severity="error" if failed else "information", markup=False)

    def action_help(self) -> None:
        """Show what the keys do in this view."""
        screen = self.screen
        if isinstance(screen, ViewScreen):
            actions = actions_of(*screen.SCOPES)
            self.push_screen(
                HelpScreen(screen.NAME, screen.ABOUT, actions, ascii_only=self.session.ascii_only)
            )

    def action_command_palette(self) -> None:
        """Open the palette; its own placeholder ends in a glyph that ASCII lacks."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="Search for actions", id="--command-palette"))

    async def action_view(self, name: str) -> None:
        """Change to a view, once there is something to see."""
        if self.session.study is not None:
            await self.switch_mode(name)

    def action_help_quit(self) -> None:
        """Say what ctrl+c does not do here."""
        self.say("q quits")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: the actions of the view."""
        scopes = screen.SCOPES if isinstance(screen, ViewScreen) else (APP,)
        for action in actions_of(*scopes):
            if action.palette:
                yield SystemCommand(
                    action.title, action.description, partial(self.run_action, action.name, screen)
                )

    def _handle_exception(self, error: Exception) -> None:
        """Leave without Textual's traceback: it prints every local variable, and so the user's data."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    @property
    def crash(self) -> Exception | None:
        """What ended the app though it should not have."""
        return self._exception


def run_app(profiles: tuple[str, ...], options: PlanningOptions, *, mouse: bool) -> None:
    """Show the app until the user leaves it, then print the plan and its command line.

    Raises
    ------
    SamplingError : the workload cannot be shown; raised once the terminal is as it was.
    """
    target_of(options)
    _settle_color(options)
    ascii_only = terminal.ascii_only(options.ascii, os.environ, getattr(sys.__stderr__, "encoding", None))
    app = KernelPointApp(Session(profiles, options, ascii_only=ascii_only))
    app.run(mouse=mouse)
    error = app.failure or app.crash
    if error is not None:
        raise error
    line = wording.farewell(app.session)
    if line is not None:
        write_stdout(line + "\n")


def _settle_color(options: PlanningOptions) -> None:
    """Say in NO_COLOR, the one place where Textual looks, whether to colour."""
    if terminal.use_color(options.color.value, sys.__stderr__, os.environ):
        os.environ.pop("NO_COLOR", None)
    else:
        os.environ["NO_COLOR"] = "1"
