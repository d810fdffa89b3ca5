"""The options of the commands that make plans and say how good they are."""

from __future__ import annotations

from typing import Annotated

from tui.options import shared
from tui.options.choices import AlignBy, CompareSort, ErrorMean, NumberLocale, PlanList
from tui.options.field import argument, height_option, option, output_option, width_option
from tui.options.files import FeatureFile, InputFile, Product
from tui.options.shared import BudgetOptions, OutputOptions, PlanningOptions, ProfileOptions, SlowdownOptions


class SampleOptions(BudgetOptions, ProfileOptions):
    output: Annotated[str | None, Product.PLAN] = output_option("Where the plan goes; `-` is stdout.", "PLAN")
    judge: int = option(200, "Draw the plan so often to see its error; 0: not.", metavar="R", least=0)
    list: PlanList | None = option(None, "List these instead of the plan's figures.")
    details: bool = shared.DETAILS
    binding: bool = shared.BINDING


class TradeOffOptions(SlowdownOptions, ProfileOptions):
    epsilons: str | None = option(
        None,
        "Only these; round ones from a tenth of --epsilon to ten times of it if not given.",
        panel=shared.PLAN_PANEL,
        metavar="X,Y",
    )
    binding: bool = shared.BINDING
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")


class CompareOptions(PlanningOptions, ProfileOptions):
    profiles: tuple[InputFile, ...] = argument((), "Profile files; each is a workload of its own.", "PROFILE")
    methods: str | None = option(None, "Methods, by commas; all if not given.", metavar="A,B")
    repeats: int = option(100, "Draws of each method.", metavar="R", least=1)
    features: tuple[FeatureFile, ...] = option(
        (),
        "Metrics of the launches: ncu, NVBit, CSV, Parquet, npy (repeat); of several profiles, PROFILE is "
        "the one they are of.",
        metavar="[PROFILE=]FILE",
    )
    number_locale: NumberLocale = option(NumberLocale.C, "How the files of --features write numbers.")
    mean: ErrorMean = option(ErrorMean.ARITHMETIC, "Over several profiles: arithmetic errors, or geometric.")
    one_workload: bool = option(False, "Take all files as one workload.")
    sort: CompareSort = option(
        CompareSort.BEST, "Order of the table: best is by promise, then cost; data stay as asked."
    )
    reverse: bool = option(False, "The table the other way round.")
    reasons: bool = option(False, "Say why methods cannot run, and what would help.")
    scatter: bool = option(False, "Draw speedup against mean error instead of the table.")
    width: int | None = width_option("Columns of the scatter.")
    height: int | None = height_option("Rows of the scatter.")


class JudgeOptions(OutputOptions):
    plan: InputFile = argument("", "A plan file.", "PLAN")
    profiles: tuple[InputFile, ...] = argument(
        (), "The profile it was made from, or another recording of the same program.", "PROFILE"
    )
    align: AlignBy = option(
        AlignBy.NAMES,
        "What launches of another recording must share with the plan's.",
        parameter="names_may_differ",
        typed=f"--align {AlignBy.ORDER}",
    )
    columns: str | None = shared.COLUMNS
    repeats: int = option(100, "Draws.", metavar="R", least=1)
    fail_above: float | None = option(
        None, "Exit 4 if the plan's error is above this fraction.", fraction=True
    )
    details: bool = shared.DETAILS


class MethodsOptions(OutputOptions):
    """`methods`."""
