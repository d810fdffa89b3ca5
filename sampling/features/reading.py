"""Files of per-launch features: one module a format, each file recognised by its content, not its suffix.

A new format is one new module and one word in ``_MODULES``. A module has::

    def recognise(file: InputFile) -> bool         # from file.head (64 KiB); cheap
    def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows

``read`` raises ProfileError, with the remedy, for what is of its format but no features. What belongs to
which launch of a profile is decided by `sampling.features.join`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import KernelTable
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.registry import reader_of
from sampling.readers.table import NumberLocale, Rows, floats
from sampling.reduction.launch_list import Features
from sampling.text import Wording, counted, listed, shortened

_NUMBER_ELSEWHERE = re.compile(r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,]\d*)?")
# The tables are asked last: many other files are CSV too.
_MODULES = ("ncu", "counts", "tables")
_READABLE = (
    "give a CSV of Nsight Compute (`ncu --csv --page raw`), a CSV or Parquet file with a column id or name, "
    "an npy file with a row for every launch, or what NVBit's instr_count or the basic-block tool writes"
)


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
        if self.name is None:
            assert self.id is not None
            return f"id {int(self.id[row])}"
        shape = [
            f", {what} ({', '.join(map(str, dimensions[row].tolist()))})"
            for what, dimensions in (("grid", self.grid), ("block", self.block))
            if dimensions is not None
        ]
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
        message, remedy = _no_features(file)
        raise ProfileError(message, path=file.path, remedy=remedy)


def _no_features(file: InputFile) -> tuple[str, str]:
    """Return message and remedy for a file that no format recognises."""
    # Many regular expressions, which no file of features needs.
    from sampling.readers.not_a_profile import file_error, shell_path

    reader = reader_of(file)
    message, remedy = file_error(file).message.removeprefix(f"{file.path}: "), _READABLE
    if file.is_directory:
        message = "a folder, not a file of features"
    elif not file.head.strip():
        message, remedy = "an empty file", "record the features again"
    elif reader is not None:
        try:
            is_profile = reader.read(file, KernelTable(), None) is not None
        except ProfileError as error:
            is_profile, message = False, error.message.removeprefix(f"{error.path}: ")
        message = f"{message}; it has no features of launches either"
        if is_profile:
            message = f"a profile ({reader.FORMAT}): it has durations of launches and no features of them"
            remedy = "give it in place of the profile, or record its features with `ncu --csv --page raw`"
    elif b"==PROF==" in file.head or message.startswith("an Nsight Compute report"):
        message = "what Nsight Compute wrote, without a CSV of metrics in it"
        remedy = f"write it with `ncu --import {shell_path(file)} --csv --page raw`"
    return message.replace("not a profile", "not features").replace("not its profile", "not features"), remedy


class NumberColumn:
    """A column that arrives piece by piece, and may hold numbers or text; an infinite cell has no value."""

    def __init__(self, name: str, locale: NumberLocale) -> None:
        self.name = name
        self.has_infinite = False
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
                if self._mixed is None:
                    said = ", and other cells of the column are"
                    self._mixed = self._error(rows, codes == code, distinct[code], said)
                if _NUMBER_ELSEWHERE.fullmatch(distinct[code].strip()):
                    said = f" under the locale {self._locale}"
                    raise self._error(rows, codes == code, distinct[code], said)
        return numbers, is_text

    def take(self, rows: Rows) -> None:
        """Add some rows; see `read`."""
        numbers, _ = self.read(rows)
        infinite = np.isinf(numbers)
        self.has_infinite |= bool(infinite.any())
        self._parts.append(np.where(infinite, np.nan, numbers) if self.has_infinite else numbers)

    def values(self) -> FloatArray | None:
        """Return (n,) the numbers; None for a column of text.

        Raises ProfileError: some cells are numbers and others are text.
        """
        numbers = np.concatenate([np.zeros(0), *self._parts])
        if self._mixed is None:
            return numbers
        if np.isnan(numbers).all() and not self.has_infinite:
            return None
        raise self._mixed

    def _error(self, rows: Rows, wrong: BoolArray, text: str, said: str) -> ProfileError:
        remedy = (
            "correct the cell, or leave `number_locale` out"
            if self._locale == "de_DE"
            else "correct the cell, or say how the file writes numbers: `number_locale=de_DE`"
        )
        marked = replace(rows, layout=replace(rows.layout, remedy=Wording(remedy)))
        return marked.error(int(np.argmax(wrong)), f"'{text}' is not a number{said}", self.name)


def gap_notes(number: IntArray) -> tuple[str, ...]:
    """Return what to tell the user of kernels that a log numbers, (n,) ascending, but has no line for."""
    missing = int(number[-1]) + 1 - len(number)
    if not missing:
        return ()
    have = "has" if missing == 1 else "have"
    return (f"{missing:,} of {counted(int(number[-1]) + 1, 'kernel')} up to the last {have} no line",)


def infinite_notes(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return what to tell the user of metrics with infinite values."""
    names = list(metrics)
    return (f"infinite values count as none: {listed(names)}",) if names else ()


def repeated_notes(columns: Sequence[str]) -> tuple[str, ...]:
    """Return what to tell the user of columns with one name."""
    twice = [name for name in dict.fromkeys(columns) if name and columns.count(name) > 1]
    return (f"several columns have one name, of which the first counts: {listed(twice)}",) if twice else ()


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
