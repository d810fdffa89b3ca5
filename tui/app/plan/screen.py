"""View 3: the plan, its options, what it costs at other bounds, its strata and launches."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import Worker

from sampling.errors import SamplingError
from tui.app.actions import APP, BINDS, FORM, PLAN, VIEW, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.copying import PaneText
from tui.app.frame.line import PaneTitle
from tui.app.frame.soon import Soon
from tui.app.frame.words import Words
from tui.app.plan.budget.prompt import BudgetPrompt
from tui.app.plan.cheaper import CheaperScreen
from tui.app.plan.details import PlanDetails
from tui.app.plan.files import failure_words
from tui.app.plan.options import OPTION_FIELDS, FieldReached, OptionForm, OptionsChanged
from tui.app.plan.panes import PlanDetailPanes, PlanFigures, PlanFindings, PlanList
from tui.app.plan.presenter import DETAILS, PlanPane, pane_command, pane_text, plan_figures
from tui.app.plan.prompt import PlanPrompt
from tui.app.plan.results import ResultsScreen
from tui.app.plan.titles import binding_states, detail_states, figures_states, fitting_title, whose_options
from tui.app.plan.work import DetailsReady, PlanWork
from tui.app.state import Session
from tui.options.commands import SampleOptions
from tui.output.writer import Canvas

_SHORT, _WIDE, _HIGH = 20, 140, 36
"""With fewer rows the details replace the options; with at least this many cells all are shown."""


class PlanScreen(CheaperScreen):
    """The options beside the plan's figures, over what else is known of it."""

    NAME = "Plan"
    SUMMARY = "the plan's options, what it costs and promises; save, export, results"
    SCOPES = (APP, FORM, PLAN, BINDS, VIEW)
    BINDINGS = bindings(APP, PLAN, VIEW)
    AUTO_FOCUS = "OptionForm"
    ABOUT: ClassVar[str] = (
        "The plan is made anew whenever an option changes. drawn, sampled, speedup and this draw are of the "
        "launches drawn with this seed; bound and group hold for any draw at the stated confidence, with "
        "noise also where simulated times spread more than profiled ones; judged is what repeated draws "
        "came to. floor is the least that a plan with launches of every kernel group samples. What binds "
        "lists the options that make the plan dear: what each by itself, a step looser, would give. A "
        "budget of simulation finds the smallest epsilon whose plan fits it."
    )

    def __init__(self) -> None:
        super().__init__()
        self._details: PlanDetails | None = None
        self._work = PlanWork(self)
        self._asked: SampleOptions | None = None
        self._soon = Soon(self, self._edit)
        self._details_open = False
        self._results: ResultsScreen | None = None

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
                yield Words(ascii_only=ascii_only, id="option-help")
            yield PlanDetailPanes(ascii_only=ascii_only)
        yield PlanPrompt(ascii_only=ascii_only)
        yield BudgetPrompt(ascii_only=ascii_only)

    def on_mount(self) -> None:
        """Lay out, and keep showing which rows of a table are visible."""
        self._title("#options-pane").show("[3] Options", whose_options(self.session, self.app.opened))
        self._explain_option()
        self._arrange()
        for table in self.query(PlanList):
            for name in ("scroll_y", "virtual_size"):
                self.watch(table, name, self._show_titles_soon, init=False)

    def on_resize(self, _: events.Resize) -> None:
        """Other panes may have room now."""
        self._arrange()
        self.work_on()

    # What is shown.

    @property
    def details(self) -> PlanDetails | None:
        """What is known of the plan; None until it is drawn."""
        return self._details

    @property
    def is_ready(self) -> bool:
        """Whether there is a plan to save, to export or to compare with results."""
        return self._details is not None and self.session.doing is None

    @property
    def is_working(self) -> bool:
        """Whether something is being computed for a pane."""
        return self._work.pane is not None

    def follow(self, shown: Session | None, session: Session) -> None:  # noqa: ARG002 - all of it is cheap
        """Show the options, and the plan once it is made."""
        study, form = session.study, self.query_one(OptionForm)
        if study is None:
            return
        if session.doing is not None:
            # What is being computed is of a plan that is no longer wanted.
            self._work.stop()
        form.follow(session, self._asked)
        if session.doing is None and (self._details is None or self._details.study is not study):
            self.query_one(PlanFindings).show(study)
            self._work.begin(session, study, self._details)
        else:
            self.work_on()
        self._title("#options-pane").show("[3] Options", whose_options(session, self.app.opened))
        self._panes.show_binding(session)
        self._show_titles()

    def _show_details(self, details: PlanDetails) -> None:
        self._details = details
        self.query_one(PlanFigures).show(plan_figures(details))
        self._panes.show(details, self._work.problems)
        self._show_titles()

    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        for pane in PlanPane:
            title = self._title("#figures-pane" if pane is PlanPane.FIGURES else f"#{pane}-pane")
            title.show(*fitting_title(pane, self._states_of(pane), title.size.width))

    def _states_of(self, pane: PlanPane) -> tuple[str, ...]:
        """Return what a pane shows of how much, the longest form first."""
        if pane is PlanPane.FIGURES:
            return figures_states(self.session, is_short=self._is_short())
        if pane is PlanPane.BINDING:
            return binding_states(self.session)
        if self._details is None or pane in self._work.problems:
            return ("",)
        return detail_states(pane, self._details, self._panes.place(pane))

    def _title(self, pane: str) -> PaneTitle:
        return self.query_one(f"{pane} PaneTitle", PaneTitle)

    @property
    def _panes(self) -> PlanDetailPanes:
        return self.query_one(PlanDetailPanes)

    # What is computed.

    def work_on(self) -> None:
        """Compute what is missing in the visible panes, one after the other."""
        details = self._details
        if self.is_fitting:
            self._work.stop()
            return
        if details is None or self.session.doing is not None or details.study is not self.session.study:
            return
        if self.is_in_sight(PlanPane.BINDING):
            self.app.find_binding()
        self._work.go_on(details, self.is_in_sight)

    @on(DetailsReady)
    def _take_details(self, event: DetailsReady) -> None:
        event.stop()
        if self._work.is_stale(event):
            return
        if event.details is not None:
            is_first = self._details is None
            self._show_details(event.details)
            if is_first and self.session.plan is not None and self.session.plan.results:
                self.action_results()
            return
        self._work.end()
        self.work_on()

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say in the pane why its content could not be computed, or that nothing was written."""
        if not isinstance(error, SamplingError | OSError):
            super().worker_failed(worker, error)
        elif worker.group == "files":
            self.ask_again(failure_words(error))
        elif self._work.pane is not None and not worker.is_cancelled:
            self._work.end(failure_words(error))
            if self._details is not None:
                self._show_details(self._details)
            self.work_on()

    # The options.

    @on(FieldReached)
    def _explain_option(self) -> None:
        """Say what the option at the cursor is."""
        self.query_one("#option-help", Words).show(self.query_one(OptionForm).field.help)

    @on(OptionsChanged)
    def _plan_soon(self, event: OptionsChanged) -> None:
        event.stop()
        self._soon.ask(event.options, at_once=event.at_once)

    def _edit(self, options: SampleOptions) -> None:
        """Plan by options that were edited in the form, until they are taken back."""
        before = self.session.options
        for field in OPTION_FIELDS:
            if field.text(before) != field.text(options):
                self.app.steps.note(before, options, f"{field.label} is {field.text(before) or 'none'} again")
                break
        self.plan_by(options)

    def plan_by(self, options: SampleOptions) -> None:
        """Plan by these options; a refusal of them is said in the form."""
        self._asked = options
        self.app.plan(options=options)

    def action_option(self, name: str) -> None:
        """Go to an option."""
        self.action_close_details()
        self.query_one(OptionForm).go_to(name)

    # The details.

    def _arrange(self) -> None:
        """Show the panes that fit at this size."""
        width, height = self.size
        self.query_one("#plan-top").display = not (self._is_short() and self._details_open)
        self._panes.display = self._details_open or not self._is_short()
        self._panes.lay_out(has_room=width >= _WIDE and height >= _HIGH)
        # A title's width is known only after the layout.
        self._show_titles_soon()

    def is_in_sight(self, pane: PlanPane) -> bool:
        """Return whether a pane is shown; the figures count as shown in any case."""
        return pane is PlanPane.FIGURES or self._panes.is_in_sight(pane)

    def _is_short(self) -> bool:
        return self.size.height < _SHORT

    def action_next_detail(self) -> None:
        """Show the next of the details, or move the focus to it if all are visible."""
        panes, focused, is_short = self._panes, self._panes.focused, self._is_short()
        if is_short and not self._details_open:
            self._details_open = True
        else:
            panes.turn()
            if is_short and panes.chosen is DETAILS[0]:
                self.action_close_details()
                return
        self._arrange()
        if is_short or focused is not None or panes.are_all_in_sight:
            panes.content(panes.chosen).focus()
        self.work_on()

    def action_binding(self) -> None:
        """Go to what binds."""
        self._details_open = self._details_open or self._is_short()
        self._panes.chosen = PlanPane.BINDING
        self._arrange()
        self._panes.content(PlanPane.BINDING).focus()
        self.work_on()

    def action_leave_details(self) -> None:
        """Go back to the options; where one is there already, to the view one came from."""
        if self.query_one(OptionForm).has_focus:
            raise SkipAction
        self.action_close_details()

    def action_close_details(self) -> None:
        """Go back to the options."""
        self._details_open = False
        self._arrange()
        self.query_one(OptionForm).focus()

    @property
    def focused_pane(self) -> PlanPane:
        """The pane that has the focus; options and figures are one."""
        return self._panes.focused or PlanPane.FIGURES

    # What leaves the app.

    def focus_again(self) -> None:
        """Go back to the options, or to the details that replace them."""
        top = self.query_one("#plan-top").display
        (self.query_one(OptionForm) if top else self._panes.content(self._panes.chosen)).focus()

    def action_results(self) -> None:
        """Open a simulator's results, those that were open before at first."""
        if self.has_plan() and self._details is not None:
            self._results = ResultsScreen(self._details, self._results, self.saved)
            self.saved = None
            self.app.push_screen(self._results)

    def own_text(self) -> PaneText:
        """What the command of the pane prints."""
        if self._details is None:
            return PaneText("kernelpoint-plan", "")
        pane = self.focused_pane
        canvas = Canvas(self.app.size.width, self.session.ascii_only, color=False)
        return PaneText(
            f"kernelpoint-{pane}",
            pane_text(pane, self._details, self.query_one(Chart).printed_size, canvas, self.session.binding),
        )

    def command(self) -> str:
        """`sample` with or without a list, or `trade-off`."""
        if self._details is None:
            return ""
        size = self.query_one(Chart).printed_size
        return pane_command(self.focused_pane, self._details, size, self.session.binding)
