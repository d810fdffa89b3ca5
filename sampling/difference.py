"""What changed between two profiles or parts of one, kernel by kernel. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError, SamplingError
from sampling.features.names import bare_spelling, common_spelling
from sampling.parallel import Progress
from sampling.profile.profile import Dimensions, Part, Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping, KernelGroup, group_key
from sampling.reduction.region import LeftOut, Region, selected_parts, selected_sequences
from sampling.text import Wording

#: With fewer launches on a side a kernel has no interval.
LEAST_LAUNCHES = 10

_Columns = TypeVar("_Columns", "Durations", "MeanRatios")


class Status(StrEnum):
    """On which side a kernel has launches."""

    BOTH = "both"
    APPEARED = "appeared"
    VANISHED = "vanished"


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


@dataclass(frozen=True, slots=True)
class MatchedKernel:
    """One kernel of the two sides. What its launches do not share is None."""

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: int | None
    device: int | None
    status: Status
    #: What the launches of the two sides share; None for a kernel of one side alone.
    matched_by: GroupBy | None
    #: How many kernel groups it is on either side: more than one only where it is matched by name alone.
    shapes_before: int
    shapes_after: int


@dataclass(frozen=True, slots=True, eq=False)
class Durations:
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


@dataclass(frozen=True, slots=True, eq=False)
class MeanRatios:
    """Mean durations after over before with the ends of their intervals; (k,), NaN where there is none."""

    ratio: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KernelDurations:
    """The reduction of one side, and (groups,) which kernel of the difference each of its groups is."""

    counts: DurationCounts
    of_kernel: IntArray

    def of(self, kernel: int) -> tuple[IntArray, IntArray]:
        """Return (p,) distinct durations of a kernel, ascending, in nanoseconds, and the launches of each."""
        groups = np.flatnonzero(self.of_kernel == kernel).tolist()
        pairs = [np.zeros((2, 0), dtype=np.int64), *map(self.counts.group_pairs, groups)]
        durations_ns, launches = (np.concatenate(part) for part in zip(*pairs, strict=True))
        distinct_ns, place = np.unique(durations_ns, return_inverse=True)
        together = np.zeros(len(distinct_ns), dtype=np.int64)
        np.add.at(together, place, launches)
        return distinct_ns, together


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two profiles kernel by kernel, what changed most first; (k,) arrays have an entry a kernel."""

    #: By which the kernel groups of both were made.
    grouping: Grouping
    #: Whether process and device are left out because they differ.
    without_places: bool
    kernels: tuple[MatchedKernel, ...]
    before: Durations
    after: Durations
    #: Mean durations after over before, with intervals of this confidence.
    ratios: MeanRatios
    confidence: float
    parts: tuple[ProfilePart, ProfilePart]
    #: What the least duration leaves out of either part; None where its region sets none.
    left_out: tuple[LeftOut | None, LeftOut | None]
    #: The distinct durations of each kernel, before and after.
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
            before=_taken(self.before, order),
            after=_taken(self.after, order),
            ratios=_taken(self.ratios, order),
            durations=(there, here),
        )

    def is_above(self, growth: float) -> bool:
        """Return whether the total grew by more than this fraction of what it was before."""
        return self.total_after_ns - self.total_before_ns > growth * self.total_before_ns


def _taken(columns: _Columns, order: IntArray) -> _Columns:
    return type(columns)(*(getattr(columns, field.name)[order] for field in fields(columns)))


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

    Raises
    ------
    EmptySelectionError : the region of a side leaves no launch; a note says which side's.
    NotApplicableError : a profile lacks what its region asks for.
    OptionError : the confidence is no fraction between 0 and 1.
    """
    grouping = grouping or Grouping()
    sides = (("first", before), ("second", after))
    selected = []
    for which, part in sides:
        with _said_of(which):
            selected.append(part.selected())
    places = [
        {(each.process, each.device) for each in selected_sequences(part.profile, some)}
        for (_, part), some in zip(sides, selected, strict=True)
    ]
    without_places = not grouping.pool_devices and places[0] != places[1]
    if without_places:
        grouping = replace(grouping, pool_devices=True)
    counts = []
    for (which, part), some in zip(sides, selected, strict=True):
        with _said_of(which):
            counts.append(count_durations(part.profile, grouping, part.region, progress, some))
    kernels, of_kernel = _matched(*counts)
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
        left_out=(counts[0].left_out, counts[1].left_out),
        durations=(KernelDurations(counts[0], of_kernel[0]), KernelDurations(counts[1], of_kernel[1])),
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

    Raises
    ------
    OptionError : the confidence is no fraction between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise OptionError(Wording("`confidence` is a fraction between 0 and 1, not {:g}", confidence))
    from scipy.special import stdtrit

    ratio, low, high = np.full((3, len(before.launches)), np.nan)
    np.divide(after.mean_ns, before.mean_ns, out=ratio, where=before.mean_ns > 0)
    fewest = np.minimum(before.launches, after.launches)
    known = np.flatnonzero((fewest >= LEAST_LAUNCHES) & (ratio > 0))
    sizes = [side.launches[known].astype(np.float64) for side in (before, after)]
    samples = [side.variance[known] * n / (n - 1) for side, n in zip((before, after), sizes, strict=True)]
    larger = np.maximum(*samples)
    # Without any spread nothing tells how far the means may be off: no interval, never +- 0.
    known, larger, sizes = known[larger > 0], larger[larger > 0], [n[larger > 0] for n in sizes]
    parts = [larger / n for n in sizes]
    variance = parts[0] + parts[1]
    freedom = variance**2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    reach = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
    low[known], high[known] = ratio[known] * np.exp(-reach), ratio[known] * np.exp(reach)
    return MeanRatios(ratio, low, high)


# --- which kernel groups of two reductions are the same kernel ---------------------------------------------


def _matched(
    before: DurationCounts, after: DurationCounts
) -> tuple[tuple[MatchedKernel, ...], tuple[IntArray, IntArray]]:
    """Return the kernels of both sides in no particular order, and which each side's groups belong to.

    Groups are matched by their keys, and what is left over by name alone.
    """
    grouping = before.grouping
    sides = (before.groups, _called_as_before(before.groups, after.groups))
    in_both = set.intersection(*({group.key for group in groups} for groups in sides))
    names_left: set[str] = set()
    if grouping.needs_shape:
        left = ({_without_shape(group) for group in groups if group.key not in in_both} for groups in sides)
        names_left = set.intersection(*left)
    rows: dict[str, KernelGroup] = {}
    index_of: dict[str, int] = {}

    def index(group: KernelGroup) -> int:
        if group.key not in in_both and (name_key := _without_shape(group)) in names_left:
            group = KernelGroup(name_key, group.name, None, None, group.process, group.device)
        rows.setdefault(group.key, group)
        return index_of.setdefault(group.key, len(index_of))

    there, here = (np.fromiter(map(index, groups), dtype=np.int64, count=len(groups)) for groups in sides)
    kernels = []
    shapes = [np.bincount(of, minlength=len(rows)).tolist() for of in (there, here)]
    for group, old, new in zip(rows.values(), *shapes, strict=True):
        status = Status.BOTH if old and new else Status.VANISHED if old else Status.APPEARED
        by = GroupBy.NAME if group.key in names_left else grouping.by
        place = (group.key, group.name, group.grid, group.block, group.process, group.device)
        kernels.append(MatchedKernel(*place, status, by if status is Status.BOTH else None, old, new))
    return tuple(kernels), (there, here)


def _called_as_before(
    before: tuple[KernelGroup, ...], after: tuple[KernelGroup, ...]
) -> tuple[KernelGroup, ...]:
    """Return the groups after; those whose names another demangler wrote have the names they had before."""
    there, here = ({group.name for group in side} for side in (before, after))
    called: dict[str, str] = {}
    for form in (common_spelling, bare_spelling):
        of_before = _spelt_alone(there - here - set(called.values()), form)
        of_after = _spelt_alone(here - there - called.keys(), form)
        called |= {of_after[key]: of_before[key] for key in of_before.keys() & of_after.keys()}

    def renamed(group: KernelGroup) -> KernelGroup:
        name = called.get(group.name)
        return group if name is None else replace(group, name=name, key=name + group.key[len(group.name) :])

    return tuple(map(renamed, after))


def _spelt_alone(names: set[str], form: Callable[[str], str]) -> dict[str, str]:
    """Return the names by a form that no other of them has.

    Without parameters only those of templates are told by it, whose parameters follow from their arguments.
    """
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(form(name), []).append(name)
    is_telling = {key: form is common_spelling or key.endswith(">") for key in spelt}
    return {key: same[0] for key, same in spelt.items() if len(same) == 1 and is_telling[key]}


def _without_shape(group: KernelGroup) -> str:
    return group_key(group.name, Grouping(GroupBy.NAME), None, None, group.process, group.device)
