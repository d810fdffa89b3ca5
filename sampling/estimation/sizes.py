"""How many launches of each stratum to simulate next so that a total becomes known well enough.

A stratum's launches are drawn in one seeded order, so more of them contain those that are there: nothing that
was simulated is wasted. (docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import structs

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.interval import Interval, Moments, Sample, interval, moments, select_durations
from sampling.estimation.total import PlanEstimate, build_sample
from sampling.plan.request import PlanRequest
from sampling.strata.satterthwaite import student_t

#: The most that one round adds to the sampled time, as a share of it.
MOST_ADDED = 0.25
# Sizes aim at this share of the half-width asked for: fewer rounds, and fewer chances to stop too early.
_AIM = 0.9
# Fewer degrees of freedom are not believed to last: t is taken at no fewer.
_LEAST_DF = 4.0
# A stratum's own spread says so little of where launches are needed that what all say counts as so many.
_LENT = 20.0
_BISECTIONS = 30
# A plan that is made again with an epsilon of more than this share of its own may be the same plan.
_STEP = 0.8


def next_sizes(sample: Sample, metric: str, epsilon: float, confidence: float = 0.95) -> IntArray:
    """Return (s,) how many launches of each stratum the next round asks for; at least what the plan asks for.

    A stratum without a result keeps its plan. Errors are those of `Sample.known`.
    """
    (measured, has_result), selected = sample.known(metric), select_durations(sample, metric)[0]
    strata, of_total = (moments(values, values.y[:, 0]) for values in (measured, selected))
    uncertainty = interval(of_total, is_counter=selected.is_counter)
    sizes = sample.planned.copy()
    sizes[has_result] = np.maximum(sizes[has_result], sizes_for(strata, uncertainty, epsilon, confidence))
    return np.asarray(np.minimum(sizes, sample.launches))


def sizes_for(
    strata: Moments,
    uncertainty: Interval,
    epsilon: float,
    confidence: float,
    most_added: float = MOST_ADDED,
) -> IntArray:
    """Return (..., s) how many launches of each stratum the next round has; none fewer than there are.

    Sizes follow Neyman, n ~ N sd / sqrt(mean duration), at the least scale whose variance gives epsilon times
    the total as half-width, with t at max(nu, 4). They add at most a share of ``most_added`` to the sampled
    time, and at least one launch if any is left out. sd is the relative spread, (d q + 20 f kappa^2)/(d + 20)
    with the words of `interval`, times the mean duration, not times the metric seen: a stratum whose metric
    came out low by chance would else get fewer launches, stay low, and bias the total. Where all last 0 ns
    their metric counts, as the time that it takes elsewhere.
    """
    launches, total = strata.launches, strata.totals.sum(axis=-1)
    nu = np.fmax(uncertainty.effective_df, _LEAST_DF)
    target_var = (_AIM * epsilon * total / student_t(confidence, nu)) ** 2
    x_total = float((launches * strata.mean_x).sum())
    of_shown = (strata.totals * (strata.mean_x > 0)).sum(axis=-1)
    per_x = (of_shown / x_total if x_total else np.ones(np.shape(total)))[..., np.newaxis]
    # What shows no duration takes as long as its metric says.
    by_metric = np.divide(strata.y, per_x, out=np.zeros(np.shape(strata.y)), where=per_x > 0)
    cost = np.where(strata.mean_x > 0, strata.mean_x, by_metric)
    lent = _LENT * (np.asarray(uncertainty.factor)[..., np.newaxis] * uncertainty.declared)
    relative = (uncertainty.df * uncertainty.cv_squared + lent) / (uncertainty.df + _LENT)
    spread = (per_x * launches * cost) ** 2 * relative
    samples = np.broadcast_to(strata.samples, spread.shape)
    limit = np.where(strata.finite_population_factor > 0, launches, samples)
    most_time = (1 + most_added) * (samples * cost).sum(axis=-1)
    need = np.divide(np.sqrt(spread), np.sqrt(cost), out=np.zeros(spread.shape), where=cost > 0)
    largest = need.max(axis=-1, keepdims=True)
    # Where no spread is known at all, every stratum is as good as its duration says.
    need = np.where(largest > 0, need / np.where(largest > 0, largest, 1), launches * np.sqrt(cost))

    def sizes(log_scale: FloatArray) -> FloatArray:
        return np.asarray(np.clip(np.ceil(np.exp(log_scale)[..., np.newaxis] * need), samples, limit))

    def is_over(n: FloatArray) -> BoolArray:
        return np.asarray((n * cost).sum(axis=-1) > most_time)

    low = -np.log(np.maximum(need.max(axis=-1), 1e-300)) - 1
    scale = np.where(need > 0, need, np.inf).min(axis=-1)
    high = np.log(launches.max() / np.minimum(scale, 1e300)) + 1
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        n = sizes(middle)
        variance = (spread * (launches - n) / (launches * n)).sum(axis=-1)
        enough = (variance <= target_var) & (largest[..., 0] > 0) | is_over(n) | (n >= limit).all(axis=-1)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    n = sizes(high)
    # The last step may have gone beyond the round; the one before it has not.
    n = np.where(is_over(n)[..., np.newaxis], sizes(high - 1e-6), n)
    # Where none was added, one more where it takes most variance for its time.
    gain = np.divide(spread / (samples * (samples + 1)), cost, out=np.zeros(n.shape), where=cost > 0)
    gain = np.where(samples < limit, gain + 1e-300, -1.0)
    best = np.arange(n.shape[-1]) == gain.argmax(axis=-1)[..., np.newaxis]
    stuck = (n == samples).all(axis=-1)[..., np.newaxis] & (samples < limit)
    return np.where(stuck & best, n + 1, n).astype(np.int64)


def larger_request(estimate: PlanEstimate, epsilon: float) -> PlanRequest | None:
    """Return what to plan next in place of layers or clusters, for a total within epsilon.

    With the seed of the plan, it draws what that has and more. None where no launches bring the total there.
    """
    plan, main = estimate.plan, estimate.main
    left = sampling_left(epsilon, estimate.beside_sampling)
    if not left:
        return None
    sample, options = build_sample(plan, estimate.results), plan.options
    sizes = next_sizes(sample, main.metric, left, main.confidence)
    is_layers = np.array([bool(stratum.layers) for stratum in plan.strata])
    if is_layers.any():
        settings = [setting for setting in options.set if not setting.startswith("layers.draw=")]
        settings.append(f"layers.draw={sizes[is_layers].max()}")
        options = structs.replace(options, set=tuple(settings))
    # All other sizes go by the square of epsilon.
    growth = sizes[~is_layers].sum() / max(sample.planned[~is_layers].sum(), 1)
    if growth > 1:
        options = structs.replace(options, epsilon=float(f"{options.epsilon * min(_STEP, growth**-0.5):.2g}"))
    return options


def sampling_left(epsilon: float, other_error: float) -> float:
    """Return what which launches are drawn may add to a half-width of epsilon; 0 where nothing is left."""
    return math.sqrt(max(0.0, epsilon**2 - other_error**2))
