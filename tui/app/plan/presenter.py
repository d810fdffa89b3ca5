"""View 3 without widgets: each pane's title, figures and text, and the command that prints the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from sampling.plan.design import Design
from sampling.plan.nearby import Relaxation
from sampling.text import counted
from tui.app.overrides_file import options_with_overrides
from tui.app.plan.details import PlanDetails
from tui.app.state import Session, decisions, same_overrides
from tui.charts.quantities import count, duration, hours, ratio, share
from tui.options.choices import PlanList
from tui.options.command_line import command_line, options_of
from tui.options.plan import TradeOffOptions
from tui.output.writer import Canvas
from tui.text.facts import draws_text
from tui.text.plan import plan_text
from tui.text.promise import assumed_words, binding_table, pooled_row, verdict, why_none
from tui.text.tones import Tone, Words, toned
from tui.text.trade_off import TradeOff, level_forms, missing_forms, trade_off_text

Figure = tuple[str, tuple[str | Words, ...]]
"""Its name, and its wordings, the longest first."""


class PlanPane(StrEnum):
    """What a pane shows."""

    FIGURES = "plan"
    TRADE_OFF = "trade-off"
    STRATA = "strata"
    LAUNCHES = "launches"
    FINDINGS = "findings"
    BINDING = "binding"


DETAILS = (PlanPane.TRADE_OFF, PlanPane.STRATA, PlanPane.LAUNCHES, PlanPane.FINDINGS, PlanPane.BINDING)
"""The panes that take turns in one place on a small screen."""

_NAMES = {
    PlanPane.FIGURES: ("[tab] Costs and promises", "[tab] Costs"),
    PlanPane.TRADE_OFF: ("[t] Trade-off: speedup over epsilon", "[t] Trade-off"),
    PlanPane.STRATA: ("[t] Strata",),
    PlanPane.LAUNCHES: ("[t] Launches",),
    PlanPane.FINDINGS: ("[t] Findings",),
    PlanPane.BINDING: ("[b] What binds: an option by itself, a step looser", "[b] What binds"),
}
"""Of each pane, the longest first."""


def fitting_title(pane: PlanPane, states: tuple[str, ...], width: int) -> tuple[str, str]:
    """Return the longest of the states that fits a title of this width, and the longest name beside it."""
    names = _NAMES[pane]
    for state in states:
        for name in names:
            # With its rule and the blanks at both ends.
            if len(name) + 4 + (len(state) + 3 if state else 0) <= width:
                return name, state
    return names[-1], states[-1]


def whose_options(session: Session, opened: Session) -> str:
    """Return whose the options and split decisions are where a plan file was `opened`; else the keys."""
    if session.plan is None:
        return "enter, + -"
    is_as_opened = session.options == opened.options and same_overrides(session.overrides, opened.overrides)
    return f"{'of' if is_as_opened else 'not those of'} {Path(session.plan.path).name}"


def states_of(
    pane: PlanPane, session: Session, details: PlanDetails | None, place: str, *, is_short: bool
) -> tuple[str, ...]:
    """Return what a pane shows of how much, or its keys; the longest form first.

    Parameters
    ----------
    details : None while the plan is drawn, and where what the pane shows could not be computed.
    place : which rows are visible, if the pane has a table.
    is_short : whether the details are hidden behind a key.
    """
    states: tuple[str, ...] = ("",)
    if pane is PlanPane.FIGURES:
        # That it is planned is said by the line of the plan too.
        room = "[b] binds [B] budget [t] more" if is_short else "[b] what binds  [B] budget"
        keys = (room, *(("b B t more", "t more") if is_short else ("[b] binds [B] budget", "")))
        states = keys if session.doing is None else ("planning", "")
    elif pane is PlanPane.BINDING:
        if session.binding is None:
            states = "being found", ""
        elif session.binding:
            states = "enter takes a step  u undo", "enter, u undo", ""
    elif details is not None and pane is PlanPane.FINDINGS:
        states = (count(len(details.study.findings)),)
    elif details is not None and pane is PlanPane.TRADE_OFF:
        known = details.trade_off
        # Missing points are said first; where the curve is level can be seen.
        states = *(missing_forms(known) or level_forms(known)), ""
        if not details.is_traded:
            states = (f"{known.tried} of {len(details.epsilons)}",)
    elif details is not None:
        listing = details.strata if pane is PlanPane.STRATA else details.launches
        states = ("being listed" if listing is None else place,)
    return states


def binding_shown(session: Session) -> tuple[tuple[Relaxation, ...], str, list[str]]:
    """Return the steps that raise the speedup, a heading, and a line each or what is said in their place."""
    study, found = session.study, session.binding
    if study is None or found is None:
        return (), "", ["plans with each option a step looser are being made"]
    if not found:
        return (), "", [why_none(study.design)]
    return found, *binding_table(found, study.counts.total_duration_ns, session.options.slowdown)


def plan_figures(details: PlanDetails) -> list[Figure]:
    """Return what the plan costs, promises and came to; each value's longest wording first."""
    return list(_figures(details))


def _figures(details: PlanDetails) -> Iterator[Figure]:
    plan, study, taken = details.plan, details.study, details.costs.hours
    design, launches = plan.design, study.counts.launches
    samples = f"{count(plan.samples)} of "
    drawn = samples + counted(launches, "launch", "launches"), samples + count(launches)
    if taken is None:
        yield "drawn", drawn
        yield "strata", (count(design.strata_count),)
    else:
        # One row, as the hours need another.
        strata = counted(design.strata_count, "stratum", "strata")
        yield "drawn", (f"{drawn[0]} in {strata}", f"{drawn[1]} in {strata}", *drawn)
    sampled = duration(plan.sampled_duration_ns)
    yield "sampled", (f"{sampled} of {duration(plan.total_duration_ns)}", sampled)
    yield "speedup", (f"{ratio(plan.speedup)}, {ratio(design.speedup)} expected", ratio(plan.speedup))
    if taken is not None:
        machine, longest = hours(taken.drawn), hours(taken.longest_launch)
        whole = f"{machine} on one, {hours(taken.expected)} expected, longest launch {longest}"
        yield (
            "machine",
            (whole, f"{machine}, longest launch {longest}", f"{machine}, longest {longest}", machine),
        )
    yield from _bounds(design)
    pooled = pooled_row(study)
    if pooled["groups"]:
        few = f"{pooled['groups']} of {len(study.counts.groups)}"
        part = f"{few} groups, {share(pooled['share'])}"
        yield (
            "pooled",
            (
                f"{part} of the time: no bounds of their own",
                f"{part} of time",
                part,
                f"{few} groups",
                few,
            ),
        )
    if not study.groups.pooled.any():
        # What visiting every kernel group takes at least; a plan that pools some need not.
        floor = duration(plan.floor_ns)
        yield "floor", (f"{floor} to visit every kernel group", f"{floor}: every group", floor)
    if design.random:
        yield from _judged(details)
    off = f"{share(plan.error)} off"
    estimate = f"{duration(plan.estimate_ns)}, {off}"
    yield "this draw" if design.random else "estimate", (f"estimates {estimate}", estimate, off)
    if number := decisions(details.session.overrides):
        yield "decisions", (f"{count(number)} of yours, in the split tree", count(number))


def _bounds(design: Design) -> Iterator[Figure]:
    forms: tuple[str, ...]
    if design.bound is None:
        forms = "none: the launches are not drawn at random", "none: nothing is random", "none"
        yield "bound", tuple(toned(form, "none", Tone.WARNING) for form in forms)
        return
    (met, tone), profiled = verdict(design), share(design.bound)
    if design.bound_with_noise is None:
        profiled = f"{profiled} {met},"
    else:
        promised = f"{share(design.bound_with_noise)} {met}"
        forms = (
            f"{promised}, of the simulated total, if {assumed_words(design)}",
            f"{promised}, of the simulated total",
            f"{promised}, of simulated total",
            f"{promised}, simulated",
            promised,
        )
        yield "promise", tuple(toned(form, promised, tone) for form in forms)
    if design.group_bound is None:
        forms = (f"{profiled} of the profile's own time", f"{profiled} of the profile")
    else:
        both = f"{profiled} of the profile, {share(design.group_bound)} of"
        forms = (f"{both} any kernel group not pooled", f"{both} any group", f"{profiled} of the profile")
    yield "bound", tuple(toned(form, met, tone) for form in (*forms, profiled.rstrip(",")))


def _judged(details: PlanDetails) -> Iterator[Figure]:
    options, judgement = details.session.options, details.judgement
    if judgement is None:
        waits = f"not yet, by {draws_text(options.judge)}", "not yet"
        yield "judged", waits if options.judge else ("not asked for", "no")
        return
    mean, p95 = share(judgement.error_mean), share(judgement.error_p95)
    draws = draws_text(judgement.repeats)
    whole = f"mean error {mean}, 95th percentile {p95}, of {draws}"
    brief = f"mean {mean}, p95 {p95}"
    yield "judged", (whole, f"{brief} of {draws}", brief, f"mean {mean}")
    if judgement.within_epsilon is not None:
        within, stated = share(judgement.within_epsilon), share(options.confidence)
        tone = Tone.GOOD if judgement.within_epsilon >= options.confidence else Tone.BAD
        forms = (f"{within} within epsilon, {stated} stated", f"{within} (stated: {stated})", within)
        yield "within", tuple(toned(form, within, tone) for form in forms)


def pane_text(
    pane: PlanPane,
    details: PlanDetails,
    size: tuple[int, int],
    canvas: Canvas,
    binding: tuple[Relaxation, ...] | None = None,
) -> str:
    """Return what the pane's command prints; the figures where the pane's content is not computed yet.

    Parameters
    ----------
    size : columns and rows of the chart.
    canvas : of the whole terminal.
    binding : what binds, if that is known.
    """
    known = details.trade_off
    if pane is PlanPane.TRADE_OFF and known.points:
        # As the command sees it, which is told of those epsilons alone.
        return trade_off_text(replace(known, epsilons=_tried(known)), *size, canvas) + "\n"
    listing = details.strata if pane is PlanPane.STRATA else details.launches
    if pane in {PlanPane.STRATA, PlanPane.LAUNCHES} and listing is not None:
        return listing.text(canvas.width) + "\n"
    costs = replace(details.costs, binding=binding if pane is PlanPane.BINDING else None)
    return plan_text(details.study, details.plan, canvas, costs, details.judgement) + "\n"


def pane_command(
    pane: PlanPane,
    details: PlanDetails,
    size: tuple[int, int],
    binding: tuple[Relaxation, ...] | None = None,
) -> str:
    """Return the command line that prints what `pane_text` gives; split decisions are written to a file.

    Raises OSError where that file cannot be written.
    """
    options, known = options_with_overrides(details.session), details.trade_off
    if pane is PlanPane.TRADE_OFF and known.points:
        tried = ",".join(map(repr, _tried(known)))
        epsilons, (width, height) = None if details.is_traded else tried, size
        of_chart = options_of(TradeOffOptions, options, epsilons=epsilons, width=width, height=height)
        return command_line("trade-off", of_chart, always=("method",))
    listed = None
    if pane is PlanPane.STRATA and details.strata is not None:
        listed = PlanList.STRATA
    elif pane is PlanPane.LAUNCHES and details.launches is not None:
        listed = PlanList.LAUNCHES
    # Before the plan is judged, the command does not judge it either.
    judge = options.judge if listed or details.is_judged else 0
    binds = pane is PlanPane.BINDING and binding is not None
    asked = replace(options, list=listed, judge=judge, binding=binds, details=listed is None)
    return command_line("sample", asked, always=("method",))


def _tried(known: TradeOff) -> tuple[float, ...]:
    return *(each.epsilon for each in known.points), *(each.epsilon for each in known.missing)
