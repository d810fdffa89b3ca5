"""The last thing before the terminal: whatever a widget draws, nothing in it steers the terminal.

Widgets escape what they show, for they know how wide it becomes. This is for what one of them forgets.
"""

from __future__ import annotations

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class PrintableFilter(LineFilter):
    """Takes out what cannot be printed, and keeps the width of what is left."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments, blanks and question marks in place of what may not be seen."""
        if all(self._is_harmless(segment.text) for segment in segments):
            return segments
        return [Segment("".join(map(self._shown, text)), style, control) for text, style, control in segments]

    def _is_harmless(self, text: str) -> bool:
        return text.isprintable() and (not self._ascii_only or text.isascii())

    def _shown(self, mark: str) -> str:
        if self._is_harmless(mark):
            return mark
        cells = get_character_cell_size(mark)
        return ("?" if mark.isprintable() else " ") * cells
