"""What makes the plan cheaper in view 3: an option a step looser, or the epsilon that fits a budget."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from sampling.errors import OptionError
from sampling.plan.binding import Value
from sampling.plan.study import Study
from tui.app.plan.binding_list import StepTaken
from tui.app.plan.budget.fitting import (
    BudgetAnswers,
    BudgetFound,
    BudgetProgress,
    BudgetRefused,
    options_asked,
    taken_words,
    tell_fitting,
)
from tui.app.plan.budget.prompt import BudgetGiven, BudgetLeft, BudgetPrompt, BudgetTaken
from tui.app.plan.options import OPTION_FIELDS
from tui.app.plan.writing import WritingScreen
from tui.options.command_line import typed_value
from tui.options.commands import SampleOptions
from tui.text.promise import option_label, value_text

_WORKERS = "budget"


class CheaperScreen(WritingScreen):
    """A view with a `BudgetPrompt` and a list of what binds, whose steps can be taken and taken back.

    Attributes
    ----------
    is_fitting : whether the epsilon of a budget is looked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_fitting = False

    @abstractmethod
    def work_on(self) -> None:
        """Go on with what is computed for the panes; nothing is while an epsilon is looked for."""

    @abstractmethod
    def plan_by(self, options: SampleOptions) -> None:
        """Plan by these options, as if they were edited in the form."""

    @on(StepTaken)
    def _take_step(self, event: StepTaken) -> None:
        event.stop()
        if self.session.doing is None:
            before, step = self.session.options, event.step
            label, was, now = option_label(step), value_text(step.before), value_text(step.after)
            options = with_value(before, step.option, step.after)
            self.app.steps.note(before, options, f"{label} is {was} again")
            self.plan_by(options)
            self.app.say(f"{label} is {now} now, not {was}; u takes it back")

    # The budget.

    def action_budget(self) -> None:
        """Ask for a time of simulation."""
        if not self.has_plan() or self.details is None:
            return
        if self.details.why_no_trade_off:
            self.app.say(self.details.why_no_trade_off)
            return
        prompt, slowdown = self.query_one(BudgetPrompt), self.session.options.slowdown
        prompt.ask(BudgetAnswers(prompt.answers.budget, "" if slowdown is None else typed_value(slowdown)))

    @on(BudgetGiven)
    def _find_epsilon(self, event: BudgetGiven) -> None:
        event.stop()
        prompt, study = self.query_one(BudgetPrompt), self.session.study
        if self.session.doing is not None or study is None or self.is_fitting:
            return
        try:
            asked = options_asked(event.answers, self.session.options)
        except OptionError as error:
            prompt.refuse(error.text)
            return
        if asked.budget is None:
            self._take_options(asked)
            return
        self.is_fitting = True
        self.work_on()
        prompt.say("finding the epsilon; esc cancels")
        self._fit(event.answers, asked, study)

    @work(thread=True, exclusive=True, exit_on_error=False, group=_WORKERS)
    def _fit(self, answers: BudgetAnswers, asked: SampleOptions, study: Study) -> None:
        worker = get_current_worker()

        def tell(message: Message) -> None:
            if not worker.is_cancelled:
                self.post_message(message)

        tell_fitting(answers, asked, study, tell, lambda: worker.is_cancelled)

    @on(BudgetProgress)
    def _show_progress(self, event: BudgetProgress) -> None:
        if self.is_fitting:
            self.query_one(BudgetPrompt).say(f"finding the epsilon: {event.words}; esc cancels")

    @on(BudgetFound)
    def _show_fitted(self, event: BudgetFound) -> None:
        if self.is_fitting:
            self._end_fitting()
            self.query_one(BudgetPrompt).show(event.fitted)

    @on(BudgetRefused)
    def _show_refusal(self, event: BudgetRefused) -> None:
        if self.is_fitting:
            self._end_fitting()
            self.query_one(BudgetPrompt).refuse(event.words)

    @on(BudgetTaken)
    def _take_fitted(self, event: BudgetTaken) -> None:
        event.stop()
        if self.session.doing is not None or event.fitted.study is not self.session.study:
            self.query_one(BudgetPrompt).forget("the plan has changed since; enter finds the epsilon anew")
            return
        self._take_options(event.fitted.options)

    def _take_options(self, options: SampleOptions) -> None:
        before = self.session.options
        self._leave_budget()
        if options == before:
            self.app.say(f"epsilon {before.epsilon:g} stays: it is the one that fits")
            return
        words, undone = taken_words(before, options)
        self.app.steps.note(before, options, undone)
        self.plan_by(options)
        self.app.say(words)

    @on(BudgetLeft)
    def _leave_or_cancel(self, event: BudgetLeft) -> None:
        event.stop()
        if self.is_fitting:
            self._end_fitting()
            self.workers.cancel_group(self, _WORKERS)
            self.query_one(BudgetPrompt).say("cancelled; enter finds it anew, esc leaves")
        else:
            self._leave_budget()

    def _end_fitting(self) -> None:
        self.is_fitting = False
        self.work_on()

    def _leave_budget(self) -> None:
        self.query_one(BudgetPrompt).close()
        self.focus_again()


def with_value(options: SampleOptions, name: str, value: Value) -> SampleOptions:
    """Return the options with this one; a default is not given, as in the form."""
    field = next((field for field in OPTION_FIELDS if field.name == name), None)
    if field is None:
        changes: dict[str, Any] = {name: value}
        return replace(options, **changes)
    return field.taken(options, value if isinstance(value, str) else repr(value))
