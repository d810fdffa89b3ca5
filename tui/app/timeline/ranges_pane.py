"""The upper pane of view 6: named ranges and found iterations with a cursor, or a text in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.actions import RANGES, bindings
from tui.app.session_app import SessionApp
from tui.app.timeline.tree_cursor import TreeCursor
from tui.charts.grid import Grid, runs, style_name
from tui.charts.timeline import RunAxis
from tui.terminal.printable import printable
from tui.text.ranges import RangeForest, TreeMarks, tree_grid

_HEADING_ROWS = 1
_NO_RANGES = "there are no ranges to choose from here"


@dataclass
class RangeReached(Message):
    """The cursor is on a range."""

    path: int


@dataclass
class RangeZoomed(Message):
    """The chart is to show a range."""

    path: int


@dataclass
class RangeChosen(Message):
    """A range is to be the region, or to be so no longer."""

    path: int


class RangeTree(Widget, can_focus=True):
    """Ranges to open and to choose, a bar each on the axis of the chart below."""

    BINDINGS = bindings(RANGES)
    DEFAULT_CSS = "RangeTree { height: 1fr; }"

    app: SessionApp

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._tree: TreeCursor | None = None
        self._words = ""
        self._in_force: int | None = None
        self._axis_of: Callable[[int], RunAxis | None] = lambda _: None
        self._drawn: Grid | None = None

    def say(self, words: str) -> None:
        """Show a text in place of ranges."""
        if (self._tree, self._words) != (None, words):
            self._tree, self._words = None, words
            self._redraw()

    def show(self, forest: RangeForest) -> None:
        """Show other ranges, the cursor on the first."""
        if self._tree is None or self._tree.forest is not forest:
            self._tree = TreeCursor.of(forest)
            self._moved()

    def show_axis(self, axis_of: Callable[[int], RunAxis | None], in_force: int | None) -> None:
        """Draw bars on this axis, which is of a width, and mark the region in force."""
        self._axis_of, self._in_force = axis_of, in_force
        self._redraw()

    @property
    def cursor(self) -> int | None:
        """The path at the cursor; None where there is none."""
        return None if self._tree is None else self._tree.path

    @property
    def forest(self) -> RangeForest | None:
        """The ranges shown."""
        return None if self._tree is None else self._tree.forest

    @property
    def grid(self) -> Grid:
        """The rows that are in sight."""
        width, tree = self.size.width, self._tree
        assert tree is not None
        if self._drawn is None or self._drawn.width != width:
            tree.keep_in_sight(self._page)
            marks = TreeMarks(tree.opened, tree.path if self.has_focus else None, self._in_force)
            self._drawn = tree_grid(
                tree.forest,
                tree.rows[tree.first : tree.first + self._page],
                self._axis_of(width),
                width,
                marks,
                ascii_only=self._ascii_only,
            )
        return self._drawn

    @property
    def _page(self) -> int:
        return max(self.size.height - _HEADING_ROWS, 1)

    def _redraw(self) -> None:
        self._drawn = None
        self.refresh()

    def _moved(self) -> None:
        self._redraw()
        if self._tree is not None:
            self.post_message(RangeReached(self._tree.path))

    def action_move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""
        if self._tree is not None:
            self._tree.move(rows)
            self._moved()

    def action_page(self, pages: int) -> None:
        """Move it by as many rows as are in sight."""
        self.action_move(pages * self._page)

    def action_open(self) -> None:
        """Show what lies in the range; where it is shown, go to its first."""
        if self._tree is not None:
            self._tree.open()
            self._moved()

    def action_close(self) -> None:
        """Hide what lies in the range; where nothing is shown, go to the range around."""
        if self._tree is not None:
            self._tree.close()
            self._moved()

    def action_zoom_to(self) -> None:
        """Ask for the chart to show the range."""
        if self._tree is None:
            self.app.say(_NO_RANGES, failed=True)
        else:
            self.post_message(RangeZoomed(self._tree.path))

    def action_choose(self) -> None:
        """Ask for the range to be the region."""
        if self._tree is None:
            self.app.say(_NO_RANGES, failed=True)
        else:
            self.post_message(RangeChosen(self._tree.path))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there."""
        if self._tree is not None and event.y >= _HEADING_ROWS:
            self._tree.put_on(self._tree.first + event.y - _HEADING_ROWS)
            self._moved()

    def on_resize(self, _: events.Resize) -> None:
        """Keep the cursor in sight."""
        self._redraw()

    def on_focus(self) -> None:
        """Show the cursor."""
        self._redraw()

    def on_blur(self) -> None:
        """Hide it."""
        self._redraw()

    def render_line(self, y: int) -> Strip:
        """The heading, a range, or a row of the text."""
        width, base = self.size.width, self.rich_style
        if self._tree is None:
            words = wrap(printable(self._words, ascii_only=self._ascii_only), max(width, 1))
            return Strip([Segment(words[y] if y < len(words) else "", base)]).adjust_cell_length(width, base)
        if y >= self.grid.height:
            return Strip.blank(width, base)
        segments = [
            Segment(words, base + Style.parse(style_name(style))) for words, style in runs(self.grid, y)
        ]
        return Strip(segments).adjust_cell_length(width, base)
