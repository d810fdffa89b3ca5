"""The reduction that all duration-based methods, charts and the app see: (kernel group, duration, count).

Each part packs group and duration of its launches into one number, sorts it and encodes its runs; parts merge
in the same way. Durations come from clocks of 32 ns to 1 us, so a million launches have some thousand
distinct pairs, and a profile larger than memory is reduced as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.errors import NotApplicableError, ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import Column, Dimensions, Part, Profile, Reduction, Table
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup, group_table
from sampling.reduction.region import (
    Excluded,
    Region,
    Selection,
    names_passing,
    nothing_left,
    region_selection,
    selected_parts,
)
from sampling.text import Wording

#: The share of the time that counts as most of it.
MOST = 0.8
#: Sequences of fewer launches are not said to be alike.
FEWEST_ALIKE = 20
# Parts are merged when they have as many pairs, and twice as many as were merged before.
_MERGED_FROM = 1 << 23


@dataclass(frozen=True, slots=True, eq=False)
class LaunchCost:
    """What a simulator pays for launches, which need not go with their time on the GPU: instructions."""

    metric: str
    #: In the metric's unit: (n,) of single launches, or (p,) the means of each pair's.
    values: FloatArray
    #: Whether plans are made and stated by it; if not, it is only told what they cost by it.
    is_objective: bool


@dataclass(frozen=True, eq=False)
class PairSignatures:
    """The distinct signatures (name, grid, block) of the launches of each pair, pair by pair."""

    #: (p + 1,) pair i has the codes ``offsets[i]:offsets[i + 1]``, ascending.
    offsets: IntArray
    codes: IntArray

    @cached_property
    def _changes(self) -> tuple[IntArray, IntArray]:
        """(p + 1,) how often the code changed up to each pair's first one, and to the last one before it."""
        changed = np.cumsum(np.diff(self.codes, prepend=self.codes[:1]) != 0)
        return np.append(changed, changed[-1:])[self.offsets], changed[self.offsets - 1]

    def are_several(self, start: IntArray, stop: IntArray) -> BoolArray:
        """Return whether the launches of each range ``start[i]:stop[i]`` of pairs have more than one."""
        first, last = self._changes
        return np.asarray((last[stop] > first[start]) & (start < stop))

    def numbers(self, start: IntArray, stop: IntArray) -> IntArray:
        """Return (s,) how many the launches of each range of pairs have."""
        first, many = self.offsets[start], self.offsets[stop] - self.offsets[start]
        range_of = np.repeat(np.arange(len(start)), many)
        rows = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
        width = int(self.codes.max(initial=0)) + 1
        distinct = np.unique(range_of * width + self.codes[rows])
        return np.bincount(distinct // width, minlength=len(start))


def pair_signatures(group: IntArray, duration_ns: IntArray, code: IntArray) -> PairSignatures:
    """Return the signatures of each distinct (group, duration), ascending; (n,) each, in any order."""
    bits = int(code.max(initial=0)).bit_length()
    if bits + int(duration_ns.max(initial=0)).bit_length() > 62:
        duration_ns = np.unique(duration_ns, return_inverse=True)[1]
    of_group, keys, _ = reduced(group, duration_ns.astype(np.int64) << bits | code)
    is_new = (np.diff(of_group, prepend=-1) != 0) | (np.diff(keys >> bits, prepend=-1) != 0)
    return PairSignatures(np.append(np.flatnonzero(is_new), len(keys)), keys & ((1 << bits) - 1))


@dataclass(frozen=True, eq=False)
class DurationCounts:
    """The launches of a workload by kernel group and duration.

    Groups are ordered by total duration, largest first (ties by key): a group's index + 1 is its rank.
    """

    #: What the groups share and which launches count.
    grouping: Grouping
    region: Region
    #: What the region selects, part by part; its filters of names and durations are not applied yet.
    selected: tuple[Part, ...]
    #: (g,) the kernel groups.
    groups: tuple[KernelGroup, ...]
    #: (g + 1,) group i has pairs ``offsets[i]:offsets[i + 1]``.
    offsets: IntArray
    #: (p,) durations, strictly ascending within a group, nanoseconds.
    duration_ns: IntArray
    #: (p,) launches with that duration.
    count: IntArray
    #: (raw codes,) see `grouping.group_table`; finds a launch's group in a second pass.
    group_of_raw: IntArray
    #: How many distinct full kernel names the launches have.
    names: int
    #: What the region's least duration leaves out; None where it sets none.
    left_out: Excluded | None = None
    #: (s,) the time of each process and device where all issue the same launches; empty where they do not.
    replica_times_ns: tuple[int, ...] = ()
    #: None where it is not known: launches then cost what they last.
    cost: LaunchCost | None = None
    #: Which signatures the launches of each pair have; None where they are part of the groups' key.
    signatures: PairSignatures | None = None

    @cached_property
    def launches_before(self) -> IntArray:
        """(p + 1,) launches in all earlier pairs."""
        return np.concatenate([[0], np.cumsum(self.count)])

    @cached_property
    def time_before_ns(self) -> IntArray:
        """(p + 1,) total duration of all earlier pairs, nanoseconds."""
        return np.concatenate([[0], np.cumsum(self.count * self.duration_ns)])

    @cached_property
    def cost_before(self) -> FloatArray | None:
        """(p + 1,) what all earlier pairs cost, in the unit of the cost; None where it is not known."""
        cost = self.cost
        return None if cost is None else np.concatenate([[0.0], np.cumsum(self.count * cost.values)])

    @cached_property
    def cumulative_cost_ns(self) -> IntArray | FloatArray:
        """(p + 1,) what plans pay for all earlier pairs: their duration, or the cost that decides.

        A cost is in nanoseconds of the launches' mean rate: all launches cost what they last.
        """
        if self.cost is None or self.cost_before is None or not self.cost.is_objective:
            return self.time_before_ns
        return np.asarray(self.cost_before * (self.total_duration_ns / self.cost_before[-1]))

    def with_cost(self, group: IntArray, duration_ns: IntArray, cost: LaunchCost) -> DurationCounts:
        """Return the reduction with what its launches cost; (n,) all of them, in any order."""
        # Sorted so, the launches of a pair stand together, and pairs in their order.
        of_pairs = np.add.reduceat(cost.values[np.lexsort((duration_ns, group))], self.launches_before[:-1])
        return replace(self, cost=replace(cost, values=of_pairs / self.count))

    @property
    def launches(self) -> int:
        """All launches."""
        return int(self.launches_before[-1])

    @property
    def total_duration_ns(self) -> int:
        """The duration of all launches together."""
        return int(self.time_before_ns[-1])

    @property
    def label(self) -> Column:
        """The column whose codes tell the groups apart."""
        return self.grouping.label

    @cached_property
    def pair_groups(self) -> IntArray:
        """(p,) the group of each pair."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.offsets))

    @cached_property
    def pair_signatures(self) -> PairSignatures:
        """The signatures of the launches of each pair."""
        if self.signatures is not None:
            return self.signatures
        code: dict[tuple[str, Dimensions | None, Dimensions | None], int] = {}
        codes = [code.setdefault((group.name, group.grid, group.block), len(code)) for group in self.groups]
        of_pairs = np.array(codes, dtype=np.int64)[self.pair_groups]
        return PairSignatures(np.arange(len(of_pairs) + 1), of_pairs)

    @cached_property
    def fold(self) -> tuple[DurationCounts, IntArray]:
        """The launches by groups that span processes and devices, and (g,) which of these each group is in.

        They are to look at, not to plan.
        """
        number: dict[KernelGroup, int] = {}
        part_of = np.array([number.setdefault(group.without_place, len(number)) for group in self.groups])
        total = np.zeros(len(number), dtype=np.int64)
        np.add.at(total, part_of, self.group_duration_ns)
        groups, rank = _by_rank(list(number), total)
        group_of = rank[part_of]
        counts = self.regrouped(groups, group_of)
        return replace(counts, grouping=replace(self.grouping, pool_devices=True)), group_of

    def regrouped(self, groups: Sequence[KernelGroup], group_of: IntArray) -> DurationCounts:
        """Return the launches by other groups, of which (g,) each group is in one; no cost, no signatures."""
        of_pair, duration_ns, count = reduced(group_of[self.pair_groups], self.duration_ns, self.count)
        return replace(
            self,
            groups=tuple(groups),
            offsets=np.searchsorted(of_pair, np.arange(len(groups) + 1)),
            duration_ns=duration_ns,
            count=count,
            # A raw code that is not selected stays so: its -1 finds the -1 at the end.
            group_of_raw=np.append(group_of, -1)[self.group_of_raw],
            cost=None,
            signatures=None,
        )

    def group_pairs(self, group: int) -> tuple[IntArray, IntArray]:
        """Return a group's distinct durations, ascending, and the launches of each."""
        rows = slice(int(self.offsets[group]), int(self.offsets[group + 1]))
        return self.duration_ns[rows], self.count[rows]

    @cached_property
    def group_launches(self) -> IntArray:
        """(g,) launches of each group."""
        return np.diff(self.launches_before[self.offsets])

    @cached_property
    def group_duration_ns(self) -> IntArray:
        """(g,) total duration of each group."""
        return np.diff(self.time_before_ns[self.offsets])

    @property
    def dominant_groups(self) -> int:
        """The fewest kernel groups that together hold `MOST` of the time; 0 where there is none."""
        total_ns = self.total_duration_ns
        return int(np.searchsorted(self.group_duration_ns.cumsum(), MOST * total_ns)) + 1 if total_ns else 0

    @cached_property
    def group_std_ns(self) -> FloatArray:
        """(g,) population standard deviation of each group's durations."""
        return range_std_ns(self, self.offsets[:-1], self.offsets[1:])


def clock_step_ns(durations_ns: IntArray, launches: IntArray) -> int:
    """Return the step of the clock the durations were taken with: 1000, 32 or 1 ns.

    Nsight Systems corrects for drift by up to 1 ns, so a step counts as met within 1 ns.
    """
    for step_ns, tolerance_ns in ((1000, 0), (32, 1)):
        rest = (durations_ns + tolerance_ns) % step_ns
        if launches[rest <= 2 * tolerance_ns].sum() >= 0.98 * launches.sum():
            return step_ns
    return 1


def with_half_steps(counts: DurationCounts) -> DurationCounts:
    """Return the launches with half a step of their clock for durations of 0, 1 ns at least.

    A launch that shows none takes some: at most as long as the shortest of its group that shows any.
    """
    is_zero = counts.duration_ns == 0
    if not is_zero.any():
        return counts
    half_ns = max(clock_step_ns(counts.duration_ns, counts.count) // 2, 1)
    # No other of a group is 0, so that the next pair is of its shortest duration, or of another group.
    longer_ns = np.append(counts.duration_ns[1:], half_ns)
    longer_ns[counts.offsets[1:] - 1] = half_ns
    return replace(counts, duration_ns=np.where(is_zero, np.minimum(half_ns, longer_ns), counts.duration_ns))


def range_std_ns(counts: DurationCounts, start: IntArray, stop: IntArray) -> FloatArray:
    """Return (s,) the population standard deviation of each range ``start[i]:stop[i]`` of pairs.

    Deviations are squared about each range's own mean: no cancellation.
    """
    launches = counts.launches_before[stop] - counts.launches_before[start]
    mean = (counts.time_before_ns[stop] - counts.time_before_ns[start]) / launches
    pairs = stop - start
    before = np.cumsum(pairs) - pairs
    rows = np.repeat(start - before, pairs) + np.arange(pairs.sum())
    deviation = counts.duration_ns[rows] - np.repeat(mean, pairs)
    squares = np.add.reduceat(counts.count[rows] * deviation**2, before)
    return np.asarray(np.sqrt(squares / launches))


def count_durations(
    profile: Profile,
    grouping: Grouping,
    region: Region | None = None,
    progress: Progress | None = None,
    selected: tuple[Part, ...] | None = None,
) -> DurationCounts:
    """Reduce a profile to its (group, duration, count).

    `EmptySelectionError`, which says the filter, where the region leaves no launch; `NotApplicableError`
    where groups are of operators and no launch has one. ``selected`` is what it selects, where that is known
    from another reduction of the profile.
    """
    region = region or Region()
    if selected is None:
        selected = selected_parts(profile, region)
    label, sequences = grouping.label, len(profile.sequences)
    if label == "operator" and label not in profile.columns:
        raise no_operators()
    # Codes of signatures stand for names too.
    reduced_before = None if label == "operator" else profile.find_reduced(selected)
    reduction = (
        reduce_parts(profile, label, selected, progress)
        if reduced_before is None
        else reduced_before.reduction
    )
    if label == "operator" and not any(profile.kernels.operators()[0]):
        raise no_operators()
    compared = reduction
    if sequences > 1 and label == "signature" and not grouping.needs_shape:
        compared = reduced(_raw_names(profile, reduction.code), reduction.duration_ns, reduction.launches)
    time_ns = replica_times_ns(*compared, sequences)
    if grouping.pool_devices is None:
        grouping = replace(grouping, pool_devices=len(time_ns) > 1)
    return replace(_grouped(profile, grouping, region, selected, reduction), replica_times_ns=time_ns)


def reduce_parts(
    profile: Profile, label: Column, selected: Sequence[Part], progress: Progress | None = None
) -> Reduction:
    """Return the distinct (raw code, duration) of parts, and how many launches have each."""
    waiting: list[Reduction] = []
    reductions = profile.map(partial(_reduced_part, label, len(profile.sequences)), selected)
    for part, reduction in zip(selected, reductions, strict=True):
        waiting.append(reduction)
        if sum(len(reduction.code) for reduction in waiting) > max(_MERGED_FROM, 2 * len(waiting[0].code)):
            waiting = [_merged(waiting)]
        if progress is not None:
            progress(part.stop_id, profile.launches, "reading")
    return _merged(waiting)


def _reduced_part(label: Column, sequences: int, part: Part) -> Reduction:
    table = part.load((label, "duration_ns"))
    code = table[label]
    raw = code if sequences == 1 else code.astype(np.int64) * sequences + part.sequence
    return reduced(raw, table["duration_ns"])


def replica_times_ns(
    raw: IntArray, duration_ns: IntArray, count: IntArray, sequences: int
) -> tuple[int, ...]:
    """Return the time of each sequence where all that have launches have every kernel equally often.

    Else, and of a single sequence, nothing. The arrays are a `Reduction` of raw codes.
    """
    first = np.flatnonzero(np.diff(raw, prepend=-1))
    launches, place = np.add.reduceat(count, first), raw[first] % sequences
    present = np.unique(place)
    # Raw codes go by label first: where every sequence has every label, they are a table of labels.
    if len(present) < 2 or len(first) % len(present):
        return ()
    shape = len(first) // len(present), len(present)
    of_labels = launches.reshape(shape)
    labels = (raw[first] // sequences).reshape(shape)
    if (labels != labels[:, :1]).any() or (of_labels != of_labels[:, :1]).any():
        return ()
    if of_labels[:, 0].sum() < FEWEST_ALIKE:
        return ()
    time_ns = np.add.reduceat(count * duration_ns, first).reshape(shape).sum(axis=0)
    return tuple(time_ns.tolist())


def no_operators() -> NotApplicableError:
    """Return the error for a profile that says no operator of any launch."""
    return NotApplicableError(
        Wording("`group_by=operator`: this profile names no operator of any launch"),
        remedy=Wording(
            "group by `group_by=name`, or record with the PyTorch profiler, CPU activities and "
            "record_shapes=True, or with Nsight Systems and NVTX ranges"
        ),
    )


def counts_by_name(profile: Profile, counts: DurationCounts) -> DurationCounts:
    """Return what `count_durations` finds for groups by name, from groups by launch: nothing is read again.

    Each of those groups lies in one process and device.
    """
    raw = np.flatnonzero(counts.group_of_raw >= 0)
    of_group = np.empty(len(counts.groups), dtype=np.int64)
    of_group[counts.group_of_raw[raw]] = raw
    reduction = reduced(of_group[counts.pair_groups], counts.duration_ns, counts.count)
    counts_of_names = _grouped(profile, Grouping(GroupBy.NAME), counts.region, counts.selected, reduction)
    return replace(counts_of_names, left_out=counts.left_out, replica_times_ns=counts.replica_times_ns)


def _raw_names(profile: Profile, raw: IntArray) -> IntArray:
    """Return (n,) the raw codes by name of raw codes by signature."""
    sequences, name_of = len(profile.sequences), profile.kernels.signature_names()
    return name_of[raw // sequences].astype(np.int64) * sequences + raw % sequences


def _grouped(
    profile: Profile, grouping: Grouping, region: Region, selected: tuple[Part, ...], reduction: Reduction
) -> DurationCounts:
    """Name the groups, drop what names and durations filter out, and order what is left."""
    raw, duration_ns, count = reduction
    refuse_endless(profile, float(np.dot(count.astype(np.float64), duration_ns.astype(np.float64))))
    label_of = np.arange(int(raw[-1]) + 1) // len(profile.sequences)
    signature_of = grouping.label_signatures(profile.kernels)[label_of]
    name_of = profile.kernels.signature_names()[signature_of]
    is_present = np.zeros(len(profile.kernels.names), dtype=np.bool_)
    is_present[name_of[raw]] = True
    is_kept, left_out = names_passing(profile, region, is_present)[name_of[raw]], None
    if region.min_duration_ns is not None:
        is_short = is_kept & (duration_ns < region.min_duration_ns)
        left_out = Excluded(int(count[is_short].sum()), int(np.dot(count[is_short], duration_ns[is_short])))
        if (is_short == is_kept).all():
            longest = f"the longest lasts {int(duration_ns[is_kept].max())} ns"
            raise nothing_left("min_duration_ns", region.min_duration_ns, longest)
        is_kept &= ~is_short
    raw, duration_ns, count = raw[is_kept], duration_ns[is_kept], count[is_kept]
    is_raw = np.zeros(len(name_of), dtype=np.bool_)
    is_raw[raw] = True
    groups, group_of_raw = group_table(profile, grouping, is_raw)
    total = np.zeros(len(groups), dtype=np.int64)
    np.add.at(total, group_of_raw[raw], count * duration_ns)
    groups_by_rank, rank = _by_rank(groups, total)
    rank = np.append(rank, -1)
    group, signatures = rank[group_of_raw[raw]], None
    if not grouping.needs_shape:
        signatures = pair_signatures(group, duration_ns, signature_of[raw].astype(np.int64))
    by_rank, duration_ns, count = reduced(group, duration_ns, count)
    return DurationCounts(
        grouping=grouping,
        region=region,
        selected=selected,
        groups=groups_by_rank,
        offsets=np.searchsorted(by_rank, np.arange(len(groups) + 1)),
        duration_ns=duration_ns,
        count=count,
        # A raw code that is not selected stays so: its -1 finds the -1 at the end.
        group_of_raw=rank[group_of_raw],
        names=len(np.unique(name_of[is_raw])),
        left_out=left_out,
        signatures=signatures,
    )


def _by_rank(groups: Sequence[KernelGroup], total_ns: IntArray) -> tuple[tuple[KernelGroup, ...], IntArray]:
    """Return groups by their total duration, largest first, ties by key, and (g,) the place of each."""
    ranked = sorted(range(len(groups)), key=lambda index: (-int(total_ns[index]), groups[index].key))
    rank = np.empty(len(groups), dtype=np.int64)
    rank[ranked] = np.arange(len(groups))
    return tuple(groups[index] for index in ranked), rank


def refuse_endless(profile: Profile, total_ns: float) -> None:
    """Raise ProfileError for a total that 64-bit integers could not hold."""
    if total_ns >= 2.0**62:
        raise ProfileError(
            f"the durations add up to {total_ns / 1e9:.3g} seconds, which no recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )


def reduced(code: AnyIntArray, duration_ns: AnyIntArray, count: IntArray | None = None) -> Reduction:
    """Return the distinct (code, duration), and how many launches have each.

    They are packed into one number and sorted: ten times as fast as by two keys. All are (n,) and at least 0;
    ``count`` says how many launches each stands for, None: one.
    """
    bits = int(duration_ns.max(initial=0)).bit_length()
    width = int(code.max(initial=0)).bit_length() + bits
    if width > 64:
        distinct_ns, place = np.unique(duration_ns, return_inverse=True)
        codes, places, launches = reduced(code, place, count)
        return Reduction(codes, distinct_ns[places].astype(np.int64), launches)
    kind = np.dtype(np.uint32 if width <= 32 else np.uint64)
    packed: NDArray[np.unsignedinteger] = code.astype(kind)
    packed <<= kind.type(bits)
    packed |= duration_ns.astype(kind)
    for_count = 0 if count is None else int(count.max(initial=0)).bit_length()
    if count is None:
        packed.sort()
    elif width + for_count <= 64:
        # Counts that fit beside the pairs are sorted with them: faster than by places.
        keys = packed.astype(np.uint64) << np.uint64(for_count) | count.astype(np.uint64)
        keys.sort()
        packed = keys >> np.uint64(for_count)
        count = (keys & np.uint64((1 << for_count) - 1)).astype(np.int64)
    else:
        order = np.argsort(packed)
        packed, count = packed[order], count[order]
    first = np.flatnonzero(np.concatenate([[True], packed[1:] != packed[:-1]]))
    many = np.diff(first, append=len(packed)) if count is None else np.add.reduceat(count, first)
    distinct = packed[first].astype(np.uint64)
    of_duration = distinct & np.uint64((1 << bits) - 1)
    distinct_codes = (distinct >> np.uint64(bits)).astype(np.int64)
    return Reduction(distinct_codes, of_duration.astype(np.int64), many)


def _merged(reductions: Sequence[Reduction]) -> Reduction:
    if len(reductions) == 1:
        return reductions[0]
    return reduced(*map(np.concatenate, zip(*reductions, strict=True)))


def label_groups(profile: Profile, counts: DurationCounts) -> list[IntArray]:
    """Return for each sequence (labels,) the kernel group of each code of ``counts.label``, -1: none."""
    labels = len(counts.grouping.label_signatures(profile.kernels))
    sequences = len(profile.sequences)
    padded = np.full(labels * sequences, -1, dtype=np.int64)
    padded[: len(counts.group_of_raw)] = counts.group_of_raw
    return [padded[sequence::sequences].copy() for sequence in range(sequences)]


def counted_launches(
    profile: Profile, counts: DurationCounts, columns: Sequence[Column], progress: Progress | None = None
) -> Iterator[tuple[Part, IntArray, Table]]:
    """Yield what a reduction counts, in id order: parts, the kernel group of each launch, and columns."""
    groups_of = label_groups(profile, counts)
    least_ns = counts.region.min_duration_ns
    names = tuple(dict.fromkeys((*columns, counts.label, *(() if least_ns is None else ("duration_ns",)))))
    items = [(part, groups_of[part.sequence]) for part in counts.selected]
    counted = profile.map(partial(_counted, names, counts.label, least_ns), items)
    for count, (part, group, table) in enumerate(counted):
        if part is not None:
            yield part, group, table
        if progress is not None:
            progress(count + 1, len(counts.selected), "looking at launches")


def _counted(
    columns: Sequence[Column], label: Column, least_ns: int | None, item: tuple[Part, IntArray]
) -> tuple[Part | None, IntArray, Table]:
    part, group_of = item
    table = part.load(columns)
    group = group_of.take(table[label])
    mask = group >= 0
    if least_ns is not None:
        mask &= table["duration_ns"] >= least_ns
    left = part.narrowed(mask)
    if left is part:
        return part, group, table
    return left, group[mask], {column: values[mask] for column, values in table.items()}


def counted_at_once(
    profile: Profile, counts: DurationCounts, columns: Sequence[Column], progress: Progress | None = None
) -> tuple[IntArray, ...]:
    """Return (n,) id, sequence and group of all launches that a reduction counts, by id, then columns."""
    parts = []
    for part, group, table in counted_launches(profile, counts, columns, progress):
        ids, sequence = part.ids(np.arange(len(group))), np.full(len(group), part.sequence)
        parts.append((ids, sequence, group, *(table[column] for column in columns)))
    return tuple(np.concatenate(column).astype(np.int64, copy=False) for column in zip(*parts, strict=True))


def counted_parts(profile: Profile, counts: DurationCounts) -> tuple[Part, ...]:
    """Return the launches that a reduction of this profile counts, in id order.

    Without a filter of names or durations nothing is read.
    """
    region = counts.region
    if not region.include and not region.exclude and region.min_duration_ns is None:
        return counts.selected
    return tuple(part for part, _, _ in counted_launches(profile, counts, ()))


def counts_selection(profile: Profile, counts: DurationCounts) -> Selection:
    """Return the selection of the launches that a reduction of a profile counts."""
    selected = counts.launches, counts.total_duration_ns
    return region_selection(counts.region, *selected, profile.launches, counts.left_out)
