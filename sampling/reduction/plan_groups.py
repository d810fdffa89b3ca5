"""The groups that a plan's strata divide: kernel groups, and pools of the small ones.

A small kernel group costs a plan a launch or two and tells little of the total. Those of a process and device
are one more group, a pool, whose strata span kernels. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.reduction.duration_counts import DurationCounts, PairSignatures, pair_signatures
from sampling.reduction.grouping import POOL_NAME, KernelGroup, pool_key


# Two are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False)
class PlanGroups:
    """A reduction by the groups of a plan; own groups by rank, then the pools."""

    #: The launches by group and duration. Its groups are kernel groups, or pools of them.
    counts: DurationCounts
    #: (kernel groups,) the group of ``counts`` that holds each kernel group.
    group_of: IntArray
    #: (groups,) whether it is a pool.
    is_pool: BoolArray
    #: (kernel groups,) the total duration of each.
    kernel_duration_ns: IntArray

    @property
    def pooled_kernels(self) -> BoolArray:
        """(kernel groups,) whether each is in a pool."""
        return self.is_pool[self.group_of]


def unpooled(counts: DurationCounts) -> PlanGroups:
    """Return every kernel group as a group of its own."""
    groups = len(counts.groups)
    return PlanGroups(counts, np.arange(groups), np.zeros(groups, dtype=np.bool_), counts.group_duration_ns)


def pooled(counts: DurationCounts, in_pool: BoolArray) -> PlanGroups:
    """Return the groups where some kernel groups (groups,) are pooled.

    A pool holds those of one process and device. One that would hold a single kernel group is none.
    """
    members: dict[str, list[int]] = {}
    for index in np.flatnonzero(in_pool).tolist():
        members.setdefault(counts.groups[index].place, []).append(index)
    pools = {place: of_place for place, of_place in members.items() if len(of_place) > 1}
    if not pools:
        return unpooled(counts)
    is_own = np.ones(len(in_pool), dtype=np.bool_)
    is_own[[index for of_place in pools.values() for index in of_place]] = False
    group_of, groups = np.cumsum(is_own) - 1, [counts.groups[index] for index in np.flatnonzero(is_own)]
    own_groups = len(groups)
    for place, of_place in pools.items():
        group_of[of_place] = len(groups)
        first = counts.groups[of_place[0]]
        groups.append(KernelGroup(pool_key(place), POOL_NAME, None, None, first.process, first.device))
    pair_group, cost = group_of[counts.pair_groups], counts.cost
    by_plan = counts.regrouped(groups, group_of)
    if cost is not None:
        order = np.lexsort((counts.duration_ns, pair_group))
        ends = np.cumsum(counts.count[order])
        begin = np.searchsorted(ends, by_plan.launches_before[:-1], side="right")
        of_pairs = np.add.reduceat((counts.count * cost.values)[order], begin)
        cost = replace(cost, values=of_pairs / by_plan.count)
    return PlanGroups(
        counts=replace(by_plan, cost=cost, signatures=_signatures(counts, pair_group, own_groups)),
        group_of=group_of,
        is_pool=np.arange(len(groups)) >= own_groups,
        kernel_duration_ns=counts.group_duration_ns,
    )


def _signatures(counts: DurationCounts, pair_group: IntArray, own_groups: int) -> PairSignatures:
    """Return the signatures of the pairs of a plan's groups (p,), of which so many are own; pools follow."""
    signatures = counts.pair_signatures
    codes, many = signatures.codes, np.diff(signatures.offsets)
    in_pool = pair_group >= own_groups
    of_pool = np.repeat(in_pool, many)
    group, duration_ns = (
        np.repeat(column[in_pool], many[in_pool]) for column in (pair_group, counts.duration_ns)
    )
    of_pools = pair_signatures(group, duration_ns, codes[of_pool])
    of_each = np.concatenate([many[~in_pool], np.diff(of_pools.offsets)])
    all_codes = np.concatenate([codes[~of_pool], of_pools.codes])
    return PairSignatures(np.concatenate([[0], np.cumsum(of_each)]), all_codes)
