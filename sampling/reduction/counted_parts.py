"""The launches that a reduction counts, part by part: what the filters of names and durations leave too."""

from __future__ import annotations

from functools import partial

import numpy as np

from sampling.arrays import IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Column, Part, Profile
from sampling.reduction.duration_counts import DurationCounts, group_of_label
from sampling.reduction.short_launches import counted_rows


def counted_parts(profile: Profile, counts: DurationCounts) -> tuple[Part, ...]:
    """Return the launches that a reduction of this profile counts, in id order.

    They are those that the region selects, without reading anything, where it has no filter of names or
    durations.
    """
    region = counts.region
    if not region.include and not region.exclude and region.min_duration_ns is None:
        return counts.selected
    narrowed = partial(_narrowed, counts, group_of_label(profile, counts))
    return tuple(each for each in ordered_map(narrowed, counts.selected) if each is not None)


def _narrowed(counts: DurationCounts, group_of: list[IntArray], part: Part) -> Part | None:
    """Return what is counted of a part; None where nothing is."""
    label: Column = "signature" if counts.grouping.needs_shape else "name"
    table = part.load((label, "duration_ns"))
    group = group_of[part.sequence][table[label]]
    inside = np.zeros(len(group), dtype=np.bool_)
    inside[counted_rows(counts.region, group, table["duration_ns"])] = True
    return part.narrowed(inside)
