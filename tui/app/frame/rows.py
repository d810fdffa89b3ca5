"""A table with a cursor, the same wherever a view has one: keys, wheel, clicks on rows and heads."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.frame.heads import head_at
from tui.charts.grid import style_name
from tui.terminal.printable import printable

Runs = list[tuple[str, int]]
"""Texts, each with a style of `tui.charts.grid`."""

_HEAD = 1


class Rows(Widget, can_focus=True):
    """Rows under a heading, or a text in their place; only rows in sight are written.

    A table calls `fill` when it has others, and writes one in `runs`.
    """

    DEFAULT_CSS = """
    Rows { height: 1fr; }
    Rows > .rows--head { text-style: underline; }
    Rows > .rows--cursor { text-style: reverse; }
    """
    COMPONENT_CLASSES = {"rows--head", "rows--cursor"}  # noqa: RUF012

    class Moved(Message):
        """The cursor is on another row."""

    class Resized(Message):
        """Other rows are in sight."""

    @dataclass
    class HeadClicked(Message):
        """The head of a column was clicked."""

        heading: str

    def __init__(self) -> None:
        super().__init__()
        self.row_count = self.cursor = self._first = 0
        self._words = ""

    def fill(self, rows: int, cursor: int = 0, words: str = "") -> None:
        """Show other rows, the cursor on one of them; without any, the words."""
        self.row_count, self._words = rows, words
        self._put(cursor)

    def heading(self, width: int) -> str:
        """The heading of a table so wide."""
        raise NotImplementedError

    def runs(self, row: int, width: int) -> Runs:
        """One row of a table so wide."""
        raise NotImplementedError

    @property
    def page(self) -> int:
        """How many rows are in sight at once."""
        return max(self.size.height - _HEAD, 1)

    def move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""
        before = self.cursor
        self._put(self.cursor + rows)
        if self.cursor != before:
            self.post_message(self.Moved())

    def _put(self, row: int) -> None:
        """Put the cursor on a row, and scroll as little as shows it."""
        self.cursor = min(max(row, 0), max(self.row_count - 1, 0))
        least = max(self.cursor - self.page + 1, 0)
        self._first = min(max(self._first, least), self.cursor, max(self.row_count - self.page, least, 0))
        self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.move(rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are in sight."""
        self.move(pages * self.page)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._put(self.cursor)
        self.post_message(self.Resized())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go on by a row."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go back by a row."""
        event.stop()
        self.move(-1)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there, or ask for the order of the head there."""
        row = self._first + event.y - _HEAD
        if event.y >= _HEAD and row < self.row_count:
            self.move(row - self.cursor)
        elif event.y < _HEAD and self.row_count:
            self.post_message(self.HeadClicked(self.head_at(event.x)))

    def head_at(self, cell: int) -> str:
        """The head that is nearest to a cell of the heading."""
        return head_at(self.heading(self.size.width), cell)

    def render_line(self, y: int) -> Strip:
        """The heading, one row, or a row of the text."""
        width, style = self.size.width, self.rich_style
        row = self._first + y - _HEAD
        runs: Runs = [("", 0)]
        if not self.row_count:
            words = wrap(printable(self._words), max(width, 1))
            segments = [Segment(words[y] if y < len(words) else "", style)]
        elif y < _HEAD:
            style += self.get_component_rich_style("rows--head", partial=True)
            segments = [Segment(self.heading(width), style)]
        elif row >= self.row_count:
            return Strip.blank(width, style)
        elif row == self.cursor:
            # Without the colours of the row: reversed, each would be a patch of its own.
            style += self.get_component_rich_style("rows--cursor", partial=True)
            segments = [Segment("".join(text for text, _ in self.runs(row, width)), style)]
        else:
            runs = self.runs(row, width)
            segments = [Segment(text, style + Style.parse(style_name(of_text))) for text, of_text in runs]
        return Strip(segments).adjust_cell_length(width, style)
