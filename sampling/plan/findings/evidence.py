"""What findings are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.overlap import DeviceTime
from sampling.reduction.run_order.run_order import RunOrder


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
