"""View 3: the plan, its options, what it costs at other bounds, its strata and launches."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from sampling.errors import SamplingError
from sampling.progress import Progress
from sampling.simulators import exporter_names
from sampling.study import Study
from tui.app.actions import APP, FORM, PLAN, VIEW, bindings
from tui.app.plan_details import (
    PlanDetails,
    drawn,
    export_plan,
    judged,
    launches_listed,
    save_plan,
    strata_listed,
    traded,
)
from tui.app.plan_panes import DETAILS, PlanPane, pane_command, pane_text
from tui.app.plan_wording import plan_figures
from tui.app.planning import CancelledError, throttled
from tui.app.screens.view import PaneText, ViewScreen
from tui.app.state import Session
from tui.app.widgets.chart import Chart
from tui.app.widgets.line import PaneTitle
from tui.app.widgets.option_form import OptionForm, OptionsChanged
from tui.app.widgets.plan_figures import PlanFigures
from tui.app.widgets.plan_findings import PlanFindings
from tui.app.widgets.plan_list import PlanList
from tui.app.widgets.plan_prompt import PlaceGiven, PlanPrompt, PromptLeft
from tui.charts import quantities
from tui.charts.grid import Grid, blank, put
from tui.options import SampleOptions
from tui.output import Canvas
from tui.trade_off_text import TradeOff, level_forms

_DELAY_SECONDS = 0.08
"""A key that is held down makes a plan at first and one at last, not twenty."""

_SHORT, _WIDE, _HIGH = 20, 140, 36
"""Below so many rows the details take the place of the options; from so many cells all have a place."""

_TITLES = {
    PlanPane.FIGURES: ("[tab] Costs and promises", "[tab] Costs"),
    PlanPane.TRADE_OFF: ("[t] Trade-off: speedup over epsilon", "[t] Trade-off"),
    PlanPane.STRATA: ("[t] Strata",),
    PlanPane.LAUNCHES: ("[t] Launches",),
    PlanPane.FINDINGS: ("[t] Findings",),
}
"""Of each pane, the longest first."""

Steps = Callable[[Progress], Iterator[PlanDetails]]


@dataclass
class DetailsReady(Message):
    """More is known of the plan; None: that was all that the worker was asked for."""

    generation: int
    details: PlanDetails | None


@dataclass
class FileWritten(Message):
    """A plan, or what an exporter made of it, is on the disk."""

    words: str


class PlanScreen(ViewScreen):
    """The options beside the plan's figures, over what else is known of it."""

    NAME = "Plan"
    SUMMARY = "the plan's options, what it costs and promises; save and export"
    SCOPES = (APP, FORM, PLAN, VIEW)
    BINDINGS = bindings(APP, PLAN, VIEW)
    AUTO_FOCUS = "OptionForm"
    ABOUT: ClassVar[str] = (
        "The plan is made anew whenever an option changes. drawn, sampled, speedup and this draw are of the "
        "launches drawn with this seed; bound and group hold for any draw at the stated confidence, with "
        "noise also where simulated times spread more than profiled ones; judged is what repeated draws "
        "came to. floor is the least that a plan with launches of every kernel group samples."
    )

    def __init__(self) -> None:
        super().__init__()
        self._details: PlanDetails | None = None
        self._generation = 0
        self._working_on: PlanPane | None = None
        self._problems: dict[PlanPane, str] = {}
        self._asked: SampleOptions | None = None
        self._wanted: SampleOptions | None = None
        self._plan_timer: Timer | None = None
        self._detail = PlanPane.TRADE_OFF
        self._details_open = False

    def compose_panes(self) -> ComposeResult:
        """Options and figures, the details, and a place to ask for a name."""
        ascii_only = self.session.ascii_only
        with Container(id="plan-panes"):
            with Container(id="plan-top"):
                with Vertical(id="options-pane", classes="pane"):
                    yield PaneTitle(ascii_only=ascii_only)
                    yield OptionForm(self.session.options, ascii_only=ascii_only)
                with Vertical(id="figures-pane", classes="pane"):
                    yield PaneTitle(ascii_only=ascii_only)
                    yield PlanFigures(ascii_only=ascii_only)
            with Container(id="plan-details"):
                contents = (
                    Chart(id="trade-off"),
                    PlanList(ascii_only=ascii_only),
                    PlanList(ascii_only=ascii_only),
                    PlanFindings(ascii_only=ascii_only),
                )
                for pane, content in zip(DETAILS, contents, strict=True):
                    with Vertical(id=f"{pane}-pane", classes="pane"):
                        yield PaneTitle(ascii_only=ascii_only)
                        yield content
        yield PlanPrompt(ascii_only=ascii_only)

    def on_mount(self) -> None:
        """Lay out, and keep saying which rows of a table are in sight."""
        self._title("#options-pane").show("[3] Options", "enter, + -")
        self._arrange()
        for table in self.query(PlanList):
            for name in ("scroll_y", "virtual_size"):
                self.watch(table, name, self._show_titles_soon, init=False)

    def on_resize(self, _: events.Resize) -> None:
        """Other panes may have room now."""
        self._arrange()
        self._work_on()

    # What is shown.

    def follow(self, shown: Session | None, session: Session) -> None:  # noqa: ARG002 - all of it is cheap
        """Show the options, and the plan once it is made."""
        study, form = session.study, self.query_one(OptionForm)
        if study is None:
            return
        if session.doing is not None:
            # What is being computed is of a plan that is no longer wanted.
            self._stop()
            form.show(session.options)
        elif session.problem is not None:
            form.show(session.options)
            if form.attempt is not None and form.attempt.options == self._asked:
                form.refuse(session.problem)
        else:
            form.accept(session.options)
        if session.doing is None and (self._details is None or self._details.study is not study):
            self._begin(session, study)
        else:
            self._work_on()
        self._show_titles()

    def _begin(self, session: Session, study: Study) -> None:
        """Draw the plan and let everything follow from that."""
        self._problems = {}
        self.query_one(PlanFindings).show(study)
        before = self._details

        def steps(_: Progress) -> Iterator[PlanDetails]:
            yield drawn(session, study, before)

        self._start(PlanPane.FIGURES, steps)

    def _show_details(self, details: PlanDetails) -> None:
        self._details = details
        self.query_one(PlanFigures).show(plan_figures(details))
        words = self._problems.get(PlanPane.TRADE_OFF, details.why_no_trade_off)
        self.query_one(Chart).show(partial(draw_trade_off, details.trade_off, words, self.session.ascii_only))
        for pane, listing in ((PlanPane.STRATA, details.strata), (PlanPane.LAUNCHES, details.launches)):
            if listing is not None:
                self._list(pane).show(listing)
        self._show_titles()

    def _show_titles_soon(self) -> None:
        # Which rows are in sight is known only once they are laid out.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        for pane, names in _TITLES.items():
            title = self._title("#figures-pane" if pane is PlanPane.FIGURES else f"#{pane}-pane")
            title.show(*_fitting(names, self._states_of(pane), title.size.width))

    def _states_of(self, pane: PlanPane) -> tuple[str, ...]:
        """Return what a pane shows of how much, the longest form first."""
        details = self._details
        if pane is PlanPane.FIGURES:
            return self._states_of_figures()
        if details is None or pane in self._problems:
            return ("",)
        if pane is PlanPane.FINDINGS:
            return (quantities.count(len(details.study.findings)),)
        if pane is PlanPane.TRADE_OFF:
            return _states_of_trade_off(details)
        listing = details.strata if pane is PlanPane.STRATA else details.launches
        return ("being listed" if listing is None else self._list(pane).place,)

    def _states_of_figures(self) -> tuple[str, ...]:
        if self.session.doing is not None:
            # The line of the plan says so too.
            return "planning", ""
        return ("[t] more", "t more") if self._is_short() else ("",)

    def _title(self, pane: str) -> PaneTitle:
        return self.query_one(f"{pane} PaneTitle", PaneTitle)

    def _list(self, pane: PlanPane) -> PlanList:
        return self.query_one(f"#{pane}-pane PlanList", PlanList)

    # What is computed.

    def _work_on(self) -> None:
        """Compute what is missing in the panes that are in sight, one after the other."""
        details = self._details
        if details is None or self.session.doing is not None or details.study is not self.session.study:
            return
        working_on = self._working_on
        if working_on is not None and self._is_in_sight(working_on):
            return
        self._stop()
        jobs = [
            (PlanPane.STRATA, details.strata is None, strata_listed),
            (PlanPane.TRADE_OFF, not details.is_traded, traded),
            (PlanPane.LAUNCHES, details.launches is None, launches_listed),
        ]
        # Drawing a large plan again and again may take half a minute: nothing else waits for that.
        first = 0 if details.is_soon_judged else len(jobs)
        jobs.insert(first, (PlanPane.FIGURES, not details.is_judged, judged))
        for pane, is_missing, job in jobs:
            if is_missing and self._is_in_sight(pane) and pane not in self._problems:
                self._start(pane, partial(job, details))
                return

    def _start(self, pane: PlanPane, steps: Steps) -> None:
        self._generation += 1
        self._working_on = pane
        self._run_steps(self._generation, steps)

    def _stop(self) -> None:
        self._generation += 1
        self._working_on = None
        self.workers.cancel_group(self, "details")

    @work(thread=True, exclusive=True, exit_on_error=False, group="details")
    def _run_steps(self, generation: int, steps: Steps) -> None:
        worker = get_current_worker()
        progress = throttled(lambda *_: None, lambda: worker.is_cancelled)
        try:
            for details in steps(progress):
                self.post_message(DetailsReady(generation, details))
        except CancelledError:
            return
        self.post_message(DetailsReady(generation, None))

    @on(DetailsReady)
    def _take_details(self, event: DetailsReady) -> None:
        event.stop()
        if event.generation != self._generation:
            return
        if event.details is not None:
            self._show_details(event.details)
            return
        self._working_on = None
        self._work_on()

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say in the pane why what it shows could not be computed, or that nothing was written."""
        if not isinstance(error, SamplingError | OSError):
            super().worker_failed(worker, error)
        elif worker.group == "files":
            self.app.say(f"not written: {_words(error)}", failed=True)
        elif self._working_on is not None and not worker.is_cancelled:
            pane, self._working_on = self._working_on, None
            self._problems[pane] = _words(error)
            if pane in {PlanPane.STRATA, PlanPane.LAUNCHES}:
                self._list(pane).say(_words(error))
            if self._details is not None:
                self._show_details(self._details)
            self._work_on()

    # The options.

    @on(OptionsChanged)
    def _plan_soon(self, event: OptionsChanged) -> None:
        event.stop()
        is_held = self._plan_timer is not None and not event.at_once
        if self._plan_timer is not None:
            self._plan_timer.stop()
        self._wanted = event.options if is_held else None
        self._plan_timer = self.set_timer(_DELAY_SECONDS, self._plan_last)
        if not is_held:
            self._plan(event.options)

    def _plan_last(self) -> None:
        """Plan by the last of many steps."""
        self._plan_timer = None
        if self._wanted is not None:
            self._plan(self._wanted)
            self._wanted = None

    def _plan(self, options: SampleOptions) -> None:
        self._asked = options
        self.app.plan(options=options)

    # The details.

    def _arrange(self) -> None:
        """Show the panes that have a place at this size."""
        width, height = self.size
        is_short, has_room = height < _SHORT, width >= _WIDE and height >= _HIGH
        self.query_one("#plan-top").display = not (is_short and self._details_open)
        self.query_one("#plan-details").display = self._details_open or not is_short
        for pane in DETAILS:
            self.query_one(f"#{pane}-pane").display = has_room or pane is self._detail
        # What a title has room for is known only once it is laid out.
        self._show_titles_soon()

    def _is_in_sight(self, pane: PlanPane) -> bool:
        """Return whether a pane is shown; the figures are wanted in any case."""
        if pane is PlanPane.FIGURES:
            return True
        return self.query_one("#plan-details").display and self.query_one(f"#{pane}-pane").display

    def _content(self, pane: PlanPane) -> Widget:
        return next(child for child in self.query_one(f"#{pane}-pane").children if child.can_focus)

    def _is_short(self) -> bool:
        return self.size.height < _SHORT

    def action_next_detail(self) -> None:
        """Show the next of the details; where all are in sight, go to the next."""
        focused = self._focused_pane()
        if self._is_short() and not self._details_open:
            self._details_open = True
        elif self._is_short() and self._detail is DETAILS[-1]:
            self._detail = DETAILS[0]
            self.action_close_details()
            return
        elif all(map(self._is_in_sight, DETAILS)):
            self._detail = (
                DETAILS[(DETAILS.index(focused) + 1) % len(DETAILS)] if focused in DETAILS else self._detail
            )
            focused = self._detail
        else:
            self._detail = DETAILS[(DETAILS.index(self._detail) + 1) % len(DETAILS)]
        self._arrange()
        if self._is_short() or focused in DETAILS:
            self._content(self._detail).focus()
        self._work_on()

    def action_close_details(self) -> None:
        """Go back to the options."""
        self._details_open = False
        self._arrange()
        self.query_one(OptionForm).focus()

    def _focused_pane(self) -> PlanPane:
        """Return the pane that has the focus; options and figures are one."""
        for pane in DETAILS:
            if self.query_one(f"#{pane}-pane").has_focus_within and self._is_in_sight(pane):
                return pane
        return PlanPane.FIGURES

    # What leaves the app.

    def action_save(self) -> None:
        """Ask for a file for the plan."""
        self._ask(None)

    def action_export(self) -> None:
        """Ask for a folder for what an exporter makes of the plan."""
        self._ask(exporter_names()[0])

    def _ask(self, target: str | None) -> None:
        if self.session.doing is not None or self._details is None:
            self.app.say("the plan is being made; save it once it is there")
        else:
            self.query_one(PlanPrompt).ask(target)

    @on(PlaceGiven)
    def _write_there(self, event: PlaceGiven) -> None:
        prompt, path = self.query_one(PlanPrompt), Path(event.name).expanduser()
        problem = _why_not(event.name, path, is_folder=event.target is not None)
        if problem is not None:
            prompt.refuse(problem)
            return
        self._leave_prompt()
        if self._details is not None:
            self._write(self._details, path, event.target)

    @on(PromptLeft)
    def _leave_prompt(self) -> None:
        self.query_one(PlanPrompt).close()
        top = self.query_one("#plan-top").display
        (self.query_one(OptionForm) if top else self._content(self._detail)).focus()

    @work(thread=True, exit_on_error=False, group="files")
    def _write(self, details: PlanDetails, path: Path, target: str | None) -> None:
        worker = get_current_worker()
        progress = throttled(lambda *_: None, lambda: worker.is_cancelled)
        try:
            if target is None:
                save_plan(details, path, progress)
                words = f"plan written to {path}"
            else:
                written, note = export_plan(details, target, path, progress)
                words = f"written: {', '.join(written)}; {target}: {note}"
        except CancelledError:
            return
        self.post_message(FileWritten(words))

    @on(FileWritten)
    def _say_written(self, event: FileWritten) -> None:
        self.app.say(event.words)

    def pane_text(self) -> PaneText:
        """What the command of the pane prints."""
        if self._details is None:
            return PaneText("kernelpoint-plan", "")
        pane = self._focused_pane()
        canvas = Canvas(self.app.size.width, self.session.ascii_only, color=False)
        return PaneText(f"kernelpoint-{pane}", pane_text(pane, self._details, self._chart_size(), canvas))

    def command(self) -> str:
        """`sample` with or without a list, or `trade-off`."""
        if self._details is None:
            return ""
        return pane_command(self._focused_pane(), self._details, self._chart_size())

    def _chart_size(self) -> tuple[int, int]:
        width, height = self.query_one(Chart).size
        return max(width, 1), max(height, 1)


def draw_trade_off(known: TradeOff, words: str, ascii_only: bool, width: int, height: int) -> Grid:
    """Return the chart, or words where there is none."""
    if not words:
        return known.chart(width, height, ascii_only=ascii_only)
    grid = blank(width, height)
    for row, text in enumerate(textwrap.wrap(words, max(width, 1))):
        put(grid, row, 0, text)
    return grid


def _states_of_trade_off(details: PlanDetails) -> tuple[str, ...]:
    """Return how many points are known; once all are, from where on they are the same."""
    known, total = len(details.trade_off.points), len(details.epsilons)
    if details.has_trade_off and known < total:
        return (f"{known} of {total}",)
    return *level_forms(details.trade_off), ""


def _title_cells(name: str, state: str) -> int:
    """Return how many cells a title needs: rule and blanks, too, which the right end has of its own."""
    return len(name) + 4 + (len(state) + 3 if state else 0)


def _fitting(names: tuple[str, ...], states: tuple[str, ...], width: int) -> tuple[str, str]:
    """Return the longest of the states that fits a title of this width, and the longest name beside it."""
    pairs = ((name, state) for state in states for name in names)
    return next(
        ((name, state) for name, state in pairs if _title_cells(name, state) <= width),
        (names[-1], states[-1]),
    )


def _words(error: SamplingError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _why_not(name: str, path: Path, *, is_folder: bool) -> str | None:
    """Return why nothing can be written there; None where it can."""
    if not name:
        return "a name is missing"
    if is_folder and path.is_dir() and not any(path.iterdir()):
        return None
    if path.exists():
        return f"{name} exists; give another name"
    folder = path.absolute().parent
    return None if is_folder or folder.is_dir() else f"there is no such folder: {folder}"
