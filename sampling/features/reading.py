"""Files of per-launch features: one module a format, each file recognised by its content, not its suffix.

A new format is one new module and one word in ``_MODULES``. A module has::

    def recognise(file: InputFile) -> bool         # from file.head (64 KiB); cheap
    def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.registry import reader_of
from sampling.readers.table import NumberLocale, Rows, floats
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
_WRONG_NUMBER = {
    locale: Wording(f"correct the cell, or say how the file writes numbers: `number_locale={other}`")
    for locale, other in (("C", "de_DE"), ("en_US", "de_DE"), ("de_DE", "C"))
}


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
        """Return a row in words, for messages: its name and shape, or its id."""
        if self.id is not None:
            return f"id {int(self.id[row])}"
        assert self.name is not None
        sizes = {"grid": self.grid, "block": self.block}
        shape = [f", {what} {tuple(size[row].tolist())}" for what, size in sizes.items() if size is not None]
        return f"'{shortened(self.names[int(self.name[row])])}'" + "".join(shape)


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


class NumberColumn:
    """A column that arrives piece by piece, and may hold numbers or text."""

    def __init__(self, name: str, locale: NumberLocale) -> None:
        self.name = name
        self._locale: NumberLocale = locale
        self._parts: list[FloatArray] = []
        self._mixed: ProfileError | None = None

    def read(self, rows: Rows) -> tuple[FloatArray, BoolArray]:
        """Return (n,) the numbers of some rows, NaN where there is none, and which cells are text.

        Raises ProfileError: a cell is a number in another way of writing than the locale's.
        """
        numbers, is_text = floats(rows, self.name, self._locale)
        if is_text.any():
            distinct, codes = rows.texts(self.name)
            for code in np.unique(codes[is_text]).tolist():
                is_number = _NUMBER_ELSEWHERE.fullmatch(distinct[code].strip())
                if is_number or self._mixed is None:
                    self._mixed = ProfileError(
                        f"'{distinct[code]}' is not a number",
                        path=rows.file.path,
                        row=int(rows.lines[np.argmax(codes == code)]),
                        column=rows.layout.header[rows.layout.columns[self.name][0]],
                        remedy=_WRONG_NUMBER[self._locale],
                    )
                if is_number:
                    raise self._mixed
        return numbers, is_text

    def take(self, rows: Rows) -> None:
        """Add some rows; see `read`."""
        self._parts.append(self.read(rows)[0])

    def values(self) -> FloatArray | None:
        """Return (n,) the numbers; None for a column of text.

        Raises ProfileError: some cells are numbers and others are text.
        """
        numbers = np.concatenate([np.zeros(0), *self._parts])
        if self._mixed is not None and not np.isnan(numbers).all():
            raise self._mixed
        return None if self._mixed is not None else numbers


def refuse_repeated(keys: Sequence[IntArray], path: str, line: IntArray, what: str) -> None:
    """Raise ProfileError if two rows have the same keys, (n,) each and -1 or more, naming both rows."""
    codes, first_rows = dense_codes([key + 1 for key in keys])
    again = first_rows[codes] != np.arange(len(codes))
    if again.any():
        row = int(np.argmax(again))
        raise ProfileError(
            f"{what} stands in row {int(line[first_rows[codes[row]]])} already",
            path=path,
            row=int(line[row]),
            remedy="give each launch one row",
        )
