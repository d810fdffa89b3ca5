"""Each pane of the view of the plan as text, and the command that prints the same."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from sampling.plan.trade_off import NoPoint, TradeOffPoint
from tui.app.overrides_file import options_with_overrides
from tui.app.plan.details import PlanDetails
from tui.options.choices import PlanList
from tui.options.command_line import command_line, options_of
from tui.options.commands import TradeOffOptions
from tui.output.writer import Canvas
from tui.text.plan import plan_text
from tui.text.trade_off import TradeOff, trade_off_text


class PlanPane(StrEnum):
    """What a pane shows."""

    FIGURES = "plan"
    TRADE_OFF = "trade-off"
    STRATA = "strata"
    LAUNCHES = "launches"
    FINDINGS = "findings"


#: Those that share a place where there is little room.
DETAILS = (PlanPane.TRADE_OFF, PlanPane.STRATA, PlanPane.LAUNCHES, PlanPane.FINDINGS)

Size = tuple[int, int]


def pane_text(pane: PlanPane, details: PlanDetails, size: Size, canvas: Canvas) -> str:
    """Return what the pane's command prints.

    What is not there yet is not waited for: then it is the figures, and the command is theirs.

    Parameters
    ----------
    size : width and height of the chart.
    canvas : of the whole terminal.
    """
    if pane is PlanPane.TRADE_OFF and details.trade_off.points:
        known = details.trade_off
        # As the command sees it, which is told of those epsilons alone.
        known = replace(known, epsilons=tuple(each.epsilon for each in _tried(known)))
        return trade_off_text(known, *size, canvas) + "\n"
    listing = details.strata if pane is PlanPane.STRATA else details.launches
    if pane in {PlanPane.STRATA, PlanPane.LAUNCHES} and listing is not None:
        return listing.text(canvas.width, ascii_only=canvas.ascii_only) + "\n"
    return plan_text(details.study, details.plan, details.judgement, canvas) + "\n"


def pane_command(pane: PlanPane, details: PlanDetails, size: Size) -> str:
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
    # What is not judged yet is not judged by the command either.
    judge = options.judge if listed or details.is_judged else 0
    return command_line("sample", replace(options, list=listed, judge=judge), always=("method",))


def _epsilons(details: PlanDetails) -> str | None:
    """Return the epsilons of what is known; None where they are all."""
    if details.is_traded:
        return None
    return ",".join(f"{each.epsilon!r}" for each in _tried(details.trade_off))


def _tried(known: TradeOff) -> tuple[TradeOffPoint | NoPoint, ...]:
    return *known.points, *known.missing
