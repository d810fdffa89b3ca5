"""Which kernels grow or fall over the run. (docs/methods.md, 13 The order of the run)"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches

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


#: A series of so many launches or more is cut into so many stretches, or up to twice as many.
STRETCHES = 64
FEWEST_LAUNCHES = 20
#: The series with the most time; the others of a profile with more of them are not looked at.
MOST_SERIES = 2000

_FEWEST_AT_AN_END = 3
_AT_AN_END = 20


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The durations of the series that have enough launches, one after another; s of them.

    Attributes
    ----------
    group : (s,) the kernel group.
    row : (n,) rows of the `OrderedLaunches`, by series and in the order of the run.
    edges : (s + 1,) series i has ``row[edges[i]:edges[i + 1]]``.
    duration_ns : (n,) of those rows.
    """

    group: IntArray
    row: IntArray
    edges: IntArray
    duration_ns: IntArray

    @property
    def launches(self) -> IntArray:
        """(s,) how many launches each has."""
        return np.diff(self.edges)

    @property
    def total_ns(self) -> IntArray:
        """(s,) the time of each."""
        return np.add.reduceat(self.duration_ns, self.edges[:-1])


def series_of(launches: OrderedLaunches) -> Series | None:
    """Return the series of `FEWEST_LAUNCHES` or more, `MOST_SERIES` at most; None where there is none."""
    if not len(launches):
        return None
    place = np.repeat(np.arange(len(launches.sequence)), np.diff(launches.edges))
    code = launches.group * len(launches.sequence) + place
    time_ns = np.bincount(code, weights=launches.duration_ns)
    enough = np.flatnonzero(np.bincount(code) >= FEWEST_LAUNCHES)
    chosen = np.sort(enough[np.argsort(-time_ns[enough], kind="stable")[:MOST_SERIES]])
    if not len(chosen):
        return None
    # Codes of 16 bits are sorted by counting.
    number = np.full(len(time_ns), len(chosen), dtype=np.uint16)
    number[chosen] = np.arange(len(chosen))
    of_row = number[code]
    sizes = np.bincount(of_row, minlength=len(chosen))[: len(chosen)]
    row = np.argsort(of_row, kind="stable")[: sizes.sum()]
    return Series(
        group=chosen // len(launches.sequence),
        row=row,
        edges=np.concatenate([[0], np.cumsum(sizes)]),
        duration_ns=launches.duration_ns[row],
    )


def stretch_means(series: Series) -> tuple[FloatArray, IntArray]:
    """Return the mean duration of each stretch, series by series, and (s + 1,) where each series begins.

    Stretches of a series are equally long; the launches left over at its end are in none.
    """
    size = np.maximum(series.launches // STRETCHES, 1)
    stretches = series.launches // size
    edges = np.concatenate([[0], np.cumsum(stretches)])
    place = np.arange(edges[-1]) - np.repeat(edges[:-1], stretches)
    each_size = np.repeat(size, stretches)
    first = np.repeat(series.edges[:-1], stretches) + place * each_size
    before_ns = np.concatenate([[0], np.cumsum(series.duration_ns)])
    return (before_ns[first + each_size] - before_ns[first]) / each_size, edges


def medians_at_the_ends(series: Series, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return (k,) the median duration of the first and of the last twentieth of some series.

    Of 3 launches at least; medians, as one slow launch at the beginning of a run is no drift.
    """
    size = np.maximum(series.launches[chosen] // _AT_AN_END, _FEWEST_AT_AN_END)
    first = np.concatenate([series.edges[:-1][chosen], series.edges[1:][chosen] - size])
    sizes = np.concatenate([size, size])
    edges = np.concatenate([[0], np.cumsum(sizes)])
    part = np.repeat(np.arange(len(sizes)), sizes)
    duration_ns = series.duration_ns[first[part] + np.arange(edges[-1]) - edges[part]]
    ordered = duration_ns[np.lexsort((duration_ns, part))]
    middle = (ordered[edges[:-1] + (sizes - 1) // 2] + ordered[edges[:-1] + sizes // 2]) / 2
    return middle[: len(chosen)], middle[len(chosen) :]


@dataclass(frozen=True, slots=True, eq=False)
class RankStatistics:
    """Of s series, all (s,); 0 for a series whose values are all equal.

    Attributes
    ----------
    values : how many values the series has.
    trend : Spearman's rank correlation of the values with their place.
    trend_deviations : the trend in standard deviations of all orders of the same values.
    lag_1 : autocorrelation of the ranks at a distance of 1.
    lag_1_mean, lag_1_std : its mean and standard deviation over all orders of the same values.
    """

    values: IntArray
    trend: FloatArray
    trend_deviations: FloatArray
    lag_1: FloatArray
    lag_1_mean: FloatArray
    lag_1_std: FloatArray


def rank_statistics(values: FloatArray, edges: IntArray) -> RankStatistics:
    """Return the statistics of series of values, one after another; of equal values the mean rank counts.

    Parameters
    ----------
    edges : (s + 1,) series i is ``values[edges[i]:edges[i + 1]]``, four values or more.
    """
    n = np.diff(edges)
    start = edges[:-1]
    deviation = _ranks(values, edges) - np.repeat((n - 1) / 2, n)
    place = np.arange(len(values)) - np.repeat(start + (n - 1) / 2, n)
    squares = np.add.reduceat(deviation**2, start)
    spread = np.where(squares > 0, squares, 1.0)
    trend = np.add.reduceat(deviation * place, start) / np.sqrt(spread * n * (n**2 - 1.0) / 12)
    neighbours = deviation * np.append(deviation[1:], 0.0)
    # The last value of a series has no neighbour after it.
    neighbours[edges[1:] - 1] = 0.0
    lag_1 = np.add.reduceat(neighbours, start) / spread
    return RankStatistics(
        values=n,
        trend=trend,
        trend_deviations=trend * np.sqrt(n - 1),
        lag_1=lag_1,
        lag_1_mean=np.where(squares > 0, -1 / n, 0.0),
        lag_1_std=_lag_1_std(n, squares, np.add.reduceat(deviation**4, start)),
    )


def _ranks(values: FloatArray, edges: IntArray) -> FloatArray:
    """Return the rank of each value within its series from 0; equal values have the mean of theirs."""
    n = np.diff(edges)
    series = np.repeat(np.arange(len(n)), n)
    order = np.lexsort((values, series))
    ordered = values[order]
    is_first = np.append(True, (ordered[1:] != ordered[:-1]) | (series[1:] != series[:-1]))
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(values)) - 1
    ranks = np.empty(len(values))
    ranks[order] = ((first + last) / 2)[np.cumsum(is_first) - 1]
    return ranks - np.repeat(edges[:-1], n)


def _lag_1_std(n: IntArray, squares: FloatArray, fourths: FloatArray) -> FloatArray:
    """Return (s,) the standard deviation of the sum of d_i d_(i+1) over all orders, over that of d_i^2.

    The expected products of two, three and four different deviations, whose sum is 0, follow from the sums
    of their squares and fourth powers; exact with equal values too.
    """
    two = (squares**2 - fourths) / (n * (n - 1.0))
    three = (2 * fourths - squares**2) / (n * (n - 1.0) * (n - 2))
    four = (3 * squares**2 - 6 * fourths) / (n * (n - 1.0) * (n - 2) * (n - 3))
    second = (n - 1) * two + 2 * (n - 2) * three + (n - 2) * (n - 3) * four
    spread = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.sqrt(np.maximum(second / spread**2 - np.where(squares > 0, n**-2.0, 0.0), 0.0)))
