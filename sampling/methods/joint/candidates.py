"""The sets of strata that each kernel group may have, and the choice of one for each.

A group's tree at its price, the cheapest of all ranges at that price and others about it, and ROOT's strata:
each with the sizes that several prices lead to. The choice holds both bounds. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.joint.choice import Table, least_time
from sampling.methods.joint.exact_strata import Ranges, ranges_of
from sampling.methods.joint.fixed_strata import FixedStrata
from sampling.methods.joint.price_search import group_prices, prices
from sampling.methods.joint.priced_forest import Cut, PricedForest
from sampling.methods.joint.root_strata import root_strata
from sampling.methods.joint.solution import Origin, Solution
from sampling.methods.joint.spare_variance import smaller_sizes
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.cycle_spread import CycleSpread
from sampling.strata.expected_freedom import ExpectedFreedom, with_freedom
from sampling.strata.strata import Clusters, measured_clusters
from sampling.strata.target import Target
from sampling.strata.variance import left_out

# Multiples of a group's price, for its strata and for their sizes: a larger one gives more of them.
_STRATA_SCALES = (8.0, 4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5)
_SIZE_SCALES = (*(2.0 ** (half / 2) for half in range(-6, 9)), 64.0, 256.0)
# What it costs to trace and load a launch, over the mean duration: very short ones are not free.
_OVERHEAD = 0.3
# Of more groups, those that cost most have a choice.
_MOST_GROUPS = 2000


@dataclass(frozen=True, slots=True)
class StrataSet:
    """Strata of all kernel groups, from one source.

    Attributes
    ----------
    scale : of a tree or of ranges the multiple of the price; of ROOT its epsilon.
    samples : (s,) sizes of its own, which are one more choice; None where there are none.
    """

    origin: Origin
    clusters: Clusters
    scale: float
    samples: IntArray | None = None


@dataclass(frozen=True)
class Candidates:
    """What each kernel group may have, and what each choice costs.

    Attributes
    ----------
    cycles : how simulated time is declared to vary.
    price, search_price : (groups,) the price of the trees, and that about which other sets are looked for.
    sets : the sets; the first is that of the trees at the price, which needs no choice.
    open_groups : (k,) the groups that have a choice.
    choices : set, and multiple of the price for the sizes; None for the set's own sizes.
    table : what each choice costs in the groups that have one.
    """

    counts: DurationCounts
    target: Target
    cycles: CycleSpread
    priced: PricedForest
    price: FloatArray
    search_price: FloatArray
    sets: tuple[StrataSet, ...]
    open_groups: IntArray
    choices: tuple[tuple[int, float | None], ...]
    table: Table

    def solution(self, group_budget: FloatArray, budget: float) -> Solution:
        """Return the strata and sizes that take little time within the variance that groups and all may have.

        Parameters
        ----------
        group_budget : (groups,) inf where a group has no bound.
        """
        groups, first = self.priced.groups, self.sets[0]
        fixed = self._fixed(first.clusters)
        is_closed = np.ones(groups, dtype=np.bool_)
        is_closed[self.open_groups] = False
        sizes = self._sizes_without_choice(fixed, is_closed, group_budget, budget)
        spent = float((fixed.spread * left_out(sizes, fixed.launches))[is_closed[fixed.group]].sum())
        picked = np.zeros(groups, dtype=np.int64)
        picked[self.open_groups] = least_time(
            self.table.within(group_budget[self.open_groups]), budget - spent, self._starts
        )
        of_set = np.array([index for index, _ in self.choices])[picked]
        parts = [(first.clusters.of_groups(is_closed), sizes[is_closed[first.clusters.group]])]
        for choice in np.unique(picked[self.open_groups]).tolist():
            chosen = (picked == choice) & ~is_closed
            parts.append(self._part(chosen, *self.choices[choice]))
        clusters, samples = _merged(parts)
        needed = self._lowered(clusters, samples, group_budget, budget)
        samples = self._told(clusters, needed, group_budget, budget)
        scale = np.array([each.scale for each in self.sets])[of_set]
        origin = np.array([each.origin for each in self.sets])[of_set]
        is_root = origin == Origin.ROOT
        price = np.where(origin == Origin.RANGES, self.search_price * scale, self.price)
        return Solution(
            priced=self.priced,
            price=price,
            clusters=clusters,
            samples=samples,
            origin=_true_origin(self.priced, price, origin, clusters),
            root_epsilon=np.where(is_root, scale, 0.0),
            for_interval=bool((samples > needed).any()),
            for_bounds_ns=float(np.dot(needed, clusters.mean_ns)),
        )

    def _sizes_without_choice(
        self, fixed: FixedStrata, closed: BoolArray, group_budget: FloatArray, budget: float
    ) -> IntArray:
        """Return (s,) sizes of the first set's strata; in closed groups they hold the bounds.

        Parameters
        ----------
        closed : (groups,) those without a choice.
        """
        price = np.maximum(group_prices(fixed, group_budget), self.price)
        cut = fixed.cut(price)
        variance = fixed.variance(cut)
        if closed.any() and variance.sum() > budget:
            # For a smaller budget than the price was found for, they keep to their part of it.
            part = budget * float(variance[closed].sum() / variance.sum())
            price[closed] = prices(fixed.restricted(closed), price[closed], part)
            cut = fixed.cut(price)
        return cut.samples

    def _fixed(self, clusters: Clusters) -> FixedStrata:
        target = self.target
        return FixedStrata.of(clusters, self.priced.groups, target.min_samples, self.cycles)

    @property
    def _starts(self) -> list[IntArray]:
        """The sets' own sizes, for all groups: plans to start from."""
        own = (number for number, (_, scale) in enumerate(self.choices) if scale is None)
        return [np.full(len(self.open_groups), number) for number in own]

    def _part(self, chosen: BoolArray, index: int, scale: float | None) -> tuple[Clusters, IntArray]:
        """Return a set's strata in the given groups (groups,), with the sizes of a choice."""
        each = self.sets[index]
        here = chosen[each.clusters.group]
        if scale is None:
            assert each.samples is not None
            return each.clusters.of_groups(chosen), each.samples[here]
        samples = self._fixed(each.clusters).cut(self.search_price * scale).samples
        return each.clusters.of_groups(chosen), samples[here]

    def _lowered(
        self,
        clusters: Clusters,
        samples: IntArray,
        group_budget: FloatArray,
        budget: float,
        least: IntArray | None = None,
    ) -> IntArray:
        """Return (s,) the least sizes that hold the bounds, none below ``least``."""
        fixed = self._fixed(clusters)
        return smaller_sizes(
            samples,
            fixed.least if least is None else least,
            fixed.mean_ns,
            fixed.spread,
            fixed.launches,
            fixed.group,
            group_budget,
            budget,
        )

    def _told(
        self, clusters: Clusters, samples: IntArray, group_budget: FloatArray, budget: float
    ) -> IntArray:
        """Return (s,) sizes from which an interval with enough degrees of freedom follows.

        With two samples or more a stratum, each tells its own spread.
        """
        if self.target.min_samples > 1 or not self.target.min_freedom:
            return samples
        freedom = ExpectedFreedom.of(clusters, self.cycles)
        overhead_ns = _OVERHEAD * self.counts.total_duration_ns / self.counts.launches
        cost_ns = clusters.mean_ns + max(overhead_ns, 1.0)
        enough = with_freedom(freedom, samples, cost_ns, self.target.min_freedom)
        added = enough > samples
        if not added.any():
            return samples
        # What is added takes variance away, so that other strata may have fewer.
        least = np.where(added, enough, np.minimum(1, clusters.launches))
        fewer = self._lowered(clusters, enough, group_budget, budget, least)
        return with_freedom(freedom, fewer, cost_ns, self.target.min_freedom)


def candidates(
    counts: DurationCounts,
    target: Target,
    cycles: CycleSpread,
    priced: PricedForest,
    price: FloatArray,
    overridden: IntArray,
) -> Candidates:
    """Return what each group may have about its price.

    Parameters
    ----------
    price : (groups,) at which the trees hold both bounds.
    overridden : the groups whose tree the user decided on: they keep to it.
    """
    cut = priced.cut(price)
    time_ns, variance = priced.time_ns(cut), priced.variance(cut)
    # A group that needs no price is looked at where its variance costs as much as its time.
    even = np.divide(time_ns, variance, out=np.zeros(priced.groups), where=variance > 0)
    search_price = np.where(price > 0, price, even)
    cost = time_ns + search_price * variance
    open_groups = np.sort(np.argsort(-cost, kind="stable")[:_MOST_GROUPS])
    is_open = np.zeros(priced.groups, dtype=np.bool_)
    is_open[open_groups] = True
    first = StrataSet(Origin.TREE, _measured(counts, priced, cut.rows), 1.0, cut.samples)
    is_free = is_open.copy()
    is_free[overridden] = False
    ranges = ranges_of(counts, priced, search_price, is_free, cycles)
    sets = (
        first,
        # A census holds any bound, so that there is always a choice.
        replace(first, samples=first.clusters.launches),
        *(
            StrataSet(Origin.RANGES, _cheapest(counts, priced, ranges, search_price * scale, target), scale)
            for scale in _STRATA_SCALES
        ),
        *(() if len(overridden) else _roots(counts, target, cycles)),
    )
    choices = tuple(
        (index, scale)
        for index, each in enumerate(sets)
        for scale in (*_SIZE_SCALES, *((None,) if each.samples is not None else ()))
    )
    return Candidates(
        counts,
        target,
        cycles,
        priced,
        price,
        search_price,
        sets,
        open_groups,
        choices,
        _table(sets, choices, priced.groups, search_price, open_groups, target, cycles),
    )


def _roots(counts: DurationCounts, target: Target, cycles: CycleSpread) -> Iterator[StrataSet]:
    """Yield ROOT's strata for both bounds."""
    if target.group_epsilon is None:
        return
    for epsilon in sorted({target.epsilon, target.group_epsilon}):
        clusters, samples = root_strata(counts, target, epsilon, cycles)
        yield StrataSet(Origin.ROOT, clusters, epsilon, samples)


def _measured(counts: DurationCounts, priced: PricedForest, rows: IntArray) -> Clusters:
    return measured_clusters(counts, priced.group[rows], priced.start[rows], priced.stop[rows])


def _cheapest(
    counts: DurationCounts,
    priced: PricedForest,
    ranges: Sequence[Ranges],
    price: FloatArray,
    target: Target,
) -> Clusters:
    """Return the cheapest of all ranges at a price, and of the trees where ranges are not looked at."""
    found = [each.cheapest(price[each.group], target.min_samples) for each in ranges]
    rest = np.ones(priced.groups, dtype=np.bool_)
    for each in ranges:
        rest[each.group] = False
    rows = priced.cut(price).rows
    rows = rows[rest[priced.group[rows]]]
    found.append((priced.group[rows], priced.start[rows], priced.stop[rows]))
    group, start, stop = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(start, kind="stable")
    return measured_clusters(counts, group[order], start[order], stop[order])


def _table(
    sets: Sequence[StrataSet],
    choices: Sequence[tuple[int, float | None]],
    groups: int,
    price: FloatArray,
    open_groups: IntArray,
    target: Target,
    cycles: CycleSpread,
) -> Table:
    """Return what each choice costs in the open groups."""
    fixed = [FixedStrata.of(each.clusters, groups, target.min_samples, cycles) for each in sets]
    time_ns = np.empty((len(open_groups), len(choices)))
    variance = np.empty_like(time_ns)
    for column, (index, scale) in enumerate(choices):
        own = sets[index].samples
        if scale is None:
            assert own is not None
            cut = Cut(np.arange(len(own)), own)
        else:
            cut = fixed[index].cut(price * scale)
        time_ns[:, column] = fixed[index].time_ns(cut)[open_groups]
        variance[:, column] = fixed[index].variance(cut)[open_groups]
    return Table(time_ns, variance)


def _merged(parts: Sequence[tuple[Clusters, IntArray]]) -> tuple[Clusters, IntArray]:
    """Return strata of different groups together, ordered by group and duration."""
    columns = zip(*(clusters.columns for clusters, _ in parts), strict=True)
    merged = [np.concatenate(column) for column in columns]
    order = np.argsort(merged[1], kind="stable")
    samples = np.concatenate([samples for _, samples in parts])[order]
    return Clusters(*(column[order] for column in merged)), samples


def _true_origin(priced: PricedForest, price: FloatArray, origin: IntArray, clusters: Clusters) -> IntArray:
    """Return (groups,) the origin; ranges that are those of the tree at the price are the tree's."""
    rows = priced.cut(price).rows
    of_tree = np.isin(clusters.start, priced.start[rows])
    in_tree = np.bincount(clusters.group, of_tree, minlength=priced.groups)
    same = (in_tree == np.bincount(clusters.group, minlength=priced.groups)) & (
        in_tree == np.bincount(priced.group[rows], minlength=priced.groups)
    )
    return np.where((origin == Origin.RANGES) & same, Origin.TREE, origin)
