"""The launches of a region that a named range holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.profile.profile import Profile, Span
from sampling.reduction.ranges.nesting import PATH_SEPARATOR, range_tree
from sampling.reduction.selection import Selection
from sampling.text import Wording

_NAMES_SHOWN = 5
_RANGES_ARE_IN = (
    "an nsys SQLite or folder export, a PyTorch profiler trace (Kineto), or rocprofv3's database or JSON"
)


def within_ranges(profile: Profile, text: str, chosen: Sequence[Selection]) -> tuple[Selection, ...]:
    """Keep the launches that any range of this name holds; else of this path; else whose name contains it.

    Raises
    ------
    EmptySelectionError : none of them is held by such a range.
    NotApplicableError : the profile has no ranges.
    """
    runs = _runs_meant(profile, text)
    if runs is None:
        raise NotApplicableError(
            Wording(
                "`named_range` needs named ranges, and a profile of the format {} has none", profile.format
            ),
            remedy=f"give {_RANGES_ARE_IN}",
        )
    if not len(runs):
        raise EmptySelectionError(
            Wording(
                "`named_range={!r}` leaves no launch: none was issued in a range whose name contains it", text
            ),
            remedy=_names_there_are(profile),
        )
    by_sequence = {index: runs[runs[:, 0] == index, 1:] for index in np.unique(runs[:, 0]).tolist()}
    none = np.zeros((0, 2), dtype=np.int64)
    inside = (
        (each, _covered(each.span, by_sequence.get(each.span.sequence, none))[each.rows]) for each in chosen
    )
    left = tuple(part for each, rows in inside if (part := each.narrowed(rows)) is not None)
    if not left:
        raise EmptySelectionError(
            Wording("`named_range={!r}` leaves no launch of those that the other filters keep", text),
            remedy=Wording("leave out `devices`, `processes`, `launches` or the range"),
        )
    return left


def _runs_meant(profile: Profile, text: str) -> IntArray | None:
    """Return (r, 3) sequence, first and stop ordinal of each range meant; None where the format has none."""
    found = profile.named_ranges(text)
    if found is None:
        return None
    is_name = bool(found) and found[0].text == text
    if PATH_SEPARATOR in text and not is_name:
        runs = profile.range_runs()
        on_path = None if runs is None else range_tree(runs, profile.sequences).runs_of_path(text)
        if runs is not None and on_path is not None and len(on_path):
            return np.stack([runs.sequence, runs.first_ordinal, runs.stop_ordinal], axis=1)[on_path]
    rows = [(each.sequence, each.first_ordinal, each.stop_ordinal) for each in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _covered(span: Span, runs: IntArray) -> BoolArray:
    """Return (span.launches,) which launches lie in any of the runs, rows of a first and a stop ordinal."""
    bounds = np.clip(runs - span.first_ordinal, 0, span.launches)
    open_runs = np.zeros(span.launches + 1, dtype=np.int64)
    np.add.at(open_runs, bounds[:, 0], 1)
    np.add.at(open_runs, bounds[:, 1], -1)
    return np.cumsum(open_runs[:-1]) > 0


def _names_there_are(profile: Profile) -> str:
    names = profile.range_names(_NAMES_SHOWN + 1)
    shown = ", ".join(map(repr, names[:_NAMES_SHOWN]))
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"names there are: {shown}{more}" if names else "there is no range in this profile"
