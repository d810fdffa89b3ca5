"""One finding, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["note", "warning"]


class Change(NamedTuple):
    """What to set a parameter to, written as on a command line; None for one that is only switched on."""

    parameter: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; the message is one or two sentences with the measurement and why it matters.

    Attributes
    ----------
    words : the measurement alone, in so few words that several findings fit in a row.
    changes : of the parameters, that do the first thing the remedy names; () where no parameter does it.
    """

    code: str
    severity: Severity
    words: str
    message: str
    remedy: str
    changes: tuple[Change, ...] = ()

    def as_json(self) -> dict[str, str]:
        """Return it as commands print it and plan files keep it."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "remedy": self.remedy,
        }


def percent(share: float) -> str:
    """Return a share as text; one above 0 is never shown as 0."""
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"
