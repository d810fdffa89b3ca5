"""From a sample to a total with its interval: what a command asks for.

(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError
from sampling.estimation.interval import Interval, Spreads, interval, spreads_of_totals
from sampling.estimation.moments import Moments, moments
from sampling.estimation.sample import Sample
from sampling.estimation.top_up import sizes_for
from sampling.strata.cycle_spread import DECLARED_FREEDOM
from sampling.text import counted


@dataclass(frozen=True, slots=True)
class Seen:
    """What the sample says of the spread that the plan declared.

    Attributes
    ----------
    variance_ratio : the variance seen over the one declared; 1 where nothing was seen.
    degrees_of_freedom : behind it, times the share of the variance that they are of; 0: nothing was seen.
    share : how much of the declared variance was seen at least twice.
    declared_share : how much of the interval rests on what was declared.
    exceeds : whether more was seen than was declared and chance explains, one time in a hundred.
    """

    variance_ratio: float
    degrees_of_freedom: float
    share: float
    declared_share: float
    exceeds: bool


# Two estimates are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class Estimate:
    """A total over all launches, estimated from the simulated ones.

    Attributes
    ----------
    metric : what it is a total of.
    total : of the strata that have a simulated launch: of a part where some have none; NaN where that part
        is withheld, see `withheld`.
    low, high : the interval; None where there is none. Both are the total where nothing was left out.
    confidence : of the interval.
    degrees_of_freedom : of its variance; None where there is no interval, inf where it is exact.
    stratum_total, stratum_variance : (s,) parts of the total and its variance; NaN and 0 where emptied.
    emptied : (e,) strata that the plan samples and that have no simulated launch.
    share_missing : the share of profile time that these stand for; more than 0 makes the total incomplete.
    launches_missing : launches of the plan without this metric.
    seen : what the sample says of the declared spread; None where there is no interval, or no launch was
        left out.
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
    share_missing: float
    launches_missing: int
    seen: Seen | None
    notes: tuple[str, ...]

    @property
    def is_incomplete(self) -> bool:
        """Whether some strata are not in the total."""
        return len(self.emptied) > 0

    @property
    def half_width(self) -> float | None:
        """Of the interval, in the metric's unit."""
        return None if self.high is None else self.high - self.total

    def withheld(self) -> Estimate:
        """Return the same without a total where it would be one of a part."""
        if not self.is_incomplete:
            return self
        return replace(self, total=np.nan, low=None, high=None, degrees_of_freedom=None, seen=None)

    def is_within(self, epsilon: float) -> bool:
        """Return whether the total is complete and its interval at most epsilon of it to either side."""
        half_width = self.half_width
        return (
            half_width is not None
            and not self.is_incomplete
            and half_width <= epsilon * self.total * (1 + 1e-12)
        )


def estimate(
    sample: Sample, metric: str, confidence: float = 0.95, *, topped_up_to: float | None = None
) -> Estimate:
    """Return the total of a metric over all launches, by the ratio estimator, with its interval.

    Parameters
    ----------
    sample : launches whose metric is NaN count as missing; their stratum is weighted anew.
    confidence : a fraction.
    topped_up_to : the epsilon until which the sample was topped up, if it was: its interval is no narrower,
        for sampling stopped where it was narrow, which is partly chance.

    Raises
    ------
    OptionError : there is no such metric.
    AnalysisError : no launch has the metric.
    """
    made = _fitted(sample, metric)
    return _estimate(made, metric, confidence, interval(made.spreads), topped_up_to)


def estimate_groups(sample: Sample, metric: str, confidence: float = 0.95) -> dict[int, Estimate]:
    """Return the estimate of each kernel group's own total, by its number in `Sample.group`.

    What a group shows is drawn towards what the whole sample shows. Groups without a launch that has the
    metric are left out.

    Raises
    ------
    OptionError, AnalysisError : as `estimate`.
    """
    made = _fitted(sample, metric)
    whole, estimates = interval(made.spreads).factor, {}
    for code, group in enumerate(np.unique(made.moments.group).tolist()):
        strata, inside = made.known.group == group, np.flatnonzero(made.moments.group == group)
        of_group = _Fitted(
            made.known.of_strata(strata),
            made.there[strata],
            made.moments.of_strata(inside),
            made.spreads.of_group(code),
        )
        found = interval(of_group.spreads, whole)
        found = replace(found, of_stratum=found.of_stratum[inside])
        estimates[group] = _estimate(of_group, metric, confidence, found, None)
    return estimates


def next_sizes(sample: Sample, metric: str, epsilon: float, confidence: float = 0.95) -> IntArray:
    """Return (s,) how many launches of each stratum the next round asks for; at least what the plan asks for.

    An emptied stratum keeps its plan. The total needs another round while `Estimate.is_within` says no.

    Raises
    ------
    OptionError, AnalysisError : as `estimate`.
    """
    made = _fitted(sample, metric)
    wanted = sizes_for(made.moments, made.spreads, interval(made.spreads), epsilon, confidence)
    sizes = made.planned.copy()
    sizes[made.there] = np.maximum(sizes[made.there], wanted)
    return np.asarray(np.minimum(sizes, made.known.launches))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The launches that have a metric, the strata that have such a launch, their moments and spreads."""

    known: Sample
    there: BoolArray
    moments: Moments
    spreads: Spreads

    @property
    def planned(self) -> IntArray:
        """(s,) how many launches of each stratum the plan asks for."""
        return self.known.samples if self.known.planned is None else self.known.planned


def _fitted(sample: Sample, metric: str) -> _Fitted:
    known = sample.known(metric)
    there = known.samples > 0
    if not there.any():
        raise AnalysisError(f"no simulated launch of the plan has the metric {metric}")
    made = moments(known.of_strata(there), metric)
    return _Fitted(known, there, made, spreads_of_totals(made))


def _estimate(
    made: _Fitted, metric: str, confidence: float, found: Interval, topped_up_to: float | None
) -> Estimate:
    known, totals, nu = made.known, made.moments.totals(1.0), float(found.degrees_of_freedom)
    total, half_width = float(totals.sum()), float(found.half_width(confidence))
    if topped_up_to is not None and half_width > 0:
        half_width = max(half_width, topped_up_to * total)
    is_known, emptied = not np.isnan(nu), np.flatnonzero(~made.there)
    missing_x = float(np.dot(known.launches[emptied], known.mean_x[emptied]))
    share = missing_x / known.total_x if known.total_x else 0.0
    missing = int(np.maximum(made.planned - known.samples, 0).sum())
    return Estimate(
        metric,
        total,
        max(0.0, total - half_width) if is_known else None,
        total + half_width if is_known else None,
        confidence,
        nu if is_known else None,
        _spread_out(totals, made.there, np.nan),
        _spread_out(found.of_stratum, made.there, 0.0),
        emptied,
        share,
        missing,
        _seen(found) if np.isfinite(nu) else None,
        tuple(_notes(is_known, missing, len(emptied), share)),
    )


def _seen(found: Interval) -> Seen:
    behind = float(found.seen_freedom)
    ratio, share = float(found.variance_ratio), float(found.share_seen)
    return Seen(ratio, behind, share, DECLARED_FREEDOM / (DECLARED_FREEDOM + behind), bool(found.exceeds))


def _spread_out(values: FloatArray, there: BoolArray, missing: float) -> FloatArray:
    of_all = np.full(len(there), missing)
    of_all[there] = values
    return of_all


def _notes(is_known: bool, missing: int, emptied: int, share: float) -> list[str]:
    notes = []
    if not is_known:
        notes.append("no interval: a total of 0 says nothing of the launches that were left out")
    if missing:
        launches = counted(missing, "launch", "launches")
        notes.append(f"{launches} of the plan without a result; the others of their strata weigh more")
    if emptied:
        notes.append(
            f"incomplete: {counted(emptied, 'stratum', 'strata')} without any result, "
            f"{100 * share:.3g} % of the profile's time"
        )
    return notes
