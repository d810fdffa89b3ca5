"""What view 3 knows of its plan: computed in a worker, said in its figures, written to files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from sampling.errors import OptionError
from sampling.parallel import Progress
from sampling.plan.design import Design
from sampling.plan.draft import Draft
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import PlannedLaunch, read_plan
from sampling.plan.plan_summary import pooled_groups
from sampling.plan.sensitivity import (
    NoPoint,
    PlanCosts,
    TradeOffPoint,
    check_has_trade_off,
    default_epsilons,
    simulation_hours,
    trade_off,
    trade_off_point,
)
from sampling.simulators.export import ExportChoices
from sampling.simulators.registry import exported_folder, find_exporter, starts_cold
from sampling.strata.target import Target
from sampling.text import counted
from tui.app.state import Session, decisions, same_overrides
from tui.charts.quantities import count, duration, hours, ratio, share
from tui.options.command_line import error_text
from tui.options.files import PLAN_NAME, is_there
from tui.output.blocks import Listing, Phrases, Tone, toned
from tui.output.files import write_folder, write_text
from tui.text.plan import assumed_words, launch_listing, stratum_listing, verdict
from tui.text.run import after_export
from tui.text.trade_off import TradeOff

SOON_JUDGED = 4_000_000
"""Launches drawn in less than a second."""
Figure = tuple[str, tuple[str | Phrases, ...]]
"""Its name, and its wordings, the longest first."""


class PlanPane(StrEnum):
    """What a pane shows."""

    FIGURES = "plan"
    TRADE_OFF = "trade-off"
    STRATA = "strata"
    LAUNCHES = "launches"
    FINDINGS = "findings"
    BINDING = "binding"


@dataclass(frozen=True)
class PlanDetails:
    """A drawn plan, and what is known of it so far."""

    #: Whose draft and options it is of.
    session: Session
    draft: Draft
    plan: Plan
    #: None if it is not judged (yet).
    judgement: Judgement | None = None
    #: Of the trade-off, by epsilon, or why there is none.
    points: Mapping[float, TradeOffPoint | NoPoint] = field(default_factory=dict)
    #: Strata and launches as tables, once they are first shown.
    listings: Mapping[PlanPane, Listing] = field(default_factory=dict)
    #: The drawn launches, found in the profile.
    located: tuple[PlannedLaunch, ...] | None = None

    @property
    def is_judged(self) -> bool:
        """Whether its error is known, or is not asked for."""
        return self.judgement is not None or not self.session.options.judge

    @cached_property
    def costs(self) -> PlanCosts:
        """What it takes to simulate, where a slowdown is known."""
        slowdown = self.session.options.slowdown
        return PlanCosts(
            slowdown=slowdown, hours=None if slowdown is None else simulation_hours(self.plan, slowdown)
        )

    @cached_property
    def why_no_trade_off(self) -> str:
        """Why its method has no trade-off, in words; "" where it asks for an epsilon and so has one."""
        try:
            check_has_trade_off(self.session.request.method)
        except OptionError as error:
            return error_text(error)
        return ""

    @cached_property
    def target(self) -> Target:
        """What is asked of the plan."""
        return self.session.request.target

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """Those of the trade-off, in the order they are computed."""
        return default_epsilons(self.target.epsilon)

    @property
    def trade_off(self) -> TradeOff:
        """The points of the trade-off computed so far."""
        tried = [self.points[epsilon] for epsilon in self.epsilons if epsilon in self.points]
        points = tuple(point for point in tried if isinstance(point, TradeOffPoint))
        missing = tuple(point for point in tried if isinstance(point, NoPoint))
        return TradeOff(self.session.request.method, self.target, self.epsilons, points, missing, self.costs)

    @property
    def is_traded(self) -> bool:
        """Whether the trade-off is complete, or there is none."""
        return bool(self.why_no_trade_off) or self.trade_off.tried == len(self.epsilons)

    @property
    def curve(self) -> object:
        """What decides the points of its trade-off: all but epsilon."""
        asked, counts, overrides = self.session.request, id(self.draft.counts), id(self.session.overrides)
        target = replace(self.target, epsilon=0.5)
        return counts, overrides, asked.method, target, asked.seed, asked.set


# What is computed, step by step.


def drawn(session: Session, draft: Draft, before: PlanDetails | None) -> PlanDetails:
    """Draw the plan; the points known of the plan before are kept where they are the same."""
    details = PlanDetails(session, draft, drawn_plan(draft.counts, draft.design, session.request.seed))
    if details.why_no_trade_off:
        return details
    points = before.points if before is not None and before.curve == details.curve else {}
    epsilon = details.target.epsilon
    return replace(details, points={epsilon: trade_off_point(draft.design, epsilon), **points})


def judged(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Judge the plan by repeated draws."""
    options, design = details.session.options, details.plan.design
    yield replace(details, judgement=judge_design(design, options.judge, options.request.seed, progress))


def traded(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Design a plan at each epsilon that is not known yet."""
    session, curve = details.session, dict(details.points)
    points = trade_off(
        details.draft.counts,
        session.request.method,
        details.target,
        session.request.seed,
        [epsilon for epsilon in details.epsilons if epsilon not in curve],
        settings=session.request.set,
        overrides=session.overrides or None,
        progress=progress,
    )
    for point in points:
        curve[point.epsilon] = point
        yield replace(details, points=dict(curve))


def listed(pane: PlanPane, details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Make the table of strata, or find the launches in the profile and make theirs."""
    located = details.located
    if pane is PlanPane.STRATA:
        listing = stratum_listing(details.draft, details.plan)
    else:
        located = located or find_planned_launches(details.draft, details.plan, progress)
        listing = launch_listing(details.draft, details.plan, located)
    # Made here so that the screen need not wait for them.
    _ = listing.widths
    yield replace(details, located=located, listings={**details.listings, pane: listing})


# How it is said.


def whose_options(session: Session, opened: Session) -> tuple[str, ...]:
    """Return whose the options and decisions are where a plan file was `opened`, the longest form first.

    Where none was, the keys.
    """
    if session.plan is None:
        return ("enter, + -",)
    name = Path(session.plan.path).name
    is_as_opened = session.options == opened.options and same_overrides(session.overrides, opened.overrides)
    return (f"of {name}",) if is_as_opened else (f"not those of {name}", "changed")


def plan_figures(details: PlanDetails) -> list[Figure]:
    """Return what the plan costs, promises and came to; each value in two forms, the longer one first."""
    plan, design, draft, options = details.plan, details.plan.design, details.draft, details.session.options
    machine_hours, launches, pooled = details.costs.hours, draft.counts.launches, pooled_groups(draft)
    samples, sampled = f"{count(plan.samples)} of {count(launches)}", duration(plan.sampled_duration_ns)
    figures: list[Figure] = []
    if machine_hours is None:
        figures.append(("drawn", (f"{samples} {'launch' if launches == 1 else 'launches'}", samples)))
        figures.append(("strata", (count(design.strata_count),)))
    else:
        # One row, as the hours need another.
        figures.append(
            ("drawn", (f"{samples} in {counted(design.strata_count, 'stratum', 'strata')}", samples))
        )
    figures += [
        ("sampled", (f"{sampled} of {duration(plan.total_duration_ns)}", sampled)),
        ("speedup", (f"{ratio(design.speedup)} expected" if design.random else ratio(design.speedup),)),
    ]
    if machine_hours is not None:
        machine, longest = hours(machine_hours.drawn), hours(machine_hours.longest_launch)
        long_form = f"{machine} on one, {hours(machine_hours.expected)} expected, longest launch {longest}"
        figures.append(("machine", (long_form, f"{machine}, longest {longest}")))
    figures += _bounds(design)
    if pooled.groups:
        short_form = f"{pooled.groups} of {len(draft.counts.groups)} groups"
        part = f"{short_form}, {share(pooled.share)} of time"
        figures.append(("pooled", (f"{part}: no bounds of their own", part)))
    else:
        # What visiting every kernel group takes at least; a plan that pools some need not.
        floor = duration(plan.floor_ns)
        figures.append(("floor", (f"{floor} to visit every kernel group", f"{floor}: every group")))
    if design.random:
        figures += _judged(details.judgement, options.judge, design.target)
    off = f"{share(plan.error)} off"
    name = "this draw" if design.random else "estimate"
    figures.append((name, (f"time {duration(plan.estimate_ns)}, {off}", off)))
    if number := decisions(details.session.overrides):
        figures.append(("decisions", (f"{count(number)} of yours, in the split tree", count(number))))
    return figures


def _bounds(design: Design) -> Iterator[Figure]:
    if (promise := design.promise) is None:
        forms = "none: the launches are not drawn at random", "none"
        yield "bound", tuple(toned(form, "none", Tone.WARNING) for form in forms)
        return
    (met, tone), promised = verdict(design), f"within {share(promise.error)}"
    asked = f"{share(design.target.epsilon)} asked for: {met}"
    forms = (f"{promised}, {asked}, if {assumed_words(promise)}", f"{promised}, {met}")
    yield "cycles", tuple(toned(form, promised, tone) for form in forms)
    # Of the profile's own time nothing is assumed.
    profiled = f"within {share(promise.bound)}, as profiled"
    groups = "" if promise.group_bound is None else f", any group's within {share(promise.group_bound)}"
    yield "time", (f"{profiled}{groups}", profiled)


def _judged(judgement: Judgement | None, draws: int, target: Target) -> Iterator[Figure]:
    if judgement is None:
        yield "judged", (f"not yet, by {counted(draws, 'draw')}", "not yet") if draws else ("not asked for",)
        return
    off, p95 = f"{share(judgement.error_mean)} off", share(judgement.error_p95)
    draws_within = f"95 % of {counted(judgement.repeats, 'draw')} within {p95}"
    yield "judged", (f"{off} in time, {draws_within}", f"{off} in time", off)
    if judgement.within_epsilon is not None:
        within_share, epsilon = share(judgement.within_epsilon), share(target.epsilon)
        tone = Tone.GOOD if judgement.within_epsilon >= target.confidence else Tone.BAD
        kept = f"{within_share} of draws keep {epsilon}"
        forms = (f"{kept}, {share(target.confidence)} promised", kept, within_share)
        yield "within", tuple(toned(form, within_share, tone) for form in forms)


# The plan as files: its own, and those that an exporter makes of it.


def write_plan(
    details: PlanDetails, path: Path, exporter: str | None, traces: str, progress: Progress
) -> str:
    """Write the plan, or what an exporter makes of it, with these traces or ""; say what was written.

    Raises OptionError where there is a file of that name.
    """
    if exporter is None:
        save_plan(details, path, progress)
        return f"plan written to {path}"
    # The exporter is given a plan file, as `export` gives it one.
    with TemporaryDirectory(prefix="kernelpoint-") as scratch:
        save_plan(details, Path(scratch) / PLAN_NAME, progress)
        return export_file(Path(scratch) / PLAN_NAME, exporter, path, traces, progress)


def save_plan(details: PlanDetails, path: Path, progress: Progress) -> None:
    """Write a plan file, as `sample -o` does; OptionError where there is a file of that name."""
    check_new(path)
    draft, plan = details.draft, details.plan
    located = details.located or find_planned_launches(draft, plan, progress)
    write_text(plan_document(draft, plan, located).text(), path)


def check_new(path: Path) -> None:
    """Refuse, with OptionError, a file that is there."""
    if is_there(path):
        raise OptionError(f"{path} exists", remedy="give another name")


def export_file(
    path: Path, to: str, folder: Path, traces: str, progress: Progress, following: str | None = None
) -> str:
    """Write what an exporter makes of a plan file, of a larger one what is new; say what, and what is next.

    `following`: the command that takes the results; that of the total if None.

    Raises SamplingError or OSError where nothing is written.
    """
    choices = ExportChoices(traces=traces or None, progress=progress)
    paths = write_folder(folder, exported_folder(read_plan(str(path)), to, choices), force=False)
    summary = paths[0] if len(paths) == 1 else f"{len(paths)} files in {folder}"
    instruction, after = after_export(paths, to, choices.traces, str(folder))
    if following is None or find_exporter(to).only_records(choices):
        following = after
    caches = "; launches start cold" if starts_cold(to, choices) else ""
    return f"written: {summary}{caches}; next: {instruction}, then {following}"
