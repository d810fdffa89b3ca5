"""The groups that a plan's strata divide: kernel groups, and pools of the small ones.

A small kernel group costs a plan a launch or two and tells little of the total. Those of a process and device
are one more group, a pool, whose strata span kernels. (docs/methods.md, 5 Joint)
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.reduction.duration_counts import DurationCounts, reduced
from sampling.reduction.grouping import KernelGroup

#: How the key of a pool begins; no kernel has such a name.
POOL_NAME = "(pooled kernels)"
# A plan looks at up to seven ways to pool; those of the plans before are not kept.
_MOST_KEPT = 8


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


_KEPT: WeakKeyDictionary[DurationCounts, OrderedDict[bytes, PlanGroups]] = WeakKeyDictionary()
# Plans of one reduction are made by several threads at once.
_KEPT_LOCK = threading.Lock()


def pooled(counts: DurationCounts, in_pool: BoolArray) -> PlanGroups:
    """Return the groups where some kernel groups (groups,) are pooled; the same ones for the same pool.

    A pool holds those of one process and device. One that would hold a single kernel group is none.
    """
    in_pool = in_pool & _has_company(counts, in_pool)
    if not in_pool.any():
        return unpooled(counts)
    key = np.packbits(in_pool).tobytes()
    with _KEPT_LOCK:
        kept = _KEPT.setdefault(counts, OrderedDict())
        groups = kept.pop(key, None) or _pooled(counts, in_pool)
        kept[key] = groups
        while len(kept) > _MOST_KEPT:
            kept.popitem(last=False)
    return groups


def _place(group: KernelGroup) -> tuple[int | None, int | None]:
    return group.process, group.device


def _has_company(counts: DurationCounts, in_pool: BoolArray) -> BoolArray:
    """Return (groups,) whether another kernel group would be in the same pool."""
    alone: dict[tuple[int | None, int | None], int] = {}
    company = np.zeros(len(in_pool), dtype=np.bool_)
    for group in np.flatnonzero(in_pool).tolist():
        first = alone.setdefault(_place(counts.groups[group]), group)
        company[[first, group]] = first != group or company[group]
    return company


def _pooled(counts: DurationCounts, in_pool: BoolArray) -> PlanGroups:
    own = np.flatnonzero(~in_pool)
    group_of = np.full(len(in_pool), -1, dtype=np.int64)
    group_of[own] = np.arange(len(own))
    pools: dict[tuple[int | None, int | None], int] = {}
    for group in np.flatnonzero(in_pool).tolist():
        group_of[group] = pools.setdefault(_place(counts.groups[group]), len(own) + len(pools))
    pair_group = group_of[counts.group_of_pairs]
    of_pair, duration_ns, count = reduced(pair_group, counts.duration_ns, counts.count)
    groups = (
        *(counts.groups[group] for group in own.tolist()),
        *(_pool(process, device) for process, device in pools),
    )
    cost = counts.cost
    if cost is not None:
        order = np.lexsort((counts.duration_ns, pair_group))
        ends = np.cumsum(counts.count[order])
        first = np.searchsorted(ends, np.concatenate([[0], np.cumsum(count)[:-1]]), side="right")
        of_pairs = np.add.reduceat((counts.count * cost.values)[order], first)
        cost = replace(cost, values=of_pairs / count)
    return PlanGroups(
        counts=replace(
            counts,
            cost=cost,
            groups=groups,
            offsets=np.searchsorted(of_pair, np.arange(len(groups) + 1)),
            duration_ns=duration_ns,
            count=count,
            # A raw code that is not selected stays so: its -1 finds the -1 at the end.
            group_of_raw=np.append(group_of, -1)[counts.group_of_raw],
        ),
        group_of=group_of,
        is_pool=np.arange(len(groups)) >= len(own),
        kernel_duration_ns=counts.group_duration_ns,
    )


def _pool(process: int | None, device: int | None) -> KernelGroup:
    return KernelGroup(pool_key(process, device), POOL_NAME, None, None, process, device)


def pool_key(process: int | None, device: int | None) -> str:
    """Return the text that identifies the pool of a process and device; None where devices are pooled."""
    return POOL_NAME if process is None else f"{POOL_NAME} process {process} device {device}"


def is_pool_key(key: str) -> bool:
    """Return whether a group's key is that of a pool."""
    return key == POOL_NAME or key.startswith(f"{POOL_NAME} process ")
