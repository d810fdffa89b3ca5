"""Ratios of mean durations between two recordings, with their intervals. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, counted_launches
from sampling.strata.satterthwaite import student_t

#: With fewer launches on a side a kernel has no interval.
LEAST_LAUNCHES = 10
#: Into so many blocks the launches of a kernel are parted, one after the other.
BLOCKS = 4


class Durations(NamedTuple):
    """The durations of some kernels in one recording, of each in blocks of successive launches.

    The i-th of a kernel's n launches, from 0, is in block i BLOCKS / n, rounded down.
    """

    #: (k,) 0 for a kernel that the recording lacks.
    launches: IntArray
    #: (k, BLOCKS) the durations of each block's launches together.
    block_ns: IntArray

    @property
    def total_ns(self) -> IntArray:
        """(k,) how long all launches of a kernel take."""
        return np.asarray(self.block_ns.sum(axis=1))

    @property
    def mean_ns(self) -> FloatArray:
        """(k,) NaN for a kernel without launches."""
        mean = np.full(len(self.launches), np.nan)
        np.divide(self.total_ns, self.launches, out=mean, where=self.launches > 0)
        return mean

    @property
    def share(self) -> FloatArray:
        """(k,) of the total duration; 0 where that is 0."""
        return np.asarray(self.total_ns / max(int(self.total_ns.sum()), 1))

    @property
    def deviation_ns(self) -> FloatArray:
        """(k, BLOCKS) by how much blocks depart from the mean; 0 in kernels of fewer launches than blocks.

        With m of n launches in a block of the mean B, and X the mean of all, it is sqrt(m n) (B - X): the
        squares of a kernel's add up to (BLOCKS - 1) times the variance of its total, by batch means.
        """
        edges = -(-np.arange(BLOCKS + 1) * self.launches[:, np.newaxis] // BLOCKS)
        of_block = np.diff(edges, axis=1)
        each_ns = np.divide(self.block_ns, of_block, out=np.zeros(self.block_ns.shape), where=of_block > 0)
        scale = np.sqrt(of_block * self.launches[:, np.newaxis])
        deviation = scale * (each_ns - np.nan_to_num(self.mean_ns)[:, np.newaxis])
        return np.asarray(np.where(self.launches[:, np.newaxis] >= BLOCKS, deviation, 0))


class MeanRatios(NamedTuple):
    """Mean durations after over before with the ends of their intervals; (k,), NaN where there is none."""

    ratio: FloatArray
    low: FloatArray
    high: FloatArray


def durations_in_order(
    profile: Profile,
    counts: DurationCounts,
    of_kernel: IntArray,
    kernels: int,
    progress: Progress | None = None,
) -> Durations:
    """Return the durations of kernels, (groups,) of which each group of the reduction is one or part of one.

    The launches are read again, for a reduction has no order; theirs is that of their ids.
    """
    launches, finished = np.zeros((2, kernels), dtype=np.int64)
    np.add.at(launches, of_kernel, counts.group_launches)
    block_ns = np.zeros((kernels, BLOCKS), dtype=np.int64)
    for _, group, table in counted_launches(profile, counts, ("duration_ns",), progress):
        # Numbers of 16 bits are sorted several times as fast.
        order = np.argsort(of_kernel[group].astype(np.min_scalar_type(kernels)), kind="stable")
        kernel = of_kernel[group[order]]
        first = np.flatnonzero(np.diff(kernel, prepend=-1))
        number = np.diff(first, append=len(kernel))
        nth = np.arange(len(kernel)) + np.repeat(finished[kernel[first]] - first, number)
        np.add.at(block_ns, (kernel, nth * BLOCKS // launches[kernel]), table["duration_ns"][order])
        finished[kernel[first]] += number
    return Durations(launches, block_ns)


def mean_ratios(before: Durations, after: Durations, confidence: float) -> MeanRatios:
    """Return the ratio of each kernel's mean durations, with an interval where both sides tell a spread.

    The interval is of the logarithm of the ratio, by the delta method. Launches of a run depend on each
    other, so the variance of a mean is that of the means of successive blocks (batch means: Conway 1963,
    Schmeiser 1982, "Batch size effects in the analysis of simulation output"; Law, "Simulation modeling and
    analysis", 9.5.3), and the quantile Student's with BLOCKS - 1 degrees of freedom. The larger of the two
    relative variances of a launch counts for both sides, because a side of few launches may by chance show
    none of the slow ones.
    """
    ratio, low, high = np.full((3, len(before.launches)), np.nan)
    np.divide(after.mean_ns, before.mean_ns, out=ratio, where=before.mean_ns > 0)
    is_measured = (np.minimum(before.launches, after.launches) >= LEAST_LAUNCHES) & (ratio > 0)
    launches, relative = [], []
    for side in (before, after):
        launches.append(side.launches[is_measured])
        relative.append(side.deviation_ns[is_measured] / side.total_ns[is_measured, np.newaxis])
    reach = _reach(launches, relative, confidence)
    low[is_measured], high[is_measured] = (
        ratio[is_measured] * np.exp(-reach),
        ratio[is_measured] * np.exp(reach),
    )
    return MeanRatios(ratio, low, high)


def total_interval(before: Durations, after: Durations, confidence: float) -> tuple[float, float] | None:
    """Return the ends of the interval of the total after over that before; None where there is none.

    As of a kernel, of totals in which every kernel has the mean of its launches in one block: so kernels
    that are slow together count as such, and how many launches each has is taken as it is. Kernels of few
    launches, whose spread is not known, are taken to depart as the others do together.
    """
    launches, relative, totals = [], [], []
    for side in (before, after):
        is_measured = side.launches >= LEAST_LAUNCHES
        known_ns = int(side.total_ns[is_measured].sum())
        if not known_ns:
            return None
        launches.append(np.array([side.launches[is_measured].sum()]))
        relative.append(side.deviation_ns[is_measured].sum(axis=0, keepdims=True) / known_ns)
        totals.append(int(side.total_ns.sum()))
    reach, ratio = float(_reach(launches, relative, confidence)[0]), totals[1] / totals[0]
    return None if np.isnan(reach) else (float(ratio * np.exp(-reach)), float(ratio * np.exp(reach)))


def _reach(launches: list[IntArray], relative: list[FloatArray], confidence: float) -> FloatArray:
    """Return (k,) the half-width of the logarithm of the ratio; NaN where neither side has any spread.

    ``launches`` (k,) and ``relative`` deviations (k, BLOCKS) are those of either side.
    """
    t = student_t(PlanRequest(confidence=confidence).confidence, BLOCKS - 1)
    of_launch = [
        n * (deviation**2).sum(axis=1) / (BLOCKS - 1) for n, deviation in zip(launches, relative, strict=True)
    ]
    variance = np.maximum(*of_launch) * (1 / launches[0] + 1 / launches[1])
    # Without any spread nothing tells how far the means may be off: no interval, never +- 0.
    return np.where(variance > 0, t * np.sqrt(variance), np.nan)
