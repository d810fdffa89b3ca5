"""What a plan promises, in words: how far off the simulated total may be, and what that assumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sampling.methods.registry import method_named
from sampling.plan.design import Design
from sampling.plan.nearby import Relaxation, SimulationHours, hours
from sampling.plan.plan import Plan
from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.engine.planning import PlanCosts
from tui.options.command_line import flags_of_parameters
from tui.terminal.printable import Column, table
from tui.text.tones import Tone

PICKED = "nothing: the launches are not drawn at random"


def verdict(design: Design) -> tuple[str, Tone]:
    """Return whether the plan's promise is within the epsilon asked for, in a word, and the word's tone."""
    bound = design.bound if design.bound_with_noise is None else design.bound_with_noise
    if bound is None:
        return "no bound", Tone.WARNING
    return ("met", Tone.GOOD) if bound <= design.target.epsilon else ("not met", Tone.BAD)


def sure_words(confidence: float) -> str:
    """Return a confidence as people say it."""
    return f"{100 * confidence:.4g} % sure"


def simulate_sentence(design: Design, launches: int, total_ns: int, plan: Plan | None = None) -> str:
    """Return what is simulated, and how much less than the whole run that is.

    Parameters
    ----------
    launches, total_ns : of the whole run.
    plan : drawn by the design; without one the sentence says what is expected.
    """
    drawn, sampled_ns, speedup = (
        (design.samples, design.sampled_duration_ns, design.speedup)
        if plan is None
        else (plan.samples, plan.sampled_duration_ns, plan.speedup)
    )
    if drawn == launches:
        return f"Simulate all of {counted(launches, 'launch', 'launches')}: none stands for another."
    chosen = f"Simulate {quantities.count(drawn)} of {counted(launches, 'launch', 'launches')}"
    time = f"({quantities.duration(sampled_ns)} of {quantities.duration(total_ns)})"
    return f"{chosen}: {quantities.ratio(speedup)} less GPU time {time}." if speedup else f"{chosen} {time}."


def known_sentence(design: Design) -> str:
    """Return how well the whole run is known then, what that assumes, and whether it was asked for."""
    if not design.random:
        return "How far off the whole run may then be is not known: these launches are not drawn at random."
    target = design.target
    sure = sure_words(target.confidence)
    if design.bound_with_noise is None:
        return (
            f"The profile's own total is then known within {quantities.share(design.bound or 0.0)} ({sure}); "
            "nothing was declared of how simulated cycles vary."
        )
    asked = ""
    if design.bound_with_noise > target.epsilon:
        asked = f", more than the {100 * target.epsilon:.4g} % asked for"
    within = f"within {quantities.share(design.bound_with_noise)} ({sure}){asked}"
    assumed = f"cycles per ns differ by at most {100 * target.noise_floor:.4g} % within a stratum"
    if target.kernel_spread:
        assumed += f" and {100 * target.kernel_spread:.4g} % between kernels"
    return f"The whole run's cycles are then known {within}, if {assumed}; `estimate` checks that."


def promise_words(design: Design) -> str:
    """Return the promise, with its bound, its confidence and what is assumed of the simulator."""
    if not design.random:
        return PICKED
    confidence = quantities.share(design.target.confidence)
    if design.bound_with_noise is None:
        bound = quantities.share(design.bound or 0.0)
        return f"the profile's own total within {bound} at confidence {confidence}; the simulated one is open"
    within = f"the simulated total within {quantities.share(design.bound_with_noise)}"
    return f"{within} at confidence {confidence}, if {assumed_words(design)}"


def assumed_words(design: Design) -> str:
    """Return how cycles per nanosecond are declared to vary."""
    target = design.target
    words = f"cycles per ns vary by at most {quantities.share(target.noise_floor)} within a stratum"
    if target.kernel_spread:
        words += f" and {quantities.share(target.kernel_spread)} between kernels"
    return words


def pooled_row(study: Study) -> dict[str, Any]:
    """Return how many kernel groups are pooled, and their share of the time, as the contract has it."""
    of = study.groups
    return {"groups": int(of.pooled.sum()), "share": float(of.share[of.pooled].sum())}


def pooled_words(study: Study) -> str | None:
    """Return what is pooled; None where nothing is."""
    row, design = pooled_row(study), study.design
    if not row["groups"]:
        return None
    words = (
        f"{row['groups']} of {counted(len(study.counts.groups), 'kernel group', 'kernel groups')} pooled, "
        f"{quantities.share(row['share'])} of the time"
    )
    if design.groups is not None:
        strata = design.groups.is_pool[design.strata.group]
        words += f", in {counted(int(strata.sum()), 'stratum', 'strata')}"
    return f"{words}: they have no bound of their own"


def interval_lines(design: Design) -> list[str]:
    """Return how far the interval from simulated values is expected to reach."""
    if not design.expected_half_width:
        return []
    reach = quantities.share(design.expected_half_width)
    return [f"the interval of the simulated total is expected to be {reach}"]


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


def hours_lines(design: Design, costs: PlanCosts) -> list[str]:
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
    found: Sequence[Relaxation], design: Design, total_duration_ns: int, slowdown: float | None
) -> str:
    """Return which option to type for which speedup, the largest first."""
    if not found:
        return why_none(design)
    return f"Faster: {', '.join(_way(each, total_duration_ns, slowdown) for each in found)}"


def why_none(design: Design) -> str:
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
    design: Design,
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
