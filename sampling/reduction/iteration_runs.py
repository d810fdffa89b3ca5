"""The complete iterations of a recording: steps that the program names, else those of a loop that is found.

Ranges are steps where their names differ in one number alone, which grows, no two of a process and device
overlap, and they hold most launches, and nearly all between the first and the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec.structs import replace

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.record import Count, Index, Record
from sampling.reduction.duration_counts import DurationCounts, counted_at_once
from sampling.reduction.iterations import MOST
from sampling.reduction.range_list import find_loop_iterations
from sampling.reduction.run_order import MOST_LAUNCHES

Source = Literal["named", "found"]
#: With fewer measurements than this nothing tells how far their mean may be off.
LEAST_MEASUREMENTS = 3
#: What launches are in that are in no iteration: before the first, behind the last, another place.
AHEAD, BEHIND, OUTSIDE = -1, -2, -3
#: Between the first step and the last, steps hold this share of the launches.
NEARLY = 0.9
_NUMBER = re.compile(r"\d+")


class IterationFacts(Record, frozen=True):
    """The complete iterations of a recording, and the launches that are in none."""

    #: Whether the program names them or they were found, and their name, a star for each number; "" if found.
    source: Source
    name: str
    iterations: Count
    #: Others that are complete, of other numbers of launches; the fewest and the most launches of the rest.
    left_out: Index
    least_launches: Index
    most_launches: Index
    #: Launches before the first, behind the last, and in none for another reason, such as on another device.
    launches_ahead: Index = 0
    launches_behind: Index = 0
    launches_outside: Index = 0

    def with_outside(self, ahead: int, behind: int, outside: int) -> IterationFacts:
        """Return the same with how many launches are in none."""
        return replace(self, launches_ahead=ahead, launches_behind=behind, launches_outside=outside)


@dataclass(frozen=True, slots=True, eq=False)
class IterationRuns:
    """Which launches are of which iteration, numbered alike on all processes and devices."""

    facts: IterationFacts
    #: (b,) ids at which something begins, ascending, and which iteration it is, from 0, or `AHEAD` and so on.
    edges: IntArray
    iteration: IntArray
    #: (n,) how long the program says that each lasts, nanoseconds; None where it does not.
    own_ns: FloatArray | None


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Stretches of ids, by sequence and then by first id; (r,) each."""

    sequence: IntArray
    first: IntArray
    stop: IntArray
    is_complete: BoolArray
    open_ns: IntArray

    @property
    def iterations(self) -> int:
        """How many complete ones a process and device has; 0 where others have other numbers."""
        numbers = np.bincount(self.sequence[self.is_complete])
        numbers = numbers[numbers > 0]
        return int(numbers[0]) if len(numbers) and (numbers == numbers[0]).all() else 0


def find_iteration_runs(
    profile: Profile, counts: DurationCounts, progress: Progress | None = None
) -> IterationRuns | None:
    """Return the iterations of the launches that a reduction counts; None where there are none."""
    name, runs = _named_runs(profile, counts)
    if runs is not None:
        return _numbered(profile, "named", name, runs)
    runs = _found_runs(profile, counts, progress)
    return None if runs is None else _numbered(profile, "found", "", runs)


def _named_runs(profile: Profile, counts: DurationCounts) -> tuple[str, _Runs | None]:
    """Return the steps that the program names; of several kinds the outermost that comes three times."""
    if profile.ranges is None:
        return "", None
    ranges = profile.ranges.holding("")
    names: dict[str, int] = {}
    code = np.array(
        [names.setdefault(_NUMBER.sub("*", text), len(names)) for text in ranges.texts], dtype=np.int64
    )
    kind = code[ranges.text]
    first, stop = ranges.ids(profile.first_ids)
    selected = _selected_before(counts, stop) - _selected_before(counts, first)
    launches = sum(part.launches for part in counts.selected)
    held = np.bincount(kind, selected, len(names))
    best: tuple[tuple[bool, int], str, _Runs] | None = None
    for name, index in names.items():
        if held[index] < MOST * launches:
            continue
        rows = np.flatnonzero(kind == index)
        rows = rows[np.lexsort((first[rows], ranges.sequence[rows]))]
        is_complete = (selected == stop - first)[rows] & (selected[rows] > 0)
        runs = _Runs(ranges.sequence[rows], first[rows], stop[rows], is_complete, ranges.open_ns[rows])
        is_several = runs.iterations >= LEAST_MEASUREMENTS
        if not (is_several or (runs.iterations and "*" in name)):
            continue
        follows = runs.sequence[1:] == runs.sequence[:-1]
        if not _count_up([ranges.texts[place] for place in ranges.text[rows].tolist()], follows):
            continue
        ends, begins = runs.stop[np.append(~follows, True)], runs.first[np.append(True, ~follows)]
        span = int((_selected_before(counts, ends) - _selected_before(counts, begins)).sum())
        overlap = follows & (runs.first[1:] < runs.stop[:-1])
        complete = selected[rows][is_complete].sum()
        if overlap.any() or held[index] < NEARLY * span or complete < MOST * launches:
            continue
        rank = is_several, -runs.iterations if is_several else runs.iterations
        if best is None or rank > best[0]:
            best = rank, name, runs
    return ("", None) if best is None else best[1:]


def _count_up(names: Sequence[str], follows: BoolArray) -> bool:
    """Return whether names that differ in numbers alone are those of steps: in one number, which grows.

    ``follows`` (k - 1,): whether a name is of the same sequence as the one before it. Names that are all the
    same may be those of steps; `batch 4x64` and `batch 8x16` are other work each.
    """
    numbers = np.array([[float(number) for number in _NUMBER.findall(name)] for name in names])
    varying = numbers[:, (numbers != numbers[:1]).any(axis=0)]
    is_growing = varying[1:] > varying[:-1]
    return varying.shape[1] == 0 or (varying.shape[1] == 1 and bool(is_growing[follows].all()))


def _selected_before(counts: DurationCounts, ids: IntArray) -> IntArray:
    """Return (k,) how many selected launches have lower ids, whatever their names and durations."""
    before = np.zeros(len(ids), dtype=np.int64)
    for part in counts.selected:
        place = np.clip(ids - part.first_id, 0, part.stop_id - part.first_id)
        before += place if part.mask is None else np.concatenate([[0], np.cumsum(part.mask)])[place]
    return before


def _found_runs(profile: Profile, counts: DurationCounts, progress: Progress | None) -> _Runs | None:
    """Return the loops of all processes and devices that have one; None where these are not most launches."""
    if counts.launches > MOST_LAUNCHES:
        return None
    ids, sequence, _, signature = counted_at_once(profile, counts, ("signature",), progress)
    columns = [np.zeros((3, 0), dtype=np.int64)]
    for number in np.unique(sequence).tolist():
        begin, end = np.searchsorted(sequence, (number, number + 1)).tolist()
        if (loop := find_loop_iterations(profile, signature[begin:end])) is not None:
            first = begin + loop.first
            columns.append(
                np.stack([np.full(len(first), number), ids[first], ids[first + loop.launches - 1] + 1])
            )
    runs = np.concatenate(columns, axis=1)
    covered = int((np.searchsorted(ids, runs[2]) - np.searchsorted(ids, runs[1])).sum())
    if covered < MOST * len(ids):
        return None
    return _Runs(runs[0], runs[1], runs[2], np.ones(runs.shape[1], dtype=np.bool_), np.zeros_like(runs[0]))


def _numbered(profile: Profile, source: Source, name: str, runs: _Runs) -> IterationRuns | None:
    """Return the iterations of the usual number of launches; where none is that of most, all of them."""
    iterations, is_complete = runs.iterations, runs.is_complete
    if not iterations:
        return None
    number = np.full(len(runs.first), OUTSIDE)
    number[is_complete] = np.arange(np.count_nonzero(is_complete)) % iterations
    launches = np.bincount(number[is_complete], (runs.stop - runs.first)[is_complete], iterations)
    sizes, times = np.unique(launches, return_counts=True)
    has_usual = times.max() >= LEAST_MEASUREMENTS and 2 * times.max() > iterations
    is_kept = launches == sizes[times.argmax()] if has_usual else np.ones(iterations, dtype=np.bool_)
    place = np.where(is_kept, np.cumsum(is_kept) - 1, OUTSIDE)
    number = np.where(number >= 0, place[np.maximum(number, 0)], OUTSIDE)

    edges = np.unique(np.concatenate([profile.first_ids, runs.first, runs.stop]))
    iteration = np.full(len(edges), OUTSIDE)
    iteration[np.searchsorted(edges, runs.first)] = number
    for sequence in np.unique(runs.sequence).tolist():
        launched = profile.sequences[sequence]
        low, high = np.searchsorted(
            edges, (launched.first_id, launched.first_id + launched.launches)
        ).tolist()
        of_sequence = np.flatnonzero(iteration[low:high] >= 0) + low
        if len(of_sequence):
            iteration[low : of_sequence[0]], iteration[of_sequence[-1] + 1 : high] = AHEAD, BEHIND
    own_ns = None
    if runs.open_ns[number >= 0].all():
        devices = np.bincount(number[number >= 0])
        own_ns = np.bincount(number[number >= 0], runs.open_ns[number >= 0]) / devices
    usual, kept = launches[is_kept], int(is_kept.sum())
    facts = IterationFacts(
        source, name, kept, iterations - kept, least_launches=int(usual.min()), most_launches=int(usual.max())
    )
    return IterationRuns(facts, edges, iteration, own_ns)
