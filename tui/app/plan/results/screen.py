"""What a simulator measured of the plan, over view 3: totals, kernel groups, what to run next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import Worker, get_current_worker

from sampling.errors import OptionError, SamplingError
from sampling.estimation.topped_up_plan import ToppedUp
from sampling.simulators.registry import exporter_names
from tui.app.actions import ACTIONS, APP, LIST, RESULTS, VIEW, bindings
from tui.app.frame.copying import PaneText
from tui.app.frame.line import PaneTitle
from tui.app.frame.page import Page
from tui.app.frame.view import ViewScreen
from tui.app.plan.details import PlanDetails
from tui.app.plan.files import export_file, failure_words
from tui.app.plan.panes import PlanList
from tui.app.plan.prompt import PlaceGiven, PlanPrompt, PromptLeft
from tui.app.plan.results.asked import Answers, options_asked
from tui.app.plan.results.form import AnswersGiven, FormLeft, ResultsForm
from tui.app.plan.results.presenter import (
    TABLES,
    Known,
    ResultsPane,
    pane_command,
    pane_text,
    pane_title,
    table_of,
    totals_words,
)
from tui.app.plan.results.reading import PlanSaved, ResultsProgress, ResultsReady, tell_results
from tui.app.state import Session
from tui.options.estimate import EstimateOptions
from tui.output.files import write_text
from tui.output.writer import Canvas
from tui.terminal.printable import printable_lines

_WORKERS = "results"
EXPORT_KEY = next(action.display for action in ACTIONS if (action.scope, action.name) == (RESULTS, "export"))


class ResultsScreen(ViewScreen):
    """Totals with their intervals, over the kernel groups or what to run next.

    Parameters
    ----------
    details : the plan shown, saved where results are opened of a file that is not there.
    answers : to begin with.
    known : results that were open before.
    is_read_now : whether the answers are read without asking.

    Attributes
    ----------
    answers : as given last.
    known : what is known of the results; None until they are read.
    """

    NAME = "Results"
    TAB = "Plan"
    SUMMARY = "the workload's total from a simulator's results of the plan"
    SCOPES = (APP, RESULTS, LIST, VIEW)
    BINDINGS = bindings(APP, RESULTS, VIEW)
    AUTO_FOCUS = None
    ABOUT: ClassVar[str] = (
        "Totals are of the whole workload, estimated from the launches that were simulated. simulated and "
        "profiled are a kernel group's share of all cycles and of all profiled time; cycles/ns sets the one "
        "against the other; within is how far its interval reaches to either side, missing how many of its "
        "drawn launches have no result. seen are spreads in the results, beside the noise that the plan "
        "declared. Where the total is not within the target, the launches to simulate next are drawn; the "
        "larger plan contains what was simulated."
    )

    def __init__(
        self, details: PlanDetails, answers: Answers, known: Known | None = None, *, is_read_now: bool = False
    ) -> None:
        super().__init__()
        self._is_read_now = is_read_now
        self._details = details
        self.answers = answers
        # It is no longer under way if the user had left.
        self.known = known.cancelled() if known is not None and known.doing else known
        self._table = ResultsPane.GROUPS
        self._doing = ""
        self._reading = 0
        self._saved: Path | None = None

    def compose_panes(self) -> ComposeResult:
        """Totals, a table, and the places to ask for names."""
        ascii_only = self.session.ascii_only
        with Container(id="results-panes"):
            with Vertical(id="totals-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield Page(self._totals)
            with Vertical(id="results-table-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield PlanList(ascii_only=ascii_only)
        yield ResultsForm(ascii_only=ascii_only)
        yield PlanPrompt(ascii_only=ascii_only)

    def on_mount(self) -> None:
        """Ask for results unless some are known, and keep showing which rows are visible."""
        for scrolled in (self.query_one(PlanList), self.query_one(Page)):
            for name in ("scroll_y", "virtual_size"):
                self.watch(scrolled, name, self._show_titles_soon, init=False)
        self._show()
        if self._is_read_now:
            self.post_message(AnswersGiven(self.answers))
        elif self.known is None:
            self.action_ask()
        else:
            self._focus_table()

    def follow(self, shown: Session | None, session: Session) -> None:
        """Nothing: results are of a plan file, which stays as it is."""

    # What is shown.

    @property
    def is_working(self) -> bool:
        """Whether something is being read or drawn."""
        return bool(self._doing or (self.known is not None and self.known.doing))

    @property
    def focused_pane(self) -> ResultsPane:
        """The pane that has the focus."""
        return ResultsPane.TOTALS if self.query_one("#totals-pane").has_focus_within else self._table

    def _totals(self, width: int) -> Text:
        words = totals_words(self.known, self._canvas(width))
        return Text(printable_lines(words, ascii_only=self.session.ascii_only))

    def _canvas(self, width: int) -> Canvas:
        return Canvas(width, self.session.ascii_only, color=False)

    def _show(self) -> None:
        self.query_one(Page).write_anew()
        listing, words = table_of(self._table, self.known)
        if listing is None:
            self.query_one(PlanList).say(words)
        else:
            self.query_one(PlanList).show(listing)
        self._show_titles_soon()

    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        page, rows = self.query_one(Page), self.query_one(PlanList).place
        more = "tab j more" if page.scroll_y < page.max_scroll_y else ""
        for pane, where, place in (
            (ResultsPane.TOTALS, "#totals-pane", more),
            (self._table, "#results-table-pane", rows),
        ):
            title = self.query_one(f"{where} PaneTitle", PaneTitle)
            name, states = pane_title(pane, self.known, self._doing, place)
            room = title.size.width - len(name) - 6
            title.show(name, next((state for state in states if len(state) <= room), states[-1]))

    def _focus_table(self) -> None:
        self.query_one(PlanList).focus()

    # What is asked for.

    def action_ask(self, problem: str = "") -> None:
        """Ask for results, their plan and a target; say why those of before cannot be used."""
        self.query_one(PlanPrompt).close()
        self.query_one(ResultsForm).ask(self.answers, problem)

    @on(AnswersGiven)
    def _take_answers(self, event: AnswersGiven) -> None:
        self.answers, form = event.answers, self.query_one(ResultsForm)
        try:
            asked = options_asked(event.answers, self.session)
        except OptionError as error:
            form.say(str(error))
            return
        form.close()
        self._focus_table()
        self._reading += 1
        self._doing = "reading results"
        self._show_titles()
        self._read(self._reading, asked)

    @on(FormLeft)
    def _leave_form(self) -> None:
        self.query_one(ResultsForm).close()
        if self.known is None:
            self.action_back()
        else:
            self._focus_table()

    @work(thread=True, exclusive=True, exit_on_error=False, group=_WORKERS)
    def _read(self, reading: int, asked: EstimateOptions) -> None:
        worker = get_current_worker()
        tell_results(reading, self._details, asked, self.post_message, lambda: worker.is_cancelled)

    @on(ResultsProgress)
    def _show_progress(self, event: ResultsProgress) -> None:
        if event.generation == self._reading and self.is_working:
            self._doing = event.words
            self._show_titles()

    @on(PlanSaved)
    def _say_saved(self, event: PlanSaved) -> None:
        self.app.say(f"plan written to {event.path}")

    @on(ResultsReady)
    def _take_results(self, event: ResultsReady) -> None:
        if event.generation == self._reading:
            self.known, self._doing, self._saved = event.known, "", None
            self._show()

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say why results cannot be used, and ask again."""
        if not isinstance(error, SamplingError | OSError):
            super().worker_failed(worker, error)
        elif not worker.is_cancelled and self._doing:
            self._stop()
            self.action_ask(failure_words(error))

    # What is done with them.

    def action_turn(self) -> None:
        """Show the other table."""
        self._table = TABLES[(TABLES.index(self._table) + 1) % len(TABLES)]
        self._show()
        self._focus_table()

    def action_back(self) -> None:
        """Stop reading; where nothing is read, go back to the plan."""
        if self.is_working:
            self._stop()
            self.app.say("cancelled; what is there stays")
        else:
            self.dismiss()

    def _stop(self) -> None:
        """Read no further; what a worker still tells is ignored."""
        self.workers.cancel_group(self, _WORKERS)
        self._reading += 1
        self._doing = ""
        if self.known is not None and self.known.doing:
            self.known = self.known.cancelled()
        self._show()

    def action_save(self) -> None:
        """Ask for a file for the larger plan."""
        if self.known is None or self.known.larger is None:
            _, why = table_of(ResultsPane.NEXT, self.known)
            self.app.say(f"no larger plan: {why or 'no results are open'}")
        else:
            self.query_one(PlanPrompt).ask(None)

    def action_export(self) -> None:
        """Ask for a folder for what is new in the larger plan, once that is saved."""
        if self.known is None or self.known.larger is None:
            self.action_save()
        elif self._saved is None:
            self.app.say("S saves the larger plan first: the results of its export are of that file")
        else:
            self.query_one(PlanPrompt).ask(exporter_names()[0])

    @on(PlaceGiven)
    def _write_there(self, event: PlaceGiven) -> None:
        if self.known is None or self.known.larger is None:
            self._leave_prompt()
            return
        try:
            words = self._written(self.known.larger, event)
        except (SamplingError, OSError) as error:
            self.query_one(PlanPrompt).ask_again(event.path, event.target, failure_words(error))
            return
        self._leave_prompt()
        self.app.say(words)

    def _written(self, larger: ToppedUp, event: PlaceGiven) -> str:
        """Write the larger plan, or the export of what is new in it; return in words what was written."""
        if event.target is not None and self._saved is not None:
            return export_file(self._saved, event.target, event.path)
        write_text(larger.text, event.path)
        self._saved = event.path
        # The next results are of this plan.
        self.answers = replace(self.answers, plan=str(event.path))
        return f"plan written to {event.path}; {EXPORT_KEY} exports what is new in it, o reads its results"

    @on(PromptLeft)
    def _leave_prompt(self) -> None:
        self.query_one(PlanPrompt).close()
        self._focus_table()

    def own_text(self) -> PaneText:
        """What `estimate` prints, with the groups where they are looked at."""
        canvas = self._canvas(self.app.size.width)
        return PaneText("kernelpoint-estimate", pane_text(self.focused_pane, self.known, canvas))

    def command(self) -> str:
        """`estimate` of the plan file and the results."""
        return pane_command(self.focused_pane, self.known) if self.known is not None else ""

    def action_copy_command(self) -> None:
        """Copy the command line, once there are results."""
        if self.known is None:
            self.app.say("no results are open")
        else:
            super().action_copy_command()
