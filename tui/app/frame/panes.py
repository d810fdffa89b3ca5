"""What panes are made of: heads of tables, held keys, charts, sentences, and rows with a cursor."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from textwrap import wrap
from typing import Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from tui.charts.grid import Grid, blank, put, runs, style_name
from tui.terminal.printable import Column, is_ascii, printable

_MARKS = {True: ("↓", "v"), False: ("↑", "^")}


Sort = TypeVar("Sort", bound=StrEnum)


def mark_of(*, falls: bool) -> str:
    """Return the mark of a column that falls, the largest first, or rises."""
    return _MARKS[falls][is_ascii()]


def marked(columns: Sequence[Column], names: Sequence[str], *, falls: bool) -> list[Column]:
    """Return the columns with a mark of the order on the first of the heads `names` that is there."""
    headings = [column.heading.rstrip() for column in columns]
    sorted_by = next((name for name in names if name in headings), None)
    return [
        replace(column, heading=f"{heading}{mark_of(falls=falls)}".ljust(len(column.heading)))
        if heading == sorted_by
        else column
        for column, heading in zip(columns, headings, strict=True)
    ]


def next_in(orders: Sequence[Sort], sort: Sort) -> Sort:
    """Return the order that follows, the first after the last and after one that is not among them."""
    place = orders.index(sort) + 1 if sort in orders else 0
    return orders[place % len(orders)]


_DELAY_SECONDS = 0.08
"""Quick enough for a key that is pressed again, and longer than a terminal waits between repeated ones."""

Asked = TypeVar("Asked")


class Soon(Generic[Asked]):
    """Acts at once, and where it is asked again in quick steps, once more by the last of them."""

    def __init__(self, node: MessagePump, act: Callable[[Asked], object]) -> None:
        self._node, self._act = node, act
        self._timer: Timer | None = None
        self._put_off: list[Asked] = []

    def ask(self, asked: Asked, *, at_once: bool = False) -> None:
        """Act now, or once no further step has come for a moment."""
        is_held = not (self.is_resting or at_once)
        self._stop()
        self._put_off = [asked] * is_held
        self._timer = self._node.set_timer(_DELAY_SECONDS, self.end)
        if not is_held:
            self._act(asked)

    def end(self) -> None:
        """Act by the last step now, if that was put off."""
        self._stop()
        while self._put_off:
            self._act(self._put_off.pop())

    @property
    def is_resting(self) -> bool:
        """Whether nothing is put off, and the next step is a first one."""
        return self._timer is None

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = None


Draw = Callable[[int, int], Grid]
"""Draws a chart of a width and a height."""


class Chart(Widget, can_focus=True):
    """A chart that is drawn again when its size changes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw: Draw = blank
        self._grid: Grid | None = None

    def show(self, draw: Draw) -> None:
        """Show another chart."""
        self._draw, self._grid = draw, None
        self.refresh()

    def say(self, words: str) -> None:
        """Show a text in place of a chart."""
        self.show(partial(_draw_words, printable(words)))

    @property
    def grid(self) -> Grid:
        """The chart at the present size."""
        width, height = self.size
        if self._grid is None or (self._grid.width, self._grid.height) != (width, height):
            self._grid = self._draw(width, height)
        return self._grid

    @property
    def printed_size(self) -> tuple[int, int]:
        """Columns and rows for the command that prints the chart; at least one each."""
        width, height = self.size
        return max(width, 1), max(height, 1)

    def render_line(self, y: int) -> Strip:
        """One row of the chart."""
        base = self.rich_style
        if y >= self.grid.height:
            return Strip.blank(self.size.width, base)
        segments = [
            Segment(words, base + Style.parse(style_name(style))) for words, style in runs(self.grid, y)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)


def _draw_words(words: str, width: int, height: int) -> Grid:
    grid = blank(width, height)
    for row, line in enumerate(textwrap.wrap(words, max(width, 1))):
        put(grid, row, 0, line)
    return grid


class Words(Static):
    """A text in at most `max-height` rows."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(markup=False, id=id)
        self.text = ""

    def show(self, text: str) -> None:
        """Show another text."""
        if printable(text) != self.text:
            self.text = printable(text)
            self.update(self.text)


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
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-1)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there."""
        row = self._first + event.y - _HEAD
        if event.y >= _HEAD and row < self.row_count:
            self.move(row - self.cursor)

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
