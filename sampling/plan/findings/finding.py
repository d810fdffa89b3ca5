"""One finding, what it is drawn from, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.overlap import DeviceTime
from sampling.reduction.run_order.run_order import RunOrder

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


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What a plan is expected to cost.

    Attributes
    ----------
    launches : how many it simulates.
    speedup : None where it samples no time.
    random : whether it draws at random, and so goes by epsilon.
    groups_whole, share_whole : kernel groups that it simulates whole although they have more launches than
        the least number of samples, and their share of the total time.
    bounds_groups : whether groups have a bound of their own.
    """

    method: str
    launches: float
    speedup: float | None
    random: bool = True
    groups_whole: int = 0
    share_whole: float = 0.0
    bounds_groups: bool = True


@dataclass(frozen=True)
class Evidence:
    """What findings are drawn from.

    Attributes
    ----------
    plan : what the plan that was made costs; None where none was made.
    order : what the order of the launches shows; None where nobody looked.
    """

    profile: Profile
    counts: DurationCounts
    device_times: Sequence[DeviceTime] = ()
    plan: PlanCost | None = None
    order: RunOrder | None = None

    @cached_property
    def duration_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct durations over all groups, ascending, and their launches."""
        durations, inverse = np.unique(self.counts.duration_ns, return_inverse=True)
        return durations, np.bincount(inverse, weights=self.counts.count).astype(np.int64)
