"""How well the rules predict, as `scale validate` gives it in every form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sampling.text import counted
from scalemodel.measurements import Scaling
from scalemodel.validate import Validation
from tui.charts.quantities import UNKNOWN, share
from tui.charts.scale import error_chart
from tui.charts.sinks import ansi, plain
from tui.options.scale import ScaleValidateOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.tables import Column, names, shortened, table

_HEIGHT = 18
_LONGEST_NAME = 20
_BEYOND = (
    "Some models or targets are beyond the calibrated range: the intervals were set from 8 and 16 SMs up to "
    "128 and from 4 and 8 chiplets to 16."
)


def validation_results(validation: Validation) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the scores by rule and target, as the contract's `scale validate` has them."""
    return {
        method: {
            str(target): asdict(score) | {"without": list(score.without)}
            for target, score in by_target.items()
        }
        for method, by_target in validation.scores.items()
    }


def validation_rows(results: dict[str, dict[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return a row for each rule and target."""
    return [
        {"method": method, "target": int(target), **row}
        for method, by_target in results.items()
        for target, row in by_target.items()
    ]


def validation_codes(validation: Validation) -> tuple[str, ...]:
    """Return the codes of the warnings, each once."""
    return tuple(
        dict.fromkeys(
            each.code
            for found in validation.findings.values()
            for each in found
            if each.severity == "warning"
        )
    )


def validation_text(
    validation: Validation, scalings: Sequence[Scaling], options: ScaleValidateOptions, canvas: Canvas
) -> str:
    """Return the chart of the errors, the table of the scores, and what to know of them.

    Parameters
    ----------
    scalings : of the benchmarks, each once.
    """
    return "\n".join(_parts(validation, scalings, options, canvas))


def _parts(
    validation: Validation, scalings: Sequence[Scaling], options: ScaleValidateOptions, canvas: Canvas
) -> Iterator[str]:
    width = options.width or canvas.width
    yield from textwrap.wrap(_heading(validation, scalings), width)
    height = options.height or _HEIGHT
    grid = error_chart(validation, scalings[0].unit, width, height, ascii_only=canvas.ascii_only)
    yield ansi(grid) if canvas.color else plain(grid)
    yield ""
    yield table(_columns(validation, scalings[0], canvas))
    yield ""
    for text in _explained(validation):
        yield from textwrap.wrap(text, width, break_on_hyphens=False)
    for text in _said(validation):
        yield from textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def validation_blocks(validation: Validation, scalings: Sequence[Scaling], canvas: Canvas) -> Iterator[Block]:
    """Yield the same without the chart."""
    yield _heading(validation, scalings)
    yield _columns(validation, scalings[0], canvas)
    yield from _explained(validation)
    yield from _said(validation)


def _heading(validation: Validation, scalings: Sequence[Scaling]) -> str:
    benchmarks = counted(len(validation.outcomes), "benchmark")
    return f"{' and '.join(scalings)} scaling, {benchmarks} with a measured target"


def _explained(validation: Validation) -> Iterator[str]:
    """Yield what the figures are."""
    level = f"{100 * validation.outcomes[0].confidence:.0f} %"
    yield (
        "Errors are |predicted / measured - 1|; within is the share of the intervals that hold what was "
        f"measured, meant to be {level}."
    )
    if any(check.prediction.is_beyond for check in validation.checks):
        yield _BEYOND


def _said(validation: Validation) -> Iterator[str]:
    """Yield what lacks a prediction, and what was found of each benchmark."""
    for method, by_target in validation.scores.items():
        for target, score in by_target.items():
            if score.without:
                yield f"{method} at {target}: no prediction of {', '.join(score.without)}."
    for name, found in validation.findings.items():
        for each in found:
            yield f"{name}: {each.severity}: {each.message} To do: {each.remedy}."


def _columns(validation: Validation, scaling: Scaling, canvas: Canvas) -> list[Column]:
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
    return [
        Column(scaling.unit, [str(target) for _, target, _ in scores]),
        Column("rule", [method for method, _, _ in scores], to_right=False),
        Column("mean", shares("mean")),
        Column("max", shares("max")),
        names("worst", worst),
        Column("n", [str(score.n) for _, _, score in scores]),
        Column("within", shares("within_interval")),
    ]
