"""Which column of a table holds what, as the user says it: ``name=Kernel,duration_ns=Dur:us``.

On the left stands what a launch has, on the right the column of the file; behind the column of a time its
unit may follow. A column whose name has a comma, begins with a quote or ends like a unit is put in double or
single quotes, in which the quote itself is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.text import Wording, nearest

REQUIRED = ("name", "duration_ns")
GRID = ("grid_x", "grid_y", "grid_z")
BLOCK = ("block_x", "block_y", "block_z")

#: What has a unit, and how many nanoseconds each unit is.
TIMES = ("duration_ns", "start_ns")
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

#: What one column of cells such as 8x1x1 holds, and the three columns that it stands for.
DIMENSIONS = {"grid": GRID, "block": BLOCK}

#: What a launch may have.
LAUNCH_COLUMNS = (
    *(*REQUIRED, "grid", "block", *GRID, *BLOCK),
    *("start_ns", "stream", "device", "process"),
)

_ENTRY = re.compile(
    r"""\s*(?P<ours>[^=,]*?)\s*=\s*
    (?:"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'|(?!["'])(?P<bare>[^,]*?))
    (?P<suffix>\s*:\s*(?P<unit>ns|[uµμ]s|ms|s))?\s*(?:,|\Z)""",
    re.VERBOSE,
)
_ENDS_LIKE_A_UNIT = re.compile(r":\s*(ns|[uµμ]s|ms|s)\Z")
_HOW = "write name=COLUMN,duration_ns=COLUMN:us, a column with a comma or a quote in double quotes"


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column of a file, and what it holds.

    Attributes
    ----------
    ours : one of `LAUNCH_COLUMNS`.
    theirs : the column's name in the file.
    unit_ns : nanoseconds of one unit of a time; 1 for what is no time.
    """

    ours: str
    theirs: str
    unit_ns: int = 1

    def __str__(self) -> str:
        """Return it as a user writes it."""
        unit = next(unit for unit, length_ns in UNITS_NS.items() if length_ns == self.unit_ns)
        suffix = "" if self.unit_ns == 1 else f":{unit}"
        return f"{self.ours}={_quoted(self.theirs, is_time=self.ours in TIMES)}{suffix}"


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns that a user named; what is not among them is looked for under its own name.

    Attributes
    ----------
    where_present : whether a table may lack any of them: they were named for another one.
    """

    columns: tuple[NamedColumn, ...]
    where_present: bool = False

    def __str__(self) -> str:
        """Return it as a user writes it; `column_map` reads it again."""
        return ",".join(map(str, self.columns))


def column_map(text: str) -> ColumnMap:
    """Return the columns that a text names.

    Raises
    ------
    OptionError : it does not parse; a left side means nothing, or stands there twice; a grid or block is
        given by its cells and by its axes; what is no time has a unit.
    """
    columns = tuple(_entries(text))
    given = [column.ours for column in columns]
    for ours in given:
        if given.count(ours) > 1:
            raise _wrong(text, f"{ours} is given twice", "give each once")
    for cells, axes in DIMENSIONS.items():
        if cells in given and set(axes) & set(given):
            raise _wrong(text, f"{cells} is given as one column and by its axes", "give one of them")
    return ColumnMap(columns)


def _entries(text: str) -> Iterator[NamedColumn]:
    start = 0
    while start <= len(text):
        entry = _ENTRY.match(text, start)
        if entry is None:
            raise _wrong(text, f"{text[start:]!r} does not say which column is meant", _HOW)
        yield _named_column(entry, text)
        # A comma at the end promises another entry, so that the loop goes once more and finds none.
        start = entry.end() if entry[0].endswith(",") else len(text) + 1


def _named_column(entry: re.Match[str], text: str) -> NamedColumn:
    ours, unit = entry["ours"], (entry["unit"] or "ns").replace("µ", "u").replace("μ", "u")
    if ours not in LAUNCH_COLUMNS:
        raise _wrong(text, f"a launch has no {ours!r}", nearest(ours, LAUNCH_COLUMNS))
    bare = entry["bare"]
    if bare is None:
        theirs = _unquoted(entry)
        if entry["unit"] and ours not in TIMES:
            raise _wrong(text, f"{ours} is no time and has no unit", f"leave :{unit} out")
    elif ours in TIMES:
        theirs = bare
    else:
        # What is no time has no unit: the end of the column's own name looks like one.
        theirs = bare + (entry["suffix"] or "")
        unit = "ns"
    if bare is not None and not theirs.strip():
        raise _wrong(text, f"no column is given for {ours}", _HOW)
    return NamedColumn(ours, theirs, UNITS_NS[unit])


def _unquoted(entry: re.Match[str]) -> str:
    if entry["double"] is not None:
        return entry["double"].replace('""', '"')
    return entry["single"].replace("''", "'")


def _quoted(theirs: str, *, is_time: bool) -> str:
    """Return the name of a column as it stands in a text, in quotes where it must be."""
    is_plain = (
        bool(theirs)
        and theirs == theirs.strip()
        and "," not in theirs
        and not theirs.startswith(('"', "'"))
        and not (is_time and _ENDS_LIKE_A_UNIT.search(theirs))
    )
    return theirs if is_plain else '"' + theirs.replace('"', '""') + '"'


def _wrong(text: str, message: str, remedy: str) -> OptionError:
    return OptionError(Wording("`columns={}`: {}", text, message), remedy=remedy)
