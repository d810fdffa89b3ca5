"""A plan: the strata of a workload with their drawn launches and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.allocation import FloatArray, IntArray
from sampling.bounds import bound, group_bounds
from sampling.drawing import Draw, draw, estimate_total_ns, weights
from sampling.drawn_launches import DrawnLaunches, find_drawn_launches
from sampling.duration_counts import DurationCounts
from sampling.methods import method_named, method_options
from sampling.profile import Profile
from sampling.progress import Progress
from sampling.seeds import Stream, generator
from sampling.splitting import Overrides
from sampling.strata import WHOLE_WORKLOAD, Strata
from sampling.targets import Target

#: The key of a stratum that spans all kernel groups.
WHOLE_WORKLOAD_KEY = "*"


@dataclass(frozen=True, slots=True)
class Design:
    """How a method would sample a workload: strata and sizes, nothing drawn yet."""

    method: str
    target: Target
    strata: Strata
    random: bool

    @property
    def bound(self) -> float | None:
        """A-priori bound on the error of the workload's total profile time; None if nothing is random."""
        return bound(self.strata, self.target.confidence) if self.random else None

    @property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        return round(float(self.strata.simulated_launches.sum()))

    @property
    def speedup(self) -> float:
        """Total duration over the expected sampled duration; 1 where both are zero."""
        total_ns = float(np.dot(self.strata.launches, self.strata.mean_ns))
        sampled_ns = self.strata.sampled_duration_ns
        return total_ns / sampled_ns if sampled_ns else 1.0

    @property
    def group_bound(self) -> float | None:
        """The worst kernel group's bound on its own total; None where strata span groups."""
        if not self.random or WHOLE_WORKLOAD in self.strata.group:
            return None
        return float(group_bounds(self.strata, self.target.confidence).max())


@dataclass(frozen=True, slots=True)
class Plan:
    """A design with its draw.

    Attributes
    ----------
    design : the strata and sizes.
    draw : the drawn launches, in the order of the strata.
    duration_ns, weight : (n,) of each drawn launch; a launch stands for ``weight`` launches of its stratum.
    total_duration_ns : of all selected launches.
    floor_ns : the least any plan that visits every kernel group samples on average, sum of group means.
    estimate_ns : the total that this draw estimates.
    seed : what the draw was seeded with.
    """

    design: Design
    draw: Draw
    duration_ns: IntArray
    weight: FloatArray
    total_duration_ns: int
    floor_ns: float
    estimate_ns: float
    seed: int

    @property
    def samples(self) -> int:
        """How many launches were drawn, each to be simulated once however often it was drawn."""
        return len(self.duration_ns)

    @property
    def sampled_duration_ns(self) -> int:
        """The duration of the drawn launches (tau)."""
        return int(self.duration_ns.sum())

    @property
    def speedup(self) -> float:
        """Total duration over sampled duration; 1 where both are zero."""
        return self.total_duration_ns / self.sampled_duration_ns if self.sampled_duration_ns else 1.0

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of this draw; 0 where the total is 0."""
        if self.total_duration_ns == 0:
            return 0.0
        return abs(self.total_duration_ns - self.estimate_ns) / self.total_duration_ns


def make_design(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Design:
    """Return the strata and sizes a method chooses.

    Raises
    ------
    OptionError : an unknown method or setting, or an override that fits no node.
    """
    module = method_named(method)
    options = method_options(method, settings)
    strata = module.stratify(counts, target, options, generator(seed, Stream.DESIGN), overrides, progress)
    return Design(method, target, strata, module.RANDOM)


def make_plan(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Design and draw; the same seed gives the same plan."""
    design = make_design(
        counts, method, target, seed, settings=settings, overrides=overrides, progress=progress
    )
    return drawn_plan(counts, design, seed)


def drawn_plan(counts: DurationCounts, design: Design, seed: int) -> Plan:
    """Draw from a design; the same seed draws the same launches."""
    drawn = draw(counts, design.strata, generator(seed, Stream.DRAW))
    return Plan(
        design=design,
        draw=drawn,
        duration_ns=counts.duration_ns[drawn.pair],
        weight=weights(design.strata, drawn),
        total_duration_ns=counts.total_duration_ns,
        floor_ns=float((counts.group_duration_ns / counts.group_launches).sum()),
        estimate_ns=estimate_total_ns(counts, design.strata, drawn),
        seed=seed,
    )


def locate(
    profile: Profile, counts: DurationCounts, plan: Plan, progress: Progress | None = None
) -> DrawnLaunches:
    """Find the plan's drawn launches in the profile: ids, ordinals, occurrences."""
    return find_drawn_launches(profile, counts, plan.draw, progress)
