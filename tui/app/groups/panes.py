"""The widgets of view 1: the table of kernel groups, the field to filter it by, and a group's whole key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.text import Text
from textual import events, on
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import DataTable, Input

from sampling.plan.study import Study
from tui.app.actions import TABLE, bindings
from tui.app.groups.presenter import PADDING, column_width, group_columns
from tui.text.group_list import GroupList


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


class GroupTable(DataTable[Text]):
    """Kernel groups; its columns are those that have room."""

    BINDINGS = bindings(TABLE)

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(cursor_type="row", cell_padding=PADDING // 2)
        self._ascii_only = ascii_only
        self._study: Study | None = None
        self._listed = GroupList((), 0)

    def show(self, study: Study, listed: GroupList, selected: int | None) -> None:
        """List these groups, the cursor on the selected one."""
        self._study, self._listed = study, listed
        self._rebuild(selected)

    def select(self, group: int | None) -> None:
        """Go to a group, if it is listed."""
        if group in self._listed.groups and group != self.highlighted:
            with self.prevent(DataTable.RowHighlighted):
                self.move_cursor(row=self._listed.groups.index(group))

    @property
    def listed(self) -> GroupList:
        """The groups listed."""
        return self._listed

    @property
    def highlighted(self) -> int | None:
        """The group under the cursor; None in an empty table."""
        groups = self._listed.groups
        # An empty table has its cursor at row -1.
        return groups[self.cursor_row] if 0 <= self.cursor_row < len(groups) else None

    def _rebuild(self, selected: int | None) -> None:
        """Fill the table anew: which columns fit depends on the width and on the rows."""
        width = self.size.width
        if self._study is None or not width:
            return
        groups = self._listed.groups
        columns = group_columns(self._study, groups, width, ascii_only=self._ascii_only)
        # Emptying and filling moves the cursor; only its final place is reported.
        with self.app.batch_update(), self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            for column in columns:
                heading = Text(column.heading, justify="right" if column.to_right else "left")
                self.add_column(heading, width=column_width(column))
            cells = zip(
                *(
                    [Text(cell, justify="right" if column.to_right else "left") for cell in column.cells]
                    for column in columns
                ),
                strict=True,
            )
            for group, row in zip(groups, cells, strict=True):
                self.add_row(*row, key=str(group))
            if selected in groups:
                self.move_cursor(row=groups.index(selected))

    def on_resize(self, _: events.Resize) -> None:
        """Other columns may have room now."""
        self._rebuild(self.highlighted)

    @on(DataTable.RowHighlighted)
    def _tell(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        # If the table is or was empty, there is no row with a key.
        group = self.highlighted
        if group is not None:
            self.post_message(GroupHighlighted(group))


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
