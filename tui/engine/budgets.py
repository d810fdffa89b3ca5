"""From the options to a plan within a budget, what the plan takes, and what binds it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sampling.plan.binding import Relaxation, what_binds
from sampling.plan.budget import (
    Budget,
    SimulationHours,
    check_slowdown,
    simulation_hours,
    study_within,
    written_budget,
)
from sampling.plan.plan import Plan, drawn_plan
from sampling.plan.study import Study
from sampling.plan.trade_off import check_has_trade_off
from sampling.progress import Progress
from tui.engine.studies import progress_of, study_as_asked, target_of, with_flags_in_findings
from tui.options.shared import BudgetOptions, MethodOptions, SlowdownOptions


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """What is said of a plan beside its own figures, each None where it was not asked for.

    Attributes
    ----------
    binding : what each option alone would give, the largest speedup first.
    slowdown : seconds of simulation for a second on the GPU; with it ``hours``, what the plan takes.
    budget : what the plan had to fit.
    """

    binding: tuple[Relaxation, ...] | None = None
    slowdown: float | None = None
    hours: SimulationHours | None = None
    budget: Budget | None = None


def budget_of(options: SlowdownOptions) -> Budget | None:
    """Return the budget; None where none is given.

    Raises
    ------
    OptionError : it or the slowdown means nothing, or the method looks at no epsilon that could fit it.
    """
    if options.slowdown is not None:
        check_slowdown(options.slowdown)
    if not isinstance(options, BudgetOptions) or options.budget is None:
        return None
    budget = written_budget(options.budget, options.slowdown)
    check_has_trade_off(options.method)
    return budget


def study_within_budget(profiles: tuple[str, ...], options: SlowdownOptions) -> Study:
    """Read the workload and study it as the options ask, with the smallest epsilon that a budget allows.

    Raises
    ------
    BudgetError : none fits it.
    """
    # What the options mean is wrong or right before anything is read.
    budget = budget_of(options)
    read = study_as_asked(profiles, options)
    if budget is None:
        return read
    with progress_of(options) as progress:
        return with_flags_in_findings(
            study_within(read, target_of(options), options.group_by, budget, progress)
        )


def study_that_fits(options: BudgetOptions, read: Study, progress: Progress) -> tuple[Study, SimulationHours]:
    """Return the study with the smallest epsilon that a budget allows, and what its plan takes.

    Parameters
    ----------
    options : with a budget and a slowdown.
    read : of the same launches by the same method.

    Raises
    ------
    BudgetError : none fits it.
    OptionError : see `budget_of` and `study_within`.
    """
    budget = written_budget(str(options.budget), options.slowdown)
    found = study_within(read, target_of(options), options.group_by, budget, progress)
    return found, simulation_hours(drawn_plan(found.counts, found.design, options.seed), budget.slowdown)


def plan_costs(options: SlowdownOptions, study: Study, plan: Plan, *, binding: bool) -> PlanCosts:
    """Return what the options ask to be said of a plan.

    Parameters
    ----------
    binding : whether what binds is asked for.
    """
    hours = None if options.slowdown is None else simulation_hours(plan, options.slowdown)
    found = None
    if binding:
        with progress_of(options) as progress:
            found = binding_of(options, study, progress)
    return PlanCosts(found, options.slowdown, hours, budget_of(options))


def study_costs(options: SlowdownOptions, study: Study) -> PlanCosts:
    """Return what binds the plan of a study, and what it takes to simulate, for which it is drawn."""
    with progress_of(options) as progress:
        found = binding_of(options, study, progress)
    return PlanCosts(found, options.slowdown, hours_of(options, study), budget_of(options))


def hours_of(options: SlowdownOptions, study: Study) -> SimulationHours | None:
    """Return what the plan of a study takes, drawn as the options say; None where no slowdown is known."""
    if options.slowdown is None:
        return None
    return simulation_hours(drawn_plan(study.counts, study.design, options.seed), options.slowdown)


def binding_of(options: MethodOptions, study: Study, progress: Progress) -> tuple[Relaxation, ...]:
    """Return what each option alone, relaxed one step, would give the plan of a study by these options."""
    # Of a plan within a budget the epsilon is the one that was found.
    target = replace(target_of(options), epsilon=study.design.target.epsilon)
    return what_binds(study, target, options.group_by, progress)
