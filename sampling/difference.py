"""What changed between two profiles or parts of one, kernel by kernel. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError, SamplingError
from sampling.features.names import bare_spelling, common_spelling
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping, KernelGroup, group_key
from sampling.reduction.region import Region, selected_parts, selected_sequences
from sampling.text import Wording

#: With fewer launches on a side a kernel has no interval.
LEAST_LAUNCHES = 10


class Status(StrEnum):
    """On which side a kernel has launches."""

    BOTH = "both"
    APPEARED = "appeared"
    VANISHED = "vanished"


class ProfilePart(NamedTuple):
    """A profile and which of its launches count."""

    profile: Profile
    region: Region = Region()


@dataclass(frozen=True, slots=True)
class MatchedKernel(KernelGroup):
    """One kernel of the two sides."""

    status: Status
    #: What the launches of the two sides share; None for a kernel of one side alone.
    matched_by: GroupBy | None
    #: How many kernel groups it is on either side: more than one only where it is matched by name alone.
    shapes_before: int
    shapes_after: int


class Durations(NamedTuple):
    """The durations of some kernels in one recording; all (k,)."""

    #: 0 for a kernel that the recording lacks.
    launches: IntArray
    total_ns: IntArray
    #: The population variance of durations over the square of their mean; 0 where that is 0.
    variance: FloatArray

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


class MeanRatios(NamedTuple):
    """Mean durations after over before with the ends of their intervals; (k,), NaN where there is none."""

    ratio: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two profiles kernel by kernel, what changed most first; (k,) arrays have an entry a kernel."""

    #: By which the kernel groups of both were made; whether process and device are left out as they differ.
    grouping: Grouping
    without_places: bool
    kernels: tuple[MatchedKernel, ...]
    before: Durations
    after: Durations
    #: Mean durations after over before, with intervals of this confidence.
    ratios: MeanRatios
    confidence: float
    parts: tuple[ProfilePart, ProfilePart]
    #: The reduction of either side, and (groups,) which kernel each of its groups is.
    counts: tuple[DurationCounts, DurationCounts]
    of_kernel: tuple[IntArray, IntArray]

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

    def is_above(self, growth: float) -> bool:
        """Return whether the total grew by more than this fraction of what it was before."""
        return self.total_after_ns - self.total_before_ns > growth * self.total_before_ns

    def distinct(self, kernel: int) -> list[tuple[IntArray, IntArray]]:
        """Return (p,) the distinct durations of a kernel, ns, and the launches of each, before and after."""
        sides = []
        for counts, of_kernel in zip(self.counts, self.of_kernel, strict=True):
            groups = np.flatnonzero(of_kernel == kernel).tolist()
            pairs = [np.zeros((2, 0), dtype=np.int64), *map(counts.group_pairs, groups)]
            durations_ns, launches = (np.concatenate(part) for part in zip(*pairs, strict=True))
            distinct_ns, place = np.unique(durations_ns, return_inverse=True)
            together = np.zeros(len(distinct_ns), dtype=np.int64)
            np.add.at(together, place, launches)
            sides.append((distinct_ns, together))
        return sides

    def ordered(self, order: IntArray) -> Difference:
        """Return the same kernels in another order, (k,) their indices."""
        place = np.argsort(order)
        before, after, ratios = self.before, self.after, self.ratios
        return replace(
            self,
            kernels=tuple(self.kernels[index] for index in order.tolist()),
            before=Durations(before.launches[order], before.total_ns[order], before.variance[order]),
            after=Durations(after.launches[order], after.total_ns[order], after.variance[order]),
            ratios=MeanRatios(ratios.ratio[order], ratios.low[order], ratios.high[order]),
            of_kernel=(place[self.of_kernel[0]], place[self.of_kernel[1]]),
        )


def difference_between(
    before: ProfilePart,
    after: ProfilePart,
    grouping: Grouping | None = None,
    *,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Difference:
    """Compare two profiles, or two parts of one, kernel by kernel.

    Kernel groups are matched by what the grouping says, by name, grid and block where it is None, and what is
    left over by name alone. Where the two sides lie in other processes or devices, these are left out.

    Raises EmptySelectionError: the region of a side leaves no launch; a note says which side's;
    NotApplicableError: a profile lacks what its region asks for; OptionError: the confidence is no fraction
    between 0 and 1.
    """
    grouping = grouping or Grouping()
    sides = (("first", before), ("second", after))
    selected, places = [], []
    for which, (profile, region) in sides:
        with _said_of(which):
            selected.append(selected_parts(profile, region))
        sequences = selected_sequences(profile, selected[-1])
        places.append({(sequence.process, sequence.device) for sequence in sequences})
    without_places = not grouping.pool_devices and places[0] != places[1]
    if without_places:
        grouping = replace(grouping, pool_devices=True)
    counts = []
    for (which, (profile, region)), some in zip(sides, selected, strict=True):
        with _said_of(which):
            counts.append(count_durations(profile, grouping, region, progress, some))
    kernels, of_kernel = _matched(counts[0], counts[1])
    there, here = (_durations(each, of, len(kernels)) for each, of in zip(counts, of_kernel, strict=True))
    found = Difference(
        grouping=grouping,
        without_places=without_places,
        kernels=kernels,
        before=there,
        after=here,
        ratios=mean_ratios(there, here, confidence),
        confidence=confidence,
        parts=(before, after),
        counts=(counts[0], counts[1]),
        of_kernel=of_kernel,
    )
    # By change, then by duration, then by key.
    by_key = np.argsort(sorted(range(len(kernels)), key=lambda index: kernels[index].key))
    longer_ns = np.maximum(there.total_ns, here.total_ns)
    return found.ordered(np.lexsort((by_key, -longer_ns, -np.abs(found.change_ns))))


@contextmanager
def _said_of(which: str) -> Iterator[None]:
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


def mean_ratios(before: Durations, after: Durations, confidence: float) -> MeanRatios:
    """Return the ratio of each kernel's mean durations, with an interval where both sides tell a spread.

    The interval is of the logarithm of the ratio, by the delta method and Welch's degrees of freedom; the
    larger of the two relative variances counts for both sides, because a side of few launches may by chance
    show none of the slow ones. It takes launches as independent of each other.
    """
    if not 0 < confidence < 1:
        raise OptionError(Wording("`confidence` is a fraction between 0 and 1, not {:g}", confidence))
    from scipy.special import stdtrit

    ratio, low, high = np.full((3, len(before.launches)), np.nan)
    np.divide(after.mean_ns, before.mean_ns, out=ratio, where=before.mean_ns > 0)
    n, m = before.launches.astype(np.float64), after.launches.astype(np.float64)
    enough = (np.minimum(n, m) >= LEAST_LAUNCHES) & (ratio > 0)
    # Without any spread nothing tells how far the means may be off: no interval, never +- 0.
    known = np.flatnonzero(enough & ((before.variance > 0) | (after.variance > 0)))
    n, m = n[known], m[known]
    larger = np.maximum(before.variance[known] * n / (n - 1), after.variance[known] * m / (m - 1))
    variance = larger / n + larger / m
    freedom = variance**2 / ((larger / n) ** 2 / (n - 1) + (larger / m) ** 2 / (m - 1))
    reach = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
    low[known], high[known] = ratio[known] * np.exp(-reach), ratio[known] * np.exp(reach)
    return MeanRatios(ratio, low, high)


def _matched(
    before: DurationCounts, after: DurationCounts
) -> tuple[tuple[MatchedKernel, ...], tuple[IntArray, IntArray]]:
    """Return the kernels of both sides in no particular order, and which each side's groups belong to.

    Groups are matched by their keys, and what is left over by name alone.
    """
    grouping, sides = before.grouping, (before.groups, _called_as_before(before.groups, after.groups))

    def name_key(group: KernelGroup) -> str:
        return group_key(group.name, Grouping(GroupBy.NAME), None, None, group.process, group.device)

    in_both = {group.key for group in sides[0]} & {group.key for group in sides[1]}
    left = [{name_key(group) for group in groups if group.key not in in_both} for groups in sides]
    by_name = left[0] & left[1] if grouping.needs_shape else set()
    kernels: dict[str, KernelGroup] = {}
    index: dict[str, int] = {}
    of_kernel = []
    for groups in sides:
        rows = np.zeros(len(groups), dtype=np.int64)
        for row, group in enumerate(groups):
            key = group.key if group.key in in_both else name_key(group)
            if key not in by_name:
                key = group.key
            rows[row] = index.setdefault(key, len(index))
            kernels.setdefault(
                key, group if key == group.key else replace(group, key=key, grid=None, block=None)
            )
        of_kernel.append(rows)
    old, new = (np.bincount(rows, minlength=len(kernels)).tolist() for rows in of_kernel)
    matched = []
    for row, (key, group) in enumerate(kernels.items()):
        status = Status.BOTH if old[row] and new[row] else Status.VANISHED if old[row] else Status.APPEARED
        by = GroupBy.NAME if key in by_name else grouping.by
        place = (key, group.name, group.grid, group.block, group.process, group.device)
        both = status is Status.BOTH
        matched.append(MatchedKernel(*place, status, by if both else None, old[row], new[row]))
    return tuple(matched), (of_kernel[0], of_kernel[1])


def _called_as_before(
    before: tuple[KernelGroup, ...], after: tuple[KernelGroup, ...]
) -> tuple[KernelGroup, ...]:
    """Return the groups after; those whose names another demangler wrote have the names they had before.

    A name is found by a spelling that no other left over has; without parameters only those of templates,
    whose parameters follow from their arguments.
    """
    there, here = ({group.name for group in side} for side in (before, after))
    called: dict[str, str] = {}
    for form in (common_spelling, bare_spelling):
        alone = []
        for names in (there - here - set(called.values()), here - there - called.keys()):
            spelt: defaultdict[str, list[str]] = defaultdict(list)
            for name in names:
                spelt[form(name)].append(name)
            is_telling = {key: form is common_spelling or key.endswith(">") for key in spelt}
            alone.append({key: same[0] for key, same in spelt.items() if len(same) == 1 and is_telling[key]})
        called |= {alone[1][key]: alone[0][key] for key in alone[0].keys() & alone[1].keys()}
    renamed = []
    for group in after:
        name = called.get(group.name, group.name)
        renamed.append(replace(group, name=name, key=name + group.key[len(group.name) :]))
    return tuple(renamed)
