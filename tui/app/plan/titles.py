"""The titles of view 3's panes: a name with its key, and what the pane shows of how much."""

from __future__ import annotations

from pathlib import Path

from tui.app.plan.details import PlanDetails
from tui.app.plan.presenter import PlanPane
from tui.app.state import Session, same_overrides
from tui.charts.quantities import count
from tui.text.trade_off import level_forms, missing_forms

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
    """Return how many cells a title needs, with its rule and the blanks at both ends."""
    return len(name) + 4 + (len(state) + 3 if state else 0)


def whose_options(session: Session, opened: Session) -> str:
    """Return whose the options and split decisions are where a plan file was opened; else the keys.

    Parameters
    ----------
    opened : the session that the app was opened with.
    """
    if session.plan is None:
        return "enter, + -"
    name = Path(session.plan.path).name
    is_as_opened = session.options == opened.options and same_overrides(session.overrides, opened.overrides)
    return f"of {name}" if is_as_opened else f"not those of {name}"


def figures_states(session: Session, *, is_short: bool) -> tuple[str, ...]:
    """Return that a plan is being made; else the keys that make it cheaper, and show hidden details."""
    if session.doing is not None:
        # The line of the plan says so too.
        return "planning", ""
    if is_short:
        return "[b] binds [B] budget [t] more", "b B t more", "t more"
    return "[b] what binds  [B] budget", "[b] binds [B] budget", ""


def detail_states(pane: PlanPane, details: PlanDetails, place: str) -> tuple[str, ...]:
    """Return what one of the details shows of how much, the longest form first.

    Parameters
    ----------
    place : which rows are visible, if the pane has a table.
    """
    if pane is PlanPane.FINDINGS:
        return (count(len(details.study.findings)),)
    if pane is PlanPane.TRADE_OFF:
        return _trade_off_states(details)
    listing = details.strata if pane is PlanPane.STRATA else details.launches
    return ("being listed" if listing is None else place,)


def _trade_off_states(details: PlanDetails) -> tuple[str, ...]:
    """Return how many points are known; once all are, from which epsilon on they are the same."""
    known, total = details.trade_off, len(details.epsilons)
    if details.has_trade_off and known.tried < total:
        return (f"{known.tried} of {total}",)
    # Missing points are said first; where the curve is level can be seen.
    return *(missing_forms(known) or level_forms(known)), ""


def binding_states(session: Session) -> tuple[str, ...]:
    """Return the keys of what binds, the longest form first; that it is looked for while it is."""
    if session.binding is None:
        return ("being found", "")
    return ("enter takes a step  u undo", "enter, u undo", "") if session.binding else ("",)
