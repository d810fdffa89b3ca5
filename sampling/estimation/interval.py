"""The interval of a simulated total: what was declared, times one factor that the sample tells.

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
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.moments import Moments
from sampling.strata.cycle_spread import DECLARED_FREEDOM

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
