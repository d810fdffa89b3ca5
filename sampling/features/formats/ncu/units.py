"""The units that Nsight Compute prints, and what one of each is in base units.

Base units are nanosecond, byte, cycle, inst and what else is counted one by one; rates are per second, and a
frequency is in hertz. Spellings changed with the versions: usecond became us, cycle/nsecond became Ghz.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_NANOSECONDS = {
    "second": 1e9,
    "seconds": 1e9,
    "sec": 1e9,
    "s": 1e9,
    "msecond": 1e6,
    "ms": 1e6,
    "usecond": 1e3,
    "us": 1e3,
    "nsecond": 1.0,
    "ns": 1.0,
    "minute": 60e9,
    "hour": 3600e9,
}
# Nsight Compute's prefixes are decimal: a shared memory of 8192 bytes is 8.192 Kbyte.
_PREFIXES = {"K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_PREFIXED = re.compile(
    r"([KkMGTP])(bytes?|bits?|hz|Hz|inst|cycles?|sectors?|requests?|threads?|warps?|blocks?|samples?)"
)
_CYCLES = {"cycle", "cycles"}
# What Nsight Compute counts one by one, in singular or plural, and its base of times.
_KNOWN = re.compile(
    r"(?:access|address|atom|bank|barrier|bit|block|branch|byte|cluster|conflict|cta|cycle|device|"
    r"event|flop|hertz|inst|instance|instruction|issue|launch|line|link|lookup|op|operation|packet|"
    r"page|pass|pixel|quad|record|register|request|sample|sector|slot|sm|stall|stream|tag|texel|"
    r"thread|tile|transaction|unit|warp|wavefront|%)(?:e?s)?|ns",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def base_unit(unit: str) -> tuple[float, str]:
    """Return how many base units one ``unit`` is, and the base unit; an unknown one is its own base.

    >>> base_unit("usecond"), base_unit("Gbyte/s"), base_unit("cycle/nsecond")
    ((1000.0, 'ns'), (1000000000.0, 'byte/s'), (1000000000.0, 'hertz'))
    """
    unit = unit.strip()
    counted, divided, per = unit.partition("/")
    factor, base = _one(counted)
    if not divided:
        return factor, base
    if per in _NANOSECONDS:
        factor *= 1e9 / _NANOSECONDS[per]
        return factor, "hertz" if base in _CYCLES else f"{base}/s"
    divisor, per = _one(per)
    return factor / divisor, f"{base}/{per}"


def unknown_units(units: Iterable[str]) -> tuple[str, ...]:
    """Return those of the units that are none of Nsight Compute's, so that nothing says what one of them is.

    >>> unknown_units(["usecond", "Gbyte/s", "furlong", "inst/fortnight", "sectors", "%", ""])
    ('furlong', 'inst/fortnight')
    """
    return tuple(
        unit
        for unit in dict.fromkeys(units)
        if not all(map(_is_known, filter(None, unit.strip().split("/"))))
    )


def _is_known(unit: str) -> bool:
    return _KNOWN.fullmatch(_one(unit)[1]) is not None


def _one(unit: str) -> tuple[float, str]:
    """Return the same for a unit without a divisor."""
    if unit in _NANOSECONDS:
        return _NANOSECONDS[unit], "ns"
    match = _PREFIXED.fullmatch(unit)
    factor, bare = (1.0, unit) if match is None else (_PREFIXES[match[1]], match[2])
    return factor, "hertz" if bare in {"hz", "Hz"} else bare
