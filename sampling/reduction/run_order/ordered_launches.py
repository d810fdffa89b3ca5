"""The launches a reduction counts, in the order of the run: for what the order alone can show.

It holds N rows, so a profile of more than `MOST_LAUNCHES` is not looked at this way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Column, Part, Profile, Table
from sampling.reduction.duration_counts import DurationCounts, group_of_label
from sampling.reduction.short_launches import counted_rows

#: With more launches a second reading would take too long, and its columns too much memory.
MOST_LAUNCHES = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class OrderedLaunches:
    """The counted launches in id order; row i of every array of shape (n,) is one launch.

    Attributes
    ----------
    id : (n,) index in the whole profile, ascending.
    label : (n,) code of name, grid and block, or of the name alone where groups do not need shapes.
    group : (n,) index of the kernel group.
    duration_ns : (n,) nanoseconds.
    sequence : (s,) index into the profile's sequences of those that have launches here, ascending.
    edges : (s + 1,) sequence i has the rows ``edges[i]:edges[i + 1]``.
    """

    id: IntArray
    label: IntArray
    group: IntArray
    duration_ns: IntArray
    sequence: IntArray
    edges: IntArray

    def __len__(self) -> int:
        return len(self.id)


def read_in_order(profile: Profile, counts: DurationCounts) -> OrderedLaunches | None:
    """Read the launches that a reduction of the profile counts; None where they are too many."""
    if counts.launches > MOST_LAUNCHES:
        return None
    label: Column = "signature" if counts.grouping.needs_shape else "name"

    def read(part: Part) -> Table:
        return part.load((label, "duration_ns"))

    group_of = group_of_label(profile, counts)
    parts: list[tuple[AnyIntArray, ...]] = []
    for part, table in zip(counts.selected, ordered_map(read, counts.selected), strict=True):
        code, duration_ns = table[label], table["duration_ns"]
        group = group_of[part.sequence][code]
        kept = counted_rows(counts.region, group, duration_ns)
        if len(kept) < len(group):
            code, duration_ns, group = code[kept], duration_ns[kept], group[kept]
        sequence = np.full(len(kept), part.sequence)
        parts.append((part.ids(kept), code, group, duration_ns, sequence))
    ids, code, group, duration_ns, sequence = map(np.concatenate, zip(*parts, strict=True))
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    return OrderedLaunches(
        id=ids,
        label=code.astype(np.int64, copy=False),
        group=group,
        duration_ns=duration_ns.astype(np.int64, copy=False),
        sequence=sequence[starts],
        edges=np.append(starts, len(ids)),
    )
