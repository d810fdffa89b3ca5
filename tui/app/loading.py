"""The first screen: what is being read, and how far it is."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from tui.app.state import Session
from tui.terminal.printable import printable

_WIDEST_BAR = 40


class LoadingScreen(Screen[None]):
    """Says what is read; `q` and `esc` leave, and `ctrl+c` ends the program as it ends a command."""

    DEFAULT_CSS = "LoadingScreen Static { height: 1; text-wrap: nowrap; text-overflow: clip; }"
    BINDINGS = [("escape", "app.quit", "Quit"), ("ctrl+c", "app.interrupt", "Interrupt")]  # noqa: RUF012

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        """A title, a line, a bar, a hint."""
        names = ", ".join(Path(profile).name for profile in self._session.profiles)
        with Vertical(id="loading"):
            # Not the widgets of other screens: they import numpy, which the first paint must not wait for.
            yield Static(self._shown(f"Reading {names}"), id="what", markup=False)
            yield Static(id="bar", markup=False)
            yield Static("q quit, ctrl+c interrupt", id="hint", markup=False)

    def report(self, done: int, total: int, what: str) -> None:
        """Show how far the work is."""
        # A whole path would push its own name out of the line.
        for profile in self._session.profiles:
            if what.endswith(f" {profile}"):
                what = what.removesuffix(profile) + (Path(profile).name or profile)
        self.query_one("#what", Static).update(self._shown(what))
        # Work of unknown length has no bar: the full bar of the step before would stay.
        self.query_one("#bar", Static).update(self._bar(min(done / total, 1.0)) if total else "")

    def _shown(self, text: str) -> str:
        return printable(text, ascii_only=self._session.ascii_only)

    def _bar(self, share: float) -> str:
        full = "#" if self._session.ascii_only else "\N{FULL BLOCK}"
        cells = max(min(self.size.width - 10, _WIDEST_BAR), 0)
        return f"{full * round(share * cells):{cells}} {100 * share:.0f} %"
