"""Which kernel groups of two reductions are the same kernel. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sampling.arrays import IntArray
from sampling.features.names import bare_spelling, common_spelling
from sampling.profile.profile import Dimensions
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup, group_key


class Status(StrEnum):
    """On which side a kernel has launches."""

    BOTH = "both"
    APPEARED = "appeared"
    VANISHED = "vanished"


@dataclass(frozen=True, slots=True)
class MatchedKernel:
    """One kernel of the two sides. What its launches do not share is None.

    Attributes
    ----------
    matched_by : what the launches of the two sides share; None for a kernel of one side alone.
    shapes_before, shapes_after : how many kernel groups it is on either side; more than one only where it is
        matched by name although the groups have shapes.
    """

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: int | None
    device: int | None
    status: Status
    matched_by: GroupBy | None
    shapes_before: int
    shapes_after: int


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """The kernels of both sides, in no particular order.

    Attributes
    ----------
    of_before, of_after : (groups of that side,) index into ``kernels`` of each kernel group.
    """

    kernels: tuple[MatchedKernel, ...]
    of_before: IntArray
    of_after: IntArray


def match_kernels(before: DurationCounts, after: DurationCounts) -> Matching:
    """Match the kernel groups of two reductions by their keys, and what is left over by name alone.

    Parameters
    ----------
    before, after : reductions by the same grouping.
    """
    by = before.grouping.by
    groups_after = _called_as_before(before, after)
    in_both = {group.key for group in before.groups} & {group.key for group in groups_after}
    names_left: set[str] = set()
    if before.grouping.needs_shape:
        names_left = _names_left(before.groups, in_both) & _names_left(groups_after, in_both)
    rows: dict[str, KernelGroup] = {}
    index_of: dict[str, int] = {}

    def index(group: KernelGroup) -> int:
        if group.key not in in_both and (name_key := _without_shape(group)) in names_left:
            group = KernelGroup(name_key, group.name, None, None, group.process, group.device)
        rows.setdefault(group.key, group)
        return index_of.setdefault(group.key, len(index_of))

    of_before, of_after = (
        np.fromiter(map(index, groups), dtype=np.int64, count=len(groups))
        for groups in (before.groups, groups_after)
    )
    shapes = [np.bincount(of, minlength=len(rows)).tolist() for of in (of_before, of_after)]
    kernels = (
        _matched(group, GroupBy.NAME if group.key in names_left else by, there, here)
        for group, there, here in zip(rows.values(), *shapes, strict=True)
    )
    return Matching(tuple(kernels), of_before, of_after)


def _called_as_before(before: DurationCounts, after: DurationCounts) -> tuple[KernelGroup, ...]:
    """Return the groups after; those whose names another demangler wrote have the names they had before."""
    there, here = ({group.name for group in side.groups} for side in (before, after))
    called: dict[str, str] = {}
    for form in (common_spelling, bare_spelling):
        of_before = _spelt_alone(there - here - set(called.values()), form)
        of_after = _spelt_alone(here - there - called.keys(), form)
        called |= {of_after[key]: of_before[key] for key in of_before.keys() & of_after.keys()}

    def renamed(group: KernelGroup) -> KernelGroup:
        name = called.get(group.name)
        return group if name is None else replace(group, name=name, key=name + group.key[len(group.name) :])

    return tuple(map(renamed, after.groups))


def _spelt_alone(names: set[str], form: Callable[[str], str]) -> dict[str, str]:
    """Return the names by a form that no other of them has.

    Without parameters only those of templates are told by it, whose parameters follow from their arguments.
    """
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(form(name), []).append(name)
    return {
        key: same[0]
        for key, same in spelt.items()
        if len(same) == 1 and (form is common_spelling or key.endswith(">"))
    }


def _names_left(groups: Sequence[KernelGroup], in_both: set[str]) -> set[str]:
    return {_without_shape(group) for group in groups if group.key not in in_both}


def _without_shape(group: KernelGroup) -> str:
    """Return the key that a group would have by name alone."""
    return group_key(group.name, Grouping(GroupBy.NAME), None, None, group.process, group.device)


def _matched(group: KernelGroup, by: GroupBy, before: int, after: int) -> MatchedKernel:
    status = Status.BOTH
    if not before or not after:
        status = Status.VANISHED if before else Status.APPEARED
    return MatchedKernel(
        key=group.key,
        name=group.name,
        grid=group.grid,
        block=group.block,
        process=group.process,
        device=group.device,
        status=status,
        matched_by=by if status is Status.BOTH else None,
        shapes_before=before,
        shapes_after=after,
    )
