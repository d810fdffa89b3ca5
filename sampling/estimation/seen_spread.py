"""The spreads that a sample shows, to stand beside those that the plan declared.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray
from sampling.estimation.moderated import spreads_of_totals
from sampling.estimation.moments import Moments


@dataclass(frozen=True, slots=True)
class SeenSpread:
    """How a metric departs from profiled durations, as fractions.

    Attributes
    ----------
    within : standard deviation of the metric per nanosecond within strata of one kernel group, beside the
        noise floor; None where no stratum has two launches.
    within_freedom : its degrees of freedom.
    between : that of the kernel groups' metric per nanosecond, what sampling adds taken out, beside the
        kernel spread; None for fewer than two kernel groups.
    kernel_groups : how many of these there are.
    """

    within: float | None
    within_freedom: int
    between: float | None
    kernel_groups: int


def seen_spread(moments: Moments) -> SeenSpread:
    """Return the spreads in one sample, (s,) arrays; strata that span kernel groups tell neither."""
    spreads = spreads_of_totals(moments)
    own = ~moments.pooled & (moments.y > 0)
    replicated = own & (moments.replicates > 0)
    freedom = float(moments.replicates[replicated].sum())
    squares = float((spreads.own * spreads.freedom)[replicated].sum())
    # Drawn towards each other, spreads add up to more than there is: each stratum's own does not.
    relative = np.where(replicated, spreads.own, spreads.common)
    groups = _group_ratios(moments, relative, own)
    between = None
    if len(groups) > 1:
        ratio, variance = groups.T
        excess = float(ratio.var(ddof=1) - variance.mean())
        between = float(np.sqrt(max(excess, 0.0)) / ratio.mean())
    return SeenSpread(
        float(np.sqrt(squares / freedom)) if freedom else None, int(freedom), between, len(groups)
    )


def _group_ratios(moments: Moments, relative: FloatArray, own: BoolArray) -> FloatArray:
    """Return (g, 2) the metric per nanosecond of each kernel group that lasts, and its sampling variance."""
    codes, code = np.unique(moments.group[own], return_inverse=True)

    def of_groups(values: FloatArray) -> FloatArray:
        return np.bincount(code, values[own], minlength=len(codes)).astype(np.float64)

    totals = moments.totals(1.0)
    x = of_groups(moments.launches * moments.mean_x)
    y = of_groups(totals)
    variance = of_groups(totals**2 * moments.left_out * relative)
    lasts = x > 0
    return np.stack([y[lasts] / x[lasts], variance[lasts] / x[lasts] ** 2], axis=1)
