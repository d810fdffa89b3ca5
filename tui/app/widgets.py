"""What views are made of: rows of text that are never wrapped, tables with a cursor, charts, held keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static

# Its CSS names the class, but the package does not export it.
from textual.widgets._footer import FooterKey

from tui.app.actions import APP, LIST, VIEW, bindings
from tui.charts.grid import PLAIN, Grid, blank, fitted, glyph_set, put, style_name
from tui.charts.grid import runs as grid_runs
from tui.output.blocks import Listing, Phrase, Phrases, Tone, shortened_to, without_tones, words
from tui.terminal.printable import Column, cell_width, is_ascii, printable, wrapped

# Rows at the top and the foot of a view.

_LEAST_FILE = 12
"""Cells below which the workload is not named beside the tabs."""
_BRIEF = {
    "Scale model": "Scale",
    "Split tree": "Tree",
    "Difference": "Diff",
    "Timeline": "Time",
    "Speedups": "Speed",
    "Compare": "Comp",
}
"""What a tab is called where there is no room for its name; those that save most come first."""
_LEAST_NAME = 8
"""Cells that a pane's name keeps beside what it shows."""
_BETWEEN = 2
"""Blanks between a key and its title, and between two keys."""
_KEY_AND_WORDS = re.compile(r"\[(\w+)\](?: ?[^\s\[]+)*")
_LAST = ("app.help", "app.quit")
"""Actions whose keys are shown in any case, after the view's own."""


class Line(Widget, can_focus=False):
    """The longest of several wordings that fits its row."""

    DEFAULT_CSS = "Line { height: 1; }"
    COMPONENT_CLASSES = {f"line--{tone}" for tone in Tone}  # noqa: RUF012
    forms: reactive[tuple[Phrases, ...]] = reactive((words(""),))

    def show(self, forms: Sequence[str | Phrases]) -> None:
        """Show one of these, which are the longest first."""
        self.forms = tuple(
            tuple(Phrase(printable(text), tone) for text, tone in words(form)) for form in forms
        )

    @property
    def _shown(self) -> Phrases:
        return fitting(self.forms, self.size.width)

    @property
    def text(self) -> str:
        """The wording shown."""
        return without_tones(self._shown)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        width, style = self.size.width, self.rich_style
        return Strip(toned_segments(self, self._shown, style)).adjust_cell_length(width, style)


def fitting(forms: Sequence[Phrases], width: int) -> Phrases:
    """Return the first of these forms that fits the width; the last one cut short where none does."""
    form = next((form for form in forms if cell_width(without_tones(form)) <= width), forms[-1])
    return shortened_to(form, fitted(without_tones(form), width))


def toned_segments(widget: Widget, row: Phrases, style: Style) -> list[Segment]:
    """Return the phrases of a row in the colours that a widget has for their tones."""
    return [
        Segment(
            text,
            style
            if tone is Tone.PLAIN
            else style + widget.get_component_rich_style(f"line--{tone}", partial=True),
        )
        for text, tone in row
    ]


class PaneTitle(Widget, can_focus=False):
    """The name of a pane and, at the right end, what it shows of how much, on a rule."""

    DEFAULT_CSS = "PaneTitle { height: 1; }"
    COMPONENT_CLASSES = {"pane-title--name"}  # noqa: RUF012
    words: reactive[tuple[str, ...]] = reactive(("", ""))

    def show(self, left: str, *rights: str) -> None:
        """Show a name and, if one fits, what is shown of how much, the longest form first."""
        self.words = tuple(map(printable, (left, *rights)))

    def on_click(self, event: events.Click) -> None:
        """Press the key whose brackets, or the words behind them, are there: "[x] log"."""
        text = self.render_line(0).text
        for key in _KEY_AND_WORDS.finditer(text):
            if 0 <= event.x - cell_width(text[: key.start()]) < cell_width(key[0]):
                self.app.simulate_key(key[1])

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        width, rule, (left, *rights) = self.size.width, glyph_set().horizontal, self.words
        # A name keeps some cells, and where there are several forms all of its own.
        left_width = cell_width(left) if len(rights) > 1 else min(cell_width(left), _LEAST_NAME)
        right = next((text for text in rights if cell_width(text) + left_width + 6 <= width), "")
        right = f" {right} {rule}" if right else ""
        left = f" {fitted(left, max(width - cell_width(right) - 4, 0))} "
        line, name = self.rich_style, self.get_component_rich_style("pane-title--name", partial=True)
        fill = rule * max(width - cell_width(right) - cell_width(left) - 1, 0)
        segments = [Segment(rule, line), Segment(left, line + name), Segment(fill + right, line)]
        return Strip(segments).adjust_cell_length(width, line)


def titled(name: str, *contents: Widget) -> Vertical:
    """Return the pane "#NAME-pane": a title over what it shows."""
    return Vertical(PaneTitle(), *contents, id=f"{name}-pane", classes="pane")


class HeaderLine(Widget, can_focus=False):
    """One row of tabs; where there is room, the longest wording of the workload that fits."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"
    forms: reactive[tuple[str, ...]] = reactive(())

    def __init__(self, tabs: Sequence[tuple[str, str]], active: str) -> None:
        super().__init__()
        self._tabs, self._active = tuple(tabs), active

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these of the workload, which are the longest first."""
        self.forms = tuple(map(printable, forms))

    async def on_click(self, event: events.Click) -> None:
        """Open the view of the tab there."""
        end = 0
        for (_, name), text in zip(self._tabs, self._tab_texts(), strict=True):
            end += len(text)
            if event.x < end:
                await self.run_action(f"app.view({name!r})")
                return

    def _tab_texts(self) -> list[str]:
        """The tabs with blanks on both sides, with one between, or with as many shorter names as it takes."""
        for pad, number in ((" ", 0), *(("", number) for number in range(len(_BRIEF) + 1))):
            brief = dict(islice(_BRIEF.items(), number))
            texts = [f"{pad}{key} {brief.get(name, name)} " for key, name in self._tabs]
            # The last one needs no blank behind it.
            if sum(map(len, texts)) <= self.size.width + (not pad):
                break
        return texts

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        width, style, segments = self.size.width, self.rich_style, list[Segment]()
        for text, (_, name) in zip(self._tab_texts(), self._tabs, strict=True):
            mark = Style(reverse=True, bold=True) if name == self._active else Style(bold=False)
            segments.append(Segment(text, style + mark))
        room = width - sum(len(segment.text) for segment in segments) - 2
        if self.forms and room >= _LEAST_FILE:
            form = next((form for form in self.forms if cell_width(form) <= room), self.forms[-1])
            segments.append(Segment(f"  {fitted(form, room)}", style))
        return Strip(segments).adjust_cell_length(width, style)


class KeysLine(Footer):
    """Textual's footer as full as its row allows: the view's own keys, help, then others; help has all."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        """The keys that fit."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        # The last one needs no blank behind it.
        room = (self.size.width or self.app.size.width) + 1
        everywhere = {action.name for action in (*APP, *VIEW)}
        last = sorted((key for key in keys if key.action in _LAST), key=lambda key: _LAST.index(key.action))
        view_keys = [key for key in keys if key.action not in everywhere]
        common_keys = [key for key in keys if key.action in everywhere and key not in last]
        visible = set()
        for key in (*last, *view_keys, *common_keys):
            cells = len(key.key_display) + len(key.description) + _BETWEEN
            if cells <= room:
                room -= cells
                visible.add(key)
        yield from (key for key in (*view_keys, *last, *common_keys) if key in visible)

    def on_resize(self, _: events.Resize) -> None:
        """Other keys may have room now."""
        self.refresh(recompose=True)


class Note(Static):
    """A text broken between words; of several wordings the longest that fits the window, else the last."""

    DEFAULT_CSS = "Note.-refused { color: ansi_red; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(markup=False, id=id)
        self.text = ""

    def show(self, *forms: str) -> None:
        """Show one of these, which are the longest first."""
        width = self.app.size.width
        self._write(next((form for form in forms if cell_width(form) <= width), forms[-1]), is_refused=False)

    def refuse(self, reason: str) -> None:
        """Show why something is not done."""
        self._write(f"! {reason}", is_refused=True)

    def _write(self, text: str, *, is_refused: bool) -> None:
        self.set_class(is_refused, "-refused")
        if printable(text) != self.text:
            self.text = printable(text)
            self.update(self.text)


# Charts, and rows with a cursor.

Draw = Callable[[int, int], Grid]
"""Draws a chart of a width and a height."""
Runs = list[tuple[str, int]]
"""Texts, each with a style of `tui.charts.grid`."""


def make_strip(texts: Iterable[tuple[str, int]], width: int, base: Style) -> Strip:
    """Return texts, each with a style of a grid's over the base, as a row so wide."""
    segments = [Segment(text, base + Style.parse(style_name(style))) for text, style in texts]
    return Strip(segments).adjust_cell_length(width, base)


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

    def say(self, text: str) -> None:
        """Show a text in place of a chart."""
        self.show(partial(_draw_words, printable(text)))

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
        runs = grid_runs(self.grid, y) if y < self.grid.height else ()
        return make_strip(runs, self.size.width, self.rich_style)


def _draw_words(text: str, width: int, height: int) -> Grid:
    grid = blank(width, height)
    for row, line in enumerate(wrapped(text, width, breaks_words=True)):
        put(grid, row, 0, line)
    return grid


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

    @property
    def place(self) -> str:
        """Which rows are in sight, of how many; nothing where there is none."""
        last = min(self._first + self.page, self.row_count)
        return f"{self._first + 1:,}-{last:,} of {self.row_count:,}" if self.row_count else ""

    def move(self, rows: int) -> None:
        """Move the cursor down by so many rows (up if negative), at most to the last or first."""
        before = self.cursor
        self._put(self.cursor + rows)
        if self.cursor != before:
            self.post_message(self.Moved())

    def _put(self, row: int) -> None:
        """Put the cursor on a row, and scroll as little as shows it."""
        self.cursor = min(max(row, 0), max(self.row_count - 1, 0))
        top = max(self.cursor - self.page + 1, 0)
        self._first = min(max(self._first, top), self.cursor, max(self.row_count - self.page, top, 0))
        self.refresh()

    def action_move(self, rows: int) -> None:
        self.move(rows)

    def action_page(self, pages: int) -> None:
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
        width, style, row, runs = self.size.width, self.rich_style, self._first + y - _HEAD, Runs()
        if not self.row_count:
            lines = wrapped(printable(self._words), width, breaks_words=True)
            runs = [(lines[y] if y < len(lines) else "", PLAIN)]
        elif y < _HEAD:
            style += self.get_component_rich_style("rows--head", partial=True)
            runs = [(self.heading(width), PLAIN)]
        elif row == self.cursor:
            # Without the colours of the row: reversed, each would be a patch of its own.
            style += self.get_component_rich_style("rows--cursor", partial=True)
            runs = [("".join(text for text, _ in self.runs(row, width)), PLAIN)]
        elif row < self.row_count:
            runs = self.runs(row, width)
        return make_strip(runs, width, style)


Key = TypeVar("Key")
Written = tuple[str, Callable[[int], Runs]]
"""The heading of a table of a width, and what writes one of its rows."""


class Table(Rows, Generic[Key]):
    """Rows with a key each; the cursor stays on its key when others are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: Sequence[Key] = ()
        self._write: Callable[[int], Written] = lambda _: ("", lambda _: [])
        self._written: tuple[int, Written] | None = None

    @property
    def key(self) -> Key | None:
        """The key of the row at the cursor; None in an empty table."""
        return self.keys[self.cursor] if self.row_count else None

    def show(
        self, keys: Sequence[Key], write: Callable[[int], Written], key: Key | None = None, words: str = ""
    ) -> None:
        """Show other rows, the cursor on `key`, or else at the top; without any, the words.

        `write`: is asked once for every width, and lays the columns out.
        """
        self.keys, self._write, self._written = keys, write, None
        self.fill(len(keys), keys.index(key) if key is not None and key in keys else 0, words)

    def go_to(self, key: Key | None) -> None:
        """Go to a key, if it is there, and tell nobody."""
        if key is not None and key in self.keys and key != self.key:
            self.fill(self.row_count, self.keys.index(key))

    def _at(self, width: int) -> Written:
        if self._written is None or self._written[0] != width:
            self._written = width, self._write(width)
        return self._written[1]

    def heading(self, width: int) -> str:
        return self._at(width)[0]

    def runs(self, row: int, width: int) -> Runs:
        return self._at(width)[1](row)


class ListingTable(Table[int]):
    """A listing, of millions of rows too; its cursor is seen where it has the focus."""

    BINDINGS = bindings(LIST)
    DEFAULT_CSS = """
    ListingTable > .rows--cursor { text-style: none; }
    ListingTable:focus > .rows--cursor { text-style: reverse; }
    """

    def show_listing(self, listing: Listing | None, words: str = "") -> None:
        """Show another table from its start, or without one a text in its place."""

        def write(width: int) -> Written:
            return ("", lambda _: []) if listing is None else written(listing, width)

        self.show(range(0 if listing is None else len(listing)), write, words=words)


def written(listing: Listing, width: int, mark: Callable[[int], tuple[str, int]] | None = None) -> Written:
    """Return the heading and what writes the rows of a listing so wide, each behind a mark of two cells."""
    if mark is None:
        return listing.head(width), lambda row: [(listing.row(row, width), PLAIN)]

    def marked_row(row: int) -> Runs:
        text, style = mark(row)
        return [(f"{text} {listing.row(row, width - 2)}", style)]

    return f"  {listing.head(width - 2)}", marked_row


def order_mark(*, falls: bool) -> str:
    """Return the mark of a column that falls, the largest first, or rises."""
    return ("v" if falls else "^") if is_ascii() else ("↓" if falls else "↑")


def marked(columns: Sequence[Column], names: Sequence[str], *, falls: bool) -> list[Column]:
    """Return the columns with a mark of the order on the first of the heads `names` that is there."""
    headings = [column.heading.rstrip() for column in columns]
    sorted_by = next((name for name in names if name in headings), None)
    return [
        replace(column, heading=f"{heading}{order_mark(falls=falls)}".ljust(len(column.heading)))
        if heading == sorted_by
        else column
        for column, heading in zip(columns, headings, strict=True)
    ]


# Held keys.

_DELAY_SECONDS = 0.08
"""Quick enough for a key that is pressed again, and longer than a terminal waits between repeated ones."""

Argument = TypeVar("Argument")


class Soon(Generic[Argument]):
    """Acts at once, and where it is asked again in quick steps, once more by the last of them."""

    def __init__(self, node: MessagePump, act: Callable[[Argument], object]) -> None:
        self._node, self._act = node, act
        self._timer: Timer | None = None
        self._put_off: list[Argument] = []

    def ask(self, argument: Argument, *, at_once: bool = False) -> None:
        """Act now, or once no further step has come for a moment."""
        is_held = not (self.is_resting or at_once)
        self._stop()
        self._put_off = [argument] * is_held
        self._timer = self._node.set_timer(_DELAY_SECONDS, self.end)
        if not is_held:
            self._act(argument)

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
