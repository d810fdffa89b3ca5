"""What view 3 knows of its plan beyond the study, computed step by step in a worker; the plan as files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from sampling.errors import OptionError
from sampling.methods.registry import method_named
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.nearby import (
    NoPoint,
    TradeOffPoint,
    check_has_trade_off,
    default_epsilons,
    point_of,
    simulation_hours,
    trade_off,
)
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import PlannedLaunch, read_plan
from sampling.plan.study import Study
from sampling.progress import Progress
from sampling.simulators.registry import exported_folder, exporter_named
from sampling.strata.target import Target
from tui.app.state import Session
from tui.engine.planning import PlanCosts
from tui.engine.studies import plan_options, target_of
from tui.options.command_line import PLAN_NAME, error_text
from tui.options.files import is_writable, why_not_written
from tui.output.files import write_folder, write_text
from tui.text.plan import Listing, launch_listing, stratum_listing
from tui.text.trade_off import TradeOff

_SOON_JUDGED = 4_000_000
"""Launches drawn in less than a second."""
_LONGEST_NAME = 255
"""Bytes of a file's name that the usual file systems take."""


@dataclass(frozen=True)
class PlanDetails:
    """A drawn plan, and what is known of it so far.

    Attributes
    ----------
    session : whose study and options it is of.
    judgement : None if it is not judged (yet).
    points : of the trade-off, by epsilon, or why there is none.
    strata, launches : as tables; None until they are first shown.
    located : the drawn launches, found in the profile.
    """

    session: Session
    study: Study
    plan: Plan
    judgement: Judgement | None = None
    points: Mapping[float, TradeOffPoint | NoPoint] | None = None
    strata: Listing | None = None
    launches: Listing | None = None
    located: tuple[PlannedLaunch, ...] | None = None

    @property
    def is_judged(self) -> bool:
        """Whether its error is known, or cannot be."""
        return self.judgement is not None or not self.session.options.judge

    @cached_property
    def costs(self) -> PlanCosts:
        """What it takes to simulate, where a slowdown is known."""
        slowdown = self.session.options.slowdown
        return PlanCosts(
            slowdown=slowdown, hours=None if slowdown is None else simulation_hours(self.plan, slowdown)
        )

    @property
    def is_soon_judged(self) -> bool:
        """Whether judging is fast."""
        return self.plan.samples * self.session.options.judge <= _SOON_JUDGED

    @property
    def has_trade_off(self) -> bool:
        """Whether its method asks for an epsilon."""
        return method_named(self.session.options.method).draws_at_random

    @cached_property
    def why_no_trade_off(self) -> str:
        """Why its method has no trade-off, in words; "" where it has one."""
        try:
            check_has_trade_off(self.session.options.method)
        except OptionError as error:
            return error_text(error)
        return ""

    @cached_property
    def target(self) -> Target:
        """What is asked of the plan."""
        return target_of(self.session.options)

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """Those of the trade-off, in the order they are computed."""
        return default_epsilons(self.target.epsilon)

    @property
    def trade_off(self) -> TradeOff:
        """The points of the trade-off computed so far."""
        known = self.points or {}
        tried = [known[epsilon] for epsilon in self.epsilons if epsilon in known]
        points = tuple(each for each in tried if isinstance(each, TradeOffPoint))
        missing = tuple(each for each in tried if isinstance(each, NoPoint))
        return TradeOff(self.session.options.method, self.target, self.epsilons, points, missing, self.costs)

    @property
    def is_traded(self) -> bool:
        """Whether the trade-off is complete, or there is none."""
        return not self.has_trade_off or self.trade_off.tried == len(self.epsilons)

    @property
    def curve(self) -> object:
        """What decides the points of its trade-off: all but epsilon."""
        options, counts, overrides = self.session.options, id(self.study.counts), id(self.session.overrides)
        target = replace(self.target, epsilon=0.5)
        return counts, overrides, options.method, target, options.seed, options.set


def drawn(session: Session, study: Study, before: PlanDetails | None) -> PlanDetails:
    """Draw the plan; the points known of the plan before are kept where they are the same."""
    details = PlanDetails(session, study, drawn_plan(study.counts, study.design, session.options.seed))
    if not details.has_trade_off:
        return details
    known = before.points or {} if before is not None and before.curve == details.curve else {}
    epsilon = details.target.epsilon
    return replace(details, points={epsilon: point_of(study.design, epsilon), **known})


def judged(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Judge the plan by repeated draws."""
    options, counts, design = details.session.options, details.study.counts, details.plan.design
    yield replace(details, judgement=judge_design(counts, design, options.judge, options.seed, progress))


def traded(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Design a plan at each epsilon that is not known yet."""
    session = details.session
    known: dict[float, TradeOffPoint | NoPoint] = dict(details.points or {})
    missing = [epsilon for epsilon in details.epsilons if epsilon not in known]
    points = trade_off(
        details.study.counts,
        session.options.method,
        details.target,
        session.options.seed,
        missing,
        settings=session.options.set,
        overrides=session.overrides or None,
        progress=progress,
    )
    for point in points:
        known[point.epsilon] = point
        yield replace(details, points=dict(known))


def strata_listed(details: PlanDetails, _progress: Progress) -> Iterator[PlanDetails]:
    """Make the table of strata."""
    listing = stratum_listing(details.study, details.plan)
    _ = listing.widths
    yield replace(details, strata=listing)


def launches_listed(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Find the launches in the profile, and make their table."""
    located = launches_found(details, progress)
    listing = launch_listing(details.study, details.plan, located)
    _ = listing.widths
    yield replace(details, located=located, launches=listing)


def launches_found(details: PlanDetails, progress: Progress) -> tuple[PlannedLaunch, ...]:
    """Return the drawn launches, looked for in the profile unless they are found already."""
    if details.located is not None:
        return details.located
    return find_planned_launches(details.study, details.plan, progress)


# The plan as files: its own, and those that an exporter makes of it.


def why_not_there(name: str, path: Path, *, is_folder: bool) -> str | None:
    """Return why the path, typed as `name`, cannot be written; None if it can, as an empty folder can."""
    if not name or len(os.fsencode(path.name)) > _LONGEST_NAME:
        return "the name is too long" if name else "a name is missing"
    if is_folder and path.is_dir() and not any(path.iterdir()):
        return None
    if path.exists():
        return f"{name} exists; give another name"
    why_not = why_not_written(path)
    if why_not is not None:
        return f"{name} {why_not}"
    folder = path.absolute().parent
    if not is_folder and not folder.is_dir():
        return f"there is no such folder: {folder}"
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return None if is_writable(there) else f"{there} takes no file; give another place"


def write_plan(details: PlanDetails, path: Path, exporter: str | None, progress: Progress) -> str:
    """Write the plan, or what an exporter makes of it; return in words what was written.

    Raises OptionError where there is a file of that name.
    """
    if exporter is None:
        save_plan(details, path, progress)
        return f"plan written to {path}"
    # The exporter is given a plan file, as `export` gives it one.
    with TemporaryDirectory(prefix="kernelpoint-") as scratch:
        save_plan(details, Path(scratch) / PLAN_NAME, progress)
        return export_file(Path(scratch) / PLAN_NAME, exporter, path)


def save_plan(details: PlanDetails, path: Path, progress: Progress) -> None:
    """Write a plan file, as `sample -o` does; OptionError where there is a file of that name."""
    if path.exists():
        raise OptionError(f"{path} exists", remedy="give another name")
    study, plan = details.study, details.plan
    recorded = plan_options(details.session.options, study, plan)
    write_text(plan_document(study, plan, launches_found(details, progress), recorded).text(), path)


def export_file(path: Path, to: str, folder: Path) -> str:
    """Write what an exporter makes of a plan file, of a larger one what is new; say what was written.

    Raises SamplingError or OSError where nothing is written.
    """
    written = write_folder(folder, exported_folder(read_plan(str(path)), to), force=False)
    what = written[0] if len(written) == 1 else f"{len(written)} files in {folder}"
    return f"written: {what}; {to}: {exporter_named(to).note}"
