"""Files of per-launch features: one module a format, each file recognised by its content, not its suffix.

A new format is one new module and one word in ``_MODULES``. A module has::

    def recognise(file: InputFile) -> bool         # from file.head (64 KiB); cheap
    def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.registry import reader_of
from sampling.readers.table import WRITTEN, NumberLocale, Rows, floats, sizes_of, unified
from sampling.reduction.launch_list import Features
from sampling.text import Wording, shortened

# The tables are asked last: many other files are CSV too.
_MODULES = ("ncu", "counts", "tables")
_READABLE = (
    "give a CSV of Nsight Compute (`ncu --import REPORT --csv --page raw`), a CSV or Parquet file with a "
    "column id or name, an npy file with a row for every launch, or what NVBit's instr_count or the "
    "basic-block tool writes"
)
_NUMBER_ELSEWHERE = re.compile(r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,]\d*)?")
_WRONG_NUMBER = Wording("correct the cell, or say how the file writes numbers: `number_locale=de_DE`")


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """The rows of one file; row i of every array is one launch that the file describes."""

    path: str
    format: str  #: e.g. "ncu-raw"
    line: IntArray  #: (n,) 1-based line or row of the file, for messages
    features: Features  #: what the file says of each row, in base units
    #: (n,) launch ids in the profile, where the file has them; then nothing else identifies a row
    id: IntArray | None = None
    #: the distinct kernel names as the file spells them, and (n,) the index of each row's
    names: tuple[str, ...] = ()
    name: IntArray | None = None
    #: (n, 3) x, y, z, 0 where a row has none
    grid: IntArray | None = None
    block: IntArray | None = None
    #: (n,) numbers of the run that the file describes
    process: IntArray | None = None
    device: IntArray | None = None
    #: (n,) how many launches of the same process, device, name, grid and block (of those that the file has)
    #: came before; None where it is to be counted in row order
    occurrence: IntArray | None = None
    #: (n,) how many the grid has, where the file does not have the grid itself
    thread_blocks: IntArray | None = None
    #: (n,) the tool's own numbers of the launches, ascending from 0 on, with gaps where launches have no row
    launch_number: IntArray | None = None
    #: whether the file has a row for every launch of the profile, by position, so that another number of rows
    #: is another profile's
    whole_profile: bool = False
    notes: tuple[str, ...] = ()  #: what to tell the user of how the file was read

    def __len__(self) -> int:
        return len(self.line)

    def words(self, row: int) -> str:
        """Return a row in words, for messages: its id or its name."""
        if self.id is not None:
            return f"id {self.id[row]}"
        assert self.name is not None
        return f"'{shortened(self.names[self.name[row]])}'"


def read_features(path: str, *, locale: NumberLocale = "C", progress: Progress | None = None) -> FeatureRows:
    """Read a file of features; "-" is standard input, gzip is read as it is.

    Raises ProfileError: it is missing, damaged, of no known format, or has nothing that says which launch a
    row is.

    Parameters
    ----------
    locale : how the file writes its numbers; under "C", thousands apart by commas are read too.
    """
    with open_input(path) as file:
        for name in () if file.is_directory else _MODULES:
            module = import_module(f"sampling.features.{name}")
            if module.recognise(file):
                rows: FeatureRows = module.read(file, locale, progress)
                return rows
        raise _no_features(file)


def _no_features(file: InputFile) -> ProfileError:
    """Return the error for a file that no format recognises."""
    # Many regular expressions, which no file of features needs.
    from sampling.readers.not_a_profile import file_error

    reader = reader_of(file)
    what = re.split("[:,]", file_error(file).message.removeprefix(f"{file.path}: "))[0]
    if file.is_directory:
        what = "a folder"
    elif reader is not None:
        what = f"what profiles are read from ({reader.FORMAT})"
    return ProfileError(f"{what}, no features of launches", path=file.path, remedy=_READABLE)


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The columns of a file that are read; ProfileError where it has no row."""

    path: str
    line: IntArray  #: (n,) 1-based line or row of each
    #: the distinct texts, and (n,) the index of each row's
    texts: dict[str, tuple[tuple[str, ...], IntArray]]
    numbers: dict[str, FloatArray]  #: (n,) each, NaN where a cell is empty or text
    is_text: dict[str, BoolArray]  #: (n,) which cells are text, of the columns in which some are

    def __post_init__(self) -> None:
        if not len(self.line):
            remedy = "write a row for each launch"
            raise ProfileError("a table without a single launch", path=self.path, remedy=remedy)

    def error(self, wrong: BoolArray, column: str, message: str, remedy: str | None = None) -> ProfileError:
        """Return the error for the first row that is wrong."""
        remedy = remedy or "correct the cell or leave the row out"
        row = int(self.line[np.argmax(wrong)])
        return ProfileError(message, path=self.path, row=row, column=column, remedy=remedy)

    def metric(self, name: str) -> FloatArray | None:
        """Return (n,) the numbers of a column; None for one of text; ProfileError where cells are either."""
        is_text, numbers = self.is_text.get(name), self.numbers[name]
        if is_text is not None and not np.isnan(numbers).all():
            raise self.error(is_text, name, "not a number, as other cells of the column are", _WRONG_NUMBER)
        return numbers if is_text is None else None

    def whole(self, name: str, least: int = 0) -> IntArray:
        """Return (n,) the whole numbers of a column; ProfileError where there are others."""
        numbers = self.numbers[name]
        # 2^53 and beyond would have been rounded on their way.
        wrong = ~((numbers >= least) & (numbers < 2.0**53) & (numbers == np.rint(numbers)))
        if wrong.any():
            raise self.error(wrong, name, f"not a whole number from {least} on")
        return numbers.astype(np.int64)

    def sizes(self, name: str, axes: Sequence[str] = ()) -> IntArray | None:
        """Return (n, 3) the grids or blocks, from a column of texts or one of each axis; None without them.

        Raises ProfileError: a text is no size, or an axis is missing.
        """
        if name in self.texts:
            cells, codes = self.texts[name]
            sizes, bad = sizes_of(cells)
            if bad >= 0:
                raise self.error(codes == bad, name, f"{cells[bad]!r} is not {WRITTEN}")
            return sizes[codes]
        there = [self.whole(axis) for axis in axes if axis in self.numbers]
        if len(there) < len(axes) and there:
            message = f"a table without all of {', '.join(axes)}"
            raise ProfileError(message, path=self.path, remedy="write 1 where an axis is not used")
        return np.stack(there, axis=1) if there else None

    def refuse_repeated(self, keys: Sequence[IntArray], what: str) -> None:
        """Raise ProfileError if two rows have the same keys, (n,) each, naming both rows."""
        codes, first_rows = dense_codes(keys)
        again = np.flatnonzero(first_rows[codes] != np.arange(len(codes)))
        if len(again):
            first, row = self.line[first_rows[codes[again[0]]]], int(self.line[again[0]])
            message = f"{what} stands in row {first} already"
            raise ProfileError(message, path=self.path, row=row, remedy="give each launch one row")


def read_table(
    path: str, pieces: Iterable[Rows], texts: Sequence[str], numbers: Sequence[str], locale: NumberLocale
) -> FeatureTable:
    """Gather the columns of a table of text.

    Raises ProfileError: there is no row; a cell is a number in another way of writing than the locale's.
    """
    lines = [np.zeros(0, dtype=np.int64)]
    chunks: dict[str, list[Any]] = {name: [] for name in texts}
    values: dict[str, list[FloatArray]] = {name: [np.zeros(0)] for name in numbers}
    are_text: dict[str, list[BoolArray]] = {name: [np.zeros(0, dtype=np.bool_)] for name in numbers}
    for rows in pieces:
        lines.append(rows.lines)
        for name, column in chunks.items():
            column.append(rows.table.column(name))
        for name in numbers:
            found, is_text = floats(rows, name, locale)
            values[name].append(found)
            are_text[name].append(is_text)
            if is_text.any():
                distinct, codes = rows.texts(name)
                elsewhere = [_NUMBER_ELSEWHERE.fullmatch(text.strip()) is not None for text in distinct]
                wrong = is_text & np.array(elsewhere)[codes]
                if wrong.any():
                    place = np.argmax(wrong)
                    message, row = f"'{distinct[codes[place]]}' is not a number", int(rows.lines[place])
                    raise ProfileError(message, path=path, row=row, column=name, remedy=_WRONG_NUMBER)
    return FeatureTable(
        path,
        np.concatenate(lines),
        {name: unified(column) for name, column in chunks.items()},
        {name: np.concatenate(column) for name, column in values.items()},
        {name: np.concatenate(column) for name, column in are_text.items() if np.concatenate(column).any()},
    )
