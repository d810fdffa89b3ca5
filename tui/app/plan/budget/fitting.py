"""The epsilon that a time of simulation allows: what is asked for, what it gives, in words; no widget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from textual.message import Message

from sampling.errors import OptionError, SamplingError
from sampling.plan.budget import SimulationHours, check_slowdown
from sampling.plan.study import Study
from tui.app.planning import CancelledError, throttled
from tui.charts import quantities
from tui.engine.budgets import budget_of, study_that_fits
from tui.options.commands import SampleOptions
from tui.options.flags import with_flags

_NEARLY_WHOLE = 1.05
"""A speedup below which the budget has room for nearly all launches."""


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


@dataclass
class BudgetProgress(Message):
    """Which epsilon is tried."""

    words: str

    def can_replace(self, message: Message) -> bool:
        """Whether this report replaces the other."""
        return isinstance(message, BudgetProgress)


@dataclass
class BudgetFound(Message):
    """A plan fits."""

    fitted: Fitted


@dataclass
class BudgetRefused(Message):
    """No plan fits, or the answers mean nothing; in words."""

    words: str


def options_asked(answers: BudgetAnswers, options: SampleOptions) -> SampleOptions:
    """Return the options with the budget and the slowdown; with the slowdown alone, no budget.

    Raises
    ------
    OptionError : one of them means nothing, the slowdown is missing, or both are as they were.
    """
    slowdown = _slowdown(answers.slowdown.strip())
    if answers.budget.strip() and slowdown is None:
        raise OptionError(
            "how slow the simulation is is not known",
            remedy="give the seconds of it for a second on the GPU, such as 1e6",
        )
    asked = replace(options, slowdown=slowdown, budget=answers.budget.strip() or None)
    try:
        budget_of(asked)
    except OptionError as error:
        raise _without_dashes(error) from error
    if asked == options:
        raise OptionError("a time of simulation is missing", remedy="give one, such as 90m, 24h or 3d")
    return asked


def _slowdown(text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise OptionError(
            f"slowdown {text!r} is no number",
            remedy="give the seconds of simulation for a second on the GPU, such as 1e6",
        ) from error
    try:
        return check_slowdown(value)
    except OptionError as error:
        raise _without_dashes(error) from error


def _without_dashes(error: SamplingError) -> OptionError:
    """Return an error with its option named as the field is."""
    return OptionError(with_flags(error.text).removeprefix("--"))


def tell_fitting(
    answers: BudgetAnswers,
    asked: SampleOptions,
    study: Study,
    tell: Callable[[Message], object],
    is_cancelled: Callable[[], bool],
) -> None:
    """Find the smallest epsilon that fits, and tell what its plan costs, or why none fits.

    Parameters
    ----------
    study : of the plan shown, whose launches are planned anew.
    """

    def report(done: int, total: int, what: str) -> None:
        tell(BudgetProgress(f"{what}, {done} of at most {total} tried"))

    progress = throttled(report, is_cancelled)
    try:
        found, hours = study_that_fits(asked, study, progress)
    except CancelledError:
        return
    except SamplingError as error:
        tell(BudgetRefused(_without_dashes(error).text))
        return
    design = found.design
    options = replace(asked, epsilon=design.target.epsilon, budget=None)
    bound = design.bound if design.bound_with_noise is None else design.bound_with_noise
    tell(BudgetFound(Fitted(study, answers, options, found.speedup, hours, bound)))


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
        return (
            f"epsilon is {after.epsilon:g} now, not {before.epsilon:g}; u takes it back",
            f"epsilon is {before.epsilon:g} again",
        )
    if after.slowdown is None:
        return "hours are not shown now; u takes it back", "hours are shown again"
    was = "no slowdown is assumed again" if before.slowdown is None else f"slowdown {before.slowdown:g} again"
    return f"simulated {after.slowdown:g} times slower: hours beside the speedup; u takes it back", was
