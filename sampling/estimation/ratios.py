"""Ratios of totals: IPC, miss rates, and one configuration against another on the same launches.

A ratio's uncertainty is that of u = a - R b: what the two share cancels. Never a mean of the kernels' own
ratios, which is biased. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import AnalysisError
from sampling.estimation.interval import interval, spreads
from sampling.estimation.moments import moments_of
from sampling.estimation.sample import Sample

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
