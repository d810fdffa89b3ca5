"""What binds a plan, and what it takes to simulate: as rows for scripts and as lines."""

from __future__ import annotations

import textwrap
from typing import Any

from sampling.plan.binding import Relaxation
from sampling.plan.budget import hours
from sampling.plan.design import AnyDesign
from sampling.plan.plan import Plan
from tui.charts import quantities
from tui.engine.budgets import PlanCosts
from tui.options.flags import flags_of_parameters


def cost_rows(plan: Plan, costs: PlanCosts) -> dict[str, Any]:
    """Return what is said of a plan beside its figures, null where it was not asked for."""
    taken, found = costs.hours, costs.binding
    return {
        "epsilon": plan.design.target.epsilon if plan.design.random else None,
        "machine_hours": None if taken is None else taken.drawn,
        "longest_launch_hours": None if taken is None else taken.longest_launch,
        "binding": None if found is None else [_row(each, plan, costs.slowdown) for each in found],
    }


def _row(relaxed: Relaxation, plan: Plan, slowdown: float | None) -> dict[str, Any]:
    return {
        "option": relaxed.option,
        "from": relaxed.before,
        "to": relaxed.after,
        "speedup_before": relaxed.speedup_before,
        "speedup": relaxed.speedup,
        "machine_hours": None if slowdown is None else _hours(relaxed, plan, slowdown),
    }


def _hours(relaxed: Relaxation, plan: Plan, slowdown: float) -> float:
    return hours(plan.total_duration_ns / relaxed.speedup, slowdown)


def hours_lines(design: AnyDesign, costs: PlanCosts) -> list[str]:
    """Return the epsilon that a budget led to, and what the plan takes at a slowdown."""
    lines = []
    if costs.budget is not None:
        epsilon = f"{design.target.epsilon:g}"
        lines.append(f"epsilon {epsilon}: the smallest that fits {costs.budget.written} of simulation")
    if costs.hours is not None:
        drawn, expected, longest = map(
            quantities.hours, (costs.hours.drawn, costs.hours.expected, costs.hours.longest_launch)
        )
        slower = f"simulated {costs.slowdown:g} times slower"
        lines.append(f"{slower}: {drawn} of one machine, {expected} expected")
        lines.append(f"(the longest launch takes {longest}: no number of machines is faster)")
    return lines


def binding_lines(plan: Plan, costs: PlanCosts, width: int) -> list[str]:
    """Return which option to type for which speedup, the largest first; nothing where it was not asked."""
    if costs.binding is None:
        return []
    if not plan.design.random:
        return [f"what binds: nothing, for nothing is asked of {plan.design.method}"]
    if not costs.binding:
        return ["what binds: no option alone, one step looser, gives 5 % more speedup"]
    ways = ", ".join(_way(each, plan, costs.slowdown) for each in costs.binding)
    before = quantities.ratio(costs.binding[0].speedup_before)
    text = f"what binds: {ways}; {before} is expected now"
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _way(relaxed: Relaxation, plan: Plan, slowdown: float | None) -> str:
    """Return what to type and what it gives."""
    value = relaxed.after
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    text = f"{flags_of_parameters()[relaxed.option]} {shown} gives {quantities.ratio(relaxed.speedup)}"
    return text if slowdown is None else f"{text} ({quantities.hours(_hours(relaxed, plan, slowdown))})"
