"""The frozen options that several commands take: output, region, plan. The app's state holds them.

One field is one option, see `tui.options.field`.
"""

from __future__ import annotations

from sampling.reduction import GroupBy
from tui.options.choices import ColorMode, NumberLocale, OutputFormat
from tui.options.field import OUTPUT_PANEL, CommandOptions, NumberKind, argument, option, output_option
from tui.options.files import FeatureFile, InputFile, Product

_REGION = "Which launches"
Texts = tuple[str, ...]
PLAN_PANEL = "Plan"


# Options of several commands, each below another class.
COLUMNS = option(
    "CSV and Parquet: which columns hold what; a time's unit may follow, :us. Also grid, block or their "
    "axes, start_ns, stream, device, process.",
    panel=_REGION,
    metavar="name=A,duration_ns=B",
)
RANK_REGEX = option(
    r"Where paths tell ranks, if not as rank3 or worker3: 'report_(\d+)'.",
    panel=_REGION,
    metavar="REGEX",
)
PARTIAL = option("Of a trace that is cut short, read what is whole.", panel=_REGION)
KEEP_OVERLONG = option(
    "Keep recorded durations in which other launches of the same stream begin and end.", panel=_REGION
)
NO_CACHE = option("Read large files anew, and keep nothing of them for the next time.", panel=_REGION)
SCHEDULER = option(
    "A Dask scheduler, whose workers read the files, at the same paths, and look at their launches.",
    panel=_REGION,
    metavar="ADDRESS",
)
DETAILS = option("Tell every figure, not only the answer.", panel=OUTPUT_PANEL)
KERNEL = option("#RANK, or part of the key; the largest group if not given.", "-k", metavar="KERNEL")
OVERRIDES = option("Split decisions of yours, as JSON.", panel=PLAN_PANEL, metavar="FILE")
BINDING = option(
    "Say what each option alone, relaxed one step, would give; makes several plans.", panel=PLAN_PANEL
)


class OutputOptions(CommandOptions, panel=OUTPUT_PANEL):
    """What every command takes."""

    format: OutputFormat = option("How to write the results.", default=OutputFormat.TABLE)
    output: str | None = output_option("Where the results go; `-` is stdout.", "PATH", Product.RESULTS)
    force: bool = option(
        "Replace what is kept otherwise: a file of another kind, an export, a plan that was topped up."
    )
    quiet: bool = option("No progress and no notes on stderr.", "-q")
    seed: int = option("Seed of every random draw.", default=0)
    ascii: bool = option("Draw with ASCII alone.")
    color: ColorMode = option("When to colour.", default=ColorMode.AUTO)


class WindowOptions(OutputOptions):
    """How the app looks and is steered."""

    no_mouse: bool = option("Leave the mouse to the terminal.")


class AppOptions(WindowOptions):
    """A command that opens the app where it can."""

    app: bool = option("Insist on the app: refuse where there is no terminal.")


class RegionOptions(OutputOptions, panel=_REGION):
    """Which launches count, and what a kernel group is."""

    group_by: GroupBy = option("What the launches of a kernel group share.", default=GroupBy.LAUNCH)
    pool_devices: bool = option("Let a kernel group span all processes and devices.")
    each_rank: bool = option("Keep processes and devices apart that issue the same launches.")
    device: Texts = option("Only these devices (repeat, or 0,1).", metavar="N", parameter="devices")
    process: Texts = option(
        "Only these processes, or ranks (repeat, or 0,8:16, which is 0 and 8 to 15).",
        "--process",
        "--rank",
        metavar="N",
        parameter="processes",
    )
    include: Texts = option("Only kernels whose full name matches.", metavar="REGEX")
    exclude: Texts = option("Not these kernels; `communication` stands for collectives.", metavar="REGEX")
    launches: str | None = option("Only launch ids A up to, not with, B.", metavar="A:B")
    time: str | None = option(
        "Only launches that start A up to, not with, B ns after the first.",
        metavar="A:B",
        parameter="time_ns",
    )
    range: str | None = option(
        "Only launches of this NVTX or annotation range.", metavar="TEXT", parameter="named_range"
    )
    min_duration: int | None = option(
        "Only launches that last N ns or more; what that leaves out is said.",
        metavar="NS",
        least=1,
        parameter="min_duration_ns",
    )
    columns: str | None = COLUMNS
    rank_regex: str | None = RANK_REGEX
    partial: bool = PARTIAL
    keep_overlong: bool = KEEP_OVERLONG
    no_cache: bool = NO_CACHE
    scheduler: str | None = SCHEDULER


class ProfileOptions(RegionOptions):
    """A command that reads one workload."""

    profiles: tuple[InputFile, ...] = argument("Profile files; several are one workload.", "PROFILE")


class PlanningOptions(RegionOptions, panel=PLAN_PANEL):
    """What is asked of a plan."""

    epsilon: float = option("Bound on the relative error of the total.", "-e", default=0.05)
    confidence: float = option("Share of draws that must meet it.", default=0.95)
    group_epsilon: str | None = option("joint: bound of every group, or none (0.25).", metavar="X")
    min_samples: int | None = option("joint: least samples of a stratum (1).")
    noise_floor: float | None = option("Declared spread of cycles per ns within a stratum (0.05).")
    kernel_spread: float | None = option("Declared spread of cycles per ns between kernels (0.3).")
    no_pool: bool = option("joint: an own estimate of every kernel group, however small.")
    set: Texts = option("An option of one method.", metavar="METHOD.NAME=VALUE", parameter="settings")


class MethodOptions(PlanningOptions, panel=PLAN_PANEL):
    """A plan, and the method that makes it."""

    method: str = option("How to choose the launches.", "-m", default="joint")
    features: tuple[FeatureFile, ...] = option(
        "Metrics of the launches: ncu, NVBit, CSV, Parquet, npy (repeat); PROFILE is the one they are of.",
        metavar="[PROFILE=]FILE",
    )
    number_locale: NumberLocale = option("How the files of --features write numbers.", default=NumberLocale.C)
    cost: str | None = option(
        "What simulating a launch costs in place of its time: instructions, or another metric of --features.",
        metavar="METRIC",
    )
    overrides: InputFile | None = OVERRIDES


class SlowdownOptions(MethodOptions, panel=PLAN_PANEL):
    """A plan, and how slow its simulation is."""

    slowdown: float | None = option(
        "Seconds of simulation for a second on the GPU: the plan in hours of one machine.",
        kind=NumberKind.OTHER,
    )


class BudgetOptions(SlowdownOptions, panel=PLAN_PANEL):
    """A plan that is to fit a time of simulation."""

    budget: str | None = option(
        "Find the smallest epsilon whose simulation fits: 90m, 24h, 3d; needs --slowdown.", metavar="TIME"
    )
