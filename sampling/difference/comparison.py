"""What changed between two recordings: per iteration, launch by launch or as recorded; then kernel by kernel.

(docs/methods.md, 12 Difference)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference.intervals import Ratios
from sampling.difference.matching import MatchedKernel, Status
from sampling.difference.recordings import ReadRecording, Recording
from sampling.parallel import Progress
from sampling.record import Amount, Count, Dimensions, Fraction, Index, Nanoseconds, Record
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.iteration_runs import IterationFacts


class Basis(StrEnum):
    """What of two recordings is compared."""

    ITERATIONS = "iterations"
    PAIRED = "paired"  #: the same launches in the same order
    RECORDED = "recorded"  #: all launches, whatever they do


class Cause(StrEnum):
    """Why a total changed, by kernels."""

    NEW = "new"
    GONE = "gone"
    DURATION = "duration"  #: launches of the same kernels take longer or shorter
    LAUNCHES = "launches"  #: there are more or fewer of them
    OTHER_KERNELS = "other-kernels"  #: the same operator or function is other kernels


class Change(Record, frozen=True):
    """A quantity before and after; the ratio of the two, and the ends of its interval."""

    before: Amount | None
    after: Amount | None
    ratio: Amount | None
    low: float | None
    high: float | None

    def is_above(self, growth: float) -> bool:
        """Return whether it grew by more than this fraction: all of its interval, if it has one."""
        if self.low is not None:
            return self.low > 1 + growth
        return (self.after or 0) > (1 + growth) * (self.before or 0)


class Numbers(Record, frozen=True):
    """How many iterations either side is the mean of; one where the whole counts as one."""

    before: Count
    after: Count


class IdleChange(Record, frozen=True):
    """How long devices are idle in an iteration, on average, and why. (docs/methods.md, 16 Idle time)"""

    idle_ns: Change
    host_ns: Change
    copy_ns: Change
    turnaround_ns: Change
    dependency_ns: Change
    unknown_ns: Change
    #: In gaps too short to have a cause.
    short_ns: Change
    #: Of the host's, what it spent in calls that wait for the device.
    synchronising_ns: Change


class PerIteration(Record, frozen=True):
    """What an iteration takes; without iterations, what all launches take. None: it is not recorded."""

    kernel_ns: Change
    elapsed_ns: Change | None
    #: The share of the time in which a kernel runs.
    busy: Change | None
    #: None where a side has no calls of the host, which tell the causes.
    idle: IdleChange | None
    copies_ns: Change | None
    launches: Change
    iterations: Numbers


class KernelSide(Record, frozen=True):
    """A kernel's launches before or after, those that are compared; None where it has none."""

    launches: Index
    total_ns: Nanoseconds
    mean_ns: Amount | None
    #: Of the time of all kernels.
    share: Fraction


class KernelDifference(Record, frozen=True):
    """A kernel before and after; see `MatchedKernel`."""

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: Index | None
    device: Index | None
    status: Status
    matched_by: GroupBy | None
    shapes_before: Index
    shapes_after: Index
    before: KernelSide
    after: KernelSide
    #: Of an iteration, or of all launches.
    change_ns: int
    #: Of its time in an iteration, of the same launches, or else of the mean durations.
    ratio: Amount | None
    low: float | None
    high: float | None


class DifferenceSummary(Record, frozen=True):
    """Two profiles per iteration and kernel by kernel, what changed most first."""

    #: Their names.
    before: str
    after: str
    basis: Basis
    #: Why nothing better is compared; None where nothing better could be.
    reason: str | None
    is_same_work: bool
    iterations_before: IterationFacts | None
    iterations_after: IterationFacts | None
    per_iteration: PerIteration
    #: Of all launches, those that are not compared too.
    launches_before: Index
    launches_after: Index
    total_before_ns: Nanoseconds
    total_after_ns: Nanoseconds
    #: The kernel time after over that before, on this basis, and the ends of its interval.
    ratio: Amount | None
    low: float | None
    high: float | None
    confidence: Fraction
    matched_without_places: bool
    #: By how many ns each cause changed the kernel time of an iteration, or of all launches.
    causes: dict[Cause, int]
    #: By what kernels are matched, and which share of the time before and of that after is of them.
    matched: dict[GroupBy, tuple[float, float]]
    kernels_in_all: Index
    kernels: list[KernelDifference]


class Side(Protocol):
    """What may be compared: a part of a profile, or what was kept of one."""

    @property
    def names_operators(self) -> bool:
        """Whether launches may have operators."""

    def recording(self, grouping: Grouping, progress: Progress | None = None) -> Recording:
        """Return what a difference takes of it."""


class KernelTimes(NamedTuple):
    """The launches of some kernels on one side; (k,)."""

    launches: IntArray
    total_ns: IntArray
    #: In how many iterations they are.
    iterations: int

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


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two recordings per iteration and kernel by kernel, what changed most first; (k,) of kernels."""

    #: By which the kernel groups of both were made; whether process and device are left out as they differ.
    grouping: Grouping
    without_places: bool
    basis: Basis
    reason: str | None
    is_same_work: bool
    per_iteration: PerIteration
    kernels: tuple[MatchedKernel, ...]
    before: KernelTimes
    after: KernelTimes
    ratios: Ratios
    confidence: float
    #: What was compared, and what was taken of it.
    sides: tuple[Side, Side]
    recordings: tuple[Recording, Recording]
    #: (groups,) which kernel each of the groups of either side is, -1 for one that is not compared.
    of_kernel: tuple[IntArray, IntArray]

    @property
    def change_ns(self) -> IntArray:
        """(k,) how much longer a kernel takes after than before, of an iteration or in all."""
        after, before = (side.total_ns / side.iterations for side in (self.after, self.before))
        return np.rint(after - before).astype(np.int64)

    @property
    def causes(self) -> dict[Cause, int]:
        """By how many ns each cause changed the kernel time; together they are its change, rounded.

        The change of a kernel of both sides is (n_Y - n_X) X of more launches and n_Y (Y - X) of longer ones,
        n launches an iteration of the means X before and Y after.
        """
        change_ns = self.change_ns
        n_after, n_before = (side.launches / side.iterations for side in (self.after, self.before))
        more_ns = np.rint(np.nan_to_num(self.before.mean_ns) * (n_after - n_before)).astype(np.int64)
        causes = dict.fromkeys(Cause, 0)
        for row, kernel in enumerate(self.kernels):
            if kernel.status is not Status.BOTH:
                causes[Cause.NEW if kernel.status is Status.APPEARED else Cause.GONE] += int(change_ns[row])
            elif kernel.is_of_others(self.grouping.by):
                causes[Cause.OTHER_KERNELS] += int(change_ns[row])
            else:
                causes[Cause.LAUNCHES] += int(more_ns[row])
                causes[Cause.DURATION] += int(change_ns[row] - more_ns[row])
        return causes

    @property
    def matched_share(self) -> dict[GroupBy, tuple[float, float]]:
        """By what kernels are matched, and which share of the time before and of that after is of them."""
        matches: dict[GroupBy, tuple[float, float]] = {}
        sides = zip(self.before.share.tolist(), self.after.share.tolist(), strict=True)
        for kernel, (old, new) in zip(self.kernels, sides, strict=True):
            if kernel.matched_by is not None:
                before, after = matches.get(kernel.matched_by, (0.0, 0.0))
                matches[kernel.matched_by] = before + old, after + new
        return matches

    def summary(self, before: str, after: str, most: int | None = None) -> DifferenceSummary:
        """Return the same for a command's output: the names of the two, and the first ``most`` kernels."""
        kernel_ns = self.per_iteration.kernel_ns
        old, new = (side.selection for side in self.recordings)
        return DifferenceSummary.from_attributes(
            self,
            before=before,
            after=after,
            iterations_before=self.recordings[0].facts,
            iterations_after=self.recordings[1].facts,
            launches_before=old.launches,
            launches_after=new.launches,
            total_before_ns=old.total_duration_ns,
            total_after_ns=new.total_duration_ns,
            ratio=kernel_ns.ratio,
            low=kernel_ns.low,
            high=kernel_ns.high,
            matched_without_places=self.without_places,
            matched=self.matched_share,
            kernels_in_all=len(self.kernels),
            kernels=[*self._list_kernels(most)],
        )

    def _list_kernels(self, most: int | None) -> Iterator[KernelDifference]:
        columns = [
            *((side.launches, side.total_ns, side.mean_ns, side.share) for side in (self.before, self.after)),
            self.ratios,
            (self.change_ns,),
        ]
        # What a kernel does not have is NaN.
        rows = zip(
            *(zip(*(column[:most].tolist() for column in part), strict=True) for part in columns), strict=True
        )
        for kernel, (before, after, ratios, (change_ns,)) in zip(self.kernels[:most], rows, strict=True):
            sides = [
                KernelSide(launches, total_ns, _finite(mean_ns), share)
                for launches, total_ns, mean_ns, share in (before, after)
            ]
            ratio, low, high = map(_finite, ratios)
            yield KernelDifference.from_attributes(
                kernel, before=sides[0], after=sides[1], change_ns=change_ns, ratio=ratio, low=low, high=high
            )

    def distinct(self, kernel: int) -> list[tuple[IntArray, IntArray] | None]:
        """Return (p,) the distinct durations of a kernel, ns, and the launches of each, before and after.

        They are of all launches, in iterations or not; None on a side whose single durations are not kept.
        """
        sides: list[tuple[IntArray, IntArray] | None] = [None, None]
        for at, recording in enumerate(self.recordings):
            if isinstance(recording, ReadRecording):
                groups = np.flatnonzero(self.of_kernel[at] == kernel).tolist()
                pairs = [np.zeros((2, 0), dtype=np.int64), *map(recording.counts.group_pairs, groups)]
                durations_ns, launches = (np.concatenate(part) for part in zip(*pairs, strict=True))
                distinct_ns, place = np.unique(durations_ns, return_inverse=True)
                sides[at] = distinct_ns, np.bincount(place, launches, len(distinct_ns)).astype(np.int64)
        return sides

    def ordered(self, order: IntArray) -> Difference:
        """Return the same kernels in another order, (k,) their indices."""
        # One more place is of what is no kernel.
        place = np.append(np.argsort(order), -1)
        before, after = (
            KernelTimes(side.launches[order], side.total_ns[order], side.iterations)
            for side in (self.before, self.after)
        )
        return replace(
            self,
            kernels=tuple(self.kernels[index] for index in order.tolist()),
            before=before,
            after=after,
            ratios=Ratios(*(values[order] for values in self.ratios)),
            of_kernel=(place[self.of_kernel[0]], place[self.of_kernel[1]]),
        )


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
