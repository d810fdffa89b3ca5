"""Which kernels grow or fall over the run. (docs/methods.md, 13 The order of the run)"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches
from sampling.reduction.run_order.rank_statistics import RankStatistics, rank_statistics
from sampling.reduction.run_order.series import medians_at_the_ends, series_of, stretch_means

#: How often independent launches may be said to drift, over all kernels of a profile.
FALSE_ALARMS = 0.01
#: A weaker trend leaves most of the spread unexplained; a ramp in each of two iterations makes 0.5.
LEAST_TREND = 0.6
#: The last twentieth of the launches is by so much longer or shorter than the first.
LEAST_CHANGE = 1.2


@dataclass(frozen=True, slots=True)
class Drift:
    """Kernels whose durations follow the order of the run.

    Attributes
    ----------
    group : the kernel group of those that has the most time.
    from_ns, to_ns : the median durations of its first and its last twentieth.
    trend : its rank correlation with the launch order, over stretches of the run.
    lag_1, lag_1_std : its autocorrelation, and the standard deviation of that in random order.
    middle_id : the id of the launch in its middle.
    groups : all kernel groups that drift, ascending.
    time_ns : the time of all that do.
    """

    group: int
    from_ns: float
    to_ns: float
    trend: float
    lag_1: float
    lag_1_std: float
    middle_id: int
    groups: tuple[int, ...]
    time_ns: int

    @property
    def kernels(self) -> int:
        """How many kernel groups drift."""
        return len(self.groups)


def find_drift(launches: OrderedLaunches) -> Drift | None:
    """Return the kernels that drift; None where none does.

    A kernel drifts if the trend of its durations is not what random order brings about, over all kernels
    together [Benjamini, Hochberg 1995], is no weaker than `LEAST_TREND`, and leads from the first
    twentieth to the last by a factor of `LEAST_CHANGE` or more.
    """
    series = series_of(launches)
    if series is None:
        return None
    found = rank_statistics(*stretch_means(series))
    candidates = np.flatnonzero(_is_significant(found) & (np.abs(found.trend) >= LEAST_TREND))
    if not len(candidates):
        return None
    first_ns, last_ns = medians_at_the_ends(series, candidates)
    low, high = np.minimum(first_ns, last_ns), np.maximum(first_ns, last_ns)
    along = (last_ns > first_ns) == (found.trend[candidates] > 0)
    kept = np.flatnonzero((low > 0) & (high >= LEAST_CHANGE * low) & along)
    if not len(kept):
        return None
    drifting, total_ns = candidates[kept], series.total_ns[candidates[kept]]
    at = int(np.argmax(total_ns))
    largest = int(drifting[at])
    middle = (int(series.edges[largest]) + int(series.edges[largest + 1])) // 2
    return Drift(
        group=int(series.group[largest]),
        from_ns=float(first_ns[kept[at]]),
        to_ns=float(last_ns[kept[at]]),
        trend=float(found.trend[largest]),
        lag_1=float(found.lag_1[largest]),
        lag_1_std=float(found.lag_1_std[largest]),
        middle_id=int(launches.id[series.row[middle]]),
        groups=tuple(np.unique(series.group[drifting]).tolist()),
        time_ns=int(total_ns.sum()),
    )


def _is_significant(found: RankStatistics) -> np.ndarray:
    """Return (s,) which trends are not of random order, by the normal approximation of all orders."""
    chance: FloatArray = np.array(
        [math.erfc(abs(deviations) / math.sqrt(2)) for deviations in found.trend_deviations.tolist()]
    )
    order: IntArray = np.argsort(chance, kind="stable")
    limit = FALSE_ALARMS * np.arange(1, len(chance) + 1) / len(chance)
    below = np.flatnonzero(chance[order] <= limit)
    significant = np.zeros(len(chance), dtype=np.bool_)
    if len(below):
        significant[order[: below[-1] + 1]] = True
    return significant
