"""How many launches a region keeps before some ids, and how long they last: one pass over the profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.parallel import ordered_map
from sampling.profile.profile import Batch, Column, Profile
from sampling.progress import Progress
from sampling.reduction.region import Region, selections
from sampling.reduction.row_filters import KeptRows, RowFilters
from sampling.reduction.selection import Selection


@dataclass(frozen=True, slots=True, eq=False)
class SumsBefore:
    """What is kept of the launches before each of some ids; all arrays (b,).

    Attributes
    ----------
    bounds : the ids, ascending.
    launches, duration_ns : how many are kept of those before each, and how long they last together.
    next_id, last_id : the first that is kept from there on, and the last before; -1 where there is none.
    kept : what is kept in all.
    """

    bounds: IntArray
    launches: IntArray
    duration_ns: IntArray
    next_id: IntArray
    last_id: IntArray
    kept: KeptRows


def sums_before(
    profile: Profile, region: Region, bounds: IntArray, progress: Progress | None = None
) -> SumsBefore:
    """Count what a region keeps before some ids (b,), ascending.

    Raises
    ------
    EmptySelectionError : the region leaves no launch; says which filter emptied it.
    NotApplicableError : the profile lacks what the region asks for.
    """
    filters = RowFilters(profile, region)
    launches, total_ns, next_id, last_id = np.zeros((4, len(bounds)), dtype=np.int64)
    next_id[:] = last_id[:] = -1
    done = before = before_ns = 0
    last = -1
    for ids, _, duration_ns in kept_parts(profile, region, filters, progress):
        stop = int(np.searchsorted(bounds, ids[-1], side="right"))
        here = np.searchsorted(ids, bounds[done:stop])
        sums_ns = np.concatenate([[0], np.cumsum(duration_ns)])
        launches[done:stop] = before + here
        total_ns[done:stop] = before_ns + sums_ns[here]
        next_id[done:stop] = ids[here]
        last_id[done:stop] = np.where(here > 0, ids[here - 1], last)
        done, before, before_ns, last = stop, before + len(ids), before_ns + int(sums_ns[-1]), int(ids[-1])
    launches[done:], total_ns[done:], last_id[done:] = before, before_ns, last
    return SumsBefore(bounds, launches, total_ns, next_id, last_id, filters.total())


def kept_parts(
    profile: Profile, region: Region, filters: RowFilters, progress: Progress | None = None
) -> Iterator[tuple[IntArray, AnyIntArray, AnyIntArray]]:
    """Yield ids, signature codes and durations of what is kept, part by part in id order; none is empty.

    Raises
    ------
    EmptySelectionError, NotApplicableError : see `selections`.
    """
    chosen = selections(profile, region)
    columns: tuple[Column, ...] = ("signature", "duration_ns")

    def read(selection: Selection) -> Batch:
        return profile.read(selection.span, columns)

    for number, (selection, batch) in enumerate(zip(chosen, ordered_map(read, chosen), strict=True)):
        signature = batch["signature"][selection.rows]
        duration_ns = batch["duration_ns"][selection.rows].astype(np.int64)
        kept = filters.kept(profile.kernels.signature_names()[signature], duration_ns)
        if progress is not None:
            progress(number + 1, len(chosen), "adding up ranges")
        if kept.any():
            yield selection.ids(np.flatnonzero(kept)), signature[kept], duration_ns[kept]
