"""The first screen: what is being read, and how far it is."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from tui.app.state import Session
from tui.app.widgets.line import Line
from tui.charts.glyphs import ASCII_FILLS, UNICODE

_WIDEST_BAR = 40


class LoadingScreen(Screen[None]):
    """Says what is read; `q` and `esc` leave."""

    BINDINGS = [("escape", "app.quit", "Quit")]  # noqa: RUF012

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        """A title, a line, a bar, a hint."""
        names = ", ".join(Path(profile).name for profile in self._session.profiles)
        with Vertical(id="loading"):
            for name, text in (("what", f"Reading {names}"), ("bar", ""), ("hint", "q quit")):
                line = Line(ascii_only=self._session.ascii_only, id=name)
                line.show([text])
                yield line

    def report(self, done: int, total: int, what: str) -> None:
        """Show where the work stands."""
        self.query_one("#what", Line).show([what])
        if total:
            self.query_one("#bar", Line).show([self._bar(min(done / total, 1.0))])

    def _bar(self, share: float) -> str:
        full = ASCII_FILLS[0] if self._session.ascii_only else UNICODE.levels[-1]
        cells = min(self.size.width - 10, _WIDEST_BAR)
        return f"{full * round(share * cells):{cells}} {100 * share:.0f} %"
