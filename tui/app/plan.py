"""View 3: the plan, its options, what it costs at other bounds, its strata and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.worker import Worker

from sampling.errors import SamplingError
from sampling.parallel import Progress
from sampling.plan.study import Study
from sampling.simulators.registry import exporter_names
from tui.app import widgets, wording
from tui.app.actions import APP, BINDS, FORM, PLAN, VIEW, bindings
from tui.app.option_form import OPTION_FIELDS, OptionField, OptionForm
from tui.app.plan_details import (
    DETAILS,
    SOON_JUDGED,
    PlanDetails,
    PlanPane,
    drawn,
    judged,
    launches_listed,
    pane_command,
    pane_text,
    plan_figures,
    strata_listed,
    title_of,
    traded,
    whose_options,
    write_plan,
)
from tui.app.plan_panes import BindingList, BudgetPrompt, PlanFigures, PlanPrompt
from tui.app.planning import decisions_file, failure_words, start
from tui.app.prompt import Prompt
from tui.app.results import ResultsScreen
from tui.app.state import Session, decisions
from tui.app.view import Page, PaneText, ViewScreen, findings_toned
from tui.app.widgets import Chart, ListingRows, Rows, Soon, titled
from tui.options.plan import SampleOptions
from tui.output.blocks import Words
from tui.output.writer import Canvas

_SHORT, _WIDE, _HIGH = 20, 140, 36
"""With fewer rows the details replace the options; with at least this many cells all are shown."""


class PlanScreen(ViewScreen):
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
        #: What is known of the plan; None until it is drawn.
        self.details: PlanDetails | None = None
        # What is being computed, for which pane; and why it could not be, in words.
        self._worker: Worker[None] | None = None
        self._computed_for: PlanPane | None = None
        self._problems: dict[PlanPane, str] = {}
        self._asked: SampleOptions | None = None
        self._soon = Soon(self, self._edit)
        self._form = OptionForm(self.session.options, self._soon.ask, self._explain_option)
        # The detail to show where there is room for one, and whether it is over the options.
        self._chosen = PlanPane.TRADE_OFF
        self._details_open = False
        self._place: tuple[Path, str | None] = Path(), None
        self._saved: Path | None = None
        self._results: ResultsScreen | None = None

    def compose_panes(self) -> ComposeResult:
        top = titled("options", self._form), titled("figures", PlanFigures()), widgets.Words(id="option-help")
        binding = BindingList(self._take_options)
        contents = Chart(id="trade-off"), ListingRows(), ListingRows(), Page(self._findings), binding
        details = [titled(name, content) for name, content in zip(DETAILS, contents, strict=True)]
        top_and_details = Container(*top, id="plan-top"), Container(*details, id="plan-details")
        yield Container(*top_and_details, id="plan-panes")
        yield PlanPrompt(self._write_there)
        yield BudgetPrompt(self.work_on, self._take_options)

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self, _: events.Resize) -> None:
        self._arrange()
        self.work_on()

    # What is shown.

    @property
    def is_ready(self) -> bool:
        """Whether there is a plan to save, to export or to compare with results."""
        return self.details is not None and self.session.doing is None

    @property
    def is_working(self) -> bool:
        """Whether something is being computed for a pane."""
        return self._computed_for is not None

    @property
    def _is_short(self) -> bool:
        return self.size.height < _SHORT

    def follow(self, shown: Session | None, session: Session) -> None:  # noqa: ARG002 - all of it is cheap
        """Show the options, and the plan once it is made."""
        study = session.study
        if study is None:
            return
        if session.doing is not None:
            # What is being computed is of a plan that is no longer wanted.
            self._stop_working()
        self._form.follow(session, self._asked)
        if session.doing is None and (self.details is None or self.details.study is not study):
            self.query_one(Page).write_anew()
            self._problems, before = {}, self.details
            self._compute(PlanPane.FIGURES, lambda _: iter([drawn(session, study, before)]))
        else:
            self.work_on()
        self.query_one(BindingList).follow(session)
        self._show_titles()

    def status(self, session: Session, study: Study) -> list[Words]:
        """The plan, and what makes it faster."""
        return wording.with_faster(session, super().status(session, study))

    def _findings(self, width: int) -> Text:
        study = self.session.study
        return findings_toned(study, width) if study is not None and width else Text()

    def _show_details(self, details: PlanDetails) -> None:
        self.details = details
        self.query_one(PlanFigures).show(plan_figures(details))
        chart = self.query_one(Chart)
        if why_no_chart := self._problems.get(PlanPane.TRADE_OFF, details.why_no_trade_off):
            chart.say(why_no_chart)
        else:
            chart.show(details.trade_off.chart)
        for pane, listing in ((PlanPane.STRATA, details.strata), (PlanPane.LAUNCHES, details.launches)):
            if listing is not None or pane in self._problems:
                self.query_one(f"#{pane}-pane ListingRows", ListingRows).show(
                    listing, self._problems.get(pane, "")
                )
        self._show_titles()

    @on(Rows.Moved)
    @on(Rows.Resized)
    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        self.entitle("options", "[3] Options", whose_options(self.session, self.app.opened))
        for pane in PlanPane:
            name = "figures" if pane is PlanPane.FIGURES else pane
            tables = self.query_one(f"#{name}-pane").query(ListingRows)
            details = None if pane in self._problems else self.details
            place = tables.first().place if tables else ""
            self.entitle(name, *title_of(pane, self.session, details, place, is_short=self._is_short))

    # What is computed, for one pane after the other.

    def work_on(self) -> None:
        """Compute what is missing in the visible panes; nothing while an epsilon is looked for."""
        details = self.details
        if self.query_one(BudgetPrompt).is_fitting:
            self._stop_working()
            return
        if details is None or self.session.doing is not None or details.study is not self.session.study:
            return
        if self.is_in_sight(PlanPane.BINDING):
            self.app.find_binding()
        if self._computed_for is not None and self.is_in_sight(self._computed_for):
            return
        self._stop_working()
        jobs: list[tuple[PlanPane, bool, Callable[[PlanDetails, Progress], Iterator[PlanDetails]]]] = [
            (PlanPane.STRATA, details.strata is None, strata_listed),
            (PlanPane.TRADE_OFF, not details.is_traded, traded),
            (PlanPane.LAUNCHES, details.launches is None, launches_listed),
        ]
        # Judging a large plan may take half a minute, so it comes last there.
        is_soon_judged = details.plan.samples * details.session.options.judge <= SOON_JUDGED
        jobs.insert(0 if is_soon_judged else len(jobs), (PlanPane.FIGURES, not details.is_judged, judged))
        for pane, is_missing, job in jobs:
            if is_missing and self.is_in_sight(pane) and pane not in self._problems:
                self._compute(pane, partial(job, details))
                return

    def _compute(self, pane: PlanPane, job: Callable[[Progress], Iterator[PlanDetails]]) -> None:
        def steps(progress: Progress) -> Iterator[PlanDetails | None]:
            yield from job(progress)
            yield None

        self._stop_working()
        self._computed_for = pane
        self._worker = start(self, steps, self._take_details, group="details", is_exclusive=False)

    def _stop_working(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
        self._computed_for = None

    def _take_details(self, details: PlanDetails | None) -> None:
        """Show more of what is known; None is told once all of a pane is."""
        if details is None:
            self._computed_for = None
            self.work_on()
            return
        is_first = self.details is None
        self._show_details(details)
        if is_first and self.session.plan is not None and self.session.plan.results:
            self.action_results()

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say in the pane why its content could not be computed, or that nothing was written."""
        if not isinstance(error, SamplingError | OSError):
            super().worker_failed(worker, error)
        elif worker.group == "files":
            path, target = self._place
            self.query_one(PlanPrompt).ask_for(target, str(path), f"not written: {failure_words(error)}")
        elif self._computed_for is not None and not worker.is_cancelled:
            self._problems[self._computed_for] = failure_words(error)
            self._computed_for = None
            if self.details is not None:
                self._show_details(self.details)
            self.work_on()

    # The options.

    def _explain_option(self, field: OptionField) -> None:
        """Say what the option at the cursor is."""
        self.query_one("#option-help", widgets.Words).show(field.help)

    def _edit(self, options: SampleOptions) -> None:
        """Plan by options that were edited in the form, until they are taken back."""
        before = self.session.options
        for field in OPTION_FIELDS:
            if field.text(before) != field.text(options):
                self.app.steps.note(before, options, f"{field.label} is {field.text(before) or 'none'} again")
                break
        self._plan_by(options)

    def _plan_by(self, options: SampleOptions) -> None:
        """Plan by these options; a refusal of them is said in the form."""
        self._asked = options
        self.app.plan(options=options)

    def _take_options(self, options: SampleOptions, words: str, undone: str) -> None:
        """Plan by options from elsewhere; with what to say of it, and once they are taken back."""
        if self.session.doing is None:
            self.app.steps.note(self.session.options, options, undone)
            self._plan_by(options)
            self.app.say(words)

    def action_option(self, name: str) -> None:
        self.action_close_details()
        self._form.go_to(name)

    def action_budget(self) -> None:
        if self._has_plan() and self.details is not None:
            if why_not := self.details.why_no_trade_off:
                self.app.say(why_not)
            else:
                self.query_one(BudgetPrompt).begin()

    # The details.

    def _arrange(self) -> None:
        """Show the panes that fit at this size."""
        width, height = self.size
        self.query_one("#plan-top").display = not (self._is_short and self._details_open)
        self.query_one("#plan-details").display = self._details_open or not self._is_short
        for pane in DETAILS:
            has_room = width >= _WIDE and height >= _HIGH
            self.query_one(f"#{pane}-pane").display = has_room or pane is self._chosen
        self._show_titles_soon()

    def content(self, pane: PlanPane) -> Widget:
        """The widget below the title of a detail, which takes the focus."""
        return next(child for child in self.query_one(f"#{pane}-pane").children if child.can_focus)

    def is_in_sight(self, pane: PlanPane) -> bool:
        """Return whether a pane is shown; the figures count as shown in any case."""
        is_shown = self.query_one("#plan-details").display
        return pane is PlanPane.FIGURES or (is_shown and self.query_one(f"#{pane}-pane").display)

    @property
    def focused_pane(self) -> PlanPane:
        """The pane that has the focus; options and figures are one."""
        return next((pane for pane in DETAILS if self.content(pane).has_focus), PlanPane.FIGURES)

    def action_next_detail(self) -> None:
        """Show the next detail; where all are in sight, go to it."""
        focused, are_all_in_sight = self.focused_pane, all(map(self.is_in_sight, DETAILS))
        if self._is_short and not self._details_open:
            self._show_detail(self._chosen)
            return
        if focused in DETAILS or not are_all_in_sight:
            before = focused if are_all_in_sight else self._chosen
            self._chosen = DETAILS[(DETAILS.index(before) + 1) % len(DETAILS)]
        if self._is_short and self._chosen is DETAILS[0]:
            self.action_close_details()
        else:
            takes_focus = self._is_short or focused in DETAILS or are_all_in_sight
            self._show_detail(self._chosen, takes_focus=takes_focus)

    def _show_detail(self, pane: PlanPane, *, takes_focus: bool = True) -> None:
        self._chosen, self._details_open = pane, self._details_open or self._is_short
        self._arrange()
        if takes_focus:
            self.content(pane).focus()
        self.work_on()

    def action_binding(self) -> None:
        self._show_detail(PlanPane.BINDING)

    def action_leave_details(self) -> None:
        """Go back to the options; where one is there already, to the view one came from."""
        if self._form.has_focus:
            raise SkipAction
        self.action_close_details()

    def action_close_details(self) -> None:
        self._details_open = False
        self._arrange()
        self._form.focus()

    # What leaves the app.

    def _has_plan(self) -> bool:
        """Return whether there is a plan to write; say it where there is none yet."""
        if not self.is_ready:
            self.app.say("the plan is being made; ask again once it is there")
        return self.is_ready

    def action_save(self) -> None:
        if self._has_plan():
            self.query_one(PlanPrompt).ask_for(None)

    def action_export(self) -> None:
        self.action_export_to(exporter_names()[0])

    def action_export_to(self, target: str) -> None:
        if self._has_plan():
            self.query_one(PlanPrompt).ask_for(target)

    def _write_there(self, path: Path, target: str | None) -> None:
        """Write the plan, or what an exporter makes of it, in a worker."""
        self._leave_prompt()
        details, self._place = self.details, (path, target)
        if details is None:
            return

        def write(progress: Progress) -> Iterator[str]:
            yield write_plan(details, path, target, progress)

        def written(words: str) -> None:
            if target is None:
                self._saved = path
                if decisions(self.session.overrides) and not decisions_file(self.session).exists():
                    self.app.name_decisions(path)
            self.app.say(words)

        start(self, write, written, group="files", is_exclusive=False)

    @on(Prompt.Left, "PlanPrompt")
    def _leave_prompt(self) -> None:
        self.query_one(PlanPrompt).close()
        self._focus_again()

    @on(Prompt.Left, "BudgetPrompt")
    def _leave_budget(self) -> None:
        if self.query_one(BudgetPrompt).leave():
            self._focus_again()

    def _focus_again(self) -> None:
        """Go back to the options, or to the details that replace them."""
        (self._form if self.query_one("#plan-top").display else self.content(self._chosen)).focus()

    def action_results(self) -> None:
        if self._has_plan() and self.details is not None:
            self._results = ResultsScreen(self.details, self._results, self._saved)
            self._saved = None
            self.app.push_screen(self._results)

    def own_text(self) -> PaneText:
        if self.details is None:
            return PaneText("kernelpoint-plan", "")
        pane, size = self.focused_pane, self.query_one(Chart).printed_size
        canvas = Canvas(self.app.size.width, color=False)
        text = pane_text(pane, self.details, size, canvas, self.session.binding)
        return PaneText(f"kernelpoint-{pane}", text)

    def command(self) -> str:
        """`sample` with or without a list, or `trade-off`."""
        if self.details is None:
            return ""
        size = self.query_one(Chart).printed_size
        return pane_command(self.focused_pane, self.details, size, self.session.binding)
