"""STEM: how many launches to draw from each cluster so that the error stays within epsilon.

Sources: Allegro Theorem 2; STEM+ROOT Equation (3), Problem 1 and appendix VIII-A. Misprints corrected: the
floor of 30 is a maximum, and the closed form has sum_j sqrt(a_j b_j), not sqrt(sum_j a_j b_j).
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.strata.strata import finite_population_factor, sample_variance, spread

# 2^-60 of the range of log theta: beyond what a double resolves.
_BISECTIONS = 60
# Eight such sizes, as many as a decision may have parts, still add up within 64 bits.
_MORE_THAN_ANY = 2.0**59


def single_sample_size(mean_ns: FloatArray, std_ns: FloatArray, epsilon: float, z: float) -> IntArray:
    """Return m of each cluster taken alone: ceil((z sigma / (epsilon mu))^2), 0 where sigma or mu is 0.

    Floors and caps are the caller's. [STEM+ROOT Eq. 3 without its floor; Allegro Theorem 2]

    >>> single_sample_size(np.array([100.0]), np.array([20.0]), epsilon=0.05, z=1.96).tolist()
    [62]
    """
    return _whole((z * _ratio(std_ns, mean_ns) / epsilon) ** 2)


def joint_sample_sizes(
    launches: IntArray, mean_ns: FloatArray, std_ns: FloatArray, epsilon: float, z: float
) -> IntArray:
    """Return the papers' closed form for clusters that share one error budget, drawn with replacement.

        m_i = ceil( (sum_j sqrt(a_j b_j)) / c * sqrt(b_i / a_i) ),
        a_i = mu_i,  b_i = N_i^2 sigma_i^2,  c = (epsilon sum N_i mu_i / z)^2

    The last axis runs over the clusters that share a budget; there may be others before it. 0 where sigma or
    mu is 0; floors and caps are the caller's. [STEM+ROOT Problem 1, misprint corrected]

    >>> launches, mean_ns, std_ns = np.array([[100, 1000, 40], [10, 100, 1000], [5, 30, 800]])
    >>> joint_sample_sizes(launches, mean_ns, std_ns, epsilon=0.05, z=1.96).tolist()
    [17, 305, 103]
    """
    budget = (epsilon * (launches * mean_ns).sum(axis=-1, keepdims=True) / z) ** 2
    deviation_ns, root_cost = launches * std_ns, np.sqrt(mean_ns)
    sum_of_roots = (deviation_ns * root_cost).sum(axis=-1, keepdims=True)
    return _whole(_ratio(sum_of_roots, budget) * _ratio(deviation_ns, root_cost))


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    """Return the ratio, 0 where it is of 0."""
    return np.asarray(np.divide(over, under, out=np.zeros(np.shape(over)), where=np.asarray(under) > 0))


def _whole(sizes: FloatArray) -> IntArray:
    """Return sizes rounded up, cut off beyond what any profile holds."""
    return np.ceil(np.minimum(sizes, _MORE_THAN_ANY)).astype(np.int64)


def water_filled_sample_sizes(
    launches: IntArray,
    mean_ns: FloatArray,
    std_ns: FloatArray,
    offsets: IntArray,
    epsilon: float,
    z: float,
    *,
    floor: int = 1,
) -> IntArray:
    """Return the least sizes, drawn without replacement, that keep every segment's total within epsilon.

    Segment i is the clusters ``offsets[i]:offsets[i + 1]``, at least one. For each, with b_i = N_i^2 S_i^2,
    S^2 = sigma^2 N/(N-1), and c = (epsilon sum N_i mu_i / z)^2,

        m_i = clip( ceil( sqrt(theta b_i / mu_i) ), floor, N_i )

    at the smallest theta with sum b_i (1/m_i - 1/N_i) <= c. A cluster that reaches N_i is simulated whole and
    leaves the sum; what is left of c is due to rounding alone. All segments are bisected at once.

    >>> launches, mean_ns, std_ns = np.array([[100, 1000, 40], [10, 100, 1000], [5, 30, 800]])
    >>> offsets = np.array([0, 3])
    >>> water_filled_sample_sizes(launches, mean_ns, std_ns, offsets, epsilon=0.05, z=1.96).tolist()
    [6, 99, 34]
    """
    total_ns = np.add.reduceat(launches * mean_ns, offsets[:-1])
    budget = (epsilon * total_ns / z) ** 2
    b = spread(launches, sample_variance(launches, std_ns))
    ratio = _ratio(b, mean_ns)
    segment = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    minimum = np.minimum(floor, launches)

    def sizes(theta: FloatArray) -> IntArray:
        optimum = np.ceil(np.sqrt(theta[segment] * ratio))
        return np.clip(optimum, minimum, launches).astype(np.int64)

    def feasible(theta: FloatArray) -> BoolArray:
        variance = np.add.reduceat(b * finite_population_factor(sizes(theta), launches), offsets[:-1])
        return np.asarray(variance <= budget)

    # Between less than one sample each and a census of all, by a ten-millionth more: rounding must leave the
    # one no launch short, and the other none too many.
    census = _ratio(launches.astype(np.float64) ** 2, ratio)
    single = np.divide(1, ratio, out=np.full(len(ratio), np.inf), where=ratio > 0)
    high = np.log(np.maximum(np.maximum.reduceat(census, offsets[:-1]), 1e-300)) + 1e-7
    low = np.log(np.minimum(np.minimum.reduceat(single, offsets[:-1]), 1e300)) - 1e-7
    low = np.minimum(low, high)
    high = np.where(feasible(np.exp(low)), low, high)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        enough = feasible(np.exp(middle))
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return sizes(np.exp(high))
