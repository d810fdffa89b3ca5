"""The frozen options that several commands take: output, region, plan. The app's state holds them.

One field is one option, see `tui.options.field`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from sampling.reduction import GroupBy
from tui.options.choices import (
    ColorMode,
    NumberLocale,
    OutputFormat,
    Theme,
)
from tui.options.field import NumberKind, argument, option
from tui.options.files import FeatureFile, InputFile, Product

OUTPUT_PANEL = "Output"
_REGION = "Which launches"
PLAN_PANEL = "Plan"


def columns_option() -> Any:
    """Return the field of ``--columns``."""
    return option(
        None,
        "CSV and Parquet: which columns hold what; a time's unit may follow, :us. Also grid, block or their "
        "axes, start_ns, stream, device, process.",
        "--columns",
        panel=_REGION,
        metavar="name=A,duration_ns=B",
    )


def details_option() -> Any:
    """Return the field of ``--details``."""
    return option(False, "Tell every figure, not only the answer.", "--details", panel=OUTPUT_PANEL)


def theme_option() -> Any:
    """Return the field of ``--theme``."""
    return option(
        Theme.TERMINAL,
        "The app's colours: the terminal's own, or nord, gruvbox, solarized-light, ... (a wrong name lists "
        "all); NO_COLOR wins.",
        "--theme",
        metavar="NAME",
    )


@dataclass(frozen=True)
class OutputOptions:
    """What every command takes."""

    format: OutputFormat = option(
        OutputFormat.TABLE, "How to write the results.", "--format", panel=OUTPUT_PANEL
    )
    output: Annotated[str | None, Product.RESULTS] = option(
        None, "Where the results go; `-` is stdout.", "-o", "--output", panel=OUTPUT_PANEL, metavar="PATH"
    )
    force: bool = option(
        False,
        "Replace what is kept otherwise: a file of another kind, an export, a plan that was topped up.",
        "--force",
        panel=OUTPUT_PANEL,
    )
    quiet: bool = option(False, "No progress and no notes on stderr.", "--quiet", "-q", panel=OUTPUT_PANEL)
    seed: int = option(0, "Seed of every random draw.", "--seed", panel=OUTPUT_PANEL)
    ascii: bool = option(False, "Draw with ASCII alone.", "--ascii", panel=OUTPUT_PANEL)
    color: ColorMode = option(ColorMode.AUTO, "When to colour.", "--color", panel=OUTPUT_PANEL)


@dataclass(frozen=True)
class RegionOptions(OutputOptions):
    """Which launches count, and what a kernel group is."""

    group_by: GroupBy = option(
        GroupBy.LAUNCH, "What the launches of a kernel group share.", "--group-by", panel=_REGION
    )
    pool_devices: bool = option(
        False, "Let a kernel group span processes and devices.", "--pool-devices", panel=_REGION
    )
    device: tuple[str, ...] = option(
        (),
        "Only these devices (repeat, or 0,1).",
        "--device",
        panel=_REGION,
        metavar="N",
        parameters={"devices": "--device"},
    )
    process: tuple[str, ...] = option(
        (),
        "Only these processes (repeat, or 7,8).",
        "--process",
        panel=_REGION,
        metavar="N",
        parameters={"processes": "--process"},
    )
    include: tuple[str, ...] = option(
        (), "Only kernels whose full name matches.", "--include", panel=_REGION, metavar="REGEX"
    )
    exclude: tuple[str, ...] = option(
        (),
        "Not these kernels; `communication` stands for collectives.",
        "--exclude",
        panel=_REGION,
        metavar="REGEX",
    )
    launches: str | None = option(
        None, "Only launch ids A up to, not with, B.", "--launches", panel=_REGION, metavar="A:B"
    )
    time: str | None = option(
        None,
        "Only launches that start A up to, not with, B ns after the first.",
        "--time",
        panel=_REGION,
        metavar="A:B",
        parameters={"time_ns": "--time"},
    )
    range: str | None = option(
        None,
        "Only launches of this NVTX or annotation range.",
        "--range",
        panel=_REGION,
        metavar="TEXT",
        parameters={"named_range": "--range"},
    )
    min_duration: int | None = option(
        None,
        "Only launches that last N ns or more; what that leaves out is said.",
        "--min-duration",
        panel=_REGION,
        metavar="NS",
        least=1,
        parameters={"min_duration_ns": "--min-duration"},
    )
    columns: str | None = columns_option()


@dataclass(frozen=True)
class ProfileOptions(RegionOptions):
    """A command that reads one workload."""

    profiles: tuple[InputFile, ...] = argument((), "Profile files; several are one workload.", "PROFILE")


@dataclass(frozen=True)
class PlanningOptions(RegionOptions):
    """What is asked of a plan."""

    epsilon: float = option(
        0.05, "Bound on the relative error of the total.", "--epsilon", "-e", panel=PLAN_PANEL
    )
    confidence: float = option(0.95, "Share of draws that must meet it.", "--confidence", panel=PLAN_PANEL)
    group_epsilon: str | None = option(
        None, "joint: bound of every group, or none (0.25).", "--group-epsilon", panel=PLAN_PANEL, metavar="X"
    )
    min_samples: int | None = option(
        None, "joint: least samples of a stratum (1).", "--min-samples", panel=PLAN_PANEL, metavar="N"
    )
    noise_floor: float | None = option(
        None,
        "Declared spread of cycles per ns within a stratum (0.05).",
        "--noise-floor",
        panel=PLAN_PANEL,
        metavar="X",
    )
    kernel_spread: float | None = option(
        None,
        "Declared spread of cycles per ns between kernels (0.3).",
        "--kernel-spread",
        panel=PLAN_PANEL,
        metavar="X",
    )
    no_pool: bool = option(
        False, "joint: an own estimate of every kernel group, however small.", "--no-pool", panel=PLAN_PANEL
    )
    set: tuple[str, ...] = option(
        (),
        "An option of one method.",
        "--set",
        panel=PLAN_PANEL,
        metavar="METHOD.NAME=VALUE",
        parameters={"settings": "--set"},
    )


@dataclass(frozen=True)
class MethodOptions(PlanningOptions):
    """A plan, and the method that makes it."""

    method: str = option("joint", "How to choose the launches.", "--method", "-m", panel=PLAN_PANEL)
    features: tuple[FeatureFile, ...] = option(
        (),
        "Metrics of the launches: ncu, NVBit, CSV, Parquet, npy (repeat); PROFILE is the one they are of.",
        "--features",
        panel=PLAN_PANEL,
        metavar="[PROFILE=]FILE",
    )
    number_locale: NumberLocale = option(
        NumberLocale.C, "How the files of --features write numbers.", "--number-locale", panel=PLAN_PANEL
    )
    cost: str | None = option(
        None,
        "What simulating a launch costs in place of its time: instructions, or another metric of --features.",
        "--cost",
        panel=PLAN_PANEL,
        metavar="METRIC",
    )
    overrides: InputFile | None = option(
        None, "Split decisions of yours, as JSON.", "--overrides", panel=PLAN_PANEL, metavar="FILE"
    )


@dataclass(frozen=True)
class SlowdownOptions(MethodOptions):
    """A plan, and how slow its simulation is."""

    slowdown: float | None = option(
        None,
        "Seconds of simulation for a second on the GPU: the plan in hours of one machine.",
        "--slowdown",
        kind=NumberKind.OTHER,
        panel=PLAN_PANEL,
        metavar="X",
    )


@dataclass(frozen=True)
class BudgetOptions(SlowdownOptions):
    """A plan that is to fit a time of simulation."""

    budget: str | None = option(
        None,
        "Find the smallest epsilon whose simulation fits: 90m, 24h, 3d; needs --slowdown.",
        "--budget",
        panel=PLAN_PANEL,
        metavar="TIME",
    )
