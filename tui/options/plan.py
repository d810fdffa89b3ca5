"""The options of the commands that make plans and say how good they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tui.options.choices import (
    AlignBy,
    CompareSort,
    ErrorMean,
    NumberLocale,
    PlanList,
)
from tui.options.field import argument, height_option, option, width_option
from tui.options.files import FeatureFile, InputFile, Product
from tui.options.shared import (
    OUTPUT_PANEL,
    PLAN_PANEL,
    BudgetOptions,
    OutputOptions,
    PlanningOptions,
    ProfileOptions,
    SlowdownOptions,
    columns_option,
    details_option,
)


@dataclass(frozen=True)
class SampleOptions(BudgetOptions, ProfileOptions):
    """`sample`."""

    output: Annotated[str | None, Product.PLAN] = option(
        None, "Where the plan goes; `-` is stdout.", "-o", "--output", panel=OUTPUT_PANEL, metavar="PLAN"
    )
    judge: int = option(
        200, "Draw the plan so often to see its error; 0: not.", "--judge", metavar="R", least=0
    )
    list: PlanList | None = option(None, "List these instead of the plan's figures.", "--list")
    details: bool = details_option()
    binding: bool = option(
        False,
        "Say what each option alone, relaxed one step, would give; makes several plans.",
        "--binding",
        panel=PLAN_PANEL,
    )


@dataclass(frozen=True)
class TradeOffOptions(SlowdownOptions, ProfileOptions):
    """`trade-off`."""

    epsilons: str | None = option(
        None,
        "Only these; round ones from a tenth of --epsilon to ten times of it if not given.",
        "--epsilons",
        panel=PLAN_PANEL,
        metavar="X,Y",
    )
    binding: bool = option(
        False,
        "Say what each option alone, relaxed one step, would give; makes several plans.",
        "--binding",
        panel=PLAN_PANEL,
    )
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")


@dataclass(frozen=True)
class CompareOptions(PlanningOptions, ProfileOptions):
    """`compare`."""

    profiles: tuple[InputFile, ...] = argument((), "Profile files; each is a workload of its own.", "PROFILE")
    methods: str | None = option(None, "Methods, by commas; all if not given.", "--methods", metavar="A,B")
    repeats: int = option(100, "Draws of each method.", "--repeats", metavar="R", least=1)
    features: tuple[FeatureFile, ...] = option(
        (),
        "Metrics of the launches: ncu, NVBit, CSV, Parquet, npy (repeat); of several profiles, PROFILE is "
        "the one they are of.",
        "--features",
        metavar="[PROFILE=]FILE",
    )
    number_locale: NumberLocale = option(
        NumberLocale.C, "How the files of --features write numbers.", "--number-locale"
    )
    mean: ErrorMean = option(
        ErrorMean.ARITHMETIC, "Over several profiles: arithmetic errors, or geometric.", "--mean"
    )
    one_workload: bool = option(False, "Take all files as one workload.", "--one-workload")
    sort: CompareSort = option(
        CompareSort.BEST,
        "Order of the table, a word of its head: best is by promise, then cost; data stay as asked.",
        "--sort",
    )
    reverse: bool = option(False, "The table the other way round.", "--reverse")
    reasons: bool = option(False, "Say why methods cannot run, and what would help.", "--reasons")
    scatter: bool = option(False, "Draw speedup against mean error instead of the table.", "--scatter")
    width: int | None = width_option("Columns of the scatter.")
    height: int | None = height_option("Rows of the scatter.")


@dataclass(frozen=True)
class JudgeOptions(OutputOptions):
    """`judge`."""

    plan: InputFile = argument("", "A plan file.", "PLAN")
    profiles: tuple[InputFile, ...] = argument(
        (), "The profile it was made from, or another recording of the same program.", "PROFILE"
    )
    align: AlignBy = option(
        AlignBy.NAMES,
        "What launches of another recording must share with the plan's.",
        "--align",
        parameters={"names_may_differ": f"--align {AlignBy.ORDER}"},
    )
    columns: str | None = columns_option()
    repeats: int = option(100, "Draws.", "--repeats", metavar="R", least=1)
    fail_above: float | None = option(
        None, "Exit 4 if the plan's error is above this fraction.", "--fail-above", metavar="X", fraction=True
    )
    details: bool = details_option()
