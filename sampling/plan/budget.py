"""A budget of simulation time: what a plan costs in hours, and the smallest epsilon that fits.

(docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np

from sampling.errors import BudgetError, OptionError
from sampling.parallel import Progress
from sampling.plan.binding import what_binds
from sampling.plan.plan import Plan
from sampling.plan.study import Study, study_again
from sampling.plan.trade_off import check_has_trade_off
from sampling.reduction import GroupBy
from sampling.strata.target import Target
from sampling.text import Wording, joined_texts

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_NS_PER_HOUR = 3.6e12
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd])")

# Epsilons of three digits, 1.00e-4 to 0.999: a finer one would promise more than any use asks for.
_LEAST_EXPONENT, _DECADES = -4, 4
_IN_A_DECADE = 900
# The loosest plan, then a half of the epsilons left at each step.
_MOST_TRIED = 1 + math.ceil(math.log2(_IN_A_DECADE * _DECADES))


@dataclass(frozen=True, slots=True)
class Budget:
    """How long may be simulated on one machine, that takes ``slowdown`` seconds for a second on the GPU."""

    written: str
    hours: float
    slowdown: float


@dataclass(frozen=True, slots=True)
class SimulationHours:
    """Hours of one machine for the drawn launches, for a draw on average, for the longest launch alone."""

    drawn: float
    expected: float
    longest_launch: float


def simulation_hours(plan: Plan, slowdown: float) -> SimulationHours:
    """Return what a plan takes at a slowdown."""
    longest_ns = float(np.max(plan.paid_ns, initial=0))
    return SimulationHours(
        hours(float(plan.paid_ns.sum()), slowdown),
        hours(plan.design.paid_ns, slowdown),
        hours(longest_ns, slowdown),
    )


def hours(duration_ns: float, slowdown: float) -> float:
    """Return the hours of simulation that launches of this duration take."""
    return duration_ns * slowdown / _NS_PER_HOUR


def check_slowdown(slowdown: float) -> float:
    """Return a slowdown; one below 1 or not finite is an OptionError."""
    if not 1 <= slowdown < math.inf:
        raise OptionError(
            Wording(
                "`slowdown` is seconds of simulation for a second on the GPU, at least 1, not {:g}", slowdown
            )
        )
    return slowdown


def written_seconds(text: str, parameter: str) -> float:
    """Return the seconds that a text such as ``90m``, ``24h``, ``3d`` or ``3600s`` means.

    Raises
    ------
    OptionError : it is no duration above 0; the parameter that it was given as is named.
    """
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds < math.inf:
        raise OptionError(
            Wording(f"`{parameter}` is a duration above 0, not {{!r}}", text),
            remedy="give a number and s, m, h or d, such as 24h",
        )
    return seconds


def written_budget(text: str, slowdown: float | None) -> Budget:
    """Return the budget that a text such as ``90m``, ``24h``, ``3d`` or ``3600s`` means.

    Raises
    ------
    OptionError : it is no duration above 0, or no slowdown is known.
    """
    seconds = written_seconds(text, "budget")
    if slowdown is None:
        raise OptionError(
            Wording("`budget` is of simulation, and how slow that is is not known"),
            remedy=Wording("give the seconds it takes for a second on the GPU, such as `slowdown=1e6`"),
        )
    return Budget(text.strip(), seconds / _SECONDS["h"], check_slowdown(slowdown))


def study_within(
    read: Study, target: Target, by: GroupBy, budget: Budget, progress: Progress | None = None
) -> Study:
    """Return the study with the smallest epsilon whose expected sampled time fits the budget.

    Epsilons have three digits, from 0.0001 to 0.999, and are bisected: the plan at the one returned fits, and
    that at the one below it does not.

    Parameters
    ----------
    read : any study of the same launches by the same method; its own epsilon is not looked at.
    target, by : what is asked of the plan beside epsilon, and for its kernel groups.

    Raises
    ------
    BudgetError : even the plan at 0.999 does not fit; says what would.
    OptionError : the method picks its launches, or decisions of the user's go with it.
    """
    check_has_trade_off(read.choice.method)
    if read.choice.overrides:
        raise OptionError(
            Wording("`budget` tries many epsilons, in whose trees your decisions fit no node"),
            remedy=Wording("find the epsilon without them, then give it as `epsilon`"),
        )
    most_ns = budget.hours * _NS_PER_HOUR / budget.slowdown
    last = _IN_A_DECADE * _DECADES - 1

    tried = 0

    def planned(index: int) -> Study:
        nonlocal tried
        if progress is not None:
            progress(tried, _MOST_TRIED, f"a plan at epsilon {nth_epsilon(index):g}")
        tried += 1
        return study_again(read, replace(target, epsilon=nth_epsilon(index)), read.choice)

    loosest = planned(last)
    if loosest.design.paid_ns > most_ns:
        raise _too_small(loosest, replace(target, epsilon=nth_epsilon(last)), by, budget)
    # Plans fit from one index on: that at ``above`` does, that at ``below`` does not.
    fitting, below, above = loosest, -1, last
    while above - below > 1:
        middle = (below + above) // 2
        found = planned(middle)
        if found.design.paid_ns <= most_ns:
            above, fitting = middle, found
        else:
            below = middle
    return fitting


def nth_epsilon(index: int) -> float:
    """Return an epsilon of three digits: 1.00e-4, 1.01e-4, ... 0.999."""
    decade, digits = divmod(index, _IN_A_DECADE)
    # Through text, for 1.23e-3 is the number nearest to 0.00123, and 123 * 1e-5 need not be.
    return float(f"{100 + digits}e{_LEAST_EXPONENT + decade - 2}")


def _too_small(loosest: Study, target: Target, by: GroupBy, budget: Budget) -> BudgetError:
    """Return the error that says what the cheapest plan takes, and which option would make one fit."""
    least = hours(loosest.design.paid_ns, budget.slowdown)
    ways = [Wording("give `budget={}`", _rounded_up(least))]
    for each in what_binds(loosest, target, by):
        taken = least * each.speedup_before / each.speedup
        if taken <= budget.hours:
            ways.append(Wording(f"`{each.option}={{}}`", each.after))
    return BudgetError(
        Wording(
            "even at epsilon {:g} a plan takes {} of simulation, more than `budget={}` at a slowdown of {:g}",
            target.epsilon,
            _rounded_up(least),
            budget.written,
            budget.slowdown,
        ),
        remedy=joined_texts(", or ", ways),
    )


def _rounded_up(hours_taken: float) -> str:
    """Return hours as a budget is written, three digits and never less."""
    unit = "h" if hours_taken >= 1 else "m" if 60 * hours_taken >= 1 else "s"
    number = hours_taken * _SECONDS["h"] / _SECONDS[unit]
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    # A number of three digits must not be taken for more because of its rounding.
    return f"{math.ceil(number / step * (1 - 1e-12)) * step:.12g}{unit}"
