"""What a set of strata and sizes promises: the bound on the error of the profile's total time.

The bound covers PROFILE time, the durations that the plan was made from. It says nothing about how well
simulated cycles follow them.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray
from sampling.strata.allocation import normal_quantile, sample_variance
from sampling.strata.strata import Strata


def total_variance(strata: Strata, noise_floor: float = 0.0) -> FloatArray:
    """Return (s,) each stratum's part of the variance of the estimated total, ns^2.

    Without replacement N^2 (1 - m/N) S^2/m; with replacement N^2 sigma^2/m. (METHODS section 2)

    Parameters
    ----------
    noise_floor : kappa; without replacement S^2 becomes S^2 + (kappa mu)^2. (METHODS section 5)
    """
    squared_launches = strata.launches.astype(np.float64) ** 2
    if strata.with_replacement:
        return squared_launches * strata.std_ns**2 / strata.samples
    left = 1 - strata.samples / strata.launches
    variance = sample_variance(strata.launches, strata.std_ns) + (noise_floor * strata.mean_ns) ** 2
    return squared_launches * left * variance / strata.samples


def bound(strata: Strata, confidence: float, noise_floor: float = 0.0) -> float:
    """Return the a-priori bound on |estimate - total| / total: z sqrt(sum of variances) / sum N mu."""
    total_ns = float(np.dot(strata.launches, strata.mean_ns))
    if total_ns == 0:
        return 0.0
    variance = float(total_variance(strata, noise_floor).sum())
    return normal_quantile(confidence) * float(np.sqrt(variance)) / total_ns


def group_bounds(strata: Strata, confidence: float, noise_floor: float = 0.0) -> FloatArray:
    """Return the bound of each kernel group's own total, groups in the order of their strata."""
    first = np.flatnonzero(np.append(True, strata.group[1:] != strata.group[:-1]))
    variance = np.add.reduceat(total_variance(strata, noise_floor), first)
    total_ns = np.add.reduceat(strata.launches * strata.mean_ns, first)
    deviation_ns = normal_quantile(confidence) * np.sqrt(variance)
    return np.divide(deviation_ns, total_ns, out=np.zeros(len(first)), where=total_ns > 0)
