"""Which launches form a kernel group: the key, and the groups it makes of a workload."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

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
    shared = lru_cache(maxsize=1)(partial(_shared, profile.kernels, grouping.by))
    group_of_raw = np.full(len(raw_selected), -1, dtype=np.int64)
    groups: dict[str, KernelGroup] = {}
    indices: dict[str, int] = {}
    for raw in np.flatnonzero(raw_selected).tolist():
        label, index = divmod(raw, len(profile.sequences))
        name, grid, block = shared(label)
        sequence = profile.sequences[index]
        process, device = (None, None) if grouping.pool_devices else (sequence.process, sequence.device)
        key = group_key(name, grouping, grid, block, process, device)
        group_of_raw[raw] = indices.setdefault(key, len(indices))
        groups.setdefault(key, KernelGroup(key, name, grid, block, process, device))
    return list(groups.values()), group_of_raw


def _shared(
    kernels: KernelTable, by: GroupBy, label: int
) -> tuple[str, Dimensions | None, Dimensions | None]:
    """Return name, grid and block of a group from the code of a signature or name."""
    names = kernels.names
    if by is GroupBy.LAUNCH:
        signature = kernels.signature(label)
        return names.readable(signature.name), signature.grid, signature.block
    if by is GroupBy.SHORT_NAME:
        return names.short(label), None, None
    name = names.readable(label)
    return stem_script_name(name) if by is GroupBy.STEM_SCRIPT else name, None, None


def group_key(
    name: str,
    grouping: Grouping,
    grid: Dimensions | None,
    block: Dimensions | None,
    process: int | None,
    device: int | None,
) -> str:
    """Return the text that identifies a group: ``f(int) <<<8x1x1, 64x1x1>>> process 0 device 1``."""
    key = name
    if grouping.needs_shape:
        key += f" <<<{_dimensions(grid)}, {_dimensions(block)}>>>"
    if process is not None:
        key += f" process {process} device {device}"
    return key


@lru_cache(maxsize=4096)
def _dimensions(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))
