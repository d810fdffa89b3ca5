"""The plain interval: every stratum's own spread, Student's t by Satterthwaite, singles collapsed.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.interval import Uncertainty, satterthwaite
from sampling.estimation.moments import Moments

# With fewer degrees of freedom elsewhere, nothing is said of a lone stratum of one simulated launch.
LEAST_FOR_A_LONE_SINGLE = 10


def clipped_slope(moments: Moments) -> FloatArray:
    """Return (..., 1) b, how far the metric follows durations within strata: between 0 and 1.

    b = clip( sum w sum z d / sum w sum z^2, 0, 1 ), w = N^2 (1 - f) / (m (m - 1)); 1 where nothing tells.
    """
    w = _weight(moments)
    slope = moments.ratio
    of_products = (w * slope * moments.xy).sum(axis=-1, keepdims=True)
    of_squares = (w * slope**2 * moments.xx).sum(axis=-1, keepdims=True)
    b = np.divide(of_products, of_squares, out=np.ones(of_squares.shape), where=of_squares > 0)
    return np.asarray(np.clip(b, 0, 1))


def plain(moments: Moments) -> tuple[FloatArray, Uncertainty]:
    """Return (..., s) the strata's totals, and how uncertain their sum is."""
    b = clipped_slope(moments)
    totals = moments.totals(b)
    return totals, plain_uncertainty(moments, totals, moments.residual_squares(b))


def plain_uncertainty(moments: Moments, totals: FloatArray, squares: FloatArray) -> Uncertainty:
    """Return the uncertainty of the sum of totals (..., s) with sums of squared residuals (..., s)."""
    parts = _weight(moments) * squares
    freedom = np.broadcast_to(np.maximum(moments.replicates, 1), parts.shape)
    single = moments.is_open & (moments.samples == 1)
    if not single.any():
        return Uncertainty(parts, satterthwaite(parts, freedom), _is_known(moments, parts))
    if parts.ndim > 1:
        return _one_by_one(moments, totals, squares)
    return _with_singles(moments, totals, squares, parts, np.flatnonzero(single))


def _weight(moments: Moments) -> FloatArray:
    """Return (..., s) w = N^2 (1 - f) / (m (m - 1)), 0 where m = 1 or m = N."""
    return np.where(
        moments.replicates > 0,
        moments.launches**2 * moments.left_out / np.maximum(moments.replicates, 1),
        0.0,
    )


def _is_known(moments: Moments, parts: FloatArray) -> BoolArray:
    """Return (...,) whether there is an interval: a census of all is exact, else no spread tells nothing."""
    return np.asarray((parts.sum(axis=-1) > 0) | ~moments.is_open.any(axis=-1))


def _with_singles(
    moments: Moments, totals: FloatArray, squares: FloatArray, parts: FloatArray, singles: IntArray
) -> Uncertainty:
    """Return the uncertainty where some strata have one launch each; all arrays are (s,)."""
    replicated = moments.replicates > 0
    pooled_freedom = float(moments.replicates[replicated].sum())
    relative = np.divide(squares, moments.y**2, out=np.zeros(len(squares)), where=moments.y > 0)
    spread = float(relative[replicated].sum()) / max(pooled_freedom, 1)
    parts, known = parts.copy(), True
    variances, freedoms = list(parts[parts > 0]), list(moments.replicates[parts > 0])
    for rows in collapsed(moments, singles):
        if len(rows) == 1:
            row = rows[0]
            known &= pooled_freedom >= LEAST_FOR_A_LONE_SINGLE
            variance = moments.launches[row] ** 2 * moments.left_out[row] * moments.y[row] ** 2 * spread
            freedom = pooled_freedom
        else:
            x = (moments.launches * moments.mean_x)[rows]
            share = x / x.sum() if x.sum() > 0 else np.full(len(rows), 1 / len(rows))
            off = totals[rows] - share * totals[rows].sum()
            variance = len(rows) / (len(rows) - 1) * float((off**2).sum())
            freedom = len(rows) - 1
        parts[rows] = variance / len(rows)
        variances.append(variance)
        freedoms.append(max(freedom, 1))
    nu = satterthwaite(np.array(variances), np.array(freedoms, dtype=np.float64))
    return Uncertainty(parts, nu, np.asarray(known and parts.sum() > 0))


def collapsed(moments: Moments, singles: IntArray) -> list[IntArray]:
    """Return which strata of one launch each are compared with each other.

    Those of a kernel group are sorted by mean duration, and each is paired with the next; an odd last one
    joins the pair before it. One alone stands alone.
    """
    order = singles[np.lexsort((moments.mean_x[singles], moments.group[singles]))]
    bounds = np.flatnonzero(np.diff(moments.group[order])) + 1
    collapsed_rows: list[IntArray] = []
    for rows in np.split(order, bounds):
        pairs = max(len(rows) // 2, 1)
        collapsed_rows += np.split(rows, [2 * pair for pair in range(1, pairs)])
    return collapsed_rows


def _one_by_one(moments: Moments, totals: FloatArray, squares: FloatArray) -> Uncertainty:
    """Return the uncertainty of many draws (d, s): which strata have one launch differs from draw to draw."""
    samples, y = (np.broadcast_to(values, totals.shape) for values in (moments.samples, moments.y))
    made = [
        plain_uncertainty(replace(moments, samples=samples[draw], y=y[draw]), totals[draw], squares[draw])
        for draw in range(len(totals))
    ]
    return Uncertainty(
        np.stack([each.of_stratum for each in made]),
        np.array([each.degrees_of_freedom for each in made]),
        np.array([each.known for each in made]),
    )
