"""The variance of an estimated total, stratum by stratum, and the bound on its error that follows.

The bound covers PROFILE time, the durations that the plan was made from. It says nothing about how well
simulated cycles follow them.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.strata.strata import Strata
from sampling.strata.target import normal_quantile


def sample_variance(launches: IntArray, std_ns: FloatArray) -> FloatArray:
    """Return S^2 = sigma^2 N / (N - 1), the variance that sampling without replacement sees; 0 if N = 1."""
    return std_ns**2 * (launches / np.maximum(launches - 1, 1))


def spread(launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray, noise_floor: float) -> FloatArray:
    """Return N^2 (S^2 + (kappa mu)^2), 0 where N = 1, which is always simulated whole."""
    variance = sample_variance(launches, std_ns) + (noise_floor * mean_ns) ** 2
    return np.where(launches > 1, launches.astype(np.float64) ** 2 * variance, 0.0)


def left_out(samples: IntArray, launches: IntArray) -> FloatArray:
    """Return 1/m - 1/N, without the digits that the difference would lose where m is close to N."""
    return (launches - samples) / (launches.astype(np.float64) * samples)


def summed_by_group(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return (groups,) the sum of the values of each group."""
    return np.bincount(group, values, minlength=groups).astype(np.float64)


def total_variance(strata: Strata, noise_floor: float = 0.0) -> FloatArray:
    """Return (s,) each stratum's part of the variance of the estimated total, ns^2.

    Without replacement N^2 (1 - m/N) S^2/m; with replacement N^2 sigma^2/m. (docs/methods.md, 2 STEM: the
    error model)

    Parameters
    ----------
    noise_floor : kappa; without replacement S^2 becomes S^2 + (kappa mu)^2. (docs/methods.md, 5 Joint)
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
