"""The durations of each kernel group in the order of the run, and their means over equal stretches of it.

A **series** is the launches of one kernel group in one process and device. Under independence launches are
exchangeable, and so are the means of equally many of them: what holds for launches in random order holds for
stretches too, while a kernel of a million launches is as quick to look at as one of a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.run_order.ordered_launches import OrderedLaunches

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
