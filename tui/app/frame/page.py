"""Screens whose text can be copied and written; pages to read over a view, such as help and findings."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from sampling.errors import OptionError
from sampling.plan.study import Study
from tui.app.actions import Action
from tui.app.frame.line import PaneTitle
from tui.app.planning import failure_words
from tui.app.session_app import SessionApp
from tui.app.state import KEYS, remedy_keys
from tui.options.command_line import change_text
from tui.output.files import write_text
from tui.output.writer import Canvas, canvas_text
from tui.text.profile import MARKS, finding_blocks

_KEYS_WIDTH = 9
_WORDS = (
    "A kernel group is the launches of one name, grid and block; strata are parts of it that last about as "
    "long. A plan draws a few launches of each stratum, and each stands for several. Epsilon is how far off "
    "the whole may be."
)
_ROW_2 = (
    "launches, kernel time, groups, how few of them hold 80 % of the time; [F] the part that filters keep; "
    "[f] what was found, ! a warning, i a note"
)
_MARK_STYLES = {"warning": "bold black on yellow", "note": "bold cyan"}


_MOST_COPIED_BYTES = 70_000
"""Terminals drop longer clipboard sequences without a word."""


class PaneText(NamedTuple):
    """A pane as text, and the name of a file for it, without suffix."""

    name: str
    text: str


class CopyingScreen(Screen[None]):
    """A screen whose text can be copied and written."""

    app: SessionApp

    @abstractmethod
    def pane_text(self) -> PaneText:
        """What is to be copied."""

    def action_copy_pane(self) -> None:
        """Copy the pane's text to the clipboard of the user's own terminal."""
        text = self.pane_text().text
        size = len(text.encode())
        if not text:
            self.app.say("nothing here to copy")
        elif size > _MOST_COPIED_BYTES:
            self.app.say(f"{size:,} bytes are too many for the clipboard; w writes them to a file")
        else:
            self.app.copy_to_clipboard(text)
            lines = text.count("\n")
            self.app.say(f"{lines:,} lines sent to the clipboard; if none arrive: w writes a file")

    def action_write_pane(self) -> None:
        """Write the pane's text to a new file in the current folder."""
        name, text = self.pane_text()
        if not text:
            self.app.say("nothing here to write")
            return
        names = chain([f"{name}.txt"], (f"{name}-{number}.txt" for number in count(2)))
        path = next(path for path in map(Path.cwd().joinpath, names) if not path.exists())
        try:
            write_text(text, path)
        except (OSError, OptionError) as error:
            self.app.say(f"not written: {failure_words(error)}", failed=True)
        else:
            self.app.say(f"written to {path}")


class Page(VerticalScroll):
    """Text that is wrapped anew when its width changes."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
        Binding("g", "scroll_home", "Start", show=False),
        Binding("G", "scroll_end", "End", show=False),
    ]

    def __init__(self, write: Callable[[int], Text]) -> None:
        super().__init__()
        self._write, self._width = write, 0

    def compose(self) -> ComposeResult:
        """The text, for the width it will have, so that it is drawn once."""
        self._width = self.app.size.width
        yield Static(self._write(self._width))

    def on_resize(self, _: events.Resize) -> None:
        """Write for this width."""
        if self.size.width != self._width:
            self.write_anew()

    def write_anew(self) -> None:
        """Write the present text; nothing while the page has no width yet."""
        self._width = self.size.width
        self.query_one(Static).update(self._write(self._width))


class PageScreen(CopyingScreen):
    """A page over the view it was asked for in; `esc` goes back there."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q", "dismiss", "Back"),
        ("y", "copy_pane", "Copy"),
        ("w", "write_pane", "Write"),
        ("Y", "say_why_no_command", "Command"),
    ]

    WHY_NO_COMMAND: ClassVar[str]
    """What `Y` says."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._page_title = title

    @abstractmethod
    def write(self, width: int) -> Text:
        """The text of the page, for lines of this width."""

    def pane_text(self) -> PaneText:
        """The page."""
        name = self._page_title.lower().replace(": ", "-").replace(" ", "-")
        return PaneText(f"kernelpoint-{name}", f"{self.write(self.app.size.width).plain.rstrip()}\n")

    def action_say_why_no_command(self) -> None:
        """Say that no command prints the page, and what to do instead."""
        self.app.say(self.WHY_NO_COMMAND)

    def compose(self) -> ComposeResult:
        """The title over the page."""
        yield PaneTitle()
        yield Page(self.write)

    def on_mount(self) -> None:
        """Keep saying whether there is more."""
        page = self.query_one(Page)
        for name in ("scroll_y", "virtual_size"):
            self.watch(page, name, self._show_title_soon)

    def _show_title_soon(self) -> None:
        # How far a page scrolls is known only once it is laid out.
        self.call_after_refresh(self._show_title)

    def _show_title(self) -> None:
        page = self.query_one(Page)
        more = "j more, " if page.scroll_y < page.max_scroll_y else ""
        self.query_one(PaneTitle).show(self._page_title, f"{more}{self.hints()}esc back")

    def hints(self) -> str:
        """What else keys do here, for the title; each ends in a comma and a blank."""
        return ""


class FindingsScreen(PageScreen):
    """Every finding's sentence and remedy, as the commands say it; then what a plan file lacks."""

    BINDINGS = [  # noqa: RUF012
        ("f", "dismiss", "Back"),
        *((key, f"apply('{key}')", "Apply") for key in KEYS),
        ("u", "undo", "Undo"),
    ]

    WHY_NO_COMMAND = "`kernelpoint info PROFILE` prints the findings, below what is in the profile"

    app: SessionApp

    def __init__(self, study: Study, *, beside: tuple[str, ...] = ()) -> None:
        super().__init__("Findings")
        self._study, self._beside = study, beside
        self._remedies = remedy_keys(study.findings)

    def write(self, width: int) -> Text:
        """One paragraph a finding, with the key that applies its remedy."""
        keys = {
            finding.code: f"[{key}] sets {change_text(finding.changes)}"
            for key, finding in self._remedies.items()
        }
        found = findings_toned(self._study, width, keys)
        return Text("\n").join([found, *(Text(f"\n{line}") for line in self._beside)])

    def hints(self) -> str:
        """The keys of remedies, and undo once one was applied."""
        keys = list(self._remedies)
        apply = f"{keys[0]}-{keys[-1]} apply, " if len(keys) > 1 else f"{keys[0]} apply, " if keys else ""
        return f"{apply}{'u undo, ' if len(self.app.steps) else ''}"

    def action_apply(self, key: str) -> None:
        """Apply the remedy of this key and go back to the view; nothing where no finding has the key."""
        if key in self._remedies:
            self.dismiss()
            self.app.apply_remedy(self._remedies[key])

    def action_undo(self) -> None:
        """Take the last remedy back and go back to the view."""
        self.dismiss()
        self.app.action_undo()


def findings_toned(study: Study, width: int, keys: Mapping[str, str] | None = None) -> Text:
    """Return the findings as their command prints them, each mark in the colour of its severity.

    `keys`: what a key does about a finding, in words, by the finding's code; none where no key does.
    """
    text = Text(canvas_text(finding_blocks(study, keys), Canvas(width, color=False)))
    for severity, style in _MARK_STYLES.items():
        for found in re.finditer(rf"(?m)^  ({re.escape(MARKS[severity])}) ([a-z-]+):", text.plain):
            text.stylize(style, *found.span(1))
            text.stylize("bold", *found.span(2))
    return text


class HelpScreen(PageScreen):
    """A paragraph on how to read a view, and its keys from the table of actions."""

    BINDINGS = [("question_mark,f1", "dismiss", "Back")]  # noqa: RUF012

    WHY_NO_COMMAND = "no command prints the keys; `kernelpoint --help` explains the commands"

    def __init__(
        self, name: str, about: str, actions: Iterable[Action], views: Iterable[tuple[str, str]]
    ) -> None:
        super().__init__(f"Help: {name}")
        self._text = help_text(about, actions, views)

    def write(self, width: int) -> Text:  # noqa: ARG002
        """The words, then the keys."""
        return self._text


def help_text(about: str, actions: Iterable[Action], views: Iterable[tuple[str, str]]) -> Text:
    """Return what the view is about, then the keys, one action a row, those of the views in one."""
    text = Text(f"{about}\n\n{_WORDS}\n\n")
    for action in actions:
        text.append(f"  {action.display:<{_KEYS_WIDTH}}", "bold")
        text.append(f" {action.description}\n")
    text.append("  views     ", "bold")
    text.append(", ".join(f"{key} {name}" for key, name in views))
    text.append("\n  row 2     ", "bold")
    text.append(_ROW_2)
    return text
