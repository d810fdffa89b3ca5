"""From the scale models to the targets: trend, cliff, interval and what is to be said of each.

Source: GPU scale-model simulation, section V; for intervals, unknown f_mem and more than two models see
`interval`, `cliff` and `rules`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalemodel.errors import OptionError
from scalemodel.findings import Finding
from scalemodel.measurements import Measurements, wrong_f_mem, wrong_size
from scalemodel.prediction.classification import classify
from scalemodel.prediction.cliff import CurveReading, CurveStep, read_curve
from scalemodel.prediction.interval import (
    DEFAULT_CONFIDENCE,
    Spread,
    calibrated_up_to,
    calibration,
    gains_of_cliff,
    most_gain_unknown,
)
from scalemodel.prediction.outcome import Bounds, Outcome, Prediction, Region
from scalemodel.prediction.rules import (
    DEFAULT_RULE,
    ModelPair,
    ProportionalFrom,
    Rule,
    Trend,
    rule_named,
    with_proportional_from,
)

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


def predict(
    measurements: Measurements,
    targets: Sequence[int],
    *,
    rules: Sequence[str] = (DEFAULT_RULE,),
    confidence: float = DEFAULT_CONFIDENCE,
    simulated: Sequence[int] | None = None,
    f_mem: float | None = None,
    assume_f_mem: bool = False,
    curve_is_modelled: bool = False,
    proportional_from: ProportionalFrom = "smallest",
) -> Outcome:
    """Predict the IPC of larger systems from two or more scale models.

    Parameters
    ----------
    targets : sizes from the largest model's on; a repeated one counts once.
    rules : names of `rules.RULES`.
    confidence : 0.8, 0.9 or 0.95.
    simulated : sizes of the scale models, in any order; all that have an IPC where None.
    f_mem : of the largest scale model, a fraction; what was measured there where None.
    assume_f_mem : whether to give a point, marked, where f_mem is needed and unknown.
    curve_is_modelled : whether the MPKI come from a model of the cache: a cliff must then be steeper.
    proportional_from : which model the rule ``proportional`` starts from; the paper's figures are from the
        smallest.

    Raises
    ------
    OptionError : fewer than two scale models, one without IPC, a target below the largest, an unknown rule or
        level, f_mem out of range, or a cliff asked for where there is none.
    """
    models = _checked_models(measurements, simulated)
    wanted = _checked_targets(targets, models[-1], measurements.scaling.unit)
    _check_cliff_options(
        measurements, f_mem, asked_for_cliff=assume_f_mem or curve_is_modelled or f_mem is not None
    )
    level = calibration(confidence)
    chosen = _checked_rules(rules, proportional_from)
    reading = read_curve(measurements, models, sorted(wanted), curve_is_modelled=curve_is_modelled)
    points = [(size, _ipc(measurements, size)) for size in models]
    is_cliff_inside = reading.inside is not None
    forecasts = [forecast(rule, points, is_cliff_inside=is_cliff_inside) for rule in chosen]
    reach = calibrated_up_to(measurements.scaling, models)
    spreads = [Spread(level, each.back_cast, is_cliff_inside, reach) for each in forecasts]
    stalls = f_mem if f_mem is not None else measurements.f_mem_at(models[-1])
    question = Question(measurements, points[-1], reading.cliff, stalls, assume_f_mem)
    ends = ModelPair(*points[0], *points[-1])
    return Outcome(
        name=measurements.name,
        models=models,
        confidence=level.confidence,
        predictions=tuple(
            predict_target(question, each, spread, target)
            for target in wanted
            for each, spread in zip(forecasts, spreads, strict=True)
        ),
        cliff=reading.cliff,
        correction=(ends.ideal() if is_cliff_inside else ends).correction,
        back_cast={
            each.rule.name: each.back_cast if each.back_cast != math.inf else None
            for each in forecasts
            if len(points) > 2 and not is_cliff_inside
        },
        classification=classify(measurements, ends, reading),
        findings=(*reading.findings, *_f_mem_findings(reading, stalls, is_given=f_mem is not None)),
    )


def _checked_rules(names: Sequence[str], proportional_from: ProportionalFrom) -> list[Rule]:
    if not names:
        raise OptionError("no scale rule is given", remedy=f"give {DEFAULT_RULE}")
    return [with_proportional_from(rule_named(name), proportional_from) for name in dict.fromkeys(names)]


def _ipc(measurements: Measurements, size: int) -> float:
    ipc = measurements.ipc_at(size)
    if ipc is None:
        raise OptionError(
            f"{_of(measurements)}there is no IPC at size {size}", remedy="simulate it, or name another size"
        )
    return ipc


def _checked_models(measurements: Measurements, simulated: Sequence[int] | None) -> tuple[int, ...]:
    models = measurements.simulated_sizes if simulated is None else tuple(sorted(simulated))
    if len(set(models)) < len(models):
        raise OptionError("a simulated size is named twice", remedy="name each once")
    if len(models) < 2:
        count = "one size alone is" if models else "no size is"
        raise OptionError(
            f"{_of(measurements)}{count} simulated, which shows no trend",
            remedy="give the IPC of two sizes or more",
        )
    for size in models:
        _ipc(measurements, size)
    return models


def _checked_targets(targets: Sequence[int], largest: int, unit: str) -> tuple[int, ...]:
    if not targets:
        raise OptionError("no target is given", remedy="give the size of the system to predict")
    for target in targets:
        wrong = wrong_size(target)
        if wrong is not None:
            raise OptionError(f"the target: {wrong}")
        if target < largest:
            raise OptionError(
                f"the target of {target} {unit} is below the largest scale model, {largest} {unit}",
                remedy="give larger targets, or name the simulated sizes",
            )
    return tuple(dict.fromkeys(targets))


def _check_cliff_options(measurements: Measurements, f_mem: float | None, *, asked_for_cliff: bool) -> None:
    wrong = None if f_mem is None else wrong_f_mem(f_mem)
    if wrong is not None:
        raise OptionError(wrong)
    if asked_for_cliff and not measurements.scaling.has_cliffs:
        raise OptionError(
            f"under {measurements.scaling} scaling there is no cliff: the working set grows with the system",
            remedy="leave f_mem and the curve's options out, or say strong scaling",
        )


def _f_mem_findings(reading: CurveReading, f_mem: float | None, *, is_given: bool) -> list[Finding]:
    if reading.cliff is None:
        message = "There is no cliff on the way to the targets, so f_mem is not used."
        return [Finding("f-mem-unused", "note", message, "leave it out")] if is_given else []
    if f_mem is not None:
        return [] if f_mem > 0 else [_F_MEM_ZERO]
    return [
        Finding(
            "f-mem-missing",
            "warning",
            "There is a cliff on the way, and what it gains follows from f_mem of the largest model, "
            "which is not known; a bracket is given.",
            "count the cycles in which no SM can fetch for memory, or ask for an assumed f_mem",
        )
    ]


_F_MEM_ZERO = Finding(
    "f-mem-zero",
    "warning",
    "There is a cliff on the way, yet f_mem is 0: if warps never wait for memory, there is nothing to gain "
    "where the misses go. One of the two is likely wrong, and no gain is applied.",
    "check f_mem of the largest model, or leave it out for a bracket",
)


def _of(measurements: Measurements) -> str:
    return f"{measurements.name}: " if measurements.name else ""
