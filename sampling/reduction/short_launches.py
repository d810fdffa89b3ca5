"""The launches that are left out because they are too short, and how much that is.

Other filters choose what is looked at; this one makes the total smaller for all that is. So what it leaves
out is counted and said wherever its results are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.errors import EmptySelectionError
from sampling.text import Wording

if TYPE_CHECKING:
    from sampling.reduction.region import Region


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the least duration leaves out of the launches that the other filters keep.

    Attributes
    ----------
    launches : how many.
    total_duration_ns : of all of them.
    """

    launches: int
    total_duration_ns: int

    def share_of(self, kept_ns: int) -> float:
        """Return its share of the time, where launches that take ``kept_ns`` are kept."""
        return self.total_duration_ns / max(self.total_duration_ns + kept_ns, 1)


def long_enough(
    region: Region, duration_ns: IntArray, count: IntArray, others_keep: BoolArray
) -> tuple[BoolArray, LeftOut | None]:
    """Return (p,) which launches every filter keeps, and what the least duration leaves out of the others'.

    Parameters
    ----------
    duration_ns, count : (p,) durations, and how many launches have each.
    others_keep : (p,) whether the other filters keep them.

    Raises
    ------
    EmptySelectionError : none is left.
    """
    if region.min_duration_ns is None:
        return others_keep, None
    kept = others_keep & (duration_ns >= region.min_duration_ns)
    if not kept.any():
        raise too_long(region, int(duration_ns[others_keep].max()))
    short = others_keep & ~kept
    return kept, LeftOut(int(count[short].sum()), int(np.dot(count[short], duration_ns[short])))


def counted_rows(region: Region, group: IntArray, duration_ns: AnyIntArray) -> IntArray:
    """Return the rows of launches that a reduction counts, of those that its selections hold.

    Parameters
    ----------
    group : (n,) the kernel group of each launch, -1 where names leave it out.
    duration_ns : (n,) durations.
    """
    return np.flatnonzero((group >= 0) & (duration_ns >= (region.min_duration_ns or 0)))


def too_long(region: Region, longest_ns: int) -> EmptySelectionError:
    """Return the error that the least duration leaves nothing.

    Parameters
    ----------
    longest_ns : what the longest launch lasts that the other filters keep.
    """
    return EmptySelectionError(
        Wording(
            "`min_duration_ns={}` leaves no launch (the longest lasts {} ns)",
            region.min_duration_ns,
            longest_ns,
        ),
        remedy="durations are nanoseconds",
    )
