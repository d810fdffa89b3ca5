"""What a simulator measured of the plan, over view 3: totals, kernel groups, what to run next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input
from textual.worker import Worker

from sampling.errors import AnalysisError, OptionError, SamplingError
from sampling.estimation.roofline import RooflineSummary, summarise_bounds, summarise_roofline
from sampling.estimation.top_up import ToppedUp
from sampling.estimation.total import PlanEstimate
from sampling.parallel import Progress
from sampling.record import Bounds
from tui.app.actions import APP, LIST, RESULTS, VIEW, bindings
from tui.app.chart_page import ChartPage
from tui.app.plan_details import PlanDetails, check_new, export_file, save_plan
from tui.app.plan_panes import PlanPrompt
from tui.app.planning import failure_words, printed_options
from tui.app.prompt import Prompt, PromptField
from tui.app.session_app import in_words, start
from tui.app.state import Session
from tui.app.view import Page, PaneText, ViewScreen
from tui.app.widgets import ListingTable, Rows, titled
from tui.charts import quantities
from tui.engine.plan_files import estimated, missing_to_target
from tui.engine.speedups import parse_configurations
from tui.options.command_line import command_line, options_of, typed_options
from tui.options.files import PLAN_NAME, files_named, free_name, home_expanded, is_configuration, is_there
from tui.options.simulate import EstimateOptions, RooflineOptions, SpeedupOptions
from tui.output.blocks import Block, Listing
from tui.output.files import write_text
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import printable_lines
from tui.text.estimate import NO_GROUPS, counter_notes, estimate_blocks, group_listing, next_listing
from tui.text.plan import usual_target
from tui.text.roofline import roofline_blocks

OTHERS = ("source", "metrics", "ratios", "clock", "confidence", "projection_error", "scale_error")
"""What may be typed among the other options: what has no field, and nothing that writes a file."""
LARGER_NAME = "more.json"
"""The larger plan's file in the command that is printed for the user to run."""

Answers = dict[str, str]
"""What is typed, by the field's name; names of files with blanks between, quoted and with * as in a shell."""


class ResultsForm(Prompt):
    """Asks for results, the plan they are of, and a target."""

    FIELDS = (
        PromptField("results", "Results:  ", takes_several=True),
        PromptField("manifests", "Manifest: ", takes_several=True),
        PromptField("plan", "Plan:     "),
        PromptField("others", "Options:  ", is_path=False),
        PromptField("target", "Target:   ", is_path=False),
    )
    HINTS: ClassVar = {
        "results": "What the simulator wrote, blanks between; tab completes, esc leaves",
        "manifests": "The export's manifest.csv, if the plan has several processes; may be empty",
        "plan": "The file of the plan that was simulated; tab completes, esc leaves",
        "others": "As estimate takes them: --metric NAME --ratio A/B --confidence X",
        "target": "How narrow the total is to be, as 0.05; what to run next is drawn for it",
    }

    def hint(self, name: str) -> Sequence[str]:
        plan = self.answers["plan"].strip()
        if name == "plan" and plan and not is_there(home_expanded(plan)):
            return [f"{plan} is not there: the plan as shown is saved so first", "the plan is saved so first"]
        return [self.HINTS[name]]


def options_asked(answers: Answers, session: Session) -> EstimateOptions:
    """Return the options of the command that says the same; OptionError where an answer cannot be used."""
    plan, typed = (answers[name].strip() for name in ("plan", "target"))
    results, manifests = (files_named(answers[name]) for name in ("results", "manifests"))
    estimate_options = typed_options(EstimateOptions, answers["others"], OTHERS)
    if not plan:
        raise OptionError("the name of the plan file is missing", remedy=f"name it, such as {PLAN_NAME}")
    if not results:
        raise OptionError("no file of results is named", remedy="name what the simulator wrote; esc leaves")
    plan = str(home_expanded(plan))
    if "-" in (plan, *results, *manifests):
        raise OptionError("standard input (-) cannot be read here", remedy="name a file")
    try:
        target = float(typed) if typed else None
    except ValueError:
        target = 0.0
    if target is not None and not 0 < target < 1:
        problem = f"the target is to be between 0 and 1, not {typed}"
        raise OptionError(problem, remedy="give a fraction, such as 0.05")
    printed = printed_options(session)
    options = EstimateOptions(
        quiet=printed.quiet, ascii=printed.ascii, color=printed.color, plan=plan, target=target
    )
    return replace(options, results=results, manifests=manifests, **estimate_options)


# What is known, and how it is said.


class ResultsPane(StrEnum):
    """What a pane shows."""

    TOTALS = "estimate"
    GROUPS = "groups"
    NEXT = "next"
    ROOFLINE = "roofline"


TURNED = (ResultsPane.GROUPS, ResultsPane.NEXT, ResultsPane.ROOFLINE)
"""What `t` shows in turn."""


@dataclass(frozen=True)
class ResultsState:
    """What is known of a simulator's results."""

    #: The options of the command that says the same.
    options: EstimateOptions
    estimate: PlanEstimate
    #: The plan with what to run next; None without a target, where it is met, or before it is drawn.
    larger: ToppedUp | None = None
    why_no_larger: str = ""
    #: What is still being computed, in words.
    doing: str = ""

    @property
    def is_biased(self) -> bool:
        """Whether launches began otherwise than in the whole run, which more of them do not mend."""
        return not (self.estimate.caches.is_of_whole_run or self.options.accept_cold)

    def cancelled(self) -> ResultsState:
        """Return the same where nothing more is computed."""
        return replace(self, doing="", why_no_larger="cancelled") if self.doing else self

    @cached_property
    def groups(self) -> Listing:
        """The kernel groups, simulated against profiled."""
        return group_listing(self.estimate)

    @cached_property
    def bounds(self) -> Bounds:
        """What bounds the run, which every redrawing says."""
        return summarise_bounds(self.estimate)

    @cached_property
    def roofline(self) -> RooflineSummary | str:
        """The whole run below its roof; why there is none where the results do not tell."""
        if self.options.metrics:
            return "A roofline takes all counters, and --metric leaves some out: o, and no --metric."
        try:
            return summarise_roofline(self.estimate, None, RooflineOptions().kernels)
        except AnalysisError as error:
            return f"No roofline: {failure_words(error)}."

    def roofline_blocks(self, canvas: Canvas, width: int, height: int) -> Iterable[Block]:
        """Return what `roofline` prints, its chart so large; or why there is nothing."""
        if isinstance(self.roofline, str):
            return (self.roofline,)
        return roofline_blocks(self.roofline, counter_notes(self.estimate), canvas, width, height)

    @cached_property
    def next(self) -> Listing | None:
        """The launches to simulate next; None where there is no larger plan."""
        return None if self.larger is None else next_listing(self.larger, self.estimate.plan)


def read_results(
    details: PlanDetails, options: EstimateOptions, progress: Progress
) -> Iterator[ResultsState | Path]:
    """Save the plan if there is no file of it, estimate, then find what is missing to the target.

    Yields the plan file that was written, and what is known so far; SamplingError or OSError where the plan
    or the results cannot be used.
    """
    path = Path(options.plan)
    if not path.exists():
        progress(0, 0, "saving the plan")
        save_plan(details, path, progress)
        yield path
    progress(0, 0, "reading results")
    estimate = estimated(options, progress)
    known_results = ResultsState(options, estimate)
    # Tables are made here, so that no screen waits for them.
    _ = known_results.groups.widths, known_results.roofline
    if (
        options.target is not None
        and not known_results.is_biased
        and not estimate.main.is_within(options.target)
    ):
        yield replace(known_results, doing="drawing what to run next")
        try:
            known_results = replace(known_results, larger=missing_to_target(estimate, options, progress))
        except (SamplingError, OSError) as error:
            known_results = replace(known_results, why_no_larger=failure_words(error))
        _ = known_results.groups.widths, known_results.next and known_results.next.widths
        _ = known_results.roofline
    yield known_results


def results_table(pane: ResultsPane, known: ResultsState | None) -> tuple[Listing | None, str]:
    """Return the table of a pane, or the words in its place."""
    if known is None:
        return None, ""
    if pane is ResultsPane.GROUPS:
        return (known.groups, "") if len(known.groups) else (None, NO_GROUPS)
    if known.is_biased:
        return None, "these launches again, with filled caches: e exports the plan, with its traces"
    if known.next is not None:
        return known.next, ""
    if known.options.target is None:
        return None, "no target is asked for: o, and a fraction such as 0.05"
    met = f"nothing: the total is within {quantities.share(known.options.target)}, as asked for"
    return None, known.why_no_larger or known.doing or met


_TITLES = {
    ResultsPane.GROUPS: "[t] Kernel groups: shares of time, of results and profiled",
    ResultsPane.ROOFLINE: "[t] Roofline: the whole run (*) and its largest kernels",
}


def pane_title(
    pane: ResultsPane, known: ResultsState | None, doing: str = "", place: str = ""
) -> tuple[str, ...]:
    """Return a pane's name, then what it shows of how much, the longer form first.

    `doing`: what is being read; `place`: which rows of a table are visible, or that there is more to read.
    """
    if pane in _TITLES:
        return _TITLES[pane], place
    if pane is ResultsPane.NEXT:
        has_larger = known is not None and known.larger is not None
        return "[t] To run next", f"S saves the larger plan; {place}" if has_larger else place
    if known is None:
        return "[o] Results", f"{doing}; esc cancels" if doing else place
    name, target = f"[o] Results of {known.options.plan}", known.options.target
    if busy := doing or known.doing:
        return name, f"{busy}; esc cancels"
    if target is None:
        return name, place
    # Whether the total is as narrow as asked for may stand below what fits the pane.
    verdict = f"within the {quantities.share(target)} asked for"
    if not known.estimate.main.is_within(target):
        verdict = f"not {verdict}" + (", t what is next" if known.larger is not None else "")
    elif not known.estimate.is_within(target, accept_cold=known.options.accept_cold):
        verdict += f", but {'a lower bound' if known.estimate.caches.kind == 'own' else 'cold'}"
    return name, f"{verdict}; {place}" if place else verdict, place


def pane_text(pane: ResultsPane, known: ResultsState | None, canvas: Canvas) -> str:
    """Return what the pane's command prints; nothing before results are read."""
    if known is None:
        return ""
    options = replace(known.options, groups=pane is ResultsPane.GROUPS)
    blocks = estimate_blocks(known.estimate, known.larger, options, "", known.bounds)
    return canvas_text(blocks, canvas) + "\n"


def pane_command(pane: ResultsPane, known: ResultsState) -> str:
    """Return the command line that prints what `pane_text` gives; the larger plan goes to a new file."""
    top_up = None if known.larger is None else free_name(LARGER_NAME)
    options = replace(known.options, groups=pane is ResultsPane.GROUPS, top_up=top_up)
    return command_line("estimate", options)


class ResultsScreen(ViewScreen):
    """Totals with their intervals, over the kernel groups or what to run next; or the roofline."""

    NAME = "Results"
    TAB = "Plan"
    SUMMARY = "the workload's total from a simulator's results of the plan"
    SCOPES = (APP, LIST, RESULTS, VIEW)
    BINDINGS = bindings(APP, RESULTS, VIEW)
    AUTO_FOCUS = "ListingTable"
    ABOUT: ClassVar[str] = (
        "Totals are of the whole workload, estimated from the launches that were simulated. simulated and "
        "profiled are a kernel group's share of all cycles and of all profiled time; cycles/ns or against "
        "GPU sets the one against the other; within is how far its interval reaches to either side, missing "
        "how many of its drawn launches have no result. seen are spreads in the results, beside the noise "
        "that the plan declared. Where the total is not within the target, the launches to simulate next are "
        "drawn; the larger plan contains what was simulated. Counters have a roofline too: * is the whole "
        "run, numbers its largest kernels, bars their intervals. It takes operations, bytes and time, which "
        "`export --set roofline` measures; no simulator prints them all."
    )

    def __init__(self, details: PlanDetails, before: ResultsScreen | None, saved: Path | None) -> None:
        """Open what was open `before`; of a plan file, read the results named with it.

        `saved`: the file that the plan was written to since, of which results to come are.
        """
        super().__init__()
        opened = details.session.plan
        self._details = details
        #: As given last.
        self.answers: Answers = dict.fromkeys((field.name for field in ResultsForm.FIELDS), "") | {
            "plan": PLAN_NAME,
            "target": f"{details.session.request.epsilon:g}",
        }
        #: What is known of the results; None until they are read.
        self.known: ResultsState | None = None
        if before is not None:
            # It is no longer under way if the user had left.
            self.answers, self.known = dict(before.answers), before.known and before.known.cancelled()
        elif opened is not None:
            self.answers |= {"plan": opened.path, "results": shlex.join(opened.results)}
        if saved is not None:
            self.answers["plan"] = str(saved)
        self._is_read_now = before is None and opened is not None and bool(opened.results)
        self._page, self._rows, self._form = Page(self._totals), ListingTable(), ResultsForm()
        self._roofline = ChartPage()
        self._prompt = PlanPrompt(self._write, self._note_written)
        #: What the lower pane shows.
        self._table = ResultsPane.GROUPS
        self._doing = ""
        self._reading: Worker[None] | None = None
        self._saved: Path | None = None

    def compose_panes(self) -> ComposeResult:
        panes = titled("totals", self._page), titled("results-table", self._rows)
        yield Container(*panes, titled("roofline", self._roofline), id="results-panes")
        yield self._form
        yield self._prompt

    def on_mount(self) -> None:
        for page, name in product((self._page, self._roofline), ("scroll_y", "virtual_size")):
            self.watch(page, name, self._show_titles_soon, init=False)
        self._show()
        if self._is_read_now:
            self.call_later(self._read_answers, self.answers)
        elif self.known is None:
            self.call_later(self.action_ask)

    def follow(self, previous: Session | None, session: Session) -> None:
        """Do nothing: results are of a plan file, which stays as it is."""

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
        text = pane_text(ResultsPane.TOTALS, self.known, Canvas(width, color=False))
        if self.known is not None and self.known.why_no_larger:
            text += f"nothing to run next: {self.known.why_no_larger}"
        return Text(printable_lines(text.removesuffix("\n")))

    def _show(self) -> None:
        self._page.write_anew()
        self.set_class(self._table is ResultsPane.ROOFLINE, "-roofline")
        if self._table is not ResultsPane.ROOFLINE:
            self._rows.show_listing(*results_table(self._table, self.known))
        elif self.known is not None:
            self._roofline.show(self.known.roofline_blocks)
        self._show_titles_soon()

    @on(Rows.Moved)
    @on(Rows.Resized)
    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        hint = "tab j more" if self._page.scroll_y < self._page.max_scroll_y else ""
        self.entitle("totals", *pane_title(ResultsPane.TOTALS, self.known, self._doing, hint))
        name, place = "results-table", self._rows.place
        if self._table is ResultsPane.ROOFLINE:
            name, place = "roofline", "j more" * (self._roofline.scroll_y < self._roofline.max_scroll_y)
        self.entitle(name, *pane_title(self._table, self.known, self._doing, place))

    # What is asked for.

    def action_ask(self, problem: str = "") -> None:
        """Ask for results, their plan and a target; say why those of before cannot be used."""
        self._prompt.close()
        self._form.ask(self.answers, problem)

    @on(Input.Submitted, "ResultsForm PromptInput")
    def _take_answers(self, event: Input.Submitted) -> None:
        event.stop()
        self._read_answers(self._form.answers)

    def _read_answers(self, answers: Answers) -> None:
        self.answers = answers
        try:
            options = options_asked(answers, self.session)
            if any(map(is_configuration, options.results)):
                self._compare(SpeedupOptions(plan=options.plan, results=options.results))
                return
        except OptionError as error:
            self._form.refuse(str(error))
            return
        self._form.close()
        self._stop()
        self._say_doing("reading results")
        task = partial(read_results, self._details, options)
        say = in_words(self._say_doing)
        self._reading = start(self, task, self._take, say, self._fail, group="results")

    def _compare(self, options: SpeedupOptions) -> None:
        """Show results of several configurations in view 8; OptionError where they cannot be compared."""
        parse_configurations(options.results)
        if not is_there(Path(options.plan)):
            raise OptionError(f"{options.plan} is not there", remedy="esc, then S saves the plan as shown")
        self.app.change(speedups=options)
        self.call_later(self.run_action, "app.view('Speedups')")

    @on(Prompt.Left)
    def _leave_form(self) -> None:
        """Go back to the plan where no results are open."""
        if self.known is None:
            self.action_back()

    def _say_doing(self, words: str) -> None:
        self._doing = words
        self._show_titles()

    def _take(self, report: ResultsState | Path) -> None:
        if isinstance(report, Path):
            self.app.say(f"plan written to {report}")
        else:
            self.known, self._doing, self._saved = report, "", None
            self._show()

    def _fail(self, error: SamplingError | OSError) -> None:
        """Say why results cannot be used, and ask again."""
        self._stop()
        self.action_ask(failure_words(error))

    # What is done with them.

    def action_turn(self) -> None:
        self._table = TURNED[(TURNED.index(self._table) + 1) % len(TURNED)]
        self._show()
        (self._roofline if self._table is ResultsPane.ROOFLINE else self._rows).focus()

    def action_back(self) -> None:
        """Stop reading; where nothing is read, go back to the plan."""
        if self.is_working:
            self._stop()
            self.app.say("cancelled; what is there stays")
        else:
            self.dismiss()

    def _stop(self) -> None:
        """Read no further."""
        if self._reading is not None:
            self._reading.cancel()
        self._doing = ""
        self.known = self.known and self.known.cancelled()
        self._show()

    def action_save(self) -> None:
        if self.known is None or self.known.larger is None:
            _, reason = results_table(ResultsPane.NEXT, self.known)
            self.app.say(f"no larger plan: {reason or 'no results are open'}")
        else:
            self._prompt.ask_for(None)

    def action_export(self) -> None:
        """Ask where the larger plan goes; the plan itself, where its launches are to be simulated again."""
        is_biased = self.known is not None and self.known.is_biased
        if not is_biased and (self.known is None or self.known.larger is None):
            self.action_save()
        elif not is_biased and self._saved is None:
            self.app.say("S saves the larger plan first: the results of its export are of that file")
        else:
            self._prompt.ask_for(usual_target(is_amd=self._details.draft.profile.is_amd))

    def _write(self, path: Path, target: str | None, traces: str, progress: Progress) -> str:
        """Write the larger plan, or what an exporter makes of it or of the plan itself."""
        if target is not None and self.known is not None:
            plan = Path(self.known.options.plan) if self._saved is None else self._saved
            return export_file(plan, target, path, traces, progress)
        if self.known is not None and self.known.larger is not None:
            check_new(path)
            write_text(self.known.larger.text, path)
        return f"plan written to {path}; e exports what is new in it, o reads its results"

    def _note_written(self, path: Path, target: str | None) -> None:
        if target is None:
            # The next results are of this plan.
            self._saved, self.answers["plan"] = path, str(path)

    # What is copied.

    def own_text(self) -> PaneText:
        """What `estimate` prints, with the groups where they are looked at; or what `roofline` does."""
        width, pane = self.app.size.width, self.focused_pane
        if pane is ResultsPane.ROOFLINE and self.known is not None:
            return PaneText("kernelpoint-roofline", self._roofline.printed(width))
        return PaneText("kernelpoint-estimate", pane_text(pane, self.known, Canvas(width, color=False)))

    def command(self) -> str:
        """`estimate` of the plan file and the results, or `roofline`."""
        if self.known is None:
            return ""
        if self.focused_pane is not ResultsPane.ROOFLINE:
            return pane_command(self.focused_pane, self.known)
        width, height = self._roofline.chart_size
        of_chart = options_of(RooflineOptions, self.known.options, width=width, height=height)
        return command_line("roofline", of_chart)

    def action_copy_command(self) -> None:
        if self.known is None:
            self.app.say("no results are open")
        else:
            super().action_copy_command()
