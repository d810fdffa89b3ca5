"""The options of `report`."""

from __future__ import annotations

from dataclasses import dataclass

from tui.options.field import option
from tui.options.shared import OUTPUT_PANEL, BudgetOptions, ProfileOptions


@dataclass(frozen=True)
class ReportOptions(BudgetOptions, ProfileOptions):
    """`report`."""

    output: str | None = option(
        None,
        "Where the report goes: .html with drawn charts, .md with charts as text.",
        "-o",
        "--output",
        panel=OUTPUT_PANEL,
        metavar="FILE",
    )
    top: int = option(20, "List the N largest kernel groups.", "--top", "-n", metavar="N", least=1)
    charts: int = option(
        4, "Draw the durations of the N largest kernel groups.", "--charts", metavar="N", least=0, most=100
    )
    judge: int = option(
        200, "Draw the plan so often to see its error; 0: not.", "--judge", metavar="R", least=0
    )
    compare: bool = option(False, "Compare all methods too; that takes longer.", "--compare")
