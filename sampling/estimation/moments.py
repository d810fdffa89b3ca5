"""Means and sums of squares of a sample, stratum by stratum: all that its estimates are made of.

The arrays of the sample may have axes before the strata's: many draws of one plan are then estimated at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.sample import Sample

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
