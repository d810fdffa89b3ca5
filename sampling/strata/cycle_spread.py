"""How simulated cycles per profiled nanosecond are declared to vary: what a promise of the total allows for.

Cycles per nanosecond vary by ``within`` between the launches of a kernel, and by ``between`` from kernel
group to kernel group. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.plan_groups import PlanGroups
from sampling.strata.strata import Clusters, Strata
from sampling.strata.target import Target, student_quantile
from sampling.strata.variance import left_out, sample_variance

#: So many degrees of freedom the declared spreads count for, beside those that a sample shows.
DECLARED_FREEDOM = 4.0


@dataclass(frozen=True, eq=False)
class CycleSpread:
    """Declared coefficients of variation, for the groups of a plan.

    Attributes
    ----------
    within : of launches of one kernel group.
    between : of kernel groups.
    spans_kernels : (groups + 1,) whether the strata of a group span kernel groups. The last entry is that of
        strata of the whole workload, whose group is -1.
    scale : (groups + 1,) what ``between`` makes of the variance that a group's total has, over the square of
        the simulated total.
    """

    within: float
    between: float
    spans_kernels: BoolArray
    scale: FloatArray

    def variance(
        self, group: IntArray, launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray
    ) -> FloatArray:
        """Return S^2 of simulated time in strata; the arrays are broadcast.

        S^2 = scale (s^2 + (within mu)^2 + between^2 (mu^2 + sigma^2)), the last only in strata that span
        kernels: each launch's duration is multiplied by its kernel's cycles per nanosecond.
        """
        between = np.where(self.spans_kernels[group], self.between**2, 0.0)
        return np.asarray(
            self.scale[group]
            * (
                sample_variance(launches, std_ns)
                + (self.within * mean_ns) ** 2
                + between * (mean_ns**2 + std_ns**2)
            )
        )

    def of(self, strata: Strata | Clusters) -> FloatArray:
        """Return (s,) S^2 of simulated time in some strata."""
        return self.variance(strata.group, strata.launches, strata.mean_ns, strata.std_ns)

    def relative(self, group: IntArray) -> FloatArray:
        """Return (s,) the square of the spread that cycles per nanosecond have in strata of some groups."""
        return np.asarray(self.within**2 + np.where(self.spans_kernels[group], self.between**2, 0.0))

    def of_own_totals(self) -> CycleSpread:
        """Return the spread about each group's own simulated total, which its kernel's cycles cancel from."""
        return replace(self, scale=np.ones(len(self.scale)))


def expected_half_width(strata: Strata, cycles: CycleSpread, confidence: float) -> float:
    """Return the half-width, over the total, that the interval from simulated values will have.

    That is if cycles vary as declared: the interval of `sampling.estimation.interval`, with the profile's
    time for cycles and f = 1. (docs/methods.md, 11 Back from the simulator)
    """
    single = (strata.samples == 1) & (strata.launches > 1)
    # The strata of one launch of a kernel group tell one spread together, and so do those of all pools.
    pool = cycles.spans_kernels[strata.group]
    group = np.where(pool, len(cycles.scale), strata.group)
    of_group = np.bincount(group, single)[group]
    declared = (strata.launches * strata.mean_ns) ** 2 * cycles.relative(strata.group)
    declared *= left_out(strata.samples, strata.launches)
    freedom = np.where(single, of_group, strata.samples) - 1
    seen = np.where(freedom > 0, declared, 0)
    together = np.where(single, np.bincount(group, seen * single)[group], seen)
    doubt = float((seen * together / np.maximum(freedom, 1)).sum())
    variance, total_ns = float(declared.sum()), float(np.dot(strata.launches, strata.mean_ns))
    behind = float(seen.sum()) ** 3 / (doubt * variance) if doubt else 0.0
    t = student_quantile(confidence, (DECLARED_FREEDOM + behind) / 2)
    return t * float(np.sqrt(variance)) / total_ns if total_ns else 0.0


def declared_spread(groups: PlanGroups, target: Target) -> CycleSpread:
    """Return what a target declares, for the groups of a plan."""
    share = groups.kernel_duration_ns / max(groups.counts.total_duration_ns, 1)
    return cycle_spread(target, share, groups.group_of, groups.is_pool)


def cycle_spread(target: Target, share: FloatArray, group_of: IntArray, is_pool: BoolArray) -> CycleSpread:
    """Return what a target declares.

    Parameters
    ----------
    share : (kernel groups,) of the time.
    group_of : (kernel groups,) the plan's group that holds each.
    is_pool : (groups,) whether that is a pool.

    Notes
    -----
    With c_g the cycles per nanosecond of kernel group g, mean 1 and coefficient of variation k, w_g its share
    of the time and V_g its variance, the relative variance of the total is sum c_g^2 V_g / (sum c_g w_g)^2.
    To second order its mean is sum V_g (1 + k^2 (1 - 4 w_g + 3 sum_h w_h^2)); never less than 1 is used, and
    w_g of a pool's kernels is next to nothing.
    """
    squared = target.kernel_spread**2
    of_all = 1 + 3 * squared * float(np.dot(share, share))
    scale = np.full(len(is_pool) + 1, of_all)
    own = ~is_pool[group_of]
    scale[group_of[own]] = np.maximum(of_all + squared * (1 - 4 * share[own]), 1.0)
    return CycleSpread(
        within=target.noise_floor,
        between=target.kernel_spread,
        spans_kernels=np.append(is_pool, True),
        scale=scale,
    )
