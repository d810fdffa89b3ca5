"""How many launches of each stratum to simulate next, so that the interval becomes narrow enough.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.interval import Interval, Spreads, student_t
from sampling.estimation.moments import Moments

#: The most that one round adds to the sampled time, as a share of it.
MOST_ADDED = 0.25
#: Sizes aim at this share of the half-width asked for: fewer rounds, and fewer chances to stop too early.
AIM = 0.9
#: Fewer degrees of freedom are not believed to last: t is taken at no fewer.
LEAST_FREEDOM = 4.0
# A stratum's own spread says so little of where launches are needed that what all say counts as so many.
_LENT = 20.0
_BISECTIONS = 30


def sizes_for(
    moments: Moments, spread: Spreads, found: Interval, epsilon: float, confidence: float
) -> IntArray:
    """Return (..., s) how many launches of each stratum the next round has; none fewer than there are.

    Sizes follow Neyman, n ~ N sd / sqrt(mean duration), at the least scale whose variance gives the
    half-width with t at max(nu, 4). They add at most a quarter to the sampled time, and at least one launch
    if any is left out.

    Parameters
    ----------
    spread, found : of the interval that is to become narrower.
    epsilon : the half-width asked for, as a fraction of the total.

    Notes
    -----
    sd is the relative spread, (d q + 20 f kappa^2) / (d + 20) with the words of `interval`, times the mean
    duration, not times the metric seen: a stratum whose metric came out low by chance would else get fewer
    launches, stay low, and bias the total.
    """
    total = moments.totals(1.0).sum(axis=-1)
    nu = np.fmax(found.degrees_of_freedom, LEAST_FREEDOM)
    wanted = (AIM * epsilon * total / student_t(confidence, nu)) ** 2
    x_total = moments.launches * moments.mean_x
    per_x = total / max(float(x_total.sum()), 1e-300)
    variance = (per_x[..., np.newaxis] * x_total) ** 2 * spread.towards(found.factor, _LENT)
    return _least_sizes(moments, variance, wanted)


def _least_sizes(moments: Moments, spread: FloatArray, wanted: FloatArray) -> IntArray:
    """Return the sizes of the least scale at which sum spread (1/n - 1/N) is as wanted, within the round."""
    samples = np.broadcast_to(moments.samples, spread.shape)
    launches = moments.launches
    most = np.where(moments.is_open, launches, samples)
    cost = moments.mean_x
    need = np.divide(np.sqrt(spread), np.sqrt(cost), out=np.zeros(spread.shape), where=cost > 0)
    largest = need.max(axis=-1, keepdims=True)
    # Where no spread is known at all, every stratum is as good as its duration says.
    need = np.where(largest > 0, need / np.where(largest > 0, largest, 1), launches * np.sqrt(cost))
    least_time = (samples * cost).sum(axis=-1)

    def sizes(log_scale: FloatArray) -> FloatArray:
        return np.asarray(np.clip(np.ceil(np.exp(log_scale)[..., np.newaxis] * need), samples, most))

    def is_enough(log_scale: FloatArray) -> BoolArray:
        n = sizes(log_scale)
        variance = (spread * (launches - n) / (launches * n)).sum(axis=-1)
        over = (n * cost).sum(axis=-1) > (1 + MOST_ADDED) * least_time
        return np.asarray((variance <= wanted) & (largest[..., 0] > 0) | over | (n >= most).all(axis=-1))

    log_scale = _bisected(is_enough, need, launches)
    n = sizes(log_scale)
    # The last step may have gone beyond the round; the one before it has not.
    over = (n * cost).sum(axis=-1) > (1 + MOST_ADDED) * least_time
    n = np.where(over[..., np.newaxis], sizes(log_scale - 1e-6), n)
    n = _at_least_one_more(n, samples, most, spread, cost)
    return n.astype(np.int64)


def _bisected(
    is_enough: Callable[[FloatArray], BoolArray], need: FloatArray, launches: FloatArray
) -> FloatArray:
    """Return (...,) the least logarithm of a scale that is enough."""
    positive = np.where(need > 0, need, np.inf)
    low = -np.log(np.maximum(need.max(axis=-1), 1e-300)) - 1
    high = np.log(launches.max() / np.minimum(positive.min(axis=-1), 1e300)) + 1
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        enough = is_enough(middle)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return np.asarray(high)


def _at_least_one_more(
    n: FloatArray, samples: FloatArray, most: FloatArray, spread: FloatArray, cost: FloatArray
) -> FloatArray:
    """Return sizes with one launch more where none was added, where it takes most variance for its time."""
    gain = np.divide(spread / (samples * (samples + 1)), cost, out=np.zeros(n.shape), where=cost > 0)
    gain = np.where(samples < most, gain + 1e-300, -1.0)
    best = np.arange(n.shape[-1]) == gain.argmax(axis=-1)[..., np.newaxis]
    stuck = (n == samples).all(axis=-1)[..., np.newaxis] & (samples < most)
    return np.asarray(np.where(stuck & best, n + 1, n))
