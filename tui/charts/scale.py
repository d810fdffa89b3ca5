"""Charts of scale-model prediction: IPC of each unit over sizes, and how wrong each rule was."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from scalemodel.measurements import Measurements
from scalemodel.predict import Outcome
from scalemodel.validate import Validation
from tui.charts.glyphs import LETTERS, cluster_style
from tui.charts.grid import AXIS, MARKER, PROPOSED, Grid
from tui.charts.legend import Entry
from tui.charts.size_plot import Curve, Mark, SizePlot, baseline_symbol, shade_symbol, size_chart

SIMULATED, MEASURED = MARKER, PROPOSED
"""The styles of the scale models and of targets that were simulated too; predictions have a series each."""

_SIMULATED = ("\N{BLACK SQUARE}", "#")
_PREDICTED, _MEASURED = "o", "x"


def prediction_chart(
    measurements: Measurements, outcome: Outcome, width: int, height: int, *, ascii_only: bool = False
) -> Grid:
    """A (height, width) grid: IPC of each SM or chiplet over the system's size, both simulated and predicted.

    Divided by the size, what grows in proportion is level, and intervals can be seen. Lines go through the
    scale models, and on from the last one through what each rule predicts. A bar is the interval
    or bracket; one that ends in ``^`` is open. The background of the cliff is shaded.
    """
    return size_chart(
        _prediction_plot(measurements, outcome, ascii_only=ascii_only), width, height, ascii_only=ascii_only
    )


def error_chart(
    validation: Validation, unit: str, width: int, height: int, *, ascii_only: bool = False
) -> Grid:
    """A (height, width) grid: each rule's mean error over the targets, with a bar up to its largest."""
    marks: list[Mark] = []
    symbols = _symbols(list(validation.scores))
    for lane, (method, by_target) in reversed(list(enumerate(validation.scores.items()))):
        marks += [
            Mark(target, score.mean, symbols[method], cluster_style(lane), score.mean, score.max, lane)
            for target, score in by_target.items()
            if score.mean is not None
        ]
    plot = SizePlot(
        title="mean error of each rule, and up to the largest",
        marks=marks,
        sizes=_ticks({target for by_target in validation.scores.values() for target in by_target}),
        unit=unit,
        entries=_rule_entries(symbols),
        log=True,
        percent=True,
    )
    return size_chart(plot, width, height, ascii_only=ascii_only)


def _prediction_plot(measurements: Measurements, outcome: Outcome, *, ascii_only: bool) -> SizePlot:
    symbols = _symbols(list(dict.fromkeys(each.method for each in outcome.predictions)))
    models = [(size, ipc / size) for size in outcome.models if (ipc := measurements.ipc_at(size)) is not None]
    simulated = Entry(_SIMULATED[ascii_only], SIMULATED, ("simulated",) * 3)
    targets = {each.target for each in outcome.predictions} - set(outcome.models)
    measured = [
        (size, ipc / size) for size in sorted(targets) if (ipc := measurements.ipc_at(size)) is not None
    ]
    cliff = outcome.cliff
    shaded = None if cliff is None else (cliff.smaller, cliff.larger)
    entries = [simulated, *_rule_entries(symbols)]
    if measured:
        entries.append(Entry(_MEASURED, MEASURED, ("measured",) * 3))
    if shaded is not None:
        words = (f"cliff, {shaded[0]} to {shaded[1]}", "cliff", "cliff")
        entries.append(Entry(shade_symbol(ascii_only=ascii_only), AXIS, words))
    dash = baseline_symbol(ascii_only=ascii_only)
    entries.append(Entry(dash, AXIS, ("in proportion", "proportion", "prop.")))
    unit = measurements.scaling.unit
    simulated_marks = [Mark(size, value, simulated.symbol, SIMULATED) for size, value in models]
    predicted = _prediction_marks(outcome, targets, symbols)
    return SizePlot(
        title=f"IPC of each {unit.removesuffix('s')}",
        marks=[
            *simulated_marks,
            *(Mark(size, value, _MEASURED, MEASURED, lane=len(symbols)) for size, value in measured),
            *predicted,
        ],
        sizes=_ticks({*outcome.models, *targets, *(shaded or ())}),
        unit=unit,
        entries=entries,
        curves=_curves(simulated_marks, predicted),
        shaded=shaded,
        baseline=models[-1][1],
    )


def _prediction_marks(outcome: Outcome, targets: Collection[int], symbols: dict[str, str]) -> list[Mark]:
    """The first rule's marks come last: drawn over the others, they stay visible."""
    lanes = {method: lane for lane, method in enumerate(symbols)}
    marks = []
    for each in outcome.predictions:
        if each.target in targets:
            lane = lanes[each.method]
            # An interval without a finite end is drawn as open.
            ipc, low, high = (
                None if value is None or math.isinf(value) else value / each.target
                for value in (each.ipc, each.low, each.high)
            )
            marks.append(Mark(each.target, ipc, symbols[each.method], cluster_style(lane), low, high, lane))
    return sorted(marks, key=lambda mark: -(mark.lane or 0))


def _curves(simulated: Sequence[Mark], predicted: Sequence[Mark]) -> list[Curve]:
    """Lines through the scale models and on from them by each rule, the first rule's over the others."""
    curves = [Curve(simulated, SIMULATED)]
    for style in dict.fromkeys(mark.style for mark in predicted):
        of_rule = sorted((mark for mark in predicted if mark.style == style), key=lambda mark: mark.size)
        before = [mark for mark in simulated if mark.size < of_rule[0].size]
        curves.append(Curve([*before[-1:], *of_rule], style))
    return curves


def _symbols(methods: Sequence[str]) -> dict[str, str]:
    """A letter for each rule; one alone is `o`."""
    if len(methods) == 1:
        return {methods[0]: _PREDICTED}
    return {method: LETTERS[index % len(LETTERS)] for index, method in enumerate(methods)}


def _rule_entries(symbols: dict[str, str]) -> list[Entry]:
    return [
        Entry(symbol, cluster_style(lane), (method, method, method[:4]))
        for lane, (method, symbol) in enumerate(symbols.items())
    ]


def _ticks(sizes: set[int]) -> list[tuple[float, str]]:
    return [(float(size), str(size)) for size in sorted(sizes)]
