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


class Theme(StrEnum):
    """What the app is coloured in: the terminal's own sixteen colours, or those of a Textual theme."""

    TERMINAL = "terminal"
    TEXTUAL_DARK = "textual-dark"
    TEXTUAL_LIGHT = "textual-light"
    ATOM_ONE_DARK = "atom-one-dark"
    ATOM_ONE_LIGHT = "atom-one-light"
    CATPPUCCIN_FRAPPE = "catppuccin-frappe"
    CATPPUCCIN_LATTE = "catppuccin-latte"
    CATPPUCCIN_MACCHIATO = "catppuccin-macchiato"
    CATPPUCCIN_MOCHA = "catppuccin-mocha"
    DRACULA = "dracula"
    FLEXOKI = "flexoki"
    GRUVBOX = "gruvbox"
    MONOKAI = "monokai"
    NORD = "nord"
    ROSE_PINE = "rose-pine"
    ROSE_PINE_DAWN = "rose-pine-dawn"
    ROSE_PINE_MOON = "rose-pine-moon"
    SOLARIZED_DARK = "solarized-dark"
    SOLARIZED_LIGHT = "solarized-light"
    TOKYO_NIGHT = "tokyo-night"


class GroupSort(StrEnum):
    """What `groups` is sorted by; all but name largest first."""

    TOTAL = "total"
    LAUNCHES = "launches"
    MEAN = "mean"
    COV = "cov"
    CLUSTERS = "clusters"
    SAMPLES = "samples"
    NAME = "name"


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


class IntervalKind(StrEnum):
    """How the intervals of estimated totals are found.

    ``moderated``: strata lend each other their spreads. ``plain``: each stratum has its own alone.
    """

    MODERATED = "moderated"
    PLAIN = "plain"


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


class CompareSort(StrEnum):
    """What `compare` is sorted by.

    ``best``: those that bound the simulated total by epsilon, those that bound it by more, those that do not
    bound it; each by speedup.
    """

    BEST = "best"
    SPEEDUP = "speedup"
    ERROR = "error"
    DRAWN = "drawn"


class ErrorMean(StrEnum):
    """How `compare` sums up several profiles.

    ``arithmetic``: harmonic mean of the speedups, arithmetic mean of the errors (STEM+ROOT section V-A).
    ``geometric``: geometric means of both (Allegro).
    """

    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"
