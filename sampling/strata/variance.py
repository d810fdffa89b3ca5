"""The variance of an estimated total, stratum by stratum, and the bound on its error that follows.

Without more it covers PROFILE time, the durations that the plan was made from. How far simulated cycles may
depart from them is declared: `sampling.strata.cycle_spread` gives the variance that they then have.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.strata.strata import Strata
from sampling.strata.target import normal_quantile


def sample_variance(launches: IntArray, std_ns: FloatArray) -> FloatArray:
    """Return S^2 = sigma^2 N / (N - 1), the variance that sampling without replacement sees; 0 if N = 1."""
    return std_ns**2 * (launches / np.maximum(launches - 1, 1))


def spread(launches: IntArray, variance: FloatArray) -> FloatArray:
    """Return N^2 S^2 of clusters with a variance S^2, 0 where N = 1, which is always simulated whole."""
    return np.where(launches > 1, launches.astype(np.float64) ** 2 * variance, 0.0)


def left_out(samples: IntArray, launches: IntArray) -> FloatArray:
    """Return 1/m - 1/N, without the digits that the difference would lose where m is close to N."""
    return (launches - samples) / (launches.astype(np.float64) * samples)


def total_variance(strata: Strata, variance: FloatArray | None = None) -> FloatArray:
    """Return (s,) each stratum's part of the variance of the estimated total, ns^2.

    N^2 (1 - m/N) S^2/m, drawn without replacement.
    (docs/methods.md, 2 STEM: the error model)

    Parameters
    ----------
    variance : (s,) S^2 of the strata; None: that of their durations.
    """
    launches = strata.launches
    squared_launches = launches.astype(np.float64) ** 2
    if variance is None:
        variance = sample_variance(launches, strata.std_ns)
    left = 1 - strata.samples / launches
    return squared_launches * left * variance / strata.samples


def bound(strata: Strata, confidence: float, variance: FloatArray | None = None) -> float:
    """Return the a-priori bound on |estimate - total| / total: z sqrt(sum of variances) / sum N mu."""
    total_ns = float(np.dot(strata.launches, strata.mean_ns))
    if total_ns == 0:
        return 0.0
    of_total = float(total_variance(strata, variance).sum())
    return normal_quantile(confidence) * float(np.sqrt(of_total)) / total_ns


def group_bounds(strata: Strata, confidence: float, variance: FloatArray | None = None) -> FloatArray:
    """Return the bound of each group's own total, groups in the order of their strata."""
    first = np.flatnonzero(np.append(True, strata.group[1:] != strata.group[:-1]))
    variance = np.add.reduceat(total_variance(strata, variance), first)
    total_ns = np.add.reduceat(strata.launches * strata.mean_ns, first)
    deviation_ns = normal_quantile(confidence) * np.sqrt(variance)
    return np.divide(deviation_ns, total_ns, out=np.zeros(len(first)), where=total_ns > 0)
