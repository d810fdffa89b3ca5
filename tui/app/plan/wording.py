"""A plan's figures in a row each, for panes of any width."""

from __future__ import annotations

from collections.abc import Iterator

from sampling.plan.design import AnyDesign
from tui.app.plan.details import PlanDetails
from tui.app.plan.figures import Figure
from tui.app.state import decisions
from tui.charts.quantities import count, counted, duration, ratio, share
from tui.text.facts import draws_text


def plan_figures(details: PlanDetails) -> list[Figure]:
    """Return what the plan costs, promises and came to; each value's longest wording first."""
    plan, design = details.plan, details.plan.design
    launches = details.study.counts.launches
    drawn = f"{count(plan.samples)} of "
    sampled = f"{duration(plan.sampled_duration_ns)} of {duration(plan.total_duration_ns)}"
    speedup, floor = ratio(plan.speedup), duration(plan.floor_ns)
    estimate = f"{duration(plan.estimate_ns)}, {share(plan.error)} off"
    return [
        ("drawn", (drawn + counted(launches, "launch", "launches"), drawn + count(launches))),
        ("strata", (count(design.strata_count),)),
        ("sampled", (sampled, duration(plan.sampled_duration_ns))),
        ("speedup", (f"{speedup}, {ratio(design.speedup)} expected", speedup)),
        *_bounds(design),
        ("floor", (f"{floor} to visit every kernel group", f"{floor}: every group", floor)),
        *_judged(details),
        (
            "this draw" if design.random else "estimate",
            (f"estimates {estimate}", estimate, f"{share(plan.error)} off"),
        ),
        *_decisions(details),
    ]


def _bounds(design: AnyDesign) -> Iterator[Figure]:
    if design.bound is None:
        yield "bound", ("none: the launches are not drawn at random", "none: nothing is random", "none")
        return
    yield "bound", _bound(design.bound, design.bound_with_noise, "of the total time")
    if design.group_bound is not None:
        yield "group", _bound(design.group_bound, design.group_bound_with_noise, "of any group's time")


def _bound(bound: float, noisy: float | None, of: str) -> tuple[str, ...]:
    text = share(bound)
    if noisy is None:
        return f"{text} {of}", text
    return (
        f"{text} {of}, {share(noisy)} with noise",
        f"{text}, {share(noisy)} with noise",
        text,
    )


def _judged(details: PlanDetails) -> Iterator[Figure]:
    options, judgement = details.session.options, details.judgement
    if not details.plan.design.random:
        return
    if judgement is None:
        draws = draws_text(options.judge)
        yield "judged", (("not yet, by " + draws, "not yet") if options.judge else ("not asked for", "no"))
        return
    mean, p95 = share(judgement.error_mean), share(judgement.error_p95)
    draws = draws_text(judgement.repeats)
    yield (
        "judged",
        (
            f"mean error {mean}, 95th percentile {p95}, of {draws}",
            f"mean {mean}, p95 {p95} of {draws}",
            f"mean {mean}, p95 {p95}",
            f"mean {mean}",
        ),
    )
    if judgement.within_epsilon is not None:
        within, stated = share(judgement.within_epsilon), share(options.confidence)
        yield "within", (f"{within} within epsilon, {stated} stated", f"{within} (stated: {stated})", within)


def _decisions(details: PlanDetails) -> Iterator[Figure]:
    number = decisions(details.session.overrides)
    if number:
        yield "decisions", (f"{count(number)} of yours, in the split tree", count(number))
