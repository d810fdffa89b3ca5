"""From the scale models to the targets: trend, cliff, interval and what is to be said of each.

Source: GPU scale-model simulation, section V; for intervals, unknown f_mem and more than two models see
`interval`, `cliff` and `rules`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalemodel.errors import OptionError
from scalemodel.findings import Finding
from scalemodel.measurements import Measurements, wrong_f_mem, wrong_size
from scalemodel.prediction.classification import classify
from scalemodel.prediction.cliff import CurveReading, read_curve
from scalemodel.prediction.interval import DEFAULT_CONFIDENCE, Spread, calibrated_up_to, calibration
from scalemodel.prediction.outcome import Outcome
from scalemodel.prediction.rules import (
    DEFAULT_RULE,
    ModelPair,
    ProportionalFrom,
    Rule,
    rule_named,
    with_proportional_from,
)
from scalemodel.prediction.target_prediction import Question, forecast, predict_target


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
