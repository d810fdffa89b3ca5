"""The counted launches one by one: what methods that look at single launches see, and what is known of each.

A list holds N rows, so only those methods build it; all that look at durations alone see `DurationCounts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.named_ranges import NamedRange
from sampling.profile.profile import KernelTable, Profile
from sampling.reduction.duration_counts import DurationCounts, LaunchCost, counted_at_once
from sampling.reduction.grouping import KernelGroup
from sampling.reduction.layers import Layers, find_layers


@dataclass(frozen=True, slots=True)
class BlockVectors:
    """How often each basic block ran in each launch, summed over warps; ragged, in the launches' order."""

    #: (n + 1,) launch i has the counts ``offsets[i]:offsets[i + 1]``; none where it has no vector.
    offsets: IntArray
    #: (c,) executions of basic block 0, 1, ... of the launch.
    counts: FloatArray
    #: (n,) warps of the launch, 0 where unknown.
    warps: IntArray


@dataclass(frozen=True, slots=True)
class Features:
    """Metrics of n launches, row i of every array is launch i."""

    #: Name -> (n,) values in base units (ns, byte, cycle, inst); NaN where a launch has none.
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    #: Name -> unit, for those that have one.
    units: Mapping[str, str] = field(default_factory=dict)
    #: None where no file supplied them.
    block_vectors: BlockVectors | None = None

    def first_present(self, names: tuple[str, ...]) -> str | None:
        """Return the first of the names that is a metric of at least one launch, None if none is."""
        return next(
            (name for name in names if name in self.metrics and not np.isnan(self.metrics[name]).all()), None
        )


@dataclass(frozen=True, slots=True)
class LaunchList:
    """The selected launches in id order; row i of every array (n,) is one launch."""

    #: Index in the whole profile, ascending.
    id: IntArray
    #: Index into the profile's sequences, a row of ``kernels.signature_rows()``, index of the kernel group.
    sequence: IntArray
    signature: IntArray
    group: IntArray
    duration_ns: IntArray
    kernels: KernelTable
    #: The kernel groups, largest total first.
    groups: tuple[KernelGroup, ...]
    #: Metrics and vectors of the launches, and what simulating each costs; None where that is not known.
    features: Features | None = None
    cost: LaunchCost | None = None
    #: The profile's `Profile.named_ranges`; None where there is no profile behind the list.
    ranges_named: Callable[[str], tuple[NamedRange, ...] | None] | None = None
    #: The ids of each sequence's first launch and of the profile's last one, selected or not.
    first_ids: tuple[int, ...] = (0,)
    last_id: int | None = None
    #: Finds the layers among them; None where there is no profile behind the list.
    find_layers: Callable[[], Layers | None] | None = None

    def __len__(self) -> int:
        return len(self.id)

    def shapes(self) -> IntArray:
        """Return (n, 7) name code, grid x, y, z and block x, y, z of each launch; 0 where unknown."""
        return np.asarray(self.kernels.signature_rows()[self.signature])


def list_launches(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> LaunchList:
    """Read the launches that a reduction of the profile counts, without features."""
    columns = counted_at_once(profile, counts, ("signature", "duration_ns"), progress)
    ids, sequence, group, signature, duration_ns = columns
    return LaunchList(
        ids,
        sequence,
        signature,
        group,
        duration_ns,
        kernels=profile.kernels,
        groups=counts.groups,
        ranges_named=profile.named_ranges,
        first_ids=profile.first_ids,
        last_id=profile.launches - 1,
        find_layers=partial(find_layers, profile, counts),
    )
