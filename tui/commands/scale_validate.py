"""`scale validate`: how well each rule predicts the targets of benchmarks that were simulated too."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from scalemodel.inputs.benchmark_table import read_benchmarks
from scalemodel.measurements import Scaling
from scalemodel.prediction.rules import RULES
from scalemodel.prediction.validation import Score, Validation, validate
from tui.charts.quantities import UNKNOWN, share
from tui.charts.scale import error_chart
from tui.charts.sinks import ansi, plain
from tui.options.scale import ScaleValidateOptions
from tui.output.writer import Answer, Canvas, emit
from tui.scale.questions import rules_of, unused_options
from tui.scale.typed_values import sizes_of
from tui.terminal.diagnostics import note
from tui.terminal.tables import Column, shortened, table

_HEIGHT = 18
_LONGEST_NAME = 20
_BEYOND = (
    "Some models or targets are beyond the calibrated range: the intervals were set from 8 and 16 SMs up to "
    "128 and from 4 and 8 chiplets to 16."
)


def run(options: ScaleValidateOptions) -> None:
    """Read the benchmarks, predict every target that was simulated, compare."""
    tell = partial(note, quiet=options.quiet)
    benchmarks = read_benchmarks(
        options.file, scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
    )
    scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
    validation = validate(
        benchmarks,
        simulated=sizes_of("--simulated", options.simulated) or None,
        rules=rules_of(options.rule, tuple(RULES)),
        confidence=options.confidence,
        assume_f_mem=options.assume_f_mem,
        curve_is_modelled=options.modelled_curve,
        proportional_from=options.proportional_from.value,
    )
    for text in unused_options(options, benchmarks, validation.outcomes):
        tell(text)
    results = {
        method: {str(target): _row(score) for target, score in by_target.items()}
        for method, by_target in validation.scores.items()
    }
    codes = [
        each.code for found in validation.findings.values() for each in found if each.severity == "warning"
    ]
    emit(
        Answer(
            "scale validate",
            results,
            lambda canvas: "\n".join(_text(validation, scalings, options, canvas)),
            rows=[
                {"method": method, "target": int(target), **row}
                for method, by_target in results.items()
                for target, row in by_target.items()
            ],
            warnings=tuple(dict.fromkeys(codes)),
        ),
        options,
    )


def _row(score: Score) -> dict[str, Any]:
    return asdict(score) | {"without": list(score.without)}


def _text(
    validation: Validation, scalings: Sequence[Scaling], options: ScaleValidateOptions, canvas: Canvas
) -> Iterator[str]:
    width = options.width or canvas.width
    benchmarks = len(validation.outcomes)
    counted = f"{benchmarks} benchmark{'s' if benchmarks > 1 else ''}"
    heading = f"{' and '.join(scalings)} scaling, {counted} with a measured target"
    yield from textwrap.wrap(heading, width)
    height = options.height or _HEIGHT
    grid = error_chart(validation, scalings[0].unit, width, height, ascii_only=canvas.ascii_only)
    yield ansi(grid) if canvas.color else plain(grid)
    yield ""
    yield _table(validation, scalings[0], canvas)
    yield ""
    level = f"{100 * validation.outcomes[0].confidence:.0f} %"
    yield from textwrap.wrap(
        "Errors are |predicted / measured - 1|; within is the share of the intervals that hold what was "
        f"measured, meant to be {level}.",
        width,
    )
    if any(check.prediction.is_beyond for check in validation.checks):
        yield from textwrap.wrap(_BEYOND, width, break_on_hyphens=False)
    said = [
        f"{method} at {target}: no prediction of {', '.join(score.without)}."
        for method, by_target in validation.scores.items()
        for target, score in by_target.items()
        if score.without
    ]
    said += [
        f"{name}: {each.severity}: {each.message} To do: {each.remedy}."
        for name, found in validation.findings.items()
        for each in found
    ]
    for text in said:
        yield from textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _table(validation: Validation, scaling: Scaling, canvas: Canvas) -> str:
    scores = [
        (method, target, score)
        for method, by_target in validation.scores.items()
        for target, score in by_target.items()
    ]
    # By target, so that the rules stand below each other.
    scores.sort(key=lambda each: each[1])

    def shares(name: str) -> list[str]:
        values = [getattr(score, name) for _, _, score in scores]
        return [UNKNOWN if value is None else share(value) for value in values]

    worst = [
        shortened(score.worst or UNKNOWN, _LONGEST_NAME, ascii_only=canvas.ascii_only)
        for _, _, score in scores
    ]
    return table(
        [
            Column(scaling.unit, [str(target) for _, target, _ in scores]),
            Column("rule", [method for method, _, _ in scores], to_right=False),
            Column("mean", shares("mean")),
            Column("max", shares("max")),
            Column("worst", worst, to_right=False),
            Column("n", [str(score.n) for _, _, score in scores]),
            Column("within", shares("within_interval")),
        ]
    )
