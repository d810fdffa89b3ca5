"""The plan: its method in words, its promise, its figures, and what makes it dear."""

from __future__ import annotations

from collections.abc import Iterator

from sampling.methods.registry import method_named
from sampling.strata.judged import DRAWS
from tui.charts import quantities
from tui.options.flags import with_flags
from tui.report.facts import Facts
from tui.report.method_words import method_words
from tui.report.sections import Block, Section, Table
from tui.terminal.tables import pairs
from tui.text import facts as shown
from tui.text.binding import binding_columns, hours_lines, why_none
from tui.text.promise import pooled_words, promise_words


def plan_section(facts: Facts) -> Section:
    """Return the section of the plan."""
    return Section("Plan", tuple(_blocks(facts)))


def _blocks(facts: Facts) -> Iterator[Block]:
    study, design = facts.study, facts.plan.design
    pooled = pooled_words(study)
    yield f"Promise: {promise_words(design)}."
    yield f"Method: {design.method} ({method_named(design.method).source}). {method_words(design.method)}"
    yield Table("What the plan costs and promises", pairs(_figures(facts)))
    yield from () if pooled is None else (f"{pooled}.",)
    yield from map(with_flags, design.notes)
    if facts.costs.binding:
        total_ns, slowdown = facts.plan.total_duration_ns, facts.costs.slowdown
        columns = binding_columns(facts.costs.binding, total_ns, slowdown)
        yield Table("What each option alone, a step looser, would give", tuple(columns))
    elif facts.costs.binding is not None:
        yield f"{_begun(why_none(design))}."


def _begun(text: str) -> str:
    """Return words as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _figures(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what a figure is and the figure, as `sample` has them."""
    study, plan, design = facts.study, facts.plan, facts.plan.design
    share, duration, ratio = quantities.share, quantities.duration, quantities.ratio
    of = quantities.count(study.counts.launches)
    if design.random:
        yield (
            "error asked for",
            f"epsilon {design.target.epsilon:g} at confidence {design.target.confidence:g}",
        )
    yield "launches to simulate", f"{quantities.count(plan.samples)} of {of}"
    yield "strata", quantities.count(design.strata_count)
    yield "sampled time", f"{duration(plan.sampled_duration_ns)} of {duration(plan.total_duration_ns)}"
    yield "speedup", f"{ratio(plan.speedup)}, {ratio(design.speedup)} expected"
    yield "least time of any plan that visits every kernel group", duration(plan.floor_ns)
    drawn = f"this draw (seed {plan.seed})" if design.random else "the choice"
    yield f"estimate of {drawn}", f"{duration(plan.estimate_ns)}, {share(plan.error)} off"
    for label, bound in (
        ("bound on the profile's own total", design.bound),
        ("bound on the simulated total, as declared", design.bound_with_noise),
        ("bound on any kernel group's own total", design.group_bound),
        ("bound on any kernel group's simulated total", design.group_bound_with_noise),
    ):
        if bound is not None:
            yield label, share(bound)
    if design.share_within_epsilon is not None:
        text = f"{share(design.share_within_epsilon)} of {quantities.count(DRAWS)} draws"
        yield "draws of the profile's total within epsilon", text
    if facts.judgement is not None and design.random:
        judged = facts.judgement
        text = f"{share(judged.error_mean)} mean, {share(judged.error_p95)} at the 95th percentile"
        yield f"error over {shown.draws_text(judged.repeats)}", text
    if design.expected_half_width:
        yield "interval expected of the simulated total", share(design.expected_half_width)
    taken = hours_lines(design, facts.costs)
    if taken:
        # What is in brackets belongs to what is before it.
        yield "simulation", "; ".join(taken).replace("; (", " (")
