"""The launches that a reduction counts, span by span: what the filters of names and durations leave too."""

from __future__ import annotations

from functools import partial

import numpy as np

from sampling.arrays import IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Column, Profile
from sampling.reduction.duration_counts import DurationCounts, group_of_label
from sampling.reduction.selection import Selection
from sampling.reduction.short_launches import counted_rows


def counted_selections(profile: Profile, counts: DurationCounts) -> tuple[Selection, ...]:
    """Return the launches that a reduction of this profile counts, in id order.

    They are those that the region selects, without reading anything, where it has no filter of names or
    durations.
    """
    region = counts.region
    if not region.include and not region.exclude and region.min_duration_ns is None:
        return counts.selected
    narrowed = partial(_narrowed, profile, counts, group_of_label(profile, counts))
    return tuple(each for each in ordered_map(narrowed, counts.selected) if each is not None)


def _narrowed(
    profile: Profile, counts: DurationCounts, group_of: list[IntArray], selection: Selection
) -> Selection | None:
    """Return the part of a selection that is counted; None where there is none."""
    label: Column = "signature" if counts.grouping.needs_shape else "name"
    batch = profile.read(selection.span, (label, "duration_ns"))
    group = group_of[selection.span.sequence][batch[label][selection.rows]]
    inside = np.zeros(len(group), dtype=np.bool_)
    inside[counted_rows(counts.region, group, batch["duration_ns"][selection.rows])] = True
    return selection.narrowed(inside)
