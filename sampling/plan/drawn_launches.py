"""A second look at the profile: which launches the drawn (group, duration, occurrence) are.

Threads look for the drawn pairs in one part after another; one thread counts them in id order. Nothing is
done launch by launch, and only what is drawn is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from sampling.arrays import GOLDEN_RATIO, AnyIntArray, HashArray, IntArray
from sampling.parallel import Progress, scan
from sampling.profile.identity import SequenceDigests
from sampling.profile.profile import Column, Part, Profile
from sampling.reduction.duration_counts import DurationCounts, label_groups
from sampling.strata.draw import Draw

#: Given group (-1: none) and duration of launches, finds those of drawn pairs: rows and numbers of the pairs.
PairFinder = Callable[[IntArray, AnyIntArray], tuple[IntArray, IntArray]]

# Slots for each pair: 15 of 16 launches that were not drawn are told by one look at a table of bits.
_ROOM = 16
_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class DrawnLaunches:
    """Where drawn launches stand in the profile; all arrays (n,), in the order of the draw."""

    #: Index in the whole profile.
    id: IntArray
    #: Index into the profile's sequences; ``ordinal`` counts within it, from 0.
    sequence: IntArray
    ordinal: IntArray
    #: Code of name, grid and block; ``occurrence`` counts within it and the sequence, from 0.
    signature: IntArray
    occurrence: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A part, and what is looked for in it."""

    part: Part
    #: The part of it that the region selects, and the group of each code of the label; None where launches
    #: are looked for by their ids, or none is selected.
    selected: Part | None = None
    group_of: IntArray | None = None
    #: Rows of it that are drawn, and their numbers, where they are known.
    rows: IntArray = field(default_factory=_NOTHING.copy)
    numbers: IntArray = field(default_factory=_NOTHING.copy)


class _Matches(NamedTuple):
    """What a part holds of what is drawn: rows and numbers, by number and row."""

    signature: AnyIntArray
    digest: HashArray
    rows: IntArray
    numbers: IntArray


def find_drawn_launches(
    profile: Profile, counts: DurationCounts, draw: Draw, progress: Progress | None = None
) -> DrawnLaunches:
    """Find every drawn launch by its occurrence number in the reduction that the draw was made on."""
    pairs, number = np.unique(draw.pair, return_inverse=True)
    find = pair_finder(counts.pair_groups[pairs], counts.duration_ns[pairs])
    groups_of = label_groups(profile, counts)
    first_ids = np.array([part.first_id for part in profile.parts])
    holds = np.searchsorted(first_ids, [part.first_id for part in counts.selected], side="right") - 1
    selected = dict(zip(first_ids[holds].tolist(), counts.selected, strict=True))
    places = [_Place(part, selected.get(part.first_id), groups_of[part.sequence]) for part in profile.parts]
    return _locate(profile, places, (counts.label, find), number, draw.occurrence, progress)


def find_launches_by_id(profile: Profile, ids: IntArray, progress: Progress | None = None) -> DrawnLaunches:
    """Return where launches of known ids (n,) stand, in the order given."""
    distinct, number = np.unique(ids, return_inverse=True)
    places = []
    for part in profile.parts:
        start, stop = np.searchsorted(distinct, [part.first_id, part.stop_id])
        places.append(_Place(part, rows=distinct[start:stop] - part.first_id, numbers=np.arange(start, stop)))
    return _locate(profile, places, None, number, np.zeros(len(ids), dtype=np.int64), progress)


def _locate(
    profile: Profile,
    places: Sequence[_Place],
    by: tuple[Column, PairFinder] | None,
    number: IntArray,
    turn: IntArray,
    progress: Progress | None,
) -> DrawnLaunches:
    """Go through the parts and find all draws; the profile's fingerprints, of all launches, are known then.

    Launches before the region or of other kernels count towards the occurrence too, so all parts are read.

    Parameters
    ----------
    by : the label and what finds draws by it; None where rows are known.
    number, turn : (n,) the number of what each draw is of, and which of its rows, in id order, is drawn.
    """
    digests = SequenceDigests(profile)
    start = _Before(-1, np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64), _NOTHING)
    parts = scan(
        profile.mapper,
        places,
        partial(_search_part, digests, by),
        partial(_count_part, len(start.of_number)),
        _add_counts,
        partial(_select_draws, number, turn),
        start,
    )
    columns = np.zeros((5, len(number)), dtype=np.int64)
    for place, (digest, draws, rows, code, occurrence) in zip(places, parts, strict=True):
        part = place.part
        digests.add(part, digest)
        ids = part.first_id + rows
        ordinal = ids - profile.sequences[part.sequence].first_id
        columns[:, draws] = ids, np.full(len(ids), part.sequence), ordinal, code, occurrence
        if progress is not None:
            progress(part.stop_id, profile.launches, "finding drawn launches")
    digests.finish(profile)
    return DrawnLaunches(*columns)


def _search_part(digests: SequenceDigests, by: tuple[Column, PairFinder] | None, place: _Place) -> _Matches:
    """Load a part and find what is drawn in it."""
    part, selected, rows, numbers = place.part, place.selected, place.rows, place.numbers
    label, find = by or ("signature", None)
    columns: tuple[Column, ...] = ("signature",) if find is None else (label, "duration_ns", "signature")
    table = part.load(tuple(dict.fromkeys(columns)))
    if find is not None and selected is not None and place.group_of is not None:
        rows, numbers = find(place.group_of.take(table[label]), table["duration_ns"])
        ids = part.first_id + rows
        is_inside = (ids >= selected.first_id) & (ids < selected.stop_id)
        if selected.mask is not None:
            is_inside[is_inside] = selected.mask[ids[is_inside] - selected.first_id]
        rows, numbers = rows[is_inside], numbers[is_inside]
    return _Matches(table["signature"], digests.of_part(part, table["signature"]), rows, numbers)


class _Before(NamedTuple):
    """What parts before one hold: of its sequence, or of the part alone what that holds."""

    sequence: int
    #: (k,) of each number of what is drawn, in all parts.
    of_number: IntArray
    #: (signatures,) launches of each in the sequence; those that it lacks at the end have none.
    of_signature: IntArray


def _count_part(numbers: int, place: _Place, matches: _Matches) -> _Before:
    of_number = np.bincount(matches.numbers, minlength=numbers)
    return _Before(place.part.sequence, of_number, np.bincount(matches.signature))


def _add_counts(before: _Before, current: _Before) -> _Before:
    of_signature = current.of_signature
    if before.sequence == current.sequence:
        shorter, longer = sorted((before.of_signature, current.of_signature), key=len)
        of_signature = longer.copy()
        of_signature[: len(shorter)] += shorter
    return _Before(current.sequence, before.of_number + current.of_number, of_signature)


def _select_draws(
    number: IntArray, turn: IntArray, place: _Place, matches: _Matches, before: _Before
) -> tuple[HashArray, IntArray, IntArray, AnyIntArray, IntArray]:
    """Return the digest of a part; which draws it holds, their rows, codes and occurrences."""
    of_number = np.bincount(matches.numbers, minlength=len(before.of_number))
    left = turn - before.of_number[number]
    draws = np.flatnonzero((left >= 0) & (left < of_number[number]))
    rows = matches.rows[(np.cumsum(of_number) - of_number)[number[draws]] + left[draws]]
    if not len(rows):
        return matches.digest, draws, rows, rows, rows
    code, of_signature = matches.signature[rows], before.of_signature
    occurrence = occurrences_of_rows(matches.signature, rows)
    if before.sequence == place.part.sequence:
        is_known = code < len(of_signature)
        occurrence[is_known] += of_signature[code[is_known]]
    return matches.digest, draws, rows, code, occurrence


def pair_finder(group: IntArray, duration_ns: IntArray) -> PairFinder:
    """Return what finds pairs (p,), ascending by group and duration; it compares them whole."""
    bits = int(duration_ns.max(initial=0)).bit_length()
    distinct_ns = None
    if bits + int(group.max(initial=0)).bit_length() > 63:
        # Their places among the drawn ones in place of durations that are too wide.
        distinct_ns, duration_ns = np.unique(duration_ns, return_inverse=True)
        bits = len(distinct_ns).bit_length()
    keys = group << bits | duration_ns
    size = max(14, (_ROOM * len(keys)).bit_length())
    shift = np.uint64(64 - size)
    is_taken = np.zeros(1 << size, dtype=np.bool_)
    is_taken[keys.view(np.uint64) * GOLDEN_RATIO >> shift] = True

    def find(group: IntArray, duration_ns: AnyIntArray) -> tuple[IntArray, IntArray]:
        if distinct_ns is not None:
            place = np.searchsorted(distinct_ns, duration_ns)
            is_known = distinct_ns[np.minimum(place, len(distinct_ns) - 1)] == duration_ns
            duration_ns = np.where(is_known, place, len(distinct_ns))
        slots = (group << bits | duration_ns).view(np.uint64)
        slots *= GOLDEN_RATIO
        slots >>= shift
        rows = np.flatnonzero(is_taken.take(slots.view(np.int64)))
        rows = rows[(group[rows] >= 0) & (duration_ns[rows] >> bits == 0)]
        key, rows = rows_by_value(group[rows] << bits | duration_ns[rows], rows)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        number = np.searchsorted(keys, key[first])
        is_drawn = keys[np.minimum(number, len(keys) - 1)] == key[first]
        launches = np.diff(first, append=len(key))
        return rows[np.repeat(is_drawn, launches)], np.repeat(number[is_drawn], launches[is_drawn])

    return find


def rows_by_value(values: AnyIntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return (n,) values and their rows, by value and then by row; both at least 0.

    Where their bits allow they are sorted as one number, several times as fast as by two keys.
    """
    bits = int(rows.max(initial=0)).bit_length()
    if bits + int(values.max(initial=0)).bit_length() > 63:
        order = np.lexsort((rows, values))
        return values[order].astype(np.int64), rows[order]
    packed = np.sort(values.astype(np.int64) << bits | rows)
    return packed >> bits, packed & ((1 << bits) - 1)


def occurrences_of_rows(values: AnyIntArray, rows: IntArray) -> IntArray:
    """Return (k,) how often the value in each of the rows occurs above it."""
    is_asked = np.zeros(int(values.max()) + 1, dtype=np.bool_)
    is_asked[values[rows]] = True
    candidates = np.flatnonzero(is_asked.take(values))
    value, row = rows_by_value(values[candidates], candidates)
    first = np.searchsorted(value, values[rows])
    # By value and row they are in the order of one number.
    size, queries = len(values), values[rows].astype(np.int64)
    return np.asarray(np.searchsorted(value * size + row, queries * size + rows) - first)
