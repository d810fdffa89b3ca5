"""Words over a field: what is meant, or what is wrong with it, on as many rows as they need."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets import Static

from tui.terminal.printable import printable


class FieldWords(Static):
    """The longest of several wordings that fits a row; where none does, the shortest on several."""

    DEFAULT_CSS = """
    FieldWords { height: auto; max-height: 6; width: 1fr; }
    FieldWords.-refused { color: ansi_red; }
    """

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(markup=False)
        self._ascii_only = ascii_only

    def show(self, forms: Sequence[str]) -> None:
        """Show one of these, which are the longest first."""
        self.remove_class("-refused")
        width = self.app.size.width
        self._write(next((form for form in forms if len(form) <= width), forms[-1]))

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.add_class("-refused")
        self._write(f"! {why}")

    def _write(self, text: str) -> None:
        self.update(printable(text, ascii_only=self._ascii_only))
