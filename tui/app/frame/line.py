"""Single rows of text that are never wrapped: the tabs, a status line, a pane's title, the keys."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Footer

# Its CSS names the class, but the package does not export it.
from textual.widgets._footer import FooterKey

from tui.app.actions import APP, VIEW, actions_of
from tui.charts.grid import fitted, glyph_set
from tui.output.blocks import Phrase, Tone, Words, shortened_to, without_tones, words
from tui.terminal.printable import printable

_LEAST_FILE = 12
"""Cells below which the workload is not named beside the tabs."""
_BRIEF = {"Split tree": "Tree", "Scale model": "Scale", "Timeline": "Time", "Difference": "Diff"}
"""What a tab is called where there is no room for its name."""
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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._forms: tuple[Words, ...] = (words(""),)

    def show(self, forms: Sequence[str | Words]) -> None:
        """Show one of these, which are the longest first."""
        shown = tuple(map(self._printable, forms))
        if shown != self._forms:
            self._forms = shown
            self.refresh()

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.show([(Phrase(f"! {why}", Tone.BAD),)])

    def _printable(self, form: str | Words) -> Words:
        return tuple(Phrase(printable(text), tone) for text, tone in words(form))

    @property
    def text(self) -> str:
        """The wording shown."""
        return without_tones(self._shown)

    @property
    def _shown(self) -> Words:
        return fitting(self._forms, self.size.width)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The text, and blanks."""
        width, style = self.size.width, self.rich_style
        return Strip(toned_segments(self, self._shown, style)).adjust_cell_length(width, style)


def fitting(forms: Sequence[Words], width: int) -> Words:
    """Return the first of these forms that fits the width; the last one cut short where none does."""
    form = next((form for form in forms if len(without_tones(form)) <= width), forms[-1])
    return shortened_to(form, fitted(without_tones(form), width))


def toned_segments(widget: Widget, row: Words, style: Style) -> list[Segment]:
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

    def __init__(self) -> None:
        super().__init__()
        self._left, self._rights = "", [""]

    def show(self, left: str, *rights: str) -> None:
        """Show a name and, if one fits, what is shown of how much, the longest form first."""
        shown = printable(left), [printable(right) for right in rights]
        if shown != (self._left, self._rights):
            self._left, self._rights = shown
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Press the key whose brackets, or the words behind them, are there: "[x] log"."""
        text = self.render_line(0).text
        for key in _KEY_AND_WORDS.finditer(text):
            if key.start() <= event.x < key.end():
                self.app.simulate_key(key[1])

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The name, the rule, the rest."""
        width, rule = self.size.width, glyph_set().horizontal
        # A name keeps some cells, and where there are several forms all of its own.
        least = len(self._left) if len(self._rights) > 1 else min(len(self._left), _LEAST_NAME)
        right = next((each for each in self._rights if len(each) + least + 6 <= width), "")
        right = f" {right} {rule}" if right else ""
        left = f" {fitted(self._left, max(width - len(right) - 4, 0))} "
        line, name = self.rich_style, self.get_component_rich_style("pane-title--name", partial=True)
        fill = rule * max(width - cell_len(right) - cell_len(left) - 1, 0)
        segments = [Segment(rule, line), Segment(left, line + name), Segment(fill + right, line)]
        return Strip(segments).adjust_cell_length(width, line)


def titled(name: str, *contents: Widget) -> Vertical:
    """Return the pane "#NAME-pane": a title over what it shows."""
    return Vertical(PaneTitle(), *contents, id=f"{name}-pane", classes="pane")


class HeaderLine(Widget, can_focus=False):
    """One row of tabs; where there is room, the longest wording of the workload that fits."""

    DEFAULT_CSS = "HeaderLine { height: 1; }"

    def __init__(self, tabs: Sequence[tuple[str, str]], active: str) -> None:
        super().__init__()
        self._tabs, self._active = tuple(tabs), active
        self._forms: tuple[str, ...] = ()

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these of the workload, which are the longest first."""
        shown = tuple(printable(form) for form in forms)
        if shown != self._forms:
            self._forms = shown
            self.refresh()

    async def on_click(self, event: events.Click) -> None:
        """Open the view of the tab there."""
        end = 0
        for (_, name), text in zip(self._tabs, self._tab_texts(), strict=True):
            end += len(text)
            if event.x < end:
                await self.run_action(f"app.view({name!r})")
                return

    def _tab_texts(self) -> list[str]:
        """The tabs with blanks on both sides, with one between, or with shorter names."""
        forms = (" {0} {1} ", "{0} {1} ", "{0} {2} ")
        for form in forms:
            texts = [form.format(key, name, _BRIEF.get(name, name)) for key, name in self._tabs]
            # The last one needs no blank behind it.
            if sum(map(len, texts)) <= self.size.width + (form is not forms[0]):
                break
        return texts

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """Tabs, blanks, the workload."""
        width, style = self.size.width, self.rich_style
        segments = []
        for text, (_, name) in zip(self._tab_texts(), self._tabs, strict=True):
            mark = Style(reverse=True, bold=True) if name == self._active else Style(bold=False)
            segments.append(Segment(text, style + mark))
        room = width - sum(len(segment.text) for segment in segments) - 2
        if self._forms and room >= _LEAST_FILE:
            form = next((form for form in self._forms if len(form) <= room), self._forms[-1])
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
        everywhere = {action.name for action in actions_of(APP, VIEW)}
        last = sorted((key for key in keys if key.action in _LAST), key=lambda key: _LAST.index(key.action))
        own = [key for key in keys if key.action not in everywhere]
        others = [key for key in keys if key.action in everywhere and key not in last]
        shown = set()
        for key in (*last, *own, *others):
            cells = len(key.key_display) + len(key.description) + _BETWEEN
            if cells <= room:
                room -= cells
                shown.add(key)
        yield from (key for key in (*own, *last, *others) if key in shown)

    def on_resize(self, _: events.Resize) -> None:
        """Other keys may have room now."""
        self.refresh(recompose=True)
