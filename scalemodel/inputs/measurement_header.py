"""The columns of a CSV of benchmarks: which there are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from scalemodel.errors import InputError

REQUIRED = ("benchmark", "size", "ipc")
OPTIONAL = ("mpki", "f_mem", "scaling", "mpki_unit")
_KNOWN = (*REQUIRED, *OPTIONAL)
# A word of another meaning is further off than a slip.
_LEAST_LIKENESS = 0.8
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}

Tell = Callable[[str], None]
"""Is told what a reader leaves out."""


def looks_like_benchmarks(text: str) -> bool:
    """Return whether the first line that is not empty is that of a table, whatever is between its cells."""
    header = next((line for line in text.splitlines() if line.strip()), "").replace('"', "")
    return any(
        set(REQUIRED) & set(_names(header.split(separator))) for separator in (",", *_OTHER_SEPARATORS)
    )


def checked_header(cells: Sequence[str], path: str, line: int, tell: Tell | None) -> list[str]:
    """Return the columns' names.

    Parameters
    ----------
    tell : is told which columns are not read.

    Raises
    ------
    InputError : the cells are not apart by commas; a column is missing, there twice, or misspelt.
    """
    _check_separator(cells, path, line)
    names = _names(cells)
    stray = [name for name in dict.fromkeys(names) if name not in _KNOWN]
    missing = [column for column in _KNOWN if column not in names]
    for name in stray:
        # Where the column itself is there, this is another one.
        close = get_close_matches(name, missing, 1, _LEAST_LIKENESS) or [
            column for column in missing if sorted(column) == sorted(name)
        ]
        if close:
            raise InputError(
                f"no column {name!r} is known",
                path=path,
                row=line,
                column=name,
                remedy=f"did you mean {close[0]!r}?",
            )
    for column in REQUIRED:
        if column in missing:
            raise InputError(
                f"no column {column}",
                path=path,
                row=line,
                remedy=f"give the columns {','.join(REQUIRED)} and, where known, {','.join(OPTIONAL)}",
            )
    for column in _KNOWN:
        if names.count(column) > 1:
            raise InputError(
                f"two columns {column}", path=path, row=line, column=column, remedy="keep one of the two"
            )
    if stray and tell is not None:
        shown = ", ".join(name or "without a name" for name in stray)
        tell(f"{path}: not read: column{'s' if len(stray) > 1 else ''} {shown}")
    return names


def _names(cells: Sequence[str]) -> list[str]:
    return [cell.strip().casefold() for cell in cells]


def _check_separator(cells: Sequence[str], path: str, line: int) -> None:
    for separator, name in _OTHER_SEPARATORS.items():
        if set(REQUIRED) & set(_names(",".join(cells).split(separator))) and separator in ",".join(cells):
            raise InputError(
                f"its cells are apart by {name}",
                path=path,
                row=line,
                remedy="write commas between cells, and a point in numbers, as 100.5",
            )
