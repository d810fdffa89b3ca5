"""View 3 without widgets: each pane's title, figures and text, and the command that prints the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from sampling.plan.binding import Relaxation
from sampling.plan.budget import SimulationHours
from sampling.plan.picked_design import AnyDesign
from sampling.plan.trade_off import NoPoint, TradeOffPoint
from sampling.text import counted
from tui.app.overrides_file import options_with_overrides
from tui.app.plan.details import PlanDetails
from tui.app.state import Session, decisions
from tui.charts.quantities import count, duration, hours, ratio, share
from tui.options.choices import PlanList
from tui.options.command_line import command_line, options_of
from tui.options.commands import TradeOffOptions
from tui.output.writer import Canvas
from tui.text.binding import binding_table, why_none
from tui.text.facts import draws_text
from tui.text.plan import plan_text
from tui.text.promise import assumed_words, pooled_row, verdict
from tui.text.tones import Tone, Words, toned
from tui.text.trade_off import TradeOff, trade_off_text

Figure = tuple[str, tuple[str | Words, ...]]
"""Its name, and its wordings, the longest first."""

Size = tuple[int, int]
"""Columns and rows."""


class PlanPane(StrEnum):
    """What a pane shows."""

    FIGURES = "plan"
    TRADE_OFF = "trade-off"
    STRATA = "strata"
    LAUNCHES = "launches"
    FINDINGS = "findings"
    BINDING = "binding"


#: The panes that take turns in one place on a small screen.
DETAILS = (PlanPane.TRADE_OFF, PlanPane.STRATA, PlanPane.LAUNCHES, PlanPane.FINDINGS, PlanPane.BINDING)


def plan_figures(details: PlanDetails) -> list[Figure]:
    """Return what the plan costs, promises and came to; each value's longest wording first."""
    plan, design = details.plan, details.plan.design
    launches = details.study.counts.launches
    drawn = f"{count(plan.samples)} of "
    strata, taken = counted(design.strata_count, "stratum", "strata"), details.costs.hours
    sampled = f"{duration(plan.sampled_duration_ns)} of {duration(plan.total_duration_ns)}"
    speedup, floor = ratio(plan.speedup), duration(plan.floor_ns)
    estimate = f"{duration(plan.estimate_ns)}, {share(plan.error)} off"
    return [
        *_drawn(drawn, launches, strata, design.strata_count, is_one_row=taken is not None),
        ("sampled", (sampled, duration(plan.sampled_duration_ns))),
        ("speedup", (f"{speedup}, {ratio(design.speedup)} expected", speedup)),
        *_hours(taken),
        *_bounds(design),
        *_pooled(details),
        *_floor(details, floor),
        *_judged(details),
        (
            "this draw" if design.random else "estimate",
            (f"estimates {estimate}", estimate, f"{share(plan.error)} off"),
        ),
        *_decisions(details),
    ]


def _floor(details: PlanDetails, floor: str) -> Iterator[Figure]:
    """Yield what visiting every kernel group takes at least; a plan that pools some need not."""
    if not details.study.groups.pooled.any():
        yield "floor", (f"{floor} to visit every kernel group", f"{floor}: every group", floor)


def _drawn(drawn: str, launches: int, strata: str, number: int, *, is_one_row: bool) -> Iterator[Figure]:
    """Yield how many launches are drawn in how many strata: in one row where another one needs the room."""
    forms = (drawn + counted(launches, "launch", "launches"), drawn + count(launches))
    if is_one_row:
        yield "drawn", (f"{forms[0]} in {strata}", f"{forms[1]} in {strata}", *forms)
    else:
        yield "drawn", forms
        yield "strata", (count(number),)


def _hours(taken: SimulationHours | None) -> Iterator[Figure]:
    """Yield what the plan takes to simulate, where a slowdown is known."""
    if taken is not None:
        drawn, longest = hours(taken.drawn), hours(taken.longest_launch)
        yield (
            "machine",
            (
                f"{drawn} on one, {hours(taken.expected)} expected, longest launch {longest}",
                f"{drawn}, longest launch {longest}",
                f"{drawn}, longest {longest}",
                drawn,
            ),
        )


def binding_shown(session: Session) -> tuple[tuple[Relaxation, ...], str, list[str]]:
    """Return the steps that raise the speedup, a heading, and a line each or what is said in their place."""
    study, found = session.study, session.binding
    if study is None or found is None:
        return (), "", ["plans with each option a step looser are being made"]
    if not found:
        return (), "", [why_none(study.design)]
    return found, *binding_table(found, study.counts.total_duration_ns, session.options.slowdown)


def _bounds(design: AnyDesign) -> Iterator[Figure]:
    if design.bound is None:
        forms: tuple[str, ...] = (
            "none: the launches are not drawn at random",
            "none: nothing is random",
            "none",
        )
        yield "bound", tuple(toned(form, "none", Tone.WARNING) for form in forms)
        return
    (met, tone), profiled = verdict(design), share(design.bound)
    if design.bound_with_noise is not None:
        promised = f"{share(design.bound_with_noise)} {met}"
        forms = (
            f"{promised}, of the simulated total, if {assumed_words(design)}",
            f"{promised}, of the simulated total",
            f"{promised}, of simulated total",
            f"{promised}, simulated",
            promised,
        )
        yield "promise", tuple(toned(form, promised, tone) for form in forms)
    else:
        profiled = f"{profiled} {met},"
    if design.group_bound is None:
        forms = (f"{profiled} of the profile's own time", f"{profiled} of the profile", profiled.rstrip(","))
    else:
        both = f"{profiled} of the profile, {share(design.group_bound)} of"
        forms = (
            f"{both} any kernel group not pooled",
            f"{both} any group",
            f"{profiled} of the profile",
            profiled.rstrip(","),
        )
    yield "bound", tuple(toned(form, met, tone) for form in forms)


def _pooled(details: PlanDetails) -> Iterator[Figure]:
    """Yield what is pooled, where something is."""
    study = details.study
    row = pooled_row(study)
    if row["groups"]:
        few = f"{row['groups']} of {len(study.counts.groups)}"
        groups, part = f"{few} groups", share(row["share"])
        yield (
            "pooled",
            (
                f"{groups}, {part} of the time: no bounds of their own",
                f"{groups}, {part} of time",
                f"{groups}, {part}",
                groups,
                few,
            ),
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
        tone = Tone.GOOD if judgement.within_epsilon >= options.confidence else Tone.BAD
        forms = (f"{within} within epsilon, {stated} stated", f"{within} (stated: {stated})", within)
        yield "within", tuple(toned(form, within, tone) for form in forms)


def _decisions(details: PlanDetails) -> Iterator[Figure]:
    number = decisions(details.session.overrides)
    if number:
        yield "decisions", (f"{count(number)} of yours, in the split tree", count(number))


def pane_text(
    pane: PlanPane,
    details: PlanDetails,
    size: Size,
    canvas: Canvas,
    binding: tuple[Relaxation, ...] | None = None,
) -> str:
    """Return what the pane's command prints.

    If the pane's content is not computed yet, these are the figures, and the command prints those.

    Parameters
    ----------
    size : width and height of the chart.
    canvas : of the whole terminal.
    binding : what binds, if that is known.
    """
    if pane is PlanPane.TRADE_OFF and details.trade_off.points:
        known = details.trade_off
        # As the command sees it, which is told of those epsilons alone.
        known = replace(known, epsilons=tuple(each.epsilon for each in _tried(known)))
        return trade_off_text(known, *size, canvas) + "\n"
    listing = details.strata if pane is PlanPane.STRATA else details.launches
    if pane in {PlanPane.STRATA, PlanPane.LAUNCHES} and listing is not None:
        return listing.text(canvas.width, ascii_only=canvas.ascii_only) + "\n"
    costs = replace(details.costs, binding=binding if pane is PlanPane.BINDING else None)
    return plan_text(details.study, details.plan, canvas, costs, details.judgement) + "\n"


def pane_command(
    pane: PlanPane, details: PlanDetails, size: Size, binding: tuple[Relaxation, ...] | None = None
) -> str:
    """Return the command line that prints what `pane_text` gives; split decisions are written to a file.

    Raises
    ------
    OSError : that file cannot be written.
    """
    options = options_with_overrides(details.session)
    if pane is PlanPane.TRADE_OFF and details.trade_off.points:
        width, height = size
        of_chart = options_of(
            TradeOffOptions, options, epsilons=_epsilons(details), width=width, height=height
        )
        return command_line("trade-off", of_chart, always=("method",))
    listed = {
        PlanPane.STRATA: None if details.strata is None else PlanList.STRATA,
        PlanPane.LAUNCHES: None if details.launches is None else PlanList.LAUNCHES,
    }.get(pane)
    # Before the plan is judged, the command does not judge it either.
    judge = options.judge if listed or details.is_judged else 0
    binds = pane is PlanPane.BINDING and binding is not None
    asked = replace(options, list=listed, judge=judge, binding=binds, details=listed is None)
    return command_line("sample", asked, always=("method",))


def _epsilons(details: PlanDetails) -> str | None:
    """Return the epsilons of what is known; None where they are all."""
    if details.is_traded:
        return None
    return ",".join(f"{each.epsilon!r}" for each in _tried(details.trade_off))


def _tried(known: TradeOff) -> tuple[TradeOffPoint | NoPoint, ...]:
    return *known.points, *known.missing
