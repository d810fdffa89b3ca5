"""Joint: one bound for the simulated total, a looser one for each kernel group, and a price of variance.

Allegro and ROOT bound every group by epsilon separately. Errors of groups are independent, so the whole is
then bounded far below epsilon and most samples are wasted. Here variance has a price: at lambda ns of sampled
time for a ns^2 of variance, launches with consecutive durations cost together

    J = min over m of  m c + lambda b (1/m - 1/N),        b = N^2 S^2 of simulated time,

where a launch costs c, the time it takes or what a simulator pays for it. The cheapest way to cut a group,
least(j) = min over i < j of least(i) + J(i, j), is found by dynamic programming over at most 64 cuts. So
every group has a curve: a point (variance, cost) for every price. One price for all meets the bound of the
total, sum b (1/m - 1/N) <= (epsilon T / z)^2; no group goes beyond its own; what variance is left is spent
along the curves, then on single samples. Small kernel groups of a process and device are pooled, one more
group, where that is cheaper at the price.

The plan is then drawn thousands of times, and made for a smaller epsilon until its bounds hold, and until the
interval that results of it will give is expected to be as narrow as epsilon. (this project; the allocation is
Neyman's 1934; docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.methods.method import Method, StrataRequest
from sampling.methods.root import RootRule
from sampling.parallel import Progress, Stream, generator
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, with_half_steps
from sampling.reduction.plan_groups import PlanGroups, pooled
from sampling.splitting.tree import Overrides, TreeGrower, groups_overridden
from sampling.strata.draw import NOISE_SLACK, judged
from sampling.strata.strata import (
    OF_SEVERAL_SIGNATURES,
    Clusters,
    CycleSpread,
    Strata,
    declared_spread,
    expected_half_width,
    finite_population_factor,
    measured_clusters,
    spread,
)
from sampling.strata.target import Target

#: A kernel group with less of the time may be pooled; of larger ones somebody wants to know.
POOL_BELOW = 0.01
#: A group is cut in so many places at most.
MOST_CUTS = 64
# By so much epsilon shrinks inside where the bounds do not hold in the draws; a group's own goes further.
_STEP, _GROUP_STEP = 0.97, 0.9
# A plan that is within so much of epsilon is one that groups' own bounds decide; then stricter epsilons are
# looked at, round ones, so that they are the same whatever is asked for, until one takes no less time
# before it is judged.
_SLACK, _NO_GAIN = 0.97, 0.999
_STRICTER = np.outer(
    10.0 ** -np.arange(1, 6),
    [9, 8, 7, 6, 5, 4.5, 4, 3.5, 3, 2.7, 2.5, 2.2, 2, 1.8, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1],
).ravel()
# Prices of a group's curve, over a first guess to find the price of the plan, then over that.
_COARSE = 2.0 ** np.arange(-24, 4)
_FINE = 2.0 ** np.arange(-2, 2.01, 0.25)
_BISECTIONS = 60
_PASSES = 3
_FEW = 4
# So many groups, with as many cuts each, are cut at once.
_AT_ONCE = 64
# Below this a mean is no duration of a clock, and divides nothing.
_NO_TIME = 1e-9


@dataclass(frozen=True, slots=True)
class Options:
    """None of its own: what is asked of the plan says all."""


class _Ranges(NamedTuple):
    """Ranges ``start:stop`` of a group's pairs with N, cost of a launch, b of simulated time, m; all (s,)."""

    group: IntArray
    start: IntArray
    stop: IntArray
    launches: IntArray
    cost_ns: FloatArray
    b: FloatArray
    samples: IntArray

    def rows(self, mask: IntArray | BoolArray | slice) -> _Ranges:
        return _Ranges._make(column[mask] for column in self)


def _best_sizes(benefit: FloatArray, launches: IntArray, min_samples: int) -> FloatArray:
    """Return the whole m of least m c + lambda b / m: the least with m (m + 1) >= benefit = lambda b / c."""
    m = np.sqrt(benefit + 0.25)
    m -= 0.5
    return np.clip(np.ceil(m, out=m), np.minimum(min_samples, launches), launches, out=m)


class _Moments(NamedTuple):
    """Running sums over pairs, in units of each group's own mean (groups,).

    Of one sum in ns over all groups, those of short launches beside long ones would lose their digits.
    """

    mean_ns: FloatArray
    #: (p + 1,) of deviations from the mean, and of their squares.
    off_before: FloatArray
    squares_before: FloatArray

    @classmethod
    def of_pairs(cls, counts: DurationCounts) -> _Moments:
        mean_ns = counts.group_duration_ns / counts.group_launches
        unit_ns = np.repeat(np.where(mean_ns > 0, mean_ns, 1.0), np.diff(counts.offsets))
        off = counts.duration_ns / unit_ns - 1
        sums = (np.concatenate([[0.0], np.cumsum(counts.count * values)]) for values in (off, off**2))
        return cls(mean_ns, *sums)


class _Batch(NamedTuple):
    """Groups (g,) with as many cuts each, and all ranges (g, r) between two of their cuts."""

    group: IntArray
    #: (g, cuts) where each may be cut, among all pairs.
    cuts: IntArray
    #: (g, r) which ranges are no stratum: those that join fixed ones.
    is_barred: BoolArray
    #: (g, r) N, cost of a launch and b.
    launches: IntArray
    cost_ns: FloatArray
    b: FloatArray


class _Cutter:
    """All ranges between the cuts that every group may have, and the cheapest way through them at a price."""

    def __init__(
        self, counts: DurationCounts, recorded: DurationCounts, cycles: CycleSpread, progress: Progress | None
    ) -> None:
        self._counts, self._cycles, self._progress = counts, cycles, progress
        # As they are recorded, and with time for launches that show none: what varies more counts.
        readings = [recorded] if recorded is counts else [recorded, counts]
        self._moments = [_Moments.of_pairs(reading) for reading in readings]
        self._batches: list[_Batch] = []

    def measure_ranges(
        self, group: IntArray, start: IntArray, stop: IntArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return N, cost of a launch and b = N^2 S^2 of any ranges of pairs; 0 of an empty one."""
        counts = self._counts
        n = counts.launches_before[stop] - counts.launches_before[start]
        many = np.maximum(n, 1)
        variances = []
        for mean_ns, off_before, squares_before in self._moments:
            off = (off_before[stop] - off_before[start]) / many
            squares = (squares_before[stop] - squares_before[start]) / many - off**2
            std = np.sqrt(np.where(stop - start > 1, np.maximum(squares, 0), 0))
            ranges = Clusters(group, start, stop, n, np.where(n > 0, 1 + off, 0), std)
            variances.append(self._cycles.variance(ranges) * mean_ns[group] ** 2)
        cost_ns = counts.cumulative_cost_ns[stop] - counts.cumulative_cost_ns[start]
        return n, cost_ns / many, spread(n, np.maximum.reduce(variances))

    def cut(self, limits: IntArray, fixed: Mapping[int, IntArray]) -> None:
        """Measure all ranges between the cuts, fixed or at most so many, of each group (groups,)."""
        bounds = []
        for group, cuts in enumerate(limits.tolist()):
            bounds.append(fixed[group] if group in fixed else self._possible_cuts(group, cuts))
        width = np.array([len(cuts).bit_length() for cuts in bounds])
        for size in np.unique(width).tolist():
            same_width = np.flatnonzero(width == size)
            for members in np.array_split(same_width, 1 + len(same_width) // _AT_ONCE):
                k = max(len(bounds[group]) for group in members)
                padded = np.stack([np.pad(bounds[g], (0, k - len(bounds[g])), mode="edge") for g in members])
                j, i = np.tril_indices(k, -1)
                n, cost_ns, b = self.measure_ranges(members[:, np.newaxis], padded[:, i], padded[:, j])
                # Of fixed ranges none may be joined with the next.
                barred = np.isin(members, list(fixed))[:, np.newaxis] & (j - i > 1)
                # An empty range counts as a launch that takes no time, which divides nothing by 0.
                self._batches.append(_Batch(members, padded, barred, np.maximum(n, 1), cost_ns, b))

    def _possible_cuts(self, group: int, limit: int) -> IntArray:
        """Return where to cut: between all durations, or where sqrt(count * gap) is evenly shared."""
        counts = self._counts
        first, last = counts.offsets[group : group + 2].tolist()
        if last - first <= limit:
            return np.arange(first, last + 1)
        gaps = np.diff(counts.duration_ns[first:last])
        weight = np.cumsum(np.sqrt(counts.count[first + 1 : last] * gaps))
        inner = np.searchsorted(weight, weight[-1] * np.arange(1, limit) / limit)
        return np.unique(np.concatenate([[first, last], first + 1 + inner]))

    def find_cheapest(self, prices: FloatArray, min_samples: int) -> list[_Ranges]:
        """Return for each of the prices (groups, prices) the ranges that cost least, with their sizes."""
        paths = []
        for index, batch in enumerate(self._batches):
            members, bounds = batch.group, batch.cuts
            price, n = prices[members][:, :, np.newaxis], batch.launches[:, np.newaxis]
            cost_ns, b = batch.cost_ns[:, np.newaxis], batch.b[:, np.newaxis]
            m = _best_sizes(price * (b / np.maximum(cost_ns, _NO_TIME)), n, min_samples)
            # m c + lambda b (1/m - 1/N), which is to the digit m c where all are simulated.
            cost = n - m
            cost /= m
            cost *= price * (b / n)
            cost += m * cost_ns
            np.copyto(cost, np.inf, where=batch.is_barred[:, np.newaxis])
            ways, k = cost.shape[:2], bounds.shape[1]
            cheapest, came = np.zeros((*ways, k)), np.zeros((*ways, k), dtype=np.int64)
            for j in range(1, k):
                row = j * (j - 1) // 2
                costs = cheapest[..., :j] + cost[..., row : row + j]
                came[..., j] = costs.argmin(axis=-1)
                cheapest[..., j] = costs.min(axis=-1)
            # From the last cut of every way back to the first.
            g, p = (index.ravel() for index in np.indices(ways))
            last = np.full(len(g), k - 1)
            while len(g):
                i = came[g, p, last]
                size = m[g, p, last * (last - 1) // 2 + i].astype(np.int64)
                rows = np.stack([p, members[g], bounds[g, i], bounds[g, last], size])
                paths.append(rows[:, rows[2] < rows[3]])
                g, p, last = g[i > 0], p[i > 0], i[i > 0]
            if self._progress is not None:
                self._progress(index + 1, len(self._batches), "pricing")
        place, group, start, stop, sizes = np.concatenate(paths, axis=1)
        order = np.lexsort((start, place))
        ranges = _Ranges(group, start, stop, *self.measure_ranges(group, start, stop), sizes).rows(order)
        ends = np.searchsorted(place[order], np.arange(prices.shape[1] + 1))
        return [ranges.rows(slice(*ends[p : p + 2])) for p in range(prices.shape[1])]


class _Curves:
    """For every group the ranges at several prices: who they are, and (groups, prices) time and variance."""

    def __init__(self, ranges: list[_Ranges], groups: int) -> None:
        self.ranges = ranges
        times = [np.bincount(point.group, point.samples * point.cost_ns, groups) for point in ranges]
        variances = [
            np.bincount(
                point.group, point.b * finite_population_factor(point.samples, point.launches), groups
            )
            for point in ranges
        ]
        self.time_ns, self.variance = np.stack(times, axis=1), np.stack(variances, axis=1)

    def find_price(self, budget: float, group_budget: FloatArray) -> tuple[IntArray, float]:
        """Return the points at the least price at which all together are within the budget; and that price.

        Each group's own total may have the variance ``group_budget`` (groups,).
        """
        time_ns = np.where(self.variance <= group_budget[:, np.newaxis], self.time_ns, np.inf)
        # Prices have the unit 1/ns, as the inverse of what the total may be off has.
        low, high, unit = -90.0, 90.0, max(budget, 1e-300) ** -0.5
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            pick = np.argmin(time_ns + unit * np.exp(middle) * self.variance, axis=1)
            over = np.take_along_axis(self.variance, pick[:, np.newaxis], 1).sum() > budget
            low, high = (middle, high) if over else (low, middle)
        price = unit * float(np.exp(high))
        return np.argmin(time_ns + price * self.variance, axis=1), price

    def allocate(self, budget: float, group_budget: FloatArray, min_samples: int) -> _Ranges:
        """Return ranges of little time: one price for all, then what is left is spent on groups and sizes."""
        rows, (pick, _) = np.arange(len(self.time_ns)), self.find_price(budget, group_budget)
        while True:
            variance = self.variance[rows, pick]
            spare = budget - variance.sum()
            saved = self.time_ns[rows, pick][:, np.newaxis] - self.time_ns
            saved[
                (self.variance > spare + variance[:, np.newaxis])
                | (self.variance > group_budget[:, np.newaxis])
            ] = 0
            point = saved.argmax(axis=1)
            gain, increase = saved[rows, point], np.maximum(self.variance[rows, point] - variance, 0)
            order = np.argsort(-gain)
            order = order[gain[order] > 1e-9 * self.time_ns[rows, pick].sum()]
            moves = order[np.cumsum(increase[order]) <= spare]
            if not len(moves):
                break
            pick[moves] = point[moves]
        parts = [ranges.rows(pick[ranges.group] == place) for place, ranges in enumerate(self.ranges)]
        ranges = _Ranges(*map(np.concatenate, zip(*parts, strict=True)))
        return _drop_samples(ranges.rows(np.argsort(ranges.start)), budget, group_budget, min_samples)


def _drop_samples(ranges: _Ranges, budget: float, group_budget: FloatArray, min_samples: int) -> _Ranges:
    """Take samples away while the bounds hold, those first that save most time for their variance."""
    group, n, b, m = ranges.group, ranges.launches, ranges.b, ranges.samples.copy()
    while True:
        variance = b * finite_population_factor(m, n)
        spare = budget - variance.sum()
        own_spare = (group_budget - np.bincount(group, variance, len(group_budget)))[group]
        added = b * finite_population_factor(np.maximum(m - 1, 1), m)
        order = np.argsort(added / np.maximum(ranges.cost_ns, _NO_TIME))
        fits = (m > np.minimum(min_samples, n)) & (added <= np.minimum(own_spare, spare))
        rows = order[fits[order]]
        # One of a group at a time, for they share what it may vary.
        rows = rows[np.sort(np.unique(group[rows], return_index=True)[1])]
        rows = rows[np.cumsum(added[rows]) <= spare]
        if not len(rows):
            return ranges._replace(samples=m)
        m[rows] -= 1


class _Trial(NamedTuple):
    """A plan that was drawn many times: what it costs, and where its bounds do not hold."""

    strata: Strata
    cost_ns: float
    #: By what epsilon must shrink; 1 where the total's bounds hold in the draws.
    shrink: float
    #: (groups,) whose own bound does not hold.
    over: BoolArray

    @property
    def holds(self) -> bool:
        """Whether all bounds do."""
        return self.shrink == 1 and not self.over.any()


class _Planner:
    """The plans of some groups: their curves, and what is taken of them for a smaller epsilon."""

    #: Of variance, ns of sampled time per ns^2; and before the plan is judged what it takes, and the epsilon
    #: that it meets, less than is asked for where groups' own bounds ask for more.
    price: float
    sampled_ns: float
    met_epsilon: float

    def __init__(
        self, groups: PlanGroups, target: Target, fixed: Mapping[int, IntArray], progress: Progress | None
    ) -> None:
        self.groups, self.fixed, self._target, self._progress = groups, fixed, target, progress
        counts, self._cycles = with_half_steps(groups.counts), declared_spread(groups, target)
        # A group, or a profile, in which nothing shows any time has no total to be within epsilon of.
        recorded_ns = groups.counts.group_duration_ns.astype(np.float64)
        total_ns = np.where(recorded_ns > 0, recorded_ns, counts.group_duration_ns)
        group_budget = self._cycles.scale[:-1] * ((target.group_epsilon or 1) * total_ns / target.z) ** 2
        self._own = np.where(groups.is_pool | (target.group_epsilon is None), np.inf, group_budget)
        all_ns = float(groups.counts.total_duration_ns or counts.total_duration_ns)
        self._budget = (target.epsilon * all_ns / target.z) ** 2
        cutter = _Cutter(counts, groups.counts, self._cycles, progress)
        n, cost_ns, b = cutter.measure_ranges(
            np.arange(len(group_budget)), counts.offsets[:-1], counts.offsets[1:]
        )
        budget = max(self._budget, 1e-300)
        guess = (np.sqrt(b * cost_ns).sum() / budget) ** 2 + 1e-30 * budget**-0.5
        # What a group's own bound may ask of it.
        own_price = np.divide(b * cost_ns, self._own**2, out=np.zeros(len(n)), where=self._own > 0)
        first_price = np.maximum(guess, own_price)
        # A group that would get m samples uncut is not worth more than a few times as many cuts.
        uncut = _best_sizes(first_price * b / np.maximum(cost_ns, _NO_TIME), n, 1)
        cutter.cut(np.minimum(MOST_CUTS, 4 + 4 * uncut).astype(np.int64), fixed)
        # Groups that are not cut, but for fixed ranges, with few launches each and with all: of few launches
        # no price may be the best.
        min_samples = target.min_samples
        uncut_ranges = cutter.find_cheapest(np.zeros((len(n), 1)), min_samples)[0]
        sizes = (
            np.minimum(m, uncut_ranges.launches) for m in (*range(min_samples, min_samples + _FEW), np.inf)
        )
        wholes = [uncut_ranges._replace(samples=m.astype(np.int64)) for m in sizes]
        coarse = _Curves(
            [*cutter.find_cheapest(np.outer(first_price, _COARSE), min_samples), *wholes], len(n)
        )
        self.price = coarse.find_price(self._budget, self._own)[1]
        fine = np.broadcast_to(self.price * _FINE, (len(n), len(_FINE)))
        self._curves = _Curves([*cutter.find_cheapest(fine, min_samples), *coarse.ranges], len(n))
        ranges = self._ranges(1.0, np.ones(len(n)))
        self.sampled_ns = float(np.dot(ranges.samples, ranges.cost_ns))
        variance = float(np.dot(ranges.b, finite_population_factor(ranges.samples, ranges.launches)))
        self.met_epsilon = target.epsilon * float(np.sqrt(variance / budget))

    def _ranges(self, epsilon: float, share: FloatArray) -> _Ranges:
        """Return the ranges for a share of epsilon, and (groups,) of each group's own."""
        return self._curves.allocate(
            self._budget * epsilon**2, self._own * share**2, self._target.min_samples
        )

    def strata(self) -> tuple[Strata, float, bool]:
        """Return strata whose bounds hold in the draws, and whose interval is expected within epsilon.

        With what they cost, and whether some group's own bound had to shrink.
        """
        epsilon, share = 1.0, np.ones(len(self._own))
        while True:
            trial = self._try(epsilon, share)
            if trial.holds:
                break
            epsilon *= trial.shrink
            share[trial.over] *= _GROUP_STEP
        strata = replace(trial.strata, groups=self.groups if self.groups.is_pool.any() else None)
        return strata, trial.cost_ns, bool(share.min() < 1)

    def _try(self, epsilon: float, share: FloatArray) -> _Trial:
        """Return the plan for a share of epsilon, and (groups,) of each group's own bound.

        What is drawn is seeded with a number of its own: the seed of a plan must not change its strata.
        """
        counts, target, over = self.groups.counts, self._target, np.zeros(len(share), dtype=np.bool_)
        ranges = self._ranges(epsilon, share)
        cost_ns = float(np.dot(ranges.samples, ranges.cost_ns))
        clusters = measured_clusters(counts, ranges.group, ranges.start, ranges.stop)
        strata = replace(clusters.with_samples(ranges.samples), least_samples=target.min_samples)
        wide = expected_half_width(strata, self._cycles, target.confidence) / target.epsilon
        if wide > 1:
            return _Trial(strata, cost_ns, min(_STEP, wide**-0.5), over)
        if self._progress is not None:
            self._progress(0, 0, "judging")
        draws = judged(counts, strata, self._cycles, generator(0, Stream.CALIBRATE))
        limit_ns = target.epsilon * counts.total_duration_ns
        holds = draws.share_within(limit_ns) >= target.confidence
        holds &= draws.share_within(limit_ns, with_noise=True) >= target.confidence - NOISE_SLACK
        if target.group_epsilon is not None:
            groups = np.unique(strata.group[draws.drawn])
            for group in groups[~self.groups.is_pool[groups]].tolist():
                own_ns = target.group_epsilon * counts.group_duration_ns[group]
                over[group] = draws.share_within(own_ns, with_noise=True, group=group) < target.confidence
        return _Trial(strata, cost_ns, 1.0 if holds else _STEP, over)


def stratify(request: StrataRequest) -> Strata:
    """Return the strata of least sampled time that keep what is asked of the plan.

    Where groups' own bounds ask for more than the total does, plans for stricter epsilons are looked at too:
    a group of few launches meets its bound in leaps, and a stricter plan may happen to meet it for less. So a
    looser epsilon draws no more.
    OverrideError: an override fits no group or node.
    """
    target = request.target
    cuts = _fixed_cuts(request.counts, target, request.overrides) if request.overrides else {}
    planner = _find_planner(request, target, cuts)
    strata, cost_ns, leaps = planner.strata()
    # What a plan takes before it is judged is the least that it, or a stricter one, can take.
    is_improvable = planner.sampled_ns < _NO_GAIN * cost_ns
    if is_improvable and (leaps or planner.met_epsilon < _SLACK * target.epsilon):
        stricter = _STRICTER[min(target.epsilon, planner.met_epsilon) > _STRICTER].tolist()
        groups, fixed = planner.groups, planner.fixed
        for epsilon in stricter:
            # The curves of two planners at once would take twice the memory.
            del planner
            planner = _Planner(groups, replace(target, epsilon=epsilon), fixed, request.progress)
            if planner.sampled_ns >= _NO_GAIN * cost_ns:
                break
            alternative, other_cost_ns, _ = planner.strata()
            if other_cost_ns < cost_ns:
                strata, cost_ns = alternative, other_cost_ns
    return strata


def _find_planner(request: StrataRequest, target: Target, cuts: Mapping[int, IntArray]) -> _Planner:
    """Return the planner of the groups, or pools, that are cheapest before they are judged.

    Kernel groups below `POOL_BELOW` of the time are pooled, but for those that cost less on their own at the
    price of the plan that pools them: with r = N sqrt(lambda c) a kernel group whose launches cost c costs
    2 k r c at best in the pool, where k^2 = within^2 + 0.1^2 + between^2, and c max(1 + (within r)^2,
    2 within r) alone. The price changes with who is pooled, so this is done a few times, and the cheapest
    plan is taken.
    """
    counts = request.counts
    cost_ns = np.diff(counts.cumulative_cost_ns[counts.offsets]) / counts.group_launches
    small = counts.group_duration_ns < POOL_BELOW * counts.total_duration_ns
    small &= target.pool & ~np.isin(np.arange(len(small)), list(cuts))
    several = counts.pair_signatures.are_several(counts.offsets[:-1], counts.offsets[1:])
    alone_squared = target.noise_floor**2 + several * OF_SEVERAL_SIGNATURES**2
    pooled_squared = target.noise_floor**2 + OF_SEVERAL_SIGNATURES**2 + target.kernel_spread**2
    in_pool, best = small, None
    for _ in range(_PASSES):
        groups = pooled(counts, in_pool)
        # No group with cuts of its own is pooled, so its pairs are as they were.
        numbers = {int(groups.group_of[kernel]): bounds for kernel, bounds in cuts.items()}
        fixed = {group: bounds + groups.counts.offsets[group] for group, bounds in numbers.items()}
        planner = _Planner(groups, target, fixed, request.progress)
        best = planner if best is None or planner.sampled_ns < best.sampled_ns else best
        r = counts.group_launches * np.sqrt(planner.price * cost_ns)
        deviation = np.sqrt(alone_squared) * r
        own_cost = np.where(deviation < 1, 1 + deviation**2, 2 * deviation)
        next_pool = small & (own_cost >= 2 * np.sqrt(pooled_squared) * r)
        if np.array_equal(next_pool, in_pool):
            break
        in_pool = next_pool
    assert best is not None
    return best


def _fixed_cuts(counts: DurationCounts, target: Target, overrides: Overrides) -> dict[int, IntArray]:
    """Return the bounds of the ranges that the user's decisions make of groups, from each group's first pair.

    A decision is on a node of ROOT's tree of the group; what is not decided on is as ROOT has it.
    """
    cuts = {}
    for group in groups_overridden(counts, overrides).tolist():
        decided = overrides[counts.groups[group].key]
        leaves = TreeGrower(counts, group, RootRule(target), decided).run().leaves
        bounds = sorted({leaf.start for leaf in leaves} | {leaf.stop for leaf in leaves})
        cuts[group] = np.array(bounds, dtype=np.int64) - counts.offsets[group]
    return cuts


METHOD = Method(
    name="joint",
    source="this project, on Allegro and STEM+ROOT",
    description="Launches of similar durations are strata, sized for one error of all. Of each stratum of a "
    "kernel group launches are drawn at random: as many as keep the total within epsilon at the least time "
    "to simulate, and each group's own total within a looser bound. Small groups are pooled where that pays.",
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    target_fields=("group_epsilon", "min_samples", "noise_floor", "kernel_spread", "pool"),
    stratify=stratify,
)
