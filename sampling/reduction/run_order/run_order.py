"""What the order of a profile's launches shows, looked at once."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.run_order.drift import Drift, find_drift
from sampling.reduction.run_order.loops import Loop, find_loop
from sampling.reduction.run_order.ordered_launches import read_in_order
from sampling.reduction.run_order.twins import Twins, find_twins

_STEPS = 4


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What was found; None each where nothing was, and where the launches are too many to be looked at."""

    drift: Drift | None = None
    twins: Twins | None = None
    loop: Loop | None = None


def run_order(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> RunOrder:
    """Read the launches that a reduction counts once more, and look at their order."""
    launches = read_in_order(profile, counts)
    if launches is None:
        return RunOrder()

    def looked_for(done: int) -> None:
        if progress is not None:
            progress(done, _STEPS, "looking at the order of the launches")

    looked_for(1)
    twins = None if counts.grouping.pool_devices else find_twins(launches)
    looked_for(2)
    drift = find_drift(launches)
    looked_for(3)
    return RunOrder(drift, twins, find_loop(launches))
