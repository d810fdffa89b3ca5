"""A design of picks: the launches that a method chooses without chance; no bound exists for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sampling.errors import OptionError
from sampling.methods.method import Picks
from sampling.methods.registry import method_named, method_options
from sampling.plan.design import Design, StratumFacts, speedup_of
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.launch_list import LaunchList
from sampling.seeds import Stream, generator
from sampling.strata.target import Target


@dataclass(frozen=True, eq=False)
class PickedDesign:
    """The launches a method picks without chance, on the list it looked at; no bound exists for them."""

    method: str
    target: Target
    launches: LaunchList
    picks: Picks

    # Nothing is drawn, so there is no bound of any kind.
    random: ClassVar[bool] = False
    bound: ClassVar[float | None] = None
    group_bound: ClassVar[float | None] = None
    bound_with_noise: ClassVar[float | None] = None
    group_bound_with_noise: ClassVar[float | None] = None
    share_within_epsilon: ClassVar[float | None] = None
    simulated_share_within_epsilon: ClassVar[float | None] = None
    expected_half_width: ClassVar[float | None] = None

    @property
    def strata_count(self) -> int:
        """How many strata."""
        return len(self.picks.labels)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how they came about."""
        return self.picks.notes

    @property
    def samples(self) -> int:
        """How many launches are picked."""
        return len(self.picks.row)

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration of the picked launches."""
        return float(self.launches.duration_ns[self.picks.row].sum())

    @cached_property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that the picked ones cost; None: not known."""
        cost = self.launches.cost
        return None if cost is None else float(cost.values[self.picks.row].sum() / cost.values.sum())

    @property
    def paid_ns(self) -> float:
        """What the picked launches cost: their duration, or their share of the cost that decides."""
        cost, share = self.launches.cost, self.cost_share
        if cost is None or share is None or not cost.decides:
            return self.sampled_duration_ns
        return share * float(self.launches.duration_ns.sum())

    @cached_property
    def speedup(self) -> float | None:
        """What all launches cost over what the picked ones do; None where that is zero."""
        return speedup_of(float(self.launches.duration_ns.sum()), self.paid_ns)

    @cached_property
    def error(self) -> float:
        """The error |t* - t_est| / t* of the picks; 0 where the total is 0."""
        total_ns = float(self.launches.duration_ns.sum())
        return abs(total_ns - self.picks.estimate(self.launches.duration_ns)) / total_ns if total_ns else 0.0

    def facts(self, _counts: DurationCounts) -> Iterator[StratumFacts]:
        """Yield every stratum in figures."""
        picks = self.picks
        order = np.argsort(picks.stratum, kind="stable")
        bounds = np.searchsorted(picks.stratum[order], np.arange(len(picks.labels) + 1))
        samples = np.bincount(picks.stratum[picks.row], minlength=len(picks.labels))
        for index, label in enumerate(picks.labels):
            duration_ns = self.launches.duration_ns[order[bounds[index] : bounds[index + 1]]]
            yield StratumFacts(
                key=label,
                size=len(duration_ns),
                mean_ns=float(duration_ns.mean()),
                std_ns=float(duration_ns.std()),
                low_ns=int(duration_ns.min()),
                high_ns=int(duration_ns.max()),
                samples=int(samples[index]),
            )


AnyDesign = Design | PickedDesign


def make_picked_design(
    launches: LaunchList,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> PickedDesign:
    """Return the launches that a method picks.

    Raises
    ------
    OptionError : an unknown method or setting, or a method that draws at random.
    NotApplicableError : the launches lack what the method needs.
    """
    chosen, options = method_named(method), method_options(method, settings)
    if chosen.pick is None:
        raise OptionError(f"the method {method} draws at random, it picks nothing")
    picks = chosen.pick(launches, options, generator(seed, Stream.DESIGN), progress)
    return PickedDesign(method, target, launches, picks)
