"""Which launches form a kernel group: the key, and the groups it makes of a workload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.names import stem_script_name
from sampling.profile.profile import Dimensions, KernelTable, Profile
from sampling.reduction import GroupBy


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key of the kernel groups: what they share, and whether process and device are part of it."""

    by: GroupBy = GroupBy.LAUNCH
    pool_devices: bool = False

    @property
    def needs_shape(self) -> bool:
        """Whether grid and block are part of the key."""
        return self.by is GroupBy.LAUNCH


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """One kernel group. What its launches do not share is None."""

    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: int | None
    device: int | None


def group_table(
    profile: Profile, grouping: Grouping, raw_selected: BoolArray
) -> tuple[list[KernelGroup], IntArray]:
    """Return the groups of a reduction, and (raw codes,) the index of each one's; -1 where not selected.

    Parameters
    ----------
    raw_selected : (raw codes,) which raw codes count; raw code = label * sequences + sequence, label the
        signature code if the grouping needs shapes, else the name code.
    """
    # Raw codes go by label first, so one label serves all its sequences.
    label_of = lru_cache(maxsize=1)(_labeller(profile.kernels, grouping.by))
    group_of_raw = np.full(len(raw_selected), -1, dtype=np.int64)
    indices: dict[str, int] = {}
    groups: list[KernelGroup] = []
    for raw in np.flatnonzero(raw_selected).tolist():
        label, sequence_index = divmod(raw, len(profile.sequences))
        name, grid, block = label_of(label)
        sequence = profile.sequences[sequence_index]
        process, device = (None, None) if grouping.pool_devices else (sequence.process, sequence.device)
        key = group_key(name, grouping, grid, block, process, device)
        index = indices.setdefault(key, len(groups))
        if index == len(groups):
            groups.append(KernelGroup(key, name, grid, block, process, device))
        group_of_raw[raw] = index
    return groups, group_of_raw


def _labeller(
    kernels: KernelTable, by: GroupBy
) -> Callable[[int], tuple[str, Dimensions | None, Dimensions | None]]:
    names = kernels.names
    if by is GroupBy.LAUNCH:

        def of_signature(code: int) -> tuple[str, Dimensions | None, Dimensions | None]:
            signature = kernels.signature(code)
            return names.readable(signature.name), signature.grid, signature.block

        return of_signature
    if by is GroupBy.SHORT_NAME:
        return lambda code: (names.short(code), None, None)
    if by is GroupBy.STEM_SCRIPT:
        return lambda code: (stem_script_name(names.readable(code)), None, None)
    return lambda code: (names.readable(code), None, None)


def group_key(
    name: str,
    grouping: Grouping,
    grid: Dimensions | None,
    block: Dimensions | None,
    process: int | None,
    device: int | None,
) -> str:
    """Return the text that identifies a group.

    For example ``f(int) <<<8x1x1, 64x1x1>>> process 0 device 1``.
    """
    key = name
    if grouping.needs_shape:
        key += f" <<<{_dimensions(grid)}, {_dimensions(block)}>>>"
    if process is not None:
        key += f" process {process} device {device}"
    return key


@lru_cache(maxsize=4096)
def _dimensions(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))
