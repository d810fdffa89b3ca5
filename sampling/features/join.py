"""Features joined to the launches of a profile: its own metrics, and those of other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.features.formats.registry import read_features
from sampling.features.joined import JoinedFeatures
from sampling.features.matching import Matches, ProfileLaunches, match_rows
from sampling.features.report import JoinReport, report_of, report_of_nothing
from sampling.features.rows import FeatureRows, shortened
from sampling.features.sequences import Turn, turns
from sampling.features.tables.number_cells import NumberLocale
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.launch_features import Features
from sampling.reduction.launch_list import LaunchList


def with_features(
    profile: Profile,
    launches: LaunchList,
    paths: Sequence[str],
    progress: Progress | None = None,
    *,
    locale: NumberLocale = "C",
    strict: bool = True,
) -> tuple[LaunchList, tuple[JoinReport, ...]]:
    """Return the list with what the profile and the files say of its launches.

    Where several sources give one metric, the first stays and later ones fill in what it lacks; a note says
    where they disagree.

    Parameters
    ----------
    profile : the profile that the list was made from.
    paths : files of features, in the order given; "-" is standard input.
    locale : how the files write their numbers.
    strict : whether a file of which nothing can be joined is an error. Else its report says so: of files for
        several profiles, each fits its own.

    Returns
    -------
    launches : the same list with ``features``; None where there is neither a metric nor a file.
    reports : one for each file.

    Raises
    ------
    ProfileError : a file is no file of features. With ``strict``, its processes are not the profile's, or
        none of its rows matches a launch.
    """
    if not paths and not profile.metric_names:
        return replace(launches, features=None), ()
    joined = JoinedFeatures(len(launches))
    _add_own(profile, launches, joined, progress)
    # What one file of several is depends on the others, so all are read before one is joined.
    files = [read_features(path, locale=locale, progress=progress) for path in paths]
    reports = []
    every = ProfileLaunches.of(profile, launches.sequence) if files else None
    for number, (rows, turn) in enumerate(zip(files, turns(files), strict=True)):
        assert every is not None
        if progress is not None:
            progress(number, len(paths), f"joining {rows.path}")
        try:
            matches = _matches(rows, every, turn)
        except ProfileError as error:
            if strict:
                raise
            reports.append(report_of_nothing(rows, launches, error))
        else:
            places = _places(launches, matches.id)
            notes = joined.add(rows.features, np.flatnonzero(places >= 0), places)
            reports.append(report_of(rows, matches, places, launches, (*rows.notes, *matches.notes, *notes)))
        if progress is not None:
            progress(number + 1, len(paths), f"joining {rows.path}")
    return replace(launches, features=joined.features()), tuple(reports)


def _add_own(
    profile: Profile, launches: LaunchList, joined: JoinedFeatures, progress: Progress | None
) -> None:
    """Add the metrics that the profile itself has."""
    if not profile.metric_names:
        return
    values = {name: np.full(len(launches), np.nan) for name in profile.metric_names}
    for number, span in enumerate(profile.spans):
        first = profile.sequences[span.sequence].first_id + span.first_ordinal
        start, stop = np.searchsorted(launches.id, [first, first + span.launches])
        if start < stop:
            read = profile.read_metrics(span, profile.metric_names)
            rows = launches.id[start:stop] - first
            for name, column in read.items():
                values[name][start:stop] = column[rows]
        if progress is not None:
            progress(number + 1, len(profile.spans), "reading metrics")
    everywhere = np.arange(len(launches))
    joined.add(Features(metrics=values), everywhere, everywhere)


def _places(launches: LaunchList, launch_id: IntArray) -> IntArray:
    """Return the place in the list of each id: -1 for one that is not selected, as for -1 itself."""
    if len(launches) == 0:
        return np.full(len(launch_id), -1, dtype=np.int64)
    place = np.searchsorted(launches.id, launch_id)
    place = np.minimum(place, len(launches) - 1)
    return np.where(launches.id[place] == launch_id, place, -1)


def _matches(rows: FeatureRows, launches: ProfileLaunches, turn: Turn) -> Matches:
    """Return where the rows belong.

    Raises
    ------
    ProfileError : that cannot be told, or none of them belongs to a launch.
    """
    matches = match_rows(rows, launches, turn)
    if (matches.id >= 0).any():
        return matches
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
    raise ProfileError(
        f"{none}: it has {rows.words(0)}, {there}{told}",
        path=rows.path,
        remedy="give features of the same program with the same input",
    )
