"""Features joined to the launches of a profile: its own metrics, and those of other files.

A row of a file is the launch with its id, or is told by what identifies it; never by its position alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.features.names import reconcile_names
from sampling.features.reading import read_features
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.readers import NumberLocale
from sampling.readers.feature_table import FeatureRows
from sampling.reduction.launch_list import BlockVectors, Features, LaunchList
from sampling.text import Wording, counted, joined_texts, listed, shortened

# Squares of larger numbers, summed over a profile, are beyond a double; no counter of a GPU comes near it.
_LARGEST_METRIC = 1e100
_WARP_THREADS = 32


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What became of the rows of one file of features."""

    path: str
    #: what rows and launches were compared by: "id", "name, grid, block, occurrence", ...; "" if nothing was
    joined_by: str
    rows: int
    matched: int  #: rows of selected launches
    sentence: str  #: all of it in words, with what the user should know of how the file was read


def with_features(
    profile: Profile,
    launches: LaunchList,
    paths: Sequence[str],
    progress: Progress | None = None,
    *,
    locale: NumberLocale = "C",
    strict: bool = True,
) -> tuple[LaunchList, tuple[JoinReport, ...]]:
    """Return the list with the features that its profile and the files have of its launches.

    Where several sources have one metric, the first counts and later ones fill its gaps; a note says where
    they disagree. ``features`` is None where there is neither a metric nor a file. With ``strict`` a file of
    which nothing can be joined is an error, else its report says so: files may be given for several profiles
    at once, and each fits one.

    Raises ProfileError: a file is no file of features. With ``strict``, its processes are not the
    profile's, or none of its rows matches a launch.
    """
    if not paths and not profile.metric_names:
        return replace(launches, features=None), ()
    joined = KnownFeatures(len(launches))
    joined.add(_own_metrics(profile, launches, progress), np.arange(len(launches)))
    if not paths:
        return replace(launches, features=joined.features()), ()
    signature = profile.load(("signature",))["signature"].astype(np.int32, copy=False)
    shapes = profile.kernels.signature_rows()
    has_launches = np.zeros(len(profile.kernels.names), dtype=np.bool_)
    has_launches[shapes[np.unique(signature), 0]] = True
    selection = _Profile(profile, signature, shapes, has_launches, np.unique(launches.sequence))
    # Which process a file describes may depend on the other files, so all are read before one is joined.
    files = [read_features(path, locale=locale, progress=progress) for path in paths]
    reports = []
    for number, (rows, place) in enumerate(zip(files, file_places(files), strict=True)):
        if progress is not None:
            progress(number, len(paths), f"joining {rows.path}")
        try:
            ids, joined_by, notes = _match(rows, selection, place)
            if not (ids >= 0).any():
                its_first = shortened(profile.kernels.names.full(int(shapes[signature[0], 0])))
                raise ProfileError(
                    f"none of its rows matches a launch: it has {rows.words(0)}, and the profile "
                    f"{counted(profile.launches, 'launch')} from '{its_first}' on",
                    path=rows.path,
                    remedy="give features of the same program with the same input",
                )
        except ProfileError as error:
            if strict:
                raise
            # The message has the file's name before it, as the sentence has.
            reason = error.message.removeprefix(f"{error.path}: ")
            nothing = np.full(len(rows), -1)
            reports.append(_report(rows, nothing, nothing, launches, "", [reason, *rows.notes]))
            continue
        places = np.minimum(np.searchsorted(launches.id, ids), len(launches) - 1)
        places = np.where(launches.id[places] == ids, places, -1)
        notes = [*rows.notes, *notes, *joined.add(rows.features, places)]
        reports.append(_report(rows, ids, places, launches, joined_by, notes))
    return replace(launches, features=joined.features()), tuple(reports)


def _own_metrics(profile: Profile, launches: LaunchList, progress: Progress | None) -> Features:
    values = {name: np.full(len(launches), np.nan) for name in profile.metric_names}
    for number, part in enumerate(profile.parts if values else ()):
        start, stop = np.searchsorted(launches.id, [part.first_id, part.stop_id])
        if start < stop:
            for name, column in part.metrics(profile.metric_names).items():
                values[name][start:stop] = column[launches.id[start:stop] - part.first_id]
        if progress is not None:
            progress(number + 1, len(profile.parts), "reading metrics")
    return Features(metrics=values)


class KnownFeatures(Mapping[str, FloatArray]):
    """What is known of n launches so far; the metrics are arrays (n,) that are built when they are asked for.

    Hundreds of metrics of the first launches of a million would not fit in memory otherwise.
    """

    def __init__(self, launches: int) -> None:
        self._parts: dict[str, list[tuple[IntArray, FloatArray]]] = {}
        self._units: dict[str, str] = {}
        self._vectors: list[BlockVectors] = []
        #: The row that each launch has in all vectors together, -1 where it has none.
        self._vector = np.full(launches, -1, dtype=np.int64)

    def __getitem__(self, name: str) -> FloatArray:
        """Return (n,) the values of a metric; of several values for one launch the first counts."""
        values = np.full(len(self._vector), np.nan)
        for places, part in reversed(self._parts[name]):
            has_value = ~np.isnan(part)
            values[places[has_value]] = part[has_value]
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, features: Features, places: IntArray) -> list[str]:
        """Add what the rows of a file say of the launches at `places` (rows,), -1 for none; return notes."""
        rows = np.flatnonzero(places >= 0)
        places = places[rows]
        beyond, other_unit, other_value = list[str](), list[str](), list[str]()
        for name, column in features.metrics.items():
            values, unit = np.asarray(column)[rows], features.units.get(name)
            if (np.abs(values) > _LARGEST_METRIC).any():
                beyond.append(name)
                values = np.where(np.abs(values) > _LARGEST_METRIC, np.nan, values)
            if name in self._parts:
                if unit is not None and self._units.get(name, unit) != unit:
                    other_unit.append(name)
                    continue
                before = self[name][places]
                if ((before != values) & ~np.isnan(before) & ~np.isnan(values)).any():
                    other_value.append(name)
            self._parts.setdefault(name, []).append((places, values))
            if unit is not None:
                self._units[name] = unit
        if features.block_vectors is not None:
            free = self._vector[places] < 0
            self._vector[places[free]] = rows[free] + sum(len(vectors.warps) for vectors in self._vectors)
            self._vectors.append(features.block_vectors)
        sentences = {
            f"values that are infinite or beyond {_LARGEST_METRIC:g} count as none": beyond,
            "left out, for an earlier file has them in another unit": other_unit,
            "values of an earlier file, which are others, count": other_value,
        }
        return [f"{sentence}: {listed(names)}" for sentence, names in sentences.items() if names]

    def features(self) -> Features:
        """Return everything."""
        if not self._vectors:
            return Features(metrics=self, units=self._units)
        counts = np.concatenate([vectors.counts for vectors in self._vectors])
        lengths = np.concatenate([np.diff(vectors.offsets) for vectors in self._vectors])
        warps = np.concatenate([vectors.warps for vectors in self._vectors])
        has, row = self._vector >= 0, np.maximum(self._vector, 0)
        length = np.where(has, lengths[row], 0)
        offsets = np.append(0, np.cumsum(length)).astype(np.int64)
        begins = (np.cumsum(lengths) - lengths)[row]
        entries = np.repeat(begins - offsets[:-1], length) + np.arange(offsets[-1])
        vectors = BlockVectors(offsets, counts[entries], np.where(has, warps[row], 0))
        return Features(metrics=self, units=self._units, block_vectors=vectors)


def _report(
    rows: FeatureRows,
    ids: IntArray,
    matched_rows: IntArray,
    launches: LaunchList,
    joined_by: str,
    notes: Sequence[str],
) -> JoinReport:
    """Return the report of a file; ``ids`` (k,) are launches of its rows, ``matched_rows`` their places."""
    matched = int(np.count_nonzero(matched_rows >= 0))
    head = f"{rows.path} ({rows.format}): {matched:,} of {counted(len(rows), 'row')} joined"
    if not joined_by:
        return JoinReport(rows.path, "", len(rows), 0, joined_texts("; ", [head, *notes]))
    is_without = np.ones(len(launches), dtype=np.bool_)
    is_without[matched_rows[matched_rows >= 0]] = False
    without, unmatched = np.flatnonzero(is_without), np.flatnonzero(ids < 0)
    have = "has" if len(without) == 1 else "have"
    sentence = f"{len(without):,} of {counted(len(launches), 'launch')} {have} none"
    sentence += f", such as launch {launches.id[without[0]]}" if len(without) else ""
    parts = [f"{head} by {joined_by}", sentence]
    if unselected := len(rows) - matched - len(unmatched):
        parts.append(f"{counted(unselected, 'row')} of launches that are not selected")
    if len(unmatched):
        first = f"row {rows.line[unmatched[0]]}, {rows.words(int(unmatched[0]))}"
        parts.append(f"{counted(len(unmatched), 'row')} of no launch, such as {first}")
    return JoinReport(rows.path, joined_by, len(rows), matched, joined_texts("; ", [*parts, *notes]))


class _Profile(NamedTuple):
    """What identifies the launches of a profile."""

    profile: Profile
    signature: NDArray[np.int32]  #: (N,) code of name, grid and block of every launch, in id order
    shapes: IntArray  #: (signatures, 7) name code, grid and block of every signature
    has_launches: BoolArray  #: (names,) which names have launches
    sequence_indices: IntArray  #: (n,) indices of the sequences that the selected launches lie in


def _match(rows: FeatureRows, launches: _Profile, place: tuple[int, int]) -> tuple[IntArray, str, list[str]]:
    """Return (rows,) the id of each row's launch, -1 where it has none; what was compared; what to tell.

    Without ids, the k-th row of a name, grid and block within a process and device is the k-th such launch of
    the whole profile, even if only some of its launches are selected. Where rows are missing and the tool's
    own numbers of the launches show which, the numbers are used if name and size of every launch agree.
    """
    notes: list[str] = []
    if rows.id is not None:
        several = len(launches.signature)
        if rows.whole_profile and len(rows) != several:
            raise ProfileError(
                f"{counted(len(rows), 'row')} for {counted(several, 'launch')}, and only their "
                "order tells which is which",
                path=rows.path,
                remedy="write a row for every launch of the whole profile, or a table with a column id",
            )
        return np.where(rows.id < several, rows.id, -1), "id", notes
    assert rows.name is not None
    # What both sides have of the shapes is compared: the columns of the profile's, and the file's own.
    columns, own_columns, compared = list[int](), list[IntArray](), ["name"]
    for dimension, first, sizes in (("grid", 1, rows.grid), ("block", 4, rows.block)):
        if sizes is not None and sizes.any() and launches.shapes[:, first].any():
            columns += range(first, first + 3)
            own_columns += list(sizes.T)
            compared.append(dimension)
    places = [(sequence.process, sequence.device) for sequence in launches.profile.sequences]
    sequence = match_sequences(rows, places, launches.sequence_indices.tolist(), place, notes)
    codes, _ = reconcile_names(launches.profile.kernels.names, launches.has_launches, rows.names)
    name = codes[rows.name]
    matches = _by_number(rows, launches, sequence, name, notes)
    if matches is not None:
        return matches, "the log's own numbers, checked by name and size", notes
    matches = _by_occurrence(
        rows, launches, sequence, launches.shapes[:, [0, *columns]], [name, *own_columns], notes
    )
    grid = launches.shapes[launches.signature[np.maximum(matches, 0)], 1:4]
    is_other = (matches >= 0) & _differ(rows.thread_blocks, grid.prod(axis=1))
    if is_other.any():
        left_out = counted(int(is_other.sum()), "row")
        notes.append(f"{left_out} left out, whose thread blocks are not as many as the launch's")
        matches = np.where(is_other, -1, matches)
    return matches, ", ".join([*compared, "occurrence"]), notes


def _by_number(
    rows: FeatureRows, launches: _Profile, sequence: IntArray, name: IntArray, notes: list[str]
) -> IntArray | None:
    """Return the launches by the tool's own numbers; None where no row is missing, or a number is wrong.

    The numbers count the launches that the tool sees, which may be fewer than the profile has. So they are
    used only if the kernel of every row agrees, and its thread blocks or warps where both sides know them.
    """
    number, vectors = rows.launch_number, rows.features.block_vectors
    warps_said = None if vectors is None else vectors.warps
    if number is None or int(number[-1]) + 1 == len(number):
        return None
    first, length = np.array([(place.first_id, place.launches) for place in launches.profile.sequences]).T
    exists = (name >= 0) & (sequence >= 0) & (number < length[sequence])
    launch = np.where(exists, first[sequence] + number, -1)
    shapes = launches.shapes[launches.signature[np.maximum(launch, 0)]]
    blocks = shapes[:, 1:4].prod(axis=1)
    warps = blocks * -(-shapes[:, 4:].prod(axis=1) // _WARP_THREADS)
    is_other = (shapes[:, 0] != name) | _differ(rows.thread_blocks, blocks) | _differ(warps_said, warps)
    is_other &= exists
    if is_other.any():
        notes.append(
            "its own numbers do not count the profile's launches "
            f"(kernel {int(number[np.argmax(is_other)])} is another there), so later "
            "launches of a kernel may be taken for earlier ones"
        )
    return launch if exists.any() and not is_other.any() else None


def _differ(printed: IntArray | None, profiled: IntArray) -> BoolArray:
    """Return where two counts differ; 0 is a count that is not known."""
    differ: BoolArray = (
        np.zeros(len(profiled), dtype=np.bool_) if printed is None else (printed > 0) & (printed != profiled)
    )
    return differ & (profiled > 0)


def _by_occurrence(
    rows: FeatureRows,
    launches: _Profile,
    sequence: IntArray,
    shapes: IntArray,
    own_columns: Sequence[IntArray],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the k-th launch of a kernel and sequence for the k-th row of it.

    What is compared of each signature is a row of ``shapes``, the name's code first; ``own_columns`` has its
    columns of the rows.
    """
    rows_named = np.flatnonzero((own_columns[0] >= 0) & (sequence >= 0))
    label, _ = dense_codes(
        [np.concatenate([shapes[:, place], column[rows_named]]) for place, column in enumerate(own_columns)]
    )
    lengths = [place.launches for place in launches.profile.sequences]
    of_sequence = np.concatenate([np.repeat(np.arange(len(lengths)), lengths), sequence[rows_named]])
    kind, kinds = dense_codes([np.append(label[launches.signature], label[len(shapes) :]), of_sequence])
    of_launch, of_row = np.split(kind, [len(launches.signature)])
    count = np.bincount(of_launch, minlength=len(kinds))
    in_file = np.bincount(of_row, minlength=len(count))
    if rows.occurrence is None:
        occurrence = np.empty(len(rows_named), dtype=np.int64)
        order = np.argsort(of_row, kind="stable")
        occurrence[order] = np.arange(len(rows_named)) - (np.cumsum(in_file) - in_file)[of_row[order]]
        fewer = int(np.count_nonzero((in_file > 0) & (in_file < count)))
        if fewer:
            kernels = counted(int(np.count_nonzero((in_file > 0) & (count > 0))), "kernel")
            have = "has" if fewer == 1 else "have"
            notes.append(
                f"{fewer:,} of {kernels} {have} fewer rows than launches: "
                "they are taken for the first ones, which is wrong after --launch-skip or --kernel-id"
            )
    else:
        occurrence = rows.occurrence[rows_named]
    has = occurrence < count[of_row]
    placed = np.argsort(of_launch, kind="stable")
    matches = np.full(len(rows), -1, dtype=np.int64)
    matches[rows_named[has]] = placed[(np.cumsum(count) - count)[of_row[has]] + occurrence[has]]
    return matches


def file_places(files: Sequence[FeatureRows]) -> list[tuple[int, int]]:
    """Return the place of each file among those of its format that have one process and device, as it has."""
    kinds: list[object] = []
    for place, rows in enumerate(files):
        numbers = [number for number in (rows.process, rows.device) if number is not None]
        is_one = rows.id is None and all((number == number[0]).all() for number in numbers)
        kinds.append(rows.format if is_one else place)
    return [(kinds[:place].count(kind), kinds.count(kind)) for place, kind in enumerate(kinds)]


def match_sequences(
    rows: FeatureRows,
    places: Sequence[tuple[int, int]],
    selected: Sequence[int],
    place: tuple[int, int],
    notes: list[str],
) -> IntArray:
    """Return (rows,) the index of the sequence of every row, -1 for one that the profile lacks.

    ``places`` are process and device of the profile's sequences, ``selected`` those that launches are of, and
    ``place`` says which of how many files of its kind this is.

    Equal numbers mean the same process and device. Of another run, devices may still be the same; else
    equally many processes and devices go in ascending order, or equally many files in the order given.
    """
    unknown = np.full(len(rows), -1, dtype=np.int64)
    process, device = (unknown if number is None else number for number in (rows.process, rows.device))
    # Numbers may be -1, codes want them from 0 on.
    codes, first_rows = dense_codes([process + 1, device + 1])
    pairs = list(zip(process[first_rows].tolist(), device[first_rows].tolist(), strict=True))

    def told_by(*numbers: int) -> list[int] | None:
        """Return the sequence of each pair by process (0) or device (1); None where that leaves a doubt."""
        pair_keys, place_keys = (
            [tuple(pair[number] for number in numbers) for pair in side] for side in (pairs, places)
        )
        if len(set(pair_keys)) < len(pair_keys) or any(place_keys.count(key) > 1 for key in pair_keys):
            return None
        indices = [place_keys.index(key) if key in place_keys else -1 for key in pair_keys]
        # One may fit none only if every sequence is taken: the file then has more than the profile.
        is_whole = -1 not in indices or len(indices) - indices.count(-1) == len(places)
        return indices if is_whole else None

    columns = [number for number, column in enumerate((rows.process, rows.device)) if column is not None]
    matches, message = told_by(*columns) if columns else None, ""
    if matches is None and 1 in columns and len(places) > 1:
        matches, message = told_by(1), "by device"
    for candidates in (list(range(len(places))), list(selected)):
        if matches is not None:
            break
        if len(candidates) == len(pairs):
            ascending = sorted(candidates, key=lambda index: places[index])
            of_pair = dict(zip(sorted(pairs), ascending, strict=True))
            matches = [of_pair[pair] for pair in pairs]
            message = "in ascending order" if len(pairs) > 1 else ""
        elif len(pairs) == 1 and place[1] == len(candidates) > 1:
            matches = [candidates[place[0]]]
            message = f"as file {place[0] + 1} of {place[1]} in the order given"
    if matches is None:
        place_list = listed([f"{process}:{device}" for process, device in places], 8)
        raise ProfileError(
            f"has rows of {counted(len(pairs), 'process or device', 'processes or devices')}, and the "
            f"profile launches of {len(places):,} ({place_list})",
            path=rows.path,
            remedy=Wording(
                "give a file for each of the profile's, in this order, or choose what it describes with "
                "`processes` or `devices`"
            ),
        )
    if message:
        readings = [f"{pair[0]}:{pair[1]} is {places[index][0]}:{places[index][1]}"
                 for pair, index in zip(pairs, matches, strict=True) if index >= 0]  # fmt: skip
        notes.append(
            f"its processes and devices were taken for the profile's {message} ({listed(readings, 4)})"
        )
    return np.array(matches, dtype=np.int64)[codes]
