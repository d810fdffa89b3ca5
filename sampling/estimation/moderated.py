"""The moderated interval: strata lend each other degrees of freedom.

Residual spreads of strata resemble each other, so that each may be drawn towards the spread of all; two
launches a stratum, even one, then say more than they do alone. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.interval import Uncertainty, inverse_nu
from sampling.estimation.moments import Moments
from sampling.strata.expected_freedom import COMMON_DOUBT, LENT

#: From so many times the moderated spread on, a stratum's own counts alone.
OUTLYING = 2.0


@dataclass(frozen=True, slots=True)
class RelativeSpreads:
    """Residual variances relative to the square of the metric; all arrays (..., s).

    Attributes
    ----------
    own : q, between the stratum's own launches; in a stratum of one, between it and the other such strata of
        its kernel group, which share it.
    freedom : d, its degrees of freedom; 0 where there is nothing to compare with.
    weight : one over how many strata share it.
    common : q_0, that of all strata of the class: own ones, or pooled.
    common_freedom : D, its degrees of freedom.
    lent : d_0, how many of these are lent to each stratum.
    moderated : q~, what is used.
    is_own : where this is ``own`` alone.
    """

    own: FloatArray
    freedom: FloatArray
    weight: FloatArray
    common: FloatArray
    common_freedom: FloatArray
    lent: FloatArray
    moderated: FloatArray
    is_own: BoolArray

    def of_strata(self, strata: IntArray) -> RelativeSpreads:
        """Return those of some strata."""
        columns = (getattr(self, field.name) for field in fields(self))
        return RelativeSpreads(*(column[..., strata] for column in columns))


def moderated(moments: Moments) -> tuple[FloatArray, Uncertainty]:
    """Return (..., s) the strata's totals by the ratio estimator, and how uncertain their sum is."""
    totals = moments.totals(1.0)
    return totals, moderated_uncertainty(moments, totals / moments.launches, spreads_of_totals(moments))


def spreads_of_totals(moments: Moments, lent: float = LENT) -> RelativeSpreads:
    """Return the spreads about the ratio of metric to duration."""
    mean_ratio = _GroupSums(moments).mean_of_singles(moments.ratio)
    relative = np.divide(moments.ratio, mean_ratio, out=np.ones(mean_ratio.shape), where=mean_ratio > 0)
    between = singles_between(moments, relative)
    return relative_spreads(moments, moments.residual_squares(1.0), moments.y, between, lent)


def singles_between(moments: Moments, relative: FloatArray) -> FloatArray:
    """Return (..., s) the sum of squares, about their mean, of the group's strata with one launch each.

    Parameters
    ----------
    relative : (..., s) residuals or ratios, relative to what the spread is relative to.
    """
    of_group = _GroupSums(moments)
    off = relative - of_group.mean_of_singles(relative)
    return of_group.sum(np.where(of_group.is_single, off**2, 0.0))


def relative_spreads(
    moments: Moments, squares: FloatArray, size: FloatArray, between: FloatArray, lent: float = LENT
) -> RelativeSpreads:
    """Return what residuals say of the spread in each stratum.

    Parameters
    ----------
    squares : (..., s) sums of squared residuals of the strata.
    size : (..., s) what they are relative to.
    between : (..., s) sum of squared relative residuals between all strata of the group with one launch each.
    lent : at most so many degrees of freedom are lent.
    """
    of_group = _GroupSums(moments)
    single, has_size = of_group.is_single, size != 0
    of_singles = np.maximum(of_group.sum(single.astype(np.float64)), 1)
    freedom = np.where(single, of_singles - 1, moments.replicates) * has_size
    relative = np.divide(squares, size**2, out=np.zeros(squares.shape), where=has_size)
    own = np.where(single, between, relative) / np.maximum(freedom, 1) * (freedom > 0)
    weight = np.where(single, 1 / of_singles, 1.0)
    sums = weight * freedom * np.stack([np.ones(own.shape), own, own**2 * freedom / (freedom + 2)])
    common, common_freedom, lent_to = (np.zeros(own.shape) for _ in range(3))
    for members in (moments.pooled, ~moments.pooled):
        total_freedom, first, second = sums[..., members].sum(axis=-1, keepdims=True)
        mean = np.divide(first, total_freedom, out=np.zeros(first.shape), where=total_freedom > 0)
        # Where few sources make up most of the sum, it has few degrees of freedom.
        few = np.divide(first**2, second, out=total_freedom.copy(), where=second > 0)
        common = np.where(members, mean, common)
        common_freedom = np.where(members, np.minimum(few, total_freedom), common_freedom)
        lent_to = np.where(members, np.minimum(lent, total_freedom), lent_to)
    towards = np.divide(
        freedom * own + lent_to * common,
        freedom + lent_to,
        out=np.zeros(own.shape),
        where=freedom + lent_to > 0,
    )
    is_own = own > OUTLYING * towards
    moderated_spread = np.where(is_own, own, towards)
    return RelativeSpreads(
        own, freedom, weight, common, common_freedom, lent_to, moderated_spread, np.asarray(is_own)
    )


def moderated_uncertainty(moments: Moments, size: FloatArray, spreads: RelativeSpreads) -> Uncertainty:
    """Return the uncertainty of a sum over strata of N times a mean ``size`` (..., s).

    The common spread is one estimate that many strata use, so its own uncertainty does not average out: it
    enters the degrees of freedom as a part of its own.
    """
    is_open = moments.is_open
    parts = (moments.launches * size) ** 2 * moments.left_out * spreads.moderated
    freedom = spreads.freedom + spreads.lent
    single = is_open & (moments.samples == 1)
    # Singles of a group share one spread, so their parts are one.
    shared = np.where(single, _GroupSums(moments).sum(np.where(single, parts, 0.0)), parts)
    own = np.divide(parts * shared, freedom, out=np.zeros(parts.shape), where=freedom > 0)
    share = np.divide(
        spreads.lent * spreads.common,
        freedom * spreads.moderated,
        out=np.zeros(parts.shape),
        where=(freedom > 0) & (spreads.moderated > 0) & ~spreads.is_own,
    )
    uncertainty = own.sum(axis=-1)
    for members in (moments.pooled, ~moments.pooled):
        if members.any():
            borrowed = (parts * share)[..., members].sum(axis=-1)
            common = spreads.common_freedom[..., members][..., 0]
            uncertainty = uncertainty + COMMON_DOUBT * np.divide(
                borrowed**2, common, out=np.zeros(borrowed.shape), where=common > 0
            )
    variance = parts.sum(axis=-1)
    # Nothing is known of an open stratum that nothing can be compared with.
    told = ~(is_open & (freedom == 0) & (size != 0)).any(axis=-1)
    known = told & ((variance > 0) | ~is_open.any(axis=-1))
    return Uncertainty(parts, inverse_nu(variance, uncertainty), np.asarray(known))


class _GroupSums:
    """Sums over the strata of each kernel group."""

    def __init__(self, moments: Moments) -> None:
        self.is_single = moments.is_open & (moments.samples == 1)
        _, self._code = np.unique(moments.group, return_inverse=True)
        self._order = np.argsort(self._code, kind="stable")
        self._starts = np.flatnonzero(np.diff(self._code[self._order], prepend=-1))

    def sum(self, values: FloatArray) -> FloatArray:
        """Return (..., s) for each stratum the sum over all of its group."""
        if not self.is_single.any():
            return np.zeros(values.shape)
        return np.asarray(np.add.reduceat(values[..., self._order], self._starts, axis=-1)[..., self._code])

    def mean_of_singles(self, values: FloatArray) -> FloatArray:
        """Return (..., s) the mean over the strata of the group that have one launch each; 0 without any."""
        of_singles = self.sum(np.where(self.is_single, values, 0.0))
        number = self.sum(self.is_single.astype(np.float64))
        return np.divide(of_singles, number, out=np.zeros(values.shape), where=number > 0)
