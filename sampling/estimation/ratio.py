"""Ratios of two totals of the same launches, such as IPC or a miss rate, with their intervals.

R = A/B is the quotient of the two totals. Its interval is that of `speedup`, of log R, where each launch's
residual is about its own metric's factor of durations, for one may follow them and the other not; and the
strata vary as was declared, for metrics need not be as alike as the cycles of two configurations.

    u_ij = (a_ij - its expectation)/A - (b_ij - its expectation)/B,   relative to S_i = (A_i/A + B_i/B)/2
    R exp(-h) to R exp(h)
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray
from sampling.estimation.interval import (
    Sample,
    estimate,
    moments,
    residual_interval,
    residuals,
    select_durations,
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


def ratio_of_totals(
    sample: Sample,
    name: str,
    numerator: str,
    denominator: str,
    confidence: float,
    strata: BoolArray | None = None,
) -> Ratio:
    """Return the ratio R = A/B of two totals of `estimate`, such as those of misses and accesses.

    What the two share cancels, which takes the same launches of both; those of others are two samples, whose
    relative half-widths add up in squares. Never a mean of the kernels' own ratios, which is biased. Errors
    are those of `Sample.known`. (docs/methods.md, 11 Back from the simulator)

    ``strata`` (s,): of these strata alone, where counters vary as they do in all.
    """
    everything, strata = sample, np.full(len(sample.launches), True) if strata is None else strata
    sample = everything.part(strata)
    above, below = (estimate(sample, metric, confidence) for metric in (numerator, denominator))
    if above.is_incomplete or below.is_incomplete:
        return Ratio(name, reason="no ratio yet: some strata have no result", is_incomplete=True)
    if not below.total > 0:
        return Ratio(name, reason="a ratio has a denominator whose total is 0")
    ratio = above.total / below.total
    has_a, has_b = (~np.isnan(sample.values(metric)) for metric in (numerator, denominator))
    reason = None
    if not above.total > 0:
        return Ratio(name, ratio)
    if (refused := next((total for total in (above, below) if total.low is None), None)) is not None:
        return Ratio(name, ratio, refused.notes[0])
    if np.array_equal(has_a, has_b):
        selected = [select_durations(everything, metric) for metric in (numerator, denominator)]
        pair = [single.part(strata[has_result]) for single, has_result in selected]
        totals = [moments(single, single.y[:, 0]).totals for single in pair]
        u = residuals(pair[0]) / above.total - residuals(pair[1]) / below.total
        size = (totals[0] / above.total + totals[1] / below.total) / 2 / pair[0].launches
        declared = np.maximum(pair[0].declared, pair[1].declared)
        of_pair = moments(replace(pair[1], declared=declared), u)
        half_width = float(residual_interval(of_pair, size).half_width(confidence))
    else:
        assert above.half_width is not None
        assert below.half_width is not None
        half_width = float(np.hypot(above.half_width / above.total, below.half_width / below.total))
        launches = counted(int((has_a & has_b).sum()), "launch has", "launches have")
        reason = f"only {launches} both, so its interval is that of two samples"
    if np.isnan(half_width):
        return Ratio(name, ratio)
    return Ratio(name, ratio, reason, ratio * float(np.exp(-half_width)), ratio * float(np.exp(half_width)))
