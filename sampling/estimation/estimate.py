"""From a sample to a total with its interval: what a command asks for.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import Uncertainty
from sampling.estimation.moderated import moderated, moderated_uncertainty, spreads_of_totals
from sampling.estimation.moments import Moments, moments
from sampling.estimation.plain import plain
from sampling.estimation.sample import Sample
from sampling.estimation.top_up import sizes_for, topped_up_half_width
from sampling.text import Wording, counted

IntervalName = Literal["moderated", "plain"]

_INTERVALS = {"moderated": moderated, "plain": plain}
# Below this many degrees of freedom an interval rests on few comparisons, and says so.
_FEW = 5


# Two estimates are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Estimate:
    """A total over all launches, estimated from the simulated ones.

    Attributes
    ----------
    metric : what it is a total of.
    total : of the strata that have a simulated launch.
    low, high : the interval; None where there is none. Both are the total where nothing was left out.
    confidence : of the interval.
    degrees_of_freedom : of its variance; None where there is no interval, inf where it is exact.
    stratum_total, stratum_variance : (s,) parts of the total and its variance; NaN and 0 where emptied.
    emptied : (e,) strata that the plan samples and that have no simulated launch.
    share_missing : the share of profile time that these stand for; more than 0 makes the total incomplete.
        None where the profile has no durations.
    launches_missing : launches of the plan without this metric.
    notes : what the user should know of it.
    """

    metric: str
    total: float
    low: float | None
    high: float | None
    confidence: float
    degrees_of_freedom: float | None
    stratum_total: FloatArray
    stratum_variance: FloatArray
    emptied: IntArray
    share_missing: float | None
    launches_missing: int
    notes: tuple[str, ...]

    @property
    def is_incomplete(self) -> bool:
        """Whether some strata are not in the total."""
        return len(self.emptied) > 0

    @property
    def half_width(self) -> float | None:
        """Of the interval, in the metric's unit."""
        return None if self.high is None else self.high - self.total

    def is_within(self, epsilon: float) -> bool:
        """Return whether the total is complete and its interval at most epsilon of it to either side."""
        half_width = self.half_width
        return (
            half_width is not None
            and not self.is_incomplete
            and half_width <= epsilon * self.total * (1 + 1e-12)
        )


def estimate(
    sample: Sample,
    metric: str,
    confidence: float = 0.95,
    interval: IntervalName = "moderated",
    *,
    topped_up_to: float | None = None,
) -> Estimate:
    """Return the total of a metric over all launches, with its interval.

    Parameters
    ----------
    sample : launches whose metric is NaN count as missing; their stratum is weighted anew.
    confidence : a fraction.
    topped_up_to : the epsilon until which the sample was topped up, if it was: its interval is a little
        wider, and no narrower than that.

    Raises
    ------
    OptionError : there is no such metric or interval.
    AnalysisError : no launch has the metric.
    """
    made = _fitted(sample, metric, interval)
    totals, uncertainty = _INTERVALS[interval](made.moments)
    return _estimate(made, metric, confidence, totals, uncertainty, topped_up_to)


def estimate_groups(
    sample: Sample, metric: str, confidence: float = 0.95, interval: IntervalName = "moderated"
) -> dict[int, Estimate]:
    """Return the estimate of each kernel group's own total, by its number in `Sample.group`.

    A moderated interval uses the spreads of all strata, a plain one those of the group alone. Groups without
    a launch that has the metric are left out.

    Raises
    ------
    OptionError, AnalysisError : as `estimate`.
    """
    made = _fitted(sample, metric, interval)
    spreads = spreads_of_totals(made.moments)
    estimates = {}
    for group in np.unique(made.moments.group).tolist():
        strata = made.known.group == group
        inside = np.flatnonzero(made.moments.group == group)
        of_group = _Fitted(made.known.of_strata(strata), made.there[strata], made.moments.of_strata(inside))
        if interval == "plain":
            totals, uncertainty = plain(of_group.moments)
        else:
            totals = of_group.moments.totals(1.0)
            size = totals / of_group.moments.launches
            uncertainty = moderated_uncertainty(of_group.moments, size, spreads.of_strata(inside))
        estimates[group] = _estimate(of_group, metric, confidence, totals, uncertainty, None)
    return estimates


def next_sizes(
    sample: Sample,
    metric: str,
    epsilon: float,
    confidence: float = 0.95,
    interval: IntervalName = "moderated",
) -> IntArray:
    """Return (s,) how many launches of each stratum the next round asks for; at least what the plan asks for.

    An emptied stratum keeps its plan. The total needs another round while `Estimate.is_within` says no.

    Raises
    ------
    OptionError, AnalysisError : as `estimate`.
    """
    made = _fitted(sample, metric, interval)
    wanted = sizes_for(made.moments, *_INTERVALS[interval](made.moments), epsilon, confidence)
    sizes = made.planned.copy()
    sizes[made.there] = np.maximum(sizes[made.there], wanted)
    return np.asarray(np.minimum(sizes, made.known.launches))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The launches that have a metric, the strata that have such a launch, and their moments."""

    known: Sample
    there: BoolArray
    moments: Moments

    @property
    def planned(self) -> IntArray:
        """(s,) how many launches of each stratum the plan asks for."""
        return self.known.samples if self.known.planned is None else self.known.planned


def _fitted(sample: Sample, metric: str, interval: str) -> _Fitted:
    if interval not in _INTERVALS:
        raise OptionError(Wording("`interval` is moderated or plain, not {}", interval))
    known = sample.known(metric)
    there = known.samples > 0
    if not there.any():
        raise AnalysisError(f"no simulated launch of the plan has the metric {metric}")
    return _Fitted(known, there, moments(known.of_strata(there), metric))


def _estimate(
    made: _Fitted,
    metric: str,
    confidence: float,
    totals: FloatArray,
    uncertainty: Uncertainty,
    topped_up_to: float | None,
) -> Estimate:
    known, is_known = made.known, bool(uncertainty.known)
    half_width = uncertainty.half_width(confidence)
    if topped_up_to is not None and float(uncertainty.variance) > 0:
        half_width = topped_up_half_width(half_width, totals, topped_up_to)
    total = float(totals.sum())
    emptied = np.flatnonzero(~made.there)
    missing_x = float(np.dot(known.launches[emptied], known.mean_x[emptied]))
    share = missing_x / known.total_x if known.total_x else 0.0
    missing = int(np.maximum(made.planned - known.samples, 0).sum())
    nu = float(uncertainty.degrees_of_freedom)
    return Estimate(
        metric,
        total,
        max(0.0, total - float(half_width)) if is_known else None,
        total + float(half_width) if is_known else None,
        confidence,
        nu if is_known else None,
        _spread_out(totals, made.there, np.nan),
        _spread_out(uncertainty.of_stratum, made.there, 0.0),
        emptied,
        share,
        missing,
        tuple(_notes(is_known, nu, missing, len(emptied), share)),
    )


def _spread_out(values: FloatArray, there: BoolArray, missing: float) -> FloatArray:
    of_all = np.full(len(there), missing)
    of_all[there] = values
    return of_all


def _notes(is_known: bool, nu: float, missing: int, emptied: int, share: float) -> list[str]:
    notes = []
    if not is_known:
        notes.append("no interval: no two simulated launches can be compared where launches were left out")
    elif nu < _FEW:
        notes.append(f"the interval rests on {nu:.1f} degrees of freedom, fewer than {_FEW}")
    if missing:
        launches = counted(missing, "launch", "launches")
        notes.append(f"{launches} of the plan without a result; the others of their strata weigh more")
    if emptied:
        notes.append(
            f"incomplete: {counted(emptied, 'stratum', 'strata')} without any result, "
            f"{100 * share:.3g} % of the profile's time"
        )
    return notes
