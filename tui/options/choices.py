"""What the value of an option may be, where it is one of a few words."""

from __future__ import annotations

from enum import StrEnum


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
    STRATA = "strata"
    DRAWN = "drawn"
    NAME = "name"


class CompareSort(StrEnum):
    """What `compare` is sorted by: the columns of its table, the better figure first.

    ``best``: those that bound the simulated total by epsilon, by speedup; those that bound it by more, by
    that; those that do not bound it, by mean error.
    """

    BEST = "best"
    SPEEDUP = "speedup"
    MEAN = "mean"
    DRAWN = "drawn"
    STRATA = "strata"
    SIMULATED = "simulated"
    BOUND = "bound"
    GROUP = "group"
    P95 = "p95"
    MAX = "max"
    WITHIN = "within"
    METHOD = "method"


class DifferenceSort(StrEnum):
    """What `difference` is sorted by; all but kernel largest first, changes whatever their sign."""

    CHANGE = "change"
    BEFORE = "before"
    AFTER = "after"
    LAUNCHES = "launches"
    MEAN = "mean"
    KERNEL = "kernel"


class RangeSort(StrEnum):
    """What the ranges of one level are sorted by: where they begin, or their time, largest first."""

    START = "start"
    TIME = "time"


class TimelineBy(StrEnum):
    """What a timeline goes by."""

    LAUNCH = "launch"
    TIME = "time"


class PlanList(StrEnum):
    """What `sample` lists instead of the plan's figures."""

    STRATA = "strata"
    LAUNCHES = "launches"


class AlignBy(StrEnum):
    """How launches of another recording match a plan's: by name, grid and block, or by order alone."""

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
