"""The widgets of view 3: figures, what binds; where the plan goes, and its budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.segment import Segment
from textual import on
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker

from sampling.errors import OptionError, SamplingError
from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.plan.request import NONE
from sampling.plan.sensitivity import Relaxation, Value, check_slowdown
from sampling.simulators.registry import exporter_names, find_exporter
from tui.app.actions import BINDS, bindings
from tui.app.plan_details import Figure
from tui.app.planning import failure_words
from tui.app.prompt import Prompt, PromptField, PromptInput
from tui.app.session_app import SessionApp, in_words, start
from tui.app.state import Session
from tui.app.widgets import Line, ListingTable, Runs, Written, fitting, toned_segments
from tui.charts import quantities
from tui.charts.grid import PLAIN, fitted
from tui.engine.planning import draft_that_fits, parse_budget
from tui.options.command_line import typed_value, with_flags
from tui.options.files import PLAN_NAME, free_name, home_expanded
from tui.options.plan import SampleOptions
from tui.output.blocks import shortened_to, without_tones, words
from tui.terminal.printable import table
from tui.text.plan import binding_columns, why_none

_LABEL = 10
_NEXT_CLAUSE = re.compile(r", | \(|: | of the | groups")

Take = Callable[[SampleOptions], object]
"""Plans by other options, until that is taken back."""


class PlanFigures(Widget, can_focus=True):
    """Names and values; of each the longest wording that has room, else the first clause of the last."""

    COMPONENT_CLASSES = {"plan-figures--value", *Line.COMPONENT_CLASSES}  # noqa: RUF012
    figures: reactive[list[Figure]] = reactive(list)

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.rich_style
        if y >= len(self.figures):
            return Strip.blank(width, style)
        name, forms = self.figures[y]
        *longer, last = map(words, forms)
        clause = _NEXT_CLAUSE.split(without_tones(last))[0]
        value = fitting((*longer, last, shortened_to(last, clause)), max(width - _LABEL - 1, 0))
        bold = self.get_component_rich_style("plan-figures--value", partial=True)
        segments = [Segment(f" {name}".ljust(_LABEL + 1)[:width], style)]
        segments += toned_segments(self, value, style + bold)
        return Strip(segments).adjust_cell_length(width, style)


# What binds: an option a step on.


def with_value(options: SampleOptions, name: str, value: Value) -> SampleOptions:
    """Return the options with this one."""
    return options.with_request(**{name: None if value == NONE else value})


class BindingList(ListingTable):
    """Options that bind, a row each, with a cursor; a text in their place while there are none."""

    app: SessionApp
    BINDINGS = bindings(BINDS)

    def __init__(self, take: Take) -> None:
        super().__init__()
        self._take = take
        self._steps: tuple[Relaxation, ...] = ()

    def follow(self, session: Session) -> None:
        """Show the steps that raise the speedup; without any, why there are none."""
        draft, binding = session.draft, session.binding
        words = "plans with each option a step on are being made"
        lines, self._steps = [""], binding or ()
        if draft is not None and binding:
            columns = binding_columns(binding, draft.counts.total_duration_ns, session.options.slowdown)
            lines = table(columns).split("\n")
        elif draft is not None and binding is not None:
            words = why_none(draft.design)

        def write(width: int) -> Written:
            def row(row: int) -> Runs:
                # Marked where the cursor is.
                return [(fitted(f"{'>' if row == self.cursor else ' '} {lines[row + 1]}", width), PLAIN)]

            return fitted(f"  {lines[0]}", width), row

        self.show(range(len(self._steps)), write, self.cursor, words)

    def action_take(self) -> None:
        if self._steps:
            step = self._steps[self.cursor]
            self._take(with_value(self.app.session.options, step.option, step.after))


# Where the plan goes.


class PlanPrompt(Prompt):
    """Asks where a plan goes, a file, or a folder for what an exporter makes of it, and writes it there.

    Of an exporter that takes traces it asks for these too: with them launches are checked, and caches filled.

    `write`: writes to a place, for an exporter or None, with these traces or "", in a worker, and returns
    what to say.
    `writer`: is told of the place and the exporter then.
    """

    FIELDS = (PromptField("place", ""), PromptField("traces", "Traces: "))

    def __init__(
        self,
        write: Callable[[Path, str | None, str, Progress], str],
        writer: Callable[[Path, str | None], object],
    ) -> None:
        super().__init__()
        self._write, self._written = write, writer
        self._target: str | None = None
        self._proposed = ""

    @property
    def _takes_traces(self) -> bool:
        return self._target is not None and "traces" in find_exporter(self._target).takes

    def ask_for(self, target: str | None, typed: str = "", problem: str = "") -> None:
        """Ask for a file for the plan, or for a folder for an exporter, beginning with what was typed."""
        self._target = target
        self._proposed = free_name(PLAN_NAME if target is None else f"{target}-export")
        self.query_one("Horizontal Static", Static).update("File: " if target is None else "Folder: ")
        self.query(Horizontal).last().display = self._takes_traces
        self.ask({"place": typed or self._proposed}, problem)

    def hint(self, name: str) -> Sequence[str]:
        if name == "traces":
            fills = self._target is not None and find_exporter(self._target).fills
            lacking = "empty: what records them" if fills else "may be empty"
            meaning = (
                "The folder of the traces, whose launches fill L2" if fills else "The folder of the traces"
            )
            return [f"{form}; {lacking}; enter writes" for form in (meaning, "Its traces")]
        meaning = "Save the plan to a new file; enter saves"
        if self._target is not None:
            consequence = "goes on to the traces" if self._takes_traces else "writes"
            meaning = f"Export for {self._target}, up and down change it; enter {consequence}"
        return [f"{meaning}, esc leaves", meaning]

    def turn(self, field: PromptInput, by: int) -> None:
        """Choose another target; a name that was not edited goes with it. From the traces go back."""
        if field.id == "traces":
            super().turn(field, -1)
        elif self._target is not None:
            names, typed = exporter_names(), field.value
            following = names[(names.index(self._target) + by) % len(names)]
            self.ask_for(following, "" if typed == self._proposed else typed)

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        """Go on to the traces, or write to the place; where that fails, ask again."""
        event.stop()
        name, traces = (self.answers[field].strip() for field in ("place", "traces"))
        target, path = self._target, home_expanded(name)
        traces = str(home_expanded(traces)) if traces and self._takes_traces else ""

        def write(progress: Progress) -> Iterator[str]:
            yield self._write(path, target, traces, progress)

        def told(message: str) -> None:
            self._written(path, target)
            self.app.say(message)

        def failed(error: SamplingError | OSError) -> None:
            self.ask_for(target, name, f"not written: {failure_words(error)}")

        if not name:
            self.refuse("a name is missing")
        elif event.input.id == "place" and self._takes_traces:
            self.query(PromptInput).last().focus()
        else:
            self.close()
            start(self, write, told, failed=failed, group="files", is_exclusive=False)


# The epsilon that fits a budget.

Fitted = tuple[dict[str, str], Draft, SampleOptions, str]
"""What was typed, from which draft the epsilon was found, the options with it, and what its plan gives."""


def options_asked(answers: dict[str, str], options: SampleOptions) -> SampleOptions:
    """Return the options with the budget and the slowdown; with the slowdown alone, no budget.

    Raises OptionError where one of them means nothing, the slowdown is missing, or both are as they were.
    """
    budget, typed = answers["budget"].strip(), answers["slowdown"].strip()
    remedy = "give the seconds of simulation for a second on the GPU, such as 1e6"
    if budget and not typed:
        raise OptionError("how slow the simulation is is not known", remedy=remedy)
    try:
        slowdown = check_slowdown(float(typed)) if typed else None
        requested = replace(options, slowdown=slowdown, budget=budget or None)
        parse_budget(requested)
    except OptionError as error:
        raise OptionError(_without_dashes(error)) from error
    except ValueError as error:
        raise OptionError(f"slowdown {typed!r} is no number", remedy=remedy) from error
    if requested == options:
        raise OptionError("a time of simulation is missing", remedy="give one, such as 90m, 24h or 3d")
    return requested


def _without_dashes(error: SamplingError) -> str:
    return with_flags(error.text).removeprefix("--")


def fit(
    answers: dict[str, str], options: SampleOptions, draft: Draft, progress: Progress
) -> Iterator[Fitted | str]:
    """Yield the smallest epsilon that fits and what its plan costs, or why none fits; from the plan shown."""

    def report(count: int, total: int, activity: str) -> None:
        progress(0, 0, f"finding the epsilon: {activity}, {count} of at most {total} tried; esc cancels")

    try:
        fitted, hours = draft_that_fits(options, draft, report)
    except SamplingError as error:
        yield _without_dashes(error)
        return
    design = fitted.design
    promise = "" if design.promise is None else f", the total within {quantities.share(design.promise.error)}"
    expected, sampled, longest = map(quantities.hours, (hours.expected, hours.drawn, hours.longest_launch))
    gives = (
        f"epsilon {design.target.epsilon:g} fits {answers['budget'].strip()}: "
        f"{quantities.ratio(fitted.speedup)}{promise}; {expected} of one machine expected, {sampled} for "
        "this "
        f"draw, {longest} for the longest launch"
    )
    # The budget is not among the options, for epsilon and slowdown make the same plan.
    yield answers, draft, replace(options, budget=None).with_request(epsilon=design.target.epsilon), gives


class BudgetPrompt(Prompt):
    """Asks for a budget, and says what the plan that was found for it gives.

    `turned`: is called when an epsilon is looked for, and when no longer; `take`: with the options taken.
    """

    FIELDS = (
        PromptField("budget", "Budget:   ", is_path=False),
        PromptField("slowdown", "Slowdown: ", is_path=False),
    )

    def __init__(self, turned: Callable[[], None], take: Take) -> None:
        super().__init__()
        self._turned, self._take_options = turned, take
        self._fitted: Fitted | None = None
        self._worker: Worker[None] | None = None

    @property
    def is_fitting(self) -> bool:
        """Whether the epsilon is looked for; nothing else is to be computed meanwhile."""
        return self._worker is not None

    def begin(self) -> None:
        """Ask, beginning with the budget of before and the slowdown in force."""
        slowdown = self.app.session.options.slowdown
        self._fitted = None
        self.ask({"slowdown": "" if slowdown is None else typed_value(slowdown)})

    def hint(self, name: str) -> Sequence[str]:
        """What was found for these answers, else what the field is."""
        if self._fitted is not None and self._fitted[0] == self.answers:
            return [f"{self._fitted[3]}. enter takes it, esc leaves the plan as it is"]
        if self.is_fitting:
            return ["finding the epsilon; esc cancels"]
        if name == "budget":
            return ["Hours of one machine to simulate, as 20m, 8h or 3d; enter finds the epsilon"]
        return ["Seconds of simulation for a second on the GPU, as 1e6; alone it shows hours"]

    @on(Input.Submitted)
    def _find_or_take(self, event: Input.Submitted) -> None:
        """Look for the epsilon of these answers, or take the one that was found for them."""
        event.stop()
        session, answers = self.app.session, self.answers
        if session.doing is not None or session.draft is None or self.is_fitting:
            return
        if self._fitted is not None and self._fitted[:2] == (answers, session.draft):
            self._take(self._fitted[2])
            return
        if event.input.id == "budget" and answers["budget"].strip() and not answers["slowdown"].strip():
            self.turn(self.query(PromptInput).first(), 1)
            return
        try:
            options = options_asked(answers, session.options)
        except OptionError as error:
            self.refuse(error.text)
            return
        if options.budget is None:
            self._take(options)
            return
        say = in_words(lambda doing: self.say([doing]))
        task = partial(fit, answers, options, session.draft)
        self._turn(start(self, task, self._show, say, group="budget"))

    def _show(self, fitted: Fitted | str) -> None:
        self._fitted = None if isinstance(fitted, str) else fitted
        self._turn(None)
        if isinstance(fitted, str):
            self.refuse(fitted)

    def _turn(self, worker: Worker[None] | None) -> None:
        self._worker = worker
        self.explain()
        self._turned()

    def _take(self, options: SampleOptions) -> None:
        before = self.app.session.options
        self.leave()
        if options == before:
            self.app.say(f"epsilon {before.request.epsilon:g} stays: it is the one that fits")
        else:
            self._take_options(options)

    def leave(self) -> None:
        """Cancel what is looked for; else ask no more."""
        if self._worker is None:
            self._fitted = None
            self.close()
        else:
            self._worker.cancel()
            self._turn(None)
            self.say(["cancelled; enter finds it anew, esc leaves"])
