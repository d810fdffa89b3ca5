"""The second pass: which launches of the profile the drawn (group, duration, occurrence) are.

Batches are mapped to pair numbers by threads; one thread counts them in id order. No step is per launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.drawing import Draw
from sampling.duration_counts import DURATION_BITS, DurationCounts
from sampling.parallel import ordered_map
from sampling.profile import Column, Profile, Span
from sampling.progress import Progress
from sampling.regions import selections

IntArray = NDArray[np.int64]

_BLOCK = 1 << 16
# From this many wanted rows in a block on, one stable sort beats a comparison pass for each.
_SORT_FROM = 48
_NOT_DRAWN = -1
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
    group_of_label = _group_of_label(profile, counts)
    # Launches before the region or of other kernels count towards `occurrence` too, so all spans are read.
    chosen = {selection.span: selection for selection in selections(profile, counts.region)}

    def mapped(index: int) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        span = profile.spans[index]
        batch = profile.read(span, columns)
        number = np.full(len(batch), _NOT_DRAWN, dtype=np.int32)
        selection = chosen.get(span)
        if selection is not None:
            rows = selection.rows
            group = group_of_label[span.sequence][batch[label_column][rows]]
            number[rows] = wanted.lookup.numbers(group, batch["duration_ns"][rows])
        return number, batch["signature"]

    for index, (number, signature) in enumerate(ordered_map(mapped, range(len(profile.spans)))):
        found.take(profile.spans[index], number, signature)
        if progress is not None:
            progress(index + 1, len(profile.spans), "finding drawn launches")
        if found.complete:
            break
    return found.launches()


def _group_of_label(profile: Profile, counts: DurationCounts) -> list[IntArray]:
    """Return for each sequence (labels,) the group of a signature or name code, -1 where not selected."""
    kernels, sequences = profile.kernels, len(profile.sequences)
    labels = len(kernels) if counts.grouping.needs_shape else len(kernels.names)
    padded = np.full(labels * sequences, -1, dtype=np.int64)
    padded[: len(counts.group_of_raw)] = counts.group_of_raw
    return [padded[sequence::sequences].copy() for sequence in range(sequences)]


def _wanted(counts: DurationCounts, drawn: Draw) -> _Wanted:
    pairs, number = np.unique(drawn.pair, return_inverse=True)
    order = np.lexsort((drawn.occurrence, number))
    group = np.searchsorted(counts.offsets, pairs, side="right") - 1
    lookup = PairLookup(group, counts.duration_ns[pairs])
    return _Wanted(order, number[order], drawn.occurrence[order], lookup)


class PairLookup:
    """Finds the number of a (group, duration) pair among those drawn: an open-addressing hash table.

    A quarter full or less, so most rows are settled by one look; exact, for the whole key is compared.
    """

    def __init__(self, group: IntArray, duration_ns: IntArray) -> None:
        self._durations = np.unique(duration_ns) if _too_wide(group, duration_ns) else None
        keys = self._keys(group, duration_ns)
        bits = max(10, (4 * len(keys)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._mask = np.int64((1 << bits) - 1)
        self._table = np.full(1 << bits, np.uint64(2**64 - 1))
        self._number = np.full(1 << bits, _NOT_DRAWN, dtype=np.int32)
        left = np.arange(len(keys))
        slot = self._slots(keys)
        while len(left):
            free = self._number[slot] == _NOT_DRAWN
            self._number[slot[free]] = left[free]
            lost = self._number[slot] != left
            self._table[slot[~lost]] = keys[left[~lost]]
            left, slot = left[lost], (slot[lost] + 1) & self._mask

    def numbers(self, group: IntArray, duration_ns: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the pair number of every row, -1 where it is not drawn; a group of -1 never is."""
        keys = self._keys(group, duration_ns.astype(np.int64, copy=False))
        slot = self._slots(keys)
        number = self._number[slot]
        hit = self._table[slot] == keys
        look_on = np.flatnonzero(~hit & (number != _NOT_DRAWN))
        number[~hit] = _NOT_DRAWN
        slot = slot[look_on]
        while len(look_on):
            slot = (slot + 1) & self._mask
            candidate = self._number[slot]
            same = self._table[slot] == keys[look_on]
            number[look_on[same]] = candidate[same]
            going = ~same & (candidate != _NOT_DRAWN)
            look_on, slot = look_on[going], slot[going]
        number[group < 0] = _NOT_DRAWN
        if self._durations is None:
            # A duration too wide for the key runs into the bits of the group; none such is drawn.
            number[duration_ns >= 1 << DURATION_BITS] = _NOT_DRAWN
        return number

    def _slots(self, keys: NDArray[np.uint64]) -> IntArray:
        return ((keys * np.uint64(0x9E3779B97F4A7C15)) >> self._shift).astype(np.int64)

    def _keys(self, group: IntArray, duration_ns: IntArray) -> NDArray[np.uint64]:
        """Return one key a row; durations too wide for it are replaced by their place among those drawn."""
        if self._durations is not None:
            place = np.searchsorted(self._durations, duration_ns)
            inside = np.minimum(place, len(self._durations) - 1)
            absent = self._durations[inside] != duration_ns
            duration_ns = np.where(absent, len(self._durations), inside)
        keys = group.astype(np.uint64)
        keys <<= np.uint64(DURATION_BITS)
        keys ^= duration_ns.view(np.uint64)
        return keys


def _too_wide(group: IntArray, duration_ns: IntArray) -> bool:
    return bool(len(group)) and bool(
        duration_ns.max() >= 1 << DURATION_BITS or group.max() >= 1 << (63 - DURATION_BITS)
    )


class _Finder:
    """Counts pairs and signatures in id order and notes the launches whose turn has come."""

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

    def take(self, span: Span, number: NDArray[np.int32], signature: NDArray[np.integer]) -> None:
        """Take the next span: its rows' pair numbers (-1: not drawn) and signatures."""
        if span.sequence != self._sequence:
            self._sequence = span.sequence
            self._signatures_seen[:] = 0
        for start in range(0, len(number), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self._take_block(span, start, number[rows], signature[rows])

    def _take_block(
        self, span: Span, start: int, number: NDArray[np.int32], signature: NDArray[np.integer]
    ) -> None:
        here = np.bincount(number + 1, minlength=len(self._seen) + 1)[1:]
        draws = self._draws_within(self._seen + here)
        signatures_here = np.bincount(signature)
        if len(signatures_here) > len(self._signatures_seen):
            grown = len(signatures_here) - len(self._signatures_seen)
            self._signatures_seen = np.append(self._signatures_seen, np.zeros(grown, dtype=np.int64))
        if len(draws):
            turn = self._wanted.occurrence[draws] - self._seen[self._wanted.number[draws]]
            rows = rows_of_occurrences(number, self._wanted.number[draws], turn)
            code = signature[rows]
            self._found[:, self._wanted.order[draws]] = (
                self._profile.sequences[span.sequence].first_id + span.first_ordinal + start + rows,
                np.full(len(rows), span.sequence),
                span.first_ordinal + start + rows,
                code,
                self._signatures_seen[code] + occurrences_of_rows(signature, rows),
            )
            self._left -= len(draws)
        self._seen += here
        self._signatures_seen[: len(signatures_here)] += signatures_here

    def _draws_within(self, seen_after: IntArray) -> IntArray:
        """Return the draws whose launch lies in this block, and move on past them."""
        draws = []
        for pair in np.flatnonzero(self._next_occurrence < seen_after).tolist():
            first, stop = int(self._next[pair]), int(self._stop[pair])
            end = first + int(np.searchsorted(self._wanted.occurrence[first:stop], seen_after[pair]))
            draws.append(np.arange(first, end))
            self._next[pair] = end
            self._next_occurrence[pair] = self._wanted.occurrence[end] if end < stop else _NEVER
        return np.concatenate(draws) if draws else np.zeros(0, dtype=np.int64)


def rows_of_occurrences(values: NDArray[np.integer], wanted: IntArray, turn: IntArray) -> IntArray:
    """Return (k,) the row where ``wanted[i]`` stands in ``values`` for the ``turn[i]``-th time, from 0."""
    if len(wanted) < _SORT_FROM:
        pairs = zip(wanted.tolist(), turn.tolist(), strict=True)
        return np.array([np.flatnonzero(values == value)[which] for value, which in pairs], dtype=np.int64)
    order = np.argsort(values, kind="stable")
    return np.asarray(order[np.searchsorted(values[order], wanted) + turn])


def occurrences_of_rows(values: NDArray[np.integer], rows: IntArray) -> IntArray:
    """Return (k,) how often the value in each of the rows stands above it."""
    if len(rows) < _SORT_FROM:
        return np.array(
            [np.count_nonzero(values[:row] == values[row]) for row in rows.tolist()], dtype=np.int64
        )
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return np.asarray(place[rows] - np.searchsorted(values[order], values[rows]))
