"""One target by one rule: the trend, what the cliff gains, and how far that can be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalemodel.measurements import Measurements
from scalemodel.prediction.cliff import CurveStep
from scalemodel.prediction.interval import Spread, gains_of_cliff, most_gain_unknown
from scalemodel.prediction.outcome import Bounds, Prediction, Region
from scalemodel.prediction.rules import ModelPair, Rule, Trend

ASSUMED_F_MEM = 0.5
# Of an interval, either way: one that is wider says nothing.
_MOST_WIDENING = 1e6
_BEYOND = "beyond the calibrated range"
_CLIFF_NOT_PLACED = "where the cliff lies between its sizes is not known"


@dataclass(frozen=True, slots=True)
class Forecast:
    """A rule and the pairs of models that it goes by.

    Attributes
    ----------
    rule : the rule.
    pairs : its trend is the geometric mean over them.
    back_cast : largest |ln(actual / predicted)| over the models from the third on, each predicted from the
        two before; None with two models, infinite where one has no prediction.
    """

    rule: Rule
    pairs: tuple[ModelPair, ...]
    back_cast: float | None

    def trend(self, target: int, cliff: int | None) -> Trend:
        """Return the IPC at a target without the cliff's gain; none where one of the pairs gives none.

        Parameters
        ----------
        cliff : the first size beyond the cliff, where the target has reached it.
        """
        trends = [self.rule.trend(pair, target, cliff) for pair in self.pairs]
        remark = "; ".join(dict.fromkeys(trend.remark for trend in trends if trend.remark))
        known = [trend.ipc for trend in trends if trend.ipc is not None]
        if len(known) < len(trends):
            return Trend(None, remark)
        if len(known) == 1:
            return Trend(known[0], remark)
        return Trend(math.exp(math.fsum(map(math.log, known)) / len(known)), remark)


def forecast(rule: Rule, models: Sequence[tuple[int, float]], *, is_cliff_inside: bool) -> Forecast:
    """Return a rule's forecast from (size, IPC) of two or more models, in ascending order."""
    neighbours = tuple(ModelPair(*small, *large) for small, large in pairwise(models))
    pairs = neighbours
    if rule.uses_ends:
        pairs = (ModelPair(*models[0], *models[-1]),)
    elif is_cliff_inside and not rule.is_baseline:
        # What lies before the cliff shows no trend for what lies beyond it.
        pairs = (neighbours[-1].ideal(),)
    errors = [_error(rule, pair, *model) for pair, model in zip(neighbours[:-1], models[2:], strict=True)]
    return Forecast(rule, pairs, max(errors, default=None))


def _error(rule: Rule, pair: ModelPair, size: int, ipc: float) -> float:
    predicted = rule.trend(pair, size, None).ipc
    return math.inf if predicted is None else abs(math.log(ipc / predicted))


@dataclass(frozen=True, slots=True)
class Question:
    """What all rules are asked.

    Attributes
    ----------
    measurements : the benchmark's.
    largest : size and IPC of the largest scale model.
    cliff : the one to apply.
    f_mem : of the largest scale model, None where unknown.
    assume_f_mem : whether to give a point where it is unknown.
    """

    measurements: Measurements
    largest: tuple[int, float]
    cliff: CurveStep | None
    f_mem: float | None
    assume_f_mem: bool

    def region(self, target: int) -> Region:
        """Return where a target lies."""
        if target == self.largest[0]:
            return Region.LARGEST
        if self.cliff is None or target <= self.cliff.smaller:
            return Region.TREND
        if target < self.cliff.larger:
            return Region.BETWEEN
        return Region.AT if target == self.cliff.larger else Region.BEYOND


@dataclass(frozen=True, slots=True)
class _Estimate:
    """Point and ends, what these are, and what is to be said of them."""

    ipc: float | None
    low: float | None
    high: float | None
    bounds: Bounds
    remarks: Sequence[str] = ()


def predict_target(question: Question, forecast: Forecast, spread: Spread, target: int) -> Prediction:
    """Return what a rule says of a target."""
    region, name = question.region(target), forecast.rule.name
    if region is Region.LARGEST:
        ipc = question.largest[1]
        return Prediction(target, name, ipc, ipc, ipc, region, "as simulated", Bounds.SIMULATED)
    passed = question.cliff is not None and region in {Region.AT, Region.BEYOND}
    trend = forecast.trend(target, question.cliff.larger if question.cliff is not None and passed else None)
    if trend.ipc is None:
        return Prediction(target, name, None, None, None, region, trend.remark)
    if forecast.rule.is_baseline:
        estimate = _baseline(trend.ipc, region)
    elif question.cliff is None or region is Region.TREND:
        estimate = _on_trend(trend.ipc, _widening(question, spread, target), spread)
    elif question.f_mem is None:
        estimate = _gain_unknown(question, question.cliff, target, trend.ipc)
    else:
        widening = _widening(question, spread, target)
        gains = gains_of_cliff(question.cliff, question.f_mem)
        estimate = _with_gain(trend.ipc, region, gains, widening, spread)
    is_beyond = _is_beyond(estimate, spread, target, is_known=question.f_mem is not None)
    remarks = (
        trend.remark,
        *estimate.remarks,
        _BEYOND if is_beyond else "",
        *_doubts(question, target, estimate.ipc),
    )
    return Prediction(
        target,
        name,
        estimate.ipc,
        estimate.low,
        estimate.high,
        region,
        "; ".join(filter(None, remarks)),
        estimate.bounds,
        is_beyond,
    )


def _is_beyond(estimate: _Estimate, spread: Spread, target: int, *, is_known: bool) -> bool:
    """Return whether the half-width is used where it was not calibrated.

    A bracket is widened by it where f_mem is known.
    """
    if estimate.low is None or target <= spread.calibrated_up_to or spread.cliff_between_models:
        return False
    return estimate.bounds is not Bounds.BRACKET or is_known


def _baseline(trend: float, region: Region) -> _Estimate:
    return _Estimate(trend, None, None, Bounds.NONE, () if region is Region.TREND else ("knows no cliff",))


def _on_trend(trend: float, widening: float | None, spread: Spread) -> _Estimate:
    ends, bounds = _widened(trend, trend, widening), _bounds(widening, spread)
    return _Estimate(trend, *ends, bounds, _doubts_of_interval(widening, spread))


def _with_gain(
    trend: float, region: Region, gains: tuple[float, float], widening: float | None, spread: Spread
) -> _Estimate:
    least, most = gains
    remarks = _doubts_of_interval(widening, spread)
    if region is not Region.BETWEEN:
        ends = _widened(trend * least, trend * most, widening)
        return _Estimate(trend * most, *ends, _bounds(widening, spread), remarks)
    # Nothing of the gain, or all of it.
    ends = _widened(trend, trend * most, widening)
    bounds = Bounds.NONE if widening is None else Bounds.BRACKET
    return _Estimate(None, *ends, bounds, (f"bracket, no point: {_CLIFF_NOT_PLACED}", *remarks))


def _gain_unknown(question: Question, cliff: CurveStep, target: int, trend: float) -> _Estimate:
    """Bracket the gain by the misses that go and by the peak; a point only if f_mem may be assumed."""
    peak = question.measurements.peak_ipc_per_sm
    gain = most_gain_unknown(cliff, None if peak is None else peak * target / trend)
    high = None if gain is None else trend * gain
    kind = "bracket, no interval" if high is not None else "bracket open at the top"
    if question.region(target) is Region.BETWEEN:
        return _Estimate(None, trend, high, Bounds.BRACKET, (f"{kind}: {_CLIFF_NOT_PLACED}, nor is f_mem",))
    if not question.assume_f_mem:
        return _Estimate(None, trend, high, Bounds.BRACKET, (f"{kind}: f_mem is not known",))
    f_mem = ASSUMED_F_MEM if gain is None else min(ASSUMED_F_MEM, 1 - 1 / gain)
    assumed = f"f_mem assumed, {f_mem:.3g}"
    if f_mem < ASSUMED_F_MEM:
        remarks = (f"{assumed}, the most the bracket allows", kind)
        return _Estimate(high, trend, high, Bounds.BRACKET, remarks)
    return _Estimate(trend / (1 - f_mem), trend, high, Bounds.BRACKET, (assumed, kind))


def _widening(question: Question, spread: Spread, target: int) -> float | None:
    """Return the factor of the interval's half-width; None where there is no interval."""
    half_width = spread.half_width(math.log2(target / question.largest[0]))
    return math.exp(half_width) if half_width <= math.log(_MOST_WIDENING) else None


def _widened(low: float, high: float, widening: float | None) -> tuple[float | None, float | None]:
    return (None, None) if widening is None else (low / widening, high * widening)


def _bounds(widening: float | None, spread: Spread) -> Bounds:
    return Bounds.NONE if widening is None else spread.bounds


def _doubts_of_interval(widening: float | None, spread: Spread) -> tuple[str, ...]:
    if widening is None:
        failed = spread.back_cast is not None and math.isinf(spread.back_cast)
        how = "cannot predict a model" if failed else "is too far off at a model that it predicts"
        return (f"no interval: the rule {how} from those before it",)
    return ("interval not calibrated",) if spread.cliff_between_models else ()


def _doubts(question: Question, target: int, ipc: float | None) -> list[str]:
    if ipc is None:
        return []
    size, largest_ipc = question.largest
    peak = question.measurements.peak_ipc_per_sm
    doubts = [] if ipc >= largest_ipc else [f"below the IPC of {size} {question.measurements.scaling.unit}"]
    if peak is not None and ipc > peak * target:
        doubts.append(f"above the peak of {peak * target:.6g}")
    return doubts
