"""What the widgets of the scale view tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from tui.scale.sheet_options import SheetSource


@dataclass
class CellEdited(Message):
    """A cell, one of `tui.scale.sheet.CELLS`, has another text."""

    row: int
    cell: str
    text: str


@dataclass
class CellReached(Message):
    """The cursor is on another cell."""


@dataclass
class CellTaken(Message):
    """The text in the cell's field is as wanted; the cursor moves on so many cells and rows."""

    text: str
    cells: int = 0
    rows: int = 0


@dataclass
class CellLeft(Message):
    """The cell stays as it was."""


@dataclass
class PromptAnswered(Message):
    """The one-line question is answered; with None, it is not."""

    text: str | None


@dataclass
class SheetsRead(Message):
    """A file has been read; what of it is left out is told."""

    sources: Sequence[SheetSource]
    told: Sequence[str] = ()
