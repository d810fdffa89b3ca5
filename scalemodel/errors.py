"""The one exception family of this engine: what is wrong, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path


class ScaleModelError(Exception):
    """A failure of the engine, told as one sentence and, where there is one, its remedy."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(message if remedy is None else f"{message}; {remedy}")


class InputError(ScaleModelError):
    """An input file that cannot be read, or does not hold what it should.

    Parameters
    ----------
    message : what is wrong, without the place.
    path : the file.
    row : 1-based line number within it, where one is to blame.
    column : the column's name, where one is to blame.
    key : the key's name, of a file that has keys.
    remedy : what the user can do, as an imperative.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path,
        row: int | None = None,
        column: str | None = None,
        key: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.path = str(path)
        self.row = row
        self.column = column
        self.key = key
        place = self.path
        if row is not None:
            place += f", row {row}"
        if column is not None:
            place += f", column {column}"
        if key is not None:
            place += f", key {key}"
        super().__init__(f"{place}: {message}", remedy=remedy)


class OptionError(ScaleModelError):
    """An option or a measurement whose value the engine cannot accept."""


class AnalysisError(ScaleModelError):
    """An analysis that cannot give an answer for these measurements."""
