"""The app: it holds the session, reads and plans in a worker, and changes between views."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on, work
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen
from textual.worker import Worker, WorkerState, get_current_worker

from tui.app.actions import APP, actions_of, bindings
from tui.app.frame.loading import LoadingScreen
from tui.app.key_order import KeyOrder
from tui.app.messages import StudyFailed, StudyProgress, StudyReady
from tui.app.printable_filter import PrintableFilter
from tui.app.state import Session, studied, taken_back, undoable
from tui.app.views import FIRST_VIEW, VIEWS, view_named, views_that_open
from tui.options.commands import SampleOptions
from tui.terminal.printable import printable

# Engine, screens and numpy are imported where they are needed: the first paint waits for none of them.
if TYPE_CHECKING:
    from sampling.splitting.groups import Overrides

_OTHER_VIEWS_AFTER_SECONDS = 0.3


class KernelPointApp(App[None]):
    """KernelPoint on one workload, or on none.

    Attributes
    ----------
    session : what is shown; see `change`, `plan` and `decide`.
    views : what the tabs name.
    failure : why the app left, where it did not leave by the user's wish.
    """

    CSS_PATH = "app.tcss"
    TITLE = "KernelPoint"
    MODES = {view.name: view.open for view in VIEWS}  # noqa: RUF012
    BINDINGS = [  # noqa: RUF012
        *bindings(APP),
        *(Binding(view.key, f"view('{view.name}')", view.name, show=False) for view in VIEWS),
    ]

    # Each view draws what differs: that the session is another one draws nothing by itself.
    session: reactive[Session] = reactive(Session(), init=False, repaint=False)

    def __init__(self, session: Session, *, view: str = FIRST_VIEW) -> None:
        # The terminal's own colours; asked for here, for NO_COLOR looks at nothing later.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.set_reactive(KernelPointApp.session, session)
        self.set_class(session.ascii_only, "-ascii")
        self._filters.append(PrintableFilter(ascii_only=session.ascii_only))
        self.failure: Exception | None = None
        self.views = views_that_open(has_profile=bool(session.profiles))
        self._view = view
        self._generation = 0
        self._shown = session
        self._keys = KeyOrder(self, super().on_event)

    def get_default_screen(self) -> Screen[None]:
        """What is there before the first view is."""
        return LoadingScreen(self.session)

    async def on_event(self, event: events.Event) -> None:
        """Take keys in their order; the next key takes away what the last one had to say."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if self._notifications:
                self.clear_notifications()
            await self._keys.take(event)
        else:
            await super().on_event(event)

    async def on_mount(self) -> None:
        """Start to read, or open the view that needs nothing read."""
        # The terminal's other screen is blank by then; Textual itself paints only what changed.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh())
        if self.session.profiles:
            self.load()
        else:
            await self._open_first_view()

    async def _open_first_view(self) -> None:
        await self.switch_mode(self._view)
        # By then the first one is drawn.
        self.set_timer(_OTHER_VIEWS_AFTER_SECONDS, self._bring_other_views)

    @work(thread=True, exit_on_error=False, group="views")
    def _bring_other_views(self) -> None:
        """Import the screens of all views while the first of them is looked at."""
        for view in VIEWS:
            _ = view.screen

    def change(self, **changes: Any) -> None:
        """Show a session that differs in these fields."""
        self.session = replace(self.session, **changes)

    def load(self) -> None:
        """Read the workload anew; what an earlier reading still reports is stale."""
        self._generation += 1
        self._study(self._generation, None, self.session)

    def plan(self, options: SampleOptions | None = None, overrides: Overrides | None = None) -> None:
        """Plan by other options or split decisions; the session's study follows once it is made.

        What cannot be planned is said in ``session.problem``, and the options stay as they were.
        """
        before = self._shown
        self._generation += 1
        self.change(
            options=self.session.options if options is None else options,
            overrides=self.session.overrides if overrides is None else overrides,
            doing="planning",
            problem=None,
        )
        self._study(self._generation, before, self.session)

    def decide(self, overrides: Overrides, method: str) -> None:
        """Take the user's split decisions, made in the trees of this method, which plans from now on."""
        session, shown = self.session, self._shown
        past = (*session.past_overrides, undoable(session))
        # Views that follow in between wait for the plan, lest they go by the decisions before.
        self.change(past_overrides=past, doing="planning")
        # The keys of the decisions are those of the groups on the screen, whatever the method's own are.
        by = session.options.group_by if shown.study is None else shown.study.counts.grouping.by
        self.plan(replace(session.options, method=method, group_by=by), overrides)

    def undo_decision(self) -> bool:
        """Take the last split decision back, and the method that came with it; False if there is none."""
        session = self.session
        if not session.past_overrides:
            return False
        *past, last = session.past_overrides
        self.change(past_overrides=tuple(past))
        options = replace(session.options, method=last.method, group_by=last.group_by)
        self.plan(options, last.overrides)
        return True

    @work(thread=True, exclusive=True, exit_on_error=False, group="study")
    def _study(self, generation: int, before: Session | None, wanted: Session) -> None:
        from tui.app import planning

        # It opens next.
        _ = view_named(self._view).screen
        worker = get_current_worker()
        planning.tell_study(generation, before, wanted, self.post_message, lambda: worker.is_cancelled)

    @on(Worker.StateChanged)
    def _notice_defect(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and isinstance(error, Exception):
            self.fail(error)

    @on(StudyProgress)
    def _show_progress(self, event: StudyProgress) -> None:
        if event.generation != self._generation:
            return
        if isinstance(self.screen, LoadingScreen):
            self.screen.report(event.done, event.total, event.what)
        elif self.session.doing is not None:
            share = f", {100 * event.done / event.total:.0f} %" if event.total else ""
            self.change(doing=event.what + share)

    @property
    def planned(self) -> Session:
        """The session as its study was made: not yet by what was asked for since."""
        return replace(self.session, options=self._shown.options, overrides=self._shown.overrides)

    @on(StudyReady)
    async def _show_study(self, event: StudyReady) -> None:
        if event.generation != self._generation:
            return
        is_first = self.session.study is None
        self.session = studied(self.session, event.study)
        self._shown = self.session
        if is_first:
            await self._open_first_view()

    @on(StudyFailed)
    def _show_failure(self, event: StudyFailed) -> None:
        if event.generation != self._generation:
            return
        if self.session.study is None:
            self.fail(event.error)
            return
        self.session = taken_back(self.session, self._shown, str(event.error))

    def fail(self, error: Exception) -> None:
        """Leave: the workload cannot be shown, or there is a defect."""
        self.failure = error
        self.exit(return_code=1)

    @on(events.DescendantFocus)
    def _stop_blinking(self, event: events.DescendantFocus) -> None:
        """A cursor that blinks in a field is written to the terminal twice a second, over SSH too."""
        from textual.widgets import Input

        if isinstance(event.widget, Input):
            event.widget.cursor_blink = False

    def say(self, text: str, *, failed: bool = False) -> None:
        """Tell the user what an action did."""
        shown = printable(text, ascii_only=self.session.ascii_only)
        self.notify(shown, severity="error" if failed else "information", markup=False)

    def action_help(self) -> None:
        """Show what the keys do in this view."""
        from tui.app.frame.help import HelpScreen
        from tui.app.frame.view import ViewScreen

        screen = self.screen
        if isinstance(screen, ViewScreen):
            self.push_screen(
                HelpScreen(
                    screen.NAME,
                    screen.ABOUT,
                    actions_of(*screen.SCOPES),
                    [(view.key, view.name) for view in self.views],
                    ascii_only=self.session.ascii_only,
                )
            )

    def action_command_palette(self) -> None:
        """Open the palette; its own placeholder ends in a glyph that ASCII lacks."""
        from textual.command import CommandPalette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="Search for actions", id="--command-palette"))

    async def action_view(self, name: str) -> None:
        """Change to a view; while the workload is read, say which is to open then."""
        if self.session.study is not None or not view_named(name).needs_profile:
            # What stands over a view would still stand there on the way back.
            while len(self.screen_stack) > 1:
                self.pop_screen()
            await self.switch_mode(name)
        elif self.session.profiles:
            self._view = name
        else:
            self.say("no profile is open; `kernelpoint PROFILE` opens one")

    def action_help_quit(self) -> None:
        """Say what ctrl+c does not do here."""
        from textual.widgets import Input

        is_typing = isinstance(self.focused, Input)
        self.say("esc leaves the field, then q quits" if is_typing else "q quits")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: the actions of the view, and the other views."""
        from tui.app.frame.view import ViewScreen

        scopes = screen.SCOPES if isinstance(screen, ViewScreen) else (APP,)
        for action in actions_of(*scopes):
            if action.palette:
                yield SystemCommand(
                    action.title, action.description, partial(self.run_action, action.name, screen)
                )
        for view in VIEWS:
            if self.session.study is not None or not view.needs_profile:
                yield SystemCommand(
                    f"View: {view.name}", view.screen.SUMMARY, partial(self.action_view, view.name)
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
