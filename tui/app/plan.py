"""View 3: the plan, its options, what it costs at other bounds, its strata and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.worker import Worker

from sampling.errors import SamplingError
from sampling.methods.registry import method_named
from sampling.parallel import Progress
from sampling.plan.draft import Draft
from tui.app import wording
from tui.app.actions import APP, BINDS, FORM, PLAN, VIEW, bindings
from tui.app.option_form import OPTION_FIELDS, OptionField, OptionForm
from tui.app.plan_details import (
    SOON_JUDGED,
    PlanDetails,
    PlanPane,
    drawn,
    judged,
    listed,
    plan_figures,
    traded,
    whose_options,
    write_plan,
)
from tui.app.plan_panes import BindingList, BudgetPrompt, PlanFigures, PlanPrompt
from tui.app.planning import decisions_file, failure_words, options_with_overrides
from tui.app.results import ResultsScreen
from tui.app.session_app import start
from tui.app.state import Session, decisions
from tui.app.view import Page, PaneText, ViewScreen, findings_toned
from tui.app.widgets import Chart, ListingTable, Note, Rows, Soon, titled
from tui.charts.quantities import count
from tui.options.choices import PlanList
from tui.options.command_line import command_line, options_of
from tui.options.plan import SampleOptions, TradeOffOptions
from tui.output.blocks import Phrases
from tui.output.writer import Canvas, canvas_text
from tui.text.plan import plan_blocks, usual_target
from tui.text.trade_off import level_forms, missing_forms, trade_off_blocks

_SHORT, _WIDE, _HIGH = 20, 140, 36
"""With fewer rows the details replace the options; with at least this many cells all are shown."""
_NAMES = {
    PlanPane.FIGURES: "[tab] Costs",
    PlanPane.TRADE_OFF: "[t] Trade-off",
    PlanPane.STRATA: "[t] Strata",
    PlanPane.LAUNCHES: "[t] Launches",
    PlanPane.FINDINGS: "[t] Findings",
    PlanPane.BINDING: "[b] What binds: one option a step on",
}
DETAILS = tuple(_NAMES)[1:]
"""The panes that take turns in one place on a small screen."""


class PlanScreen(ViewScreen):
    """The options beside the plan's figures, over what else is known of it."""

    NAME = "Plan"
    SUMMARY = "the plan's options, what it costs and promises; save, export, results"
    SCOPES = (APP, FORM, BINDS, PLAN, VIEW)
    BINDINGS = bindings(APP, PLAN, VIEW)
    AUTO_FOCUS = "OptionForm"
    ABOUT: ClassVar[str] = (
        "The plan is made anew whenever an option changes. drawn, sampled and this draw are of the launches "
        "drawn with this seed; speedup is the one expected of any draw, as everywhere else; bound and "
        "group hold for any draw at the stated confidence, with noise also where simulated times spread more "
        "than profiled ones; judged is what repeated draws "
        "came to. floor is the least that a plan with launches of every kernel group samples. What binds "
        "lists the options that make the plan dear: what each by itself, a step on, would give. A "
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
        self._figures, self._help = PlanFigures(), Note(id="option-help")
        self._chart, self._binding = Chart(id="trade-off"), BindingList(self._take_options)
        contents = self._chart, ListingTable(), ListingTable(), Page(self._findings), self._binding
        self._contents: dict[PlanPane, Widget] = dict(zip(DETAILS, contents, strict=True))
        self._prompt = PlanPrompt(self._write, self._note_written)
        self._budget = BudgetPrompt(self.work_on, self._take_options)
        # The detail to show where there is room for one, and whether it is over the options.
        self._chosen = PlanPane.TRADE_OFF
        self._details_open = False
        self._saved: Path | None = None
        self._results: ResultsScreen | None = None

    def compose_panes(self) -> ComposeResult:
        top = titled("options", self._form), titled("figures", self._figures), self._help
        details = [titled(pane, content) for pane, content in self._contents.items()]
        yield Container(
            Container(*top, id="plan-top"), Container(*details, id="plan-details"), id="plan-panes"
        )
        yield self._prompt
        yield self._budget

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

    def follow(self, previous: Session | None, session: Session) -> None:  # noqa: ARG002 - all of it is cheap
        """Show the options, and the plan once it is made."""
        draft = session.draft
        if draft is None:
            return
        if session.doing is not None:
            # What is being computed is of a plan that is no longer wanted.
            self._stop_working()
        self._form.follow(session, self._asked)
        if session.doing is None and (self.details is None or self.details.draft is not draft):
            self.query_one(Page).write_anew()
            self._problems, before = {}, self.details
            self._compute(PlanPane.FIGURES, lambda _: iter([drawn(session, draft, before)]))
        else:
            self.work_on()
        self._binding.follow(session)
        self._show_titles()

    def status(self, session: Session, draft: Draft) -> list[Phrases]:
        """The plan, and what makes it faster."""
        return wording.with_faster(session, super().status(session, draft))

    def _findings(self, width: int) -> Text:
        draft = self.session.draft
        return findings_toned(draft, width) if draft is not None and width else Text()

    def _show_details(self, details: PlanDetails) -> None:
        self.details = details
        self._figures.figures = plan_figures(details)
        if why_no_chart := self._problems.get(PlanPane.TRADE_OFF, details.why_no_trade_off):
            self._chart.say(why_no_chart)
        else:
            self._chart.show(details.trade_off.chart)
        for pane, rows in self._contents.items():
            if isinstance(rows, ListingTable) and (pane in details.listings or pane in self._problems):
                rows.show_listing(details.listings.get(pane), self._problems.get(pane, ""))
        self._show_titles()

    @on(Rows.Moved)
    @on(Rows.Resized)
    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        self.entitle("options", "[3] Options", *whose_options(self.session, self.app.opened))
        for pane, name in _NAMES.items():
            self.entitle("figures" if pane is PlanPane.FIGURES else pane, name, *self._states(pane))

    def _states(self, pane: PlanPane) -> tuple[str, ...]:
        """Return what a pane shows of how much, or its keys; the longest form first."""
        session, details, states = self.session, self.details, ("",)
        if pane is PlanPane.FIGURES:
            keys = "[b] binds [B] budget"
            states = ("planning",) if session.doing else (keys,)
            if self._is_short and not session.doing:
                return f"{keys} [t] more", "t more"
        elif pane is PlanPane.BINDING:
            states = ("enter takes a step  u undo" if session.binding else "",)
            states = ("being found",) if session.binding is None else states
        elif details is None or pane in self._problems:
            pass
        elif pane is PlanPane.FINDINGS:
            states = (count(len(details.draft.findings)),)
        elif pane is not PlanPane.TRADE_OFF:
            rows = self._contents[pane]
            states = (rows.place if pane in details.listings and isinstance(rows, Rows) else "being listed",)
        elif details.is_traded:
            # Missing points are said first; where the curve is level can be seen.
            return missing_forms(details.trade_off) or level_forms(details.trade_off)
        else:
            states = (f"{details.trade_off.tried} of {len(details.epsilons)}",)
        return states

    # What is computed, for one pane after the other.

    def work_on(self) -> None:
        """Compute what is missing in the visible panes; nothing while an epsilon is looked for."""
        details = self.details
        if self._budget.is_fitting:
            self._stop_working()
            return
        if details is None or self.session.doing is not None or details.draft is not self.session.draft:
            return
        if self.is_in_sight(PlanPane.BINDING):
            self.app.find_binding()
        if self._computed_for is not None and self.is_in_sight(self._computed_for):
            return
        self._stop_working()
        jobs: list[tuple[PlanPane, bool, Callable[[PlanDetails, Progress], Iterator[PlanDetails]]]] = [
            (PlanPane.STRATA, PlanPane.STRATA in details.listings, partial(listed, PlanPane.STRATA)),
            (PlanPane.TRADE_OFF, details.is_traded, traded),
            (PlanPane.LAUNCHES, PlanPane.LAUNCHES in details.listings, partial(listed, PlanPane.LAUNCHES)),
        ]
        # Judging a large plan may take half a minute, so it comes last there.
        is_soon_judged = details.plan.samples * details.session.options.judge <= SOON_JUDGED
        jobs.insert(0 if is_soon_judged else len(jobs), (PlanPane.FIGURES, details.is_judged, judged))
        for pane, is_there, job in jobs:
            if not is_there and self.is_in_sight(pane) and pane not in self._problems:
                self._compute(pane, partial(job, details))
                return

    def _compute(self, pane: PlanPane, job: Callable[[Progress], Iterator[PlanDetails]]) -> None:
        def steps(progress: Progress) -> Iterator[PlanDetails | None]:
            yield from job(progress)
            yield None

        self._stop_working()
        self._computed_for = pane
        self._worker = start(
            self, steps, self._take_details, failed=self._fail, group="details", is_exclusive=False
        )

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

    def _fail(self, error: SamplingError | OSError) -> None:
        """Say in the pane why its content could not be computed."""
        if self._computed_for is not None:
            self._problems[self._computed_for] = failure_words(error)
            self._computed_for = None
            if self.details is not None:
                self._show_details(self.details)
            self.work_on()

    # The options.

    def _explain_option(self, field: OptionField) -> None:
        """Say what the option at the cursor is."""
        forms = [field.help]
        if field.name == "method":
            method = method_named(self.session.request.method)
            whole = f"{method.name}: {method.description}"
            forms = [whole, whole.partition(". ")[0]]
        self._help.show(*forms)

    def _edit(self, options: SampleOptions) -> None:
        """Plan by options that were edited in the form, until they are taken back."""
        before = self.session.options
        if words := step_words(before, options):
            self.app.steps.note(before, options, words[1])
        self._plan_by(options)

    def _plan_by(self, options: SampleOptions) -> None:
        """Plan by these options; a refusal of them is said in the form."""
        self._asked = options
        self.app.plan(options=options)

    def _take_options(self, options: SampleOptions) -> None:
        """Plan by options from elsewhere, until they are taken back, and say so."""
        before = self.session.options
        if self.session.doing is None and (words := step_words(before, options)):
            self.app.steps.note(before, options, words[1])
            self._plan_by(options)
            self.app.say(words[0])

    def action_option(self, name: str) -> None:
        self.action_close_details()
        self._form.go_to(name)

    def action_budget(self) -> None:
        if self._has_plan() and self.details is not None:
            if why_not := self.details.why_no_trade_off:
                self.app.say(why_not)
            else:
                self._budget.begin()

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
        return self._contents[pane]

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
            self._prompt.ask_for(None)

    def action_export(self) -> None:
        is_amd = self.details is not None and self.details.draft.profile.is_amd
        self.action_export_to(usual_target(is_amd=is_amd))

    def action_export_to(self, target: str) -> None:
        if self._has_plan():
            self._prompt.ask_for(target)

    def _write(self, path: Path, target: str | None, traces: str, progress: Progress) -> str:
        return "" if self.details is None else write_plan(self.details, path, target, traces, progress)

    def _note_written(self, path: Path, target: str | None) -> None:
        """Results to come are of the plan that was saved, and commands name its split decisions."""
        if target is None:
            self._saved = path
            if decisions(self.session.overrides) and not decisions_file(self.session).exists():
                self.app.name_decisions(path)

    def action_results(self) -> None:
        if self._has_plan() and self.details is not None:
            self._results = ResultsScreen(self.details, self._results, self._saved)
            self._saved = None
            self.app.push_screen(self._results)

    def own_text(self) -> PaneText:
        """What the pane's command prints; the figures where the pane's content is not computed yet."""
        details, pane, canvas = self.details, self.focused_pane, Canvas(self.app.size.width, color=False)
        if details is None:
            return PaneText("kernelpoint-plan", "")
        trade_off = details.trade_off
        if pane in details.listings:
            text = details.listings[pane].text(canvas.width)
        elif pane is PlanPane.TRADE_OFF and trade_off.points:
            # As the command sees it, which is told of those epsilons alone.
            tried = replace(trade_off, epsilons=_tried(details))
            text = canvas_text(trade_off_blocks(tried, self._chart.printed_size), canvas)
        else:
            binding = self.session.binding if pane is PlanPane.BINDING else None
            costs = replace(details.costs, binding=binding)
            blocks = plan_blocks(details.draft, details.plan, costs, details.judgement, details=True)
            text = canvas_text(blocks, canvas)
        return PaneText(f"kernelpoint-{pane}", f"{text}\n")

    def command(self) -> str:
        """`sample` with or without a list, or `trade-off`; split decisions are written to a file.

        Raises OSError where that file cannot be written.
        """
        details, pane = self.details, self.focused_pane
        if details is None:
            return ""
        options = options_with_overrides(details.session)
        if pane is PlanPane.TRADE_OFF and details.trade_off.points:
            epsilons = None if details.is_traded else ",".join(map(repr, _tried(details)))
            width, height = self._chart.printed_size
            of_chart = options_of(TradeOffOptions, options, epsilons=epsilons, width=width, height=height)
            return command_line("trade-off", of_chart, always=("method",))
        rows = PlanList(pane) if pane in details.listings else None
        # Before the plan is judged, the command does not judge it either.
        judge = options.judge if rows or details.is_judged else 0
        binds = pane is PlanPane.BINDING and self.session.binding is not None
        sample_options = replace(options, list=rows, judge=judge, binding=binds, details=rows is None)
        return command_line("sample", sample_options, always=("method",))


def _tried(details: PlanDetails) -> tuple[float, ...]:
    trade_off = details.trade_off
    return *(point.epsilon for point in trade_off.points), *(point.epsilon for point in trade_off.missing)


def step_words(before: SampleOptions, after: SampleOptions) -> tuple[str, str] | None:
    """Return what to say of options that are taken, and once they are taken back; None where all stay."""
    for field in OPTION_FIELDS:
        was, after_text = (field.text(options) or "none" for options in (before, after))
        if was != after_text:
            return (
                f"{field.label} is {after_text} now, not {was}; u takes it back",
                f"{field.label} is {was} again",
            )
    if before.slowdown == after.slowdown:
        return None
    if after.slowdown is None:
        return "hours are not shown now; u takes it back", "hours are shown again"
    was = "no slowdown is assumed again" if before.slowdown is None else f"slowdown {before.slowdown:g} again"
    return f"simulated {after.slowdown:g} times slower: hours beside the speedup; u takes it back", was
