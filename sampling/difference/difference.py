"""What changed between two profiles, or two parts of one, kernel by kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from sampling.difference.matching import MatchedKernel, match_kernels
from sampling.difference.mean_ratio import Durations, MeanRatios, mean_ratios
from sampling.errors import SamplingError
from sampling.profile.profile import Part, Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, selected_parts, selected_sequences
from sampling.reduction.short_launches import LeftOut


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """A profile and which of its launches count."""

    profile: Profile
    region: Region = Region()

    def selected(self) -> tuple[Part, ...]:
        """Return the launches that the region selects, before its name filters.

        Raises
        ------
        EmptySelectionError : there are none.
        NotApplicableError : the profile lacks what the region asks for.
        """
        return selected_parts(self.profile, self.region)


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two profiles kernel by kernel, what changed most first; (k,) arrays have an entry a kernel.

    Attributes
    ----------
    grouping : by which the kernel groups of both were made.
    without_places : whether process and device are left out because they differ.
    before, after : the durations of either side.
    ratios : mean durations after over before, with intervals.
    confidence : of the intervals.
    parts : what was compared.
    left_out : what the least duration leaves out of either part; None where its region sets none.
    durations : the distinct durations of each kernel, before and after.
    """

    grouping: Grouping
    without_places: bool
    kernels: tuple[MatchedKernel, ...]
    before: Durations
    after: Durations
    ratios: MeanRatios
    confidence: float
    parts: tuple[ProfilePart, ProfilePart]
    left_out: tuple[LeftOut | None, LeftOut | None]
    durations: tuple[KernelDurations, KernelDurations]

    @property
    def change_ns(self) -> IntArray:
        """(k,) how much longer all launches of a kernel take after than before."""
        return np.asarray(self.after.total_ns - self.before.total_ns)

    @property
    def total_before_ns(self) -> int:
        """The duration of all launches before."""
        return int(self.before.total_ns.sum())

    @property
    def total_after_ns(self) -> int:
        """The duration of all launches after."""
        return int(self.after.total_ns.sum())

    @property
    def ratio(self) -> float | None:
        """The total after over that before; None where that is 0."""
        return self.total_after_ns / self.total_before_ns if self.total_before_ns else None

    def ordered(self, order: IntArray) -> Difference:
        """Return the same kernels in another order, (k,) their indices."""
        place = np.argsort(order)
        there, here = (KernelDurations(each.counts, place[each.of_kernel]) for each in self.durations)
        return replace(
            self,
            kernels=tuple(self.kernels[index] for index in order.tolist()),
            before=self.before.ordered(order),
            after=self.after.ordered(order),
            ratios=self.ratios.ordered(order),
            durations=(there, here),
        )

    def is_above(self, growth: float) -> bool:
        """Return whether the total grew by more than this fraction of what it was before."""
        return self.total_after_ns - self.total_before_ns > growth * self.total_before_ns


def difference_between(
    before: ProfilePart,
    after: ProfilePart,
    grouping: Grouping | None = None,
    *,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Difference:
    """Compare two profiles, or two parts of one, kernel by kernel.

    Kernel groups are matched by what the grouping says. Where the two sides lie in other processes or
    devices, these are left out of the groups. (docs/methods.md, 12 Difference)

    Parameters
    ----------
    grouping : None: by name, grid and block.
    confidence : of the intervals of the ratios.

    Raises
    ------
    EmptySelectionError : the region of a side leaves no launch; a note says which side's.
    NotApplicableError : a profile lacks what its region asks for.
    OptionError : the confidence is no fraction between 0 and 1.
    """
    grouping = grouping or Grouping()
    parts = {"first": before, "second": after}
    selected: dict[str, tuple[Part, ...]] = {}
    for which, part in parts.items():
        with _said_of(which):
            selected[which] = part.selected()
    places = [
        {(each.process, each.device) for each in selected_sequences(part.profile, selected[which])}
        for which, part in parts.items()
    ]
    without_places = not grouping.pool_devices and places[0] != places[1]
    if without_places:
        grouping = replace(grouping, pool_devices=True)
    counts = []
    for which, part in parts.items():
        with _said_of(which):
            counts.append(count_durations(part.profile, grouping, part.region, progress, selected[which]))
    matching = match_kernels(*counts)
    there = _durations(counts[0], matching.of_before, len(matching.kernels))
    here = _durations(counts[1], matching.of_after, len(matching.kernels))
    order = _most_changed_first(matching.kernels, there, here)
    there, here = there.ordered(order), here.ordered(order)
    place = np.argsort(order)
    return Difference(
        grouping=grouping,
        without_places=without_places,
        kernels=tuple(matching.kernels[index] for index in order.tolist()),
        before=there,
        after=here,
        ratios=mean_ratios(there, here, confidence),
        confidence=confidence,
        parts=(before, after),
        left_out=(counts[0].left_out, counts[1].left_out),
        durations=(
            KernelDurations(counts[0], place[matching.of_before]),
            KernelDurations(counts[1], place[matching.of_after]),
        ),
    )


@contextmanager
def _said_of(which: str) -> Iterator[None]:
    """Let an error say which of the two profiles it is of."""
    try:
        yield
    except SamplingError as error:
        error.add_note(f"this is said of the {which} profile")
        raise


def _durations(counts: DurationCounts, of_kernel: IntArray, kernels: int) -> Durations:
    """Return the durations of the kernels, each of one or several of the reduction's groups."""
    launches, total_ns = np.zeros((2, kernels), dtype=np.int64)
    np.add.at(launches, of_kernel, counts.group_launches)
    np.add.at(total_ns, of_kernel, counts.group_duration_ns)
    mean_ns = np.divide(total_ns, launches, out=np.zeros(kernels), where=launches > 0)
    # Deviations within the groups and of their means from the kernel's: no cancellation.
    off_ns = counts.group_duration_ns / counts.group_launches - mean_ns[of_kernel]
    squares = np.zeros(kernels)
    np.add.at(squares, of_kernel, counts.group_launches * (counts.group_std_ns**2 + off_ns**2))
    scale = launches * mean_ns**2
    return Durations(launches, total_ns, np.divide(squares, scale, out=np.zeros(kernels), where=scale > 0))


def _most_changed_first(kernels: Sequence[MatchedKernel], before: Durations, after: Durations) -> IntArray:
    """Return (k,) the order of the kernels: by change, then by duration, then by key."""
    by_key = np.empty(len(kernels), dtype=np.int64)
    by_key[sorted(range(len(kernels)), key=lambda index: kernels[index].key)] = np.arange(len(kernels))
    change_ns = np.abs(after.total_ns - before.total_ns)
    return np.lexsort((by_key, -np.maximum(before.total_ns, after.total_ns), -change_ns))


@dataclass(frozen=True, slots=True, eq=False)
class KernelDurations:
    """The reduction of one side, and which kernel each of its groups belongs to.

    Attributes
    ----------
    of_kernel : (groups,) the index of a kernel of the difference.
    """

    counts: DurationCounts
    of_kernel: IntArray

    def of(self, kernel: int) -> tuple[IntArray, IntArray]:
        """Return (p,) distinct durations of a kernel, ascending, in nanoseconds, and the launches of each."""
        groups = np.flatnonzero(self.of_kernel == kernel).tolist()
        none = np.zeros(0, dtype=np.int64)
        pairs = [(none, none), *map(self.counts.group_pairs, groups)]
        if len(pairs) == 2:
            return pairs[1]
        durations_ns, launches = (np.concatenate(part) for part in zip(*pairs, strict=True))
        distinct_ns, place = np.unique(durations_ns, return_inverse=True)
        together = np.zeros(len(distinct_ns), dtype=np.int64)
        np.add.at(together, place, launches)
        return distinct_ns, together
