"""From a sample of launches to a total, with its interval.

A plan declares how simulated cycles per profiled nanosecond vary: by kappa within a stratum (noise floor),
and from kernel to kernel (kernel spread), which a pooled stratum has too. Where a spread can be seen, in
strata simulated twice and between strata of one launch of one kernel group, it moves all declared variances
V by one factor f. (docs/methods.md, 11 Back from the simulator)

    V_i = Y_i^2 (1/m_i - 1/N_i) kappa_i^2;   q_i = sum (residuals)^2 / (d_i y_i^2),  d_i = m_i - 1
    p = sum_seen V / sum V                          the share of the variance where something was seen
    r = sum_seen V q/kappa^2 / sum_seen V           what was seen there over what was declared
    d = (sum_seen V)^2 / sum_seen (V V*/d_i)        Satterthwaite's; V* is V, or the sum of those that share q
    f = (4 + D r) / (4 + D),  D = p d               the declared counts for 4 degrees of freedom
    total +- t_nu sqrt(f sum V),  nu = (4 + D)/2    halved: kernels differ, and sampling stops when narrow

Where r d is above the 99th percentile of chi-squared with d degrees of freedom the declared is refuted, and
what was seen counts as it was seen: f = max(f, p r + (1 - p) f).

Launches that last alike need not count alike. A counter, which is anything but cycles and time, has

    kappa_i^2 + s^2 declared,   s^2 = (4 0.3^2 + sum d_i q_i) / (4 + sum d_i)     all strata alike
    (4 (kappa_i^2 + s^2) + d_i q_i) / (4 + d_i) for f kappa_i^2
    X_i sum Y / sum X for Y_i in V_i, where a stratum shows none of it

an empirical Bayes variance: strata whose launches are alike by chance are lent what the others show. It has
no interval where few launches may carry it, see `few_carry`. (docs/methods.md, 17 Counters of a profiler)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import NoMetricError, OptionError
from sampling.features.counters import TIMES
from sampling.features.metric_names import CYCLES as COUNTED_CYCLES
from sampling.record import Amount, Fraction, Record
from sampling.simulators.measured_run import CYCLES
from sampling.strata.satterthwaite import (
    PRIOR_DF,
    divide,
    exceeds_chi_squared,
    replicate_df,
    satterthwaite,
    student_t,
    sum_groups,
)
from sampling.strata.strata import counter_variance, finite_population_factor
from sampling.text import counted

#: What is said of launches that are missing
WITHOUT_RESULT = "of the plan without a result"
#: What launches that last alike take alike, the first of them first; all else is a counter
COSTS = (CYCLES, *TIMES, *COUNTED_CYCLES)
# Launches that vary by more than their mean are few that carry a stratum; they may be so much of a counter,
# and strata that show none of it so much of the time.
_UNEVEN, _MOST_UNEVEN, _MOST_WITHOUT = 1.0, 0.1, 0.5
# From so many times the residual variance without durations on, a metric does not follow them.
_CLEARLY_WORSE = 9.0
# Chance shows so much more than was declared in one sample of a hundred.
_CHANCE = 0.01
# Below these shares of what it is made of, a sum of squared residuals is rounding.
_CANCELLED, _EQUAL = 1e-13, 1e-12


@dataclass(frozen=True, eq=False)
class Sample:
    """What was simulated of a plan: strata (s,), and in them launches (n,)."""

    #: (s,) N, how many launches each stratum has, and the mean duration of all of them, ns.
    launches: IntArray
    mean_x: FloatArray
    #: (s,) number of the kernel group; the strata of all pools share one.
    group: IntArray
    #: (s,) kappa^2: how the metric per profiled ns is declared to vary within the stratum, over its square.
    declared: FloatArray
    #: (n,) stratum of each simulated launch, and its profile duration, ns.
    stratum: IntArray
    x: FloatArray
    #: (n, k) its metrics, each in its own unit; NaN where one is not known. (k,) their names.
    y: FloatArray
    metrics: tuple[str, ...]
    #: (s,) how many launches, or layers, the plan asks for.
    planned: IntArray
    #: (s,) how many launches of the plan one is, where several are drawn together, as those of a layer.
    of_unit: FloatArray | None = None
    #: Whether the one metric is a counter.
    is_counter: bool = False

    @cached_property
    def samples(self) -> IntArray:
        """(s,) how many launches of each stratum were simulated."""
        return np.bincount(self.stratum, minlength=len(self.launches))

    def count(self, numbers: IntArray) -> int:
        """Return how many launches so many (s,) of each stratum are, of layers those of their mean."""
        return round(float((numbers * (1 if self.of_unit is None else self.of_unit)).sum()))

    def part(self, strata: BoolArray, rows: BoolArray | None = None) -> Sample:
        """Return some strata (s,), and of the launches in them all, or some (n,)."""
        rows = strata[self.stratum] if rows is None else rows
        names = ("launches", "mean_x", "group", "declared", "planned")
        return replace(
            self,
            **{name: getattr(self, name)[strata] for name in names},
            of_unit=None if self.of_unit is None else self.of_unit[strata],
            stratum=(np.cumsum(strata) - 1)[self.stratum[rows]],
            x=self.x[rows],
            y=self.y[rows],
        )

    def values(self, metric: str) -> FloatArray:
        """Return (n,) a metric of every simulated launch; OptionError where there is none."""
        if metric not in self.metrics:
            raise OptionError(f"no metric {metric!r}; there are {', '.join(self.metrics)}")
        return np.asarray(self.y[:, self.metrics.index(metric)])

    def known(self, *metrics: str) -> tuple[Sample, BoolArray]:
        """Return the launches that have all of some metrics, and (s,) which strata have any: its strata.

        Raises OptionError: there is no such metric; NoMetricError: no launch has them.
        """
        y = np.stack([self.values(metric) for metric in metrics], axis=1)
        rows = np.asarray(~np.isnan(y).any(axis=1))
        if not rows.any():
            which = f"both {' and '.join(metrics)}" if len(metrics) > 1 else f"the metric {metrics[0]}"
            raise NoMetricError(f"no simulated launch of the plan has {which}")
        has_result = np.bincount(self.stratum[rows], minlength=len(self.launches)) > 0
        return replace(self.part(has_result, rows), y=y[rows], metrics=metrics), has_result


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and sums of squares of strata with at least one simulated launch each.

    There may be axes before the strata's: many draws of one plan are then estimated at once.
    """

    #: (s,) as in `Sample`.
    launches: FloatArray
    mean_x: FloatArray
    group: IntArray
    declared: FloatArray
    #: (..., s) m, how many launches were simulated; means of their durations and metric.
    samples: FloatArray
    x: FloatArray
    y: FloatArray
    #: (..., s) sums of products of the deviations from these means.
    xx: FloatArray
    xy: FloatArray
    yy: FloatArray

    @cached_property
    def group_number(self) -> IntArray:
        """(s,) the kernel groups numbered from 0 without gaps."""
        return np.unique(self.group, return_inverse=True)[1]

    @cached_property
    def finite_population_factor(self) -> FloatArray:
        """(..., s) 1/m - 1/N; 0 for a stratum simulated whole."""
        return finite_population_factor(self.samples, self.launches)

    @cached_property
    def ratio(self) -> FloatArray:
        """(..., s) metric per profiled nanosecond, ybar/xbar; 0 where xbar = 0."""
        return divide(self.y, self.x, 0.0)

    @cached_property
    def totals(self) -> FloatArray:
        """(..., s) N ybar Xbar/xbar, the ratio estimate; N ybar where nothing lasts any time."""
        growth = divide(self.mean_x, self.x, 1.0) - 1
        return np.asarray(self.launches * self.y * (1 + growth))

    def residual_squares(self, b: float) -> FloatArray:
        """Return (..., s) the sum of (d - b z)^2, d = y - ybar and z = (ybar/xbar)(x - xbar)."""
        slope = b * self.ratio
        squares = self.yy - 2 * slope * self.xy + slope**2 * self.xx
        rounding = _CANCELLED * (self.yy + slope**2 * self.xx) + self.samples * (_EQUAL * self.y) ** 2
        return np.asarray(np.where(squares > rounding, squares, 0.0))


def moments(sample: Sample, y: FloatArray) -> Moments:
    """Return the moments of any numbers (n,) of the simulated launches, none of them NaN."""
    m = sample.samples.astype(np.float64)

    def sums(values: FloatArray) -> FloatArray:
        return np.bincount(sample.stratum, values, minlength=len(m)).astype(np.float64)

    x_mean, y_mean = sums(sample.x) / m, sums(y) / m
    dx, dy = sample.x - x_mean[sample.stratum], y - y_mean[sample.stratum]
    of_strata = (sample.launches.astype(np.float64), sample.mean_x, sample.group, sample.declared, m)
    return Moments(*of_strata, x_mean, y_mean, sums(dx * dx), sums(dx * dy), sums(dy * dy))


class SeenSpread(Record, frozen=True):
    """What the sample says of the spread that the plan declared: r, D and p."""

    variance_ratio: Amount
    degrees_of_freedom: Amount
    share: Fraction
    #: How much of the interval rests on what was declared, 4 / (4 + D).
    declared_share: Fraction
    exceeds: bool


class Interval(NamedTuple):
    """How far a total may be off, and what moved the factor; (...,) where nothing else is said."""

    #: (..., s) each stratum's part of the variance, f V, and kappa^2 as declared.
    stratum_var: FloatArray
    declared: FloatArray
    #: nu; inf for a census, NaN where a total of 0 tells nothing of what is left.
    effective_df: FloatArray
    #: f, and r, which is 1 where nothing was seen.
    factor: FloatArray
    variance_ratio: FloatArray
    #: D, and p, the share of the declared variance that was seen at least twice.
    observed_df: FloatArray
    observed_share: FloatArray
    #: Whether more was seen than was declared and chance explains.
    exceeds: BoolArray
    #: (..., s) q, the squared coefficient of variation that was seen, and d behind it; 0 where none was.
    cv_squared: FloatArray
    df: FloatArray

    def half_width(self, confidence: float) -> FloatArray:
        """Return (...,) t times the standard deviation; NaN where there is no interval."""
        return np.asarray(student_t(confidence, self.effective_df) * np.sqrt(self.stratum_var.sum(axis=-1)))

    @property
    def seen(self) -> SeenSpread | None:
        """The same of one total; None where no launch was left out."""
        if not np.isfinite(self.effective_df):
            return None
        df = float(self.observed_df)
        declared_share = PRIOR_DF / (PRIOR_DF + df)
        ratio, share, exceeds = float(self.variance_ratio), float(self.observed_share), bool(self.exceeds)
        return SeenSpread(ratio, df, share, declared_share, exceeds)


def interval(
    moments: Moments,
    *,
    prior_factor: FloatArray | float = 1.0,
    rows: BoolArray | None = None,
    is_counter: bool = False,
) -> Interval:
    """Return the interval of the total of a metric, whose residuals are those about its ratio to durations.

    Parameters
    ----------
    prior_factor : what f is drawn towards.
    rows : (s,) the strata of one kernel group, whose own total is asked for; all move its factor.
    is_counter : whether a stratum that shows none of the metric may yet have as much as the mean of all.
    """
    size, group = moments.totals, moments.group_number
    if is_counter:
        x = moments.launches * moments.mean_x
        size = np.where(size > 0, size, x * divide(size.sum(axis=-1), x.sum(axis=-1), 0.0)[..., np.newaxis])
    var = size**2 * moments.finite_population_factor
    is_single, df = _replicate_df(moments, var)
    count = sum_groups(is_single, group)
    relative = divide(moments.ratio * count, sum_groups(is_single * moments.ratio, group), 1.0)
    df = df * (moments.y > 0)
    squares = divide(moments.residual_squares(1.0), moments.y**2, 0.0)
    cv_squared = _cv_squared(relative, squares, is_single, df, group)
    # Launches that have none of a counter are alike.
    of_counter = np.where(moments.y > 0, df, moments.samples - 1) if is_counter else None
    return _interval(moments, var, cv_squared, df, is_single, prior_factor, rows, of_counter)


def residual_interval(
    residuals: Moments, size: FloatArray, rows: BoolArray | None = None, *, is_counter: bool = False
) -> Interval:
    """Return the interval of the sum of numbers that are residuals themselves.

    ``size`` (..., s) are the means that they are relative to; ``rows`` (s,) the strata whose sum it is.
    """
    var, group = (residuals.launches * size) ** 2 * residuals.finite_population_factor, residuals.group_number
    is_single, df = _replicate_df(residuals, var)
    df = df * (size > 0)
    relative, squares = divide(residuals.y, size, 0.0), divide(residuals.yy, size**2, 0.0)
    cv_squared = _cv_squared(relative, squares, is_single, df, group)
    return _interval(residuals, var, cv_squared, df, is_single, 1.0, rows, df if is_counter else None)


def _replicate_df(moments: Moments, var: FloatArray) -> tuple[BoolArray, FloatArray]:
    declared_var = var * moments.declared
    return replicate_df(declared_var, moments.launches, moments.samples, moments.x > 0, moments.group_number)


def _cv_squared(
    relative: FloatArray, squares: FloatArray, is_single: BoolArray, df: FloatArray, group: IntArray
) -> FloatArray:
    """Return (..., s) q: of ``squares`` within strata, and of single launches about their group's mean."""
    mean = sum_groups(is_single * relative, group) / np.maximum(sum_groups(is_single, group), 1)
    between = sum_groups(is_single * (relative - mean) ** 2, group)
    return np.asarray(np.where(is_single, between, squares) / np.maximum(df, 1) * (df > 0))


def _interval(
    moments: Moments,
    var: FloatArray,
    cv_squared: FloatArray,
    df: FloatArray,
    is_single: BoolArray,
    prior_factor: FloatArray | float,
    rows: BoolArray | None,
    of_counter: FloatArray | None,
) -> Interval:
    """Return the declared variance times the factor f that (..., s) q tell, each with d degrees of freedom.

    ``var`` is V over kappa^2; ``of_counter`` (..., s) the d that say how a counter varies, None of cycles.
    """
    declared = moments.declared
    if of_counter is not None:
        # Strata of one launch of a kernel group share one spread.
        d = np.where(moments.samples == 1, of_counter / (of_counter + 1), of_counter)
        pooled = counter_variance(d.sum(axis=-1), (d * cv_squared).sum(axis=-1))
        declared = declared + pooled[..., np.newaxis]
    is_open = moments.finite_population_factor > 0
    if rows is not None:
        var, is_open = np.where(rows, var, 0.0), is_open & rows
    declared_var = var * declared
    observed = satterthwaite(declared_var, df, is_single, moments.group_number)
    effective_df, share = observed.effective_df, observed.share
    ratio = divide(((df > 0) * var * cv_squared).sum(axis=-1), observed.observed_var, 1.0)
    factor = (PRIOR_DF * prior_factor + effective_df * ratio) / (PRIOR_DF + effective_df)
    exceeds = exceeds_chi_squared(ratio * observed.df, observed.df, _CHANCE)
    factor = np.where(exceeds, np.maximum(factor, share * ratio + (1 - share) * factor), factor)
    without_variance = np.where(is_open.any(axis=-1), np.nan, np.inf)
    nu = np.where(observed.declared_var > 0, (PRIOR_DF + effective_df) / 2, without_variance)
    if of_counter is not None:
        factor, exceeds = np.ones_like(factor), np.zeros_like(exceeds)
        declared_var = var * (PRIOR_DF * declared + df * cv_squared) / (PRIOR_DF + df)
    stratum_var = np.asarray(factor)[..., np.newaxis] * declared_var
    return Interval(stratum_var, declared, nu, factor, ratio, effective_df, share, exceeds, cv_squared, df)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A total over all launches, estimated from the simulated ones."""

    metric: str
    #: NaN where it is incomplete: of a part there is no total.
    total: float
    #: The interval; None where there is none. Both are the total where nothing was left out.
    low: float | None
    high: float | None
    confidence: float
    #: Of its variance; None where there is no interval, inf where it is exact.
    degrees_of_freedom: float | None
    #: (s,) parts of the total; NaN where no launch was simulated.
    stratum_total: FloatArray
    #: The share of the profile's time of those, and of kernels that are given up and not in the total; how
    #: many of the plan's launches have no such metric.
    share_missing: float
    launches_missing: int
    #: None where there is no interval, or no launch was left out.
    seen: SeenSpread | None
    #: Why there is no interval, which is in the notes too; None where there is one, or results are missing.
    refusal: str | None
    notes: tuple[str, ...]

    @property
    def is_incomplete(self) -> bool:
        """Whether some strata are not in the total."""
        return bool(np.isnan(self.stratum_total).any())

    @property
    def half_width(self) -> float | None:
        """Of the interval, in the metric's unit."""
        return None if self.high is None else self.high - self.total

    def is_within(self, epsilon: float) -> bool:
        """Return whether the total is complete and its interval at most epsilon of it to either side."""
        half_width = self.half_width
        if half_width is None or self.is_incomplete:
            return False
        return half_width <= epsilon * self.total * (1 + 1e-12)


def estimate(
    sample: Sample,
    metric: str,
    confidence: float = 0.95,
    *,
    topped_up_to: float | None = None,
    strata: BoolArray | None = None,
) -> Estimate:
    """Return the total of a metric over all launches, by the ratio estimator, with its interval.

    By expansion, where the metric clearly does not follow durations. Launches whose metric is NaN count as
    missing; the others of their stratum weigh more. Errors are those of `Sample.known`.

    Parameters
    ----------
    topped_up_to : the epsilon until which the sample was topped up, if it was: its interval is no narrower,
        for sampling stopped where it was narrow, which is partly chance.
    strata : (s,) whose own total it is, as that of a group in `estimate_groups`; None: of all.
    """
    measured, has_result = select_durations(sample, metric)
    whole = interval(moments(measured, measured.y[:, 0]), is_counter=measured.is_counter)
    return _estimate(sample, has_result, measured, whole, strata, metric, confidence, topped_up_to)


def estimate_groups(sample: Sample, metric: str, confidence: float = 0.95) -> dict[int, Estimate]:
    """Return the estimate of each kernel group's own total, by its number in `Sample.group`.

    What a group shows is drawn towards what the whole sample shows. Groups without a launch that has the
    metric are left out; errors as of `estimate`.
    """
    measured, has_result = select_durations(sample, metric)
    whole = interval(moments(measured, measured.y[:, 0]), is_counter=measured.is_counter)
    return {
        group: _estimate(sample, has_result, measured, whole, sample.group == group, metric, confidence)
        for group in np.unique(measured.group).tolist()
    }


def _estimate(
    sample: Sample,
    has_result: BoolArray,
    measured: Sample,
    whole: Interval,
    strata: BoolArray | None,
    metric: str,
    confidence: float,
    topped_up_to: float | None = None,
) -> Estimate:
    """Return the estimate of the total of all strata, or of some (s,), by those with a result."""
    shown, uncertainty = moments(measured, measured.y[:, 0]), whole
    is_asked = np.full(len(has_result), True) if strata is None else strata
    rows, emptied = is_asked[has_result], is_asked & ~has_result
    if strata is not None:
        is_counter = measured.is_counter
        uncertainty = interval(shown, prior_factor=whole.factor, rows=rows, is_counter=is_counter)
    stratum_total, samples = np.full(len(has_result), np.nan), np.zeros(len(has_result), dtype=np.int64)
    stratum_total[has_result], samples[has_result] = shown.totals, shown.samples
    missing = sample.count(np.maximum(sample.planned - samples, 0) * is_asked)
    time = sample.launches * sample.mean_x
    share = float(time[emptied].sum() / time[is_asked].sum()) if time[is_asked].any() else 0.0
    total = float(shown.totals[rows].sum())
    half_width = float(uncertainty._replace(stratum_var=uncertainty.stratum_var[rows]).half_width(confidence))
    if topped_up_to is not None and half_width > 0:
        half_width = max(half_width, topped_up_to * total)
    is_incomplete, notes = bool(emptied.any()), []
    refusal = None if is_incomplete else _refusal(measured, shown, uncertainty, rows, time[has_result])
    if refusal is not None:
        notes.append(without_interval(refusal))
    if missing:
        launches = counted(missing, "launch", "launches")
        notes.append(f"{launches} {WITHOUT_RESULT}; the others of their strata weigh more")
    if is_incomplete:
        lacking = counted(int(emptied.sum()), "stratum", "strata")
        notes.append(f"incomplete: {lacking} without any result, {100 * share:.3g} % of the profile's time")
        total = np.nan
    has_interval = not is_incomplete and refusal is None
    return Estimate(
        metric=metric,
        total=total,
        low=max(min(total, 0.0), total - half_width) if has_interval else None,
        high=total + half_width if has_interval else None,
        confidence=confidence,
        degrees_of_freedom=float(uncertainty.effective_df) if has_interval else None,
        stratum_total=stratum_total[is_asked],
        share_missing=share,
        launches_missing=missing,
        seen=uncertainty.seen if has_interval else None,
        refusal=refusal,
        notes=tuple(notes),
    )


def without_interval(refusal: str) -> str:
    """Return that there is no interval, and why, as notes and reasons have it."""
    return f"no interval: {refusal}"


def _refusal(
    measured: Sample, shown: Moments, uncertainty: Interval, rows: BoolArray, time: FloatArray
) -> str | None:
    """Return why the total of ``rows`` (s,) of so much ``time`` (s,) has no interval; None: it has one."""
    total, nu = shown.totals[rows].sum(), uncertainty.effective_df
    if np.isposinf(nu):
        return None
    if np.isnan(nu) or (measured.is_counter and total == 0):
        return "a total of 0 says nothing of the launches that were left out"
    if not measured.is_counter:
        return None
    if total < 0:
        return "a total below 0 has none"
    return _carriers(measured, shown, rows) if few_carry(shown, uncertainty.cv_squared, rows, time) else None


def few_carry(strata: Moments, cv_squared: FloatArray, rows: BoolArray, time: FloatArray) -> bool:
    """Return whether few launches may carry a counter in ``rows`` (s,), so that its interval would not hold.

    Of the strata of which launches were left out, those whose launches vary by more than their mean, as where
    some have none, have more than a tenth of it; or those that show none more than half of the ``time`` (s,).
    """
    is_open = rows & (strata.finite_population_factor > 0)
    uneven = strata.totals[is_open & (cv_squared > _UNEVEN)].sum()
    without = time[is_open & (strata.y == 0)].sum()
    return bool(
        (uneven > _MOST_UNEVEN * strata.totals[rows].sum()) | (without > _MOST_WITHOUT * time[is_open].sum())
    )


def _carriers(measured: Sample, strata: Moments, rows: BoolArray) -> str:
    """Return how few launches carry more than half of what a counter has in ``rows`` (s,)."""
    part = divide(strata.totals, strata.y * strata.samples, 0.0)[measured.stratum] * measured.y[:, 0]
    part = np.sort(part[rows[measured.stratum]])[::-1].cumsum() / part[rows[measured.stratum]].sum()
    few = int(np.searchsorted(part, 0.5, side="right")) + 1
    carry = "carries" if few == 1 else "carry"
    return f"{few} of {counted(len(part), 'drawn launch')} {carry} {100 * part[few - 1]:.0f} % of it"


def select_durations(sample: Sample, metric: str) -> tuple[Sample, BoolArray]:
    """Return `Sample.known` of a metric, durations all alike where it clearly does not follow them.

    Such are instructions that are the same in every launch: their total is the expansion N ybar, without the
    factor of durations. That is decided of a metric's residuals in all strata at once, for few launches tell
    little; so it is the same in its total, its ratios and its groups. Cycles are what a plan's durations
    stand for: they are taken to follow them, whatever a few launches say.
    """
    measured, has_result = sample.known(metric)
    if metric == CYCLES:
        return measured, has_result
    flat = replace(measured, mean_x=np.ones(len(measured.mean_x)), x=np.ones(len(measured.x)))
    with_durations, without = map(_seen_over_declared, (measured, flat))
    chosen = flat if with_durations > _CLEARLY_WORSE * without else measured
    return replace(chosen, is_counter=metric not in COSTS), has_result


def _seen_over_declared(sample: Sample) -> float:
    """Return the sum, over strata where a spread is seen, of the variance seen over what is declared of it.

    Where kernels are pooled these differ by themselves, which tells little of durations and is declared.
    """
    strata = moments(sample, sample.y[:, 0])
    return float(
        (
            strata.totals**2 * strata.finite_population_factor * interval(strata).cv_squared / strata.declared
        ).sum()
    )


def residuals(sample: Sample) -> FloatArray:
    """Return (n,) how far each launch's one metric is from what its factor of durations says.

    The factor is the stratum's; where that has one launch, the mean of such strata of its kernel group.
    """
    strata = moments(sample, sample.y[:, 0])
    group = strata.group_number
    is_single = (strata.samples == 1) & (strata.finite_population_factor > 0) & (strata.x > 0)
    factor = divide(sum_groups(is_single * strata.ratio, group), sum_groups(is_single, group), 0.0)
    apart = np.where(is_single, (strata.ratio - factor) * strata.mean_x, 0.0)
    expected = strata.y[sample.stratum] + strata.ratio[sample.stratum] * (sample.x - strata.x[sample.stratum])
    return np.asarray(sample.y[:, 0] - expected + apart[sample.stratum])
