"""Which column of a table holds what of a launch: as the user says it, else by our own names.

The user writes ``name=Kernel,duration_ns=Dur:us``: on the left what a launch has, on the right the column of
the file, behind the column of a time its unit. A column whose name has a comma, begins with a quote or ends
like a unit is put in double or single quotes, in which the quote itself is doubled.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

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

_ENTRY = re.compile(
    r"""\s*(?P<ours>[^=,]*?)\s*=\s*
    (?:"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'|(?!["'])(?P<bare>[^,]*?))
    (?P<suffix>\s*:\s*(?P<unit>ns|[uµμ]s|ms|s))?\s*(?:,|\Z)""",
    re.VERBOSE,
)
_ENDS_LIKE_A_UNIT = re.compile(r":\s*(ns|[uµμ]s|ms|s)\Z")
_HOW = "write name=COLUMN,duration_ns=COLUMN:us, a column with a comma or a quote in double quotes"
_MOST_LISTED = 12

# What people call the two columns that every launch has, the likeliest first.
_NAME_LIKE = (r"kernel.?name", r"demangled", r"^kernel$", r"^name$", r"kernel", r"name", r"op(eration)?$")
_DURATION_LIKE = (r"^dur", r"dur", r"elapsed", r"kernel.?time", r"gpu.?time", r"^time", r"time|latency")
_NO_DURATION = re.compile(r"start|begin|end|stamp|%|avg|mean|min|max|median|std", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[^a-z])(ns|us|ms|s)(?:ec)?(?:[^a-z]*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """Which column of a file (``theirs``) holds what of a launch (``ours``); ``unit_ns`` is 1 for no time."""

    ours: str
    theirs: str
    unit_ns: int = 1

    def __str__(self) -> str:
        """Return it as a user writes it."""
        theirs = self.theirs
        looks_otherwise = theirs != theirs.strip() or "," in theirs or theirs.startswith(('"', "'"))
        if not theirs or looks_otherwise or (self.ours in TIMES and _ENDS_LIKE_A_UNIT.search(theirs)):
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

    Raises OptionError: it does not parse; a left side means nothing, or stands there twice; a grid or block
    is given by its cells and by its axes; what is no time has a unit.
    """

    def wrong(message: str, remedy: str) -> OptionError:
        return OptionError(Wording("`columns={}`: {}", text, message), remedy=remedy)

    found: dict[str, NamedColumn] = {}
    start = 0
    while start <= len(text):
        entry = _ENTRY.match(text, start)
        if entry is None:
            raise wrong(f"{text[start:]!r} does not say which column is meant", _HOW)
        ours, unit, bare = entry["ours"], entry["unit"], entry["bare"]
        if ours not in LAUNCH_COLUMNS:
            raise wrong(f"a launch has no {ours!r}", nearest(ours, LAUNCH_COLUMNS))
        if ours in found:
            raise wrong(f"{ours} is given twice", "give each once")
        # What is no time has no unit: the end of a bare column's own name looks like one.
        if ours not in TIMES and unit and bare is None:
            raise wrong(f"{ours} is no time and has no unit", f"leave :{unit} out")
        theirs = _theirs(entry)
        if bare is not None and not theirs.strip():
            raise wrong(f"no column is given for {ours}", _HOW)
        unit = unit.replace("µ", "u").replace("μ", "u") if unit and ours in TIMES else "ns"
        found[ours] = NamedColumn(ours, theirs, UNITS_NS[unit])
        # A comma at the end promises another entry, so that the loop goes once more and finds none.
        start = entry.end() if entry[0].endswith(",") else len(text) + 1
    for cells, axes in DIMENSIONS.items():
        if cells in found and not found.keys().isdisjoint(axes):
            raise wrong(f"{cells} is given as one column and by its axes", "give one of them")
    return ColumnMap(tuple(found.values()))


def _theirs(entry: re.Match[str]) -> str:
    if entry["double"] is not None:
        return entry["double"].replace('""', '"')
    if entry["single"] is not None:
        return entry["single"].replace("''", "'")
    return entry["bare"] + ("" if entry["ours"] in TIMES else entry["suffix"] or "")


def matched_columns(
    given: ColumnMap | None, present: Sequence[str], path: str, *, cells: bool = True
) -> dict[str, NamedColumn]:
    """Return which column of a table holds what, by what it is of a launch.

    Raises ProfileError: a column is not there or there twice; a launch has no name or no duration; a grid
    or block of the user's lacks an axis.

    Parameters
    ----------
    given : the columns that the user named.
    present : the table's columns.
    path : of the table, for messages.
    cells : whether columns called grid and block hold cells such as 8x1x1 where the user names none.
    """
    named = () if given is None else given.columns
    if given is not None and given.where_present:
        named = tuple(column for column in named if column.theirs in present)
    if lacking := [column for column in named if column.theirs not in present]:
        raise _missing(lacking[0], present, path)
    found = {column.ours: column for column in named}
    found |= {ours: NamedColumn(ours, ours) for ours in _own_columns(found, present, cells=cells)}
    for column in found.values():
        if present.count(column.theirs) > 1:
            message = f"there are {present.count(column.theirs)} columns of this name"
            remedy = "write the table again with one of them"
            raise ProfileError(message, path=path, column=column.theirs, remedy=remedy)
    if unknown := [ours for ours in REQUIRED if ours not in found]:
        message = f"a table without a column {unknown[0]}, with {shown_columns(present) or 'none'}"
        raise ProfileError(message, path=path, remedy=columns_remedy(present))
    for of, axes in DIMENSIONS.items():
        missing = [axis for axis in axes if axis not in found]
        if missing and {column.ours for column in named} & set(axes):
            raise ProfileError(
                Wording("`columns` gives an axis of the {}, and there is no {}", of, missing[0]),
                path=path,
                remedy=f"give all of {', '.join(axes)}, or {of}=COLUMN for cells such as 8x1x1 or 8",
            )
        if missing:
            # An axis without the others, as where grid_x stands alone, says too little.
            found = {ours: column for ours, column in found.items() if ours not in axes}
    return found


def _own_columns(found: Collection[str], present: Sequence[str], *, cells: bool) -> list[str]:
    """Return the columns under our names; one grid, or one block, is enough: as axes, else as cells."""
    own = [ours for ours in LAUNCH_COLUMNS if ours in present and ours not in found]
    for of, axes in DIMENSIONS.items():
        if not cells or set(axes) <= {*present, *found}:
            own = [ours for ours in own if ours != of]
        if of in found or of in own:
            own = [ours for ours in own if ours not in axes]
    return own


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
    message = Wording("there is no column {!r}, which `columns` gives for {}", column.theirs, column.ours)
    return ProfileError(message, path=path, remedy=remedy)


def shown_columns(present: Sequence[str]) -> str:
    """Return the columns of a table, the first of many."""
    return listed([repr(shortened(name, 48)) for name in present], _MOST_LISTED)


def columns_remedy(present: Sequence[str]) -> str:
    """Return what to type for a table of these columns, guessed from what they are called."""

    def likeliest(patterns: Sequence[str], names: Sequence[str]) -> str | None:
        fitting = (each for like in patterns for each in names if re.search(like, each, re.IGNORECASE))
        return next(fitting, None)

    name = likeliest(_NAME_LIKE, present) or "KERNEL"
    others = [each for each in present if each != name and not _NO_DURATION.search(each)]
    duration = likeliest(_DURATION_LIKE, others) or "DURATION"
    unit = _UNIT.search(duration)
    unit_ns = 1 if unit is None else UNITS_NS[unit[1].lower()]
    guessed = ColumnMap((NamedColumn("name", name), NamedColumn("duration_ns", duration, unit_ns)))
    return Wording(
        "if a row is a launch, say which columns are its name and duration, as with `columns={}`",
        shlex.quote(str(guessed)),
    )
