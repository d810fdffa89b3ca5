"""The options of `estimate`, and those of them that a report with results takes too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tui.options.field import argument, option
from tui.options.input_files import InputFile
from tui.options.places import Product
from tui.options.shared import OutputOptions, details_option

RESULTS_PANEL = "Results"


@dataclass(frozen=True)
class ResultsOptions(OutputOptions):
    """How a simulator's results are read, and what is asked of the total."""

    source: str | None = option(
        None,
        "Which simulator's they are: accel-sim, gpgpu-sim, macsim, csv; by their content if not given.",
        "--from",
        panel=RESULTS_PANEL,
        metavar="SIMULATOR",
    )
    metrics: tuple[str, ...] = option(
        (),
        "A counter to add up, by its printed name or column (repeat).",
        "--metric",
        metavar="NAME",
        panel=RESULTS_PANEL,
    )
    ratios: tuple[str, ...] = option(
        (),
        "A ratio of two totals, such as misses over accesses (repeat).",
        "--ratio",
        metavar="A/B",
        panel=RESULTS_PANEL,
    )
    manifests: tuple[InputFile, ...] = option(
        (),
        "The manifest.csv of the export that was run (repeat).",
        "--manifest",
        metavar="FILE",
        panel=RESULTS_PANEL,
    )
    against: tuple[InputFile, ...] = option(
        (),
        "Results of another configuration: the speedup over it (repeat).",
        "--against",
        metavar="FILE",
        panel=RESULTS_PANEL,
    )
    partial: bool = option(
        False,
        "Give totals of a part, too, where strata have no result yet.",
        "--partial",
        panel=RESULTS_PANEL,
    )
    accept_cold: bool = option(
        False,
        "Take a total of launches that started with cold caches for one that keeps --target.",
        "--accept-cold",
        panel=RESULTS_PANEL,
    )
    projection_error: float | None = option(
        None,
        "The relative error of `projected_cycles`, where fewer than three launches have cycles too.",
        "--projection-error",
        panel=RESULTS_PANEL,
        metavar="X",
        fraction=True,
    )
    scale_error: float | None = option(
        None,
        "The half-width of a scale model's interval, where cycles are its predictions.",
        "--scale-error",
        panel=RESULTS_PANEL,
        metavar="X",
        fraction=True,
    )
    target: float | None = option(
        None,
        "Exit 4 while the total's interval is wider than this fraction to either side.",
        "--target",
        panel=RESULTS_PANEL,
        metavar="X",
        fraction=True,
    )


@dataclass(frozen=True)
class EstimateOptions(ResultsOptions):
    """`estimate`."""

    plan: InputFile = argument("", "A plan file.", "PLAN")
    results: tuple[InputFile, ...] = argument((), "What a simulator wrote of the plan's launches.", "RESULTS")
    confidence: float | None = option(
        None, "Of the intervals; the plan's if not given.", "--confidence", metavar="X", fraction=True
    )
    groups: bool = option(False, "List every kernel group's own total.", "--groups")
    details: bool = details_option()
    top_up: Annotated[str | None, Product.PLAN] = option(
        None, "Write the larger plan here while --target is not met.", "--top-up", metavar="PLAN"
    )
