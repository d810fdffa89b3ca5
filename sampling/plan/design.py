"""A design: how a method would sample a workload, or which launches it picks; nothing is drawn yet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError
from sampling.methods.method import StrataRequest, Units
from sampling.methods.registry import launches_drawn_within, method_named, method_options
from sampling.parallel import Progress, Stream, generator
from sampling.plan.clusters import LaunchClusters, StratumFacts
from sampling.plan.promise import BinomialPromise, Bounds, Promise, UnitPromise
from sampling.reduction.duration_counts import DurationCounts, LaunchCost
from sampling.reduction.launch_list import LaunchList
from sampling.reduction.plan_groups import PlanGroups, unpooled
from sampling.splitting.tree import Overrides
from sampling.strata.draw import Draw, draw, estimate_total_ns, weights
from sampling.strata.sizes import water_filled_sample_sizes
from sampling.strata.strata import WHOLE_WORKLOAD, Strata, measured_clusters
from sampling.strata.target import Target

if TYPE_CHECKING:
    from sampling.methods.baselines import NumberDrawn

#: The key of a stratum that spans all kernel groups.
WHOLE_WORKLOAD_KEY = "*"
_NO_TIME = "nothing in this profile takes any time: no error of a total can be promised"
# From this share of empty draws on, the user is told of them.
_EMPTY_WORTH_SAYING = 0.01


def speedup_ratio(total_ns: float, sampled_ns: float) -> float | None:
    """Return total over sampled duration; None where the sampled one is 0, for then nothing can be said."""
    return float(total_ns) / float(sampled_ns) if sampled_ns else None


class Selection(NamedTuple):
    """The launches of a plan; arrays are (n,), strata ascending."""

    stratum: IntArray
    duration_ns: IntArray
    #: How many launches each stands for, and the total that they estimate.
    weight: FloatArray
    estimate_ns: float
    #: Shares of what all launches cost a simulator, a mean of those that last as long; None: not known.
    cost: LaunchCost | None
    #: Which launches were drawn; None for picks, whose ids are known.
    draw: Draw | None = None


# Two designs are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class _Design(ABC):
    """What designs have in common, whether launches are drawn or picked."""

    #: Whether it draws at random.
    random: ClassVar[bool]

    method: str
    target: Target
    strata: Strata
    #: The groups that the strata divide, with their launches; of picks the kernel groups.
    groups: PlanGroups
    #: Where the strata are clusters of launches by their features; None where they are of durations.
    clusters: LaunchClusters | None = None

    @property
    def counts(self) -> DurationCounts:
        """The launches, by group and duration."""
        return self.groups.counts

    @property
    def strata_count(self) -> int:
        """How many strata."""
        return len(self.strata)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how it came about."""
        return self.strata.notes

    @property
    @abstractmethod
    def promise(self) -> Promise | None:
        """What it promises; None where nothing is drawn at random, or no launch takes any time."""

    @property
    def bounds(self) -> Bounds:
        """The figures of its promise, None where there is none."""
        return Bounds() if self.promise is None else self.promise.bounds

    @property
    def details(self) -> dict[str, Any] | None:
        """The method's own figures of its clusters, JSON values by name; None where it has none."""
        return None if self.clusters is None else dict(self.clusters.picks.details)

    @property
    @abstractmethod
    def total_duration_ns(self) -> float:
        """The duration of all launches."""

    @property
    @abstractmethod
    def sampled_duration_ns(self) -> float:
        """The duration a draw is expected to have."""

    @property
    @abstractmethod
    def cost(self) -> LaunchCost | None:
        """What launches cost a simulator; None where it is not known."""

    @property
    @abstractmethod
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that a draw is expected to; None: not known."""

    @property
    def objective_cost(self) -> LaunchCost | None:
        """The cost that the plan is made and stated by; None where that is time on the GPU."""
        return self.cost if self.cost is not None and self.cost.is_objective else None

    @property
    def cost_ns(self) -> float:
        """What a draw is expected to cost: its duration, or its share of the cost that is the objective."""
        if self.objective_cost is None or self.cost_share is None:
            return self.sampled_duration_ns
        return self.cost_share * float(self.counts.total_duration_ns)

    @cached_property
    def speedup(self) -> float | None:
        """What all launches cost over what a draw is expected to; None where that is zero."""
        return speedup_ratio(self.total_duration_ns, self.cost_ns)


@dataclass(frozen=True, eq=False)
class SampledDesign(_Design):
    """Strata from which launches are drawn at random."""

    random = True

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how it came about."""
        return self.strata.notes if self.total_duration_ns else (*self.strata.notes, _NO_TIME)

    @cached_property
    def promise(self) -> Promise | None:
        """Bounds on the errors of draws; None where no launch takes any time."""
        return Promise(self.target, self.strata, self.groups) if self.total_duration_ns else None

    @cached_property
    def expected_samples(self) -> IntArray | FloatArray:
        """(s,) how many launches of each stratum a draw is expected to have."""
        return self.strata.samples

    def draw_sizes(self, draws: int, rng: np.random.Generator) -> IntArray:
        """Return (draws, s) how many launches of each stratum each of so many draws has."""
        del rng
        return np.broadcast_to(self.strata.samples, (draws, len(self.strata)))

    @property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        return round(float(self.expected_samples.sum()))

    @cached_property
    def total_duration_ns(self) -> float:
        """The duration of all launches."""
        return float(np.dot(self.strata.launches, self.strata.mean_ns))

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration a draw is expected to have."""
        return float(np.dot(self.expected_samples, self.strata.mean_ns))

    @property
    def cost(self) -> LaunchCost | None:
        """What launches cost a simulator, the means of each pair's; None where it is not known."""
        return self.counts.cost

    @cached_property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that a draw is expected to; None: not known."""
        before, strata = self.counts.cost_before, self.strata
        if before is None:
            return None
        mean = (before[strata.stop] - before[strata.start]) / strata.launches
        return float(np.dot(self.expected_samples, mean) / before[-1])

    def select(self, seed: int) -> Selection:
        """Draw launches; the same seed draws the same, and of larger sizes the same and more."""
        counts, strata, cost = self.counts, self.strata, self.cost
        sample = draw(counts, strata, seed)
        if cost is not None:
            cost = replace(cost, values=cost.values[sample.pair] / np.dot(cost.values, counts.count))
        duration_ns, estimate_ns = counts.duration_ns[sample.pair], estimate_total_ns(counts, strata, sample)
        return Selection(sample.stratum, duration_ns, weights(strata, sample), estimate_ns, cost, sample)

    def ids(self, sample: Draw | None) -> IntArray | None:
        """Return (n,) the ids of launches drawn from clusters; None where they are to be found."""
        if self.clusters is None or sample is None:
            return None
        position = self.counts.launches_before[sample.pair] + sample.occurrence
        return np.asarray(self.clusters.launches.id[self.clusters.by_cluster[position]])

    def stratum_facts(self) -> StratumFacts:
        """Return what its strata are."""
        if self.clusters is not None:
            return self.clusters.facts(pooled=True)
        counts, strata = self.counts, self.strata
        signatures = counts.pair_signatures.numbers(strata.start, strata.stop)
        if WHOLE_WORKLOAD in strata.group:
            ends_ns = counts.duration_ns.min(), counts.duration_ns.max()
            low_ns, high_ns = np.full((len(strata), 2), ends_ns).T
            keys, is_pooled = [WHOLE_WORKLOAD_KEY] * len(strata), np.full(len(strata), fill_value=True)
            return StratumFacts(keys, low_ns, high_ns, is_pooled, signatures)
        keys = [counts.groups[group].key for group in strata.group.tolist()]
        low_ns, high_ns = counts.duration_ns[strata.start], counts.duration_ns[strata.stop - 1]
        return StratumFacts(keys, low_ns, high_ns, self.groups.is_pool[strata.group], signatures)

    def identity(self) -> tuple[IntArray | FloatArray, ...]:
        """Return what designs of one reduction share if they are the same plan: the draws."""
        strata = self.strata
        # Clusters, and pooled groups, are others than kernel groups, whatever their numbers.
        groups = np.unique(strata.group) if strata.groups is None else strata.groups.group_of
        divided = groups if self.clusters is None else self.clusters.picks.stratum
        order = np.lexsort((strata.start, strata.group))
        columns = strata.group, strata.start, strata.stop, strata.samples
        return (divided, *(column[order] for column in columns))


@dataclass(frozen=True, eq=False, kw_only=True)
class BinomialDesign(SampledDesign):
    """One stratum of all launches, each drawn with the same probability, so that the number differs.

    A method is judged so, and the figures are means over all numbers. A plan has one.
    [STEM+ROOT section V-A]
    """

    number: NumberDrawn

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how it came about."""
        if not self.total_duration_ns:
            return (*self.strata.notes, _NO_TIME)
        number = self.number
        if number.share_empty < _EMPTY_WORTH_SAYING:
            return ()
        none = f"random.probability {number.probability:g} draws none of {number.launches:,} launches"
        return (f"{none} in {100 * number.share_empty:.1f} % of the draws; these are made again",)

    @cached_property
    def promise(self) -> Promise | None:
        """Bounds on the errors of draws of any number; None where no launch takes any time."""
        if not self.total_duration_ns:
            return None
        return BinomialPromise(self.target, self.strata, self.groups, self.number)

    @cached_property
    def expected_samples(self) -> IntArray | FloatArray:
        """(1,) how many launches a draw is expected to have."""
        numbers, chances = self.number.possible
        return np.array([chances @ numbers], dtype=np.float64)

    def draw_sizes(self, draws: int, rng: np.random.Generator) -> IntArray:
        """Return (draws, 1) how many launches each of so many draws has."""
        return self.number.draw(draws, rng)[:, np.newaxis]


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitDesign(SampledDesign):
    """Strata from which several launches are drawn together, such as whole layers of a network.

    Its strata, their groups and so its promise are of units, whose durations are those of all their launches:
    how far it may be off is told by how much layers differ. Its clusters are of launches.
    """

    clusters: LaunchClusters
    #: Row i of its launches is unit i.
    units: LaunchClusters
    unit_of: Units

    @cached_property
    def promise(self) -> Promise | None:
        """Bounds on the errors of draws; None where no launch takes any time."""
        return UnitPromise(self.target, self.strata, self.groups) if self.total_duration_ns else None

    @cached_property
    def launch_strata(self) -> Strata:
        """Its strata as those of launches."""
        return self.clusters.strata()

    @property
    def samples(self) -> int:
        """How many launches a draw is expected to have."""
        launches = self.launch_strata.launches / self.strata.launches
        return round(float(np.dot(self.strata.samples, launches)))

    def drawn_units(self, sample: Draw) -> IntArray:
        """Return (k,) the units drawn, ascending."""
        position = self.counts.launches_before[sample.pair] + sample.occurrence
        return np.sort(self.units.by_cluster[position])

    def _drawn_rows(self, sample: Draw) -> IntArray:
        """Return (n,) rows of the launches drawn, by stratum and id."""
        rows = np.flatnonzero(np.isin(self.unit_of.unit, self.drawn_units(sample)))
        return rows[np.argsort(self.clusters.picks.stratum[rows], kind="stable")]

    def select(self, seed: int) -> Selection:
        """Draw units, and take their launches."""
        sample = draw(self.counts, self.strata, seed)
        rows, estimate_ns = self._drawn_rows(sample), estimate_total_ns(self.counts, self.strata, sample)
        stratum = self.clusters.picks.stratum[rows]
        weight = (self.strata.launches / self.strata.samples)[stratum]
        duration_ns = self.clusters.launches.duration_ns[rows]
        return Selection(stratum, duration_ns, weight, estimate_ns, None, sample)

    def ids(self, sample: Draw | None) -> IntArray | None:
        """Return (n,) the ids of the launches drawn."""
        return None if sample is None else np.asarray(self.clusters.launches.id[self._drawn_rows(sample)])

    def stratum_facts(self) -> StratumFacts:
        """Return what its strata are; none spans kernels that a draw may miss."""
        return self.clusters.facts(pooled=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class PickedDesign(_Design):
    """Launches that a method picks, none by chance; its strata are the clusters that they stand for."""

    random = False

    clusters: LaunchClusters

    @property
    def promise(self) -> None:
        """None: nothing is known of the error of picks on another workload."""
        return

    @property
    def samples(self) -> int:
        """How many launches are picked."""
        return int(self.strata.samples.sum())

    @property
    def total_duration_ns(self) -> float:
        """The duration of all launches."""
        return float(self.clusters.launches.duration_ns.sum())

    @cached_property
    def sampled_duration_ns(self) -> float:
        """The duration of the picks."""
        return float(self.clusters.launches.duration_ns[self.clusters.picks.row].sum())

    @property
    def cost(self) -> LaunchCost | None:
        """What launches cost a simulator; None where it is not known."""
        return self.clusters.launches.cost

    @cached_property
    def cost_share(self) -> float | None:
        """The share of what all launches cost a simulator that the picks cost; None: not known."""
        if self.cost is None:
            return None
        return float(self.cost.values[self.clusters.picks.row].sum() / self.cost.values.sum())

    @property
    def error(self) -> float:
        """The error |t* - t_est| / t* of the picks; 0 where the total is 0."""
        if not self.total_duration_ns:
            return 0.0
        estimate_ns = self.clusters.picks.estimate(self.clusters.launches.duration_ns)
        return abs(self.total_duration_ns - estimate_ns) / self.total_duration_ns

    def select(self, seed: int) -> Selection:
        """Take the picks, whatever the seed."""
        del seed
        picks, duration_ns, cost = self.clusters.picks, self.clusters.launches.duration_ns, self.cost
        order = self.clusters.picked_order
        rows = picks.row[order]
        if cost is not None:
            cost = replace(cost, values=cost.values[rows] / cost.values.sum())
        stratum, weight = picks.stratum[rows], picks.weight[order]
        return Selection(stratum, duration_ns[rows], weight, picks.estimate(duration_ns), cost)

    def ids(self, sample: Draw | None) -> IntArray:
        """Return (n,) the ids of the picks."""
        del sample
        return np.asarray(self.clusters.launches.id[self.clusters.picks.row[self.clusters.picked_order]])

    def stratum_facts(self) -> StratumFacts:
        """Return what its clusters are."""
        return self.clusters.facts(pooled=False)

    def identity(self) -> tuple[IntArray | FloatArray, ...]:
        """Return what designs of one reduction share if they are the same plan: the picks, their weights."""
        return self.clusters.picks.row, self.clusters.picks.weight


#: How a method would sample a workload: strata and sizes, nothing drawn yet.
Design = SampledDesign | PickedDesign


def method_design(design: Design) -> Design:
    """Return the design of the method behind a plan's; it is the same where its sizes are fixed."""
    chance = design.strata.chance
    if chance is None:
        return design
    from sampling.methods.baselines import NumberDrawn

    number = NumberDrawn(int(design.strata.launches[0]), chance)
    return BinomialDesign(design.method, design.target, design.strata, design.groups, number=number)


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
    rule = method_named(method)
    options = method_options(method, settings)
    rng = generator(seed, Stream.DESIGN)
    if rule.stratify is not None:
        request = StrataRequest(
            counts=counts,
            target=target,
            options=options,
            overrides=overrides or {},
            progress=progress,
            rng=rng,
            settings=settings,
        )
        strata = rule.stratify(request)
        return SampledDesign(method, target, strata, strata.groups or unpooled(counts))
    if launches is None or rule.pick is None:
        raise OptionError(f"the method {method} looks at single launches, not at durations alone")
    clusters = LaunchClusters(launches, rule.pick(launches, options, rng, progress))
    least_samples = launches_drawn_within(method, settings)
    if clusters.picks.units is not None:
        return _unit_design(method, target, clusters, clusters.picks.units)
    if least_samples is None:
        return PickedDesign(method, target, clusters.strata(), unpooled(counts), clusters=clusters)
    groups = clusters.groups()
    strata = _strata_within(groups.counts, target, least_samples, clusters.picks.notes)
    return SampledDesign(method, target, strata, groups, clusters)


def _unit_design(method: str, target: Target, clusters: LaunchClusters, units: Units) -> UnitDesign:
    """Return the design of so many units of each stratum; of others the least that bound their total."""
    launches = clusters.launches
    first = np.unique(units.unit, return_index=True)[1]
    columns = {name: getattr(launches, name)[first] for name in ("id", "sequence", "signature", "group")}
    duration_ns = np.bincount(units.unit, launches.duration_ns).astype(np.int64)
    of_units = LaunchClusters(
        replace(launches, **columns, duration_ns=duration_ns, cost=None, features=None),
        replace(clusters.picks, stratum=clusters.picks.stratum[first], units=None),
    )
    groups = unpooled(of_units.groups().counts)
    counts, numbers = groups.counts, np.arange(len(clusters.picks.labels))
    measured = measured_clusters(counts, numbers, counts.offsets[:-1], counts.offsets[1:])
    samples, is_open = units.samples.copy(), units.samples == 0
    if is_open.any():
        rest = measured.rows(is_open)
        ends = np.array([0, len(rest.group)])
        samples[is_open] = water_filled_sample_sizes(
            rest.launches, rest.mean_ns, rest.std_ns, ends, target.epsilon, target.z
        )
    strata = measured.with_samples(samples, notes=clusters.picks.notes)
    return UnitDesign(method, target, strata, groups, clusters=clusters, units=of_units, unit_of=units)


def _strata_within(
    counts: DurationCounts, target: Target, least_samples: int, notes: tuple[str, ...]
) -> Strata:
    """Return the clusters by which launches are counted as strata to draw from at random.

    Sizes are the least that bound the error of the total by epsilon; a cluster gets at least
    ``least_samples``, or all it has. (docs/methods.md, 8 Sieve, Photon, embedding, random)
    """
    clusters = len(counts.groups)
    everywhere = np.full(clusters, WHOLE_WORKLOAD)
    measured = measured_clusters(counts, everywhere, counts.offsets[:-1], counts.offsets[1:])
    moments, offsets = (measured.launches, measured.mean_ns, measured.std_ns), np.array([0, clusters])
    sizes = water_filled_sample_sizes(*moments, offsets, target.epsilon, target.z, floor=least_samples)
    strata: Strata = replace(measured.with_samples(sizes, notes=notes), least_samples=least_samples)
    return strata
