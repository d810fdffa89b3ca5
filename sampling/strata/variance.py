"""What a stratum adds to the variance of an estimated total, N^2 S^2 (1/m - 1/N), factor by factor."""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.strata.allocation import sample_variance


def spread(launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray, noise_floor: float) -> FloatArray:
    """Return N^2 (S^2 + (kappa mu)^2), 0 where N = 1, which is always a census."""
    variance = sample_variance(launches, std_ns) + (noise_floor * mean_ns) ** 2
    return np.where(launches > 1, launches.astype(np.float64) ** 2 * variance, 0.0)


def left_out(samples: IntArray, launches: IntArray) -> FloatArray:
    """Return 1/m - 1/N, without the digits that the difference would lose near a census."""
    return (launches - samples) / (launches.astype(np.float64) * samples)


def summed_by_group(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return (groups,) the sum of the values of each group."""
    return np.bincount(group, values, minlength=groups).astype(np.float64)
