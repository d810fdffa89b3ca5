"""How the caches were when the launches of results began, and what that says of their total.

A drawn launch that is simulated alone finds an empty L2. Such totals came out 5 to 10 % longer than the whole
run's on four programs, up to 40 % where launches live on a large working set: a bias, which no interval sees.
With L2 filled beforehand they were within 1 %. (docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sampling.plan.plan_file import PlanFile
from sampling.simulators.results import SimulatedLaunches
from sampling.text import counted

#: With so many launches simulated before it, a launch finds what it would find: +0.1 % on average.
ENOUGH_BEFORE = 8
#: Where less of the time started cold, that is too little to make a total long.
_LITTLE = 0.05
_SAID = {
    "warm": "launches began with L2 filled as those before them leave it: such totals were within 1 % of the "
    "whole run's",
    "own": "launches began with what they read themselves in L2: a lower bound, such totals were 3 to 4 % "
    "too short, up to 20 %",
    "few": "only {} ran before each: such totals were 2 to 5 % too long",
    "enough": "{} ran before each: such totals were within 1 % of the whole run's",
    "cold": "launches that started with nothing in L2: such totals were 5 to 10 % too long, up to 40 %, and "
    "say nothing of the whole run; `kernelpoint export --caches warm` fills L2",
}


@dataclass(frozen=True, slots=True)
class Caches:
    """How launches began, by their share of the time that the results stand for.

    Attributes
    ----------
    shares : by state: whole, warm, loads, own, after:N, cold; unknown where neither results nor manifest say.
    """

    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """How most of the time began; cold where more than a little of it did."""
        if self.is_cold:
            cold = {state: share for state, share in self.shares.items() if _before(state) < ENOUGH_BEFORE}
            return max(cold, key=lambda state: cold[state])
        return max(self.shares, key=lambda state: self.shares[state], default="unknown")

    @property
    def is_cold(self) -> bool:
        """Whether more than a little of the time began with caches that those before had not filled."""
        return sum(share for state, share in self.shares.items() if _before(state) < ENOUGH_BEFORE) > _LITTLE

    def __str__(self) -> str:
        if not self.state.startswith("after:"):
            return _SAID.get("warm" if self.state == "loads" else self.state, "")
        before = int(_before(self.state))
        said = _SAID["few" if before < ENOUGH_BEFORE else "enough"]
        return said.format(counted(before, "launch", "launches"))


def _before(state: str) -> float:
    """Return how many launches were simulated before one; as good as all where that is not what counts."""
    if state.startswith("after:"):
        return int(state.removeprefix("after:"))
    return 0 if state == "cold" else float("inf")


def caches_of(plan: PlanFile, results: SimulatedLaunches) -> Caches:
    """Return how the launches of a plan began that have results."""
    if not results.caches:
        return Caches()
    state_of = dict(zip(results.ids.tolist(), results.caches, strict=True))
    time: defaultdict[str, float] = defaultdict(float)
    for launch in plan.drawn:
        if launch.id in state_of:
            time[state_of[launch.id]] += launch.weight * (launch.duration_ns or 1)
    total = sum(time.values())
    return Caches({state: part / total for state, part in time.items()} if total else {})
