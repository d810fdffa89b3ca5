"""The second pass: which launches of the profile the drawn (group, duration, occurrence) are.

Batches are mapped to pair numbers by threads; one thread counts them in id order. No step is per launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.parallel import ordered_map
from sampling.plan.pair_lookup import PairLookup
from sampling.profile.profile import Column, Part, Profile
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts, group_of_label
from sampling.strata.draw import Draw

BLOCK_LAUNCHES = 1 << 16
# From this many wanted rows in a block on, one stable sort beats a comparison pass for each.
SORT_FROM = 48
# From so many drawn pairs for each row of a block on, sorting the rows beats counting for every pair.
_MANY_PAIRS = 4
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class DrawnLaunches:
    """Where drawn launches stand in the profile; all arrays (n,), in the order of the draw.

    Attributes
    ----------
    id : index in the whole profile.
    sequence : index into the profile's sequences; ``ordinal`` counts within it, from 0.
    signature : code of name, grid and block; ``occurrence`` counts within it and the sequence, from 0.
    """

    id: IntArray
    sequence: IntArray
    ordinal: IntArray
    signature: IntArray
    occurrence: IntArray


class _Matches(NamedTuple):
    """The signatures of a span, and for each block of it the rows whose pair is drawn with its number."""

    signature: AnyIntArray
    blocks: list[tuple[IntArray, NDArray[np.int32]]]


class _Wanted(NamedTuple):
    """Draws sorted by (pair number, occurrence), with the pair numbers' keys."""

    order: IntArray
    number: IntArray
    occurrence: IntArray
    lookup: PairLookup


def find_drawn_launches(
    profile: Profile, counts: DurationCounts, drawn: Draw, progress: Progress | None = None
) -> DrawnLaunches:
    """Find every drawn launch by its occurrence number.

    Parameters
    ----------
    counts : the reduction the draw was made on, with its region.
    """
    wanted = _wanted(counts, drawn)
    found = _Finder(profile, wanted, len(drawn.pair))
    label_column: Column = "signature" if counts.grouping.needs_shape else "name"
    columns: tuple[Column, ...] = ("duration_ns", *dict.fromkeys((label_column, "signature")))
    groups_of = group_of_label(profile, counts)
    # Launches before the region or of other kernels count towards `occurrence` too, so all spans are read.
    first_ids = np.array([part.first_id for part in profile.parts])
    places = np.searchsorted(first_ids, [part.first_id for part in counts.selected], side="right") - 1
    chosen = dict(zip(places.tolist(), counts.selected, strict=True))

    def matched(index: int) -> _Matches:
        span = profile.parts[index]
        batch = span.load(columns)
        selection = chosen.get(index)
        if selection is None:
            return _Matches(batch["signature"], [])
        groups, label = groups_of[span.sequence], batch[label_column]
        blocks = []
        for start in range(0, span.launches, BLOCK_LAUNCHES):
            block = slice(start, start + BLOCK_LAUNCHES)
            rows, number = wanted.lookup.matches(groups.take(label[block]), batch["duration_ns"][block])
            inside = _holds(selection, rows + (span.first_id + start))
            blocks.append((rows[inside], number[inside]))
        return _Matches(batch["signature"], blocks)

    for index, matches in enumerate(ordered_map(matched, range(len(profile.parts)))):
        found.take(profile.parts[index], matches)
        if progress is not None:
            progress(index + 1, len(profile.parts), "finding drawn launches")
        if found.complete:
            break
    return found.launches()


def find_launches_by_id(profile: Profile, ids: IntArray, progress: Progress | None = None) -> DrawnLaunches:
    """Return where launches of known ids (n,) stand, in the order given."""
    order = np.argsort(ids, kind="stable")
    wanted = ids[order]
    found = np.zeros((4, len(ids)), dtype=np.int64)
    seen = np.zeros(0, dtype=np.int64)
    sequence = -1
    for done, span in enumerate(profile.parts):
        if span.sequence != sequence:
            sequence, seen = span.sequence, np.zeros_like(seen)
        first_id = span.first_id
        start, stop = np.searchsorted(wanted, [first_id, first_id + span.launches]).tolist()
        signature = span.load(("signature",))["signature"]
        here = np.bincount(signature)
        if len(here) > len(seen):
            seen = np.append(seen, np.zeros(len(here) - len(seen), dtype=np.int64))
        if start < stop:
            rows = wanted[start:stop] - first_id
            code = signature[rows]
            occurrence = seen[code] + occurrences_of_rows(signature, rows)
            ordinal = span.first_id - profile.sequences[sequence].first_id + rows
            found[:, start:stop] = np.stack([np.full(len(rows), sequence), ordinal, code, occurrence])
        seen[: len(here)] += here
        if progress is not None:
            progress(done + 1, len(profile.parts), "finding launches")
        if stop == len(wanted):
            break
    given = np.empty_like(found)
    given[:, order] = found
    return DrawnLaunches(ids, *given)


def _holds(part: Part, ids: IntArray) -> BoolArray:
    """Return which ids are those of launches that a part means."""
    inside = (ids >= part.first_id) & (ids < part.stop_id)
    if part.wanted is not None:
        inside[inside] = part.wanted[ids[inside] - part.first_id]
    return inside


def _wanted(counts: DurationCounts, drawn: Draw) -> _Wanted:
    pairs, number = np.unique(drawn.pair, return_inverse=True)
    order = np.lexsort((drawn.occurrence, number))
    group = np.searchsorted(counts.offsets, pairs, side="right") - 1
    lookup = PairLookup(group, counts.duration_ns[pairs])
    return _Wanted(order, number[order], drawn.occurrence[order], lookup)


class _Finder:
    """Counts pairs and signatures in id order, and notes the launches that were drawn."""

    def __init__(self, profile: Profile, wanted: _Wanted, draws: int) -> None:
        self._profile = profile
        self._wanted = wanted
        pairs = int(wanted.number[-1]) + 1
        self._seen = np.zeros(pairs, dtype=np.int64)
        self._next = np.searchsorted(wanted.number, np.arange(pairs))
        self._stop = np.append(self._next[1:], draws)
        self._next_occurrence = wanted.occurrence[self._next]
        self._left = draws
        self._sequence = -1
        self._signatures_seen = np.zeros(0, dtype=np.int64)
        self._found = np.zeros((5, draws), dtype=np.int64)

    @property
    def complete(self) -> bool:
        """Whether every drawn launch is found."""
        return self._left == 0

    def launches(self) -> DrawnLaunches:
        """Return what was found."""
        assert self.complete
        return DrawnLaunches(*self._found)

    def take(self, span: Part, matches: _Matches) -> None:
        """Take the next span."""
        if span.sequence != self._sequence:
            self._sequence = span.sequence
            self._signatures_seen[:] = 0
        counted_to = 0
        for index, (rows, number) in enumerate(matches.blocks):
            pairs, here = _counted(number, len(self._seen))
            draws = self._draws_within(pairs, self._seen[pairs] + here)
            if len(draws):
                start = index * BLOCK_LAUNCHES
                self._count_signatures(matches.signature[counted_to:start])
                counted_to = start
                turn = self._wanted.occurrence[draws] - self._seen[self._wanted.number[draws]]
                drawn_rows = rows[rows_of_occurrences(number, self._wanted.number[draws], turn)]
                self._note(span, start, draws, drawn_rows, matches.signature[start : start + BLOCK_LAUNCHES])
            self._seen[pairs] += here
        self._count_signatures(matches.signature[counted_to:])

    def _count_signatures(self, signature: AnyIntArray) -> None:
        here = np.bincount(signature)
        if len(here) > len(self._signatures_seen):
            grown = len(here) - len(self._signatures_seen)
            self._signatures_seen = np.append(self._signatures_seen, np.zeros(grown, dtype=np.int64))
        self._signatures_seen[: len(here)] += here

    def _note(self, span: Part, start: int, draws: IntArray, rows: IntArray, signature: AnyIntArray) -> None:
        """Note the launches at some rows of the block that begins at ``start``; earlier ones are counted."""
        code = signature[rows]
        seen = np.zeros(int(code.max()) + 1, dtype=np.int64)
        known = min(len(seen), len(self._signatures_seen))
        seen[:known] = self._signatures_seen[:known]
        ids = span.first_id + start + rows
        self._found[:, self._wanted.order[draws]] = (
            ids,
            np.full(len(rows), span.sequence),
            ids - self._profile.sequences[span.sequence].first_id,
            code,
            seen[code] + occurrences_of_rows(signature, rows),
        )
        self._left -= len(draws)

    def _draws_within(self, pairs: IntArray, seen_after: IntArray) -> IntArray:
        """Return the draws of some pairs whose launch lies in this block, and move on past them."""
        is_due = self._next_occurrence[pairs] < seen_after
        due, seen_after = pairs[is_due], seen_after[is_due]
        first, stop = self._next[due], self._stop[due]
        end = first + 1
        for index in np.flatnonzero(end < stop).tolist():
            left = self._wanted.occurrence[first[index] : stop[index]]
            end[index] = first[index] + np.searchsorted(left, seen_after[index])
        self._next[due] = end
        self._next_occurrence[due] = _NEVER
        going = end < stop
        self._next_occurrence[due[going]] = self._wanted.occurrence[end[going]]
        draws = end - first
        return np.repeat(first - (np.cumsum(draws) - draws), draws) + np.arange(draws.sum())


def _counted(number: NDArray[np.int32], pairs: int) -> tuple[IntArray, IntArray]:
    """Return the pair numbers that occur, ascending, and how often; there are ``pairs`` in all."""
    if pairs > _MANY_PAIRS * len(number):
        found, times = np.unique(number, return_counts=True)
        return found.astype(np.int64), times.astype(np.int64)
    times_of_all = np.bincount(number, minlength=pairs)
    occurring = np.flatnonzero(times_of_all)
    return occurring, times_of_all[occurring]


def rows_of_occurrences(values: AnyIntArray, wanted: IntArray, turn: IntArray) -> IntArray:
    """Return (k,) the row where ``wanted[i]`` occurs in ``values`` for the ``turn[i]``-th time, from 0."""
    if len(wanted) < SORT_FROM:
        pairs = zip(wanted.tolist(), turn.tolist(), strict=True)
        return np.array([np.flatnonzero(values == value)[which] for value, which in pairs], dtype=np.int64)
    order = np.argsort(values, kind="stable")
    return np.asarray(order[np.searchsorted(values[order], wanted) + turn])


def occurrences_of_rows(values: AnyIntArray, rows: IntArray) -> IntArray:
    """Return (k,) how often the value in each of the rows occurs above it."""
    if len(rows) < SORT_FROM:
        return np.array(
            [np.count_nonzero(values[:row] == values[row]) for row in rows.tolist()], dtype=np.int64
        )
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return np.asarray(place[rows] - np.searchsorted(values[order], values[rows]))
