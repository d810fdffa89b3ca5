"""Which counters of profilers add up over launches, and by what the others are averaged.

A rate, a share or an occupancy of a launch is a quotient a/b of what adds up. Over many launches it is
sum a / sum b, the mean of the launches' own values weighted by b: by the time for what is per second, by the
cycles for what is per cycle or of a peak, by a metric's own count for what is per count. Where b was not
measured the launches' time stands for it. (docs/methods.md, 17 Counters of a profiler)
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from sampling.features.metric_names import CYCLES
from sampling.readers import ncu

#: The time of a launch, as profilers name it
TIMES = (*ncu.TIMES, "duration")
#: Floating-point operations of a thread's instruction, by its name
OPERATIONS = {"add": 1, "mul": 1, "fma": 2}
_COUNTED_UNITS = frozenset(["ns", "cycle", "inst", "byte", "sector", "request", "thread", "sample", "KiB"])
_ROLLUPS = frozenset(("sum", "avg", "min", "max"))
_LAUNCHED = frozenset({"launch__grid_size", "launch__thread_count", "Grid Size"})
# Of Nsight Compute's names without a rollup, and of other tools'.
_PER_COUNT = re.compile(
    r"pct$|_x2$|maximum|average|avg|(?<![a-z])per(?![a-z])|occupancy|latency|ratio$|^launch__"
)
_MEAN = re.compile(
    r"(?<![a-z])(ipc|cpi|rate|ratio|percent|pct|per|utili[sz]ation|occupancy|bandwidth|throughput)(?![a-z])",
    re.IGNORECASE,
)
# How a kernel was launched and measured.
_SETTING = re.compile(r"\b(Size|Interval)\b")
# Derived counters of AMD, which are per cents and averages: L2CacheHit, VALUBusy, MeanOccupancyPerCU.
_DERIVED = re.compile(
    r"[A-Z]+\w*(Utilization|Util|Busy|Stalled|StalledByLDS|Conflict|Hit|Percent)|MeanOccupancy\w*"
)
_NCU = re.compile(r"(?:[\w.]+\.)?([a-z0-9]+)__([a-z0-9_]+)((?:\.\w+)*)")


class Weight(NamedTuple):
    """By what the mean of a counter is weighted."""

    metric: str  #: "" is the time that the profile recorded
    is_exact: bool  #: whether the mean is the quotient of the two totals that it is made of


def adds_up(name: str, unit: str = "") -> bool:
    """Return whether a counter of several launches is the sum of theirs; a plain name is taken to be one.

    >>> adds_up("dram__bytes.sum"), adds_up("dram__bytes.sum.per_second"), adds_up("L2 Hit Rate", "%")
    (True, False, False)
    """
    if unit == "%" or "/" in unit or unit == "hertz":
        return False
    if name in _LAUNCHED:
        return True
    if (match := _NCU.fullmatch(name)) is not None:
        rollups = match[3].split(".")[1:]
        if not rollups:
            return _PER_COUNT.search(f"{match[1]}__{match[2]}") is None
        return len(rollups) == 1 and rollups[0] in _ROLLUPS and not match[2].startswith("average")
    if _MEAN.search(name) or _DERIVED.fullmatch(name):
        return False
    # A label of the details page is no counter unless its unit says so.
    return " " not in name or (unit in _COUNTED_UNITS and not _SETTING.search(name))


def is_of_device(name: str) -> bool:
    """Return whether a metric says what the device can do, the same of every launch."""
    return ".peak_" in name and ".pct_of_peak_" not in name


def weight_of(name: str, available: Container[str]) -> Weight:
    """Return what weights the mean of a counter that does not add up, of the metrics that are there."""
    time = next((metric for metric in TIMES if metric in available), "")
    match = _NCU.fullmatch(name)
    if match is None:
        return Weight(time, False)
    unit, quantity, rollups = match.groups()
    counts = [f"{unit}__{quantity.partition('_per_')[2]}.sum"] if rollups == ".ratio" else []
    if quantity.endswith("_hit_rate"):
        counts = [f"{unit}__{quantity.removesuffix('_hit_rate').replace('t_sector', 't_sectors')}.sum"]
    kind = re.search(r"(active|elapsed)$", rollups)
    cycles = [f"{unit}__cycles_{kind[1]}.{how}" for how in ("sum", "avg", "max")] if kind else []
    if kind and kind[1] == "elapsed":
        cycles += CYCLES
    exact = next((metric for metric in (*counts, *cycles) if metric in available), "")
    # A throughput is the largest of several shares of peaks, not the same one of every launch.
    is_exact = exact if not quantity.endswith("throughput") else ""
    return Weight(exact or time, bool(is_exact) or (bool(time) and rollups.endswith("per_second")))
