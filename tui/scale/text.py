"""What `scale predict` says: as data, and for a person, as the app copies it, a chart, a table and words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from scalemodel.measurements import Measurements
from scalemodel.prediction.cliff import CurveStep
from scalemodel.prediction.outcome import Bounds, Outcome, Prediction
from scalemodel.prediction.rules import RULES
from tui.charts.quantities import UNKNOWN, ratio, share
from tui.charts.scale import prediction_chart
from tui.charts.sinks import ansi, plain
from tui.options.scale import ScalePredictOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.scale.interval_text import bounds_sentences, bounds_text
from tui.scale.questions import Pairs
from tui.terminal.printable import printable
from tui.terminal.tables import Column, names, shortened, table

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
