"""The options of `ranges`."""

from __future__ import annotations

from dataclasses import dataclass

from tui.options.choices import RangeSort
from tui.options.field import option
from tui.options.shared import ProfileOptions


@dataclass(frozen=True)
class RangesOptions(ProfileOptions):
    """`ranges`."""

    top: int | None = option(
        None,
        "Only the N of most time; in the table 100 if not given, in data all.",
        "--top",
        "-n",
        metavar="N",
        least=1,
    )
    depth: int | None = option(
        None, "No deeper: 0 lists those that lie in no other.", "--depth", metavar="N", least=0
    )
    sort: RangeSort = option(RangeSort.START, "What those of one level are sorted by.", "--sort")
