"""The widgets of view 1: the table of kernel groups, the field to filter it by, and a group's whole key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from sampling.plan.study import Study
from tui.app.actions import TABLE, bindings
from tui.app.frame.by_wheel import HeadClicked
from tui.app.groups.columns import TableColumns, row_runs, table_columns
from tui.app.groups.presenter import head_mark
from tui.charts.grid import style_name
from tui.options.choices import GroupSort
from tui.text.groups import GroupList

_HEAD = 1
"""The rows over those of the groups."""


@dataclass
class GroupHighlighted(Message):
    """The cursor is on another kernel group."""

    group: int


@dataclass
class SearchChanged(Message):
    """The text to filter by changed."""

    search: str


@dataclass
class SearchClosed(Message):
    """The user is done with the text to filter by."""


class GroupTable(ScrollView, can_focus=True):
    """Kernel groups; its columns are those that have room, and only visible rows are made into text."""

    BINDINGS = bindings(TABLE)
    COMPONENT_CLASSES = {"group-table--head", "group-table--cursor"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._study: Study | None = None
        self._listed = GroupList((), 0)
        self._columns = TableColumns((), 1)
        self._order = GroupSort.TOTAL, False
        self._cursor = 0

    def show(
        self, study: Study, listed: GroupList, selected: int | None, order: tuple[GroupSort, bool]
    ) -> None:
        """List these groups, the cursor on the selected one.

        Parameters
        ----------
        order : what they are sorted by, and whether the other way round.
        """
        self._study, self._listed, self._order = study, listed, order
        self._measure()
        self._put_on(listed.groups.index(selected) if selected in listed.groups else 0)

    def select(self, group: int | None) -> None:
        """Go to a group, if it is listed."""
        if group in self._listed.groups and group != self.highlighted:
            self._put_on(self._listed.groups.index(group))

    @property
    def listed(self) -> GroupList:
        """The groups listed."""
        return self._listed

    @property
    def row_count(self) -> int:
        """How many rows there are, visible or not."""
        return len(self._listed.groups)

    @property
    def cursor_row(self) -> int:
        """The row of the cursor; 0 in an empty table too."""
        return self._cursor

    @property
    def highlighted(self) -> int | None:
        """The group under the cursor; None in an empty table."""
        return self._listed.groups[self._cursor] if self._listed.groups else None

    @property
    def columns(self) -> TableColumns:
        """The columns that have room; `columns.column_at` finds the one that was clicked."""
        return self._columns

    def _measure(self) -> None:
        width = self.size.width
        if self._study is not None and width:
            self._columns = table_columns(self._study, width)
            self.virtual_size = Size(width, self.row_count + _HEAD)
        self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        """Other columns may have room now."""
        self._measure()
        self._put_on(self._cursor)

    def _put_on(self, row: int) -> None:
        """Put the cursor on a row, at most the first or last one, and scroll as little as shows it."""
        self._cursor = min(max(row, 0), max(self.row_count - 1, 0))
        rows = max(self.size.height - _HEAD, 1)
        top = min(self.scroll_offset.y, self._cursor)
        self.scroll_to(y=max(top, self._cursor - rows + 1), animate=False, immediate=True)
        self.refresh()

    def _move(self, row: int) -> None:
        before = self.highlighted
        self._put_on(row)
        group = self.highlighted
        if group is not None and group != before:
            self.post_message(GroupHighlighted(group))

    def action_cursor_down(self) -> None:
        """Go a row down."""
        self._move(self._cursor + 1)

    def action_cursor_up(self) -> None:
        """Go a row up."""
        self._move(self._cursor - 1)

    def action_scroll_top(self) -> None:
        """Go to the first row."""
        self._move(0)

    def action_scroll_bottom(self) -> None:
        """Go to the last row."""
        self._move(self.row_count - 1)

    def action_page_down(self) -> None:
        """Go as many rows down as are visible."""
        self._move(self._cursor + max(self.size.height - _HEAD, 1))

    def action_page_up(self) -> None:
        """Go as many rows up as are visible."""
        self._move(self._cursor - max(self.size.height - _HEAD, 1))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there, or sort by the column whose head is there."""
        if event.y < _HEAD:
            column = self._columns.column_at(event.x)
            if column is not None and column.sort is not None:
                self.post_message(HeadClicked(column.sort.value))
            return
        row = event.y - _HEAD + self.scroll_offset.y
        if row < self.row_count:
            self._move(row)

    def render_line(self, y: int) -> Strip:
        """The headings, or one row."""
        width, style = self.size.width, self.rich_style
        row = self.scroll_offset.y + y - _HEAD
        if self._study is None or not self._columns.columns:
            return Strip.blank(width, style)
        if y < _HEAD:
            style += self.get_component_rich_style("group-table--head", partial=True)
            sort, reverse = self._order
            mark = head_mark(self._columns, sort, reverse=reverse, ascii_only=self._ascii_only)
            return Strip([Segment(self._columns.head(*mark), style)]).adjust_cell_length(width, style)
        if row >= self.row_count:
            return Strip.blank(width, style)
        runs = row_runs(self._study, self._listed.groups[row], self._columns, ascii_only=self._ascii_only)
        if row == self._cursor:
            # Without the colours of the row: reversed, each would be a patch of its own.
            style += self.get_component_rich_style("group-table--cursor", partial=True)
            text = "".join(text for text, _ in runs)
            return Strip([Segment(text, style)]).adjust_cell_length(width, style)
        segments = [Segment(text, style + Style.parse(style_name(of_text))) for text, of_text in runs]
        return Strip(segments).adjust_cell_length(width, style)


class SearchInput(Input):
    """A one-row field."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "give_up", "All groups", key_display="esc"),
        Binding("enter,down", "close", "To the table", key_display="enter"),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="part of the kernel group's key", compact=True)

    def action_close(self) -> None:
        """Keep the text."""
        self.post_message(SearchClosed())

    def action_give_up(self) -> None:
        """Clear the text."""
        self.value = ""
        self.action_close()

    @on(Input.Changed)
    def _tell(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(SearchChanged(event.value))


class Wrapped(Widget, can_focus=False):
    """Rows broken wherever they are full; `max-height` says how many there may be."""

    DEFAULT_CSS = "Wrapped { height: auto; min-height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._shorten: Callable[[int], str] = lambda _: ""

    def show(self, shorten: Callable[[int], str]) -> None:
        """Show another text; `shorten` returns it in at most the given number of cells."""
        rows = self._rows_shown
        self._shorten = shorten
        # A new layout redraws the whole screen, so only when needed.
        self.refresh(layout=self._rows_shown != rows)

    @property
    def _rows_shown(self) -> int:
        rows = self.get_content_height(self.size, self.size, self.size.width)
        most = self.styles.max_height
        return rows if most is None else min(rows, int(most.value))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Rows for all of the text."""
        return -(-len(self._shorten(sys.maxsize)) // max(width, 1))

    def render_line(self, y: int) -> Strip:
        """One row of the text, and blanks."""
        width, height = self.size
        row = self._shorten(width * height)[y * width : (y + 1) * width]
        return Strip([Segment(set_cell_size(row, width), self.rich_style)], width)
