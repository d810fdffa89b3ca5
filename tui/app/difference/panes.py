"""The table of view 7: kernels with a cursor, or a text where nothing is compared."""

from __future__ import annotations

from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from sampling.difference.difference import Difference
from sampling.difference.matching import Status
from tui.app.difference.presenter import MOST_ROWS, KernelTable, kernel_table
from tui.app.frame.by_wheel import ByWheel, HeadClicked
from tui.app.frame.heads import head_at
from tui.charts.grid import PLAIN, cluster_style, style_name
from tui.options.choices import DifferenceSort
from tui.terminal.printable import printable

_HEADING_ROWS = 1
# A kernel of one side alone has that side's colour in the histograms.
_STYLES = {Status.BOTH: PLAIN, Status.VANISHED: cluster_style(0), Status.APPEARED: cluster_style(1)}


class KernelHighlighted(Message):
    """The cursor is on another kernel."""


class DifferenceTable(ByWheel, can_focus=True):
    """Kernels, what changed most first, with the columns that have room."""

    DEFAULT_CSS = "DifferenceTable { height: 1fr; }"
    COMPONENT_CLASSES = {"difference--heading", "difference--cursor"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._found: Difference | None = None
        self._words = ""
        self._order = DifferenceSort.CHANGE, False
        self._cursor = self._first = 0
        self._drawn: tuple[int, KernelTable] | None = None

    def show(self, found: Difference, order: tuple[DifferenceSort, bool]) -> None:
        """Show other kernels; the cursor stays on its kernel if it is there, in another order at the top.

        Parameters
        ----------
        order : what they are sorted by, and whether the other way round.
        """
        before, self._found, self._drawn = self._found, found, None
        if order != self._order:
            before, self._order, self._first = None, order, 0
        key = None if before is None else before.kernels[self._cursor].key
        keys = [kernel.key for kernel in found.kernels[:MOST_ROWS]]
        self._cursor = keys.index(key) if key in keys else 0
        self._keep_in_sight()
        self.refresh()

    def say(self, words: str) -> None:
        """Show a text in place of kernels."""
        self._found, self._words, self._drawn, self._cursor, self._first = None, words, None, 0, 0
        self.refresh()

    @property
    def cursor(self) -> int:
        """The index of the kernel under the cursor."""
        return self._cursor

    @property
    def page(self) -> int:
        """How many kernels are visible at once."""
        return max(self.size.height - _HEADING_ROWS, 1)

    @property
    def _rows(self) -> int:
        return 0 if self._found is None else min(len(self._found.kernels), MOST_ROWS)

    def move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""
        self._put_on(min(max(self._cursor + rows, 0), self._rows - 1))

    def _put_on(self, row: int) -> None:
        if 0 <= row != self._cursor:
            self._cursor = row
            self._keep_in_sight()
            self.refresh()
            self.post_message(KernelHighlighted())

    def _keep_in_sight(self) -> None:
        last = max(self._rows - self.page, 0)
        least = max(self._cursor - self.page + 1, 0)
        self._first = min(max(self._first, least), self._cursor, max(last, least))

    def on_resize(self, _: events.Resize) -> None:
        """Scroll so that the cursor stays visible."""
        self._keep_in_sight()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there, or sort by the head there."""
        row = self._first + event.y - _HEADING_ROWS
        if event.y < _HEADING_ROWS and self._found is not None:
            heading = self._table(self._found, self.size.width).heading
            self.post_message(HeadClicked(head_at(heading, event.x)))
        elif event.y >= _HEADING_ROWS and row < self._rows:
            self._put_on(row)

    def render_line(self, y: int) -> Strip:
        """The heading, a kernel, or a row of the text."""
        width, base = self.size.width, self.rich_style
        found = self._found
        if found is None:
            words = wrap(printable(self._words, ascii_only=self._ascii_only), max(width, 1))
            text, style = words[y] if y < len(words) else "", base
        elif y < _HEADING_ROWS:
            text = self._table(found, width).heading
            style = base + self.get_component_rich_style("difference--heading", partial=True)
        else:
            text, style = self._row(found, self._first + y - _HEADING_ROWS, width)
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)

    def _row(self, found: Difference, row: int, width: int) -> tuple[str, Style]:
        base = self.rich_style
        if row >= self._rows:
            return "", base
        text = self._table(found, width).rows[row]
        if row == self._cursor:
            return text, base + self.get_component_rich_style("difference--cursor", partial=True)
        return text, base + Style.parse(style_name(_STYLES[found.kernels[row].status]))

    def _table(self, found: Difference, width: int) -> KernelTable:
        """Return the table, made once a width."""
        if self._drawn is None or self._drawn[0] != width:
            sort, reverse = self._order
            made = kernel_table(found, width, sort, reverse=reverse, ascii_only=self._ascii_only)
            self._drawn = (width, made)
        return self._drawn[1]
