"""What makes the plan of view 3 cheaper: an option a step looser, or the epsilon that fits a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker

from sampling.errors import OptionError, SamplingError
from sampling.plan.nearby import Relaxation, SimulationHours, Value, check_slowdown
from sampling.plan.study import Study
from sampling.progress import Progress
from tui.app.actions import BINDS, bindings
from tui.app.frame.field import FieldInput, FieldWords
from tui.app.frame.rows import Rows, Runs
from tui.app.plan.options import OPTION_FIELDS, changed
from tui.app.planning import in_words, tell
from tui.app.session_app import SessionApp
from tui.charts import quantities
from tui.charts.grid import PLAIN
from tui.charts.grid import fitted as fitted_cells
from tui.engine.planning import budget_of, study_that_fits
from tui.options.command_line import typed_value, with_flags
from tui.options.plan import SampleOptions

_NEARLY_WHOLE = 1.05
"""A speedup below which the budget has room for nearly all launches."""


@dataclass
class OptionsTaken(Message):
    """The user wants these options; what to say of it, and once they are taken back."""

    options: SampleOptions
    words: str
    undone: str


# An option a step looser.


@dataclass
class StepTaken(Message):
    """The user wants an option a step looser."""

    step: Relaxation


def with_value(options: SampleOptions, name: str, value: Value) -> SampleOptions:
    """Return the options with this one; a default is not given, as in the form."""
    field = next((field for field in OPTION_FIELDS if field.name == name), None)
    if field is None:
        return changed(options, name, value)
    return field.taken(options, value if isinstance(value, str) else repr(value))


class BindingList(Rows):
    """Options that bind, a row each, with a cursor; a text in their place while there are none."""

    BINDINGS = bindings(BINDS)
    DEFAULT_CSS = """
    BindingList > .rows--cursor { text-style: none; }
    BindingList:focus > .rows--cursor { text-style: reverse; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps: tuple[Relaxation, ...] = ()
        self._heading, self._lines = "", [""]

    def show(self, steps: tuple[Relaxation, ...], heading: str, lines: list[str]) -> None:
        """Show these steps, a line each; without any, the lines are what is said in their place."""
        self._steps, self._heading, self._lines = steps, heading, lines
        self.fill(len(steps), self.cursor, " ".join(lines))

    def heading(self, width: int) -> str:
        """What stands over the figures."""
        return fitted_cells(f"  {self._heading}", width)

    def runs(self, row: int, width: int) -> Runs:
        """One option, marked where the cursor is."""
        text = f"{'>' if row == self.cursor else ' '} {self._lines[row]}"
        return [(fitted_cells(text, width), PLAIN)]

    def action_take(self) -> None:
        """Take the step under the cursor."""
        if self._steps:
            self.post_message(StepTaken(self._steps[self.cursor]))


# The epsilon that fits a budget.


@dataclass(frozen=True, slots=True)
class BudgetAnswers:
    """The fields as they are typed: a time of simulation, and seconds of it for a second on the GPU."""

    budget: str = ""
    slowdown: str = ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The plan with the smallest epsilon that fits.

    Attributes
    ----------
    study : from which it was found.
    answers : what it fits.
    options : with its epsilon and the slowdown; the budget is not among them, for these make the same plan.
    speedup : that is expected.
    bound : of the simulated total, else of the profile's; None where none is promised.
    """

    study: Study
    answers: BudgetAnswers
    options: SampleOptions
    speedup: float | None
    hours: SimulationHours
    bound: float | None


def options_asked(answers: BudgetAnswers, options: SampleOptions) -> SampleOptions:
    """Return the options with the budget and the slowdown; with the slowdown alone, no budget.

    Raises OptionError where one of them means nothing, the slowdown is missing, or both are as they were.
    """
    budget, typed = answers.budget.strip(), answers.slowdown.strip()
    if budget and not typed:
        raise OptionError(
            "how slow the simulation is is not known",
            remedy="give the seconds of it for a second on the GPU, such as 1e6",
        )
    try:
        slowdown = check_slowdown(float(typed)) if typed else None
        asked = replace(options, slowdown=slowdown, budget=budget or None)
        budget_of(asked)
    except OptionError as error:
        raise _without_dashes(error) from error
    except ValueError as error:
        remedy = "give the seconds of simulation for a second on the GPU, such as 1e6"
        raise OptionError(f"slowdown {typed!r} is no number", remedy=remedy) from error
    if asked == options:
        raise OptionError("a time of simulation is missing", remedy="give one, such as 90m, 24h or 3d")
    return asked


def _without_dashes(error: SamplingError) -> OptionError:
    """Return an error with its option named as the field is."""
    return OptionError(with_flags(error.text).removeprefix("--"))


def fit(
    answers: BudgetAnswers, asked: SampleOptions, study: Study, progress: Progress
) -> Iterator[Fitted | str]:
    """Yield the smallest epsilon that fits and what its plan costs, or why none fits; from the plan shown."""

    def report(done: int, total: int, what: str) -> None:
        progress(0, 0, f"finding the epsilon: {what}, {done} of at most {total} tried; esc cancels")

    try:
        found, hours = study_that_fits(asked, study, report)
    except SamplingError as error:
        yield _without_dashes(error).text
        return
    design = found.design
    options = replace(asked, epsilon=design.target.epsilon, budget=None)
    bound = design.bound if design.bound_with_noise is None else design.bound_with_noise
    yield Fitted(study, answers, options, found.speedup, hours, bound)


def fitted_words(fitted: Fitted) -> str:
    """Return what the plan gives and what its launches take."""
    hours = fitted.hours
    expected, drawn, longest = map(quantities.hours, (hours.expected, hours.drawn, hours.longest_launch))
    promise = "" if fitted.bound is None else f", the total within {quantities.share(fitted.bound)}"
    if fitted.speedup is not None and fitted.speedup < _NEARLY_WHOLE:
        promise = ", nearly the whole run"
    return (
        f"epsilon {fitted.options.epsilon:g} fits {fitted.answers.budget.strip()}: "
        f"{quantities.ratio(fitted.speedup)}{promise}; {expected} of one machine expected, {drawn} for this "
        f"draw, {longest} for the longest launch"
    )


def taken_words(before: SampleOptions, after: SampleOptions) -> tuple[str, str]:
    """Return what to say of options that were taken, and once they are taken back."""
    if before.epsilon != after.epsilon:
        now = f"epsilon is {after.epsilon:g} now, not {before.epsilon:g}; u takes it back"
        return now, f"epsilon is {before.epsilon:g} again"
    if after.slowdown is None:
        return "hours are not shown now; u takes it back", "hours are shown again"
    was = "no slowdown is assumed again" if before.slowdown is None else f"slowdown {before.slowdown:g} again"
    return f"simulated {after.slowdown:g} times slower: hours beside the speedup; u takes it back", was


class BudgetInput(FieldInput):
    """One field; its id is the name of its answer."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "Leave it", key_display="esc"),
        Binding("up,down,tab,shift+tab", "go", "Field", key_display="tab"),
    ]

    def action_leave(self) -> None:
        """Ask no more, or cancel."""
        self.screen.query_one(BudgetPrompt).leave()

    def action_go(self) -> None:
        """Go to the other field."""
        next(field for field in self.screen.query(BudgetInput) if field is not self).focus()


class BudgetPrompt(Vertical):
    """Two fields; above them what is meant, what is wrong, or the plan that was found.

    Attributes
    ----------
    is_fitting : whether the epsilon is looked for; nothing else is to be computed meanwhile.
    """

    DEFAULT_CSS = """
    BudgetPrompt { height: auto; max-height: 8; }
    BudgetPrompt Horizontal { height: 1; }
    BudgetPrompt Horizontal Static { width: auto; text-style: bold; }
    """
    HINTS = {  # noqa: RUF012
        "budget": "Hours of one machine that may be simulated, such as 20m, 8h or 3d; "
        "enter finds the smallest epsilon that fits, esc leaves",
        "slowdown": "Seconds of simulation for a second on the GPU, such as 1e6; "
        "without a budget it only shows hours beside speedups",
    }

    app: SessionApp

    @dataclass
    class Left(Message):
        """The user leaves it."""

    @dataclass
    class Turned(Message):
        """An epsilon is looked for now, or no longer."""

    def __init__(self) -> None:
        super().__init__()
        self._fitted: Fitted | None = None
        self._problem = ""
        self._worker: Worker[None] | None = None
        self.is_fitting = False
        self.display = False

    def compose(self) -> ComposeResult:
        """The words over the fields."""
        yield FieldWords()
        for name, label in (("budget", "Budget:   "), ("slowdown", "Slowdown: ")):
            with Horizontal():
                yield Static(label)
                yield BudgetInput(id=f"asked-{name}", compact=True, select_on_focus=False)

    def ask(self) -> None:
        """Ask, beginning with the budget of before and the slowdown in force."""
        self._fitted, self._problem, slowdown = None, "", self.app.session.options.slowdown
        fields = self.query(BudgetInput)
        fields[1].value = "" if slowdown is None else typed_value(slowdown)
        for field in fields:
            field.cursor_position = len(field.value)
        self.display = True
        fields[0].focus()
        self._say(self.HINTS["budget"])

    @property
    def answers(self) -> BudgetAnswers:
        """The fields as they are typed."""
        budget, slowdown = (field.value for field in self.query(BudgetInput))
        return BudgetAnswers(budget, slowdown)

    def _say(self, words: str) -> None:
        self.query_one(FieldWords).show([words])

    def _refuse(self, words: str) -> None:
        """Say until the next key what is wrong; where the slowdown is missing, its field has the cursor."""
        answers = self.answers
        if answers.budget.strip() and not answers.slowdown.strip():
            self.query(BudgetInput)[1].focus()
        self._problem = words
        self._explain()
        self.app.until_next_key(self, self._take_as_read)

    def _take_as_read(self) -> None:
        self._problem = ""
        self._explain()

    @on(events.DescendantFocus)
    @on(Input.Changed)
    def _explain(self) -> None:
        """Say what the field is, unless it is answered by what was found."""
        focused = next((field for field in self.query(BudgetInput) if field.has_focus), None)
        if self._problem:
            self.query_one(FieldWords).refuse(self._problem)
        elif self._fitted is None or self._fitted.answers != self.answers:
            self._fitted = None
            if focused is not None:
                self._say(self.HINTS[str(focused.id).removeprefix("asked-")])

    @on(Input.Submitted)
    def _find_or_take(self, event: Input.Submitted) -> None:
        """Look for the epsilon of these answers, or take the one that was found for them."""
        event.stop()
        session, answers, fitted = self.app.session, self.answers, self._fitted
        if fitted is not None and fitted.answers == answers:
            if session.doing is not None or fitted.study is not session.study:
                self._fitted = None
                self._refuse("the plan has changed since; enter finds the epsilon anew")
            else:
                self._take(fitted.options)
        elif session.doing is None and session.study is not None and not self.is_fitting:
            try:
                asked = options_asked(answers, session.options)
            except OptionError as error:
                self._refuse(error.text)
                return
            if asked.budget is None:
                self._take(asked)
            else:
                self._turn(is_fitting=True)
                self._say("finding the epsilon; esc cancels")
                task = partial(fit, answers, asked, session.study)
                # The screen's worker, since it says of its own what failed.
                self._worker = self.screen.run_worker(
                    partial(tell, self, task, in_words(self._say), self._show),
                    thread=True,
                    exit_on_error=False,
                )

    def _show(self, found: Fitted | str) -> None:
        self._turn(is_fitting=False)
        if isinstance(found, str):
            self._refuse(found)
        else:
            self._fitted = found
            self._say(f"{fitted_words(found)}. enter takes it, esc leaves the plan as it is")

    def _turn(self, *, is_fitting: bool) -> None:
        self.is_fitting = is_fitting
        self.post_message(self.Turned())

    def _take(self, options: SampleOptions) -> None:
        before = self.app.session.options
        self.leave()
        if options == before:
            self.app.say(f"epsilon {before.epsilon:g} stays: it is the one that fits")
        else:
            self.post_message(OptionsTaken(options, *taken_words(before, options)))

    def leave(self) -> None:
        """Cancel what is looked for; else ask no more."""
        if self.is_fitting and self._worker is not None:
            self._worker.cancel()
            self._turn(is_fitting=False)
            self._say("cancelled; enter finds it anew, esc leaves")
        else:
            self._fitted = None
            self.display = False
            self.post_message(self.Left())
