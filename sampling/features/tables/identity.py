"""The columns that identify a launch in a table: ids, names, grids and blocks as people write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.readers.tables.column_map import BLOCK, GRID
from sampling.text import listed

#: Columns with whole numbers that identify a launch, besides its name and the text columns grid and block.
WHOLE_NUMBERS = (
    "id",
    "process",
    "device",
    "occurrence",
    *GRID,
    *BLOCK,
)
#: Columns with text that identify a launch.
TEXTS = ("name", "grid", "block")

REMEDY = (
    "give it a column id with the launch ids of the profile, or a column name with the kernel names, with "
    "grid_x grid_y grid_z block_x block_y block_z (or grid and block as text) and occurrence if it has them"
)

_SIZE = re.compile(r"\D*(\d{1,10})(?:\s*[,xX*;]\s*(\d{1,10}))?(?:\s*[,xX*;]\s*(\d{1,10}))?\D*")


_KNOWN = {**SPELLINGS, **{name: name for name in (*WHOLE_NUMBERS, *TEXTS)}}


def column_names(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns, those of ours in our spelling: ``ID`` is id, ``Cycles`` is cycles.

    A column is left as it is where the table has another one of that name.
    """
    names = [cell.strip() for cell in cells]
    taken = set(names)
    for place, name in enumerate(names):
        known = _KNOWN.get(name.casefold(), name)
        if known not in taken:
            taken.add(known)
            names[place] = known
    return tuple(names)


def require_identity(columns: Iterable[str], path: str) -> None:
    """Check that a table says which launch each row is, and says so once.

    Raises
    ------
    ProfileError : rows could be joined by nothing but their position, or two columns identify them alike.
    """
    present = tuple(name for name in columns if name)
    if not {"id", "name"} & set(present):
        raise ProfileError(
            f"a table without a column id or name ({listed(present)}): rows are never joined by position",
            path=path,
            remedy=REMEDY,
        )
    twice = [name for name in repeated_names(present) if name in {*WHOLE_NUMBERS, *TEXTS}]
    if twice:
        raise ProfileError(
            f"a table with several columns {twice[0]}", path=path, remedy="leave all but one of them out"
        )


def repeated_names(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the names that several columns have."""
    return tuple(name for name, count in Counter(columns).items() if name and count > 1)


def repeated_notes(columns: Iterable[str]) -> tuple[str, ...]:
    """Return what to tell the user of columns with one name."""
    twice = repeated_names(columns)
    return (f"several columns have one name, of which the first counts: {listed(twice)}",) if twice else ()


def size_of(text: str) -> tuple[int, int, int] | None:
    """Return a grid or block written as "(16, 16, 1)", "16x16x1" or "16"; None for anything else.

    An empty text is (0, 0, 0), which stands for unknown; an axis left out is 1.
    """
    if not text.strip():
        return (0, 0, 0)
    match = _SIZE.fullmatch(text)
    if match is None or "-" in text:
        return None
    x, y, z = (1 if axis is None else int(axis) for axis in match.groups())
    return (x, y, z)


def sizes_of(texts: Sequence[str], codes: IntArray, *, path: str, line: IntArray, name: str) -> IntArray:
    """Return (n, 3) the sizes in a text column, given as its distinct texts and (n,) the text of each row.

    Raises
    ------
    ProfileError : a cell is no size.
    """
    sizes = [size_of(text) for text in texts]
    if None in sizes:
        wrong = sizes.index(None)
        raise ProfileError(
            f"'{texts[wrong]}' is no size",
            path=path,
            row=int(line[int(np.argmax(codes == wrong))]),
            column=name,
            remedy="write sizes as (16, 16, 1) or 16x16x1",
        )
    known = np.array([size or (0, 0, 0) for size in sizes], dtype=np.int64).reshape(-1, 3)
    return known[codes]


def whole_numbers(values: FloatArray, *, path: str, line: IntArray, name: str) -> IntArray:
    """Return (n,) the values of an identifying column.

    Raises
    ------
    ProfileError : one is missing, negative, or no whole number.
    """
    # 2^53 and beyond would have been rounded on their way.
    wrong = ~((values >= (-1 if name in {"process", "device"} else 0)) & (values < 2.0**53))
    wrong |= values != np.rint(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = "no value" if np.isnan(values[row]) else f"{values[row]:.12g}"
        raise ProfileError(
            f"{found} where a whole number from 0 on is needed",
            path=path,
            row=int(line[row]),
            column=name,
            remedy="correct the cell or leave the row out",
        )
    return values.astype(np.int64)


def sizes_from_axes(numbers: Mapping[str, IntArray], what: str, *, path: str) -> IntArray | None:
    """Return (n, 3) the sizes in the columns what_x, what_y and what_z; None where there are none.

    Raises
    ------
    ProfileError : one of the three is there and another is not.
    """
    axes = [f"{what}_{axis}" for axis in "xyz"]
    missing = [axis for axis in axes if axis not in numbers]
    if len(missing) == 3:
        return None
    if missing:
        raise ProfileError(
            f"a table with a column {axes[0]} but none {missing[0]}"
            if axes[0] not in missing
            else f"a table without the column {axes[0]} that belongs to its others",
            path=path,
            remedy=f"write {', '.join(axes)}, 1 where an axis is not used",
        )
    return np.stack([numbers[axis] for axis in axes], axis=1)


def refuse_repeated(keys: Sequence[IntArray], *, path: str, line: IntArray, what: str) -> None:
    """Raise ProfileError if two rows have the same keys, naming both rows.

    Parameters
    ----------
    keys : (n,) columns that together identify a row.
    what : how the message calls what is repeated, e.g. "the id".
    """
    order = np.lexsort(tuple(reversed(keys)))
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        placed = key[order]
        same &= placed[1:] == placed[:-1]
    if same.any():
        later = order[1:][same]
        row = int(later.min())
        at = int(np.flatnonzero(order == row)[0])
        raise ProfileError(
            f"{what} stands in row {int(line[order[at - 1]])} already",
            path=path,
            row=int(line[row]),
            remedy="give each launch one row",
        )
