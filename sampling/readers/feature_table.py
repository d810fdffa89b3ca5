"""What a file says of single launches, row by row: how such rows are held, and columns that become arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.names import MANGLED
from sampling.profile.profile import KernelTable, Profile, RecordingFacts
from sampling.readers import NumberLocale
from sampling.readers.cells import WRITTEN, parse_sizes
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Layout, Rows, floats, read_rows, unified
from sampling.readers.table_launches import Launches
from sampling.reduction.launch_list import Features
from sampling.text import Wording, counted, shortened

_NUMBER_ELSEWHERE = re.compile(r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,]\d*)?")
_CORRECT = "correct the cell or leave the row out"
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

    def take(self, places: IntArray) -> FeatureRows:
        """Return some of the rows, in this order."""
        arrays = ("line", "name", "grid", "block", "process", "device", "launch_number")
        columns = {name: values[places] for name in arrays if (values := getattr(self, name)) is not None}
        metrics = {name: values[places] for name, values in self.features.metrics.items()}
        return replace(self, features=replace(self.features, metrics=metrics), **columns)

    def words(self, row: int) -> str:
        """Return a row in words, for messages: its id or its name."""
        if self.id is not None:
            return f"id {self.id[row]}"
        assert self.name is not None
        return f"'{shortened(self.names[self.name[row]])}'"


def coded_names(names: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct names, and (n,) the index of each."""
    code = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return tuple(code), np.array([code[name] for name in names], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The rows of a file, of which columns become arrays when asked for; ProfileError where it has no row."""

    path: str
    locale: NumberLocale
    pieces: tuple[Rows, ...]
    line: IntArray  #: (n,) 1-based line or row of each

    @classmethod
    def of(cls, path: str, rows: Iterable[Rows], locale: NumberLocale) -> FeatureTable:
        """Gather the pieces of a table."""
        # Their lines are looked for at once, so that the text of the file need not be kept.
        pieces = tuple(replace(piece, find_lines=partial(np.asarray, piece.lines)) for piece in rows)
        if not any(map(len, pieces)):
            remedy = "write a row for each launch"
            raise ProfileError("a table without a single launch", path=path, remedy=remedy)
        return cls(path, locale, pieces, np.concatenate([piece.lines for piece in pieces]))

    def __contains__(self, name: str) -> bool:
        return name in self.pieces[0]

    def error(self, wrong: BoolArray, column: str, message: str, remedy: str = _CORRECT) -> ProfileError:
        """Return the error for the first row that is wrong."""
        row = int(self.line[np.argmax(wrong)])
        return ProfileError(message, path=self.path, row=row, column=column, remedy=remedy)

    def texts(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """Return the distinct texts of a column, and (n,) the index of each row's; "" where there is none."""
        if name not in self:
            return ("",), np.zeros(len(self.line), dtype=np.int64)
        return unified([rows.table.column(name) for rows in self.pieces])

    def numbers(self, name: str) -> tuple[FloatArray, BoolArray]:
        """Return (n,) the numbers of a column, NaN where a cell is empty or text, and (n,) which are text.

        Raises ProfileError: a text is a number in another way of writing than the locale's.
        """
        columns = [floats(rows, name, self.locale) for rows in self.pieces]
        values, is_text = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        if is_text.any():
            distinct, codes = self.texts(name)
            wrong = np.array([_NUMBER_ELSEWHERE.fullmatch(text.strip()) is not None for text in distinct])
            if (wrong := is_text & wrong[codes]).any():
                text = distinct[codes[np.argmax(wrong)]]
                raise self.error(wrong, name, f"'{text}' is not a number", _WRONG_NUMBER)
        return values, is_text

    def metric(self, name: str) -> FloatArray | None:
        """Return (n,) the numbers of a column; None for one of text; ProfileError where cells are either."""
        numbers, is_text = self.numbers(name)
        if not is_text.any():
            return numbers
        if not np.isnan(numbers).all():
            raise self.error(is_text, name, "not a number, as other cells of the column are", _WRONG_NUMBER)
        return None

    def whole(self, name: str, minimum: int = 0) -> IntArray:
        """Return (n,) the whole numbers of a column; ProfileError where there are others."""
        numbers, _ = self.numbers(name)
        # 2^53 and beyond would have been rounded on their way.
        wrong = ~((numbers >= minimum) & (numbers < 2.0**53) & (numbers == np.rint(numbers)))
        if wrong.any():
            raise self.error(wrong, name, f"not a whole number from {minimum} on")
        return numbers.astype(np.int64)

    def sizes(self, name: str, axes: Sequence[str] = ()) -> IntArray | None:
        """Return (n, 3) the grids or blocks, from a column of texts or one of each axis; None without them.

        Raises ProfileError: a text is no size, or an axis is missing.
        """
        if name in self:
            cells, codes = self.texts(name)
            sizes, bad = parse_sizes(cells)
            if bad >= 0:
                raise self.error(codes == bad, name, f"{cells[bad]!r} is not {WRITTEN}")
            return sizes[codes]
        columns = [self.whole(axis) for axis in axes if axis in self]
        if 0 < len(columns) < len(axes):
            message = f"a table without all of {', '.join(axes)}"
            raise ProfileError(message, path=self.path, remedy="write 1 where an axis is not used")
        return np.stack(columns, axis=1) if columns else None

    def refuse_repeated(self, keys: Sequence[IntArray], noun: str) -> None:
        """Raise ProfileError if two rows have the same keys, (n,) each, naming both rows."""
        codes, first_rows = dense_codes(keys)
        repeats = np.flatnonzero(first_rows[codes] != np.arange(len(codes)))
        if len(repeats):
            first, row = self.line[first_rows[codes[repeats[0]]]], int(self.line[repeats[0]])
            message = f"{noun} stands in row {first} already"
            raise ProfileError(message, path=self.path, row=row, remedy="give each launch one row")


def read_columns(
    file: InputFile,
    header: tuple[str, ...],
    separator: str,
    kinds: Mapping[str, Kind],
    remedy: str,
    progress: Progress | None = None,
) -> FeatureTable:
    """Return columns of a table by the names in its header: texts, and numbers of all other kinds.

    Raises ProfileError: a cell is wrong, a row has another number of cells; there is no row.
    """
    columns = {name: (header.index(name), kind) for name, kind in kinds.items()}
    rows = read_rows(file, Layout(header, columns, separator, remedy=remedy), progress)
    return FeatureTable.of(file.path, rows, "C")


def instruction_rows(
    file: InputFile, format_name: str, line: IntArray, number: IntArray, executed: Any, **columns: Any
) -> FeatureRows:
    """Return the rows of counts, (n,) each: 0 is none, below 0 overflowed."""
    falls = np.diff(number, prepend=number[:1] - 1) <= 0
    if falls.any():
        row = int(np.argmax(falls))
        raise ProfileError(
            f"kernel {number[row]} follows kernel {number[row - 1]}: of several processes or runs",
            path=file.path,
            row=int(line[row]),
            remedy="give each process and run a file of its own",
        )
    notes: tuple[str, ...] = ()
    if wanting := int(np.count_nonzero(executed <= 0)):
        launches = counted(wanting, "launch")
        notes = (f"{launches} not counted (0 instructions), or beyond the bits of the counter: no value",)
    counts = np.where(executed > 0, executed, np.nan)
    features = Features(metrics={"instructions": counts}, units={"instructions": "inst"})
    return FeatureRows(file.path, format_name, line, features, launch_number=number, notes=notes, **columns)


class Durations(NamedTuple):
    """What the launches of a page lasted."""

    metric: str
    values: FloatArray  #: (n,) nanoseconds, or what stands for them; NaN where there is none that can be
    note: str  #: what else than a time they are; empty where they are one
    product: str


def measured_profile(
    file: InputFile, kernels: KernelTable, rows: FeatureRows, durations: Durations, *notes: str
) -> Profile:
    """Return rows that have names as launches, but those without a duration, in their order."""
    launches, lacks_one = Launches(file, kernels), np.isnan(durations.values)
    if lacks_one.any():
        count, row = int(lacks_one.sum()), int(rows.line[np.argmax(lacks_one)])
        launches.left_out.add(count, "a launch has no duration", row=row, column=durations.metric)
    rows = rows.take(np.flatnonzero(~lacks_one))
    assert rows.name is not None
    mangled = [name if name.startswith(MANGLED) else None for name in rows.names]
    launches.add(
        LaunchColumns(
            name=kernels.names.intern(rows.names, mangled=mangled).take(rows.name),
            duration_ns=durations.values[~lacks_one].astype(np.int64),
            process=rows.process,
            device=rows.device,
            grid=None if rows.grid is None else [*rows.grid.T],
            block=None if rows.block is None else [*rows.block.T],
        )
    )
    facts, nothing = RecordingFacts(product=durations.product), ("no launch has a duration", _CORRECT)
    profile = launches.finish(rows.format, facts, nothing, rows.features.metrics)
    profile.notes = tuple(f"{file.path}: {note}" for note in (durations.note, *notes) if note)
    return profile
