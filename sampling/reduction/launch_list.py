"""The selected launches one by one: what methods that look at single launches see.

It holds N rows, so only those methods build it; all that look at durations alone see `DurationCounts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.named_ranges import NamedRange
from sampling.profile.profile import Column, KernelTable, Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, LaunchCost, group_of_label
from sampling.reduction.grouping import KernelGroup
from sampling.reduction.launch_features import Features
from sampling.reduction.short_launches import counted_rows


@dataclass(frozen=True, slots=True)
class LaunchList:
    """The selected launches in id order; row i of every array is one launch.

    Attributes
    ----------
    id : (n,) index in the whole profile, ascending.
    sequence : (n,) index into the profile's sequences, one for each process and device.
    signature : (n,) code of name, grid and block: a row of ``kernels.signature_rows()``.
    group : (n,) index of the kernel group.
    duration_ns : (n,) nanoseconds.
    kernels : names and signatures behind the codes.
    groups : the kernel groups, largest total first.
    features : metrics and vectors of the launches, row by row; None where no file gave any.
    cost : what simulating each launch costs; None where that is not known.
    ranges_named : the profile's `Profile.named_ranges`; None where there is no profile behind the list.
    first_ids : the id of the first launch of each sequence, selected or not.
    last_id : the id of the profile's last launch, selected or not; None where it is not known.
    """

    id: IntArray
    sequence: IntArray
    signature: IntArray
    group: IntArray
    duration_ns: IntArray
    kernels: KernelTable
    groups: tuple[KernelGroup, ...]
    features: Features | None = None
    cost: LaunchCost | None = None
    ranges_named: Callable[[str], tuple[NamedRange, ...] | None] | None = None
    first_ids: tuple[int, ...] = (0,)
    last_id: int | None = None

    def __len__(self) -> int:
        return len(self.id)

    def shapes(self) -> IntArray:
        """Return (n, 7) name code, grid x, y, z and block x, y, z of each launch; 0 where unknown."""
        return np.asarray(self.kernels.signature_rows()[self.signature])


def list_launches(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> LaunchList:
    """Read the launches that a reduction counts, without features.

    Parameters
    ----------
    counts : the reduction of this profile; its region and groups are the list's.
    """
    label: Column = "signature" if counts.grouping.needs_shape else "name"
    columns: tuple[Column, ...] = ("duration_ns", *dict.fromkeys((label, "signature")))
    # Reading interns names and signatures, so codes are looked up once all is read.
    batches = []
    for done, selection in enumerate(counts.selected):
        batches.append((selection, selection.load(columns)))
        if progress is not None:
            progress(done + 1, len(counts.selected), "listing launches")
    group_of = group_of_label(profile, counts)
    parts = []
    for selection, values in batches:
        group = group_of[selection.sequence][values[label]]
        kept = counted_rows(counts.region, group, values["duration_ns"])
        parts.append(
            (
                selection.ids(kept),
                np.full(len(kept), selection.sequence),
                values["signature"][kept].astype(np.int64),
                group[kept],
                values["duration_ns"][kept].astype(np.int64),
            )
        )
    launch_id, sequence, signature, of_group, duration_ns = map(np.concatenate, zip(*parts, strict=True))
    return LaunchList(
        id=launch_id,
        sequence=sequence,
        signature=signature,
        group=of_group,
        duration_ns=duration_ns,
        kernels=profile.kernels,
        groups=counts.groups,
        ranges_named=profile.named_ranges,
        first_ids=tuple(each.first_id for each in profile.sequences),
        last_id=profile.launches - 1,
    )
