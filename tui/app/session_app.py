"""The session of the app: read and planned in a worker, changed by actions, followed by the views."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from tui.app.actions import Actions
from tui.app.state import Session, Steps, Undoable, taken_back, with_draft
from tui.options.command_line import change_text, changed, error_text
from tui.options.plan import SampleOptions
from tui.terminal.printable import is_ascii, printable

# The engine is imported where it is needed: the first paint does not wait for numpy.
if TYPE_CHECKING:
    from sampling.parallel import Progress
    from sampling.plan.draft import Draft
    from sampling.plan.findings import Finding
    from sampling.plan.sensitivity import Relaxation, SimulationHours
    from sampling.splitting.tree import Overrides

_REPORT_SECONDS = 0.1
_FAILED_SECONDS = 3600.0
_LEAST_SECONDS, _LETTERS_A_SECOND = 5.0, 15.0
_WIDEST_BAR = 40


class LoadingScreen(Screen[None]):
    """Says what is read; `q` and `esc` leave, and `ctrl+c` ends the program as it ends a command."""

    DEFAULT_CSS = "LoadingScreen Static { height: 1; text-wrap: nowrap; text-overflow: clip; }"
    BINDINGS = [("escape", "app.quit", "Quit"), ("ctrl+c", "app.interrupt", "Interrupt")]  # noqa: RUF012

    def __init__(self, profiles: Sequence[str]) -> None:
        super().__init__()
        self._profiles = profiles

    def compose(self) -> ComposeResult:
        """A title, a line, a bar, a hint."""
        names = ", ".join(Path(profile).name for profile in self._profiles)
        with Vertical(id="loading"):
            # Not the widgets of other screens: they import numpy, which the first paint must not wait for.
            yield Static(printable(f"Reading {names}"), id="what", markup=False)
            yield Static(id="bar", markup=False)
            yield Static("q quit, ctrl+c interrupt", id="hint", markup=False)

    def report(self, count: int, total: int, activity: str) -> None:
        """Show how far the work is."""
        # A whole path would push its own name out of the line.
        for profile in self._profiles:
            if activity.endswith(f" {profile}"):
                activity = activity.removesuffix(profile) + (Path(profile).name or profile)
        self.query_one("#what", Static).update(printable(activity))
        # Work of unknown length has no bar: the full bar of the step before would stay.
        share, cells = count / total if total else 0.0, max(min(self.size.width - 10, _WIDEST_BAR), 0)
        full = "#" if is_ascii() else "\N{FULL BLOCK}"
        bar = f"{full * round(min(share, 1) * cells):{cells}} {100 * share:.0f} %"
        self.query_one("#bar", Static).update(bar if total else "")


class ExplainedScreen(Screen[None]):
    """A screen that has help."""

    app: SessionApp

    NAME: ClassVar[str]
    SCOPES: ClassVar[tuple[Actions, ...]]
    """What can be done in it, as help lists it."""
    ABOUT: ClassVar[str]
    """How to read it."""


Found = TypeVar("Found")


class CancelledError(Exception):
    """The work was cancelled: its result is no longer wanted."""


def start(
    node: DOMNode,
    task: Callable[[Progress], Iterator[Found]],
    take: Callable[[Found], object],
    say: Progress | None = None,
    failed: Callable[[Any], object] | None = None,
    *,
    group: str,
    is_exclusive: bool = True,
) -> Worker[None]:
    """Run a task in a worker thread; a screen is told of progress and finds, until it is cancelled.

    Progress is told ten times a second. `failed`: is told what an engine raises on purpose, which else is
    said to the user; any other exception ends the app.
    """
    app: SessionApp = node.app  # type: ignore[assignment]

    def run() -> None:
        worker, last = get_current_worker(), -_REPORT_SECONDS

        def told(callback: Callable[..., object], *arguments: object) -> object:
            return None if worker.is_cancelled else callback(*arguments)

        def report(count: int, total: int, activity: str) -> None:
            nonlocal last
            if worker.is_cancelled:
                raise CancelledError
            time_s = time.monotonic()
            if say is not None and time_s - last >= _REPORT_SECONDS:
                last = time_s
                node.call_later(told, say, count, total, activity)

        try:
            with suppress(CancelledError):
                for result in task(report):
                    node.call_later(told, take, result)
        except Exception as error:
            from sampling.errors import SamplingError

            if isinstance(error, SamplingError | OSError):
                node.call_later(told, failed or app.say_failure, error)
            else:
                app.call_later(app.fail, error)

    owner = app if node is app else node.screen
    return owner.run_worker(run, thread=True, exclusive=is_exclusive, group=group)


def in_words(say: Callable[[str], None]) -> Progress:
    """Return a callback that says progress in words, with the share that is done where that is known."""
    return lambda count, total, activity: say(
        f"{activity}, {100 * count / total:.0f} %" if total else activity
    )


def invitation(draft: Draft) -> str:
    """Return what the plan comes to, and the keys that lead on, for somebody who tries the program."""
    design, launches = draft.design, draft.counts.launches
    known = "" if design.promise is None else f" within {100 * design.promise.error:.1f} %"
    return (
        f"{design.samples:,} of {launches:,} launches tell the whole run{known}: 3 shows how, e hands them "
        "to a simulator; 7 what changed, 8 which design is faster"
    )


class SessionApp(App[None]):
    """What the screens know of the app: its session, how to change it, and how to tell the user.

    `tabs`: the key and the name of each view that can be opened.
    """

    # Each view redraws only what changed.
    session: reactive[Session] = reactive(Session(), init=False, repaint=False)

    def __init__(self, session: Session, tabs: Sequence[tuple[str, str]]) -> None:
        # The terminal's own colours; given here because NO_COLOR is read only now.
        super().__init__(ansi_color=True)
        self.set_reactive(SessionApp.session, session)
        self.tabs = tuple(tabs)
        #: Why the app ended, if the user did not end it; whether the user interrupted the reading.
        self.failure: Exception | None = None
        self.is_interrupted = False
        #: The session that the app was opened with, and the changes of its plan that can be taken back.
        self.opened = session
        self.steps = Steps()
        # That of the draft shown, whose options may be others than those asked for since.
        self._shown = session
        self._words = ""
        self._binding: Worker[None] | None = None
        self._bound: Draft | None = None

    @abstractmethod
    async def open_first_view(self) -> None:
        """Open the view that is shown first."""

    @abstractmethod
    def import_first_view(self) -> None:
        """Import the screen that is shown first, in the worker that reads the workload."""

    @property
    def planned(self) -> Session:
        """The session with the options and decisions of the draft shown, not those asked for since."""
        return replace(self.session, options=self._shown.options, overrides=self._shown.overrides)

    def change(self, **changes: Any) -> None:
        """Show a session that differs in these fields."""
        self.session = replace(self.session, **changes)

    def plan(
        self, options: SampleOptions | None = None, overrides: Overrides | None = None, words: str = ""
    ) -> None:
        """Plan by other options or split decisions; the session's draft follows once it is made.

        What cannot be planned is said in ``session.problem``, and the options stay as they were.

        `words`: what to say once it is planned.
        """
        self._words = words
        before = self._shown
        if self._binding is not None:
            self._binding.cancel()
        self._bound = None
        self.change(
            options=self.session.options if options is None else options,
            overrides=self.session.overrides if overrides is None else overrides,
            doing="planning",
            problem=None,
        )
        self.draft_session(before, self.session)

    def decide(self, overrides: Overrides, method: str) -> None:
        """Take the user's split decisions, made in the trees of this method, which plans from now on."""
        session, previous, before = self.session, self._shown, self.session.request
        past = (*session.past_overrides, Undoable(session.overrides, before.method, before.group_by))
        # Views wait for the plan: until then they know only the old decisions.
        self.change(past_overrides=past, doing="planning")
        # The decisions' keys are those of the shown groups, even if the method would group otherwise.
        by = session.request.group_by if previous.draft is None else previous.draft.counts.grouping.by
        self.plan(session.options.with_request(method=method, group_by=by), overrides)

    def undo_decision(self) -> bool:
        """Take the last split decision back, and the method that came with it; False if there is none."""
        session = self.session
        if not session.past_overrides:
            return False
        *past, last = session.past_overrides
        self.change(past_overrides=tuple(past))
        options = session.options.with_request(method=last.method, group_by=last.group_by)
        self.plan(options, last.overrides)
        return True

    def apply_remedy(self, finding: Finding) -> None:
        """Change the options as the remedy of a finding says, and plan anew."""
        if self.session.doing is None:
            before, words = self.session.options, change_text(finding.changes)
            options = changed(before, finding.changes)
            self.steps.note(before, options, f"{words} is taken back")
            self.plan(options, words=f"{words} is set, for {finding.code}; f, then u takes it back")

    def action_method(self, name: str) -> None:
        """Plan by another method."""
        before = self.session.options
        if name == before.request.method:
            self.say(f"the plan is by {name} already")
        elif self.session.draft is not None:
            options = before.with_request(method=name)
            self.steps.note(before, options, f"the plan is by {before.request.method} again")
            self.plan(
                options, words=f"by {name} now, not {before.request.method}; u in views 3 and 4 takes it back"
            )

    def action_undo(self) -> None:
        """Take back the last change of the plan's options; others stay."""
        undone = self.steps.undo(self.session.options)
        if undone is None:
            self.say("no change of the plan's options is left to take back")
        else:
            self.plan(undone[0], words=undone[1])

    def draft_session(self, before: Session | None, requested: Session) -> None:
        """Make the draft that a session asks for; the workload is read where none was made before."""

        def made(progress: Progress) -> Iterator[tuple[Draft, SimulationHours | None, tuple[str, ...]]]:
            from tui.app import planning

            self.import_first_view()
            yield from planning.draft_of(before, requested, progress)

        start(self, made, self._show_draft, self._show_progress, self._refuse, group="draft")

    def _refuse(self, error: Exception) -> None:
        """Go back to the plan there is where another cannot be made; end the app where there is none."""
        if self.session.draft is not None:
            self.session = taken_back(self.session, self._shown, error_text(error))
        else:
            self.fail(error)

    def find_binding(self) -> None:
        """Find what binds the plan shown, unless it is known or looked for; ``session.binding`` follows."""
        session, draft = self.session, self.session.draft
        if draft is None or session.binding is not None or session.doing is not None or draft is self._bound:
            return

        def found(progress: Progress) -> Iterator[tuple[Relaxation, ...]]:
            from sampling.plan.sensitivity import measure_sensitivity

            yield measure_sensitivity(draft, progress)

        def take(binding: tuple[Relaxation, ...]) -> None:
            if draft is self.session.draft:
                self.change(binding=binding)

        self._bound = draft
        self._binding = start(self, found, take, failed=self.fail, group="binding", is_exclusive=False)

    def _show_progress(self, count: int, total: int, activity: str) -> None:
        if isinstance(self.screen, LoadingScreen):
            self.screen.report(count, total, activity)
        elif self.session.doing is not None:
            self.change(doing=f"{activity}, {100 * count / total:.0f} %" if total else activity)

    async def _show_draft(self, result: tuple[Draft, SimulationHours | None, tuple[str, ...]]) -> None:
        draft, hours, notes = result
        is_first = self.session.draft is None
        self.session = self._shown = with_draft(self.session, draft, hours)
        if self._words:
            self.say(self._words)
        if is_first:
            await self.open_first_view()
            # In what the plan shown is not that of its file; the findings say it again.
            self.change(beside=notes)
            for text in (*draft.profile.notes, *notes):
                self.say(text)
            if self.session.invites:
                self.say(invitation(draft))

    def name_decisions(self, path: Path) -> None:
        """Have commands name this file, which has the split decisions."""
        self._shown = replace(self._shown, options=self._shown.options.with_request(overrides=str(path)))
        self.change(options=self.session.options.with_request(overrides=str(path)))

    def say_failure(self, error: Exception) -> None:
        """Tell the user why an engine could not do what was asked for."""
        self.say(error_text(error), failed=True)

    def fail(self, error: Exception) -> None:
        """End the app: the workload cannot be shown, or there is a defect."""
        self.failure = error
        self.exit(return_code=1)

    def action_interrupt(self) -> None:
        """End the app at once, as `ctrl+c` ends a command."""
        self.is_interrupted = True
        self.exit()

    def say(self, text: str, *, failed: bool = False) -> None:
        """Tell the user what an action did, until the next key or, unless it failed, until it was read.

        What was not done has a mark, and a colour.
        """
        message = printable(f"! {text}" if failed else text)
        severity: Literal["error", "information"] = "error" if failed else "information"
        seconds = _FAILED_SECONDS if failed else max(_LEAST_SECONDS, len(message) / _LETTERS_A_SECOND)
        self.notify(message, severity=severity, markup=False, timeout=seconds)
