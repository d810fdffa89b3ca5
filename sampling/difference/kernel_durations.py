"""The distinct durations of a kernel on one side of a difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.reduction.duration_counts import DurationCounts


@dataclass(frozen=True, slots=True, eq=False)
class KernelDurations:
    """The reduction of one side, and which kernel each of its groups belongs to.

    Attributes
    ----------
    of_kernel : (groups,) the index of a kernel of the difference.
    """

    counts: DurationCounts
    of_kernel: IntArray

    def of(self, kernel: int) -> tuple[IntArray, IntArray]:
        """Return (p,) distinct durations of a kernel, ascending, in nanoseconds, and the launches of each."""
        groups = np.flatnonzero(self.of_kernel == kernel).tolist()
        none = np.zeros(0, dtype=np.int64)
        pairs = [(none, none), *map(self.counts.group_pairs, groups)]
        if len(pairs) == 2:
            return pairs[1]
        durations_ns, launches = (np.concatenate(part) for part in zip(*pairs, strict=True))
        distinct_ns, place = np.unique(durations_ns, return_inverse=True)
        together = np.zeros(len(distinct_ns), dtype=np.int64)
        np.add.at(together, place, launches)
        return distinct_ns, together
