"""The options of `estimate`."""

from __future__ import annotations

from dataclasses import dataclass

from tui.options.choices import IntervalKind
from tui.options.field import argument, option
from tui.options.input_files import InputFile
from tui.options.shared import OutputOptions


@dataclass(frozen=True)
class EstimateOptions(OutputOptions):
    """`estimate`."""

    plan: InputFile = argument("", "A plan file.", "PLAN")
    results: tuple[InputFile, ...] = argument((), "What a simulator wrote of the plan's launches.", "RESULTS")
    source: str | None = option(
        None,
        "Which simulator's they are: accel-sim, gpgpu-sim, macsim, csv; by their content if not given.",
        "--from",
        metavar="SIMULATOR",
    )
    metrics: tuple[str, ...] = option(
        (), "A counter to add up, by its printed name or column (repeat).", "--metric", metavar="NAME"
    )
    ratios: tuple[str, ...] = option(
        (), "A ratio of two totals, such as misses over accesses (repeat).", "--ratio", metavar="A/B"
    )
    manifests: tuple[InputFile, ...] = option(
        (), "The manifest.csv of the export that was run (repeat).", "--manifest", metavar="FILE"
    )
    against: tuple[InputFile, ...] = option(
        (), "Results of another configuration: the speedup over it (repeat).", "--against", metavar="FILE"
    )
    interval: IntervalKind = option(
        IntervalKind.MODERATED,
        "Whether strata lend each other their spreads.",
        "--interval",
    )
    confidence: float | None = option(
        None, "Of the intervals; the plan's if not given.", "--confidence", metavar="X", fraction=True
    )
    projection_error: float | None = option(
        None,
        "The relative error of `projected_cycles`, where fewer than three launches have cycles too.",
        "--projection-error",
        metavar="X",
        fraction=True,
    )
    scale_error: float | None = option(
        None,
        "The half-width of a scale model's interval, where cycles are its predictions.",
        "--scale-error",
        metavar="X",
        fraction=True,
    )
    groups: bool = option(False, "List every kernel group's own total.", "--groups")
    target: float | None = option(
        None,
        "Exit 4 while the total's interval is wider than this fraction to either side.",
        "--target",
        metavar="X",
        fraction=True,
    )
    top_up: str | None = option(
        None, "Write the larger plan here while --target is not met.", "--top-up", metavar="PLAN"
    )
