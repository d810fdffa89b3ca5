"""What was simulated of a plan: strata, launches and their metrics, as arrays.

Means and sums of squares of a sample, stratum by stratum: all that its estimates are made of.

The arrays of the sample may have axes before the strata's: many draws of one plan are then estimated at once.


The interval of a simulated total: what was declared, times one factor that the sample tells.

A plan declares how simulated cycles per profiled nanosecond vary: by kappa within a stratum (noise floor),
and from kernel to kernel (kernel spread), which a pooled stratum has too. So each of the strata i has a
declared variance V before anything was simulated. Where a spread can be seen, in strata simulated twice and
between strata of one launch of one kernel group, it moves all of them by one factor f. (this project;
docs/methods.md, 11 Back from the simulator)

    V_i = Y_i^2 (1/m_i - 1/N_i) kappa_i^2;   q_i = sum (residuals)^2 / (d_i y_i^2),  d_i = m_i - 1
    p = sum_seen V / sum V                          the share of the variance where something was seen
    r = sum_seen V q/kappa^2 / sum_seen V           what was seen there over what was declared
    d = (sum_seen V)^2 / sum_seen (V V*/d_i)        Satterthwaite's; V* is V, or the sum of those that share q
    f = (4 + D r) / (4 + D),  D = p d               the declared counts for 4 degrees of freedom
    total +- t_nu sqrt(f sum V),  nu = (4 + D)/2    halved: kernels differ, and sampling stops when narrow

Where r d is above the 99th percentile of chi-squared with d degrees of freedom the declared is refuted, and
what was seen counts as it was seen: f = max(f, p r + (1 - p) f). Nothing seen is the declared variance with
t_2; all seen often is the plain variance of the strata with Satterthwaite's degrees.


Ratios of totals: IPC, miss rates, and one configuration against another on the same launches.

A ratio's uncertainty is that of u = a - R b: what the two share cancels. Never a mean of the kernels' own
ratios, which is biased. (docs/methods.md, 11 Back from the simulator)


From a sample to a total with its interval: what a command asks for.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.strata.strata import DECLARED_FREEDOM
from sampling.text import counted


@dataclass(frozen=True, eq=False)
class Sample:
    """The simulated launches of a plan's strata.

    Attributes
    ----------
    launches : (s,) N, how many launches each stratum has.
    mean_x : (s,) mean profile duration of all of them, nanoseconds.
    group : (s,) number of the stratum's kernel group; the strata of a pool share one.
    declared : (s,) the variance of the metric per profiled nanosecond that is declared within the stratum,
        relative to its square.
    stratum : (n,) of each simulated launch.
    x : (n,) its profile duration, nanoseconds.
    y : (n, k) its metrics, each in its own unit; NaN where a metric is not known.
    metrics : (k,) their names.
    planned : (s,) how many launches of each stratum the plan asks for; None: those that are there.

    Raises
    ------
    OptionError : arrays that do not fit each other, or more launches of a stratum than it has.
    """

    launches: IntArray
    mean_x: FloatArray
    group: IntArray
    declared: FloatArray
    stratum: IntArray
    x: FloatArray
    y: FloatArray
    metrics: tuple[str, ...]
    planned: IntArray | None = None

    def __post_init__(self) -> None:
        strata, rows = len(self.launches), len(self.stratum)
        planned = strata if self.planned is None else len(self.planned)
        if {len(self.mean_x), len(self.group), len(self.declared), planned} != {strata}:
            raise OptionError("the strata of a sample have columns of different lengths")
        if len(self.x) != rows or self.y.shape != (rows, len(self.metrics)):
            raise OptionError("the launches of a sample have columns of different lengths")
        if rows and not (self.stratum.min() >= 0 and self.stratum.max() < strata):
            raise OptionError("a simulated launch names a stratum that the sample does not have")
        if (self.samples > self.launches).any():
            raise OptionError("a stratum has more simulated launches than it has launches")

    @cached_property
    def samples(self) -> IntArray:
        """(s,) how many launches of each stratum were simulated."""
        return np.bincount(self.stratum, minlength=len(self.launches))

    @cached_property
    def total_x(self) -> float:
        """The profile duration of all launches, nanoseconds."""
        return float(np.dot(self.launches, self.mean_x))

    def values(self, metric: str) -> FloatArray:
        """Return (n,) a metric of every simulated launch, NaN where it is not known.

        Raises
        ------
        OptionError : there is no such metric.
        """
        if metric not in self.metrics:
            raise OptionError(f"no metric {metric!r}; there are {', '.join(self.metrics)}")
        return np.asarray(self.y[:, self.metrics.index(metric)])

    def known(self, *metrics: str) -> Sample:
        """Return the sample of the launches that have all of some metrics, and these alone."""
        y = np.stack([self.values(metric) for metric in metrics], axis=1)
        rows = ~np.isnan(y).any(axis=1)
        planned = self.samples if self.planned is None else self.planned
        return replace(
            self, stratum=self.stratum[rows], x=self.x[rows], y=y[rows], metrics=metrics, planned=planned
        )

    def of_strata(self, strata: BoolArray) -> Sample:
        """Return the sample of some strata (s,), numbered anew."""
        rows = strata[self.stratum]
        return replace(
            self,
            launches=self.launches[strata],
            mean_x=self.mean_x[strata],
            group=self.group[strata],
            declared=self.declared[strata],
            stratum=(np.cumsum(strata) - 1)[self.stratum[rows]],
            x=self.x[rows],
            y=self.y[rows],
            planned=None if self.planned is None else self.planned[strata],
        )


# Below these shares of what it is made of, a sum of squared residuals is rounding.
_CANCELLED = 1e-13
_EQUAL = 1e-12


# Its figures are computed when they are first asked for, and kept.
@dataclass(frozen=True, eq=False)
class Moments:
    """Strata with at least one simulated launch each.

    Attributes
    ----------
    launches, mean_x, group, declared : (s,) as in `Sample`.
    samples : (..., s) m, how many launches were simulated.
    x, y : (..., s) means of the simulated launches' durations and metric.
    xx, xy, yy : (..., s) sums of products of the deviations from these means.
    """

    launches: FloatArray
    mean_x: FloatArray
    group: IntArray
    declared: FloatArray
    samples: FloatArray
    x: FloatArray
    y: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: FloatArray

    @cached_property
    def left_out(self) -> FloatArray:
        """(..., s) 1/m - 1/N; 0 for a stratum simulated whole."""
        return np.asarray((self.launches - self.samples) / (self.launches * self.samples))

    @cached_property
    def is_open(self) -> BoolArray:
        """(..., s) whether some launches of the stratum were left out."""
        return np.asarray(self.left_out > 0)

    @cached_property
    def is_single(self) -> BoolArray:
        """(..., s) whether one launch of several was simulated."""
        return np.asarray(self.is_open & (self.samples == 1))

    @cached_property
    def ratio(self) -> FloatArray:
        """(..., s) metric per profiled nanosecond, ybar/xbar; 0 where xbar = 0."""
        return np.divide(self.y, self.x, out=np.zeros(self.y.shape), where=self.x > 0)

    @cached_property
    def replicates(self) -> FloatArray:
        """(..., s) m - 1: the degrees of freedom of the stratum's own spread."""
        return np.asarray(self.samples - 1)

    def of_strata(self, strata: IntArray) -> Moments:
        """Return the moments of some strata."""
        return Moments(*(getattr(self, field.name)[..., strata] for field in fields(self)))

    def totals(self, b: FloatArray | float) -> FloatArray:
        """Return (..., s) N ybar (1 + b (Xbar/xbar - 1)); b = 0 is the expansion, b = 1 the ratio estimate.

        Parameters
        ----------
        b : broadcast to (..., s).
        """
        growth = np.divide(self.mean_x, self.x, out=np.ones(self.x.shape), where=self.x > 0) - 1
        return np.asarray(self.launches * self.y * (1 + b * growth))

    def residual_squares(self, b: FloatArray | float) -> FloatArray:
        """Return (..., s) the sum of (d - b z)^2, d = y - ybar and z = (ybar/xbar)(x - xbar)."""
        slope = b * self.ratio
        squares = self.yy - 2 * slope * self.xy + slope**2 * self.xx
        rounding = _CANCELLED * (self.yy + slope**2 * self.xx) + self.samples * (_EQUAL * self.y) ** 2
        return np.asarray(np.where(squares > rounding, squares, 0.0))


def moments(sample: Sample, metric: str) -> Moments:
    """Return the moments of a metric; every stratum must have a launch whose metric is known."""
    return moments_of(sample, sample.values(metric))


def moments_of(sample: Sample, y: FloatArray) -> Moments:
    """Return the moments of any numbers (n,) of the simulated launches, none of them NaN."""
    m = sample.samples.astype(np.float64)

    def sums(values: FloatArray) -> FloatArray:
        return np.bincount(sample.stratum, values, minlength=len(m)).astype(np.float64)

    x_mean, y_mean = sums(sample.x) / m, sums(y) / m
    dx, dy = sample.x - x_mean[sample.stratum], y - y_mean[sample.stratum]
    return Moments(
        sample.launches.astype(np.float64),
        sample.mean_x,
        sample.group,
        sample.declared,
        m,
        x_mean,
        y_mean,
        sums(dx * dx),
        sums(dx * dy),
        sums(dy * dy),
    )


# Chance shows so much more than was declared in one sample of a hundred.
_CHANCE = 0.01
# Beyond this t is the normal quantile to more digits than any interval has.
_MANY = 1e9


@dataclass(frozen=True, eq=False, slots=True)
class Interval:
    """How far a total may be off, and what moved the factor.

    Attributes
    ----------
    of_stratum : (..., s) each stratum's part of the variance, f V.
    degrees_of_freedom : (...,) nu; inf for a census, NaN where a total of 0 tells nothing of what is left.
    factor : (...,) f.
    variance_ratio : (...,) r, the variance seen over the one declared; 1 where nothing was seen.
    seen_freedom : (...,) D, the degrees of freedom seen times the share of the variance that they are of.
    share_seen : (...,) p, the share of the declared variance that was seen at least twice.
    exceeds : (...,) whether more was seen than was declared and chance explains, one time in a hundred.
    """

    of_stratum: FloatArray
    degrees_of_freedom: FloatArray
    factor: FloatArray
    variance_ratio: FloatArray
    seen_freedom: FloatArray
    share_seen: FloatArray
    exceeds: BoolArray

    def half_width(self, confidence: float) -> FloatArray:
        """Return (...,) t times the standard deviation; NaN where there is no interval."""
        width = student_t(confidence, self.degrees_of_freedom) * np.sqrt(self.of_stratum.sum(axis=-1))
        return np.asarray(width)


@dataclass(frozen=True, eq=False, slots=True)
class Spreads:
    """Relative spreads, declared and seen, of the strata of a total; arrays (..., s).

    Attributes
    ----------
    unit : Y^2 (1/m - 1/N), Y the stratum's total: the variance that a relative spread of 1 would give.
    declared : kappa^2.
    seen : q; 0 where nothing was seen.
    freedom : d; 0 where nothing was seen.
    is_open : whether launches of the stratum were left out.
    single : whether one launch of it was simulated: these share one spread with those of their kernel group.
    code : (s,) the kernel group's number, from 0.
    """

    unit: FloatArray
    declared: FloatArray
    seen: FloatArray
    freedom: FloatArray
    is_open: BoolArray
    single: BoolArray
    code: IntArray

    def of_group(self, group: int) -> Spreads:
        """Return the spreads with the variance of one group alone, by its number in `code`."""
        here = self.code == group
        return replace(self, unit=np.where(here, self.unit, 0.0), is_open=self.is_open & here)

    def towards(self, factor: FloatArray, lent: float) -> FloatArray:
        """Return (..., s) (d q + lent f kappa^2) / (d + lent): each stratum's own spread and the factor's."""
        common = np.asarray(factor)[..., np.newaxis] * self.declared
        return np.asarray((self.freedom * self.seen + lent * common) / (self.freedom + lent))


def spreads_of_totals(moments: Moments) -> Spreads:
    """Return the spreads about the ratio of the metric to durations: residuals y - R x, R = sum y / sum x."""
    code = np.unique(moments.group, return_inverse=True)[1]
    count, sums = (_over_groups(moments.is_single * by, code) for by in (1.0, moments.ratio))
    relative = np.divide(moments.ratio * count, sums, out=np.ones(np.shape(sums)), where=sums > 0)
    return spreads(moments, moments.totals(1.0), moments.y, moments.residual_squares(1.0), relative)


def spreads(
    moments: Moments, totals: FloatArray, size: FloatArray, squares: FloatArray, relative: FloatArray
) -> Spreads:
    """Return what was declared and seen of the spread in each stratum; all arrays (..., s).

    Parameters
    ----------
    totals : of the strata; their variance is declared.
    size : the mean that residuals are relative to.
    squares : sums of squared residuals of the strata.
    relative : what strata of one launch of one kernel group are compared by, as a share of what it is of.
    """
    code, single = np.unique(moments.group, return_inverse=True)[1], moments.is_single
    count = _over_groups(single * 1.0, code)
    off = relative - _over_groups(single * relative, code) / np.maximum(count, 1)
    between = _over_groups(single * off**2, code)
    freedom = np.where(single, np.maximum(count - 1, 0), moments.replicates) * (size > 0)
    own = np.divide(squares, size**2, out=np.zeros(np.shape(squares)), where=size > 0)
    seen = np.where(single, between, own) / np.maximum(freedom, 1) * (freedom > 0)
    unit = totals**2 * moments.left_out
    return Spreads(unit, moments.declared, seen, freedom, moments.is_open, single, code)


def interval(spread: Spreads, centre: FloatArray | float = 1.0) -> Interval:
    """Return the interval of the sum over strata.

    Parameters
    ----------
    centre : (...,) what the factor is drawn towards: for one kernel group's total, the factor of the whole.
    """
    from scipy.special import chdtri

    has_freedom = spread.freedom > 0
    declared = spread.unit * spread.declared
    known = np.where(has_freedom, declared, 0.0)
    shared = np.where(spread.single, _over_groups(spread.single * known, spread.code), known)
    all_declared, all_known = declared.sum(axis=-1), known.sum(axis=-1)
    doubt = (known * shared / np.maximum(spread.freedom, 1)).sum(axis=-1)
    freedom = _divided(all_known**2, doubt, 0.0)
    ratio = _divided((has_freedom * spread.unit * spread.seen).sum(axis=-1), all_known, 1.0)
    share = _divided(all_known, all_declared, 1.0)
    behind = share * freedom
    factor = (DECLARED_FREEDOM * centre + behind * ratio) / (DECLARED_FREEDOM + behind)
    exceeds = (freedom > 0) & (ratio * freedom > chdtri(np.maximum(freedom, 1e-9), _CHANCE))
    factor = np.where(exceeds, np.maximum(factor, share * ratio + (1 - share) * factor), factor)
    without = np.where(spread.is_open.any(axis=-1), np.nan, np.inf)
    nu = np.where(all_declared > 0, (DECLARED_FREEDOM + behind) / 2, without)
    parts = np.asarray(factor)[..., np.newaxis] * declared
    return Interval(parts, nu, factor, ratio, behind, share, np.asarray(exceeds))


def student_t(confidence: float, degrees_of_freedom: FloatArray) -> FloatArray:
    """Return the two-sided quantile of Student's t for any positive degrees of freedom, inf among them."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.minimum(degrees_of_freedom, _MANY), 0.5 + confidence / 2))


def _over_groups(values: ArrayLike, code: IntArray) -> FloatArray:
    """Return (..., s) for each stratum the sum over the strata of its kernel group."""
    values = np.asarray(values, dtype=np.float64)
    if not values.any():
        return np.zeros(values.shape)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1)[..., code])


def _divided(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    above, below = np.broadcast_arrays(above, below)
    return np.asarray(np.divide(above, below, out=np.full(below.shape, otherwise), where=below > 0))


#: From so many times the residual variance without durations on, a metric does not follow them.
CLEARLY_WORSE = 9.0


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A ratio of two totals.

    Attributes
    ----------
    ratio : R.
    half_width : None where there is no interval; 0 where both totals are exact.
    degrees_of_freedom : None where there is no interval; inf where both totals are exact.
    """

    ratio: float
    half_width: float | None
    degrees_of_freedom: float | None

    @property
    def low(self) -> float | None:
        """The lower end."""
        return None if self.half_width is None else self.ratio - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end."""
        return None if self.half_width is None else self.ratio + self.half_width


def ratio_of_totals(sample: Sample, numerator: str, denominator: str, confidence: float) -> RatioEstimate:
    """Return the ratio R = A/B of the totals of two metrics, such as misses and accesses.

    Both use the durations of all launches as far as they follow them. Residuals are u = a - R b, relative to
    R b; they are declared to vary as cycles per nanosecond are.

    Parameters
    ----------
    sample : a launch in every stratum, with both metrics known.

    Raises
    ------
    AnalysisError : the denominator's total is not above 0.
    """
    a, b = (calibrated(sample, sample.values(metric)) for metric in (numerator, denominator))
    weight = (sample.launches / np.maximum(sample.samples, 1))[sample.stratum]
    total_b = float(np.dot(weight, b))
    if not total_b > 0:
        raise AnalysisError("a ratio has a denominator whose total is 0")
    ratio = float(np.dot(weight, a)) / total_b
    u, size = moments_of(sample, a - ratio * b), abs(ratio) * moments_of(sample, b).y
    relative = np.divide(u.y, size, out=np.zeros(size.shape), where=size > 0)
    found = interval(spreads(u, u.launches * size, size, u.yy, relative))
    half_width, nu = float(found.half_width(confidence)) / total_b, float(found.degrees_of_freedom)
    return RatioEstimate(ratio, *((None, None) if np.isnan(nu) else (half_width, nu)))


def calibrated(sample: Sample, y: FloatArray) -> FloatArray:
    """Return (n,) a metric as it would be if every launch lasted as long as its stratum's mean.

    That is for a metric that follows durations: their expansion is the total by the ratio estimator. One
    whose residuals say clearly that it does not, such as instructions that are the same in every launch,
    stays as it is. Whether it follows is decided for all strata at once, for few launches tell little.
    """
    made = moments_of(sample, y)
    w = made.launches**2 * made.left_out / np.maximum(made.replicates, 1)
    with_durations, without = (float((w * made.residual_squares(b)).sum()) for b in (1.0, 0.0))
    if with_durations > CLEARLY_WORSE * without:
        return y
    off = made.ratio[sample.stratum] * (sample.x - made.x[sample.stratum])
    return np.asarray(y - off + (made.totals(1.0) / made.launches - made.y)[sample.stratum])


@dataclass(frozen=True, slots=True)
class Seen:
    """What the sample says of the spread that the plan declared.

    Attributes
    ----------
    variance_ratio : the variance seen over the one declared; 1 where nothing was seen.
    degrees_of_freedom : behind it, times the share of the variance that they are of; 0: nothing was seen.
    share : how much of the declared variance was seen at least twice.
    declared_share : how much of the interval rests on what was declared.
    exceeds : whether more was seen than was declared and chance explains, one time in a hundred.
    """

    variance_ratio: float
    degrees_of_freedom: float
    share: float
    declared_share: float
    exceeds: bool


# Two estimates are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Estimate:
    """A total over all launches, estimated from the simulated ones.

    Attributes
    ----------
    metric : what it is a total of.
    total : of the strata that have a simulated launch: of a part where some have none; NaN where that part
        is withheld, see `withheld`.
    low, high : the interval; None where there is none. Both are the total where nothing was left out.
    confidence : of the interval.
    degrees_of_freedom : of its variance; None where there is no interval, inf where it is exact.
    stratum_total, stratum_variance : (s,) parts of the total and its variance; NaN and 0 where emptied.
    emptied : (e,) strata that the plan samples and that have no simulated launch.
    share_missing : the share of profile time that these stand for; more than 0 makes the total incomplete.
    launches_missing : launches of the plan without this metric.
    seen : what the sample says of the declared spread; None where there is no interval, or no launch was
        left out.
    notes : what the user should know of it.
    """

    metric: str
    total: float
    low: float | None
    high: float | None
    confidence: float
    degrees_of_freedom: float | None
    stratum_total: FloatArray
    stratum_variance: FloatArray
    emptied: IntArray
    share_missing: float
    launches_missing: int
    seen: Seen | None
    notes: tuple[str, ...]

    @property
    def is_incomplete(self) -> bool:
        """Whether some strata are not in the total."""
        return len(self.emptied) > 0

    @property
    def half_width(self) -> float | None:
        """Of the interval, in the metric's unit."""
        return None if self.high is None else self.high - self.total

    def withheld(self) -> Estimate:
        """Return the same without a total where it would be one of a part."""
        if not self.is_incomplete:
            return self
        return replace(self, total=np.nan, low=None, high=None, degrees_of_freedom=None, seen=None)

    def is_within(self, epsilon: float) -> bool:
        """Return whether the total is complete and its interval at most epsilon of it to either side."""
        half_width = self.half_width
        return (
            half_width is not None
            and not self.is_incomplete
            and half_width <= epsilon * self.total * (1 + 1e-12)
        )


def estimate(
    sample: Sample, metric: str, confidence: float = 0.95, *, topped_up_to: float | None = None
) -> Estimate:
    """Return the total of a metric over all launches, by the ratio estimator, with its interval.

    Parameters
    ----------
    sample : launches whose metric is NaN count as missing; their stratum is weighted anew.
    confidence : a fraction.
    topped_up_to : the epsilon until which the sample was topped up, if it was: its interval is no narrower,
        for sampling stopped where it was narrow, which is partly chance.

    Raises
    ------
    OptionError : there is no such metric.
    AnalysisError : no launch has the metric.
    """
    made = fitted(sample, metric)
    return _estimate(made, metric, confidence, interval(made.spreads), topped_up_to)


def estimate_groups(sample: Sample, metric: str, confidence: float = 0.95) -> dict[int, Estimate]:
    """Return the estimate of each kernel group's own total, by its number in `Sample.group`.

    What a group shows is drawn towards what the whole sample shows. Groups without a launch that has the
    metric are left out.

    Raises
    ------
    OptionError, AnalysisError : as `estimate`.
    """
    made = fitted(sample, metric)
    whole, estimates = interval(made.spreads).factor, {}
    for code, group in enumerate(np.unique(made.moments.group).tolist()):
        strata, inside = made.known.group == group, np.flatnonzero(made.moments.group == group)
        of_group = _Fitted(
            made.known.of_strata(strata),
            made.there[strata],
            made.moments.of_strata(inside),
            made.spreads.of_group(code),
        )
        found = interval(of_group.spreads, whole)
        found = replace(found, of_stratum=found.of_stratum[inside])
        estimates[group] = _estimate(of_group, metric, confidence, found, None)
    return estimates


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The launches that have a metric, the strata that have such a launch, their moments and spreads."""

    known: Sample
    there: BoolArray
    moments: Moments
    spreads: Spreads

    @property
    def planned(self) -> IntArray:
        """(s,) how many launches of each stratum the plan asks for."""
        return self.known.samples if self.known.planned is None else self.known.planned


def fitted(sample: Sample, metric: str) -> _Fitted:
    known = sample.known(metric)
    there = known.samples > 0
    if not there.any():
        raise AnalysisError(f"no simulated launch of the plan has the metric {metric}")
    made = moments(known.of_strata(there), metric)
    return _Fitted(known, there, made, spreads_of_totals(made))


def _estimate(
    made: _Fitted, metric: str, confidence: float, found: Interval, topped_up_to: float | None
) -> Estimate:
    known, totals, nu = made.known, made.moments.totals(1.0), float(found.degrees_of_freedom)
    total, half_width = float(totals.sum()), float(found.half_width(confidence))
    if topped_up_to is not None and half_width > 0:
        half_width = max(half_width, topped_up_to * total)
    is_known, emptied = not np.isnan(nu), np.flatnonzero(~made.there)
    missing_x = float(np.dot(known.launches[emptied], known.mean_x[emptied]))
    share = missing_x / known.total_x if known.total_x else 0.0
    missing = int(np.maximum(made.planned - known.samples, 0).sum())
    return Estimate(
        metric,
        total,
        max(0.0, total - half_width) if is_known else None,
        total + half_width if is_known else None,
        confidence,
        nu if is_known else None,
        _spread_out(totals, made.there, np.nan),
        _spread_out(found.of_stratum, made.there, 0.0),
        emptied,
        share,
        missing,
        _seen(found) if np.isfinite(nu) else None,
        tuple(_notes(is_known, missing, len(emptied), share)),
    )


def _seen(found: Interval) -> Seen:
    behind = float(found.seen_freedom)
    ratio, share = float(found.variance_ratio), float(found.share_seen)
    return Seen(ratio, behind, share, DECLARED_FREEDOM / (DECLARED_FREEDOM + behind), bool(found.exceeds))


def _spread_out(values: FloatArray, there: BoolArray, missing: float) -> FloatArray:
    of_all = np.full(len(there), missing)
    of_all[there] = values
    return of_all


def _notes(is_known: bool, missing: int, emptied: int, share: float) -> list[str]:
    notes = []
    if not is_known:
        notes.append("no interval: a total of 0 says nothing of the launches that were left out")
    if missing:
        launches = counted(missing, "launch", "launches")
        notes.append(f"{launches} of the plan without a result; the others of their strata weigh more")
    if emptied:
        notes.append(
            f"incomplete: {counted(emptied, 'stratum', 'strata')} without any result, "
            f"{100 * share:.3g} % of the profile's time"
        )
    return notes
