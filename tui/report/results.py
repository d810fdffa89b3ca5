"""Results of the plan's simulation in a report: read as `estimate` reads them, and shown as it shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sampling.errors import AnalysisError, OptionError, SamplingError
from sampling.estimation.plan_estimate import PlanEstimate
from sampling.plan.other_recording.plan_check import made_from
from sampling.plan.plan import Plan
from sampling.plan.study import Study
from sampling.plan.written_plan import find_planned_launches, plan_text
from sampling.progress import Progress
from tui.charts import quantities
from tui.engine.estimating import estimated, missing_to_target
from tui.options.estimate import EstimateOptions, ResultsOptions
from tui.options.flags import error_text
from tui.options.report import ReportOptions
from tui.options.shared import OutputOptions
from tui.output.files import scratch_file
from tui.report.sections import Block, Table
from tui.terminal.tables import pairs
from tui.text.estimate import (
    cache_lines,
    missing_lines,
    next_text,
    part_lines,
    refuted,
    seen_lines,
    target_text,
    total_lines,
)
from tui.text.estimate_tables import (
    NO_GROUPS,
    compared_groups,
    group_listing,
    next_listing,
    places_named,
)

if TYPE_CHECKING:
    from sampling.estimation.topped_up_plan import ToppedUp

_NAME_WIDTH = 48


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedTotals:
    """What results of the plan's launches say.

    Attributes
    ----------
    larger : the plan with what the next round is to simulate; None where no target is given, or it is met.
    why_no_larger : why there is none although the target is not met; else empty.
    """

    found: PlanEstimate
    larger: ToppedUp | None
    why_no_larger: str


def check_results_options(options: ReportOptions) -> None:
    """Refuse options of results where no results are given.

    Raises
    ------
    OptionError : one is given.
    """
    if options.results:
        return
    own = {each.name for each in fields(ResultsOptions)} - {each.name for each in fields(OutputOptions)}
    for each in fields(options):
        if each.name in own | {"plan"} and getattr(options, each.name) != each.default:
            raise OptionError(
                f"{each.metadata['flags'][0]} is about results, and none are given",
                remedy="give --results FILE, what a simulator wrote of the plan's launches",
            )


def simulated_totals(study: Study, plan: Plan, options: ReportOptions, progress: Progress) -> SimulatedTotals:
    """Read results of the plan, or of the plan file that is named, and estimate the whole run's totals.

    Raises
    ------
    AnalysisError : the plan file is not of this profile.
    SamplingError : see `estimated`.
    """
    if options.plan is not None:
        found = _found(options.plan, options, progress)
        if not made_from(study.profile, found.found.plan):
            raise AnalysisError(
                f"--plan {options.plan}: it was made from another profile",
                remedy="give the profile that it was made from",
            )
        return found
    with scratch_file() as path:
        launches = find_planned_launches(study, plan, progress)
        path.write_text(plan_text(study, plan, launches), encoding="utf-8", errors="backslashreplace")
        return _found(str(path), options, progress)


def _found(plan: str, options: ReportOptions, progress: Progress) -> SimulatedTotals:
    shared: dict[str, Any] = {each.name: getattr(options, each.name) for each in fields(ResultsOptions)}
    asked = EstimateOptions(**shared, plan=plan, results=options.results, groups=True)
    found = estimated(asked, progress)
    try:
        return SimulatedTotals(found, missing_to_target(found, asked, progress), "")
    except SamplingError as error:
        return SimulatedTotals(found, None, error_text(error))


def results_blocks(simulated: SimulatedTotals, options: ReportOptions) -> Iterator[Block]:
    """Yield the totals, each kernel group's share of them, and what to run next."""
    found = simulated.found
    of = "" if options.plan is None else f"The plan is that of {options.plan}."
    yield from (f"{line}." for line in (*missing_lines(found), *cache_lines(found)))
    yield from (of,) if of else ()
    yield Table("What the simulator's results say of the whole run", pairs(total_lines(found)))
    said = (*part_lines(found), *seen_lines(found), *refuted(found), *found.notes)
    yield from (f"{_begun(line.strip().removesuffix('.'))}." for line in said)
    yield from _groups(found, options.top)
    yield from _next(simulated, options)


def _groups(found: PlanEstimate, top: int) -> Iterator[Block]:
    groups = compared_groups(found)
    if not groups:
        yield f"{_begun(NO_GROUPS)}."
        return
    shares = [group.simulated_share or 0.0 for group in groups[:top]]
    bars = {"simulated": tuple(share / (max(shares) or 1.0) for share in shares)}
    caption = "Kernel groups: shares of the whole, simulated and profiled, and how far each total's interval"
    yield Table(f"{caption} reaches", group_listing(found).columns(_NAME_WIDTH, top), bars)
    left = len(groups) - len(shares)
    yield from (f"{quantities.count(left)} smaller groups are not listed.",) if left else ()
    yield from places_named(found)


def _next(simulated: SimulatedTotals, options: ReportOptions) -> Iterator[Block]:
    if options.target is None:
        return
    yield f"{_begun(target_text(simulated.found, options.target, accept_cold=options.accept_cold))}."
    if simulated.larger is None:
        yield from (f"{_begun(simulated.why_no_larger)}.",) if simulated.why_no_larger else ()
        return
    yield f"{_begun(next_text(simulated.larger))}."
    listing = next_listing(simulated.larger)
    yield Table("To simulate next", listing.columns(_NAME_WIDTH, options.top))
    left = len(listing.labels) - options.top
    yield from (f"{quantities.count(left)} more: `estimate --top-up` writes them.",) if left > 0 else ()


def _begun(text: str) -> str:
    """Return words as the beginning of a sentence."""
    return text[:1].upper() + text[1:]
