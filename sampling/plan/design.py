"""A design: how a method would sample a workload, or which launches it picks; nothing is drawn yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.baselines import NumberDrawn
from sampling.methods.method import Picks, StrataRequest
from sampling.methods.registry import launches_drawn_within, method_named, method_options
from sampling.parallel import Progress, Stream, generator
from sampling.reduction.duration_counts import (
    DurationCounts,
    LaunchCost,
    pair_signatures,
    reduced,
)
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.launch_list import LaunchList
from sampling.reduction.plan_groups import PlanGroups, unpooled
from sampling.reduction.region import Region
from sampling.splitting.tree import Overrides
from sampling.strata.draw import Draw, Judged, judged
from sampling.strata.sizes import water_filled_sample_sizes
from sampling.strata.strata import (
    WHOLE_WORKLOAD,
    CycleSpread,
    Strata,
    bound,
    declared_spread,
    expected_half_width,
    group_bounds,
    measured_clusters,
    sample_variance,
    starting_spreads,
)
from sampling.strata.target import Target

#: The key of a stratum that spans all kernel groups.
WHOLE_WORKLOAD_KEY = "*"
_NO_TIME = "nothing in this profile takes any time: no error of a total can be promised"
# From this share of empty draws on, the user is told of them.
_EMPTY_WORTH_SAYING = 0.01


def speedup_of(total_ns: float, sampled_ns: float) -> float | None:
    """Return total over sampled duration; None where the sampled one is 0, for then nothing can be said."""
    return float(total_ns) / float(sampled_ns) if sampled_ns else None


# Two designs are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Design:
    """How a method would sample a workload: strata and sizes, nothing drawn yet."""

    method: str
    target: Target
    strata: Strata
    #: The groups that the strata divide, with their launches, by drawing which bounds are judged; None where
    #: nothing is drawn at random, so that no bound of any kind exists.
    groups: PlanGroups | None = None
    #: Of a method that looked at single launches: the list that it looked at, and its clusters with the
    #: launches that it picked of them. With groups, which are then these clusters, they are drawn from at
    #: random; without, the picks are the plan.
    launches: LaunchList | None = None
    picks: Picks | None = None
    #: Where each draw has another number of launches, as each is drawn with the same probability: a method is
    #: judged so, and the figures are means over all numbers. A plan has one. [STEM+ROOT section V-A]
    number: NumberDrawn | None = None

    @property
    def random(self) -> bool:
        """Whether it draws at random, so that bounds exist."""
        return self.groups is not None

    @property
    def counts(self) -> DurationCounts | None:
        """The launches that the strata hold, by group and duration; None for picks."""
        return None if self.groups is None else self.groups.counts

    @cached_property
    def cycles(self) -> CycleSpread | None:
        """How simulated time is declared to vary."""
        return None if self.groups is None else declared_spread(self.groups, self.target)

    @property
    def strata_count(self) -> int:
        """How many strata."""
        return len(self.strata)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how it came about."""
        number = self.number
        if self.random and not self.total_duration_ns:
            return (*self.strata.notes, _NO_TIME)
        if number is None:
            return self.strata.notes
        if number.share_empty < _EMPTY_WORTH_SAYING:
            return ()
        none = f"random.probability {number.probability:g} draws none of {number.launches:,} launches"
        return (f"{none} in {100 * number.share_empty:.1f} % of the draws; these are made again",)

    @cached_property
    def bound(self) -> float | None:
        """Bound on the error of the total profile time; None if nothing is random, or takes any time.

        What a share of ``confidence`` of the draws does not exceed, or z standard deviations if more.
        """
        return max(self._normal_bound(), self._reach()) if self.random and self.total_duration_ns else None

    @cached_property
    def bound_with_noise(self) -> float | None:
        """The same of the simulated total, if simulated time varies as is declared."""
        if self.bound is None or self.cycles is None:
            return None
        return max(
            self._normal_bound(self.cycles.variance(self.strata)), self.bound, self._reach(with_noise=True)
        )

    def _normal_bound(self, variance: FloatArray | None = None) -> float:
        """Return the bound of normal errors; ``variance`` is (s,) S^2 of the strata, None: of durations.

        Over all numbers of launches the variance is the mean of that of each, N^2 (1/n - 1/N) S^2.
        (docs/methods.md, 2 STEM: the error model)
        """
        strata = self.strata
        if self.number is None:
            return bound(strata, self.target.confidence, variance)
        numbers, chances = self.number.possible
        of_launches = sample_variance(strata.launches, strata.std_ns) if variance is None else variance
        # Rounding may leave less than nothing where all launches are drawn.
        left = max(0.0, float(chances @ (1 / numbers)) - 1 / self.number.launches)
        deviation_ns = float(np.sqrt(float(self.number.launches) ** 2 * float(of_launches[0]) * left))
        return self.target.z * deviation_ns / self.total_duration_ns if self.total_duration_ns else 0.0

    @cached_property
    def group_bound(self) -> float | None:
        """The worst unpooled kernel group's bound on its own total; None where all strata span groups."""
        return self._worst_group(with_noise=False)

    @cached_property
    def group_bound_with_noise(self) -> float | None:
        """The worst kernel group's bound on its own simulated total; None where `group_bound` is."""
        return self._worst_group(with_noise=True)

    def _worst_group(self, *, with_noise: bool) -> float | None:
        if self.cycles is None or self.bound is None or WHOLE_WORKLOAD in self.strata.group:
            return None
        own = ~self.cycles.spans_kernels[np.unique(self.strata.group)]
        return float(self._bounds_of_groups(with_noise=with_noise)[own].max()) if own.any() else None

    @cached_property
    def bounds_of_groups(self) -> FloatArray:
        """(g,) bounds on the own total of each group that has strata; of a pool that of normal errors."""
        return self._bounds_of_groups(with_noise=False)

    def _bounds_of_groups(self, *, with_noise: bool) -> FloatArray:
        assert self.cycles is not None
        variance = self.cycles.of_own_totals().variance(self.strata) if with_noise else None
        bounds = group_bounds(self.strata, self.target.confidence, variance)
        groups = np.unique(self.strata.group)
        if self._draws is not None:
            # Only groups with a stratum that is drawn can be far from normal.
            is_drawn = np.isin(groups, self.strata.group[self._draws.drawn])
            for place in np.flatnonzero(is_drawn & ~self.cycles.spans_kernels[groups]).tolist():
                reach = self._reach(with_noise=with_noise, group=int(groups[place]))
                bounds[place] = max(bounds[place], reach)
        return bounds

    @cached_property
    def expected_half_width(self) -> float | None:
        """The half-width, over the total, expected of the interval from simulated values, as declared.

        Where less was declared than results start from, as they start.
        """
        if self.cycles is None or self.bound is None:
            return None
        within, between = starting_spreads(self.target)
        cycles = replace(self.cycles, within=within, between=between)
        return expected_half_width(self.strata, cycles, self.target.confidence)

    @property
    def has_mixed_strata(self) -> bool:
        """Whether launches of several signatures are drawn from one stratum, which declares more then."""
        if self.cycles is None:
            return False
        strata = self.strata
        several = self.cycles.counts.pair_signatures.are_several(strata.start, strata.stop)
        return bool((several & (strata.samples < strata.launches)).any())

    @property
    def promised_error(self) -> float | None:
        """How far off the simulated total may be, as a fraction of it, if simulated time varies as declared.

        The larger of `bound_with_noise`, what the draws do, and of the interval that results will be printed
        with. None where nothing is random, and where no launch takes any time.
        """
        if self.bound_with_noise is None or self.expected_half_width is None or not self.total_duration_ns:
            return None
        return max(self.bound_with_noise, self.expected_half_width)

    @property
    def share_within_epsilon(self) -> float | None:
        """The share of other draws than the bounds are from whose error is at most epsilon; None: of none."""
        return self._share_within_epsilon(with_noise=False)

    @property
    def simulated_share_within_epsilon(self) -> float | None:
        """The same of the simulated total, if simulated time varies as is declared."""
        return self._share_within_epsilon(with_noise=True)

    def _share_within_epsilon(self, *, with_noise: bool) -> float | None:
        if self.counts is None or self.bound is None or self._other_draws is None:
            return None
        limit_ns = self.target.epsilon * self.counts.total_duration_ns
        return self._other_draws.share_within(limit_ns, with_noise=with_noise)

    @cached_property
    def _draws(self) -> Judged | None:
        # Draws of one size show nothing of those of another.
        return None if self.number is not None else self._drawn_with(Stream.CALIBRATE)

    @cached_property
    def _other_draws(self) -> Judged | None:
        return self._drawn_with(Stream.CONFIRM)

    def _drawn_with(self, stream: Stream) -> Judged | None:
        return (
            None
            if self.counts is None
            else judged(self.counts, self.strata, self.cycles, generator(0, stream))
        )

    def _reach(self, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return how far the draws reach, over the total that they are of; 0 where there are none."""
        if self._draws is None or self.counts is None:
            return 0.0
        of_ns = self.counts.total_duration_ns if group is None else self.counts.group_duration_ns[group]
        quantile_ns = self._draws.quantile_ns(self.target.confidence, with_noise=with_noise, group=group)
        return quantile_ns / max(int(of_ns), 1)

    @property
    def picked(self) -> tuple[LaunchList, Picks] | None:
        """The picks that are the plan, with the list that they are of; None where launches are drawn."""
        if self.random or self.launches is None or self.picks is None:
            return None
        return self.launches, self.picks

    @cached_property
    def _expected(self) -> IntArray | FloatArray:
        """(s,) how many launches of each stratum a draw is expected to have."""
        if self.number is None:
            return self.strata.samples
        numbers, chances = self.number.possible
        return np.array([chances @ numbers], dtype=np.float64)

    @property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        return round(float(self._expected.sum()))

    @cached_property
    def total_duration_ns(self) -> float:
        """The duration of all launches."""
        if self.picked is not None:
            return float(self.picked[0].duration_ns.sum())
        return float(np.dot(self.strata.launches, self.strata.mean_ns))

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration a draw is expected to have."""
        if self.picked is not None:
            return float(self.picked[0].duration_ns[self.picked[1].row].sum())
        return float(np.dot(self._expected, self.strata.mean_ns))

    @cached_property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that a draw is expected to; None: not known."""
        if self.picked is not None:
            cost = self.picked[0].cost
            return None if cost is None else float(cost.values[self.picked[1].row].sum() / cost.values.sum())
        if self.counts is None or self.counts.cost_before is None:
            return None
        strata, before = self.strata, self.counts.cost_before
        mean = (before[strata.stop] - before[strata.start]) / strata.launches
        return float(np.dot(self._expected, mean) / before[-1])

    @property
    def objective_cost(self) -> LaunchCost | None:
        """The cost that the plan is made and stated by; None where that is time on the GPU."""
        known = self.counts or self.launches
        cost = None if known is None or self.cost_share is None else known.cost
        return cost if cost is not None and cost.is_objective else None

    @property
    def cost_ns(self) -> float:
        """What a draw is expected to cost: its duration, or its share of the cost that decides."""
        if self.objective_cost is None or self.cost_share is None:
            return self.sampled_duration_ns
        total_ns = self.total_duration_ns if self.counts is None else float(self.counts.total_duration_ns)
        return self.cost_share * total_ns

    @cached_property
    def speedup(self) -> float | None:
        """What all launches cost over what a draw is expected to; None where that is zero."""
        return speedup_of(self.total_duration_ns, self.cost_ns)

    @property
    def error(self) -> float:
        """The error |t* - t_est| / t* of the picks; 0 where the total is 0, and of what is drawn."""
        if self.picked is None or not self.total_duration_ns:
            return 0.0
        launches, picks = self.picked
        return abs(self.total_duration_ns - picks.estimate(launches.duration_ns)) / self.total_duration_ns

    def ids(self, drawn: Draw | None) -> IntArray | None:
        """Return (n,) the ids of launches drawn from clusters, or picked; None where they are to be found."""
        if self.launches is None or self.picks is None:
            return None
        if drawn is None or self.counts is None:
            return np.asarray(self.launches.id[self.picks.row[self.picked_order]])
        place = self.counts.launches_before[drawn.pair] + drawn.occurrence
        return np.asarray(self.launches.id[self.by_cluster[place]])

    @cached_property
    def picked_order(self) -> IntArray:
        """(k,) the picks by their stratum."""
        assert self.picks is not None
        return np.argsort(self.picks.stratum[self.picks.row], kind="stable")

    @cached_property
    def by_cluster(self) -> IntArray:
        """(n,) rows of the list by cluster, duration and id, as a draw counts them."""
        assert self.launches is not None
        assert self.picks is not None
        return np.lexsort((self.launches.duration_ns, self.picks.stratum))


def design_of_method(design: Design) -> Design:
    """Return the design of the method behind a plan's; it is the same where its sizes are fixed."""
    chance = design.strata.chance
    if chance is None:
        return design
    return replace(design, number=NumberDrawn(int(design.strata.launches[0]), chance))


def make_design(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    launches: LaunchList | None = None,
    progress: Progress | None = None,
) -> Design:
    """Return the strata and sizes that a method chooses by durations, or the picks of one by single launches.

    Raises OptionError: an unknown method or setting, an override that fits no node, or no ``launches`` for a
    method that looks at these; NotApplicableError: they lack what the method needs.
    """
    chosen, options, rng = (
        method_named(method),
        method_options(method, settings),
        generator(seed, Stream.DESIGN),
    )
    if chosen.stratify is not None:
        request = StrataRequest(
            counts=counts,
            target=target,
            options=options,
            overrides=overrides or {},
            progress=progress,
            rng=rng,
            settings=settings,
        )
        strata = chosen.stratify(request)
        return Design(method, target, strata, strata.groups or unpooled(counts))
    if launches is None or chosen.pick is None:
        raise OptionError(f"the method {method} looks at single launches, not at durations alone")
    picks = chosen.pick(launches, options, rng, progress)
    least = launches_drawn_within(method, settings)
    if least is not None:
        return _drawn_within_clusters(method, target, launches, picks, least)
    clusters = len(picks.labels)
    order = np.argsort(picks.stratum, kind="stable")
    ends = np.searchsorted(picks.stratum[order], np.arange(clusters + 1))
    parts = np.split(launches.duration_ns[order], ends[1:-1])
    nowhere = np.zeros(clusters, dtype=np.int64)
    strata = Strata(
        group=np.full(clusters, WHOLE_WORKLOAD),
        start=nowhere,
        stop=nowhere,
        launches=np.diff(ends),
        mean_ns=np.array([part.mean() for part in parts]),
        std_ns=np.array([part.std() for part in parts]),
        samples=np.bincount(picks.stratum[picks.row], minlength=clusters),
        notes=picks.notes,
    )
    return Design(method, target, strata, launches=launches, picks=picks)


def _drawn_within_clusters(
    method: str, target: Target, launches: LaunchList, picks: Picks, least: int
) -> Design:
    """Return the design that draws at random within the clusters of picks, which hold every launch.

    The launches are counted anew, by cluster and duration; bounds and draws are then as of any random plan.
    Sizes are the least that bound the error of the total by epsilon; a cluster gets at least ``least``, or
    all it has. (docs/methods.md, 8 Sieve, Photon, embedding, random)
    """
    cluster, duration_ns, count = reduced(picks.stratum, launches.duration_ns)
    clusters = len(picks.labels)
    counts = DurationCounts(
        grouping=Grouping(),
        region=Region(),
        selected=(),
        groups=tuple(KernelGroup(label, label, None, None, None, None) for label in picks.labels),
        offsets=np.searchsorted(cluster, np.arange(clusters + 1)),
        duration_ns=duration_ns,
        count=count,
        group_of_raw=np.zeros(0, dtype=np.int64),
        names=0,
        signatures=pair_signatures(picks.stratum, launches.duration_ns, launches.signature),
    )
    if launches.cost is not None:
        counts = counts.with_cost(picks.stratum, launches.duration_ns, launches.cost)
    everywhere = np.full(clusters, WHOLE_WORKLOAD)
    found = measured_clusters(counts, everywhere, counts.offsets[:-1], counts.offsets[1:])
    columns, whole = (found.launches, found.mean_ns, found.std_ns), np.array([0, clusters])
    sizes = water_filled_sample_sizes(*columns, whole, target.epsilon, target.z, floor=least)
    strata: Strata = replace(found.with_samples(sizes, notes=picks.notes), least_samples=least)
    kernel_ns = np.bincount(launches.group, launches.duration_ns, len(launches.groups)).astype(np.int64)
    # Every cluster may hold launches of any kernel group.
    is_pool, of_kernel = np.ones(clusters, dtype=np.bool_), np.zeros(len(kernel_ns), dtype=np.int64)
    return Design(method, target, strata, PlanGroups(counts, of_kernel, is_pool, kernel_ns), launches, picks)
