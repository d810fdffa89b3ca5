"""Named ranges of a profile, as runs of rows of the selected launches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.profile import NamedRange
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class SelectedRanges:
    """Ranges of one sequence, in the order they open.

    Attributes
    ----------
    texts : (r,) their names.
    start, stop : (r,) each has the rows ``start:stop`` of the launch list; none where none is selected.
    launches : (r,) how many launches each has, selected or not.
    """

    texts: tuple[str, ...]
    start: IntArray
    stop: IntArray
    launches: IntArray

    @property
    def selected(self) -> IntArray:
        """(r,) how many launches of each are selected."""
        return self.stop - self.start


def selected_ranges(launches: LaunchList, ranges: tuple[NamedRange, ...]) -> dict[int, SelectedRanges]:
    """Return the ranges of every sequence that has both ranges and selected launches, by sequence."""
    present = set(np.unique(launches.sequence).tolist())
    found = {}
    for sequence in sorted({each.sequence for each in ranges} & present):
        own = [each for each in ranges if each.sequence == sequence]
        first = launches.first_ids[sequence]
        start = np.array([each.first_ordinal for each in own], dtype=np.int64)
        stop = np.array([each.stop_ordinal for each in own], dtype=np.int64)
        found[sequence] = SelectedRanges(
            texts=tuple(each.text for each in own),
            start=np.searchsorted(launches.id, first + start),
            stop=np.searchsorted(launches.id, first + stop),
            launches=stop - start,
        )
    return found
