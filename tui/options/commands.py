"""The frozen options of each command on a profile or a plan, parsed from the command line.

One field is one option, see `tui.options.field`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tui.options.choices import (
    AlignBy,
    CompareSort,
    ErrorMean,
    GroupSort,
    NumberLocale,
    PlanList,
    Theme,
    TimelineBy,
)
from tui.options.field import MOST_COLUMNS, argument, height_option, option, width_option
from tui.options.input_files import FeatureFile, InputFile, PartOfFile
from tui.options.numbers import NumberKind
from tui.options.places import Product
from tui.options.shared import (
    OUTPUT_PANEL,
    PLAN_PANEL,
    BudgetOptions,
    MethodOptions,
    OutputOptions,
    PlanningOptions,
    ProfileOptions,
    SlowdownOptions,
    columns_option,
    details_option,
    theme_option,
)


@dataclass(frozen=True)
class ConvertOptions(ProfileOptions):
    """`convert`."""

    output: Annotated[str | None, Product.PROFILE] = option(
        None, "Where the Parquet goes; `-` is stdout.", "-o", "--output", panel=OUTPUT_PANEL, metavar="FILE"
    )


@dataclass(frozen=True)
class InfoOptions(PlanningOptions, ProfileOptions):
    """`info`."""


@dataclass(frozen=True)
class SummaryOptions(BudgetOptions, ProfileOptions):
    """`summary`."""

    details: bool = details_option()


@dataclass(frozen=True)
class OpenOptions(SlowdownOptions, ProfileOptions):
    """`open`."""

    profiles: tuple[PartOfFile, ...] = argument(
        (), "Profile files; several are one workload. Or a plan file, and a simulator's results.", "PROFILE"
    )
    difference: bool = option(
        False,
        "Compare two: open the second, and show what changed since the first; either may be FILE@RANGE.",
        "--difference",
    )
    plan: InputFile | None = option(
        None,
        "Show this plan on the profile: its options, filters and decisions; PLAN alone finds its profile.",
        "--plan",
        panel=PLAN_PANEL,
        metavar="PLAN",
    )
    app: bool = option(False, "Insist on the app: refuse where there is no terminal.", "--app")
    no_mouse: bool = option(False, "Leave the mouse to the terminal.", "--no-mouse")
    theme: Theme = theme_option()


@dataclass(frozen=True)
class DemoOptions(SlowdownOptions):
    """`demo`."""

    app: bool = option(False, "Insist on the app: refuse where there is no terminal.", "--app")
    no_mouse: bool = option(False, "Leave the mouse to the terminal.", "--no-mouse")
    theme: Theme = theme_option()


@dataclass(frozen=True)
class GroupsOptions(MethodOptions, ProfileOptions):
    """`groups`."""

    top: int | None = option(None, "Only the first N.", "--top", "-n", metavar="N", least=1)
    sort: GroupSort = option(GroupSort.TOTAL, "What to sort by: a word of the table's head.", "--sort")
    reverse: bool = option(False, "The other way round.", "--reverse")
    filter: str | None = option(
        None, "Only groups whose key contains this, in any case.", "--filter", metavar="TEXT"
    )


@dataclass(frozen=True)
class HistogramOptions(MethodOptions, ProfileOptions):
    """`histogram`."""

    all: bool = option(
        False, "A linear axis to the longest launch, whatever room the last few take.", "--all"
    )

    kernel: str | None = option(
        None, "#RANK, or part of the key; the largest group if not given.", "--kernel", "-k", metavar="KERNEL"
    )
    log: bool = option(False, "A logarithmic duration axis.", "--log")
    width: int | None = width_option("Columns; bins in data formats.")
    height: int | None = height_option("Rows.")


@dataclass(frozen=True)
class TimelineOptions(MethodOptions, ProfileOptions):
    """`timeline`."""

    kernel: str | None = option(
        None, "#RANK, or part of the key; the largest group if not given.", "--kernel", "-k", metavar="KERNEL"
    )
    by: TimelineBy = option(
        TimelineBy.LAUNCH, "Go by the order of the launches, or by when they started.", "--by"
    )
    window: str | None = option(
        None, "Show launch ids A up to, not with, B; the plan stays.", "--window", metavar="A:B"
    )
    bins: int | None = option(
        None, "Bins in data formats (60).", "--bins", metavar="N", least=1, most=MOST_COLUMNS
    )
    log: bool = option(False, "A logarithmic duration axis.", "--log")
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows.")


@dataclass(frozen=True)
class TreeOptions(PlanningOptions, ProfileOptions):
    """`tree`."""

    kernel: str | None = option(
        None, "#RANK, or part of the key; the largest group if not given.", "--kernel", "-k", metavar="KERNEL"
    )
    method: str = option("root", "Whose rule grows the tree.", "--method", "-m")
    overrides: InputFile | None = option(
        None, "Split decisions of yours, as JSON.", "--overrides", panel=PLAN_PANEL, metavar="FILE"
    )
    max_depth: int | None = option(None, "Draw no deeper than this.", "--max-depth", metavar="N", least=0)
    decisions: int | None = option(
        None, "Only the first N decisions; the next is proposed.", "--decisions", metavar="N", least=0
    )
    node: str | None = option(None, "Show this node: root, or L or R a step.", "--node", metavar="PATH")
    log: bool = option(False, "A logarithmic duration axis.", "--log")


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


@dataclass(frozen=True)
class AlignOptions(OutputOptions):
    """`align`."""

    plan: InputFile = argument("", "A plan file; its profile is read where it lay.", "PLAN")
    trace: InputFile = argument(
        "", "The folder of the traces, or stats.csv, kernelslist or kernel_names.txt.", "TRACE"
    )
    process: int | None = option(
        None, "The traced process of the profile; that of the plan if not given.", "--process", metavar="N"
    )
    device: int | None = option(
        None, "The traced device of the profile; that of the plan if not given.", "--device", metavar="N"
    )


@dataclass(frozen=True)
class ExportOptions(OutputOptions):
    """`export`."""

    output: Annotated[str | None, Product.FOLDER] = option(
        None, "The folder to write to; `-` is stdout.", "-o", "--output", panel=OUTPUT_PANEL, metavar="FOLDER"
    )
    plan: InputFile = argument("", "A plan file.", "PLAN")
    to: str = option(
        "csv",
        "For which simulator or tool: csv, accel-sim, macsim, mgpusim, ncu, nvbit, rocprofv3.",
        "--to",
        metavar="TARGET",
    )
    shards: int = option(
        1, "Share the launches out over so many machines, by sampled time.", "--shards", metavar="K", least=1
    )
    traces: InputFile | None = option(
        None,
        "accel-sim, macsim, mgpusim: the traces to check the launches against.",
        "--traces",
        metavar="DIR",
    )
    caches: str | None = option(
        None,
        "What launches find in L2: warm or loads, what those before them left (put there by copies, by a"
        " kernel of loads); own, what they load; after:N, N launches are run first; cold. Warm if not given,"
        " for accel-sim with --traces.",
        "--caches",
        metavar="HOW",
    )
    cold_check: int = option(
        0,
        "Launches start cold, and R of them run once more after the 16 before each: `estimate` corrects the"
        " total by these.",
        "--cold-check",
        metavar="R",
        least=0,
    )
    config: InputFile | None = option(
        None, "accel-sim: the gpgpusim.config, for the size of its L2.", "--config", metavar="FILE"
    )
    trace_before: int = option(
        16, "accel-sim: record so many launches before each too.", "--trace-before", metavar="N", least=0
    )
    drop_copies: bool = option(
        False, "accel-sim, mgpusim: leave out the memory copies that the traces list.", "--drop-copies"
    )


@dataclass(frozen=True)
class RunOptions(OutputOptions):
    """`run`."""

    output: Annotated[str | None, Product.FOLDER] = option(
        None,
        "The folder of the run, gone on with if it is there; PLAN.run if not given.",
        "-o",
        "--output",
        panel=OUTPUT_PANEL,
        metavar="FOLDER",
    )
    plan: InputFile = argument("", "A plan file, or the folder of a run.", "PLAN")
    to: str = option(
        "accel-sim",
        "Which simulator it is: accel-sim, macsim, or csv, any that is told an id.",
        "--to",
        metavar="TARGET",
    )
    simulator: str = option(
        "",
        "Its command line. Of each launch, {list} is what accel-sim runs, {id} its id, {folder} where it "
        "runs; csv: it prints a number of cycles last, or writes it to {out}.",
        "--simulator",
        metavar="COMMAND",
    )
    traces: InputFile | None = option(None, "accel-sim, macsim: the traces.", "--traces", metavar="DIR")
    caches: str | None = option(
        None, "What launches find in the caches, as for `export`.", "--caches", metavar="STATE"
    )
    cold_check: int = option(
        0,
        "Launches start cold, and R of them run once more, as for `export`.",
        "--cold-check",
        metavar="R",
        least=0,
    )
    config: InputFile | None = option(
        None, "accel-sim: gpgpusim.config, for the size of L2.", "--config", metavar="FILE"
    )
    accept_cold: bool = option(
        False, "Take a total of launches that started cold for one that keeps --target.", "--accept-cold"
    )
    target: float | None = option(
        None,
        "Stop when the total's interval reaches this fraction to either side, draw more until it does; "
        "exit 4 if it cannot.",
        "--target",
        metavar="X",
        fraction=True,
    )
    jobs: int = option(1, "So many launches at once.", "--jobs", "-j", metavar="N", least=1)
    timeout: str | None = option(
        None,
        "Give a launch up after this long: 90m, 24h; another takes its place.",
        "--timeout",
        metavar="TIME",
    )
    slurm: bool = option(
        False, "Run nothing: take what is finished, and write a job array for the rest.", "--slurm"
    )


@dataclass(frozen=True)
class ProjectOptions(OutputOptions):
    """`project`."""

    logs: tuple[InputFile, ...] = argument(
        (), "A log of what happens within kernels; for accel-sim its stdout may be given too.", "LOG"
    )
    source: str | None = option(
        None, "accel-sim or csv; recognised if not given.", "--from", metavar="SIMULATOR"
    )
    stability: float = option(
        0.25,
        "Steady below this deviation of the IPC, in per cent, as published.",
        "--stability",
        kind=NumberKind.PERCENT,
        metavar="PERCENT",
    )
    window: int = option(3000, "Cycles over which it is taken.", "--window", metavar="CYCLES", least=1)
    artifact: bool = option(False, "The rule of the published artifact.", "--artifact")
    ctas_per_sm: tuple[str, ...] = option(
        (), "CTAs that an SM holds at once.", "--ctas-per-sm", metavar="[KERNEL=]N"
    )
    sms: int | None = option(None, "SMs of the simulated GPU.", "--sms", metavar="N", least=1)
    instructions: tuple[str, ...] = option(
        (), "Instructions of the whole kernel.", "--instructions", metavar="[KERNEL=]N"
    )
    instructions_from: InputFile | None = option(
        None,
        "Instructions of the kernels not simulated whole, at most: the tracer's stats.csv.",
        "--instructions-from",
        metavar="FILE",
    )
    ctas: tuple[str, ...] = option(
        (), "CTAs of the whole kernel, or its grid as XxYxZ.", "--ctas", "--grid", metavar="[KERNEL=]N"
    )
    kernel: str | None = option(
        None,
        "#NUMBER as listed, or part of the name: whose chart to draw.",
        "--kernel",
        "-k",
        metavar="KERNEL",
    )
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows of the chart.")
