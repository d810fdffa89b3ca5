"""From the scale models to the targets: trend, cliff, interval, class, and what is to be said of each.

Source: GPU scale-model simulation, sections IV and V; for intervals and more than two models see `rules`.
With f = f_mem, r the share of the misses left, and w the interval's half-width in ln IPC:

    on the trend             trend * e^(-w), trend, trend * e^w
    at a cliff and beyond    trend / (1 - f (1 - r)) * e^(-w), trend / (1 - f) [Eq. 3], trend / (1 - f) * e^w
    within the cliff's step  trend * e^(-w), no point, trend / (1 - f) * e^w
    f unknown                trend, no point, trend * min(1/r, peak / trend)

The stalls go away with the misses that go, or altogether, as where the cache's bandwidth was what the warps
waited for. Where IPC grows faster than size from model to model, these have the gain already: the trend goes
on without it (on real runs both together were 480 and 810 % too much, the trend alone 0.7 %).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import msgspec

from sampling.errors import OptionError
from sampling.record import Record
from scalemodel.cliff import CurveReading, CurveStep, Finding, read_curve
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, wrong_f_mem, wrong_size
from scalemodel.rules import (
    CLIFF_BETWEEN_MODELS,
    DEFAULT_CONFIDENCE,
    DEFAULT_RULE,
    LEAST_BACK_CAST,
    Bounds,
    Calibration,
    ModelPair,
    Rule,
    beyond_benchmarks,
    calibrated_up_to,
    calibration,
    rule_named,
)

_ASSUMED_F_MEM = 0.5
# In ln IPC, of an interval either way: one that is wider says nothing.
_MOST_HALF_WIDTH = math.log(1e6)
# Of IPC per size, for each doubling; this project's own. Of the 11 strong-scaling benchmarks at hand it
# agrees with the paper's Table II on nine: unet and btree, sub-linear there, look linear from 8 to 16 SMs.
_LINEAR_WITHIN = 0.02
_FLAT_WITHIN = 0.05
# Sizes next to each other can make any change of a doubling, one that no double holds too.
_MOST_CHANGE_SHOWN = 10.0


class Region(StrEnum):
    """Where a target lies on the miss-rate curve. [GPU scale-model simulation, section V-C]"""

    LARGEST = "largest model"
    TREND = "trend"
    BETWEEN = "between sizes of a cliff"
    AT = "at the cliff"
    BEYOND = "beyond the cliff"


class Classification(Record, frozen=True):
    """How IPC goes with size, linear, sub-linear or super-linear, and the reason in words."""

    scaling: str
    reason: str


_BEYOND = "beyond the calibrated range"


class Prediction(Record, frozen=True):
    """What one rule says of one target: no IPC where there is no point, low alone where the top is open."""

    target: int
    method: str
    ipc: float | None
    low: float | None
    high: float | None
    region: Region
    note: str
    bounds: Bounds = Bounds.NONE
    #: The IPC that was simulated there, and predicted / measured - 1.
    measured: float | None = None
    error: float | None = None

    def beside(self, measured: float | None) -> Prediction:
        """Return it beside the IPC that was simulated at the target, None where none was."""
        if measured is None or self.region is Region.LARGEST:
            return self
        error = None if self.ipc is None else self.ipc / measured - 1
        return msgspec.structs.replace(self, measured=measured, error=error)

    @property
    def is_beyond(self) -> bool:
        """Whether models, target or efficiency are others than the intervals were calibrated on."""
        return _BEYOND in self.note


class ScaleModel(Record, frozen=True):
    """A small system that was simulated."""

    size: int
    ipc: float


class Cliff(Record, frozen=True):
    """Where the working set comes to fit, and how many times fewer misses there are; None: none are left."""

    smaller: int
    larger: int
    mpki_smaller: float
    mpki_larger: float
    ratio: float | None


class Outcome(Record, frozen=True, kw_only=True, rename={"name": "benchmark"}):
    """All predictions for one benchmark."""

    name: str
    scaling: Scaling
    #: The scale models that were used, ascending.
    simulated: tuple[ScaleModel, ...]
    mpki_unit: MpkiUnit
    confidence: float
    #: The one applied, the first above the largest model and on the way to the targets.
    cliff: Cliff | None
    #: Target by target in the order asked, the rules in theirs.
    predictions: tuple[Prediction, ...]
    #: C [Eq. 1] of the smallest and the largest model; 1 where a cliff lies between them.
    correction: float
    #: Rule -> largest |ln(actual / predicted)| of a model from the two before, None where one has no
    #: prediction; empty with two models, and where a cliff lies between them: it is not used there.
    back_cast: Mapping[str, float | None]
    classification: Classification
    #: What concerns the whole.
    findings: tuple[Finding, ...]

    @property
    def models(self) -> tuple[int, ...]:
        """The sizes of the scale models, ascending."""
        return tuple(model.size for model in self.simulated)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that cast doubt on the predictions."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")


class _Context(NamedTuple):
    """What all rules go by: measurements, models with their IPC, the cliff to apply, and how to."""

    measurements: Measurements
    points: Sequence[tuple[int, float]]
    cliff: CurveStep | None
    has_cliff_inside: bool
    f_mem: float | None
    assume_f_mem: bool
    level: Calibration


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

    Raises OptionError: fewer than two scale models, one without IPC, a target below the largest, an unknown
    rule or level, f_mem out of range, or a cliff asked for where there is none.
    """
    if wrong := f_mem is not None and wrong_f_mem(f_mem):
        raise OptionError(wrong)
    if not measurements.scaling.has_cliffs and (assume_f_mem or curve_is_modelled or f_mem is not None):
        growing = f"under {measurements.scaling} scaling there is no cliff: the working set grows with it"
        raise OptionError(growing, remedy="leave f_mem and the curve's options out, or say strong scaling")
    level, scale_rules = calibration(confidence), [rule_named(name) for name in dict.fromkeys(rules)]
    models, distinct_targets = _checked(measurements, simulated, targets), list(dict.fromkeys(targets))
    points = [(size, measurements.ipc[size]) for size in models]
    reading = read_curve(measurements, models, sorted(distinct_targets), curve_is_modelled=curve_is_modelled)
    is_inside, ends = reading.inner is not None, ModelPair(*points[0], *points[-1])
    has_gain = not is_inside and ends.correction_per_doubling > 1 + _LINEAR_WITHIN
    stalls = f_mem if f_mem is not None else measurements.f_mem.get(models[-1])
    cliff = None if has_gain else reading.cliff
    context = _Context(measurements, points, cliff, is_inside, stalls, assume_f_mem, level)
    back_casts = {
        rule.name: _back_cast(rule, points) for rule in scale_rules if len(points) > 2 and not is_inside
    }
    gain = _gain_finding(
        reading.cliff, stalls, has_gain=has_gain, is_given=f_mem is not None, is_assumed=assume_f_mem
    )
    predictions = [
        _predicted(context, rule, back_casts.get(rule.name), target)
        for target in distinct_targets
        for rule in scale_rules
    ]
    return Outcome(
        name=measurements.name,
        scaling=measurements.scaling,
        simulated=tuple(ScaleModel(size, ipc) for size, ipc in points),
        mpki_unit=measurements.mpki_unit,
        confidence=level.confidence,
        cliff=None if cliff is None else _cliff_record(cliff),
        predictions=tuple(
            prediction.beside(measurements.ipc.get(prediction.target)) for prediction in predictions
        ),
        correction=1.0 if is_inside else ends.correction,
        back_cast={name: None if back == math.inf else back for name, back in back_casts.items()},
        classification=_classify(measurements, ends, reading),
        findings=reading.findings if gain is None else (*reading.findings, gain),
    )


def _checked(
    measurements: Measurements, simulated: Sequence[int] | None, targets: Sequence[int]
) -> tuple[int, ...]:
    """Return the sizes of the scale models, ascending; OptionError where they, or the targets, are wrong."""
    prefix, unit = f"{measurements.name}: " if measurements.name else "", measurements.scaling.unit
    models = measurements.simulated_sizes if simulated is None else tuple(sorted(simulated))
    if len(set(models)) < len(models):
        raise OptionError("a simulated size is named twice", remedy="name each once")
    if len(models) < 2:
        message = f"{prefix}{'one size alone is' if models else 'no size is'} simulated, which shows no trend"
        raise OptionError(message, remedy="give the IPC of two sizes or more")
    if missing := [size for size in models if size not in measurements.ipc]:
        message = f"{prefix}there is no IPC at size {missing[0]}"
        raise OptionError(message, remedy="simulate it, or name another size")
    if not targets:
        raise OptionError("no target is given", remedy="give the size of the system to predict")
    for target in targets:
        wrong = wrong_size(target)
        if wrong is None and target < models[-1]:
            wrong = f"{target} {unit} are below the largest scale model, {models[-1]} {unit}"
        if wrong is not None:
            remedy = "give larger targets, or name the simulated sizes"
            raise OptionError(f"the target: {wrong}", remedy=remedy)
    return models


def _cliff_record(step: CurveStep) -> Cliff:
    return Cliff(step.smaller, step.larger, step.mpki_smaller, step.mpki_larger, step.ratio)


def _back_cast(rule: Rule, points: Sequence[tuple[int, float]]) -> float:
    """Return the largest |ln(actual / predicted)| of a model from the two before; infinite without one."""
    errors = []
    for small, large, (size, ipc) in zip(points, points[1:], points[2:], strict=False):
        predicted = rule.trend(ModelPair(*small, *large), size, None).ipc
        errors.append(math.inf if predicted is None else abs(math.log(ipc / predicted)))
    return max(errors)


def _pairs(context: _Context, rule: Rule) -> list[ModelPair]:
    """Return the pairs of models that a rule goes by."""
    if rule.uses_ends:
        return [ModelPair(*context.points[0], *context.points[-1])]
    neighbours = [ModelPair(*small, *large) for small, large in pairwise(context.points)]
    if context.has_cliff_inside and not rule.is_baseline:
        # What lies before the cliff shows no trend for what lies beyond it.
        return [neighbours[-1]._replace(is_ideal=True)]
    return neighbours


def _predicted(context: _Context, rule: Rule, back_cast: float | None, target: int) -> Prediction:
    """Return what a rule says of a target, by the formulas above."""
    largest, largest_ipc = context.points[-1]
    if target == largest:
        numbers = (largest_ipc,) * 3
        return Prediction(target, rule.name, *numbers, Region.LARGEST, "as simulated", Bounds.SIMULATED)
    region, cliff = Region.TREND, context.cliff
    if cliff is not None and target > cliff.smaller:
        region = Region.BETWEEN if target < cliff.larger else Region.BEYOND
        region = Region.AT if target == cliff.larger else region
    passed_cliff = cliff.larger if cliff is not None and target >= cliff.larger else None
    pairs = _pairs(context, rule)
    trends = [rule.trend(pair, target, passed_cliff) for pair in pairs]
    remarks = list(dict.fromkeys(trend.remark for trend in trends if trend.remark))
    ipcs = [trend.ipc for trend in trends if trend.ipc is not None]
    if len(ipcs) < len(trends):
        return Prediction(target, rule.name, None, None, None, region, "; ".join(remarks))
    # The geometric mean over the pairs; of one its own digits.
    trend = ipcs[0] if len(ipcs) == 1 else math.exp(math.fsum(map(math.log, ipcs)) / len(ipcs))
    (low, ipc, high), notes = _gained(context, region, target, trend)
    bounds, width = Bounds.BRACKET, 0.0
    if rule.is_baseline:
        ipc, bounds, notes = trend, Bounds.NONE, [] if region is Region.TREND else ["knows no cliff"]
    elif region is Region.TREND or context.f_mem is not None:
        bounds, width, of_width = _half_width(context, pairs[-1], back_cast, target, trend)
        bounds = Bounds.BRACKET if ipc is None and bounds is not Bounds.NONE else bounds
        notes += [of_width] if of_width else []
    is_bounded, reach = bounds is not Bounds.NONE, math.exp(width)
    ends = (low / reach if is_bounded else None, high * reach if is_bounded and high is not None else None)
    peak = context.measurements.peak_ipc_per_sm
    if ipc is not None and ipc < largest_ipc:
        notes.append(f"below the IPC of {largest} {context.measurements.scaling.unit}")
    if ipc is not None and peak is not None and ipc > peak * target:
        notes.append(f"above the peak of {peak * target:.6g}")
    return Prediction(target, rule.name, ipc, *ends, region, "; ".join((*remarks, *notes)), bounds)


_NOT_PLACED = "where the cliff lies between its sizes is not known"
_Numbers = tuple[float, float | None, float | None]


def _gained(context: _Context, region: Region, target: int, trend: float) -> tuple[_Numbers, list[str]]:
    """Return low, IPC and high before any interval, of what the cliff gains, and remarks.

    Without f_mem the gain is bracketed by the misses that go and by the peak.
    """
    cliff, f_mem, peak = context.cliff, context.f_mem, context.measurements.peak_ipc_per_sm
    if cliff is None or region is Region.TREND:
        return (trend, trend, trend), []
    if f_mem is not None:
        upper, lower = trend * (1 / (1 - f_mem)), trend * (1 / (1 - f_mem * (1 - cliff.left)))
        if region is Region.BETWEEN:
            return (trend, None, upper), [f"bracket, no point: {_NOT_PLACED}"]
        return (lower, upper, upper), []
    limits = (cliff.ratio, None if peak is None else peak * target / trend)
    gain = min((max(1.0, limit) for limit in limits if limit is not None), default=None)
    high, point = None if gain is None else trend * gain, None
    kind = "bracket open at the top" if gain is None else "bracket, no interval"
    if region is Region.BETWEEN:
        note = f"{kind}: {_NOT_PLACED}, nor is f_mem"
    elif not context.assume_f_mem:
        note = f"{kind}: f_mem is not known"
    elif gain is not None and 1 - 1 / gain < _ASSUMED_F_MEM:
        point, note = high, f"f_mem assumed, {1 - 1 / gain:.3g}, the most the bracket allows; {kind}"
    else:
        point, note = trend / (1 - _ASSUMED_F_MEM), f"f_mem assumed, {_ASSUMED_F_MEM:.3g}; {kind}"
    return (trend, point, high), [note]


def _half_width(
    context: _Context, pair: ModelPair, back_cast: float | None, target: int, trend: float
) -> tuple[Bounds, float, str | None]:
    """Return what kind of interval there is, its half-width in ln IPC, and a remark."""
    scaling, level, models = context.measurements.scaling, context.level, [size for size, _ in context.points]
    doublings, bounds = math.log2(target / models[-1]), Bounds.INTERVAL
    width = level.per_doubling * doublings
    note = _BEYOND if target > calibrated_up_to(scaling, models) else None
    if context.has_cliff_inside:
        width, bounds, note = CLIFF_BETWEEN_MODELS * width, Bounds.NOT_CALIBRATED, "interval not calibrated"
    elif back_cast is not None:
        width, bounds = level.per_back_cast * doublings * max(LEAST_BACK_CAST, back_cast), Bounds.BACK_CAST
    elif change := beyond_benchmarks(scaling, pair.correction_per_doubling):
        lost = abs(math.log(trend / pair.proportional_ipc(target)))
        width, note = max(width, min(lost, _MOST_HALF_WIDTH)), f"{_BEYOND}: {change}"
    if width <= _MOST_HALF_WIDTH:
        return bounds, width, note
    clause = (
        "cannot predict a model" if back_cast == math.inf else "is too far off at a model that it predicts"
    )
    return Bounds.NONE, 0.0, f"no interval: the rule {clause} from those before it"


def _gain_finding(
    cliff: CurveStep | None, f_mem: float | None, *, has_gain: bool, is_given: bool, is_assumed: bool
) -> Finding | None:
    """Return what is to be said of f_mem, or of a cliff whose gain the models have already."""
    if cliff is None:
        message = "There is no cliff on the way to the targets, so f_mem is not used."
        return Finding("f-mem-unused", "note", message, "leave it out") if is_given else None
    if has_gain:
        message = (
            "There is a cliff on the way, but IPC grows faster than size from model to model already: the "
            "trend goes on without 1/(1 - f_mem), which would count the gain twice."
        )
        remedy = "go launch by launch, from what the simulator printed, or simulate a size beyond the cliff"
        return Finding("superlinear-already", "warning", message, remedy)
    if f_mem is None:
        message = (
            "There is a cliff on the way, and what it gains follows from f_mem of the largest model, "
            "which is not known; a bracket is given."
        )
        remedy = "count the cycles in which no SM can fetch for memory"
        remedy += "" if is_assumed else ", or ask for an assumed f_mem"
        return Finding("f-mem-missing", "warning", message, remedy)
    message = (
        "There is a cliff on the way, yet f_mem is 0: if warps never wait for memory, there is nothing "
        "to gain where the misses go. One of the two is likely wrong, and no gain is applied."
    )
    remedy = "check f_mem of the largest model, or leave it out for a bracket"
    return Finding("f-mem-zero", "warning", message, remedy) if f_mem == 0 else None


def _classify(measurements: Measurements, ends: ModelPair, reading: CurveReading) -> Classification:
    """Classify by the cliff that is reached, else by the models' C for each doubling."""
    unit = measurements.scaling.unit
    step = reading.cliff or reading.inner
    if step is not None:
        return Classification(
            "super-linear",
            f"the working set comes to fit the last-level cache between {step.smaller} and {step.larger} "
            f"{unit}: MPKI {step.mpki_smaller:.3g} to {step.mpki_larger:.3g}",
        )
    change = ends.correction_per_doubling - 1
    by = f"{change:+.1%}" if change < _MOST_CHANGE_SHOWN else f"more than {_MOST_CHANGE_SHOWN:+.0%}"
    relation = "within" if abs(change) <= _LINEAR_WITHIN else "beyond"
    reason = (
        f"by the scale models alone, from {ends.small} to {ends.large} {unit} the IPC of each changes by "
        f"{by} for a doubling, {relation} the {_LINEAR_WITHIN:.0%} taken as linear"
    )
    if change < -_LINEAR_WITHIN:
        cause = "too little work to fill the larger system, or congestion on shared data"
        return Classification("sub-linear", f"{reason}: {cause}")
    curve = ""
    if measurements.scaling.has_cliffs and {ends.small, ends.large} <= measurements.mpki.keys():
        first, last = measurements.mpki[ends.small], measurements.mpki[ends.large]
        curve = f"; MPKI goes from {first:.3g} to {last:.3g}"
        if abs(first - last) <= _FLAT_WITHIN * max(first, last):
            curve = f"; MPKI stays at {last:.3g}, so cache size does not matter"
    if change > _LINEAR_WITHIN:
        return Classification("super-linear", f"{reason}, without a cliff of the miss rate{curve}")
    return Classification("linear", f"{reason}: shared resources grow along{curve}")
