"""What the engine raises and finds: what is wrong, where in an input file, and what to do about it.

Messages name parameters and columns, never the flags of a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple


class Place(NamedTuple):
    """A place in an input file: its path as given, and the line from 1, column or key that is to blame."""

    path: str | Path
    row: int | None = None
    column: str | None = None
    key: str | None = None

    def __str__(self) -> str:
        parts = (("row", self.row), ("column", self.column), ("key", self.key))
        return ", ".join([str(self.path), *(f"{name} {part}" for name, part in parts if part is not None)])


class ScaleModelError(Exception):
    """A failure of the engine: a message, and the remedy as an imperative where there is one."""

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


class Finding(NamedTuple):
    """What a prediction has to say beside its numbers."""

    code: str
    severity: Literal["note", "warning"]
    message: str
    remedy: str


def listed(words: Iterable[object]) -> str:
    """Return words as in a sentence.

    >>> listed([8]), listed([8, 16, 32])
    ('8', '8, 16 and 32')
    """
    *before, last = map(str, words)
    return f"{', '.join(before)} and {last}" if before else last
