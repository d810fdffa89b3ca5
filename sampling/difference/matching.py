"""Which kernel groups of two recordings are the same kernel. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum

import numpy as np

from sampling.arrays import IntArray
from sampling.features.names import bare_spelling, common_spelling
from sampling.profile.names import short_name
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup, group_key

#: Groupings that tell kernels apart by their names, which other GPUs and versions of libraries have not.
BY_KERNEL = (GroupBy.LAUNCH, GroupBy.NAME)


class Status(StrEnum):
    """On which side a kernel has launches."""

    BOTH = "both"
    APPEARED = "appeared"
    VANISHED = "vanished"


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

    def is_of_others(self, by: GroupBy) -> bool:
        """Return whether it is other kernels on the two sides, of one operator or function."""
        return self.matched_by not in (None, by, GroupBy.NAME)


def matched_kernels(
    before: Sequence[KernelGroup], after: Sequence[KernelGroup], by: GroupBy
) -> tuple[tuple[MatchedKernel, ...], tuple[IntArray, IntArray]]:
    """Return the kernels of both sides in no particular order, and which of them each side's groups are.

    Groups of the same operator are matched by their keys, then by name alone, then whatever the kernel. What
    is left over is matched by key, then by name alone, then by the name of the function where either side has
    one kernel of it left. (A kernel serves this operator on one GPU and that one on the next.)
    """
    sides = (before, _called_as_before(before, after))
    stages = [(by, False)]
    if by in BY_KERNEL:
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


def _called_as_before(before: Sequence[KernelGroup], after: Sequence[KernelGroup]) -> tuple[KernelGroup, ...]:
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
