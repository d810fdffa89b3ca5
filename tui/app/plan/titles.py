"""Titles of the panes of view 3: a name, and what the pane shows of how much, as far as there is room."""

from __future__ import annotations

from tui.app.plan.details import PlanDetails
from tui.app.plan.panes import PlanPane
from tui.app.state import Session
from tui.charts import quantities
from tui.text.trade_off import level_forms, missing_forms

_NAMES = {
    PlanPane.FIGURES: ("[tab] Costs and promises", "[tab] Costs"),
    PlanPane.TRADE_OFF: ("[t] Trade-off: speedup over epsilon", "[t] Trade-off"),
    PlanPane.STRATA: ("[t] Strata",),
    PlanPane.LAUNCHES: ("[t] Launches",),
    PlanPane.FINDINGS: ("[t] Findings",),
}
"""Of each pane, the longest first."""


def fitting_title(pane: PlanPane, states: tuple[str, ...], width: int) -> tuple[str, str]:
    """Return the longest of the states that fits a title of this width, and the longest name beside it.

    Parameters
    ----------
    states : what the pane shows of how much, the longest form first.
    """
    names = _NAMES[pane]
    pairs = ((name, state) for state in states for name in names)
    return next(
        ((name, state) for name, state in pairs if _cells(name, state) <= width),
        (names[-1], states[-1]),
    )


def _cells(name: str, state: str) -> int:
    """Return how many cells a title needs: rule and blanks, too, which the right end has of its own."""
    return len(name) + 4 + (len(state) + 3 if state else 0)


def figures_states(session: Session, *, is_short: bool) -> tuple[str, ...]:
    """Return that a plan is being made; else, where the details are out of sight, the way there."""
    if session.doing is not None:
        # The line of the plan says so too.
        return "planning", ""
    return ("[t] more", "t more") if is_short else ("",)


def detail_states(pane: PlanPane, details: PlanDetails, place: str) -> tuple[str, ...]:
    """Return what one of the details shows of how much, the longest form first.

    Parameters
    ----------
    place : which rows are in sight, where the pane has a table.
    """
    if pane is PlanPane.FINDINGS:
        return (quantities.count(len(details.study.findings)),)
    if pane is PlanPane.TRADE_OFF:
        return _trade_off_states(details)
    listing = details.strata if pane is PlanPane.STRATA else details.launches
    return ("being listed" if listing is None else place,)


def _trade_off_states(details: PlanDetails) -> tuple[str, ...]:
    """Return how many points are known; once all are, from where on they are the same."""
    known, total = details.trade_off, len(details.epsilons)
    if details.has_trade_off and known.tried < total:
        return (f"{known.tried} of {total}",)
    # What is missing is said first: where the curve levels can be seen.
    return *(missing_forms(known) or level_forms(known)), ""
