"""The iteration as a range that the program named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import NotApplicableError
from sampling.methods.single_iteration.iteration import Iteration
from sampling.methods.single_iteration.options import GIVE_IDS, NAME, Options
from sampling.profile.range_runs import NamedRange
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class _SelectedRanges:
    """Named ranges of one process and device, in the order they open.

    Attributes
    ----------
    texts : (r,) their names.
    start, stop : (r,) the rows ``start:stop`` of the launch list are in the range; none if start = stop.
    launches : (r,) how many launches each has, selected or not.
    """

    texts: tuple[str, ...]
    start: IntArray
    stop: IntArray
    launches: IntArray

    @property
    def selected(self) -> IntArray:
        """(r,) how many launches of each range are selected."""
        return self.stop - self.start


def iterations_of_ranges(launches: LaunchList, text: str, options: Options) -> list[Iteration]:
    """Return the iteration of each process and device that has one."""
    ranges = _ranges(launches, text)
    exact, occurrence = ranges[0].text == text, options.occurrence or 0
    if not exact and options.iterations is None:
        raise NotApplicableError(
            f"no range is named exactly {text!r}, but {len(ranges):,} contain it, {ranges[0].text!r} first, "
            "so it is not known how many iterations there are",
            remedy=f"set {NAME}.iterations too",
        )
    of_sequence = _selected_ranges(launches, ranges)
    found = []
    for sequence, own in of_sequence.items():
        if occurrence < len(own.texts) and own.selected[occurrence] > 0:
            found.append(_of_sequence(own, options, sequence if len(of_sequence) > 1 else None))
    if not found:
        most = max((len(own.texts) for own in of_sequence.values()), default=0)
        raise NotApplicableError(
            f"no launch of range {text!r}, occurrence {occurrence}, is selected",
            remedy=f"there are {most} of it among the selected processes and devices, counted from 0",
        )
    return found


def _selected_ranges(launches: LaunchList, ranges: tuple[NamedRange, ...]) -> dict[int, _SelectedRanges]:
    """Return the ranges of every sequence that has both ranges and selected launches, by sequence."""
    present = set(np.unique(launches.sequence).tolist())
    found = {}
    for sequence in sorted({each.sequence for each in ranges} & present):
        own = [each for each in ranges if each.sequence == sequence]
        first = launches.first_ids[sequence]
        start = np.array([each.first_ordinal for each in own], dtype=np.int64)
        stop = np.array([each.stop_ordinal for each in own], dtype=np.int64)
        found[sequence] = _SelectedRanges(
            texts=tuple(each.text for each in own),
            start=np.searchsorted(launches.id, first + start),
            stop=np.searchsorted(launches.id, first + stop),
            launches=stop - start,
        )
    return found


def _ranges(launches: LaunchList, text: str) -> tuple[NamedRange, ...]:
    ranges = None if launches.ranges_named is None else launches.ranges_named(text)
    if ranges is None:
        raise NotApplicableError(f"{NAME} finds no named ranges in this format", remedy=GIVE_IDS)
    if not ranges:
        raise NotApplicableError(
            f"no launch was issued during a range whose name contains {text!r}",
            remedy=f"set {NAME}.range to the name of another, or {GIVE_IDS}",
        )
    return ranges


def _of_sequence(own: _SelectedRanges, options: Options, sequence: int | None) -> Iteration:
    """Return one iteration; ``sequence`` tells it from those of others, where there are others."""
    chosen = options.occurrence or 0
    # A range the selection leaves nothing of adds nothing to the total either.
    counted = float((own.selected > 0).sum()) if options.iterations is None else options.iterations
    label = f"range {own.texts[chosen]!r}"
    return Iteration(
        start=int(own.start[chosen]),
        stop=int(own.stop[chosen]),
        missing=int(own.launches[chosen] - own.selected[chosen]),
        iterations=counted,
        stands_for=_covered(own),
        label=label if sequence is None else f"{label} of process and device number {sequence + 1}",
    )


def _covered(own: _SelectedRanges) -> IntArray:
    """Return the rows inside any of the ranges, ascending and distinct; they may overlap."""
    begin, end = own.start.min(), own.stop.max()
    step = np.bincount(own.start - begin, minlength=end - begin + 1)
    step -= np.bincount(own.stop - begin, minlength=end - begin + 1)
    return np.asarray(begin + np.flatnonzero(np.cumsum(step) > 0))
