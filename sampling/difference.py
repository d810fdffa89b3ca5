"""What changed between two profiles or parts of one, kernel by kernel. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import NotApplicableError, SamplingError
from sampling.features.names import bare_spelling, common_spelling
from sampling.mean_ratios import Durations, MeanRatios, durations_in_order, mean_ratios, total_interval
from sampling.parallel import Progress
from sampling.profile.names import short_name
from sampling.profile.profile import Profile
from sampling.record import Amount, Dimensions, Fraction, Index, Nanoseconds, Record
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping, KernelGroup, group_key
from sampling.reduction.region import Region, selected_parts, selected_sequences


class Status(StrEnum):
    """On which side a kernel has launches."""

    BOTH = "both"
    APPEARED = "appeared"
    VANISHED = "vanished"


class Cause(StrEnum):
    """Why a total changed, by kernels."""

    NEW = "new"
    GONE = "gone"
    DURATION = "duration"  #: launches of the same kernels take longer or shorter
    LAUNCHES = "launches"  #: there are more or fewer of them
    OTHER_KERNELS = "other-kernels"  #: the same operator or function is other kernels


class KernelSide(Record, frozen=True):
    """A kernel's launches before or after; None where it has none."""

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
    change_ns: int
    #: Of the mean durations, after over before, and the ends of its interval.
    ratio: Amount | None
    low: Amount | None
    high: Amount | None


class DifferenceSummary(Record, frozen=True):
    """Two profiles kernel by kernel, what changed most first."""

    #: Their names.
    before: str
    after: str
    launches_before: Index
    launches_after: Index
    total_before_ns: Nanoseconds
    total_after_ns: Nanoseconds
    #: The total after over that before, and the ends of its interval.
    ratio: Amount | None
    low: float | None
    high: float | None
    confidence: Fraction
    matched_without_places: bool
    #: By how many ns each cause changed the total.
    causes: dict[Cause, int]
    #: By what kernels are matched, and which share of the time before and of that after is of them.
    matched: dict[GroupBy, tuple[float, float]]
    kernels_in_all: Index
    kernels: list[KernelDifference]


class ProfilePart(NamedTuple):
    """A profile and which of its launches count."""

    profile: Profile
    region: Region = Region()


@dataclass(frozen=True, slots=True)
class MatchedKernel(KernelGroup):
    """One kernel of the two sides, or what several kernels on either side compute."""

    _: KW_ONLY
    status: Status
    #: What the launches of the two sides share; None for a kernel of one side alone.
    matched_by: GroupBy | None
    #: How many kernel groups it is on either side: one where it is matched by all that groups share.
    shapes_before: int
    shapes_after: int


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

    def is_of_others(self, kernel: MatchedKernel) -> bool:
        """Return whether a kernel is other kernels on the two sides, of one operator or function."""
        return kernel.matched_by not in (None, self.grouping.by, GroupBy.NAME)

    @property
    def causes(self) -> dict[Cause, int]:
        """By how many ns each cause changed the total; together they are its change, rounded to whole ns.

        The change of a kernel of both sides is (n_Y - n_X) X of more launches and n_Y (Y - X) of longer ones,
        n launches of the means X before and Y after.
        """
        change_ns, launches_added = self.change_ns, self.after.launches - self.before.launches
        more_ns = np.rint(np.nan_to_num(self.before.mean_ns) * launches_added).astype(np.int64)
        causes = dict.fromkeys(Cause, 0)
        for row, kernel in enumerate(self.kernels):
            if kernel.status is not Status.BOTH:
                causes[Cause.NEW if kernel.status is Status.APPEARED else Cause.GONE] += int(change_ns[row])
            elif self.is_of_others(kernel):
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

    @property
    def total_interval(self) -> tuple[float, float] | None:
        """The ends of the interval of the total's ratio; None where no kernel tells a spread."""
        return total_interval(self.before, self.after, self.confidence)

    def summary(self, before: str, after: str, most: int | None = None) -> DifferenceSummary:
        """Return the same for a command's output: the names of the two, and the first ``most`` kernels."""
        low, high = self.total_interval or (None, None)
        return DifferenceSummary.from_attributes(
            self,
            before=before,
            after=after,
            launches_before=int(self.before.launches.sum()),
            launches_after=int(self.after.launches.sum()),
            low=low,
            high=high,
            matched_without_places=self.without_places,
            matched=self.matched_share,
            kernels_in_all=len(self.kernels),
            kernels=self._list_kernels(most),
        )

    def _list_kernels(self, most: int | None) -> list[KernelDifference]:
        sides = [
            [
                KernelSide(launches, total_ns, mean_ns if launches else None, share)
                for launches, total_ns, mean_ns, share in zip(
                    side.launches[:most].tolist(),
                    side.total_ns[:most].tolist(),
                    side.mean_ns[:most].tolist(),
                    side.share[:most].tolist(),
                    strict=True,
                )
            ]
            for side in (self.before, self.after)
        ]
        # Those of a kernel without an interval, or a mean on either side, are NaN.
        ratios = zip(
            *(
                [None if math.isnan(value) else value for value in values[:most].tolist()]
                for values in (self.ratios.ratio, self.ratios.low, self.ratios.high)
            ),
            strict=True,
        )
        changes = self.change_ns[:most].tolist()
        return [
            KernelDifference.from_attributes(
                kernel, before=before, after=after, change_ns=change_ns, ratio=ratio, low=low, high=high
            )
            for kernel, before, after, change_ns, (ratio, low, high) in zip(
                self.kernels[:most], *sides, changes, ratios, strict=True
            )
        ]

    def is_above(self, growth: float) -> bool:
        """Return whether the total grew by more than this fraction: all of its interval, if it has one."""
        interval = self.total_interval
        if interval is not None:
            return interval[0] > 1 + growth
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
            before=Durations(before.launches[order], before.block_ns[order]),
            after=Durations(after.launches[order], after.block_ns[order]),
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
    left over by name alone, by operator, by the name of a template's function. Where the two sides lie in
    other processes or devices, these are left out.

    Raises EmptySelectionError: the region of a side leaves no launch; a note says which side's;
    NotApplicableError: a profile lacks what its region asks for; OptionError: the confidence is no fraction
    between 0 and 1.
    """
    grouping = grouping or Grouping()
    # What is pooled on one side is on the other.
    grouping = replace(grouping, pool_devices=bool(grouping.pool_devices))
    sides = (("first", before), ("second", after))
    selected, places = [], []
    for which, (profile, region) in sides:
        with _said_of(which):
            selected.append(selected_parts(profile, region))
        sequences = selected_sequences(profile, selected[-1])
        places.append({sequence.place for sequence in sequences})
    without_places = not grouping.pool_devices and places[0] != places[1]
    if without_places:
        grouping = replace(grouping, pool_devices=True)
    reductions = []
    for (which, (profile, region)), rows in zip(sides, selected, strict=True):
        with _said_of(which):
            reductions.append(count_durations(profile, grouping, region, progress, rows))
    counts = _split_by_operator((reductions[0], reductions[1]), (before, after))
    kernels, of_kernel = _matched(counts[0], counts[1])
    durations_before, durations_after = (
        durations_in_order(part.profile, side_counts, kernel, len(kernels), progress)
        for part, side_counts, kernel in zip((before, after), counts, of_kernel, strict=True)
    )
    difference = Difference(
        grouping=grouping,
        without_places=without_places,
        kernels=kernels,
        before=durations_before,
        after=durations_after,
        ratios=mean_ratios(durations_before, durations_after, confidence)
        if grouping.by is GroupBy.OPERATOR
        else _of_alike(
            mean_ratios(durations_before, durations_after, confidence),
            kernels,
            durations_before,
            durations_after,
        ),
        confidence=confidence,
        parts=(before, after),
        counts=counts,
        of_kernel=of_kernel,
    )
    # By change, then by duration, then by key.
    by_key = np.argsort(sorted(range(len(kernels)), key=lambda index: kernels[index].key))
    longer_ns = np.maximum(durations_before.total_ns, durations_after.total_ns)
    return difference.ordered(np.lexsort((by_key, -longer_ns, -np.abs(difference.change_ns))))


@contextmanager
def _said_of(which: str) -> Iterator[None]:
    try:
        yield
    except SamplingError as error:
        error.add_note(f"this is said of the {which} profile")
        raise


def _of_alike(
    ratios: MeanRatios, kernels: Sequence[MatchedKernel], before: Durations, after: Durations
) -> MeanRatios:
    """Return the ratios, but none for operators of more launches on one side: each does another part."""
    is_operator = np.array([kernel.matched_by is GroupBy.OPERATOR for kernel in kernels], dtype=np.bool_)
    unlike = is_operator & (before.launches != after.launches)
    return MeanRatios(*(np.where(unlike, np.nan, column) for column in ratios))


def _split_by_operator(
    counts: tuple[DurationCounts, DurationCounts], parts: tuple[ProfilePart, ProfilePart]
) -> tuple[DurationCounts, DurationCounts]:
    """Return both reductions with groups parted by operator, where either side lacks kernels of the other.

    As they are where they lack none, or where a side names no operator.
    """
    keys_before, keys_after = ({group.key for group in side.groups} for side in counts)
    if counts[0].grouping.by not in _BY_KERNEL or not (keys_before - keys_after and keys_after - keys_before):
        return counts
    if not all("operator" in part.profile.columns for part in parts):
        return counts
    apart = replace(counts[0].grouping, apart=True)
    try:
        before, after = (
            count_durations(part.profile, apart, part.region, None, side_counts.selected)
            for part, side_counts in zip(parts, counts, strict=True)
        )
    except NotApplicableError:
        return counts
    return before, after


# Groupings that tell kernels apart by their names, which other GPUs and versions of libraries have not.
_BY_KERNEL = (GroupBy.LAUNCH, GroupBy.NAME)


def _matched(
    before: DurationCounts, after: DurationCounts
) -> tuple[tuple[MatchedKernel, ...], tuple[IntArray, IntArray]]:
    """Return the kernels of both sides in no particular order, and which each side's groups belong to.

    Groups of the same operator are matched by their keys, then by name alone, then whatever the kernel. What
    is left over is matched by key, then by name alone, then by the name of the function where either side has
    one kernel of it left. (A kernel serves this operator on one GPU and that one on the next.)
    """
    by = before.grouping.by
    sides = (before.groups, _called_as_before(before.groups, after.groups))
    stages = [(by, False)]
    if by in _BY_KERNEL:
        stages = [(by, True), (GroupBy.NAME, True), (GroupBy.OPERATOR, True)]
        stages += [(by, False), (GroupBy.NAME, False), (GroupBy.SHORT_NAME, False)]
    left: list[list[int]] = [list(range(len(groups))) for groups in sides]
    places: list[dict[int, tuple[GroupBy | None, str]]] = [{}, {}]
    for stage, of_operator in stages:
        keys = [
            {
                row: (key, groups[row].operator if of_operator else "")
                for row in rows
                if (key := _key_by(groups[row], stage, by))
            }
            for groups, rows in zip(sides, left, strict=True)
        ]
        shared = set(keys[0].values()) & set(keys[1].values())
        if stage is GroupBy.SHORT_NAME and stage is not by:
            shared = {
                key for key in shared if all(_is_one(*side, key) for side in zip(sides, keys, strict=True))
            }
        for side, of_side in enumerate(keys):
            places[side] |= {row: (stage, key[0]) for row, key in of_side.items() if key in shared}
            left[side] = [row for row in left[side] if row not in places[side]]
    for side, unmatched in enumerate(left):
        places[side] |= {row: (None, sides[side][row].key) for row in unmatched}
    index: dict[tuple[GroupBy | None, str], int] = {}
    first: list[KernelGroup] = []
    shapes: list[tuple[set[str], set[str]]] = []
    of_kernel = []
    for side, groups in enumerate(sides):
        kernels = np.zeros(len(groups), dtype=np.int64)
        for row, group in enumerate(groups):
            kernels[row] = kernel = index.setdefault(places[side][row], len(index))
            if kernel == len(first):
                first.append(group)
                shapes.append((set(), set()))
            shapes[kernel][side].add(group.key)
        of_kernel.append(kernels)
    matched = []
    for (matched_by, key), group, (old, new) in zip(index, first, shapes, strict=True):
        status = Status.BOTH if old and new else Status.VANISHED if old else Status.APPEARED
        # What is matched by less than the key has the name of what it is matched by, and no shape.
        name = _name_by(group, matched_by or by, by)
        shape = (group.grid, group.block) if matched_by in (by, None) else (None, None)
        place = (key, name, *shape, group.process, group.device)
        matched.append(
            MatchedKernel(
                *place, status=status, matched_by=matched_by, shapes_before=len(old), shapes_after=len(new)
            )
        )
    return tuple(matched), (of_kernel[0], of_kernel[1])


def _name_by(group: KernelGroup, stage: GroupBy, by: GroupBy) -> str:
    """Return what a group is called where groups are matched by this."""
    if stage is by or stage is GroupBy.NAME:
        return group.name
    return group.operator if stage is GroupBy.OPERATOR else short_name(group.name)


def _key_by(group: KernelGroup, stage: GroupBy, by: GroupBy) -> str:
    """Return by what a group is matched; "" where it has none."""
    if stage is by:
        return group.key
    if stage is GroupBy.SHORT_NAME and "<" not in group.name:
        return ""  # of what is no template, other parameters make another function
    name = _name_by(group, stage, by)
    return name and group_key(name, Grouping(stage), None, None, group.place)


def _is_one(groups: Sequence[KernelGroup], keys: Mapping[int, tuple[str, str]], key: tuple[str, str]) -> bool:
    """Return whether what one side has of a key is one kernel by its full name."""
    return len({groups[row].name for row, other_key in keys.items() if other_key == key}) == 1


def _called_as_before(
    before: tuple[KernelGroup, ...], after: tuple[KernelGroup, ...]
) -> tuple[KernelGroup, ...]:
    """Return the groups after; those whose names another demangler wrote have the names they had before.

    A name is found by a spelling that no other left over has; without parameters only those of templates,
    whose parameters follow from their arguments.
    """
    names_before, names_after = ({group.name for group in side} for side in (before, after))
    called: dict[str, str] = {}
    for form in (common_spelling, bare_spelling):
        unmatched = []
        for names in (
            names_before - names_after - set(called.values()),
            names_after - names_before - called.keys(),
        ):
            spelt: defaultdict[str, list[str]] = defaultdict(list)
            for name in names:
                spelt[form(name)].append(name)
            is_telling = {key: form is common_spelling or key.endswith(">") for key in spelt}
            unmatched.append(
                {key: same[0] for key, same in spelt.items() if len(same) == 1 and is_telling[key]}
            )
        called |= {unmatched[1][key]: unmatched[0][key] for key in unmatched[0].keys() & unmatched[1].keys()}
    renamed = []
    for group in after:
        name = called.get(group.name, group.name)
        renamed.append(replace(group, name=name, key=name + group.key[len(group.name) :]))
    return tuple(renamed)
