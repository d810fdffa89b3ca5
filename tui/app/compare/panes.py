"""The widgets of view 4: the table of methods, and the sentence about the one under its cursor."""

from __future__ import annotations

from dataclasses import replace
from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.app.compare.presenter import CompareLine, Shown, compare_lines
from tui.app.frame.by_wheel import ByWheel, HeadClicked
from tui.app.frame.heads import head_at
from tui.app.frame.words import Words
from tui.charts.grid import style_name
from tui.terminal.printable import printable

_HEADING_ROWS = 1


class MethodHighlighted(Message):
    """The cursor is on another method."""


class PageChanged(Message):
    """The visible methods changed."""


class CompareTable(ByWheel, can_focus=True):
    """Methods that can run, with the columns that have room, and those that cannot; a text before."""

    DEFAULT_CSS = "CompareTable { height: 1fr; }"
    COMPONENT_CLASSES = {"compare--heading", "compare--cursor", "compare--without"}  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._shown = Shown()
        self._words = ""
        self._method: str | None = None
        self._first = 0
        self._drawn: tuple[int, str, list[CompareLine]] | None = None

    def show(self, shown: Shown, words: str) -> None:
        """Show these methods; `words` where there is none."""
        self._shown, self._words, self._drawn = shown, words, None
        self._method = shown.place_of(self._method)
        self._keep_in_sight()
        self.refresh()

    def tell(self, words: str) -> None:
        """Show the progress of the running method: only its row is drawn again."""
        doing = self._shown.doing
        if doing is not None and doing[1] != words:
            self._shown, self._drawn = replace(self._shown, doing=(doing[0], words)), None
            row = _HEADING_ROWS + len(self._shown.found.can_run) - self._first
            self.refresh(Region(0, row, self.size.width, 1))

    @property
    def methods(self) -> list[str]:
        """The methods of the lines, from the top; of several of one plan the first."""
        return self._shown.methods

    @property
    def highlighted(self) -> str | None:
        """The method under the cursor; None in an empty table."""
        return self._method

    @property
    def page(self) -> int:
        """How many methods are visible at once."""
        return max(self.size.height - _HEADING_ROWS, 1)

    def move(self, rows: int) -> None:
        """Move the cursor down by this many rows (up if negative), at most to the last or first."""
        methods = self.methods
        if self._method is not None:
            self._put_on(methods[min(max(methods.index(self._method) + rows, 0), len(methods) - 1)])

    def _put_on(self, method: str) -> None:
        if method != self._method:
            self._method = method
            self._keep_in_sight()
            self.refresh()
            self.post_message(MethodHighlighted())

    def _keep_in_sight(self) -> None:
        methods = self.methods
        at = methods.index(self._method) if self._method is not None else 0
        least, most = max(at - self.page + 1, 0), min(at, max(len(methods) - self.page, 0))
        self._first = min(max(self._first, least), max(most, least))

    def on_resize(self, _: events.Resize) -> None:
        """Scroll so that the cursor stays visible."""
        self._keep_in_sight()
        self.refresh()
        self.post_message(PageChanged())

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there, or sort by the head there."""
        at = self._first + event.y - _HEADING_ROWS
        methods = self.methods
        if event.y < _HEADING_ROWS and methods:
            self.post_message(HeadClicked(head_at(self._lines(self.size.width)[0], event.x)))
        elif event.y >= _HEADING_ROWS and at < len(methods):
            self._put_on(methods[at])

    def render_line(self, y: int) -> Strip:
        """The heading, or one method."""
        width, base = self.size.width, self.rich_style
        heading, lines = self._lines(width)
        if not lines:
            words = wrap(printable(self._words, ascii_only=self._ascii_only), max(width, 1))
            text = words[y] if y < len(words) else ""
            return Strip([Segment(text, base)]).adjust_cell_length(width, base)
        if y < _HEADING_ROWS:
            style = base + self.get_component_rich_style("compare--heading", partial=True)
            return Strip([Segment(heading, style)]).adjust_cell_length(width, base)
        at = self._first + y - _HEADING_ROWS
        return self._method_strip(lines[at], width) if at < len(lines) else Strip.blank(width, base)

    def _lines(self, width: int) -> tuple[str, list[CompareLine]]:
        """Return the heading and the lines, made once a width."""
        if self._drawn is None or self._drawn[0] != width:
            made = compare_lines(self._shown, width, ascii_only=self._ascii_only)
            self._drawn = (width, *made)
        return self._drawn[1:]

    def _method_strip(self, line: CompareLine, width: int) -> Strip:
        style = self.rich_style
        if line.method == self._method:
            style += self.get_component_rich_style("compare--cursor", partial=True)
            mark = style
        else:
            if not line.has_figures:
                style += self.get_component_rich_style("compare--without", partial=True)
            mark = style + Style.parse(style_name(line.style))
        segments = [Segment(line.symbol, mark), Segment(f" {line.text}", style)]
        return Strip(segments).adjust_cell_length(width, style)


class CompareWords(Words):
    """The sentence about one method."""
