"""The one exception family of this engine: what is wrong, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path

from sampling.text import joined_texts


class SamplingError(Exception):
    """A failure of the engine: one sentence (``message``), what to do (``remedy``), and both (``text``).

    Parameters may be named in them, see `sampling.text.Wording`.
    """

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        self.message = message
        self.remedy = remedy
        self.text = message if remedy is None else joined_texts("; ", (message, remedy))
        super().__init__(self.text)


class ProfileError(SamplingError):
    """An input file that is not what it has to be, or not whole.

    Parameters
    ----------
    message : what is wrong, without the place.
    path : the file or folder.
    row : 1-based line or row number within it, where one is to blame.
    column : the column's name, where one is to blame.
    remedy : what the user can do, as an imperative.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path,
        row: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.path, self.row, self.column = str(path), row, column
        place = self.path
        place += "" if row is None else f", row {row}"
        place += "" if column is None else f", column {column}"
        super().__init__(joined_texts(": ", (place, message)), remedy=remedy)


class PlanFileError(ProfileError):
    """A plan or overrides file that cannot be read, or does not belong to the profile."""


class EmptySelectionError(SamplingError):
    """Filters that leave no launch."""


class BudgetError(SamplingError):
    """A budget of simulation time that no plan fits."""


class OptionError(SamplingError):
    """An option whose value the engine cannot accept."""


class OverrideError(OptionError):
    """A decision of the user's that fits no node of a split tree; ``in_short`` says what without the key.

    Parameters
    ----------
    key : of the kernel group.
    group : its index, rank - 1; None where no group has the key.
    path : of the node, where one is to blame.
    """

    def __init__(
        self,
        message: str,
        *,
        key: str,
        group: int | None = None,
        path: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.key, self.group, self.path = key, group, path
        self.in_short = message if group is None else f"{message} (kernel group #{group + 1})"
        # A key may be longer than a screen: what matters stands before it.
        of = repr(key) if group is None else f"kernel group #{group + 1}: {key!r}"
        super().__init__(f"{message} ({of})", remedy=remedy)


class AnalysisError(SamplingError):
    """An analysis that cannot give an answer for this profile."""


class NotApplicableError(AnalysisError):
    """A method that needs what this profile lacks; the remedy names the file that would supply it."""
