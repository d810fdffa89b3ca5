"""Durations of another recording, in the order in which the launches of a plan's own recording are drawn."""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.parallel import ordered_map
from sampling.plan.pair_lookup import PairLookup
from sampling.profile.profile import Column, Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, group_of_label

_MOST_TOTAL_NS = 2.0**62
_ROW_BITS = 32


def all_durations_ns(profile: Profile, progress: Progress | None) -> IntArray:
    """Return (launches,) all durations of a profile, in id order."""
    spans = profile.spans
    durations_ns = np.empty(profile.launches, dtype=np.int64)
    batches = ordered_map(lambda index: profile.read(spans[index], ("duration_ns",)), range(len(spans)))
    for index, batch in enumerate(batches):
        first_id = profile.sequences[batch.span.sequence].first_id + batch.span.first_ordinal
        durations_ns[first_id : first_id + len(batch)] = batch["duration_ns"]
        if progress is not None:
            progress(index + 1, len(spans), "reading durations")
    return durations_ns


def checked_total_ns(durations_ns: IntArray, profile: Profile) -> int:
    """Return the sum of durations of a profile.

    Raises
    ------
    ProfileError : it is larger than any recording lasts.
    """
    if durations_ns.sum(dtype=np.float64) >= _MOST_TOTAL_NS:
        raise ProfileError(
            "the durations add up to more than any recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )
    return int(durations_ns.sum())


def durations_by_rank(original: Profile, counts: DurationCounts, durations_ns: IntArray) -> IntArray:
    """Return (n,) the other recording's durations of the launches that a reduction counts, by their ranks.

    Launches are ranked by (group, duration, id) in the plan's own recording, the order in which they are
    drawn; so the launches of a stratum, which is a range of pairs, follow each other.

    Parameters
    ----------
    counts : the reduction of the plan's own recording.
    durations_ns : (launches,) durations of the other recording, in id order.
    """
    label: Column = "signature" if counts.grouping.needs_shape else "name"
    groups_of = group_of_label(original, counts)
    group = np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets))
    lookup = PairLookup(group, counts.duration_ns)
    next_rank = counts.launches_before[:-1].copy()
    by_rank = np.empty(counts.launches, dtype=np.int64)
    for selection in counts.selected:
        batch = original.read(selection.span, (label, "duration_ns"))
        groups = groups_of[selection.span.sequence].take(batch[label][selection.rows])
        rows, pair = lookup.matches(groups, batch["duration_ns"][selection.rows])
        # One sort of (pair, row) in one number: several times faster than a stable argsort of the pairs.
        packed = (pair.astype(np.int64) << _ROW_BITS) | rows
        packed.sort()
        pair_of, row = packed >> _ROW_BITS, packed & ((1 << _ROW_BITS) - 1)
        first = np.flatnonzero(np.diff(pair_of, prepend=-1))
        launches = np.diff(first, append=len(packed))
        distinct = pair_of[first]
        rank = np.repeat(next_rank[distinct] - first, launches) + np.arange(len(packed))
        by_rank[rank] = durations_ns[selection.ids(row)]
        next_rank[distinct] += launches
    return by_rank
