"""Views, which follow the session, and pages over them; what is copied of them, and written."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, TypeVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from sampling.errors import OptionError
from sampling.plan.draft import Draft
from tui.app import wording
from tui.app.actions import FINDINGS, PAGE, SCROLL, Action, bindings
from tui.app.planning import failure_words
from tui.app.session_app import ExplainedScreen, SessionApp
from tui.app.state import Session, remedy_keys
from tui.app.widgets import HeaderLine, KeysLine, Line, PaneTitle, Rows
from tui.options.command_line import change_text
from tui.output.blocks import Phrases
from tui.output.files import write_text
from tui.output.writer import Canvas, canvas_text, heading_text
from tui.terminal.printable import printable_lines
from tui.text.profile import MARKS, finding_blocks, header_forms, heading_lines, survey_selection

_KEYS_WIDTH = 9
_WORDS = (
    "A kernel group is the launches of one name, grid and block; strata are parts of it that last about as "
    "long. A plan draws a few launches of each stratum, and each stands for several. Epsilon is how far off "
    "the whole may be."
)
_ROW_2 = (
    "launches, kernel time in elapsed time, groups, how few of them hold 80 % of the time; [F] the part that "
    "filters keep; [f] what was found, X an error, ! a warning, i a note"
)
_MARK_STYLES = {"error": "bold white on red", "warning": "bold black on yellow", "note": "bold cyan"}
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
        try:
            path = next(path for path in map(Path.cwd().joinpath, names) if not path.exists())
            write_text(text, path)
        except (OSError, OptionError) as error:
            self.app.say(f"not written: {failure_words(error)}", failed=True)
        else:
            self.app.say(f"written to {path}")


# Views.


class ViewScreen(CopyingScreen, ExplainedScreen):
    """A view on the session: tabs, the profile in a row, its own panes, the plan in a line, keys.

    A view draws in `compose_panes` and `follow`; it follows the session only while it is on the screen.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (36, "-high")]  # noqa: RUF012

    TAB: ClassVar[str] = ""
    """The view that it belongs to, where it is none of its own."""
    SUMMARY: ClassVar[str]
    """What it shows, in a few words."""
    OF_PROFILE: ClassVar[bool] = True
    """Whether it shows the profile, or part of it."""

    def __init__(self) -> None:
        super().__init__()
        # Textual parses all styles twice for a screen that it holds to be out of date; a new one is not.
        self._css_update_count = self.app._css_update_count
        self._shown: Session | None = None

    @property
    def session(self) -> Session:
        """What the app shows."""
        return self.app.session

    def compose(self) -> ComposeResult:
        """The frame around the view's own panes."""
        yield HeaderLine(self.app.tabs, self.TAB or self.NAME)
        yield Line(id="profile")
        yield from self.compose_panes()
        yield Line(id="plan")
        yield KeysLine()

    @property
    def is_ready(self) -> bool:
        """Whether the view shows what its actions are about; a view that computes it first overrides this."""
        return True

    @abstractmethod
    def compose_panes(self) -> ComposeResult:
        """The view's own panes."""

    @abstractmethod
    def follow(self, previous: Session | None, session: Session) -> None:
        """Show what differs from the session shown before; `previous` is None before the first time."""

    def on_mount(self) -> None:
        """Follow the session from now on."""
        self.watch(self.app, "session", self._follow)

    def on_screen_resume(self) -> None:
        """Catch up with what changed while another view was open."""
        if self._shown is not None:
            self._follow(self.session)

    def _follow(self, session: Session) -> None:
        if session is self._shown or (self._shown is not None and not self.is_current):
            return
        previous, self._shown, draft = self._shown, session, session.draft
        profile, plan = self.query_one("#profile", Line), self.query_one("#plan", Line)
        profile.display = plan.display = bool(session.profiles) and self.is_of_workload(session)
        if draft is not None:
            # What is in the profile changes with the draft alone, and many groups take a moment to add up.
            if previous is None or previous.draft is not draft:
                self.query_one(HeaderLine).show(wording.workload_lines(session, draft))
                profile.show(header_forms(draft))
            plan.show(self.status(session, draft))
        self.follow(previous, session)

    def is_of_workload(self, session: Session) -> bool:  # noqa: ARG002 - most views are
        """Return whether the view is of the open workload, whose rows then stand over and below it."""
        return True

    def status(self, session: Session, draft: Draft) -> list[Phrases]:
        """What is said of the plan, the longest form first."""
        return wording.status_lines(session, draft)

    def pane_text(self) -> PaneText:
        """The text of the pane that has the focus, as its command prints it, under what it is a part of."""
        text, draft, heading = self.own_text(), self.session.draft, ""
        if text.text and draft is not None and self.OF_PROFILE:
            heading = heading_text(heading_lines(survey_selection(draft)), self.app.size.width)
        return PaneText(text.name, printable_lines(heading + text.text))

    @abstractmethod
    def own_text(self) -> PaneText:
        """The same text before characters that a terminal must not see are escaped."""

    @abstractmethod
    def command(self) -> str:
        """The command line that prints what the pane in focus shows."""

    def entitle(self, name: str, left: str, *rights: str) -> None:
        """Show a pane's name and, at the right end of its title, what it shows of how much."""
        self.query_one(f"#{name}-pane PaneTitle", PaneTitle).show(left, *rights)

    def action_log(self) -> None:
        """Change between logarithmic and linear durations, in all views."""
        self.app.change(log=not self.session.log)

    def action_findings(self) -> None:
        """Show every finding in full."""
        if self.session.draft is not None:
            self.app.push_screen(FindingsScreen(self.session.draft, notes=self.session.beside))

    def action_filters(self) -> None:
        """Show which launches count and what a kernel group is, to change it."""
        from tui.app.filters import FiltersScreen

        if self.session.draft is None:
            self.app.say("no profile is open; `kernelpoint PROFILE` opens one")
        else:
            self.app.push_screen(FiltersScreen(self.session.draft.profile, self.session))

    def action_copy_command(self) -> None:
        """Copy the command line that prints the same; split decisions are written to a file it names."""
        try:
            line = self.command()
        except OSError as error:
            self.app.say(f"your split decisions are not written: {failure_words(error)}", failed=True)
            return
        self.app.copy_to_clipboard(line)
        self.app.say(line)


Sort = TypeVar("Sort", bound=StrEnum)


class TableScreen(ViewScreen, Generic[Sort]):
    """A view with one sorted table, whose cursor moves from all its panes."""

    @property
    @abstractmethod
    def order(self) -> tuple[Sort, bool]:
        """What the table is sorted by, and whether the other way round."""

    @property
    @abstractmethod
    def orders(self) -> Sequence[Sort]:
        """What it can be sorted by in turn."""

    @abstractmethod
    def sort_by(self, sort: Sort, *, reverse: bool) -> None:
        """Sort by another figure, or the other way round."""

    def action_sort(self) -> None:
        """Sort by what follows, the first after the last and after one that is not in turn."""
        orders, sort = self.orders, self.order[0]
        place = orders.index(sort) + 1 if sort in orders else 0
        self.sort_by(orders[place % len(orders)], reverse=False)

    def action_reverse(self) -> None:
        sort, reverse = self.order
        self.sort_by(sort, reverse=not reverse)

    def action_move(self, rows: int) -> None:
        self.query_one(Rows).move(rows)

    def action_page(self, pages: int) -> None:
        self.query_one(Rows).action_page(pages)


# Pages.


class Page(VerticalScroll):
    """Text that is wrapped anew when its width changes."""

    BINDINGS = bindings(SCROLL)

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

    BINDINGS = bindings(PAGE)
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
        for name in ("scroll_y", "virtual_size"):
            self.watch(self.query_one(Page), name, self._show_title_soon)

    def _show_title_soon(self) -> None:
        # How far a page scrolls is known only once it is laid out.
        self.call_after_refresh(self._show_title)

    def _show_title(self) -> None:
        page = self.query_one(Page)
        hint = "j more, " if page.scroll_y < page.max_scroll_y else ""
        self.query_one(PaneTitle).show(self._page_title, f"{hint}{self.hints()}esc back")

    def hints(self) -> str:
        """What else keys do here, for the title; each ends in a comma and a blank."""
        return "? help, "


class FindingsScreen(PageScreen, ExplainedScreen):
    """Every finding's sentence and remedy, as the commands say it; then what a plan file lacks."""

    NAME = "Findings"
    SCOPES = (FINDINGS, PAGE, SCROLL)
    BINDINGS = bindings(FINDINGS)
    ABOUT: ClassVar[str] = (
        "What was found in the profile that may mislead a plan or its reader, the gravest first: X an error, "
        "! a warning, i a note. Below each sentence stands what to do about it. Where that is an option of "
        "the plan, the key in brackets sets it and goes back to the view; u takes it back."
    )
    WHY_NO_COMMAND = "`kernelpoint info PROFILE` prints the findings, below what is in the profile"

    def __init__(self, draft: Draft, *, notes: tuple[str, ...] = ()) -> None:
        super().__init__(self.NAME)
        self._draft, self._beside = draft, notes
        self._remedies = remedy_keys(draft.findings)

    def write(self, width: int) -> Text:
        """One paragraph a finding, with the key that applies its remedy."""
        keys = {
            finding.code: f"[{key}] sets {change_text(finding.changes)}"
            for key, finding in self._remedies.items()
        }
        findings = findings_toned(self._draft, width, keys)
        return Text("\n").join([findings, *(Text(f"\n{line}") for line in self._beside)])

    def hints(self) -> str:
        """The keys of remedies, and undo once one was applied."""
        keys = list(self._remedies)
        apply = f"{keys[0]}-{keys[-1]} apply, " if len(keys) > 1 else f"{keys[0]} apply, " if keys else ""
        return f"{apply}{'u undo, ' if len(self.app.steps) else ''}{super().hints()}"

    def action_apply(self, key: str) -> None:
        """Apply the remedy of this key and go back to the view; nothing where no finding has the key."""
        if key in self._remedies:
            self.dismiss()
            self.app.apply_remedy(self._remedies[key])

    def action_undo(self) -> None:
        """Take the last remedy back and go back to the view."""
        self.dismiss()
        self.app.action_undo()


def findings_toned(draft: Draft, width: int, keys: Mapping[str, str] | None = None) -> Text:
    """Return the findings as their command prints them, each mark in the colour of its severity.

    `keys`: what a key does about a finding, in words, by the finding's code; none where no key does.
    """
    text = Text(canvas_text(finding_blocks(draft, keys), Canvas(width, color=False)))
    for severity, style in _MARK_STYLES.items():
        for match in re.finditer(rf"(?m)^  ({re.escape(MARKS[severity])}) ([a-z-]+):", text.plain):
            text.stylize(style, *match.span(1))
            text.stylize("bold", *match.span(2))
    return text


class HelpScreen(PageScreen):
    """A paragraph on how to read a screen, then its keys, one action a row, those of the views in one."""

    BINDINGS = [("question_mark,f1", "dismiss", "Back")]  # noqa: RUF012
    WHY_NO_COMMAND = "no command prints the keys; `kernelpoint --help` explains the commands"

    def __init__(self, screen: ExplainedScreen, actions: Iterable[Action]) -> None:
        super().__init__(f"Help: {screen.NAME}")
        self._text = Text(f"{screen.ABOUT}\n\n{_WORDS}\n\n")
        for action in actions:
            self._text.append(f"  {action.display:<{_KEYS_WIDTH}}", "bold")
            self._text.append(f" {action.description}\n")
        views = ", ".join(f"{key} {name}" for key, name in screen.app.tabs)
        for label, words in (("  views     ", views), ("\n  row 2     ", _ROW_2)):
            self._text.append(label, "bold")
            self._text.append(words)

    def write(self, width: int) -> Text:  # noqa: ARG002
        return self._text

    def hints(self) -> str:
        return ""
