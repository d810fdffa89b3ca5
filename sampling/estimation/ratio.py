"""Ratios of two totals of the same launches, such as IPC or a miss rate, with their intervals.

R = A/B is the quotient of the two totals. Its interval is that of `speedup`, of log R, where each launch's
residual is about its own metric's factor of durations, for one may follow them and the other not; and the
strata vary as was declared, for metrics need not be as alike as the cycles of two configurations.

    u_ij = (a_ij - its expectation)/A - (b_ij - its expectation)/B,   relative to S_i = (A_i/A + B_i/B)/2
    R exp(-h) to R exp(h)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray
from sampling.estimation.interval import (
    Interval,
    Sample,
    estimate,
    moments,
    residual_interval,
    residuals,
    select_durations,
    without_interval,
)
from sampling.text import counted


class Ratio(NamedTuple):
    """A ratio of two totals: IPC, a miss rate, or one configuration over another on the same launches."""

    name: str
    #: None where there is none, and why; with a ratio, what the user should know of it.
    ratio: float | None = None
    reason: str | None = None
    #: The interval, None where there is none; both are the ratio where both totals are exact.
    low: float | None = None
    high: float | None = None
    #: Whether some strata have no launch with both: of a part there is no ratio.
    is_incomplete: bool = False
    #: Of the mean of a counter that does not add up: its unit, and the metric that weights it; "" is the time
    #: that the profile recorded. None of a ratio of two totals.
    unit: str = ""
    weight: str | None = None
    #: Whether it is the quotient of the totals of what it is made of, and not a mean that is weighted.
    is_exact: bool = True


def ratio_of_totals(
    sample: Sample,
    name: str,
    numerator: str,
    denominator: str,
    confidence: float,
    strata: BoolArray | None = None,
    *,
    is_share: bool = False,
) -> Ratio:
    """Return the ratio R = A/B of two totals of `estimate`, such as those of misses and accesses.

    What the two share cancels, which takes the same launches of both; those of others are two samples, whose
    relative half-widths add up in squares. Never a mean of the kernels' own ratios, which is biased. Errors
    are those of `Sample.known`. (docs/methods.md, 11 Back from the simulator)

    ``strata`` (s,): of these strata alone, where counters vary as they do in all. ``is_share``: A is the part
    of the time B in which something holds, which few launches cannot carry as they can a counter.
    """
    above, below = (estimate(sample, name, confidence, strata=strata) for name in (numerator, denominator))
    if above.is_incomplete or below.is_incomplete:
        return Ratio(name, reason="no ratio yet: some strata have no result", is_incomplete=True)
    if not below.total > 0:
        return Ratio(name, reason="a ratio has a denominator whose total is 0")
    ratio = above.total / below.total
    if not above.total > 0:
        return Ratio(name, ratio)
    refusal = above.refusal or below.refusal
    if refusal is not None and not is_share:
        return Ratio(name, ratio, without_interval(refusal))
    strata = np.full(len(sample.launches), True) if strata is None else strata
    part = sample.part(strata)
    has_a, has_b = (~np.isnan(part.values(metric)) for metric in (numerator, denominator))
    reason = None
    if np.array_equal(has_a, has_b):
        half_width = float(_residuals_of_ratio(sample, numerator, denominator, strata).half_width(confidence))
    else:
        relative = [
            math.nan if total.half_width is None else total.half_width / total.total
            for total in (above, below)
        ]
        half_width = math.hypot(*relative)
        launches = counted(int((has_a & has_b).sum()), "launch has", "launches have")
        reason = f"only {launches} both, so its interval is that of two samples"
    if np.isnan(half_width):
        return Ratio(name, ratio)
    return Ratio(name, ratio, reason, ratio * float(np.exp(-half_width)), ratio * float(np.exp(half_width)))


def _residuals_of_ratio(sample: Sample, numerator: str, denominator: str, strata: BoolArray) -> Interval:
    """Return the interval of log R of some strata (s,)."""
    both, has_result = sample.known(numerator, denominator)
    rows, shares, u = strata[has_result], [], []
    pair = [select_durations(both, metric)[0] for metric in (numerator, denominator)]
    for single in pair:
        totals = moments(single, single.y[:, 0]).totals
        # Other strata, which say how a counter varies, are relative to the whole.
        total = np.where(rows, totals[rows].sum(), totals.sum())
        shares.append(totals / total)
        u.append(residuals(single) / total[single.stratum])
    size = (shares[0] + shares[1]) / 2 / both.launches
    is_counter = any(single.is_counter for single in pair)
    return residual_interval(moments(pair[1], u[0] - u[1]), size, rows, is_counter=is_counter)
