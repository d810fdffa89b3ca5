"""Which column of a table holds what of a launch: as the user says it, else by our own names.

The user writes ``name=Kernel,duration_ns=Dur:us``: on the left what a launch has, on the right the column of
the file, behind the column of a time its unit. A column whose name has a comma, begins with a quote or ends
like a unit is put in double quotes, in which the quote itself is doubled.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sampling.errors import OptionError, ProfileError
from sampling.text import Wording, listed, nearest, shortened

REQUIRED = ("name", "duration_ns")
GRID = ("grid_x", "grid_y", "grid_z")
BLOCK = ("block_x", "block_y", "block_z")

#: What has a unit, and how many nanoseconds each unit is
TIMES = ("duration_ns", "start_ns")
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

#: What one column of cells such as 8x1x1 holds, and the three columns that it stands for
DIMENSIONS = {"grid": GRID, "block": BLOCK}

#: What a launch may have
LAUNCH_COLUMNS = (*REQUIRED, *DIMENSIONS, *GRID, *BLOCK, "start_ns", "stream", "device", "process")

#: Columns that identify or describe a launch: any other column of numbers is a metric of it
NO_METRIC = frozenset({*LAUNCH_COLUMNS, "id", "occurrence"})

_UNIT_BEHIND = r"\s*:\s*(?P<unit>ns|[uµμ]s|ms|s)"
_ENTRY = re.compile(
    r"""\s*(?P<ours>[^=,]*?)\s*=\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?!")(?P<bare>[^,]*?))"""
    rf"(?P<suffix>{_UNIT_BEHIND})?\s*(?:,|\Z)"
)
_ENDS_LIKE_A_UNIT = re.compile(rf"{_UNIT_BEHIND}\s*\Z")
_HOW = "write name=COLUMN,duration_ns=COLUMN:us, a column with a comma or a quote in double quotes"
_MOST_LISTED = 12

# What people call the two columns that every launch has.
_NAME_LIKE = re.compile("kernel|name|op$|operation", re.IGNORECASE)
_DURATION_LIKE = re.compile("dur|elapsed|time|latency", re.IGNORECASE)
_NO_DURATION = re.compile(r"start|begin|end|stamp|%|avg|mean|min|max|median|std", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[^a-z])(ns|us|ms|s)(?:ec)?(?:[^a-z]*)$", re.IGNORECASE)


class NamedColumn(NamedTuple):
    """Which column of a file (``theirs``) holds what of a launch (``ours``); ``unit_ns`` is 1 for no time."""

    ours: str
    theirs: str
    unit_ns: int = 1

    def __str__(self) -> str:
        """Return it as a user writes it."""
        theirs = self.theirs
        is_odd = not theirs or theirs != theirs.strip() or "," in theirs or theirs.startswith('"')
        if is_odd or _ENDS_LIKE_A_UNIT.search(theirs):
            theirs = '"' + theirs.replace('"', '""') + '"'
        unit = next(unit for unit, length_ns in UNITS_NS.items() if length_ns == self.unit_ns)
        return f"{self.ours}={theirs}" + ("" if self.unit_ns == 1 else f":{unit}")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns that a user named; what is not among them is looked for under its own name."""

    columns: tuple[NamedColumn, ...]
    where_present: bool = False  #: whether a table may lack any of them: they were named for another one

    def __str__(self) -> str:
        """Return it as a user writes it; `column_map` reads it again."""
        return ",".join(map(str, self.columns))


def column_map(text: str) -> ColumnMap:
    """Return the columns that a text names.

    Raises OptionError: it does not parse; a left side means nothing, or stands there twice.
    """

    def wrong(message: str, remedy: str) -> OptionError:
        return OptionError(Wording("`columns={}`: {}", text, message), remedy=remedy)

    columns: dict[str, NamedColumn] = {}
    start = 0
    while start <= len(text):
        entry = _ENTRY.match(text, start)
        if entry is None or entry["bare"] == "":
            raise wrong(f"{text[start:]!r} does not say which column is meant", _HOW)
        ours, unit, theirs = entry["ours"], entry["unit"], entry["bare"]
        if ours not in LAUNCH_COLUMNS:
            raise wrong(f"a launch has no {ours!r}", nearest(ours, LAUNCH_COLUMNS))
        if any(
            ours in {column, *DIMENSIONS.get(column, ())} or column in DIMENSIONS.get(ours, ())
            for column in columns
        ):
            raise wrong(f"{ours} is given twice", "give each once, a grid as one column or by its axes")
        if theirs is None:
            theirs = entry["quoted"].replace('""', '"')
        elif ours not in TIMES:
            # What is no time has no unit: the end of the column's own name looks like one.
            theirs += entry["suffix"] or ""
        unit_ns = UNITS_NS[re.sub("[µμ]", "u", unit or "ns")] if ours in TIMES else 1
        columns[ours] = NamedColumn(ours, theirs, unit_ns)
        # A comma at the end promises another entry, so that the loop goes once more and finds none.
        start = entry.end() if entry[0].endswith(",") else len(text) + 1
    return ColumnMap(tuple(columns.values()))


def matched_columns(
    columns: ColumnMap | None, present: Sequence[str], path: str, *, cells: bool = True
) -> dict[str, NamedColumn]:
    """Return which column of a table holds what, by what it is of a launch.

    ``cells`` tells whether columns called grid and block hold cells such as 8x1x1 where the user names none.

    Raises ProfileError: a column is not there or there twice; a launch has no name or no duration; a grid
    or block of the user's lacks an axis.
    """
    named = () if columns is None else columns.columns
    if columns is not None and columns.where_present:
        named = tuple(column for column in named if column.theirs in present)
    matched = {column.ours: column for column in named} | _own_columns(named, present, cells=cells)
    for column in matched.values():
        if (count := present.count(column.theirs)) == 0:
            raise _missing(column, present, path)
        if count > 1:
            message = f"there are {count} columns of this name"
            remedy = "write the table again with one of them"
            raise ProfileError(message, path=path, column=column.theirs, remedy=remedy)
    if unknown := [ours for ours in REQUIRED if ours not in matched]:
        message = f"a table without a column {unknown[0]}, with {shown_columns(present) or 'none'}"
        raise ProfileError(message, path=path, remedy=columns_remedy(present))
    for dimension, axes in DIMENSIONS.items():
        missing = [axis for axis in axes if axis not in matched]
        if missing and any(column.ours in axes for column in named):
            subject = Wording("`columns` gives an axis of the {}, and there is no {}", dimension, missing[0])
            remedy = f"give all of {', '.join(axes)}, or {dimension}=COLUMN for cells such as 8x1x1 or 8"
            raise ProfileError(subject, path=path, remedy=remedy)
    return matched


def _own_columns(
    named: Sequence[NamedColumn], present: Sequence[str], *, cells: bool
) -> dict[str, NamedColumn]:
    """Return the columns under our names that the user named none for; one grid, or one block, is enough."""
    named_ours = {column.ours for column in named}
    unnamed = {
        ours: NamedColumn(ours, ours) for ours in LAUNCH_COLUMNS if ours in present and ours not in named_ours
    }
    for dimension, axes in DIMENSIONS.items():
        are_axes = named_ours.union(unnamed).issuperset(axes)
        if are_axes or not cells:
            unnamed.pop(dimension, None)
        # An axis without the others, as where grid_x stands alone, says too little.
        if dimension in named_ours or dimension in unnamed or not are_axes:
            unnamed = {ours: column for ours, column in unnamed.items() if ours not in axes}
    return unnamed


def _missing(column: NamedColumn, present: Sequence[str], path: str) -> ProfileError:
    message = Wording("there is no column {!r}, which `columns` gives for {}", column.theirs, column.ours)
    close = nearest(column.theirs, present)
    remedy = close if close.startswith("did") else f"there are {shown_columns(present) or 'none'}"
    return ProfileError(message, path=path, remedy=remedy)


def shown_columns(present: Sequence[str]) -> str:
    """Return the columns of a table, the first of many."""
    return listed([repr(shortened(name, 48)) for name in present], _MOST_LISTED)


def columns_remedy(present: Sequence[str]) -> str:
    """Return what to type for a table of these columns, guessed from what they are called."""

    name = next(filter(_NAME_LIKE.search, present), "KERNEL")
    candidates = [title for title in present if title != name and not _NO_DURATION.search(title)]
    duration = next(filter(_DURATION_LIKE.search, candidates), "DURATION")
    unit = _UNIT.search(duration)
    unit_ns = 1 if unit is None else UNITS_NS[unit[1].lower()]
    guessed = ColumnMap((NamedColumn("name", name), NamedColumn("duration_ns", duration, unit_ns)))
    return Wording(
        "if a row is a launch, say which columns are its name and duration, as with `columns={}`",
        shlex.quote(str(guessed)),
    )
