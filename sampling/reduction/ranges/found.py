"""The iterations of a loop that are found in the order of a region's launches, as ranges of ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.profile import LaunchSequence, Profile
from sampling.progress import Progress
from sampling.reduction.iterations.iterations import MOST, find_iterations
from sampling.reduction.ranges.sums import kept_parts
from sampling.reduction.region import Region
from sampling.reduction.row_filters import RowFilters


@dataclass(frozen=True, slots=True, eq=False)
class FoundIterations:
    """The iterations of one process and device.

    Attributes
    ----------
    first_id, stop_id : (k,) each is the launches ``first_id:stop_id`` of which the region keeps any.
    """

    sequence: LaunchSequence
    first_id: IntArray
    stop_id: IntArray


def found_iterations(
    profile: Profile, region: Region, progress: Progress | None = None
) -> tuple[FoundIterations, ...]:
    """Return the iterations of each process and device that has a loop which most of its launches repeat.

    Launches are the same by name and shape, else by name alone. One launch again and again is no loop: it is
    a kernel group. It holds 12 bytes a launch.

    Raises
    ------
    EmptySelectionError, NotApplicableError : see `selections`.
    """
    filters = RowFilters(profile, region)
    parts = [(ids, signature) for ids, signature, _ in kept_parts(profile, region, filters, progress)]
    if not parts:
        return ()
    ids = np.concatenate([part[0] for part in parts])
    signature = np.concatenate([part[1] for part in parts])
    name_of = profile.kernels.signature_names()
    found = []
    for sequence in profile.sequences:
        first, stop = np.searchsorted(ids, (sequence.first_id, sequence.first_id + sequence.launches))
        own = signature[first:stop]
        for codes in (own, name_of[own]):
            iterations = find_iterations(codes, progress)
            if iterations is None or iterations.launches == 1:
                continue
            if iterations.equal_launches >= MOST * len(codes):
                begin = first + iterations.first
                last = ids[begin + iterations.launches - 1]
                found.append(FoundIterations(sequence, ids[begin], last + 1))
                break
    return tuple(found)
