"""What the view of the plan shows beyond the study, computed step by step in a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sampling.errors import OptionError
from sampling.methods.registry import method_named
from sampling.plan.budget import simulation_hours
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.plan import Plan, drawn_plan
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.study import Study
from sampling.plan.trade_off import (
    NoPoint,
    TradeOffPoint,
    check_has_trade_off,
    default_epsilons,
    point_of,
    trade_off,
)
from sampling.plan.written_plan import find_planned_launches
from sampling.progress import Progress
from sampling.strata.target import Target
from tui.app.state import Session
from tui.engine.budgets import PlanCosts
from tui.engine.studies import target_of
from tui.options.flags import error_text
from tui.text.plan import Listing, launch_listing, stratum_listing
from tui.text.trade_off import TradeOff

# Launches drawn in less than a second.
_SOON_JUDGED = 4_000_000

Points = Mapping[float, TradeOffPoint | NoPoint]


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
    points: Points | None = None
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

    def shares_points_with(self, other: PlanDetails) -> bool:
        """Whether a point of the other's trade-off is one of this one's: all but epsilon is the same."""
        return (
            self.study.counts is other.study.counts
            and self.session.overrides is other.session.overrides
            and self._asked == other._asked
        )

    @property
    def _asked(self) -> object:
        options = self.session.options
        return options.method, replace(self.target, epsilon=0.5), options.seed, options.set


def drawn(session: Session, study: Study, before: PlanDetails | None) -> PlanDetails:
    """Draw the plan; what was computed for the plan before is kept where it is the same."""
    details = PlanDetails(session, study, drawn_plan(study.counts, study.design, session.options.seed))
    if not details.has_trade_off:
        return details
    known = before.points if before is not None and details.shares_points_with(before) else None
    epsilon = details.target.epsilon
    return replace(details, points={epsilon: point_of(study.design, epsilon), **(known or {})})


def judged(details: PlanDetails, progress: Progress) -> Iterator[PlanDetails]:
    """Judge the plan by repeated draws."""
    options = details.session.options
    yield replace(
        details,
        judgement=judge_design(
            details.study.counts, details.plan.design, options.judge, options.seed, progress
        ),
    )


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
