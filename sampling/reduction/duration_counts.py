"""The reduction that all duration-based methods, charts and the app see: (kernel group, duration, count).

One pass over the column batches packs group and duration of every launch into one 64-bit key; the keys are
sorted once and run-length encoded. Durations come from clocks of 32 ns to 1 us, so a million launches have
some thousand distinct pairs. Reductions of parts merge, so a profile larger than memory is reduced as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.parallel import ordered_map
from sampling.profile.profile import Column, Part, Profile
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup, group_table
from sampling.reduction.region import Region, names_kept, selected_parts
from sampling.reduction.short_launches import LeftOut, long_enough

DURATION_BITS = 40  # 18 minutes in nanoseconds; 24 bits are left for 16 million groups
PART_LAUNCHES = 1 << 26  # 512 MiB of keys
_DROPPED = np.uint64(2**64 - 1)
RUN_BLOCK_LAUNCHES = 1 << 22


@dataclass(frozen=True, slots=True)
class Reduction:
    """Distinct (raw code, duration) pairs in ascending order, and how many launches have each; all (p,)."""

    raw: IntArray
    duration_ns: IntArray
    count: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LaunchCost:
    """What a simulator pays for launches, which need not go with their time on the GPU: instructions.

    Attributes
    ----------
    metric : its name.
    values : in the metric's unit: (n,) of single launches, or (p,) the means of each pair's.
    decides : whether plans are made and stated by it; if not, it is only told what they cost by it.
    """

    metric: str
    values: FloatArray
    decides: bool


@dataclass(frozen=True, eq=False)
class DurationCounts:
    """The launches of a workload by kernel group and duration.

    Groups are ordered by total duration, largest first (ties by key), or by launches where there are no
    durations: a group's index + 1 is its rank.

    Attributes
    ----------
    grouping, region : what the groups share and which launches count.
    selected : the launches that the region selects, part by part; its filters of names and durations are not
        applied yet.
    groups : (g,) the kernel groups.
    offsets : (g + 1,) group i has pairs ``offsets[i]:offsets[i + 1]``.
    duration_ns : (p,) durations, strictly ascending within a group, nanoseconds.
    count : (p,) launches with that duration.
    group_of_raw : (raw codes,) see `grouping.group_table`; finds a launch's group in a second pass.
    names : how many distinct full kernel names the launches have.
    left_out : what the region's least duration leaves out; None where it sets none.
    cost : None where it is not known: launches then cost what they last.
    """

    grouping: Grouping
    region: Region
    selected: tuple[Part, ...]
    groups: tuple[KernelGroup, ...]
    offsets: IntArray
    duration_ns: IntArray
    count: IntArray
    group_of_raw: IntArray
    names: int
    left_out: LeftOut | None = None
    cost: LaunchCost | None = None

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
        return (
            None if self.cost is None else np.concatenate([[0.0], np.cumsum(self.count * self.cost.values)])
        )

    @cached_property
    def paid_before_ns(self) -> IntArray | FloatArray:
        """(p + 1,) what plans pay for all earlier pairs: their duration, or the cost that decides.

        A cost is in nanoseconds of the launches' mean rate: all launches cost what they last.
        """
        if self.cost is None or self.cost_before is None or not self.cost.decides:
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

    @cached_property
    def group_std_ns(self) -> FloatArray:
        """(g,) population standard deviation of each group's durations."""
        return range_std_ns(self, self.offsets[:-1], self.offsets[1:])


def range_std_ns(counts: DurationCounts, start: IntArray, stop: IntArray) -> FloatArray:
    """Return (s,) the population standard deviation of each range ``start[i]:stop[i]`` of pairs.

    Deviations are squared about each range's own mean: no cancellation.
    """
    launches = counts.launches_before[stop] - counts.launches_before[start]
    mean = (counts.time_before_ns[stop] - counts.time_before_ns[start]) / launches
    pairs = stop - start
    rows = np.repeat(start - np.concatenate([[0], np.cumsum(pairs)[:-1]]), pairs) + np.arange(pairs.sum())
    deviation = counts.duration_ns[rows] - np.repeat(mean, pairs)
    squares = np.add.reduceat(counts.count[rows] * deviation**2, np.cumsum(pairs) - pairs)
    return np.asarray(np.sqrt(squares / launches))


def count_durations(
    profile: Profile,
    grouping: Grouping,
    region: Region | None = None,
    progress: Progress | None = None,
    selected: tuple[Part, ...] | None = None,
) -> DurationCounts:
    """Reduce a profile to its (group, duration, count).

    Parameters
    ----------
    selected : what the region selects, where that is known from another reduction of the profile.

    Raises
    ------
    EmptySelectionError : the region leaves no launch; says which filter emptied it.
    """
    region = region or Region()
    if selected is None:
        selected = selected_parts(profile, region)
    reduction = merged([_reduced_part(profile, grouping, part, progress) for part in _batches(selected)])
    return _grouped(profile, grouping, region, selected, reduction)


def counts_by_name(profile: Profile, counts: DurationCounts) -> DurationCounts:
    """Return what `count_durations` finds for groups by name, from groups by launch: nothing is read again.

    Parameters
    ----------
    counts : of groups that lie in one process and device each.
    """
    sequences, name_of = len(profile.sequences), profile.kernels.signature_names()
    raw = np.flatnonzero(counts.group_of_raw >= 0)
    by_name = np.empty(len(counts.groups), dtype=np.int64)
    by_name[counts.group_of_raw[raw]] = name_of[raw // sequences] * sequences + raw % sequences
    pairs = np.repeat(by_name, np.diff(counts.offsets))
    reduction = merged([Reduction(pairs, counts.duration_ns, counts.count)])
    found = _grouped(profile, Grouping(GroupBy.NAME), counts.region, counts.selected, reduction)
    return replace(found, left_out=counts.left_out)


def group_of_label(profile: Profile, counts: DurationCounts) -> list[IntArray]:
    """Return for each sequence (labels,) the kernel group of each label code, -1 where it has none.

    Label codes are signature codes where the grouping needs shapes, else name codes.
    """
    labels = len(profile.kernels) if counts.grouping.needs_shape else len(profile.kernels.names)
    sequences = len(profile.sequences)
    padded = np.full(labels * sequences, -1, dtype=np.int64)
    padded[: len(counts.group_of_raw)] = counts.group_of_raw
    return [padded[sequence::sequences].copy() for sequence in range(sequences)]


def _batches(selected: Sequence[Part]) -> Iterator[list[Part]]:
    """Cut the parts into runs whose keys fit the memory set aside for them."""
    part: list[Part] = []
    launches = 0
    for selection in selected:
        if part and launches + selection.launches > PART_LAUNCHES:
            yield part
            part, launches = [], 0
        part.append(selection)
        launches += selection.launches
    yield part


def _reduced_part(
    profile: Profile, grouping: Grouping, part: Sequence[Part], progress: Progress | None
) -> Reduction:
    ends = np.cumsum([selection.launches for selection in part])
    keys = np.empty(ends[-1], dtype=np.uint64)
    label: Column = "signature" if grouping.needs_shape else "name"

    def pack(index: int) -> Reduction | None:
        selection = part[index]
        table = selection.load((label, "duration_ns"))
        raw = _raw_codes(table[label], selection.sequence, profile)
        duration_ns = table["duration_ns"]
        room = keys[ends[index] - selection.launches : ends[index]]
        if fits(raw, duration_ns):
            np.bitwise_or(
                raw.astype(np.uint64) << np.uint64(DURATION_BITS), duration_ns.view(np.uint64), out=room
            )
            return None
        room[:] = _DROPPED
        return reduce_by_two_keys(raw, duration_ns)

    reductions = []
    for index, wide in enumerate(ordered_map(pack, range(len(part)))):
        if wide is not None:
            reductions.append(wide)
        if progress is not None:
            progress(part[index].stop_id, profile.launches, "reading")
    keys.sort()
    return merged([_run_lengths(keys), *reductions])


def _raw_codes(label: AnyIntArray, sequence: int, profile: Profile) -> IntArray:
    codes = label.astype(np.int64)
    codes *= len(profile.sequences)
    codes += sequence
    return codes


def fits(raw: IntArray, duration_ns: AnyIntArray) -> bool:
    """Return whether every (raw code, duration) fits one 64-bit key; the largest key is kept free."""
    return bool(duration_ns.max() < (1 << DURATION_BITS) and raw.max() < (1 << (64 - DURATION_BITS)) - 1)


def reduce_by_two_keys(raw: IntArray, duration_ns: AnyIntArray) -> Reduction:
    """Reduce launches whose codes or durations are too large for one key: the same result, by two keys."""
    return merged([Reduction(raw, duration_ns.astype(np.int64), np.ones(len(raw), dtype=np.int64))])


def merged(reductions: Sequence[Reduction]) -> Reduction:
    """Return the reduction of all that the given ones reduce."""
    filled = [reduction for reduction in reductions if len(reduction.raw)]
    if len(filled) == 1 and _strictly_ascending(filled[0]):
        return filled[0]
    raw = np.concatenate([reduction.raw for reduction in filled])
    duration_ns = np.concatenate([reduction.duration_ns for reduction in filled])
    count = np.concatenate([reduction.count for reduction in filled])
    order = np.lexsort((duration_ns, raw))
    raw, duration_ns = raw[order], duration_ns[order]
    first = np.flatnonzero(np.append(True, (raw[1:] != raw[:-1]) | (duration_ns[1:] != duration_ns[:-1])))
    return Reduction(raw[first], duration_ns[first], np.add.reduceat(count[order], first))


def _strictly_ascending(reduction: Reduction) -> bool:
    raw, duration_ns = reduction.raw, reduction.duration_ns
    rises = (raw[1:] > raw[:-1]) | ((raw[1:] == raw[:-1]) & (duration_ns[1:] > duration_ns[:-1]))
    return bool(rises.all())


def _run_lengths(keys: NDArray[np.uint64]) -> Reduction:
    """Run-length encode sorted keys; overwrites their array, block by block, to need no second one."""
    keys = keys[: np.searchsorted(keys, _DROPPED)]
    starts: list[IntArray] = []
    kept = 0
    last: np.uint64 | None = None
    for block_start in range(0, len(keys), RUN_BLOCK_LAUNCHES):
        block = keys[block_start : block_start + RUN_BLOCK_LAUNCHES]
        is_new = np.empty(len(block), dtype=np.bool_)
        is_new[0] = last is None or block[0] != last
        np.not_equal(block[1:], block[:-1], out=is_new[1:])
        last = block[-1]
        found = np.flatnonzero(is_new)
        distinct = block[found]
        keys[kept : kept + len(found)] = distinct
        kept += len(found)
        starts.append(found + block_start)
    bounds = np.concatenate([*starts, [len(keys)]]) if starts else np.zeros(1, dtype=np.int64)
    distinct = keys[:kept]
    return Reduction(
        raw=(distinct >> np.uint64(DURATION_BITS)).astype(np.int64),
        duration_ns=(distinct & np.uint64((1 << DURATION_BITS) - 1)).astype(np.int64),
        count=np.diff(bounds),
    )


def _grouped(
    profile: Profile,
    grouping: Grouping,
    region: Region,
    selected: tuple[Part, ...],
    reduction: Reduction,
) -> DurationCounts:
    """Name the groups, drop what names and durations filter out, and order what is left."""
    _refuse_overflow(profile, reduction)
    named = _raw_of_kept_names(profile, grouping, region, reduction)
    is_long, left_out = long_enough(region, reduction.duration_ns, reduction.count, named[reduction.raw])
    selected_raw = np.zeros_like(named)
    selected_raw[reduction.raw[is_long]] = True
    table = group_table(profile, grouping, selected_raw)
    group = np.where(is_long, table.group_of_raw[reduction.raw], -1)
    total = np.zeros(len(table.groups), dtype=np.int64)
    np.add.at(total, group[group >= 0], (reduction.count * reduction.duration_ns)[group >= 0])
    ranked = sorted(range(len(table.groups)), key=lambda index: (-int(total[index]), table.groups[index].key))
    rank = np.empty(len(ranked) + 1, dtype=np.int64)
    rank[ranked] = np.arange(len(ranked))
    rank[-1] = -1
    kept = group >= 0
    by_rank = merged([Reduction(rank[group[kept]], reduction.duration_ns[kept], reduction.count[kept])])
    return DurationCounts(
        grouping=grouping,
        region=region,
        selected=selected,
        groups=tuple(table.groups[index] for index in ranked),
        offsets=np.searchsorted(by_rank.raw, np.arange(len(ranked) + 1)),
        duration_ns=by_rank.duration_ns,
        count=by_rank.count,
        group_of_raw=rank[table.group_of_raw],
        names=_distinct_names(profile, grouping, table.group_of_raw),
        left_out=left_out,
    )


def _distinct_names(profile: Profile, grouping: Grouping, group_of_raw: IntArray) -> int:
    label = np.flatnonzero(group_of_raw >= 0) // len(profile.sequences)
    return len(np.unique(profile.kernels.signature_names()[label] if grouping.needs_shape else label))


def _refuse_overflow(profile: Profile, reduction: Reduction) -> None:
    total_ns = float(np.dot(reduction.count.astype(np.float64), reduction.duration_ns.astype(np.float64)))
    if total_ns >= 2.0**62:
        raise ProfileError(
            f"the durations add up to {total_ns / 1e9:.3g} seconds, which no recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )


def _raw_of_kept_names(
    profile: Profile, grouping: Grouping, region: Region, reduction: Reduction
) -> BoolArray:
    """Return (raw codes,) whether there are launches of a raw code and the name filters keep them."""
    raw_codes = int(reduction.raw[-1]) + 1
    present = np.zeros(raw_codes, dtype=np.bool_)
    present[reduction.raw] = True
    label = np.arange(raw_codes) // len(profile.sequences)
    name = profile.kernels.signature_names()[label] if grouping.needs_shape else label
    names_present = np.zeros(len(profile.kernels.names), dtype=np.bool_)
    names_present[name[present]] = True
    kept: BoolArray = present & names_kept(profile, region, names_present)[name]
    return kept
