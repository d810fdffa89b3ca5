"""Strata of launches: their moments, the variance of an estimated total, and the bound on its error.

Without more a bound covers PROFILE time, the durations that the plan was made from. How simulated cycles may
depart from them is declared: cycles per profiled nanosecond vary by ``within`` between the launches of a
kernel, and by ``between`` from kernel group to kernel group. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts, range_std_ns
from sampling.reduction.plan_groups import PlanGroups
from sampling.strata.satterthwaite import PRIOR_DF, replicate_df, satterthwaite, student_t
from sampling.strata.target import Target, normal_quantile

#: The group of a stratum that spans the whole workload.
WHOLE_WORKLOAD = -1
#: What launches of several signatures (name, grid, block) add to the spread of cycles within a stratum.
OF_SEVERAL_SIGNATURES = 0.1
#: What a result starts from at least, within and between kernel groups, whatever was declared.
LEAST_SPREADS = (0.02, 0.3)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Ranges of a reduction's pairs; all arrays of one shape, of strata (s,)."""

    #: Index of the kernel group or pool, or WHOLE_WORKLOAD; clusters of a group stand together.
    group: IntArray
    #: The pairs ``start:stop`` of the reduction.
    start: IntArray
    stop: IntArray
    #: N, how many launches there are; mean and population standard deviation of their durations.
    launches: IntArray
    mean_ns: FloatArray
    std_ns: FloatArray

    @property
    def group_offsets(self) -> IntArray:
        """(groups + 1,) clusters of each group that occurs."""
        first = np.flatnonzero(np.append(True, self.group[1:] != self.group[:-1]))
        return np.append(first, len(self.group))

    def rows(self, mask: BoolArray | slice | int) -> Clusters:
        """Return some of the clusters, one after the other."""
        group, start, stop, launches = (
            column[mask].ravel() for column in (self.group, self.start, self.stop, self.launches)
        )
        return Clusters(group, start, stop, launches, self.mean_ns[mask].ravel(), self.std_ns[mask].ravel())

    def with_samples(self, samples: IntArray, *, notes: tuple[str, ...] = ()) -> Strata:
        """Return the strata."""
        moments = self.launches, self.mean_ns, self.std_ns
        return Strata(self.group, self.start, self.stop, *moments, samples, notes)


@dataclass(frozen=True, slots=True)
class Strata(Clusters):
    """Clusters that together hold every launch, with how many launches to draw from each."""

    #: m, 1 <= m <= N.
    samples: IntArray
    #: What the user should know of how these came about.
    notes: tuple[str, ...] = ()
    #: What every stratum gets at least, if it is that large.
    least_samples: int = 1
    #: The groups whose pairs these are, where some kernel groups are pooled; None: kernel groups.
    groups: PlanGroups | None = None
    #: The probability by which each launch is drawn, of which ``samples`` is one outcome; None where sizes do
    #: not depend on chance.
    chance: float | None = None

    def __len__(self) -> int:
        return len(self.group)

    @property
    def sampled_duration_ns(self) -> float:
        """The expected duration of the drawn launches, sum of m mu (STEM+ROOT's tau)."""
        return float(np.dot(self.samples, self.mean_ns))


def measured_clusters(counts: DurationCounts, group: IntArray, start: IntArray, stop: IntArray) -> Clusters:
    """Return the clusters that are the ranges ``start[i]:stop[i]`` of pairs, of any one shape."""
    launches = counts.launches_before[stop] - counts.launches_before[start]
    time_ns = counts.time_before_ns[stop] - counts.time_before_ns[start]
    std_ns = range_std_ns(counts, start.ravel(), stop.ravel()).reshape(start.shape)
    return Clusters(group, start, stop, launches, time_ns / launches, std_ns)


def sample_variance(launches: IntArray, std_ns: FloatArray) -> FloatArray:
    """Return S^2 = sigma^2 N / (N - 1), the variance that sampling without replacement sees; 0 if N = 1."""
    return std_ns**2 * (launches / np.maximum(launches - 1, 1))


def spread(launches: IntArray, variance: FloatArray) -> FloatArray:
    """Return N^2 S^2 of clusters with a variance S^2, 0 where N = 1, which is always simulated whole."""
    return np.where(launches > 1, launches.astype(np.float64) ** 2 * variance, 0.0)


def finite_population_factor(samples: IntArray | FloatArray, launches: IntArray | FloatArray) -> FloatArray:
    """Return 1/m - 1/N, without the digits that the difference would lose where m is close to N."""
    return np.asarray((launches - samples) / (launches.astype(np.float64) * samples))


def total_variance(strata: Strata, variance: FloatArray | None = None) -> FloatArray:
    """Return (s,) each stratum's part of the variance of the estimated total, ns^2: N^2 (1 - m/N) S^2/m.

    S^2 is ``variance`` (s,), or else that of the durations.
    """
    launches = strata.launches
    if variance is None:
        variance = sample_variance(launches, strata.std_ns)
    left = 1 - strata.samples / launches
    return launches.astype(np.float64) ** 2 * left * variance / strata.samples


def bound(strata: Strata, confidence: float, variance: FloatArray | None = None) -> float:
    """Return the a-priori bound on |estimate - total| / total: z sqrt(sum of variances) / sum N mu."""
    total_ns = float(np.dot(strata.launches, strata.mean_ns))
    of_total = float(total_variance(strata, variance).sum())
    return normal_quantile(confidence) * float(np.sqrt(of_total)) / total_ns if total_ns else 0.0


def group_bounds(strata: Strata, confidence: float, variance: FloatArray | None = None) -> FloatArray:
    """Return the bound of each group's own total, groups in the order of their strata."""
    first = strata.group_offsets[:-1]
    variance = np.add.reduceat(total_variance(strata, variance), first)
    total_ns = np.add.reduceat(strata.launches * strata.mean_ns, first)
    deviation_ns = normal_quantile(confidence) * np.sqrt(variance)
    return np.divide(deviation_ns, total_ns, out=np.zeros(len(first)), where=total_ns > 0)


#: What the ratios of a launch's cycles on two configurations vary by where these are much alike.
SIMILAR_SPREAD = 0.02


@dataclass(frozen=True, eq=False)
class CycleSpread:
    """How cycles per profiled nanosecond are declared to vary, for the groups of a plan."""

    #: Coefficients of variation, of launches of one kernel group and of kernel groups.
    within: float
    between: float
    #: (groups + 1,) whether the strata of a group span kernel groups; the last is that of the whole workload.
    spans_kernels: BoolArray
    #: (groups + 1,) what ``between`` makes of the variance that a group's total has, over the square of the
    #: simulated total.
    scale: FloatArray
    #: The launches, by the groups of the plan: which ranges of them have several signatures.
    counts: DurationCounts

    def within_squared(self, start: IntArray, stop: IntArray) -> FloatArray:
        """Return the square of the declared spread within each range ``start[i]:stop[i]`` of pairs."""
        several = self.counts.pair_signatures.are_several(start, stop)
        return np.asarray(self.within**2 + several * OF_SEVERAL_SIGNATURES**2, dtype=np.float64)

    def variance(self, clusters: Clusters) -> FloatArray:
        """Return S^2 of simulated time in ranges of pairs; the arrays are broadcast.

        S^2 = scale (s^2 + (within mu)^2 + between^2 (mu^2 + sigma^2)), the last only in strata that span
        kernels: each launch's duration is multiplied by its kernel's cycles per nanosecond. Where launches
        have several signatures, within^2 is 0.1^2 more.
        """
        group, mean_ns, std_ns = clusters.group, clusters.mean_ns, clusters.std_ns
        between = np.where(self.spans_kernels[group], self.between**2, 0.0) * (mean_ns**2 + std_ns**2)
        noise = self.within_squared(clusters.start, clusters.stop) * mean_ns**2
        of_launches = sample_variance(clusters.launches, std_ns) + noise
        return np.asarray(self.scale[group] * (of_launches + between))

    def of_own_totals(self) -> CycleSpread:
        """Return the spread about each group's own simulated total, which its kernel's cycles cancel from."""
        return replace(self, scale=np.ones(len(self.scale)))


def declared_spread(groups: PlanGroups, target: Target) -> CycleSpread:
    """Return what a target declares, from each kernel group's share of the time and the plan's group of each.

    With c_g the cycles per nanosecond of kernel group g, mean 1 and coefficient of variation k, w_g its share
    of the time and V_g its variance, the relative variance of the total is sum c_g^2 V_g / (sum c_g w_g)^2.
    To second order its mean is sum V_g (1 + k^2 (1 - 4 w_g + 3 sum_h w_h^2)); never less than 1 is used, and
    w_g of a pool's kernels is next to nothing.
    """
    share = groups.kernel_duration_ns / max(groups.counts.total_duration_ns, 1)
    group_of, is_pool = groups.group_of, groups.is_pool
    squared = target.kernel_spread**2
    of_all = 1 + 3 * squared * float(np.dot(share, share))
    scale = np.full(len(is_pool) + 1, of_all)
    has_own = ~is_pool[group_of]
    scale[group_of[has_own]] = np.maximum(of_all + squared * (1 - 4 * share[has_own]), 1.0)
    return CycleSpread(
        target.noise_floor, target.kernel_spread, np.append(is_pool, True), scale, groups.counts
    )


def starting_spreads(target: Target) -> tuple[float, float]:
    """Return the spreads within and between kernel groups that an interval starts from."""
    least_within, between = LEAST_SPREADS
    return max(target.noise_floor, least_within), max(target.kernel_spread, between)


def counter_variance(df: FloatArray | float, squares: FloatArray | float = 0.0) -> FloatArray:
    """Return s^2 = (4 k^2 + sum d q) / (4 + sum d), by what a counter is taken to vary in any stratum.

    ``df`` and ``squares`` are the sums of d and d q over strata: degrees of freedom, and squared
    coefficients of variation that were seen. k, where nothing was, is how cycles vary between kernels.
    """
    return np.asarray((PRIOR_DF * LEAST_SPREADS[1] ** 2 + squares) / (PRIOR_DF + df))


def expected_half_width(
    strata: Strata, cycles: CycleSpread, confidence: float, paired_spread: float | None = None
) -> float:
    """Return the half-width, over the total, of the interval from simulated values that vary as declared.

    ``paired_spread``: that of log R of two totals instead, where the launches' own ratios vary by so much.
    """
    # All pools tell one spread together, as they do when results come.
    is_pool = cycles.spans_kernels[strata.group]
    group = np.unique(np.where(is_pool, len(cycles.scale), strata.group), return_inverse=True)[1]
    declared = cycles.within_squared(strata.start, strata.stop) + np.where(is_pool, cycles.between**2, 0.0)
    if paired_spread is not None:
        declared = np.full(len(declared), paired_spread**2)
    return half_width_as_declared(
        strata.launches, strata.samples, strata.mean_ns, group, declared, confidence
    )


def half_width_as_declared(
    launches: IntArray,
    samples: IntArray,
    mean_ns: FloatArray,
    group: IntArray,
    declared: FloatArray,
    confidence: float,
) -> float:
    """Return the half-width, over the total, from strata (s,) whose values vary by ``declared`` kappa^2.

    It is the interval of `sampling.estimation.interval`, with the profile's time for cycles and f = 1; 0
    where nothing takes any time. (docs/methods.md, 11 Back from the simulator)
    """
    var = (launches * mean_ns) ** 2 * declared * finite_population_factor(samples, launches)
    is_single, df = replicate_df(var, launches, samples, mean_ns > 0, group)
    observed = satterthwaite(var, df, is_single, group)
    total_ns = float(np.dot(launches, mean_ns))
    t = float(student_t(confidence, (PRIOR_DF + observed.effective_df) / 2))
    return t * float(np.sqrt(observed.declared_var)) / total_ns if total_ns else 0.0


def least_sampled_ns(counts: DurationCounts, min_samples: int) -> FloatArray:
    """Return (groups,) the least time that a plan which visits a group samples of it: min(m_min, N) mu.

    Of strata with N_i launches each has min(m_min, N_i) >= min(m_min, N) N_i / N, so they take that together.
    """
    mean_ns = counts.group_duration_ns / counts.group_launches
    return np.asarray(np.minimum(min_samples, counts.group_launches) * mean_ns)
