"""What binds a plan, and what it takes to simulate: as rows for scripts and as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.methods.registry import method_named
from sampling.plan.binding import Relaxation
from sampling.plan.budget import SimulationHours, hours
from sampling.plan.picked_design import AnyDesign
from tui.charts import quantities
from tui.engine.budgets import PlanCosts
from tui.options.flags import flags_of_parameters
from tui.terminal.tables import Column, table


def cost_rows(total_duration_ns: int, costs: PlanCosts) -> dict[str, Any]:
    """Return what is said of a plan beside its figures, null where it was not asked for."""
    taken, found = costs.hours, costs.binding
    rows = None if found is None else [binding_row(each, total_duration_ns, costs.slowdown) for each in found]
    return {
        "machine_hours": None if taken is None else taken.drawn,
        "longest_launch_hours": None if taken is None else taken.longest_launch,
        "binding": rows,
    }


def binding_row(step: Relaxation, total_duration_ns: int, slowdown: float | None) -> dict[str, Any]:
    """Return one option, relaxed, as the contract's `binding` lists it."""
    return {
        "option": step.option,
        "from": step.before,
        "to": step.after,
        "speedup_before": step.speedup_before,
        "speedup": step.speedup,
        "machine_hours": None if slowdown is None else _hours(step, total_duration_ns, slowdown),
    }


def _hours(step: Relaxation, total_duration_ns: int, slowdown: float) -> float:
    return hours(total_duration_ns / step.speedup, slowdown)


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


def hours_forms(taken: SimulationHours | None) -> tuple[str, ...]:
    """Return what goes behind an expected speedup where a slowdown is known, the longest wording first."""
    if taken is None:
        return ("",)
    expected, longest = quantities.hours(taken.expected), quantities.hours(taken.longest_launch)
    return (
        f", {expected} of one machine, the longest launch {longest}",
        f", {expected}, longest launch {longest}",
        f", {expected}, longest {longest}",
        f", {expected}",
    )


def binding_text(
    found: Sequence[Relaxation], design: AnyDesign, total_duration_ns: int, slowdown: float | None
) -> str:
    """Return which option to type for which speedup, the largest first."""
    if not found:
        return why_none(design)
    return f"Faster: {', '.join(_way(each, total_duration_ns, slowdown) for each in found)}"


def why_none(design: AnyDesign) -> str:
    """Return why no option binds."""
    if not design.random:
        return f"Faster: no option, for nothing is asked of {design.method}"
    if not method_named(design.method).draws_at_random:
        return f"What would be faster is not known, for {design.method} goes by features of single launches"
    return "Faster: no option alone: none, one step looser, gives 5 % more speedup"


def _way(step: Relaxation, total_duration_ns: int, slowdown: float | None) -> str:
    """Return what to type and what it gives."""
    flag = flags_of_parameters()[step.option]
    way = f"without {flag}" if step.after is False else f"{flag} {value_text(step.after)}"
    hours = "" if slowdown is None else f", {quantities.hours(_hours(step, total_duration_ns, slowdown))}"
    return f"{way} ({quantities.ratio(step.speedup)}{hours})"


def value_text(value: float | str) -> str:
    """Return an option's value as it is typed, or whether a flag is given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def option_label(step: Relaxation) -> str:
    """Return the option as the form of options calls it."""
    return flags_of_parameters()[step.option].removeprefix("--")


def binding_forms(
    found: Sequence[Relaxation],
    design: AnyDesign,
    total_duration_ns: int = 0,
    slowdown: float | None = None,
) -> list[str]:
    """Return what binds in a line, the longest wording first: all options, or the first few.

    Where a slowdown is known, what the plan would take of one machine stands beside its speedup.
    """
    if not found:
        return [why_none(design), "Faster if: nothing"]
    ways = [f"{option_label(each)} {value_text(each.after)}" for each in found]
    given = [quantities.ratio(each.speedup) for each in found]
    if slowdown is not None:
        given = [
            f"{ratio} ({quantities.hours(_hours(each, total_duration_ns, slowdown))})"
            for ratio, each in zip(given, found, strict=True)
        ]
    forms = []
    for number in range(len(found), 0, -1):
        shown = list(zip(ways, given, strict=True))[:number]
        forms.append("Faster if: " + ", ".join(f"{way} gives {speedup}" for way, speedup in shown))
        forms.append("Faster: " + ", ".join(f"{way} {speedup}" for way, speedup in shown))
    return forms


def binding_table(
    found: Sequence[Relaxation], total_duration_ns: int, slowdown: float | None
) -> tuple[str, list[str]]:
    """Return a heading and a line for each option: its value, the one a step looser, what that gives."""
    heading, *lines = table(binding_columns(found, total_duration_ns, slowdown)).split("\n")
    return heading, lines


def binding_columns(
    found: Sequence[Relaxation], total_duration_ns: int, slowdown: float | None
) -> list[Column]:
    """Return the columns of that table."""
    columns = [
        Column("option", [option_label(each) for each in found], to_right=False),
        Column("now", [value_text(each.before) for each in found]),
        Column("a step looser", [value_text(each.after) for each in found]),
        Column("speedup", [quantities.ratio(each.speedup) for each in found]),
    ]
    if found:
        columns.append(Column("instead of", [quantities.ratio(each.speedup_before) for each in found]))
    if slowdown is not None:
        taken = [quantities.hours(_hours(each, total_duration_ns, slowdown)) for each in found]
        columns.append(Column("one machine", taken))
    return columns
