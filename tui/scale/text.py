"""What `scale predict` says: as data, and for a person, as the app copies it, a chart, a table and words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scalemodel.cliff import CurveStep
from scalemodel.errors import listed
from scalemodel.interval import BENCHMARKS, TARGETS, TARGETS_OF_THREE, Bounds, targets_held
from scalemodel.measurements import Measurements
from scalemodel.predict import Outcome, Prediction
from scalemodel.rules import RULES
from tui.charts.quantities import UNKNOWN, ratio, share
from tui.charts.scale import prediction_chart
from tui.charts.sinks import ansi, plain
from tui.options.scale import ScalePredictOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.scale.questions import Pairs
from tui.terminal.printable import printable
from tui.terminal.tables import Column, names, shortened, table

_INTERVALS = (Bounds.INTERVAL, Bounds.BACK_CAST)


def bounds_text(prediction: Prediction) -> str:
    """Return in a word or two what low and high of a prediction are."""
    if prediction.bounds not in _INTERVALS:
        return prediction.bounds.value.removeprefix("interval ")
    return "beyond calibration" if prediction.is_beyond else "interval"


def bounds_sentences(pairs: Pairs) -> Iterator[str]:
    """Yield what low to high is of each kind of rows, then which rules have none."""
    rows = [
        each for _, outcome in pairs for each in outcome.predictions if each.bounds is not Bounds.SIMULATED
    ]
    kinds = {
        kind: of_kind
        for kind in Bounds
        if kind is not Bounds.NONE and (of_kind := [each for each in rows if each.bounds is kind])
    }
    for kind, of_kind in kinds.items():
        yield _sentence(kind, of_kind, "" if len(kinds) == 1 else _where(of_kind, rows, pairs), pairs)
    if any(each.is_beyond for each in rows):
        yield (
            "Beyond the calibrated range, for other models or larger targets than those, low to high is "
            "extrapolated, and what it holds is not known."
        )
    baselines = dict.fromkeys(each.method for each in rows if RULES[each.method].is_baseline)
    if baselines:
        yield f"{', '.join(baselines)}: no interval, as none was calibrated for baselines."


def _where(of_kind: Sequence[Prediction], rows: Sequence[Prediction], pairs: Pairs) -> str:
    """Return which rows these are: by their targets, or of several benchmarks how many."""
    if len(pairs) > 1:
        return f" of {len(of_kind)} of the {len(rows)} predictions"
    methods = dict.fromkeys(each.method for each in of_kind)
    with_bounds = {each.method for each in rows if each.bounds is not Bounds.NONE}
    by = f" by {listed(list(methods))}" if set(methods) != with_bounds else ""
    targets = dict.fromkeys(str(each.target) for each in of_kind)
    return f" at {listed(list(targets))} {pairs[0][0].scaling.unit}{by}"


def _sentence(kind: Bounds, of_kind: Sequence[Prediction], where: str, pairs: Pairs) -> str:
    outcome = pairs[0][1]
    level = f"{100 * outcome.confidence:.0f} %"
    if kind is Bounds.BRACKET:
        return f"Low to high{where} is a bracket, no interval: {_between(pairs, level)}."
    if kind is Bounds.NOT_CALIBRATED:
        return (
            f"Low to high{where} is twice as wide as the interval of {level}, as a cliff lies between the "
            "models; what it holds was not calibrated."
        )
    meant = f"Low to high{where} is an interval meant to hold {level} of the targets"
    held = _held(of_kind, outcome.confidence, of_three=kind is Bounds.BACK_CAST)
    if kind is Bounds.BACK_CAST:
        back_casts = _back_casts(of_kind, pairs)
        return (
            f"{meant}, from how well each model is predicted by those before it{back_casts}. Of "
            f"{TARGETS_OF_THREE} targets of the public benchmarks, from 8, 16 and 32 SMs up to 128, it holds "
            f"{held}; it was tried on no others."
        )
    return (
        f"{meant}. It was set by the public benchmarks, from 8 and 16 SMs up to 128 and from 4 and 8 "
        f"chiplets to 16, and tried on no others; of {TARGETS} targets of {BENCHMARKS} of them it holds "
        f"{held}."
    )


def _held(of_kind: Sequence[Prediction], confidence: float, *, of_three: bool) -> str:
    counts = {
        method: targets_held(method, confidence, of_three=of_three)
        for method in dict.fromkeys(each.method for each in of_kind)
    }
    if len(counts) == 1:
        return str(next(iter(counts.values())))
    return listed([f"{count} by {method}" for method, count in counts.items()])


def _between(pairs: Pairs, level: str) -> str:
    """Return what a bracket's ends are: those of a known f_mem are widened as an interval is."""
    gains = "what the cliff gains at least and at most"
    widened = f"widened either way as an interval of {level} is"
    is_known = {
        all(finding.code != "f-mem-missing" for finding in outcome.findings)
        for _, outcome in pairs
        if any(each.bounds is Bounds.BRACKET for each in outcome.predictions)
    }
    if is_known == {True}:
        return f"nothing of what the cliff gains, or all of it, {widened}"
    return f"{gains}, where f_mem is known {widened}" if True in is_known else gains


def _back_casts(of_kind: Sequence[Prediction], pairs: Pairs) -> str:
    """Return the errors at the models, of one benchmark and the rules that have such an interval."""
    outcome: Outcome = pairs[0][1]
    methods = {each.method for each in of_kind}
    errors = [
        f"{method} {share(back)}"
        for method, back in outcome.back_cast.items()
        if back is not None and method in methods
    ]
    return f": {', '.join(errors)}" if errors and len(pairs) == 1 else ""


_HEIGHT = 16
_LONGEST_NAME = 20
_PLAIN = {"interval", Bounds.NONE.value}


def prediction_row(measurements: Measurements, prediction: Prediction) -> dict[str, Any]:
    """Return a prediction, beside what was measured; the error is predicted / measured - 1."""
    is_model = prediction.region.value == "largest model"
    measured = None if is_model else measurements.ipc_at(prediction.target)
    has_both = measured is not None and prediction.ipc is not None
    return {
        "target": prediction.target,
        "method": prediction.method,
        "ipc": prediction.ipc,
        "low": prediction.low,
        "high": prediction.high,
        "region": prediction.region.value,
        "note": prediction.note,
        "bounds": prediction.bounds.value,
        "measured": measured,
        "error": prediction.ipc / measured - 1 if has_both and prediction.ipc and measured else None,
    }


def outcome_object(measurements: Measurements, outcome: Outcome) -> dict[str, Any]:
    """Return all that was found of a benchmark."""
    return {
        "benchmark": outcome.name,
        "scaling": measurements.scaling.value,
        "simulated": [{"size": size, "ipc": measurements.ipc_at(size)} for size in outcome.models],
        "mpki_unit": measurements.mpki_unit.value,
        "confidence": outcome.confidence,
        "cliff": None if outcome.cliff is None else _cliff(outcome.cliff),
        "predictions": [prediction_row(measurements, each) for each in outcome.predictions],
        "correction": outcome.correction,
        "back_cast": dict(outcome.back_cast),
        "classification": {
            "scaling": outcome.classification.scaling.value,
            "reason": outcome.classification.reason,
        },
        "findings": [asdict(finding) for finding in outcome.findings],
    }


def _cliff(step: CurveStep) -> dict[str, Any]:
    return {
        "smaller": step.smaller,
        "larger": step.larger,
        "mpki_smaller": step.mpki_smaller,
        "mpki_larger": step.mpki_larger,
        "ratio": step.ratio,
    }


def predict_text(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> str:
    """Return chart, table and words, without a line end: what `scale predict` prints with these options."""
    return "\n".join(_parts(pairs, options, canvas))


def _parts(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> Iterator[str]:
    width = options.width or canvas.width
    if len(pairs) == 1:
        measurements, outcome = pairs[0]
        yield from textwrap.wrap(_heading(pairs, ascii_only=canvas.ascii_only), width)
        height = options.height or _HEIGHT
        grid = prediction_chart(measurements, outcome, width, height, ascii_only=canvas.ascii_only)
        yield ansi(grid) if canvas.color else plain(grid)
        yield ""
    yield table(_columns(pairs, ascii_only=canvas.ascii_only), gap=" ")
    if len(pairs) == 1:
        yield from _indented(_notes(pairs[0][1]), width)
    yield ""
    yield from _indented(_found(pairs), width)
    yield ""
    yield from _wrapped(_explained(pairs, options), width)
    if len(pairs) > 1:
        yield "--benchmark NAME draws one of them."


def predict_blocks(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> Iterator[Block]:
    """Yield the same without the chart."""
    if len(pairs) == 1:
        yield _heading(pairs, ascii_only=canvas.ascii_only)
    yield _columns(pairs, ascii_only=canvas.ascii_only)
    if len(pairs) == 1:
        yield from _notes(pairs[0][1])
    yield from _found(pairs)
    yield from _explained(pairs, options)


def _heading(pairs: Pairs, *, ascii_only: bool) -> str:
    """Return of one benchmark what was simulated."""
    measurements, outcome = pairs[0]
    *smaller, largest = map(str, outcome.models)
    name = shortened(outcome.name, _LONGEST_NAME, ascii_only=ascii_only)
    sizes = f"{', '.join(smaller)} and {largest} {measurements.scaling.unit}"
    heading = f"{measurements.scaling} scaling, {sizes} simulated"
    return f"{name}: {heading}" if name else heading


def words_lines(pairs: Pairs, options: ScalePredictOptions, width: int) -> list[str]:
    """Return the words of one benchmark alone, what concerns all of it first, in lines of this width."""
    parts = (
        _indented(_found(pairs), width),
        _indented(_notes(pairs[0][1]), width),
        _wrapped(_explained(pairs, options), width),
    )
    return [line for lines in map(list, parts) if lines for line in (*lines, "")][:-1]


def _indented(texts: Iterable[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(printable(text), width, subsequent_indent="  ", break_on_hyphens=False)


def _wrapped(texts: Iterable[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(printable(text), width, break_on_hyphens=False)


def _found(pairs: Pairs) -> Iterator[str]:
    """Yield of each benchmark its class and what was found."""
    for _, outcome in pairs:
        name = f"{outcome.name}: " if len(pairs) > 1 else ""
        yield f"{name}{outcome.classification.scaling}: {outcome.classification.reason}."
        for each in outcome.findings:
            yield f"{name}{each.severity}: {each.message} To do: {each.remedy}."


def _explained(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    yield from _gain(pairs, options)
    for method in dict.fromkeys(each.method for each in pairs[0][1].predictions):
        yield f"Rule {method}: {RULES[method].source}."
    yield from bounds_sentences(pairs)


def _columns(pairs: Pairs, *, ascii_only: bool) -> list[Column]:
    rows = [
        (outcome.name, each, prediction_row(measurements, each))
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    short = [shortened(name, _LONGEST_NAME, ascii_only=ascii_only) for name, _, _ in rows]

    def shown(key: str, form: Any) -> list[str]:
        return [UNKNOWN if row[key] is None else form(row[key]) for _, _, row in rows]

    columns = [
        Column("target", [str(each.target) for _, each, _ in rows]),
        Column("rule", [each.method for _, each, _ in rows], to_right=False),
        Column("IPC", shown("ipc", ipc_text)),
        Column("low", shown("low", ipc_text)),
        Column("high", shown("high", ipc_text)),
    ]
    if len(pairs) > 1:
        columns.insert(0, names("benchmark", short))
    if any(row["measured"] is not None for _, _, row in rows):
        columns.append(Column("measured", shown("measured", ipc_text)))
        columns.append(Column("error", shown("error", signed_share)))
    if len(pairs) == 1:
        columns.append(Column("region", [each.region.value for _, each, _ in rows], to_right=False))
    elif any(bounds_text(each) not in _PLAIN for _, each, _ in rows):
        # The notes of many benchmarks would be too many.
        columns.append(Column("low to high is", [bounds_text(each) for _, each, _ in rows], to_right=False))
    return columns


def ipc_text(value: float) -> str:
    """Return an IPC to four digits, whole from 10,000 on."""
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def signed_share(error: float) -> str:
    """Return an error as a share with its sign."""
    return ("+" if error > 0 else "-" if error < 0 else "") + share(abs(error))


def _notes(outcome: Outcome) -> Iterator[str]:
    """Yield the predictions' own notes, those of one text together."""
    targets_of: dict[tuple[str, str], list[int]] = {}
    for each in outcome.predictions:
        if each.note:
            targets_of.setdefault((each.method, each.note), []).append(each.target)
    for (method, note), targets in targets_of.items():
        yield f"{', '.join(map(str, targets))} {method}: {note}"


def _gain(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    """Yield what a cliff gains, of one benchmark that has one and an f_mem."""
    measurements, outcome = pairs[0]
    f_mem = measurements.f_mem_at(outcome.models[-1]) if options.f_mem is None else options.f_mem
    if len(pairs) == 1 and outcome.cliff is not None and f_mem is not None:
        yield f"At the cliff IPC gains {ratio(1 / (1 - f_mem))}, 1/(1 - f_mem) of f_mem {f_mem:.3g}."
