"""The one exception family of this engine: what is wrong, where, and what to do about it."""

from __future__ import annotations

import copyreg
from pathlib import Path
from typing import Any

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

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled as it stands, to come here from another process: its parts are joined already.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ProfileError(SamplingError):
    """An input file that is not what it has to be, or not whole; row (from 1), column and key are to blame.

    ``reason`` says what is wrong, without the place.
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
        self.path, self.row, self.column, self.key, self.reason = str(path), row, column, key, message
        parts = (self.path, row and f"row {row}", column and f"column {column}", key and f"key {key}")
        place = ", ".join(part for part in parts if part)
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

    ``group`` is the index of the kernel group, rank - 1; None where no group has the key.
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
        number = "" if group is None else f"kernel group #{group + 1}"
        self.in_short = f"{message} ({number})" if number else message
        # A key may be longer than a screen: what matters stands before it.
        super().__init__(f"{message} ({f'{number}: {key!r}' if number else repr(key)})", remedy=remedy)


class AnalysisError(SamplingError):
    """An analysis that cannot give an answer for this profile."""


class NoMetricError(AnalysisError):
    """Results that tell no metric of any launch that was drawn, or of any layer that was drawn whole."""


class NotApplicableError(AnalysisError):
    """A method that needs what this profile lacks; the remedy names the file that would supply it."""
