"""`scale predict`: the IPC of larger systems from two or more simulated ones."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from scalemodel.measurements import Measurements
from scalemodel.outcome import Outcome
from scalemodel.prediction import predict
from scalemodel.rules import RULES
from tui.charts.plain import plain
from tui.charts.quantities import UNKNOWN, ratio, share
from tui.charts.rich_sink import ansi
from tui.charts.scale import prediction_chart
from tui.output import Answer, Canvas, emit
from tui.scale_options import ScalePredictOptions
from tui.scale_questions import questions_of, rules_of
from tui.scale_rows import outcome_object, prediction_row
from tui.tables import Column, shortened, table

_HEIGHT = 16
_LONGEST_NAME = 20

Pairs = Sequence[tuple[Measurements, Outcome]]


def run(options: ScalePredictOptions) -> None:
    """Read or take what was measured, predict each benchmark, draw it where it is one."""
    pairs = [
        (
            question.measurements,
            predict(
                question.measurements,
                question.targets,
                rules=rules_of(options.rule),
                confidence=options.confidence,
                simulated=question.simulated,
                f_mem=options.f_mem,
                assume_f_mem=options.assume_f_mem,
                curve_is_modelled=options.modelled_curve
                or (options.mpki_from is not None and question.measurements.scaling.has_cliffs),
                proportional_from=options.proportional_from.value,
            ),
        )
        for question in questions_of(options)
    ]
    objects = [outcome_object(*pair) for pair in pairs]
    rows = [
        {"benchmark": outcome.name, **prediction_row(measurements, each)}
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    emit(
        Answer(
            "scale predict",
            objects[0] if len(objects) == 1 else objects,
            lambda canvas: "\n".join(_text(pairs, options, canvas)),
            rows=rows,
            warnings=tuple(dict.fromkeys(each.code for _, outcome in pairs for each in outcome.warnings)),
        ),
        options,
    )


def _text(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> Iterator[str]:
    width = options.width or canvas.width
    if len(pairs) == 1:
        measurements, outcome = pairs[0]
        *smaller, largest = map(str, outcome.models)
        sizes = f"{', '.join(smaller)} and {largest}"
        name = shortened(outcome.name, _LONGEST_NAME, ascii_only=canvas.ascii_only)
        heading = f"{measurements.scaling} scaling, {sizes} {measurements.scaling.unit} simulated"
        yield from textwrap.wrap(f"{name}: {heading}" if name else heading, width)
        height = options.height or _HEIGHT
        grid = prediction_chart(measurements, outcome, width, height, ascii_only=canvas.ascii_only)
        yield ansi(grid) if canvas.color else plain(grid)
        yield ""
    yield _table(pairs, canvas)
    if len(pairs) == 1:
        yield from _notes(pairs[0][1], width)
    yield ""
    for _, outcome in pairs:
        name = f"{outcome.name}: " if len(pairs) > 1 else ""
        said = [f"{name}{outcome.classification.scaling}: {outcome.classification.reason}."]
        said += [f"{name}{each.severity}: {each.message} To do: {each.remedy}." for each in outcome.findings]
        for text in said:
            yield from textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    yield ""
    for text in (*_gain(pairs, options), *_how(pairs[0][1])):
        yield from textwrap.wrap(text, width, break_on_hyphens=False)
    if len(pairs) > 1:
        yield "--benchmark NAME draws one of them."


def _table(pairs: Pairs, canvas: Canvas) -> str:
    rows = [
        (outcome.name, each, prediction_row(measurements, each))
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    short = [shortened(name, _LONGEST_NAME, ascii_only=canvas.ascii_only) for name, _, _ in rows]

    def shown(key: str, form: Any) -> list[str]:
        return [UNKNOWN if row[key] is None else form(row[key]) for _, _, row in rows]

    columns = [
        Column("target", [str(each.target) for _, each, _ in rows]),
        Column("rule", [each.method for _, each, _ in rows], to_right=False),
        Column("IPC", shown("ipc", _ipc)),
        Column("low", shown("low", _ipc)),
        Column("high", shown("high", _ipc)),
    ]
    if len(pairs) > 1:
        columns.insert(0, Column("benchmark", short, to_right=False))
    if any(row["measured"] is not None for _, _, row in rows):
        columns.append(Column("measured", shown("measured", _ipc)))
        columns.append(Column("error", shown("error", _signed)))
    if len(pairs) == 1:
        columns.append(Column("region", [each.region.value for _, each, _ in rows], to_right=False))
    return table(columns, gap=" ")


def _ipc(value: float) -> str:
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def _signed(error: float) -> str:
    return ("+" if error > 0 else "-" if error < 0 else "") + share(abs(error))


def _notes(outcome: Outcome, width: int) -> Iterator[str]:
    """Yield the predictions' own notes, those of one text together."""
    targets_of: dict[tuple[str, str], list[int]] = {}
    for each in outcome.predictions:
        if each.note:
            targets_of.setdefault((each.method, each.note), []).append(each.target)
    for (method, note), targets in targets_of.items():
        text = f"{', '.join(map(str, targets))} {method}: {note}"
        yield from textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _gain(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    """Yield what a cliff gains, of one benchmark that has one and an f_mem."""
    measurements, outcome = pairs[0]
    f_mem = measurements.f_mem_at(outcome.models[-1]) if options.f_mem is None else options.f_mem
    if len(pairs) == 1 and outcome.cliff is not None and f_mem is not None:
        yield f"At the cliff IPC gains {ratio(1 / (1 - f_mem))}, 1/(1 - f_mem) of f_mem {f_mem:.3g}."


def _how(outcome: Outcome) -> Iterator[str]:
    """Yield which rules these are and what an interval is to hold."""
    for method in dict.fromkeys(each.method for each in outcome.predictions):
        yield f"Rule {method}: {RULES[method].source}."
    if all(each.low is None or each.note == "as simulated" for each in outcome.predictions):
        return
    level = f"{100 * outcome.confidence:.0f} %"
    if outcome.back_cast:
        errors = [f"{method} {share(back)}" for method, back in outcome.back_cast.items() if back is not None]
        yield (
            f"Low to high is {level}, from how well each model is predicted by those before it: "
            f"{', '.join(errors) or 'not at all'}."
        )
    else:
        yield (
            f"Low to high is as wide as held {level} of the targets of the public benchmarks; it was set by "
            "these and tried on no others."
        )
