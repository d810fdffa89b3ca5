"""The numbers behind a histogram of durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sampling.arrays import IntArray

# The ticks of profilers' clocks, in nanoseconds, and the share of durations that must be whole ticks.
_CLOCK_TICKS_NS = (1_000, 40, 32, 10)
_SHARE_OF_WHOLE_TICKS = 0.95
_ENOUGH_TO_SEE_TICKS = 10_000
# With this many clock ticks in each bin, one tick more or less is not visible.
_TICKS_NOT_SEEN = 8
_LARGEST_NS = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class HistogramData:
    """Launches by duration and cluster.

    Attributes
    ----------
    edges_ns : (bins + 1,) int64 array, ascending. Bin i holds edges_ns[i] <= duration < edges_ns[i + 1], the
        last bin also its upper edge.
    counts : (bins,) int64 array, launches in each bin; their sum is all launches.
    cluster_counts : (clusters, bins) int64 array, the same by cluster.
    has_zero_bin : whether the first bin holds what a logarithm cannot: the durations of zero.
    """

    edges_ns: IntArray
    counts: IntArray
    cluster_counts: IntArray
    has_zero_bin: bool

    def bin_of(self, duration_ns: int) -> int:
        """The bin of a duration; the nearest one for a duration outside all bins."""
        last = self.counts.size - 1
        return int(np.clip(np.searchsorted(self.edges_ns, duration_ns, side="right") - 1, 0, last))


def histogram_data(
    values_ns: IntArray,
    counts: IntArray,
    clusters: Sequence[tuple[int, int]],
    bins: int,
    *,
    log: bool = False,
) -> HistogramData:
    """Launches by duration and cluster, every launch in exactly one bin.

    Edges are whole nanoseconds, from the shortest duration on. On a linear axis bins are equally wide; where
    they would hold only a few ticks of the profile's clock, they are whole ticks wide and end between ticks;
    otherwise the clock itself would show as a pattern in the durations.

    Parameters
    ----------
    values_ns : (p,) int64 array, distinct durations, in nanoseconds.
    counts : (p,) int64 array, launches of each.
    clusters : closed (low, high) ranges of durations, ascending and disjoint; none means one over everything.
    bins : how many, at least 1.
    log : bins of equal ratio; durations of zero are in a first bin of their own.

    Raises
    ------
    ValueError
        If there is no bin, or a duration belongs to no cluster.
    """
    if bins < 1:
        raise ValueError(f"`bins` must be at least 1, not {bins}.")
    if (values_ns[1:] < values_ns[:-1]).any():
        order = np.argsort(values_ns)
        values_ns, counts = values_ns[order], counts[order]
    edges_ns, has_zero_bin = _log_edges(values_ns, bins) if log else (_linear_edges(values_ns, bins), False)
    # Sorted durations: bins and clusters are ranges, so their overlap is a difference of two running sums.
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    bin_bounds = np.concatenate([[0], np.searchsorted(values_ns, edges_ns[1:-1]), [values_ns.size]])
    first, last = _cluster_runs(values_ns, clusters)
    inside = np.clip(bin_bounds, first[:, None], last[:, None])
    cluster_counts = np.diff(before[inside], axis=1)
    return HistogramData(edges_ns, cluster_counts.sum(axis=0), cluster_counts, has_zero_bin)


def _cluster_runs(
    values_ns: IntArray, clusters: Sequence[tuple[int, int]]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Two (clusters,) arrays: the place of each cluster's first duration, and the place after its last."""
    if not clusters:
        return np.zeros(1, dtype=np.intp), np.full(1, values_ns.size)
    low, high = np.array(clusters, dtype=np.int64).T
    first, last = np.searchsorted(values_ns, low, "left"), np.searchsorted(values_ns, high, "right")
    if int((last - first).sum()) < values_ns.size:
        held = np.zeros(values_ns.size, dtype=np.bool_)
        for start, stop in zip(first, last, strict=True):
            held[start:stop] = True
        raise ValueError(f"`clusters` must cover every duration, but not {values_ns[~held][0]} ns.")
    return first, last


def useful_bins(values_ns: IntArray, most: int, *, log: bool = False) -> int:
    """How many of `most` bins a chart can fill: fewer if their range has fewer ticks of the clock."""
    if values_ns.size == 0 or most < 1:
        return 1
    if log and values_ns.max() > 0:
        return most
    ticks = _clock_ticks(values_ns)[2]
    return most if ticks >= _TICKS_NOT_SEEN * most else -(-ticks // -(-ticks // most))


def _clock_ticks(values_ns: IntArray) -> tuple[int, int, int]:
    """The clock's tick in nanoseconds, the first tick in the durations' range, and how many it has."""
    some_ns = values_ns[:: max(values_ns.size // _ENOUGH_TO_SEE_TICKS, 1)]
    tick_ns = next((tick for tick in _CLOCK_TICKS_NS if _are_whole_ticks(some_ns, tick)), 1)
    first, last = ((int(ns) + tick_ns // 2) // tick_ns for ns in (values_ns.min(), values_ns.max()))
    return tick_ns, first, last - first + 1


def _are_whole_ticks(values_ns: IntArray, tick_ns: int) -> bool:
    """Whether nearly all durations are whole ticks, within a nanosecond, as begin and end are rounded."""
    beyond_ns = values_ns % tick_ns
    return float(((beyond_ns <= 1) | (beyond_ns == tick_ns - 1)).mean()) >= _SHARE_OF_WHOLE_TICKS


def _linear_edges(values_ns: IntArray, bins: int) -> IntArray:
    if values_ns.size == 0:
        return np.arange(bins + 1, dtype=np.int64)
    low, high = int(values_ns.min()), int(values_ns.max())
    tick_ns, first, ticks = _clock_ticks(values_ns)
    if ticks < _TICKS_NOT_SEEN * bins:
        start, bin_ns = first * tick_ns - tick_ns // 2, -(-ticks // bins) * tick_ns
        edges = [low, *(min(start + i * bin_ns, _LARGEST_NS) for i in range(1, bins + 1))]
    else:
        edges = [low + -(-i * (high - low) // bins) for i in range(bins + 1)]
    return np.array(edges, dtype=np.int64)


def _log_edges(values_ns: IntArray, bins: int) -> tuple[IntArray, bool]:
    positive = values_ns[values_ns > 0]
    if positive.size == 0:
        return _linear_edges(values_ns, bins), False
    has_zero_bin = positive.size < values_ns.size
    ratios = max(bins - has_zero_bin, 1)
    low, high = int(positive.min()), int(positive.max())
    exponent = np.linspace(np.log(low), np.log(high), ratios + 1)
    # The rounding of exp() must not pass the ends, nor move a whole edge to the next nanosecond.
    inner = [min(max(int(np.ceil(edge * (1 - 1e-12))), low), high) for edge in np.exp(exponent[1:-1])]
    edges = [low, *inner, high]
    if has_zero_bin:
        edges = [int(values_ns.min()), *(edges if bins > 1 else edges[1:])]
    return np.array(edges, dtype=np.int64), has_zero_bin
