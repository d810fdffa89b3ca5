"""Features joined to the launches of a profile: its own metrics, and those of other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.features.matching import ProfileLaunches, file_places, match_rows
from sampling.features.reading import FeatureRows, read_features
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.readers.table import NumberLocale
from sampling.reduction.launch_list import BlockVectors, Features, LaunchList
from sampling.text import counted, joined_texts, listed, shortened

# Squares of larger numbers, summed over a profile, are beyond a double; no counter of a GPU comes near it.
_LARGEST_METRIC = 1e100


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
    """Return the list with the features that the profile and the files have of its launches.

    Where several sources have one metric, the first counts and later ones fill its gaps; a note says where
    they disagree. ``features`` is None where there is neither a metric nor a file.

    Raises ProfileError: a file is no file of features. With ``strict``, its processes are not the
    profile's, or none of its rows matches a launch.

    Parameters
    ----------
    profile : the profile that the list was made from.
    paths : files of features, in the order given; "-" is standard input.
    locale : how the files write their numbers.
    strict : whether a file of which nothing can be joined is an error. If not, its report says so: files may
        be given for several profiles at once, and each fits one.
    """
    if not paths and not profile.metric_names:
        return replace(launches, features=None), ()
    known = _KnownFeatures(len(launches))
    if profile.metric_names:
        known.add(_own_metrics(profile, launches, progress), np.arange(len(launches)))
    if not paths:
        return replace(launches, features=known.features()), ()
    # Which process a file describes may depend on the other files, so all are read before one is joined.
    files = [read_features(path, locale=locale, progress=progress) for path in paths]
    every = ProfileLaunches.of(profile, launches.sequence)
    reports = []
    for number, (rows, place) in enumerate(zip(files, file_places(files), strict=True)):
        if progress is not None:
            progress(number, len(paths), f"joining {rows.path}")
        try:
            ids, joined_by, notes = match_rows(rows, every, place)
            if not (ids >= 0).any():
                its_first = shortened(profile.kernels.names.full(int(every.shapes[every.signature[0], 0])))
                raise ProfileError(
                    f"none of its rows matches a launch: it has {rows.words(0)}, and the profile "
                    f"{counted(profile.launches, 'launch', 'launches')} from '{its_first}' on",
                    path=rows.path,
                    remedy="give features of the same program with the same input",
                )
        except ProfileError as error:
            if strict:
                raise
            # The message has the file's name before it, as the sentence has.
            why = error.message.removeprefix(f"{error.path}: ")
            sentence = joined_texts("; ", [_head(rows, 0), why, *rows.notes])
            reports.append(JoinReport(rows.path, "", len(rows), 0, sentence))
            continue
        at = np.minimum(np.searchsorted(launches.id, ids), len(launches) - 1)
        at = np.where(launches.id[at] == ids, at, -1)
        notes = [*rows.notes, *notes, *known.add(rows.features, at)]
        reports.append(_report(rows, ids, at, launches, joined_by, notes))
    return replace(launches, features=known.features()), tuple(reports)


def _own_metrics(profile: Profile, launches: LaunchList, progress: Progress | None) -> Features:
    values = {name: np.full(len(launches), np.nan) for name in profile.metric_names}
    for number, part in enumerate(profile.parts):
        start, stop = np.searchsorted(launches.id, [part.first_id, part.stop_id])
        if start < stop:
            for name, column in part.metrics(profile.metric_names).items():
                values[name][start:stop] = column[launches.id[start:stop] - part.first_id]
        if progress is not None:
            progress(number + 1, len(profile.parts), "reading metrics")
    return Features(metrics=values)


class _KnownFeatures(Mapping[str, FloatArray]):
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
            known = ~np.isnan(part)
            values[places[known]] = part[known]
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, features: Features, at: IntArray) -> list[str]:
        """Add what the rows of a file say; return what the user should know of it.

        Parameters
        ----------
        at : (rows,) the place in the list of each row's launch, -1 for a row of none.
        """
        rows = np.flatnonzero(at >= 0)
        at = at[rows]
        beyond, other_unit, other_value = list[str](), list[str](), list[str]()
        for name, column in features.metrics.items():
            values, unit = np.asarray(column)[rows], features.units.get(name)
            if (np.abs(values) > _LARGEST_METRIC).any():
                beyond.append(name)
                values = np.where(np.abs(values) > _LARGEST_METRIC, np.nan, values)
            if name in self:
                if unit is not None and self._units.get(name, unit) != unit:
                    other_unit.append(name)
                    continue
                before = self[name][at]
                if ((before != values) & ~np.isnan(before) & ~np.isnan(values)).any():
                    other_value.append(name)
            self._parts.setdefault(name, []).append((at, values))
            if unit is not None:
                self._units[name] = unit
        if features.block_vectors is not None:
            free = self._vector[at] < 0
            self._vector[at[free]] = rows[free] + sum(len(each.warps) for each in self._vectors)
            self._vectors.append(features.block_vectors)
        said = {
            f"values that are infinite or beyond {_LARGEST_METRIC:g} count as none": beyond,
            "left out, for an earlier file has them in another unit": other_unit,
            "values of an earlier file, which are others, count": other_value,
        }
        return [f"{what}: {listed(names)}" for what, names in said.items() if names]

    def features(self) -> Features:
        """Return everything."""
        if not self._vectors:
            return Features(metrics=self, units=self._units)
        counts = np.concatenate([each.counts for each in self._vectors])
        lengths = np.concatenate([np.diff(each.offsets) for each in self._vectors])
        warps = np.concatenate([each.warps for each in self._vectors])
        has, row = self._vector >= 0, np.maximum(self._vector, 0)
        length = np.where(has, lengths[row], 0)
        offsets = np.append(0, np.cumsum(length)).astype(np.int64)
        begins = (np.cumsum(lengths) - lengths)[row]
        chosen = np.repeat(begins - offsets[:-1], length) + np.arange(offsets[-1])
        vectors = BlockVectors(offsets, counts[chosen], np.where(has, warps[row], 0))
        return Features(metrics=self, units=self._units, block_vectors=vectors)


def _head(rows: FeatureRows, matched: int) -> str:
    return f"{rows.path} ({rows.format}): {matched:,} of {counted(len(rows), 'row')} joined"


def _report(
    rows: FeatureRows, ids: IntArray, at: IntArray, launches: LaunchList, joined_by: str, notes: Sequence[str]
) -> JoinReport:
    """Return the report of a file; ``ids`` and ``at`` are the launches of its rows and their places."""
    matched = int(np.count_nonzero(at >= 0))
    has_row = np.zeros(len(launches), dtype=np.bool_)
    has_row[at[at >= 0]] = True
    without, unmatched = np.flatnonzero(~has_row), np.flatnonzero(ids < 0)
    have = "has" if len(without) == 1 else "have"
    said = f"{len(without):,} of {counted(len(launches), 'launch', 'launches')} {have} none"
    said += f", such as {launches.id[without[0]]}" if len(without) else ""
    parts = [f"{_head(rows, matched)} by {joined_by}", said]
    if others := len(rows) - matched - len(unmatched):
        parts.append(f"{counted(others, 'row')} of launches that are not selected")
    if len(unmatched):
        first = f"row {rows.line[unmatched[0]]}, {rows.words(int(unmatched[0]))}"
        parts.append(f"{counted(len(unmatched), 'row')} of no launch, such as {first}")
    return JoinReport(rows.path, joined_by, len(rows), matched, joined_texts("; ", [*parts, *notes]))
