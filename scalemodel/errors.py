"""What the engine raises: what is wrong, where in an input file, and what to do about it.

Messages name parameters and columns, never the flags of a command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an input file.

    Attributes
    ----------
    path : the file as the user gave it.
    row : 1-based line number, where one is to blame.
    column : the column's name, of a table.
    key : the key's name, of a file that has keys.
    """

    path: str | Path
    row: int | None = None
    column: str | None = None
    key: str | None = None

    def in_column(self, column: str) -> Place:
        """Return the cell of a column in this row."""
        return replace(self, column=column)

    def __str__(self) -> str:
        parts = (("row", self.row), ("column", self.column), ("key", self.key))
        return ", ".join([str(self.path), *(f"{name} {part}" for name, part in parts if part is not None)])


class ScaleModelError(Exception):
    """A failure of the engine; its text is the message and, where there is one, the remedy.

    Attributes
    ----------
    message : what is wrong, in one sentence.
    remedy : what the user can do, as an imperative.
    """

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message}; {self.remedy}"


class InputError(ScaleModelError):
    """An input file that cannot be read, or does not hold what it should; the message begins with `place`."""

    def __init__(self, message: str, place: Place, *, remedy: str | None = None) -> None:
        super().__init__(f"{place}: {message}", remedy=remedy)
        self.place = place


class OptionError(ScaleModelError):
    """A parameter or a measurement whose value the engine cannot accept."""


class AnalysisError(ScaleModelError):
    """An analysis that cannot give an answer for these measurements."""
