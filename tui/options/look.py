"""The options of the commands that look at a profile, or at two, whole or in part: FILE@RANGE, FILE@A:B."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, TypeVar

from sampling.errors import OptionError
from sampling.plan.request import PlanRequest
from tui.options import shared
from tui.options.choices import DifferenceFormat, DifferenceSort, GroupSort, RangeSort, TimelineBy
from tui.options.files import InputFile, PartOfFile, Product
from tui.options.shared import (
    MOST_COLUMNS,
    OUTPUT_PANEL,
    BudgetOptions,
    MethodOptions,
    PlanningOptions,
    ProfileOptions,
    SlowdownOptions,
    argument,
    height_option,
    option,
    output_option,
    request_field,
    width_option,
)
from tui.options.simulate import RESULTS_PANEL, ResultsOptions


class ConvertOptions(ProfileOptions):
    output: str | None = output_option("Where the Parquet goes; `-` is stdout.", "FILE", Product.PROFILE)


class InfoOptions(PlanningOptions, ProfileOptions):
    """`info`."""


class SummaryOptions(BudgetOptions, ProfileOptions):
    profiles: tuple[InputFile, ...] = argument(
        "Profile files; several are one workload. Or a plan file, and results of its launches.", "PROFILE"
    )
    details: bool = shared.DETAILS


class OpenOptions(shared.AppOptions, SlowdownOptions, ProfileOptions):
    profiles: tuple[PartOfFile, ...] = argument(
        "Profile files; several are one workload. Or a plan file, and a simulator's results, or those of "
        "configurations as NAME=RESULTS; or a study.toml.",
        "PROFILE",
    )
    difference: bool = option(
        "Compare two: open the second, and show what changed since the first; either may be FILE@RANGE."
    )
    plan: InputFile | None = option(
        "Show this plan on the profile: its options, filters and decisions; PLAN alone finds its profile.",
        panel=shared.PLAN_PANEL,
        metavar="PLAN",
    )


class DemoOptions(shared.AppOptions, SlowdownOptions):
    """`demo`."""

    run: bool = option(
        "Have the plan's launches simulated, by a made-up simulator, until the total is known."
    )


class GroupsOptions(MethodOptions, ProfileOptions):
    top: int | None = option("Only the first N.", "-n", least=1)
    sort: GroupSort = option("What to sort by.", default=GroupSort.TOTAL)
    reverse: bool = option("The other way round.")
    filter: str | None = option(
        "Only groups whose key contains this, in any case, or of a kind of work: kind:gemm.", metavar="TEXT"
    )
    plan: bool = option("A plan's groups, ranks apart as it has them, with their strata and drawn launches.")


class HistogramOptions(MethodOptions, ProfileOptions):
    all: bool = option("A linear axis to the longest launch, whatever room the last few take.")
    kernel: str | None = shared.KERNEL
    log: bool = option("A logarithmic duration axis.")
    width: int | None = width_option("Columns; bins in data formats.")
    height: int | None = height_option("Rows.")


class TimelineOptions(MethodOptions, ProfileOptions):
    kernel: str | None = shared.KERNEL
    by: TimelineBy = option(
        "Go by the order of the launches, or by when they started.", default=TimelineBy.LAUNCH
    )
    window: str | None = option("Show launch ids A up to, not with, B; the plan stays.", metavar="A:B")
    steps: bool = shared.STEPS
    bins: int | None = option("Bins in data formats (60).", least=1, most=MOST_COLUMNS)
    log: bool = option("A logarithmic duration axis.")
    width: int | None = width_option("Columns.")
    height: int | None = height_option("Rows.")


class TreeOptions(PlanningOptions, ProfileOptions, asks=["method", "overrides"]):
    kernel: str | None = option(
        "#RANK of `groups --plan`, or part of the key; else the largest group.", "-k", metavar="KERNEL"
    )
    request: PlanRequest = request_field(PlanRequest(method="root"))
    request_help: ClassVar[dict[str, str]] = {"method": "Whose rule grows the tree."}
    max_depth: int | None = option("Draw no deeper than this.", least=0)
    decisions: int | None = option("Only the first N decisions; the next is proposed.", least=0)
    node: str | None = option("Show this node: root, or L or R a step.", metavar="PATH")
    log: bool = option("A logarithmic duration axis.")


class RangesOptions(ProfileOptions):
    top: int | None = option(
        "Only the N of most time; in the table 100 if not given, in data all.", "-n", least=1
    )
    depth: int | None = option("No deeper: 0 lists those that lie in no other.", least=0)
    steps: bool = shared.STEPS
    sort: RangeSort = option("What those of one level are sorted by.", default=RangeSort.START)


class LayersOptions(ProfileOptions):
    draw: int = option("Draw N layers: how far they may be off is said.", "-n", default=3, least=2)


class RanksOptions(ProfileOptions):
    """`ranks`."""


class ReportOptions(BudgetOptions, ProfileOptions, ResultsOptions):
    profiles: tuple[InputFile, ...] = argument(
        "Profile files; several are one workload. Or a study.toml.", "PROFILE"
    )
    output: str | None = output_option(
        "Where the report goes: .html with drawn charts, .md with charts as text.", "FILE", Product.REPORT
    )
    svg: str | None = option(
        "Write each chart as an .svg file of its own too, for a paper; those of the last time are replaced. "
        "A .md report then shows these files.",
        panel=OUTPUT_PANEL,
        metavar="FOLDER",
        product=Product.FOLDER,
    )
    top: int = option("List the N largest kernel groups.", "-n", default=20, least=1)
    charts: int = option("Draw the durations of the N largest kernel groups.", default=4, least=0, most=100)
    judge: int = option("Draw the plan so often to see its error; 0: not.", default=200, metavar="R", least=0)
    compare: bool = option("Compare all methods too; that takes longer.")
    results: tuple[InputFile, ...] = option(
        "What a simulator wrote of the plan's launches, as for `estimate` (repeat).", panel=RESULTS_PANEL
    )
    plan: InputFile | None = option(
        "The plan file of --results, where these options do not make it, as one that was topped up.",
        panel=RESULTS_PANEL,
        metavar="PLAN",
    )


class DifferenceOptions(shared.RegionOptions):
    before: PartOfFile = argument(
        "A profile, whole or a part of it: @TEXT is an NVTX or annotation range as --range takes it, @A:B "
        "launch ids as --launches takes them. A file whose own name is all of this is that file. Or what "
        "`baseline save` wrote.",
        "A[@RANGE]",
    )
    after: PartOfFile = argument("What it is compared with; it may be the same file.", "B[@RANGE]")
    format: DifferenceFormat = option(  # type: ignore[assignment]
        "How to write the results; junit and github are for CI.",
        default=DifferenceFormat.TABLE,
        panel=OUTPUT_PANEL,
    )
    as_recorded: bool = option(
        "Compare all launches, whatever work they are, in place of iterations or the same launches."
    )
    top: int | None = option(
        "Only the first N kernels, those that changed most unless sorted otherwise; tables, Markdown and "
        "LaTeX have 20 where it is not given.",
        "-n",
        least=1,
    )
    sort: DifferenceSort = option("What to sort by.", default=DifferenceSort.CHANGE)
    reverse: bool = option("The other way round.")
    confidence: float = option("Of the intervals of the ratios.", default=0.95, fraction=True)
    fail_above: float | None = option(
        "Exit 4 if an iteration of B takes more kernel time than one of A by more than this fraction, all of "
        "the interval, if there is one; and if the two are not the same work, without --as-recorded. So do "
        "the other two.",
        fraction=True,
    )
    fail_elapsed_above: float | None = option("The same of the time that an iteration lasts.", fraction=True)
    fail_kernel_above: float | None = option(
        "The same of any one kernel that has an interval.", fraction=True
    )


class BaselineSaveOptions(shared.RegionOptions):
    baseline: str = argument("Where it goes; `-` is stdout.", "FILE.json", product=Product.BASELINE)
    profile: PartOfFile = argument(
        "The recording, whole or a part of it as for `difference`.", "PROFILE[@RANGE]"
    )


Options = TypeVar("Options", bound=shared.RegionOptions)

_LAUNCH_IDS = re.compile(r"\d+:\d*|:\d+")


def file_and_part(text: str) -> tuple[str, str | None]:
    """Return the file and the part of it that are named as FILE@PART; None where there is no part.

    A file of the whole name is that file. Else the longest beginning before an at sign that is a file is
    the file, as both may have at signs of their own; where none is, the first at sign parts them.
    """

    def is_there(path: str) -> bool:
        return path == "-" or Path(path).exists()

    if "@" not in text or is_there(text):
        return text, None
    ends = [place for place, letter in enumerate(text) if letter == "@"]
    end = next((place for place in reversed(ends) if is_there(text[:place])), ends[0])
    return text[:end], text[end + 1 :]


def with_part(options: Options, part: str | None) -> Options:
    """Return the options with a part of one profile among its filters.

    Raises OptionError: a filter of the options already says which launches count.
    """
    if part is None:
        return options
    name = "launches" if _LAUNCH_IDS.fullmatch(part) else "range"
    if (value := getattr(options.request, name)) is not None:
        message = f"@{part} and --{name} {value} both say which launches count"
        raise OptionError(message, remedy="give one of them")
    return options.with_request(**{name: part})


def part_in_name(path: str, options: Options) -> tuple[str, Options]:
    """Return a file with the part that its options name behind an at sign, and the options without it.

    A part that would not be understood there stays with the options.
    """
    for name in ("range", "launches"):
        part, without = getattr(options.request, name), options.with_request(**{name: None})
        if part is not None and file_and_part(named := f"{path}@{part}") == (path, part):
            with suppress(OptionError):
                if with_part(without, part) == options:
                    return named, without
    return path, options
