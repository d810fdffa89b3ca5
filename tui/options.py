"""The frozen options of every command: parsed from the command line, held by the app's state.

One field is one option. Its flags, help and panel lie in the field's metadata, so that Typer's parser and
"copy as command" are both made from here and cannot drift apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sampling.group_by import GroupBy


class OutputFormat(StrEnum):
    """How results are written; never chosen by what stdout is."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"


class ColorMode(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class GroupSort(StrEnum):
    """What `groups` is sorted by; all but name largest first."""

    TOTAL = "total"
    LAUNCHES = "launches"
    MEAN = "mean"
    COV = "cov"
    CLUSTERS = "clusters"
    SAMPLES = "samples"
    NAME = "name"


class AlignBy(StrEnum):
    """How the launches of another recording are matched with a plan's.

    ``names``: the same name, grid and block in the same order. ``order``: as many launches, of any kernels.
    """

    NAMES = "names"
    ORDER = "order"


class NumberLocale(StrEnum):
    """How files of metrics write their numbers: 1234.5 or 1,234.5; 1.234,5."""

    C = "C"
    EN_US = "en_US"
    DE_DE = "de_DE"


class ErrorMean(StrEnum):
    """How `compare` sums up several profiles.

    ``arithmetic``: harmonic mean of the speedups, arithmetic mean of the errors (STEM+ROOT section V-A).
    ``geometric``: geometric means of both (Allegro).
    """

    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"


def _option(
    default: Any,
    text: str,
    *flags: str,
    panel: str = "Options",
    metavar: str | None = None,
    least: int | None = None,
    fraction: bool = False,
) -> Any:
    shown = {"help": text, "flags": flags, "panel": panel, "metavar": metavar}
    return field(default=default, metadata={**shown, "least": least, "fraction": fraction})


def _argument(default: Any, text: str, metavar: str, *, required: bool = True) -> Any:
    return field(
        default=default, metadata={"help": text, "argument": True, "metavar": metavar, "required": required}
    )


_OUTPUT = "Output"
_REGION = "Which launches"
_PLAN = "Plan"


@dataclass(frozen=True)
class OutputOptions:
    """What every command takes."""

    format: OutputFormat = _option(OutputFormat.TABLE, "How to write the results.", "--format", panel=_OUTPUT)
    output: str | None = _option(
        None, "Where the results go; `-` is stdout.", "-o", "--output", panel=_OUTPUT, metavar="PATH"
    )
    quiet: bool = _option(False, "No progress and no notes on stderr.", "--quiet", "-q", panel=_OUTPUT)
    seed: int = _option(0, "Seed of every random draw.", "--seed", panel=_OUTPUT)
    ascii: bool = _option(False, "Draw with ASCII alone.", "--ascii", panel=_OUTPUT)
    color: ColorMode = _option(ColorMode.AUTO, "When to colour.", "--color", panel=_OUTPUT)


@dataclass(frozen=True)
class RegionOptions(OutputOptions):
    """Which launches count, and what a kernel group is."""

    group_by: GroupBy = _option(
        GroupBy.LAUNCH, "What the launches of a kernel group share.", "--group-by", panel=_REGION
    )
    pool_devices: bool = _option(
        False, "Let a kernel group span processes and devices.", "--pool-devices", panel=_REGION
    )
    device: tuple[str, ...] = _option(
        (), "Only these devices (repeat, or 0,1).", "--device", panel=_REGION, metavar="N"
    )
    process: tuple[str, ...] = _option(
        (), "Only these processes (repeat, or 7,8).", "--process", panel=_REGION, metavar="N"
    )
    include: tuple[str, ...] = _option(
        (), "Only kernels whose full name matches.", "--include", panel=_REGION, metavar="REGEX"
    )
    exclude: tuple[str, ...] = _option(
        (),
        "Not these kernels; `communication` stands for collectives.",
        "--exclude",
        panel=_REGION,
        metavar="REGEX",
    )
    launches: str | None = _option(
        None, "Only launch ids A up to, not with, B.", "--launches", panel=_REGION, metavar="A:B"
    )
    time: str | None = _option(
        None,
        "Only launches that start A up to, not with, B ns after the first.",
        "--time",
        panel=_REGION,
        metavar="A:B",
    )
    range: str | None = _option(
        None, "Only launches of this NVTX or annotation range.", "--range", panel=_REGION, metavar="TEXT"
    )


@dataclass(frozen=True)
class ProfileOptions(RegionOptions):
    """A command that reads one workload."""

    profiles: tuple[str, ...] = _argument((), "Profile files; several are one workload.", "PROFILE")


@dataclass(frozen=True)
class ConvertOptions(ProfileOptions):
    """`convert`."""

    output: str | None = _option(
        None, "Where the Parquet goes; `-` is stdout.", "-o", "--output", panel=_OUTPUT, metavar="FILE"
    )


@dataclass(frozen=True)
class PlanningOptions(RegionOptions):
    """What is asked of a plan."""

    epsilon: float = _option(
        0.05, "Bound on the relative error of the total.", "--epsilon", "-e", panel=_PLAN
    )
    confidence: float = _option(0.95, "Share of draws that must meet it.", "--confidence", panel=_PLAN)
    group_epsilon: str | None = _option(
        None, "joint: bound of every group, or none (0.25).", "--group-epsilon", panel=_PLAN, metavar="X"
    )
    min_samples: int | None = _option(
        None, "joint: least samples of a stratum (2).", "--min-samples", panel=_PLAN, metavar="N"
    )
    noise_floor: float | None = _option(
        None, "joint: spread allowed for simulation (0.05).", "--noise-floor", panel=_PLAN, metavar="X"
    )
    with_replacement: bool = _option(
        False, "Draw with replacement, as the papers derive.", "--with-replacement", panel=_PLAN
    )
    set: tuple[str, ...] = _option(
        (), "An option of one method.", "--set", panel=_PLAN, metavar="METHOD.NAME=VALUE"
    )


@dataclass(frozen=True)
class SummaryOptions(PlanningOptions, ProfileOptions):
    """`summary`, and what `open` shows without a terminal."""


@dataclass(frozen=True)
class OpenOptions(SummaryOptions):
    """`open`."""

    app: bool = _option(False, "Insist on the app: refuse where there is no terminal.", "--app")
    no_mouse: bool = _option(False, "Leave the mouse to the terminal.", "--no-mouse")


@dataclass(frozen=True)
class DemoOptions(PlanningOptions):
    """`demo`."""

    app: bool = _option(False, "Insist on the app: refuse where there is no terminal.", "--app")
    no_mouse: bool = _option(False, "Leave the mouse to the terminal.", "--no-mouse")


@dataclass(frozen=True)
class GroupsOptions(PlanningOptions, ProfileOptions):
    """`groups`."""

    top: int | None = _option(None, "Only the first N.", "--top", "-n", metavar="N", least=1)
    sort: GroupSort = _option(GroupSort.TOTAL, "What to sort by.", "--sort")


@dataclass(frozen=True)
class HistogramOptions(PlanningOptions, ProfileOptions):
    """`histogram`."""

    kernel: str | None = _option(
        None, "#RANK, or part of the key; the largest group if not given.", "--kernel", "-k", metavar="KERNEL"
    )
    method: str = _option("joint", "Whose clusters to show.", "--method", "-m")
    log: bool = _option(False, "A logarithmic duration axis.", "--log")
    width: int | None = _option(None, "Columns; bins in data formats.", "--width", metavar="N", least=1)
    height: int | None = _option(None, "Rows.", "--height", metavar="N", least=1)


@dataclass(frozen=True)
class TreeOptions(PlanningOptions, ProfileOptions):
    """`tree`."""

    kernel: str | None = _option(
        None, "#RANK, or part of the key; the largest group if not given.", "--kernel", "-k", metavar="KERNEL"
    )
    method: str = _option("root", "Whose rule grows the tree.", "--method", "-m")
    overrides: str | None = _option(
        None, "Split decisions of yours, as JSON.", "--overrides", panel=_PLAN, metavar="FILE"
    )
    max_depth: int | None = _option(None, "Draw no deeper than this.", "--max-depth", metavar="N", least=0)


@dataclass(frozen=True)
class SampleOptions(PlanningOptions, ProfileOptions):
    """`sample`."""

    output: str | None = _option(
        None, "Where the plan goes; `-` is stdout.", "-o", "--output", panel=_OUTPUT, metavar="PLAN"
    )
    method: str = _option("joint", "How to choose the launches.", "--method", "-m")
    features: tuple[str, ...] = _option(
        (), "Metrics of the launches: ncu, NVBit, CSV, Parquet (repeat).", "--features", metavar="FILE"
    )
    number_locale: NumberLocale = _option(
        NumberLocale.C, "How the files of --features write numbers.", "--number-locale"
    )
    overrides: str | None = _option(
        None, "Split decisions of yours, as JSON.", "--overrides", panel=_PLAN, metavar="FILE"
    )
    judge: int = _option(
        200, "Draw the plan so often to see its error; 0: not.", "--judge", metavar="R", least=0
    )


@dataclass(frozen=True)
class CompareOptions(PlanningOptions, ProfileOptions):
    """`compare`."""

    profiles: tuple[str, ...] = _argument((), "Profile files; each is a workload of its own.", "PROFILE")
    methods: str | None = _option(None, "Methods, by commas; all if not given.", "--methods", metavar="A,B")
    repeats: int = _option(100, "Draws of each method.", "--repeats", metavar="R", least=1)
    features: tuple[str, ...] = _option(
        (), "Metrics of the launches: ncu, NVBit, CSV, Parquet (repeat).", "--features", metavar="FILE"
    )
    number_locale: NumberLocale = _option(
        NumberLocale.C, "How the files of --features write numbers.", "--number-locale"
    )
    mean: ErrorMean = _option(
        ErrorMean.ARITHMETIC, "Over several profiles: arithmetic errors, or geometric.", "--mean"
    )
    one_workload: bool = _option(False, "Take all files as one workload.", "--one-workload")


@dataclass(frozen=True)
class JudgeOptions(OutputOptions):
    """`judge`."""

    plan: str = _argument("", "A plan file.", "PLAN")
    profiles: tuple[str, ...] = _argument(
        (), "The profile it was made from, or another recording of the same program.", "PROFILE"
    )
    align: AlignBy = _option(
        AlignBy.NAMES, "What launches of another recording must share with the plan's.", "--align"
    )
    repeats: int = _option(100, "Draws.", "--repeats", metavar="R", least=1)
    fail_above: float | None = _option(
        None, "Exit 4 if the plan's error is above this fraction.", "--fail-above", metavar="X", fraction=True
    )


@dataclass(frozen=True)
class ExportOptions(OutputOptions):
    """`export`."""

    output: str | None = _option(
        None, "The folder to write to; `-` is stdout.", "-o", "--output", panel=_OUTPUT, metavar="FOLDER"
    )
    plan: str = _argument("", "A plan file.", "PLAN")
    to: str = _option("csv", "For which simulator or tool.", "--to", metavar="TARGET")
    force: bool = _option(False, "Overwrite files that exist.", "--force")


@dataclass(frozen=True)
class ProjectOptions(OutputOptions):
    """`project`."""

    logs: tuple[str, ...] = _argument(
        (), "A log of what happens within kernels; for accel-sim its stdout may be given too.", "LOG"
    )
    source: str | None = _option(
        None, "accel-sim or csv; recognised if not given.", "--from", metavar="SIMULATOR"
    )
    stability: float = _option(
        0.25,
        "Steady below this deviation of the IPC, in per cent, as published.",
        "--stability",
        metavar="PERCENT",
    )
    window: int = _option(3000, "Cycles over which it is taken.", "--window", metavar="CYCLES", least=1)
    artifact: bool = _option(False, "The rule of the published artifact.", "--artifact")
    ctas_per_sm: tuple[str, ...] = _option(
        (), "CTAs that an SM holds at once.", "--ctas-per-sm", metavar="[KERNEL=]N"
    )
    sms: int | None = _option(None, "SMs of the simulated GPU.", "--sms", metavar="N", least=1)
    instructions: tuple[str, ...] = _option(
        (), "Instructions of the whole kernel.", "--instructions", metavar="[KERNEL=]N"
    )
    ctas: tuple[str, ...] = _option(
        (), "CTAs of the whole kernel, or its grid as XxYxZ.", "--ctas", "--grid", metavar="[KERNEL=]N"
    )
    kernel: str | None = _option(
        None,
        "#NUMBER in the log, or part of the name: whose chart to draw.",
        "--kernel",
        "-k",
        metavar="KERNEL",
    )
    width: int | None = _option(None, "Columns.", "--width", metavar="N", least=1)
    height: int | None = _option(None, "Rows of the chart.", "--height", metavar="N", least=1)
