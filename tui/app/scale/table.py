"""The table of sizes: a cursor on one cell, which is typed in where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.app.actions import SHEET, bindings
from tui.app.scale.fields import CellInput, CellLeft, CellTaken
from tui.scale.columns import GAP, WRONG_MARK, SheetColumn, sheet_columns
from tui.scale.open_tables import SheetAnswer
from tui.scale.sheet import CELLS, ScaleSheet, WrongCell, blank_sheet

_HEADING = Style(underline=True)
_CURSOR = Style(reverse=True)
_RESTING = Style(underline=True, bold=True)
_WRONG = Style(bold=True, color="red")
_LEAST_FIELD = 6


@dataclass
class CellEdited(Message):
    """A cell, one of `tui.scale.sheet.CELLS`, has another text."""

    row: int
    cell: str
    text: str


@dataclass
class CellReached(Message):
    """The cursor is on another cell."""


class ScaleTable(Widget, can_focus=True):
    """Rows of a sheet; the columns to type in, then as many others as there is room for.

    Attributes
    ----------
    cursor : (row, column); the column is one of those to type in.
    types_digits : whether a digit starts editing; otherwise digits may open other views.
    """

    BINDINGS = bindings(SHEET)

    cursor: reactive[tuple[int, int]] = reactive((0, 0))

    types_digits: reactive[bool] = reactive(False, bindings=True)

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._sheet = blank_sheet()
        self._answer: SheetAnswer | None = None
        self._wrong: Sequence[WrongCell] = ()
        self._columns: list[SheetColumn] = []
        self._top = 0
        self._field: CellInput | None = None

    def show(self, sheet: ScaleSheet, answer: SheetAnswer | None, wrong: Sequence[WrongCell]) -> None:
        """Show another sheet, or other predictions."""
        if len(sheet.rows) != len(self._sheet.rows):
            self.leave()
        self._sheet, self._answer, self._wrong = sheet, answer, wrong
        self._arrange()
        self.cursor = self.validate_cursor(self.cursor)
        self._scroll()
        self._place_field()
        self.refresh(layout=True)

    @property
    def row(self) -> int:
        """The row of the cursor; -1 in a sheet without rows."""
        return self.cursor[0] if self._sheet.rows else -1

    @property
    def cell(self) -> str:
        """The column of the cursor, one of `CELLS`."""
        return CELLS[self.cursor[1]]

    @property
    def is_whole(self) -> bool:
        """Whether all rows are visible."""
        return len(self._sheet.rows) < self.size.height

    def validate_cursor(self, cursor: tuple[int, int]) -> tuple[int, int]:
        """Keep the cursor within the sheet."""
        row, column = cursor
        return min(max(row, 0), max(len(self._sheet.rows) - 1, 0)), min(max(column, 0), len(CELLS) - 1)

    def watch_cursor(self) -> None:
        """Show where it is."""
        self._scroll()
        self.refresh()
        self.post_message(CellReached())

    def on_resize(self) -> None:
        """Other columns may have room now."""
        self._arrange()
        self._scroll()
        self._place_field()
        self.refresh()

    def _arrange(self) -> None:
        self._columns = sheet_columns(
            self._sheet, self._answer, self._wrong, self.size.width, ascii_only=self._ascii_only
        )

    def _scroll(self) -> None:
        rows = max(self.size.height - 1, 1)
        row = self.cursor[0]
        last_top = max(len(self._sheet.rows) - rows, 0)
        self._top = min(max(self._top, row - rows + 1), row, last_top)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """A row for the headings, and one for each size."""
        return 1 + max(len(self._sheet.rows), 1)

    def render_line(self, y: int) -> Strip:
        """Headings, or one size."""
        width, base = self.size.width, self.rich_style
        if y == 0:
            texts = [column.fitted(column.heading) for column in self._columns]
            line = (" " * GAP).join(texts)
            return Strip([Segment(line, base + _HEADING)]).adjust_cell_length(width, base)
        row = self._top + y - 1
        if row >= len(self._sheet.rows):
            empty = "n adds a row" if not self._sheet.rows and y == 1 else ""
            return Strip([Segment(empty, base)]).adjust_cell_length(width, base)
        segments: list[Segment] = []
        for place, column in enumerate(self._columns):
            segments += [Segment(" " * GAP, base)] if place else []
            text = column.cells[row]
            segments.append(Segment(column.fitted(text), base + self._style(row, place, text)))
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, row: int, place: int, text: str) -> Style:
        """Wrong cells are marked and bold; the cursor is reversed while the table has the focus."""
        style = _WRONG if text.endswith(WRONG_MARK) else Style()
        if (row, place) == self.cursor:
            style += _CURSOR if self.has_focus else _RESTING
        return style

    def on_focus(self) -> None:
        """Draw the cursor in its other style."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the cursor in its other style."""
        self.refresh()

    def action_move(self, cells: int, rows: int) -> None:
        """Move by this many cells to the right and rows down."""
        row, column = self.cursor
        self.cursor = (row + rows, column + cells)

    def action_edge(self, rows: int) -> None:
        """Go to the first row, or to the last."""
        self.cursor = (0 if rows < 0 else len(self._sheet.rows), self.cursor[1])

    def action_edit(self) -> None:
        """Type in the cell; its text is selected, so that the first key replaces it."""
        if self._sheet.rows:
            self._open(self._text_at(*self.cursor), selected=True)

    def action_clear_cell(self) -> None:
        """Empty the cell."""
        if self._sheet.rows:
            self.post_message(CellEdited(self.row, self.cell, ""))

    def _text_at(self, row: int, column: int) -> str:
        return self._sheet.rows[row].texts[CELLS[column]]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A digit starts editing only where digits do not open views; the footer shows which."""
        return action != "begin" or self.types_digits

    def action_begin(self, key: str) -> None:
        """Type in the cell anew, from this digit or point on."""
        if self._sheet.rows:
            self._open("." if key == "full_stop" else key, selected=False)

    def on_click(self, event: events.Click) -> None:
        """The cursor goes where the mouse is."""
        left = 0
        for place, column in enumerate(self._columns[: len(CELLS)]):
            if left <= event.x < left + column.width + GAP and event.y > 0:
                self.cursor = (self._top + event.y - 1, place)
            left += column.width + GAP

    def _open(self, text: str, *, selected: bool) -> None:
        self._scroll()
        self._field = CellInput(text, selected=selected)
        self.mount(self._field)
        self._place_field()
        self._field.focus()

    def _place_field(self) -> None:
        """Put the field where the cell is: as wide as it, or wider where there is room."""
        if self._field is None or not self._columns:
            return
        row, place = self.cursor
        left = sum(column.width + GAP for column in self._columns[:place])
        width = max(self._columns[place].width, _LEAST_FIELD)
        self._field.styles.offset = (max(min(left, self.size.width - width), 0), row - self._top + 1)
        self._field.styles.width = width

    def take(self) -> None:
        """Keep what is typed, if something is."""
        if self._field is not None:
            self._take(self._field.value, 0, 0)

    def leave(self) -> None:
        """Type no more."""
        if self._field is not None:
            field, self._field = self._field, None
            # The table takes the focus before its field goes: else another pane would get it.
            if field.has_focus:
                self.focus()
            field.remove()

    @on(CellTaken)
    def _taken(self, event: CellTaken) -> None:
        event.stop()
        if self._field is not None:
            self._take(event.text, event.cells, event.rows)

    def _take(self, text: str, cells: int, rows: int) -> None:
        """Keep the text and move on; in the next cell typing continues."""
        row, column = self.cursor
        self.leave()
        if text.strip() != self._text_at(row, column):
            self.post_message(CellEdited(row, CELLS[column], text))
        place = row * len(CELLS) + column + cells
        if cells and 0 <= place < len(self._sheet.rows) * len(CELLS):
            self.cursor = divmod(place, len(CELLS))
            self.action_edit()
        else:
            self.cursor = (row + rows, column)

    @on(CellLeft)
    def _left(self, event: CellLeft) -> None:
        event.stop()
        self.leave()
