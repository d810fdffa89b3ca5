"""Features joined to the launches of a profile: its own metrics, and those of other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.features.matching import Matches, ProfileLaunches, file_positions, match_rows
from sampling.features.reading import FeatureRows, read_features
from sampling.parallel import Progress
from sampling.profile.names import short_name
from sampling.profile.profile import Profile
from sampling.readers.table import NumberLocale
from sampling.reduction.launch_list import BlockVectors, Features, LaunchList
from sampling.text import counted, joined_texts, shortened

# Squares of larger numbers, summed over a profile, are beyond a double; no counter of a GPU comes near it.
_LARGEST_METRIC = 1e100


def with_features(
    profile: Profile,
    launches: LaunchList,
    paths: Sequence[str],
    progress: Progress | None = None,
    *,
    locale: NumberLocale = "C",
    strict: bool = True,
) -> tuple[LaunchList, tuple[JoinReport, ...]]:
    """Return the list with the features that the profile and the files have of its launches.

    Where several sources have one metric, the first counts and later ones fill its gaps; a note says where
    they disagree.

    Raises ProfileError: a file is no file of features. With ``strict``, its processes are not the
    profile's, or none of its rows matches a launch.

    Parameters
    ----------
    profile : the profile that the list was made from.
    paths : files of features, in the order given; "-" is standard input.
    locale : how the files write their numbers.
    strict : whether a file of which nothing can be joined is an error. If not, its report says so: files may
        be given for several profiles at once, and each fits one.

    Returns
    -------
    The same list with ``features``, None where there is neither a metric nor a file; a report for each file.
    """
    if not paths and not profile.metric_names:
        return replace(launches, features=None), ()
    joined = _Joined(len(launches))
    _add_own(profile, launches, joined, progress)
    # Which process a file describes may depend on the other files, so all are read before one is joined.
    files = [read_features(path, locale=locale, progress=progress) for path in paths]
    reports = []
    every = ProfileLaunches.of(profile, launches.sequence) if files else None
    for number, (rows, position) in enumerate(zip(files, file_positions(files), strict=True)):
        assert every is not None
        if progress is not None:
            progress(number, len(paths), f"joining {rows.path}")
        try:
            matches = match_rows(rows, every, position)
            if not (matches.id >= 0).any():
                raise _none_matches(rows, every, matches)
        except ProfileError as error:
            if strict:
                raise
            # The message has the file's name before it, which the report has too.
            nothing = Matches(np.full(len(rows), -1), "", (error.message.removeprefix(f"{error.path}: "),))
            notes = (*nothing.notes, *rows.notes)
            reports.append(_report(rows, nothing, nothing.id, launches, notes))
        else:
            places = _places(launches, matches.id)
            notes = (
                *rows.notes,
                *matches.notes,
                *joined.add(rows.features, np.flatnonzero(places >= 0), places),
            )
            reports.append(_report(rows, matches, places, launches, notes))
        if progress is not None:
            progress(number + 1, len(paths), f"joining {rows.path}")
    return replace(launches, features=joined.features()), tuple(reports)


def _add_own(profile: Profile, launches: LaunchList, joined: _Joined, progress: Progress | None) -> None:
    """Add the metrics that the profile itself has."""
    if not profile.metric_names:
        return
    values = {name: np.full(len(launches), np.nan) for name in profile.metric_names}
    for number, part in enumerate(profile.parts):
        start, stop = np.searchsorted(launches.id, [part.first_id, part.stop_id])
        if start < stop:
            read = part.metrics(profile.metric_names)
            rows = launches.id[start:stop] - part.first_id
            for name, column in read.items():
                values[name][start:stop] = column[rows]
        if progress is not None:
            progress(number + 1, len(profile.parts), "reading metrics")
    everywhere = np.arange(len(launches))
    joined.add(Features(metrics=values), everywhere, everywhere)


def _places(launches: LaunchList, launch_id: IntArray) -> IntArray:
    """Return the index in the list of each id, -1 where the id is not selected or is itself -1."""
    if len(launches) == 0:
        return np.full(len(launch_id), -1, dtype=np.int64)
    place = np.searchsorted(launches.id, launch_id)
    place = np.minimum(place, len(launches) - 1)
    return np.where(launches.id[place] == launch_id, place, -1)


def _none_matches(rows: FeatureRows, launches: ProfileLaunches, matches: Matches) -> ProfileError:
    profile = launches.profile
    if rows.id is not None and rows.name is None:
        there = f"the ids of the profile end at {profile.launches - 1}"
    else:
        code = int(launches.shapes[launches.signature[0], 0])
        there = f"the profile has '{shortened(profile.kernels.names.full(code))}'"
    told = f" ({'; '.join(matches.notes)})" if matches.notes else ""
    none = "its one row matches no launch"
    if len(rows) > 1:
        none = f"none of its {len(rows):,} rows matches a launch"
    return ProfileError(
        f"{none}: it has {rows.words(0)}, {there}{told}",
        path=rows.path,
        remedy="give features of the same program with the same input",
    )


class ScatteredMetrics(Mapping[str, FloatArray]):
    """Metrics known for some of n launches, as (n,) arrays that are built when they are asked for.

    Hundreds of metrics of the first launches of a million would not fit in memory otherwise.
    """

    def __init__(self, launches: int, parts: Mapping[str, Sequence[tuple[IntArray, FloatArray]]]) -> None:
        self._launches = launches
        self._parts = {name: tuple(of_metric) for name, of_metric in parts.items()}

    def __getitem__(self, name: str) -> FloatArray:
        """Return (n,) the values of a metric; of several values for one launch the first counts."""
        values = np.full(self._launches, np.nan)
        for places, part in reversed(self._parts[name]):
            known = ~np.isnan(part)
            values[places[known]] = part[known]
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class _Joined:
    """What is known of n launches so far."""

    def __init__(self, launches: int) -> None:
        self._launches = launches
        self._parts: dict[str, list[tuple[IntArray, FloatArray]]] = {}
        self._units: dict[str, str] = {}
        self._vectors: list[BlockVectors] = []
        self._vector_row = np.full(launches, -1, dtype=np.int64)
        self._vector_rows = 0

    def features(self) -> Features:
        """Return everything."""
        return Features(
            metrics=ScatteredMetrics(self._launches, self._parts),
            units=dict(self._units),
            block_vectors=_gathered(self._vectors, self._vector_row) if self._vectors else None,
        )

    def add(self, features: Features, rows: IntArray, places: IntArray) -> tuple[str, ...]:
        """Add what some rows of a file say; return where that disagrees with what is known, in words.

        Parameters
        ----------
        rows : the rows that belong to a selected launch.
        places : (rows of the file,) the index in the list of each row's launch.
        """
        at = places[rows]
        notes = []
        for name, values in features.metrics.items():
            chosen = np.asarray(values)[rows]
            if (beyond := np.abs(chosen) > _LARGEST_METRIC).any():
                chosen = np.where(beyond, np.nan, chosen)
                notes.append(f"values beyond {_LARGEST_METRIC:g} count as none: {name}")
            note = self._add_metric(name, features.units.get(name), at, chosen)
            notes += [note] if note else []
        if features.block_vectors is not None:
            notes += self._add_vectors(features.block_vectors, rows, at)
        return tuple(notes)

    def _add_metric(self, name: str, unit: str | None, at: IntArray, values: FloatArray) -> str | None:
        known = self._parts.setdefault(name, [])
        note = None
        if known:
            earlier = self._units.get(name, unit)
            if unit is not None and earlier != unit:
                return f"'{name}' is left out: it is in {unit} here and in {earlier} in an earlier file"
            before = ScatteredMetrics(self._launches, {name: known})[name][at]
            other = (before != values) & ~np.isnan(before) & ~np.isnan(values)
            if other.any():
                first = int(np.argmax(other))
                differing = counted(int(other.sum()), "launch", "launches")
                note = (
                    f"'{name}' has other values in an earlier file for {differing} "
                    f"({before[first]:.6g} there, {values[first]:.6g} here); the earlier ones count"
                )
        known.append((at, values))
        if unit is not None:
            self._units[name] = unit
        return note

    def _add_vectors(self, vectors: BlockVectors, rows: IntArray, at: IntArray) -> list[str]:
        free = self._vector_row[at] < 0
        self._vector_row[at[free]] = rows[free] + self._vector_rows
        self._vectors.append(vectors)
        self._vector_rows += len(vectors.warps)
        taken = int(np.count_nonzero(~free))
        keep = "keeps" if taken == 1 else "keep"
        launches = counted(taken, "launch", "launches")
        return [f"{launches} {keep} the vectors of an earlier file"] if taken else []


def _gathered(sources: Sequence[BlockVectors], row: IntArray) -> BlockVectors:
    """Return the vectors of launches: for each its ``row`` of all sources together, -1 where it has none."""
    counts = np.concatenate([each.counts for each in sources])
    lengths = np.concatenate([np.diff(each.offsets) for each in sources])
    starts = np.cumsum(lengths) - lengths
    warps = np.concatenate([each.warps for each in sources])
    has = row >= 0
    source = np.where(has, row, 0)
    length = np.where(has, lengths[source], 0)
    offsets = np.concatenate([[0], np.cumsum(length)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
    return BlockVectors(
        offsets=offsets.astype(np.int64),
        counts=counts[np.repeat(starts[source], length) + within],
        warps=np.where(has, warps[source], 0),
    )


_EXAMPLES = 3
_EXAMPLE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What became of the rows of one file of features."""

    path: str
    format: str
    #: what rows and launches were compared by: "id", "name, grid, block, occurrence", ...; "" where nothing
    #: was joined
    joined_by: str
    rows: int
    #: rows of selected launches, of others, and of none
    matched: int
    rows_not_selected: int
    unmatched_rows: int
    #: how many are selected, and how many of these have no row
    launches: int
    launches_without: int
    #: the first such rows and launches, in words
    first_unmatched: tuple[str, ...]
    first_without: tuple[str, ...]
    notes: tuple[str, ...]  #: what the user should know of how the file was read and joined

    @property
    def sentence(self) -> str:
        """The report as one line."""
        joined = f"{self.path} ({self.format}): {self.matched:,} of {counted(self.rows, 'row')} joined"
        if not self.joined_by:
            return joined_texts("; ", [joined, *self.notes])
        have = "has" if self.launches_without == 1 else "have"
        parts = [
            f"{joined} by {self.joined_by}",
            f"{self.launches_without:,} of {counted(self.launches, 'launch', 'launches')} {have} none"
            + _examples(self.first_without, self.launches_without),
        ]
        if self.rows_not_selected == 1:
            parts.append("1 row is of a launch that is not selected")
        elif self.rows_not_selected:
            parts.append(f"{self.rows_not_selected:,} rows are of launches that are not selected")
        if self.unmatched_rows:
            match = "matches" if self.unmatched_rows == 1 else "match"
            parts.append(
                f"{counted(self.unmatched_rows, 'row')} {match} no launch"
                + _examples(self.first_unmatched, self.unmatched_rows)
            )
        return joined_texts("; ", [*parts, *self.notes])


def _examples(first: Sequence[str], count: int) -> str:
    """Return the first of several in parentheses, nothing where there are none."""
    if not first:
        return ""
    return f" ({', '.join([*first, '...'] if count > len(first) else first)})"


def _report(
    rows: FeatureRows, matches: Matches, places: IntArray, launches: LaunchList, notes: tuple[str, ...]
) -> JoinReport:
    """Return the report of a file."""
    has_row = np.zeros(len(launches), dtype=np.bool_)
    has_row[places[places >= 0]] = True
    unmatched, without = np.flatnonzero(matches.id < 0), np.flatnonzero(~has_row)
    most = _EXAMPLES if matches.joined_by else 0
    name_of = launches.kernels.signature_rows()[:, 0][launches.signature]
    return JoinReport(
        path=rows.path,
        format=rows.format,
        joined_by=matches.joined_by,
        rows=len(rows),
        matched=int(np.count_nonzero(places >= 0)),
        rows_not_selected=int(np.count_nonzero((places < 0) & (matches.id >= 0))),
        unmatched_rows=len(unmatched),
        launches=len(launches),
        launches_without=len(without),
        first_unmatched=tuple(_row_words(rows, row) for row in unmatched[:most].tolist()),
        first_without=tuple(
            f"launch {int(launches.id[place])} '{_brief(launches.kernels.names.short(int(name_of[place])))}'"
            for place in without[:most].tolist()
        ),
        notes=notes,
    )


def _row_words(rows: FeatureRows, row: int) -> str:
    if rows.id is not None:
        return f"row {int(rows.line[row])} with id {int(rows.id[row])}"
    assert rows.name is not None
    return f"row {int(rows.line[row])} '{_brief(short_name(rows.names[int(rows.name[row])]))}'"


def _brief(name: str) -> str:
    return shortened(name, _EXAMPLE_LENGTH)
