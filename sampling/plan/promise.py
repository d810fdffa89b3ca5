"""What a design drawn at random promises: bounds on errors, of profile time and of simulated time.

A bound is what a share of ``confidence`` of many draws does not exceed, or z standard deviations if more.
Simulated time varies as the target declares. (docs/methods.md, 2 STEM: the error model; 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sampling.arrays import FloatArray
from sampling.parallel import Stream, generator
from sampling.reduction.plan_groups import PlanGroups
from sampling.strata.draw import Judged, judged
from sampling.strata.strata import (
    SIMILAR_SPREAD,
    WHOLE_WORKLOAD,
    CycleSpread,
    Strata,
    bound,
    counter_variance,
    declared_spread,
    expected_half_width,
    group_bounds,
    sample_variance,
    starting_spreads,
)
from sampling.strata.target import Target

if TYPE_CHECKING:
    from sampling.methods.baselines import NumberDrawn


class Bounds(NamedTuple):
    """The figures of a promise as results list them; None where nothing is promised."""

    promised_error: float | None = None
    bound: float | None = None
    group_bound: float | None = None
    bound_with_noise: float | None = None


# Two promises are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Promise:
    """Bounds on the relative error of the total, above 0, that launches drawn from strata estimate."""

    target: Target
    strata: Strata
    #: The groups that the strata divide, with their launches, by drawing which bounds are judged.
    groups: PlanGroups

    @cached_property
    def cycles(self) -> CycleSpread:
        """How simulated time is declared to vary."""
        return declared_spread(self.groups, self.target)

    @cached_property
    def bound(self) -> float:
        """Bound on the error of the total profile time."""
        return max(self._normal_bound(), self._quantile())

    @cached_property
    def bound_with_noise(self) -> float:
        """Bound on the error of the simulated total, if simulated time varies as is declared."""
        of_cycles = self._normal_bound(self.cycles.variance(self.strata))
        return max(of_cycles, self.bound, self._quantile(with_noise=True))

    @cached_property
    def expected_half_width(self) -> float:
        """The half-width, over the total, expected of the interval from simulated values, as declared.

        Where less was declared than results start from, as they start.
        """
        within, between = starting_spreads(self.target)
        cycles = replace(self.cycles, within=within, between=between)
        return expected_half_width(self.strata, cycles, self.target.confidence)

    @cached_property
    def expected_counter_half_width(self) -> float:
        """The same of a counter that varies over kernels, and within strata, as cycles do."""
        within, between = starting_spreads(self.target)
        pooled = float(counter_variance(float((self.strata.samples - 1).sum())))
        cycles = replace(self.cycles, within=(within**2 + pooled) ** 0.5, between=between)
        return expected_half_width(self.strata, cycles, self.target.confidence)

    @cached_property
    def expected_speedup_half_width(self) -> float:
        """The half-width, of its logarithm, expected of a speedup between much the same configurations."""
        return expected_half_width(self.strata, self.cycles, self.target.confidence, SIMILAR_SPREAD)

    @property
    def error(self) -> float:
        """How far off the simulated total may be, as a fraction of it, if simulated time varies as declared.

        The larger of `bound_with_noise`, what the draws do, and of the interval that results will be printed
        with.
        """
        return max(self.bound_with_noise, self.expected_half_width)

    @cached_property
    def group_bound(self) -> float | None:
        """The worst unpooled kernel group's bound on its own total; None where all strata span groups."""
        return self._worst_group(with_noise=False)

    @cached_property
    def group_bound_with_noise(self) -> float | None:
        """The worst kernel group's bound on its own simulated total; None where `group_bound` is."""
        return self._worst_group(with_noise=True)

    @cached_property
    def group_bounds(self) -> FloatArray:
        """(g,) bounds on the own total of each group that has strata; of a pool that of normal errors."""
        return self._group_bounds(with_noise=False)

    @property
    def bounds(self) -> Bounds:
        """The figures that results list."""
        return Bounds(self.error, self.bound, self.group_bound, self.bound_with_noise)

    @property
    def has_mixed_strata(self) -> bool:
        """Whether launches of several signatures are drawn from one stratum, which declares more then."""
        strata = self.strata
        several = self.cycles.counts.pair_signatures.are_several(strata.start, strata.stop)
        return bool((several & (strata.samples < strata.launches)).any())

    @property
    def share_within_epsilon(self) -> float:
        """The share of other draws than the bounds are from whose error is at most epsilon."""
        return self._share_within_epsilon(with_noise=False)

    @property
    def simulated_share_within_epsilon(self) -> float:
        """The same of the simulated total, if simulated time varies as is declared."""
        return self._share_within_epsilon(with_noise=True)

    def _normal_bound(self, variance: FloatArray | None = None) -> float:
        """Return the bound of normal errors; ``variance`` is (s,) S^2 of the strata, None: of durations."""
        return bound(self.strata, self.target.confidence, variance)

    def _quantile(self, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return the error that the draws stay within, over the total that it is of."""
        counts = self.groups.counts
        total_ns = counts.total_duration_ns if group is None else counts.group_duration_ns[group]
        quantile_ns = self._draws.quantile_ns(self.target.confidence, with_noise=with_noise, group=group)
        return quantile_ns / max(int(total_ns), 1)

    def _worst_group(self, *, with_noise: bool) -> float | None:
        if WHOLE_WORKLOAD in self.strata.group:
            return None
        unpooled = ~self.cycles.spans_kernels[np.unique(self.strata.group)]
        return float(self._group_bounds(with_noise=with_noise)[unpooled].max()) if unpooled.any() else None

    def _group_bounds(self, *, with_noise: bool) -> FloatArray:
        variance = self.cycles.of_own_totals().variance(self.strata) if with_noise else None
        bounds = group_bounds(self.strata, self.target.confidence, variance)
        groups = np.unique(self.strata.group)
        # Only groups with a stratum that is drawn can be far from normal.
        is_drawn = np.isin(groups, self.strata.group[self._draws.drawn])
        for index in np.flatnonzero(is_drawn & ~self.cycles.spans_kernels[groups]).tolist():
            quantile = self._quantile(with_noise=with_noise, group=int(groups[index]))
            bounds[index] = max(bounds[index], quantile)
        return bounds

    def _share_within_epsilon(self, *, with_noise: bool) -> float:
        limit_ns = self.target.epsilon * self.groups.counts.total_duration_ns
        return self._other_draws.share_within(limit_ns, with_noise=with_noise)

    @cached_property
    def _draws(self) -> Judged:
        return self._drawn_with(Stream.CALIBRATE)

    @cached_property
    def _other_draws(self) -> Judged:
        return self._drawn_with(Stream.CONFIRM)

    def _drawn_with(self, stream: Stream) -> Judged:
        return judged(self.groups.counts, self.strata, self.cycles, generator(0, stream))


@dataclass(frozen=True, eq=False)
class UnitPromise(Promise):
    """The promise where launches of several kernel groups are drawn together: none of a group by itself."""

    def _worst_group(self, *, with_noise: bool) -> None:
        del with_noise


@dataclass(frozen=True, eq=False)
class BinomialPromise(Promise):
    """The promise where every draw has another number of launches, of one stratum that holds them all."""

    number: NumberDrawn

    def _normal_bound(self, variance: FloatArray | None = None) -> float:
        """Return the bound whose variance is the mean of that of each number n, N^2 (1/n - 1/N) S^2."""
        strata = self.strata
        numbers, chances = self.number.possible
        of_launches = sample_variance(strata.launches, strata.std_ns) if variance is None else variance
        # Rounding may leave less than nothing where all launches are drawn.
        left = max(0.0, float(chances @ (1 / numbers)) - 1 / self.number.launches)
        deviation_ns = float(np.sqrt(float(self.number.launches) ** 2 * float(of_launches[0]) * left))
        return self.target.z * deviation_ns / float(np.dot(strata.launches, strata.mean_ns))

    def _quantile(self, *, with_noise: bool = False, group: int | None = None) -> float:
        """Return 0: draws of one size show nothing of those of another."""
        del with_noise, group
        return 0.0
