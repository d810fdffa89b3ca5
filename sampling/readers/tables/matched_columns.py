"""The columns of one table that a launch is read from: those the user named, others by their own names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from sampling.errors import ProfileError
from sampling.readers.tables.column_map import (
    DIMENSIONS,
    LAUNCH_COLUMNS,
    REQUIRED,
    UNITS_NS,
    ColumnMap,
    NamedColumn,
)
from sampling.text import Wording, listed, nearest, shortened

_MOST_LISTED = 12

# What people call the two columns that every launch has, the likeliest first.
_NAME_LIKE = (r"kernel.?name", r"demangled", r"^kernel$", r"^name$", r"kernel", r"name", r"op(eration)?$")
_DURATION_LIKE = (r"^dur", r"dur", r"elapsed", r"kernel.?time", r"gpu.?time", r"^time", r"time|latency")
_NO_DURATION = re.compile(r"start|begin|end|stamp|%|avg|mean|min|max|median|std", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[^a-z])(ns|us|ms|s)(?:ec)?(?:[^a-z]*)$", re.IGNORECASE)


def matched_columns(
    given: ColumnMap | None, present: Sequence[str], path: str, *, cells: bool = True
) -> dict[str, NamedColumn]:
    """Return which column of a table holds what, by what it is of a launch.

    Parameters
    ----------
    given : the columns that the user named.
    present : the table's columns.
    path : of the table, for messages.
    cells : whether columns called grid and block hold cells such as 8x1x1 where the user names none.

    Raises
    ------
    ProfileError : a column is not there or there twice; a launch has no name or no duration; a grid or block
        of the user's lacks an axis.
    """
    named = () if given is None else given.columns
    if given is not None and given.where_present:
        named = tuple(column for column in named if column.theirs in present)
    found = {column.ours: column for column in named}
    for column in named:
        if column.theirs not in present:
            raise _missing(column, present, path)
    found |= {
        ours: NamedColumn(ours, ours)
        for ours in LAUNCH_COLUMNS
        if ours in present and ours not in found and _counts(ours, found, present, cells=cells)
    }
    for column in found.values():
        if present.count(column.theirs) > 1:
            raise ProfileError(
                f"there are {present.count(column.theirs)} columns of this name",
                path=path,
                column=column.theirs,
                remedy="write the table again with one of them",
            )
    for ours in REQUIRED:
        if ours not in found:
            raise ProfileError(
                f"a table without a column {ours}, with {shown_columns(present) or 'none'}",
                path=path,
                remedy=columns_remedy(present),
            )
    _refuse_part_of_the_axes(found, named, path)
    return found


def _counts(ours: str, found: Mapping[str, NamedColumn], present: Sequence[str], *, cells: bool) -> bool:
    """Return whether a column under a name of ours is read: one grid, or one block, is enough."""
    if ours in DIMENSIONS:
        return cells and not set(DIMENSIONS[ours]) <= set(present) | set(found)
    return not any(ours in axes and of in found for of, axes in DIMENSIONS.items())


def _refuse_part_of_the_axes(found: dict[str, NamedColumn], named: Sequence[NamedColumn], path: str) -> None:
    """Drop axes without the others, as where grid_x stands alone; refuse them if the user named one."""
    for cells, axes in DIMENSIONS.items():
        lacking = [axis for axis in axes if axis not in found]
        if not lacking or len(lacking) == len(axes):
            continue
        if {column.ours for column in named} & set(axes):
            raise ProfileError(
                Wording("`columns` gives an axis of the {}, and there is no {}", cells, lacking[0]),
                path=path,
                remedy=f"give all of {', '.join(axes)}, or {cells}=COLUMN for cells such as 8x1x1 or 8",
            )
        for axis in set(axes) & set(found):
            del found[axis]


def _missing(column: NamedColumn, present: Sequence[str], path: str) -> ProfileError:
    wanted = column.theirs.strip().casefold()
    same = [each for each in present if each.strip().casefold() == wanted]
    bare, colon, unit = column.theirs.rpartition(":")
    if colon and bare in present:
        remedy = f"there is {bare!r}, but no unit {unit!r}: give {', '.join(UNITS_NS)}"
    elif same:
        remedy = f"did you mean {same[0]!r}?"
    else:
        close = nearest(column.theirs, present)
        remedy = close if close.startswith("did") else f"there are {shown_columns(present) or 'none'}"
    return ProfileError(
        Wording("there is no column {!r}, which `columns` gives for {}", column.theirs, column.ours),
        path=path,
        remedy=remedy,
    )


def shown_columns(present: Sequence[str]) -> str:
    """Return the columns of a table, the first of many."""
    return listed([repr(shortened(name, 48)) for name in present], _MOST_LISTED)


def columns_remedy(present: Sequence[str]) -> str:
    """Return what to type for a table of these columns, guessed from what they are called."""
    return Wording(
        "if a row is a launch, say which columns are its name and duration, as with `columns={}`",
        shlex.quote(str(guessed_columns(present))),
    )


def guessed_columns(present: Sequence[str]) -> ColumnMap:
    """Return the columns that are likely meant; KERNEL and DURATION where none is."""
    name = _likeliest(_NAME_LIKE, present) or "KERNEL"
    duration = _likeliest(
        _DURATION_LIKE, [each for each in present if each != name and not _NO_DURATION.search(each)]
    )
    unit = _UNIT.search(duration) if duration else None
    unit_ns = 1 if unit is None else UNITS_NS[unit[1].lower()]
    return ColumnMap((NamedColumn("name", name), NamedColumn("duration_ns", duration or "DURATION", unit_ns)))


def _likeliest(patterns: Sequence[str], present: Sequence[str]) -> str | None:
    return next(
        (name for pattern in patterns for name in present if re.search(pattern, name, re.IGNORECASE)), None
    )
