"""A table of any length: headings that stay, and the rows that are in sight."""

from __future__ import annotations

from rich.cells import set_cell_size
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.app.actions import LIST, bindings
from tui.charts.grid import fitted
from tui.text.plan_tables import Listing

_NOTHING = Listing((), "", ())


class PlanList(ScrollView, can_focus=True):
    """Strata or launches; only what is in sight is ever made into text, so no row is left out."""

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
        """Show words instead of a table that is not there."""
        self._listing, self._words = _NOTHING, words
        self._measure()
        self.refresh()

    @property
    def place(self) -> str:
        """Which rows are in sight, of how many."""
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
        if not self._listing.labels:
            text = fitted(self._words, width, ascii_only=self._ascii_only) if y == 0 else ""
        elif y == 0:
            style += self.get_component_rich_style("plan-list--head", partial=True)
            text = self._listing.head(width, ascii_only=self._ascii_only)
        elif number < len(self._listing.labels):
            text = self._listing.row(number, width, ascii_only=self._ascii_only)
        return Strip([Segment(set_cell_size(text, width), style)], width)
