"""Ranges that a program named while it ran (NVTX, annotations), and which launches it issued in them.

A launch belongs to a range if the API call that issued it began while the range was open, its first
nanosecond included and its last not, in the same process. It may come from any thread: nsys' own rule asks
for the thread that opened the range, but PyTorch launches the backward pass from another thread than the one
whose range says "backward" or "step 7".

A sequence is in API order, so the launches of a range have consecutive ordinals. Where it is ordered by
something else (correlation numbers of several threads), times slightly out of order are sorted, which keeps
the number of launches in every range. A launch whose call was not recorded belongs to a range if the nearest
launches before and after it with a recorded call both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.profile.profile import LaunchSequence
from sampling.profile.range_runs import NO_RANGES, RangeRuns

#: Stands for the API start of a launch whose call was not recorded.
NO_CALL = int(np.iinfo(np.int64).max)
#: Stands for the end of a range that was still open when the recording ended.
STILL_OPEN = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, eq=False)
class RangeEvents:
    """Ranges as recorded, in any order.

    Attributes
    ----------
    texts : names; several ranges may share one.
    text : (r,) index of each range's name.
    process : (r,) process number, as in the profile's sequences.
    start_ns, end_ns : (r,) on the clock of the API calls; ``STILL_OPEN`` for an end that was not recorded.
    """

    texts: Sequence[str]
    text: IntArray
    process: IntArray
    start_ns: IntArray
    end_ns: IntArray


def runs_of(
    events: RangeEvents, sequences: Sequence[LaunchSequence], api_start_ns: AnyIntArray | None
) -> RangeRuns:
    """Return the launches of every range.

    Parameters
    ----------
    sequences : of the profile.
    api_start_ns : (launches,) when the call behind each launch began, in id order; ``NO_CALL`` where it was
        not recorded; None where no call was.
    """
    if api_start_ns is None:
        return replace(NO_RANGES, texts=events.texts)
    order = np.lexsort((-events.end_ns, events.start_ns))
    runs = [np.zeros((4, 0), dtype=np.int64)]
    for index, sequence in enumerate(sequences):
        rows = slice(sequence.first_id, sequence.first_id + sequence.launches)
        place = np.flatnonzero(events.process[order] == sequence.process)
        first, stop = _ordinals(events, order[place], api_start_ns[rows])
        runs.append(np.stack([place, np.full(len(place), index), first, stop])[:, stop > first])
    joined = np.concatenate(runs, axis=1)
    place, sequence_of, first, stop = joined[:, np.argsort(joined[0], kind="stable")]
    return RangeRuns(events.texts, events.text[order[place]], sequence_of, first, stop, place)


def joined_runs(parts: Sequence[RangeRuns], sequences: Sequence[int]) -> RangeRuns:
    """Return the ranges of several recordings, one after the other.

    Parameters
    ----------
    sequences : how many sequences each recording has.
    """
    codes: dict[str, int] = {}
    columns = [[column] for column in np.zeros((5, 0), dtype=np.int64)]
    sequences_before = opened_before = 0
    for runs, own in zip(parts, sequences, strict=True):
        code = np.array([codes.setdefault(text, len(codes)) for text in runs.texts], dtype=np.int64)
        place = runs.sequence + sequences_before
        added = (code[runs.text], place, runs.first_ordinal, runs.stop_ordinal, runs.opened + opened_before)
        for column, part in zip(columns, added, strict=True):
            column.append(part)
        sequences_before += own
        opened_before += int(runs.opened.max(initial=-1)) + 1
    return RangeRuns(tuple(codes), *map(np.concatenate, columns))


def _ordinals(events: RangeEvents, rows: IntArray, api_start_ns: AnyIntArray) -> tuple[IntArray, IntArray]:
    """Return the first and the stop ordinal of some ranges in one sequence, equal where it has no launch."""
    known = np.flatnonzero(api_start_ns != NO_CALL)
    if not len(known):
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    times = api_start_ns[known]
    if np.any(times[1:] < times[:-1]):
        times = np.sort(times)
    first, stop = np.searchsorted(times, (events.start_ns[rows], events.end_ns[rows]))
    filled = stop > first
    # The last launch inside is the one before `stop`; launches without a call after it may lie outside.
    last_ordinal = np.where(events.end_ns[rows] == STILL_OPEN, len(api_start_ns) - 1, known[stop - 1])
    return np.where(filled, known[first % len(known)], 0), np.where(filled, last_ordinal + 1, 0)
