"""What is known of a plan beyond its figures, in a pane each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from tui.app.frame.chart import Chart
from tui.app.frame.line import PaneTitle
from tui.app.plan.details import PlanDetails
from tui.app.plan.findings_page import PlanFindings
from tui.app.plan.long_table import PlanList
from tui.app.plan.panes import DETAILS, PlanPane


class PlanDetailPanes(Container):
    """The trade-off, the strata, the launches, the findings: all, or one of them where there is little room.

    Attributes
    ----------
    chosen : the one to show where there is room for one.
    """

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(id="plan-details")
        self._ascii_only = ascii_only
        self.chosen = PlanPane.TRADE_OFF

    def compose(self) -> ComposeResult:
        """A title over each."""
        contents = (
            Chart(id="trade-off"),
            PlanList(ascii_only=self._ascii_only),
            PlanList(ascii_only=self._ascii_only),
            PlanFindings(ascii_only=self._ascii_only),
        )
        for pane, content in zip(DETAILS, contents, strict=True):
            with Vertical(id=f"{pane}-pane", classes="pane"):
                yield PaneTitle(ascii_only=self._ascii_only)
                yield content

    def lay_out(self, *, has_room: bool) -> None:
        """Show all of them, or the chosen one alone."""
        for pane in DETAILS:
            self._pane(pane).display = has_room or pane is self.chosen

    def turn(self) -> None:
        """Choose the next one, the first after the last; where all are in sight, by what has the focus."""
        before = self.focused if self.are_all_in_sight else self.chosen
        if before is not None:
            self.chosen = DETAILS[(DETAILS.index(before) + 1) % len(DETAILS)]

    @property
    def are_all_in_sight(self) -> bool:
        """Whether there is room for all."""
        return all(map(self.is_in_sight, DETAILS))

    def is_in_sight(self, pane: PlanPane) -> bool:
        """Return whether one of them is shown."""
        return self.display and self._pane(pane).display

    @property
    def focused(self) -> PlanPane | None:
        """The one that has the focus; None if none of them has."""
        return next(
            (pane for pane in DETAILS if self._pane(pane).has_focus_within and self.is_in_sight(pane)), None
        )

    def show(self, details: PlanDetails, problems: Mapping[PlanPane, str]) -> None:
        """Show what is known so far, and why what could not be computed is not there."""
        chart = self.query_one(Chart)
        why_no_chart = problems.get(PlanPane.TRADE_OFF, details.why_no_trade_off)
        if why_no_chart:
            chart.say(why_no_chart)
        else:
            chart.show(partial(details.trade_off.chart, ascii_only=self._ascii_only))
        for pane, listing in ((PlanPane.STRATA, details.strata), (PlanPane.LAUNCHES, details.launches)):
            if listing is not None:
                self._list(pane).show(listing)
            elif pane in problems:
                self._list(pane).say(problems[pane])

    def place(self, pane: PlanPane) -> str:
        """Which rows of a table are in sight, of how many; of what is no table, nothing."""
        return self._list(pane).place if pane in {PlanPane.STRATA, PlanPane.LAUNCHES} else ""

    def content(self, pane: PlanPane) -> Widget:
        """What stands below a pane's title, and takes the focus."""
        return next(child for child in self._pane(pane).children if child.can_focus)

    def _list(self, pane: PlanPane) -> PlanList:
        return self.query_one(f"#{pane}-pane PlanList", PlanList)

    def _pane(self, pane: PlanPane) -> Widget:
        return self.query_one(f"#{pane}-pane")
