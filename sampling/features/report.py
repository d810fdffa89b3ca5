"""What became of the rows of a file of features: how many were joined to launches, and which were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.features.matching import Matches
from sampling.features.rows import FeatureRows
from sampling.profile.names import short_name
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted, joined_texts, shortened

_EXAMPLES = 3
_EXAMPLE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What became of the rows of one file of features.

    Attributes
    ----------
    path, format : the file, and the name of its format.
    joined_by : what rows and launches were compared by: "id", "name, grid, block, occurrence", ...; "" where
        nothing was joined.
    rows : how many the file has; each is one of the next three.
    matched : rows of selected launches.
    rows_not_selected : rows of launches of the profile that are not selected.
    unmatched_rows : rows of no launch of the profile.
    launches : how many are selected.
    launches_without : selected launches that the file has no row for.
    first_unmatched : the first rows of no launch, in words.
    first_without : the first selected launches without a row, in words.
    notes : what the user should know of how the file was read and joined.
    """

    path: str
    format: str
    joined_by: str
    rows: int
    matched: int
    rows_not_selected: int
    unmatched_rows: int
    launches: int
    launches_without: int
    first_unmatched: tuple[str, ...]
    first_without: tuple[str, ...]
    notes: tuple[str, ...]

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


def report_of(
    rows: FeatureRows, matches: Matches, places: IntArray, launches: LaunchList, notes: tuple[str, ...]
) -> JoinReport:
    """Return the report of a file that was joined.

    Parameters
    ----------
    places : (rows of the file,) the index in the list of each row's launch, -1 where it is not selected.
    """
    has_row = np.zeros(len(launches), dtype=np.bool_)
    has_row[places[places >= 0]] = True
    unmatched = np.flatnonzero(matches.id < 0)
    without = np.flatnonzero(~has_row)
    code = launches.kernels.signature_rows()[:, 0]
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
        first_unmatched=tuple(_row_words(rows, row) for row in unmatched[:_EXAMPLES].tolist()),
        first_without=tuple(
            f"launch {int(launches.id[place])} '{_brief(launches.kernels.names.short(int(code[signature])))}'"
            for place, signature in zip(
                without[:_EXAMPLES].tolist(), launches.signature[without[:_EXAMPLES]].tolist(), strict=True
            )
        ),
        notes=notes,
    )


def report_of_nothing(rows: FeatureRows, launches: LaunchList, error: ProfileError) -> JoinReport:
    """Return the report of a file of which nothing could be joined, and why."""
    return JoinReport(
        path=rows.path,
        format=rows.format,
        joined_by="",
        rows=len(rows),
        matched=0,
        rows_not_selected=0,
        unmatched_rows=len(rows),
        launches=len(launches),
        launches_without=len(launches),
        first_unmatched=(),
        first_without=(),
        notes=(error.message.removeprefix(f"{error.path}: "), *rows.notes),
    )


def _row_words(rows: FeatureRows, row: int) -> str:
    if rows.id is not None:
        return f"row {int(rows.line[row])} with id {int(rows.id[row])}"
    assert rows.name is not None
    name = rows.names[int(rows.name[row])]
    return f"row {int(rows.line[row])} '{_brief(short_name(name))}'"


def _brief(name: str) -> str:
    return shortened(name, _EXAMPLE_LENGTH)
