"""The options of `difference`."""

from __future__ import annotations

from dataclasses import dataclass

from tui.options.choices import DifferenceSort
from tui.options.field import argument, option
from tui.options.input_files import PartOfFile
from tui.options.shared import RegionOptions


@dataclass(frozen=True)
class DifferenceOptions(RegionOptions):
    """`difference`."""

    before: PartOfFile = argument(
        "",
        "A profile, whole or a part of it: @TEXT is an NVTX or annotation range as --range takes it, @A:B "
        "launch ids as --launches takes them. A file whose own name is all of this is that file.",
        "A[@RANGE]",
    )
    after: PartOfFile = argument("", "What it is compared with; it may be the same file.", "B[@RANGE]")
    top: int | None = option(
        None,
        "Only the first N kernels, those that changed most unless sorted otherwise; tables and Markdown have "
        "20 where it is not given.",
        "--top",
        "-n",
        metavar="N",
        least=1,
    )
    sort: DifferenceSort = option(
        DifferenceSort.CHANGE, "What to sort by: a word of the table's head.", "--sort"
    )
    reverse: bool = option(False, "The other way round.", "--reverse")
    confidence: float = option(
        0.95, "Of the intervals of the ratios.", "--confidence", metavar="X", fraction=True
    )
    fail_above: float | None = option(
        None,
        "Exit 4 if the total kernel time of B is above that of A by more than this fraction of A's.",
        "--fail-above",
        metavar="X",
        fraction=True,
    )
    fail_kernel_above: float | None = option(
        None,
        "Exit 4 if the interval of a kernel's mean duration lies above that of A by more than this fraction.",
        "--fail-kernel-above",
        metavar="X",
        fraction=True,
    )
