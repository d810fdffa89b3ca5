"""The widgets of view 3: the plan's figures, and below them its trade-off, strata, launches and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from sampling.plan.study import Study
from tui.app.actions import LIST, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.line import Line, PaneTitle, fitting, toned_segments
from tui.app.frame.page import Page, findings_toned
from tui.app.plan.binding_list import BindingList
from tui.app.plan.details import PlanDetails
from tui.app.plan.presenter import DETAILS, Figure, PlanPane, binding_shown
from tui.app.state import Session
from tui.charts.grid import fitted
from tui.text.plan import NO_ROWS, Listing
from tui.text.tones import words

_LABEL = 10
_NOTHING = Listing((), "", NO_ROWS)


class PlanFigures(Widget, can_focus=True):
    """Names and values; of each value the longest wording that has room."""

    COMPONENT_CLASSES = {"plan-figures--value", *Line.COMPONENT_CLASSES}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._figures: tuple[Figure, ...] = ()

    def show(self, figures: Sequence[Figure]) -> None:
        """Show these."""
        if tuple(figures) != self._figures:
            self._figures = tuple(figures)
            self.refresh()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The names and values shown, of each value all wordings."""
        return self._figures

    def render_line(self, y: int) -> Strip:
        """One figure."""
        width = self.size.width
        if y >= len(self._figures):
            return Strip.blank(width, self.rich_style)
        name, forms = self._figures[y]
        room = max(width - _LABEL - 1, 0)
        value = fitting(tuple(map(words, forms)), room, ascii_only=self._ascii_only)
        bold = self.get_component_rich_style("plan-figures--value", partial=True)
        segments = [
            Segment(f" {name}".ljust(_LABEL + 1)[:width], self.rich_style),
            *toned_segments(self, value, self.rich_style + bold),
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)


class PlanList(ScrollView, can_focus=True):
    """Strata or launches; only visible rows are made into text, so that even millions can be scrolled."""

    BINDINGS = bindings(LIST)
    COMPONENT_CLASSES = {"plan-list--head"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._listing = _NOTHING
        self._words = ""

    def show(self, listing: Listing) -> None:
        """Show another table from its start."""
        self._listing, self._words = listing, ""
        self._measure()
        self.scroll_home(animate=False)
        self.refresh()

    def say(self, words: str) -> None:
        """Show a text in place of a table."""
        self._listing, self._words = _NOTHING, words
        self._measure()
        self.refresh()

    @property
    def place(self) -> str:
        """Which rows are visible, of how many."""
        rows, first = len(self._listing.labels), self.scroll_offset.y
        last = min(first + self.size.height - 1, rows)
        return f"{first + 1:,}-{last:,} of {rows:,}" if rows else ""

    def _measure(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._listing.labels) + 1)

    def on_resize(self, _: events.Resize) -> None:
        """The last column takes the room there is."""
        self._measure()

    def render_line(self, y: int) -> Strip:
        """The headings, then one row."""
        width, style = self.size.width, self.rich_style
        number = self.scroll_offset.y + y - 1
        text = ""
        if not len(self._listing.labels):
            text = fitted(self._words, width, ascii_only=self._ascii_only) if y == 0 else ""
        elif y == 0:
            style += self.get_component_rich_style("plan-list--head", partial=True)
            text = self._listing.head(width, ascii_only=self._ascii_only)
        elif number < len(self._listing.labels):
            text = self._listing.row(number, width, ascii_only=self._ascii_only)
        return Strip([Segment(set_cell_size(text, width), style)], width)


class PlanFindings(Page):
    """Every finding's sentence and remedy, in the words of the commands."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(self._text)
        self._ascii_only = ascii_only
        self._study: Study | None = None

    def show(self, study: Study) -> None:
        """Show another study's findings."""
        self._study = study
        self.write_anew()

    def _text(self, width: int) -> Text:
        if self._study is None or not width:
            return Text()
        return findings_toned(self._study, width, ascii_only=self._ascii_only)


class PlanDetailPanes(Container):
    """The trade-off, the strata, launches, findings, what binds: all, or one where there is little room.

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
            BindingList(ascii_only=self._ascii_only),
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
        """Choose the next one, the first after the last; if all are visible, go from the one in focus."""
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
        """Show what is known so far, and why anything could not be computed."""
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

    def show_binding(self, session: Session) -> None:
        """Show what binds, once it is known."""
        self.query_one(BindingList).show(*binding_shown(session))

    def place(self, pane: PlanPane) -> str:
        """Which rows of a table are visible, of how many; nothing for a pane without a table."""
        return self._list(pane).place if pane in {PlanPane.STRATA, PlanPane.LAUNCHES} else ""

    def content(self, pane: PlanPane) -> Widget:
        """The widget below a pane's title, which takes the focus."""
        return next(child for child in self._pane(pane).children if child.can_focus)

    def _list(self, pane: PlanPane) -> PlanList:
        return self.query_one(f"#{pane}-pane PlanList", PlanList)

    def _pane(self, pane: PlanPane) -> Widget:
        return self.query_one(f"#{pane}-pane")
