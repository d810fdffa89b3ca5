"""What the value of an option may be, where it is one of a few words; they are typed in lower case."""

from __future__ import annotations

from enum import StrEnum

#: How results are written; never chosen by what stdout is.
OutputFormat = StrEnum("OutputFormat", "TABLE CSV JSON JSONL MARKDOWN LATEX")
#: Those that are pages for people, as the table form is.
PAGE_FORMATS = frozenset({OutputFormat.MARKDOWN, OutputFormat.LATEX})

#: How `difference` does: CI reads the last two, tests in XML and annotations of a pull request.
DifferenceFormat = StrEnum("DifferenceFormat", "TABLE CSV JSON JSONL MARKDOWN LATEX JUNIT GITHUB")

#: When to colour.
ColorMode = StrEnum("ColorMode", "AUTO ALWAYS NEVER")

#: What `groups` is sorted by; all but name largest first.
GroupSort = StrEnum("GroupSort", "TOTAL LAUNCHES MEAN COV STRATA DRAWN NAME")

#: What `compare` is sorted by: the columns of its table, the better figure first. Best are those that bound
#: the simulated total by epsilon, by speedup; then those that bound it by more, by that; then those that do
#: not bound it, by mean error.
CompareSort = StrEnum(
    "CompareSort", "BEST SPEEDUP MEAN DRAWN STRATA SIMULATED BOUND GROUP P95 MAX WITHIN METHOD"
)

#: What `difference` is sorted by; all but kernel largest first, changes whatever their sign.
DifferenceSort = StrEnum("DifferenceSort", "CHANGE BEFORE AFTER LAUNCHES RELATIVE KERNEL")

#: What the ranges of one level are sorted by: where they begin, or their time, largest first.
RangeSort = StrEnum("RangeSort", "START TIME")

#: What a plan is made for: the total of one configuration, speedups between several, or counters.
PlanPurpose = StrEnum("PlanPurpose", "TOTAL SPEEDUPS COUNTERS")

#: What `sample` lists instead of the plan's figures.
PlanList = StrEnum("PlanList", "STRATA LAUNCHES")

#: How launches of another recording match a plan's: by name, grid and block, or by order alone.
AlignBy = StrEnum("AlignBy", "NAMES ORDER OPERATOR")


class TimelineBy(StrEnum):
    """What a timeline goes by."""

    LAUNCH = "launch"
    TIME = "time"


class ErrorMean(StrEnum):
    """How `compare` sums up several profiles.

    By the harmonic mean of the speedups and the arithmetic mean of the errors (STEM+ROOT section V-A), or by
    geometric means of both (Allegro).
    """

    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"
