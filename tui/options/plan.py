"""The options of the commands that make plans and say how good they are."""

from __future__ import annotations

from sampling.plan.request import Part
from tui.options import shared
from tui.options.choices import AlignBy, CompareSort, ErrorMean, PlanList, PlanPurpose
from tui.options.files import InputFile, Product
from tui.options.shared import (
    BudgetOptions,
    OutputOptions,
    PlanningOptions,
    ProfileOptions,
    SlowdownOptions,
    argument,
    height_option,
    option,
    output_option,
    width_option,
)


class SampleOptions(BudgetOptions, ProfileOptions):
    output: str | None = output_option("Where the plan goes; `-` is stdout.", "PLAN", Product.PLAN)
    purpose: PlanPurpose = option(
        "What is to be learnt by it: for speedups, two launches a stratum at least; for counters of a "
        "profiler these, and no pool of small kernels.",
        "--for",
        default=PlanPurpose.TOTAL,
        panel=shared.PLAN_PANEL,
    )
    judge: int = option("Draw the plan so often to see its error; 0: not.", default=200, metavar="R", least=0)
    list: PlanList | None = option("List these instead of the plan's figures.")
    details: bool = shared.DETAILS
    binding: bool = shared.BINDING


class TradeOffOptions(SlowdownOptions, ProfileOptions):
    epsilons: str | None = option(
        "Only these; round ones from a tenth of --epsilon to ten times of it if not given.",
        panel=shared.PLAN_PANEL,
        metavar="X,Y",
    )
    binding: bool = shared.BINDING
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")


class CompareOptions(PlanningOptions, ProfileOptions, asks=["features", "number_locale"]):
    profiles: tuple[InputFile, ...] = argument("Profile files; each is a workload of its own.", "PROFILE")
    methods: str | None = option("Methods, by commas; all if not given.", metavar="A,B")
    repeats: int = option("Draws of each method.", default=100, metavar="R", least=1)
    on: InputFile | None = option(
        "Judge plans of the profile on this of the same launches: what a simulator printed of the whole run, "
        "or another recording.",
        metavar="RESULTS",
    )
    mean: ErrorMean = option(
        "Over several profiles: arithmetic errors, or geometric.", default=ErrorMean.ARITHMETIC
    )
    one_workload: bool = option("Take all files as one workload.")
    sort: CompareSort = option(
        "Order of the table: best is by promise, then cost; data stay as asked.", default=CompareSort.BEST
    )
    reverse: bool = option("The table the other way round.")
    reasons: bool = option("Say why methods cannot run, and what would help.")
    scatter: bool = option("Draw speedup against mean error instead of the table.")
    width: int | None = width_option("Columns of the scatter.")
    height: int | None = height_option("Rows of the scatter.")


class JudgeOptions(OutputOptions, asks=[Part.READING]):
    plan: InputFile = argument("A plan file.", "PLAN")
    profiles: tuple[InputFile, ...] = argument(
        "The profile it was made from, or another recording of the same program.", "PROFILE"
    )
    align: AlignBy = option(
        "What launches of another recording must share with the plan's: names, or their order alone; or, on "
        "another GPU, their operator.",
        default=AlignBy.NAMES,
        parameter="names_may_differ",
        typed=f"--align {AlignBy.ORDER}",
    )
    no_cache: bool = shared.NO_CACHE
    scheduler: str | None = shared.SCHEDULER
    repeats: int = option("Draws.", default=100, metavar="R", least=1)
    fail_above: float | None = option("Exit 4 if the plan's error is above this fraction.", fraction=True)
    details: bool = shared.DETAILS


class MethodsOptions(OutputOptions):
    """`methods`."""


class McpOptions(OutputOptions):
    """`mcp`."""


class SchemaOptions(OutputOptions):
    command: tuple[str, ...] = argument("A command: `groups`, `scale predict`.", "COMMAND")
