"""What `scale validate`, `derive` and `mrc` say: charts, tables and sentences of the engine's results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sampling.text import counted
from scalemodel.measurements import Scaling
from scalemodel.validate import Validation
from tui.charts.quantities import UNKNOWN, share
from tui.charts.size_plot import error_chart
from tui.options.scale import ScaleValidateOptions
from tui.output.blocks import Block
from tui.output.writer import Canvas
from tui.scale.answers import LONGEST_NAME
from tui.terminal.printable import Column, is_ascii, names, shortened, table

if TYPE_CHECKING:
    from scalemodel.derive import ScaledModel, SharedResources, Target
    from scalemodel.miss_rate import MissRateCurve

_HEIGHT = 18
_LEAST_BAR = 8


def validation_blocks(
    validation: Validation, scalings: Sequence[Scaling], options: ScaleValidateOptions, canvas: Canvas
) -> Iterator[Block]:
    """Yield the chart of the errors, the table of the scores, and what to know of them."""
    unit, benchmarks = scalings[0].unit, counted(len(validation.outcomes), "benchmark")
    yield f"{' and '.join(scalings)} scaling, {benchmarks} with a measured target"
    if not canvas.is_page:
        yield error_chart(validation, unit, options.width or canvas.width, options.height or _HEIGHT)
    yield ""
    # By target, so that the rules stand below each other.
    of_rules = [(method, *score) for method, scores in validation.scores.items() for score in scores.items()]
    of_rules.sort(key=lambda row: row[1])
    methods, targets, scores = zip(*of_rules, strict=True)
    yield [
        Column(unit, list(map(str, targets))),
        Column("rule", methods, to_right=False),
        Column("mean", [share(score.mean) for score in scores]),
        Column("max", [share(score.max) for score in scores]),
        names("worst", [shortened(score.worst or UNKNOWN, LONGEST_NAME) for score in scores]),
        Column("n", [str(score.n) for score in scores]),
        Column("within", [share(score.within_interval) for score in scores]),
    ]
    yield ""
    yield (
        "Errors are |predicted / measured - 1|; within is the share of the intervals that hold what was "
        f"measured, meant to be {100 * validation.outcomes[0].confidence:.0f} %."
    )
    if any(check.prediction.is_beyond for check in validation.checks):
        yield (
            "Some models, targets or efficiencies are beyond the calibrated range: the intervals were set "
            "from 8 and 16 SMs up to 128 and from 4 and 8 chiplets to 16."
        )
    for method, target, score in of_rules:
        if score.without:
            yield f"{method} at {target}: no prediction of {', '.join(score.without)}."
    for name, noted in validation.findings.items():
        for finding in noted:
            yield f"{name}: {finding.severity}: {finding.message} To do: {finding.remedy}."


_RESOURCES = {
    "SMs": "sms",
    "last-level cache, MiB": "llc_bytes",
    "its slices": "llc_slices",
    "memory controllers": "memory_controllers",
    "network, GB/s": "noc_gb_per_s",
    "memory, GB/s": "dram_gb_per_s",
    "chiplets": "chiplets",
    "between chiplets, GB/s": "inter_chiplet_gb_per_s",
}


def models_blocks(target: Target, models: Sequence[ScaledModel], paths: Sequence[str]) -> Iterator[Block]:
    """Yield what is shared, what changes in each model, and the files written."""
    resources_shown = {name: key for name, key in _RESOURCES.items() if getattr(target.resources, key)}

    def column(heading: str, resources: SharedResources) -> Column:
        values = (
            getattr(resources, key) / (2**20 if key == "llc_bytes" else 1) for key in resources_shown.values()
        )
        return Column(heading, [f"{value:,.6g}" for value in values])

    sizes = [f"{model.resources.size} {model.resources.size_unit}" for model in models]
    yield [
        Column("", list(resources_shown), to_right=False),
        column("target", target.resources),
        *(column(size, model.resources) for size, model in zip(sizes, models, strict=True)),
    ]
    for size, model in zip(sizes, models, strict=True):
        yield from ("", f"{size}: what changes")
        columns = [
            names("file", [target.name] * len(model.changes)),
            names("option", [change.option for change in model.changes]),
            Column("target", [change.old for change in model.changes]),
            Column("here", [change.new for change in model.changes]),
        ]
        yield columns if model.changes else "nothing"
        yield from (f"note: {model_note.sentence}" for model_note in model.notes)
    if target.unchanged:
        yield from ("", f"As in the target: {', '.join(name for name, _ in target.unchanged)}.")
    yield from ("", *paths) if paths else ()


def curve_blocks(
    curve: MissRateCurve, sizes: Sequence[int | None], width: int, canvas: Canvas
) -> Iterator[Block]:
    """Yield the curve as a table, with bars on a terminal; where the working set fits; how it was counted."""
    import numpy as np

    values, heading = (curve.miss_ratio, "miss ratio") if curve.mpki is None else (curve.mpki, "MPKI")
    columns = [] if sizes[0] is None else [Column("size", [str(size) for size in sizes])]
    columns.append(Column("capacity", [_capacity(int(capacity)) for capacity in curve.capacity_bytes]))
    ends = {} if curve.confidence is None else {"low": curve.low, "high": curve.high}
    for name, column in ({heading: values} | ends).items():
        if column is not None:
            columns.append(Column(name, [f"{value:.4g}" for value in column]))
    if not canvas.is_page:
        room = max(width - max(map(len, table(columns).split("\n"))) - 2, _LEAST_BAR)
        bar, highest = "#" if is_ascii() else "\N{FULL BLOCK}", float(values.max()) or 1.0
        bars = [bar * round(float(value) / highest * room) for value in values]
        columns.append(Column("", bars, to_right=False))
    yield from (columns, "")
    order = np.argsort(curve.capacity_bytes, kind="stable")
    capacity, misses = curve.capacity_bytes[order], curve.counts.misses[order]
    if capacity.size > 1:
        step = int(np.argmax(misses[:-1] - misses[1:]))
        fallen = 1 - misses[step + 1] / misses[step] if misses[step] else 0.0
        if fallen > 0:
            between = " and ".join(_capacity(int(edge)) for edge in capacity[step : step + 2])
            fits = "so much of the working set comes to fit there"
            yield f"The largest fall is between {between}, by {share(float(fallen))}: {fits}."
    unit = f"per thousand {curve.unit} instructions" if curve.mpki is not None else "per access"
    counting = "all counted" if curve.method == "exact" else "estimated from reuse distances"
    if curve.confidence is not None:
        counting = f"of {share(curve.rate)} of the lines, low to high is {100 * curve.confidence:.0f} %"
    first = f"{counted(curve.accesses, 'access')}, {curve.counts.cold:,.0f} of them the first to their line"
    cache = f"lines of {curve.line_bytes} bytes, least recently used, fully associative"
    yield f"Misses {unit}, {counting}; {first}; {cache}."


def _capacity(capacity: int) -> str:
    for name, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if capacity >= factor:
            return f"{capacity / factor:.4g} {name}"
    return f"{capacity} B"
