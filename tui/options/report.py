"""The options of `report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tui.options.estimate import RESULTS_PANEL, ResultsOptions
from tui.options.field import option
from tui.options.input_files import InputFile
from tui.options.places import Product
from tui.options.shared import OUTPUT_PANEL, BudgetOptions, ProfileOptions


@dataclass(frozen=True)
class ReportOptions(BudgetOptions, ProfileOptions, ResultsOptions):
    """`report`."""

    output: Annotated[str | None, Product.REPORT] = option(
        None,
        "Where the report goes: .html with drawn charts, .md with charts as text.",
        "-o",
        "--output",
        panel=OUTPUT_PANEL,
        metavar="FILE",
    )
    svg: Annotated[str | None, Product.FOLDER] = option(
        None,
        "Write each chart as an .svg file of its own too, for a paper; those of the last time are replaced. "
        "A .md report then shows these files.",
        "--svg",
        panel=OUTPUT_PANEL,
        metavar="FOLDER",
    )
    top: int = option(20, "List the N largest kernel groups.", "--top", "-n", metavar="N", least=1)
    charts: int = option(
        4, "Draw the durations of the N largest kernel groups.", "--charts", metavar="N", least=0, most=100
    )
    judge: int = option(
        200, "Draw the plan so often to see its error; 0: not.", "--judge", metavar="R", least=0
    )
    compare: bool = option(False, "Compare all methods too; that takes longer.", "--compare")
    results: tuple[InputFile, ...] = option(
        (),
        "What a simulator wrote of the plan's launches, as for `estimate` (repeat).",
        "--results",
        panel=RESULTS_PANEL,
        metavar="FILE",
    )
    plan: InputFile | None = option(
        None,
        "The plan file of --results, where these options do not make it, as one that was topped up.",
        "--plan",
        panel=RESULTS_PANEL,
        metavar="PLAN",
    )
