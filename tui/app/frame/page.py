"""A page to read: a title, and text that scrolls where it is longer than the screen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Static

from tui.app.frame.copying import CopyingScreen, PaneText
from tui.app.frame.line import PaneTitle


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
        """The text, for the width it will have, lest it be drawn twice."""
        self._width = self.app.size.width
        yield Static(self._write(self._width))

    def on_resize(self, _: events.Resize) -> None:
        """Write for this width."""
        if self.size.width != self._width:
            self.write_anew()

    def write_anew(self) -> None:
        """Write what there is to say now; where the page has no width yet, nothing until it has one."""
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

    def __init__(self, title: str, *, ascii_only: bool) -> None:
        super().__init__()
        self._page_title, self._ascii_only = title, ascii_only

    @abstractmethod
    def write(self, width: int) -> Text:
        """The text of the page, for lines of this width."""

    def pane_text(self) -> PaneText:
        """The page."""
        name = self._page_title.lower().replace(": ", "-").replace(" ", "-")
        return PaneText(f"kernelpoint-{name}", f"{self.write(self.app.size.width).plain.rstrip()}\n")

    def action_say_why_no_command(self) -> None:
        """Say what there is instead of a command that prints the page."""
        self.app.say(self.WHY_NO_COMMAND)

    def compose(self) -> ComposeResult:
        """The title over the page."""
        yield PaneTitle(ascii_only=self._ascii_only)
        yield Page(self.write)

    def on_mount(self) -> None:
        """Keep saying whether there is more."""
        page = self.query_one(Page)
        self.watch(page, "scroll_y", self._show_title_soon)
        self.watch(page, "virtual_size", self._show_title_soon)

    def _show_title_soon(self) -> None:
        # How far a page scrolls is known only once it is laid out.
        self.call_after_refresh(self._show_title)

    def _show_title(self) -> None:
        page = self.query_one(Page)
        more = "j more, " if page.scroll_y < page.max_scroll_y else ""
        self.query_one(PaneTitle).show(self._page_title, f"{more}esc back")
