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


class SortWord(StrEnum):
    """What a table is sorted by: a word of its head, in any case, or another word for it."""

    @classmethod
    def _missing_(cls, value: object) -> SortWord | None:
        word = str(value).casefold()
        meant = _OTHER_WORDS.get(cls.__name__, {}).get(word, word)
        return next((each for each in cls if each.value == meant), None)


# Heads that say the same in other words, and the words of data.
_OTHER_WORDS: dict[str, dict[str, str]] = {
    "GroupSort": {
        **dict.fromkeys(("rank", "share", "cum"), "total"),
        **dict.fromkeys(("kernel", "kernel group"), "name"),
        "clusters": "strata",
        "samples": "drawn",
    },
    "CompareSort": {"error": "mean"},
    "DifferenceSort": {"share": "change", "interval": "mean"},
}


class GroupSort(SortWord):
    """What `groups` is sorted by; all but name largest first."""

    TOTAL = "total"
    LAUNCHES = "launches"
    MEAN = "mean"
    COV = "cov"
    STRATA = "strata"
    DRAWN = "drawn"
    NAME = "name"


class CompareSort(SortWord):
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


class DifferenceSort(SortWord):
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
