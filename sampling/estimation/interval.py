"""From a variance with its degrees of freedom to an interval: Student's t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray

# Beyond this t is the normal quantile to more digits than any interval has.
_MANY = 1e9


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How far a total may be off.

    Attributes
    ----------
    of_stratum : (..., s) each stratum's part of the variance. Strata of which one launch each was simulated
        may share theirs.
    degrees_of_freedom : (...,) of the variance; inf for one that is 0.
    known : (...,) whether the variance can be told at all; where not there is no interval.
    """

    of_stratum: FloatArray
    degrees_of_freedom: FloatArray
    known: BoolArray

    @property
    def variance(self) -> FloatArray:
        """(...,) the variance of the total."""
        return np.asarray(self.of_stratum.sum(axis=-1))

    def half_width(self, confidence: float) -> FloatArray:
        """Return (...,) t times the standard deviation; NaN where it is not known."""
        width = student_t(confidence, self.degrees_of_freedom) * np.sqrt(self.variance)
        return np.asarray(np.where(self.known, width, np.nan))


def student_t(confidence: float, degrees_of_freedom: FloatArray) -> FloatArray:
    """Return the two-sided quantile of Student's t for any positive degrees of freedom, inf among them."""
    from scipy.special import stdtrit

    nu = np.minimum(degrees_of_freedom, _MANY)
    return np.asarray(stdtrit(nu, 0.5 + confidence / 2))


def satterthwaite(parts: FloatArray, degrees_of_freedom: FloatArray) -> FloatArray:
    """Return (...,) nu = (sum v)^2 / sum (v^2 / d) of independent parts (..., s); inf where all are 0.

    [Satterthwaite 1946]
    """
    return inverse_nu(
        parts.sum(axis=-1),
        np.divide(parts**2, degrees_of_freedom, out=np.zeros(parts.shape), where=parts > 0).sum(axis=-1),
    )


def inverse_nu(variance: FloatArray, uncertainty: FloatArray) -> FloatArray:
    """Return (...,) variance^2 / uncertainty, inf where the variance is 0."""
    variance, uncertainty = np.asarray(variance), np.asarray(uncertainty)
    nu = np.full(variance.shape, np.inf)
    np.divide(variance**2, uncertainty, out=nu, where=(variance > 0) & (uncertainty > 0))
    return nu
