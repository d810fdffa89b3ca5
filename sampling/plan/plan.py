"""A plan: a design with its drawn launches, their weights, and where they are in the profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.plan.design import speedup_of
from sampling.plan.drawn_clusters import DrawnClusters
from sampling.plan.drawn_launches import DrawnLaunches, find_drawn_launches, find_launches_by_id
from sampling.plan.picked_design import AnyDesign, PickedDesign
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.draw import Draw, draw_nested, estimate_total_ns, weights
from sampling.strata.sizes import least_sampled_ns


@dataclass(frozen=True, slots=True)
class Plan:
    """A design with its launches; without durations in the profile all its nanoseconds are 0, and no figure.

    Attributes
    ----------
    design : the strata and sizes, or the picks.
    stratum : (n,) the stratum of each launch, ascending.
    duration_ns, weight : (n,) of each launch; it stands for ``weight`` launches of its stratum.
    total_duration_ns : of all selected launches.
    floor_ns : the least any plan that visits every kernel group samples on average: the sum over groups of
        min(m_min, N) mu.
    estimate_ns : the total that these launches estimate.
    seed : what the draw was seeded with.
    draw : which launches were drawn; None for picks, whose ids are known.
    cost : (n,) each launch's share of what all launches cost a simulator, a mean of those that last as long;
        None where that is not known.
    cost_metric : the metric that it is of.
    cost_decides : whether the plan was asked for by it.
    """

    design: AnyDesign
    stratum: IntArray
    duration_ns: IntArray
    weight: FloatArray
    total_duration_ns: int
    floor_ns: float
    estimate_ns: float
    seed: int
    draw: Draw | None = None
    cost: FloatArray | None = None
    cost_metric: str | None = None
    cost_decides: bool = False

    @property
    def samples(self) -> int:
        """How many launches were drawn, each to be simulated once however often it was drawn."""
        return len(self.duration_ns)

    @property
    def sampled_duration_ns(self) -> int:
        """The duration of the drawn launches (tau)."""
        return int(self.duration_ns.sum())

    @property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that these cost; None where it is not known."""
        return None if self.cost is None else float(self.cost.sum())

    @property
    def paid_ns(self) -> FloatArray:
        """(n,) what each launch costs: its duration, or its share of the cost that decides."""
        if self.cost is None or not self.cost_decides:
            return self.duration_ns.astype(np.float64)
        return self.cost * self.total_duration_ns

    @property
    def speedup(self) -> float | None:
        """What all launches cost over what these do; None where that is zero."""
        return speedup_of(self.total_duration_ns, float(self.paid_ns.sum()))

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of these launches; 0 where the total is 0."""
        if self.total_duration_ns == 0:
            return 0.0
        return abs(self.total_duration_ns - self.estimate_ns) / self.total_duration_ns


def drawn_plan(counts: DurationCounts, design: AnyDesign, seed: int) -> Plan:
    """Draw from a design; the same seed draws the same launches, and picks do not depend on it."""
    if isinstance(design, PickedDesign):
        return _picked_plan(counts, design, seed)
    # Strata that span kernel groups are ranges of a reduction of their own.
    of_strata = counts if design.counts is None else design.counts
    drawn = draw_nested(of_strata, design.strata, seed)
    cost = of_strata.cost
    return Plan(
        design=design,
        stratum=drawn.stratum,
        duration_ns=of_strata.duration_ns[drawn.pair],
        weight=weights(design.strata, drawn),
        total_duration_ns=counts.total_duration_ns,
        floor_ns=float(least_sampled_ns(counts, design.strata.least_samples).sum()),
        estimate_ns=estimate_total_ns(of_strata, design.strata, drawn),
        seed=seed,
        draw=drawn,
        cost=None if cost is None else cost.values[drawn.pair] / np.dot(cost.values, of_strata.count),
        cost_metric=None if cost is None else cost.metric,
        cost_decides=cost is not None and cost.decides,
    )


def _picked_plan(counts: DurationCounts, design: PickedDesign, seed: int) -> Plan:
    picks, launches = design.picks, design.launches
    order = np.argsort(picks.stratum[picks.row], kind="stable")
    rows, cost = picks.row[order], launches.cost
    return Plan(
        design=design,
        stratum=picks.stratum[rows],
        duration_ns=launches.duration_ns[rows],
        weight=picks.weight[order],
        total_duration_ns=counts.total_duration_ns,
        floor_ns=float(least_sampled_ns(counts, 1).sum()),
        estimate_ns=picks.estimate(launches.duration_ns),
        seed=seed,
        cost=None if cost is None else cost.values[rows] / cost.values.sum(),
        cost_metric=None if cost is None else cost.metric,
        cost_decides=cost is not None and cost.decides,
    )


def locate(
    profile: Profile, counts: DurationCounts, plan: Plan, progress: Progress | None = None
) -> DrawnLaunches:
    """Find the plan's launches in the profile: ids, ordinals, occurrences."""
    if isinstance(plan.design, PickedDesign):
        picks = plan.design.picks
        order = np.argsort(picks.stratum[picks.row], kind="stable")
        return find_launches_by_id(profile, plan.design.launches.id[picks.row[order]], progress)
    assert plan.draw is not None
    if isinstance(plan.design, DrawnClusters):
        return find_launches_by_id(profile, plan.design.ids(plan.draw), progress)
    return find_drawn_launches(profile, plan.design.counts or counts, plan.draw, progress)
