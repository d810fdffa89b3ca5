"""The results of a simulator without widgets: each pane's title and text, and the command that prints it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from sampling.estimation.plan_estimate import PlanEstimate
from sampling.estimation.topped_up_plan import ToppedUp
from tui.charts import quantities
from tui.options.command_line import command_line, free_name
from tui.options.estimate import EstimateOptions
from tui.output.writer import Canvas
from tui.text.estimate import estimate_text
from tui.text.estimate_tables import NO_GROUPS, group_listing, next_listing
from tui.text.plan_tables import Listing

LARGER_NAME = "more.json"
"""The larger plan's file in the command that is printed for the user to run."""


class ResultsPane(StrEnum):
    """What a pane shows."""

    TOTALS = "estimate"
    GROUPS = "groups"
    NEXT = "next"


#: The tables that take turns below the totals.
TABLES = (ResultsPane.GROUPS, ResultsPane.NEXT)


@dataclass(frozen=True)
class Known:
    """What is known of a simulator's results.

    Attributes
    ----------
    asked : the options of the command that says the same.
    larger : the plan with what to run next; None without a target, where it is met, or before it is drawn.
    why_no_larger : why it cannot be drawn, in words.
    doing : what is still being computed, in words.
    """

    asked: EstimateOptions
    found: PlanEstimate
    larger: ToppedUp | None = None
    why_no_larger: str = ""
    doing: str = ""

    def cancelled(self) -> Known:
        """Return the same where nothing more is computed."""
        return replace(self, doing="", why_no_larger="cancelled")

    @cached_property
    def groups(self) -> Listing:
        """The kernel groups, simulated against profiled."""
        return group_listing(self.found)

    @cached_property
    def next(self) -> Listing | None:
        """The launches to simulate next; None where there is no larger plan."""
        return None if self.larger is None else next_listing(self.larger)


def table_of(pane: ResultsPane, known: Known | None) -> tuple[Listing | None, str]:
    """Return the table of a pane, or the words in its place."""
    if known is None:
        return None, ""
    if pane is ResultsPane.GROUPS:
        return (known.groups, "") if len(known.groups.labels) else (None, NO_GROUPS)
    if known.next is not None:
        return known.next, ""
    return None, _why_nothing_next(known)


def _why_nothing_next(known: Known) -> str:
    target = known.asked.target
    if target is None:
        return "no target is asked for: o, and a fraction such as 0.05"
    if known.why_no_larger:
        return known.why_no_larger
    if known.doing:
        return known.doing
    return f"nothing: the total is within {quantities.share(target)}, as asked for"


def pane_title(
    pane: ResultsPane, known: Known | None, doing: str = "", place: str = ""
) -> tuple[str, tuple[str, ...]]:
    """Return a pane's name, and what it shows of how much, the longest form first.

    Parameters
    ----------
    doing : what is being read, in words.
    place : which rows of a table are visible, or that there is more of the totals.
    """
    if pane is ResultsPane.GROUPS:
        return "[t] Kernel groups: shares of time, simulated and profiled", (place,)
    if pane is ResultsPane.NEXT:
        is_there = known is not None and known.larger is not None
        return "[t] To simulate next", (f"S saves the larger plan; {place}" if is_there else place, place)
    busy = doing or ("" if known is None else known.doing)
    verdict = _verdict(known)
    name = "Results" if known is None else f"Results of {known.asked.plan}"
    states = (f"{verdict}; {place}" if verdict and place else verdict or place, place)
    return f"[o] {name}", (f"{busy}; esc cancels", busy) if busy else states


def _verdict(known: Known | None) -> str:
    """Return whether the total is as narrow as asked for, which may stand below what fits the pane."""
    target = None if known is None else known.asked.target
    if known is None or target is None:
        return ""
    asked = quantities.share(target)
    if known.found.is_within(target, accept_cold=known.asked.accept_cold):
        return f"within {asked}"
    if known.found.main.is_within(target):
        return f"within {asked}, but {'a lower bound' if known.found.caches.is_lower_bound else 'cold'}"
    return f"not within {asked}" + (", t what is next" if known.larger is not None else "")


def totals_words(known: Known | None, canvas: Canvas) -> str:
    """Return the totals in words, and after them why there is no larger plan, if one is missing."""
    if known is None:
        return ""
    words = estimate_text(known.found, known.larger, known.asked, canvas, "")
    return f"{words}\nnothing to run next: {known.why_no_larger}" if known.why_no_larger else words


def pane_text(pane: ResultsPane, known: Known | None, canvas: Canvas) -> str:
    """Return what the pane's command prints; nothing before results are read.

    Parameters
    ----------
    canvas : of the whole terminal.
    """
    if known is None:
        return ""
    options = _options_of(pane, known)
    return estimate_text(known.found, known.larger, options, canvas, "") + "\n"


def pane_command(pane: ResultsPane, known: Known) -> str:
    """Return the command line that prints what `pane_text` gives; the larger plan goes to a new file."""
    top_up = None if known.larger is None else free_name(LARGER_NAME)
    return command_line("estimate", replace(_options_of(pane, known), top_up=top_up))


def _options_of(pane: ResultsPane, known: Known) -> EstimateOptions:
    return replace(known.asked, groups=pane is ResultsPane.GROUPS)
