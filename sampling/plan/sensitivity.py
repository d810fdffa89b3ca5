"""How a plan depends on what is asked: on epsilon, on each option alone, on a budget of simulation time.

(docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from msgspec import structs

from sampling.errors import BudgetError, OptionError, OverrideError
from sampling.methods.joint import POOL_BELOW
from sampling.methods.registry import method_named, method_names, splits_groups
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design, speedup_ratio
from sampling.plan.draft import Draft, redraft
from sampling.plan.plan import Plan
from sampling.plan.request import NONE, PlanRequest
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counts_by_name
from sampling.reduction.grouping import Grouping
from sampling.splitting.tree import Overrides
from sampling.strata.strata import least_sampled_ns
from sampling.strata.target import LEAST_EPSILON, Target
from sampling.text import Wording

# The round numbers of a decade: each 1.3 to 1.7 times the one before.
_DIGITS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_SPAN = 10.0
# Numbers closer to the plan's than this factor would add nothing.
_APART = 1.1
_ROUNDING = 1e-9

#: A relaxation that raises the speedup by more than this fraction is told, and a draw that differs by it.
WORTH_TELLING = 0.05
# The method whose plan is shown beside a plan of another one that draws at random.
_PUBLISHED = "root"

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_NS_PER_HOUR = 3.6e12
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd])")
# Epsilons of three digits, 1.00e-4 to 0.999: a finer one would promise more than any use asks for.
_LEAST_EXPONENT, _DECADES = -4, 4
_IN_A_DECADE = 900
# The loosest plan, then a half of the epsilons left at each step.
_MOST_TRIED = 1 + math.ceil(math.log2(_IN_A_DECADE * _DECADES))


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """What a plan is expected to cost and promises at one epsilon, as a `Design` has it."""

    epsilon: float
    samples: int
    strata: int
    sampled_duration_ns: float
    speedup: float | None
    promised_error: float | None
    bound: float | None
    group_bound: float | None


@dataclass(frozen=True, slots=True)
class NoPoint:
    """There is no plan at an epsilon: a decision of the user's fits no node of the trees there."""

    epsilon: float
    problem: OverrideError


def check_has_trade_off(method: str) -> None:
    """Raise OptionError for a method that looks at single launches: most promise no bound to trade."""
    if not method_named(method).draws_at_random:
        *names, last = method_names(random=True)
        message = f"the method {method} goes by single launches and looks at no epsilon"
        raise OptionError(message, remedy=f"give {', '.join(names)} or {last}")


def trade_off(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    epsilons: Sequence[float],
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Iterator[TradeOffPoint | NoPoint]:
    """Design a plan at each epsilon, all else of the target as it is, and yield what it costs.

    Raises OptionError when it comes to a design: an unknown setting, or an epsilon that is no fraction.
    """
    options: dict[str, Any] = {"settings": settings, "overrides": overrides}
    for index, epsilon in enumerate(epsilons):
        report = partial(_report, progress, index, len(epsilons), f"a plan at epsilon {epsilon:g}")
        report()
        try:
            at_epsilon = replace(target, epsilon=epsilon)
            design = make_design(counts, method, at_epsilon, seed, progress=report, **options)
            yield trade_off_point(design, epsilon)
        except OverrideError as problem:
            yield NoPoint(epsilon, problem)


def _report(progress: Progress | None, index: int, total: int, message: str, *_: object) -> None:
    """Report a plan among several, whatever is reported of its own steps."""
    if progress is not None:
        progress(index, total, message)


def trade_off_point(design: Design, epsilon: float) -> TradeOffPoint:
    """Return what a plan costs that was made for this epsilon."""
    cost = design.samples, design.strata_count, design.sampled_duration_ns, design.speedup
    bounds = design.bounds
    return TradeOffPoint(epsilon, *cost, bounds.promised_error, bounds.bound, bounds.group_bound)


def default_epsilons(plan_epsilon: float) -> tuple[float, ...]:
    """Return the epsilon of a plan and round ones from a tenth of it to ten times of it, about 13 below 1.

    The nearest come first, so that what is drawn while they are computed grows from there to both sides.
    """
    lowest, highest = max(plan_epsilon / _SPAN, LEAST_EPSILON), min(plan_epsilon * _SPAN, 1.0)
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    # Through text, for 7e-3 is the number nearest to 0.007, and 7.0 * 10.0**-3 need not be.
    round_epsilons = [
        epsilon
        for epsilon in (float(f"{digit}e{power}") for power in powers for digit in _DIGITS)
        if lowest * (1 - _ROUNDING) <= epsilon <= highest * (1 + _ROUNDING)
        and LEAST_EPSILON <= epsilon < 1
        and max(epsilon / plan_epsilon, plan_epsilon / epsilon) > _APART
    ]
    return (plan_epsilon, *sorted(round_epsilons, key=lambda epsilon: abs(math.log(epsilon / plan_epsilon))))


Value = float | int | str


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One option relaxed one step, all others as they are: its values as typed, and the speedups expected."""

    option: str
    before: Value
    after: Value
    speedup_before: float
    speedup: float
    #: The error promised of the simulated total then.
    bound: float | None = None


def measure_sensitivity(draft: Draft, progress: Progress | None = None) -> tuple[Relaxation, ...]:
    """Return the options that make a plan dear: those whose relaxation raises its speedup by more than 5 %.

    The largest speedup first. Each is a plan of its own, asked for as the plan was but for one step; none for
    a method that looks at single launches, and where a user's decision fits no node.
    """
    before, request, counts = draft.speedup, draft.request, draft.counts
    if before is None or not method_named(request.method).draws_at_random:
        return ()
    by_cost = counts.cost is not None and counts.cost.is_objective
    options: dict[str, Any] = {"settings": request.set, "overrides": draft.overrides}
    reductions, relaxations = {counts.grouping: counts}, []
    steps = list(_steps(request))
    for index, (option, was, becomes, looser) in enumerate(steps):
        _report(progress, index, len(steps), f"a plan with another {option}")
        # Whether devices are pooled is settled by now.
        grouping = replace(looser.grouping, pool_devices=counts.grouping.pool_devices)
        reduction = reductions.get(grouping)
        if reduction is None:
            if by_cost:
                # What launches cost is known by the plan's own kernel groups.
                continue
            if (counts.grouping, grouping) == (Grouping(GroupBy.LAUNCH), Grouping(GroupBy.NAME)):
                # The profile need not be read again.
                reduction = counts_by_name(draft.profile, counts)
            else:
                reduction = count_durations(draft.profile, grouping, counts.region, selected=counts.selected)
            reductions[grouping] = reduction
        target = looser.target
        if not by_cost and _most_speedup(reduction, target, looser.method) <= before * (1 + WORTH_TELLING):
            continue
        try:
            design = make_design(reduction, looser.method, target, looser.seed, **options)
        except OverrideError:
            continue
        if (speedup := design.speedup) is not None and speedup > before * (1 + WORTH_TELLING):
            promised = None if design.promise is None else design.promise.error
            relaxations.append(Relaxation(option, was, becomes, before, speedup, promised))
    return tuple(sorted(relaxations, key=lambda relaxation: -relaxation.speedup))


@dataclass(frozen=True, slots=True)
class Limit:
    """Launches that keep a plan from being faster: those of strata of which half or more is simulated."""

    launches: int
    simulated: int
    #: Of the time, that all of them hold.
    share: float
    #: No plan that simulates as many of them gains more.
    speedup: float


def find_limit(design: Design) -> Limit | None:
    """Return the launches that take most of what a plan simulates, and that few others stand for.

    None where other launches take more than half of it.
    """
    strata, total_ns = design.strata, design.total_duration_ns
    is_few = 2 * strata.samples >= strata.launches
    simulated_ns, held_ns = (
        float(np.dot(number, strata.mean_ns * is_few)) for number in (strata.samples, strata.launches)
    )
    speedup = speedup_ratio(total_ns, simulated_ns)
    if speedup is None or 2 * simulated_ns < design.sampled_duration_ns:
        return None
    launches, simulated = (int(number[is_few].sum()) for number in (strata.launches, strata.samples))
    return Limit(launches, simulated, held_ns / total_ns, speedup)


def _steps(request: PlanRequest) -> Iterator[tuple[str, Value, Value, PlanRequest]]:
    """Yield each option that the plan looks at and that is not as loose as it can be, one step on.

    Its name, its value before and after as they are typed, and what is asked then.
    """
    spread = request.kernel_spread if request.pool else 0
    looser: tuple[tuple[str, bool, Any], ...] = (
        ("min_samples", request.min_samples > 1, 1),
        ("group_epsilon", request.group_epsilon is not None, None),
        ("noise_floor", request.noise_floor > 0, request.noise_floor / 2),
        ("kernel_spread", spread > 0, spread / 2),
        ("pool", not request.pool, True),
        ("epsilon", 2 * request.epsilon < 1, 2 * request.epsilon),
    )
    looked_at = (*method_named(request.method).target_fields, "epsilon")
    for name, is_tight, after in looser:
        if is_tight and name in looked_at:
            values = getattr(request, name), NONE if after is None else after
            yield name, *values, structs.replace(request, **{name: after})
    if request.grouping.by is GroupBy.LAUNCH:
        by_name = structs.replace(request, group_by=GroupBy.NAME)
        yield "group_by", request.group_by.value, GroupBy.NAME.value, by_name
    if request.method != _PUBLISHED and splits_groups(request.method):
        published = structs.replace(request, method=_PUBLISHED)
        yield "method", request.method, _PUBLISHED, published


def _most_speedup(counts: DurationCounts, target: Target, method: str) -> float:
    """Return what the speedup cannot exceed: kernel groups outside pools have their least samples."""
    if "min_samples" not in method_named(method).target_fields:
        return math.inf
    may_be_pooled = target.pool & (counts.group_duration_ns < POOL_BELOW * counts.total_duration_ns)
    least_ns = least_sampled_ns(counts, target.min_samples)[~may_be_pooled].sum()
    return speedup_ratio(counts.total_duration_ns, float(least_ns)) or math.inf


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


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """What is looked at of a plan beside its own figures, each None where it was not asked for."""

    #: What each option alone would give, the largest speedup first.
    binding: tuple[Relaxation, ...] | None = None
    #: Seconds of simulation for a second on the GPU; with it, what the plan takes.
    slowdown: float | None = None
    hours: SimulationHours | None = None
    #: What the plan had to fit.
    budget: Budget | None = None


def simulation_hours(plan: Plan, slowdown: float) -> SimulationHours:
    """Return what a plan takes at a slowdown."""
    times_ns = float(plan.cost_ns.sum()), plan.design.cost_ns, float(np.max(plan.cost_ns, initial=0))
    return SimulationHours(*(machine_hours(time_ns, slowdown) for time_ns in times_ns))


def machine_hours(duration_ns: float, slowdown: float) -> float:
    """Return the hours of simulation that launches of this duration take."""
    return duration_ns * slowdown / _NS_PER_HOUR


def check_slowdown(slowdown: float) -> float:
    """Return a slowdown; one below 1 or not finite is an OptionError."""
    if not 1 <= slowdown < math.inf:
        text = "`slowdown` is seconds of simulation for a second on the GPU, at least 1, not {:g}"
        raise OptionError(Wording(text, slowdown))
    return slowdown


def parse_duration(text: str, parameter: str) -> float:
    """Return the seconds that ``90m``, ``24h`` or ``3d`` means; OptionError for no duration above 0."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0 < seconds < math.inf:
        message = Wording(f"`{parameter}` is a duration above 0, not {{!r}}", text)
        raise OptionError(message, remedy="give a number and s, m, h or d, such as 24h")
    return seconds


def parse_budget(text: str, slowdown: float | None) -> Budget:
    """Return the budget that a text means; OptionError for no duration above 0, or without a slowdown."""
    seconds = parse_duration(text, "budget")
    if slowdown is None:
        message = Wording("`budget` is of simulation, and how slow that is is not known")
        remedy = Wording("give the seconds it takes for a second on the GPU, such as `slowdown=1e6`")
        raise OptionError(message, remedy=remedy)
    return Budget(text.strip(), seconds / _SECONDS["h"], check_slowdown(slowdown))


def nth_epsilon(index: int) -> float:
    """Return an epsilon of three digits: 1.00e-4, 1.01e-4, ... 0.999."""
    decade, digits = divmod(index, _IN_A_DECADE)
    # Through text, for 1.23e-3 is the number nearest to 0.00123, and 123 * 1e-5 need not be.
    return float(f"{100 + digits}e{_LEAST_EXPONENT + decade - 2}")


def draft_within(draft: Draft, budget: Budget, progress: Progress | None = None) -> Draft:
    """Return the draft with the smallest epsilon whose expected sampled time fits the budget.

    Epsilons have three digits, from 0.0001 to 0.999, and are bisected: the plan at the one returned fits, and
    that at the one below it does not. All but epsilon is asked as of the plan of ``draft``.

    Raises BudgetError where even the plan at 0.999 does not fit, OptionError where the method picks its
    launches or decisions of the user's go with it.
    """
    check_has_trade_off(draft.request.method)
    if draft.overrides:
        message = Wording("`budget` tries many epsilons, in whose trees your decisions fit no node")
        remedy = Wording("find the epsilon without them, then give it as `epsilon`")
        raise OptionError(message, remedy=remedy)
    most_ns = budget.hours * _NS_PER_HOUR / budget.slowdown
    numbers, fitting = count(), draft

    def fits(index: int) -> bool:
        nonlocal fitting
        epsilon = nth_epsilon(index)
        _report(progress, next(numbers), _MOST_TRIED, f"a plan at epsilon {epsilon:g}")
        candidate = redraft(draft, structs.replace(draft.request, epsilon=epsilon), draft.overrides)
        does_fit = candidate.design.cost_ns <= most_ns
        # The loosest is looked at first, and taken for what a plan takes at least.
        fitting = candidate if does_fit or index == loosest else fitting
        return does_fit

    loosest = _IN_A_DECADE * _DECADES - 1
    if not fits(loosest):
        duration = _rounded_up(machine_hours(fitting.design.cost_ns, budget.slowdown))
        excess = Wording("more than `budget={}` at a slowdown of {:g}", budget.written, budget.slowdown)
        loosest_epsilon = fitting.design.target.epsilon
        text = "even at epsilon {:g} a plan takes {} of simulation, {}"
        message = Wording(text, loosest_epsilon, duration, excess)
        raise BudgetError(message, remedy=Wording("give `budget={}`", duration))
    # Plans fit from one index on: the last that was seen to fit is the one at which they begin to.
    bisect_left(range(loosest), True, key=fits)
    return fitting


def _rounded_up(hours_taken: float) -> str:
    """Return hours as a budget is written, three digits and never less."""
    unit = "h" if hours_taken >= 1 else "m" if 60 * hours_taken >= 1 else "s"
    number = hours_taken * _SECONDS["h"] / _SECONDS[unit]
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    # A number of three digits must not be taken for more because of its rounding.
    return f"{math.ceil(number / step * (1 - 1e-12)) * step:.12g}{unit}"
