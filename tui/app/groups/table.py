"""The table of kernel groups, a row a group, the cursor a whole row."""

from __future__ import annotations

from rich.text import Text
from textual import events, on
from textual.widgets import DataTable

from sampling.plan.study import Study
from tui.app.actions import TABLE, bindings
from tui.app.groups.columns import PADDING, column_width, group_columns
from tui.app.messages import GroupHighlighted
from tui.text.group_list import GroupList

MOST_ROWS = 2_000
"""More rows make the table slow, and nobody reads them."""


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
        """Fill the table anew: what has room depends on the width and on the rows."""
        width = self.size.width
        if self._study is None or not width:
            return
        groups = self._listed.groups
        columns = group_columns(self._study, groups, width, ascii_only=self._ascii_only)
        # Emptying and filling moves the cursor; only where it ends is news.
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
        # Where the table is empty by now, or was, no row has a key.
        group = self.highlighted
        if group is not None:
            self.post_message(GroupHighlighted(group))
