"""Files of per-launch features, recognised by their content: modules of formats, and tables, which are here.

A module, one of ``_MODULES``, has recognise(file), cheap, and read(file, locale, progress) of `FeatureRows`.
A table (CSV, with semicolons or tabs too, or Parquet) has a column id or name and a column for each metric.
Row i of an array of NumPy is the launch with id i, every column a number of its vector.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.parallel import Progress
from sampling.readers import NumberLocale
from sampling.readers.cells import WRITTEN, parse_sizes
from sampling.readers.columns import DIMENSIONS, NO_METRIC
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.not_a_profile import file_error, is_table, other_sort
from sampling.readers.registry import find_reader
from sampling.readers.table import PARQUET, Kind, Layout, Rows, floats, read_rows, table_header, unified
from sampling.reduction.launch_list import Features
from sampling.text import Wording, listed, shortened

# Tables come last: many other files are CSV too.
_MODULES = ("ncu", "counts")
_READABLE = (
    "give a CSV of Nsight Compute (`ncu --import REPORT --csv --page raw`), a CSV or Parquet file with a "
    "column id or name, an npy file with a row for every launch, or what NVBit's instr_count or the "
    "basic-block tool writes"
)
_NUMBER_ELSEWHERE = re.compile(r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,]\d*)?")
#: Columns of an array have no names; they are metrics of this name and their number, from 0
VECTOR_PREFIX = "vector_"

_NPY = b"\x93NUMPY"
# What identifies a launch: whole numbers and texts.
_WHOLE = ("id", "process", "device", "occurrence", *(axis for axes in DIMENSIONS.values() for axis in axes))
_TEXTS = ("name", *DIMENSIONS)
_OURS = {**SPELLINGS, **{name: name for name in (*_WHOLE, *_TEXTS)}}
_REMEDY = (
    "give it a column id with the launch ids of the profile, or a column name with the kernel names, with "
    "grid_x grid_y grid_z block_x block_y block_z (or grid and block as text) and occurrence if it has them, "
    "a row for each launch and a column for each metric"
)
_NUMPY = "write numbers with numpy.save, a row for every launch in the order of their ids"
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

    def words(self, row: int) -> str:
        """Return a row in words, for messages: its id or its name."""
        if self.id is not None:
            return f"id {self.id[row]}"
        assert self.name is not None
        return f"'{shortened(self.names[self.name[row]])}'"


def read_features(path: str, *, locale: NumberLocale = "C", progress: Progress | None = None) -> FeatureRows:
    """Read a file of features; "-" is standard input, gzip is read as it is.

    Under the locale "C", thousands apart by commas are read too.

    Raises ProfileError: it is missing, damaged, of no known format, or has nothing that says which launch a
    row is.
    """
    with open_input(path) as file:
        for name in () if file.is_directory else _MODULES:
            module = import_module(f"sampling.features.{name}")
            if module.recognise(file):
                rows: FeatureRows = module.read(file, locale, progress)
                return rows
        if not file.is_directory and _is_table(file):
            return _read_array(file) if file.head.startswith(_NPY) else _read_table(file, locale, progress)
        reader = find_reader(file)
        reason = re.split("[:,]", file_error(file).message.removeprefix(f"{file.path}: "))[0]
        if file.is_directory:
            reason = "a folder"
        elif reader is not None:
            reason = f"what profiles are read from ({reader.FORMAT})"
        raise ProfileError(f"{reason}, no features of launches", path=file.path, remedy=_READABLE)


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


# --- tables and arrays --------------------------------------------------------------------------------------


def _is_table(file: InputFile) -> bool:
    """Return whether this is an array or a table, and neither a profile nor the report of another tool."""
    if file.head.startswith((PARQUET, _NPY)):
        return True
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    may_be = find_reader(file) is None and other_sort(file) is None
    return may_be and (is_table(file) or not {"id", "name"}.isdisjoint(_header(file)[0]))


def _header(file: InputFile) -> tuple[tuple[str, ...], str]:
    cells, separator = table_header(file, {"id", "name", "ID", "Name", "Id", *_OURS})
    return _spelt([cell.strip() for cell in cells]), separator


def _spelt(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, those of ours in our spelling (``ID`` is id) where none is spelt so."""
    names = list(cells)
    for place, name in enumerate(cells):
        ours = _OURS.get(name.casefold(), name)
        if ours not in names:
            names[place] = ours
    return tuple(names)


def _read_table(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of a table.

    Raises ProfileError: it is damaged, has neither a column id nor a column name, no row or no metric; a
    cell is wrong; a launch stands twice.
    """
    header, separator = _header(file)
    wrong = ["no column id or name: rows are never joined by position"] * {"id", "name"}.isdisjoint(header)
    wrong += [f"several columns {name}" for name in (*_WHOLE, *_TEXTS) if header.count(name) > 1]
    if wrong:
        message = f"a table of {listed(header)}, with {wrong[0]}"
        raise ProfileError(message, path=file.path, remedy=_REMEDY)
    is_parquet = file.head.startswith(PARQUET)
    numbers: Kind = "any" if locale == "C" or is_parquet else "text"
    kinds: dict[str, Kind] = {name: numbers for name in header if name and name not in NO_METRIC}
    kinds |= {name: numbers for name in header if name in _WHOLE}
    kinds |= {name: "text" for name in header if name in _TEXTS}
    columns = {name: (header.index(name), kind) for name, kind in kinds.items()}
    rows = read_rows(file, Layout(header, columns, separator, locale), progress)
    table = FeatureTable.of(file.path, rows, locale)
    values = {name: table.metric(name) for name in columns if name not in (*_WHOLE, *_TEXTS)}
    metrics = {name: column for name, column in values.items() if column is not None}
    if not metrics:
        raise ProfileError("a table without a column of numbers", path=file.path, remedy=_REMEDY)
    minima = {"id": 0, "process": -1, "device": -1, "occurrence": 0}
    identifiers = {name: table.whole(name, number) for name, number in minima.items() if name in table}
    names, name_of = table.texts("name") if "name" in table else ((), None)
    if "id" in identifiers:
        table.refuse_repeated([identifiers["id"]], "this launch's id")
    elif name_of is not None and "" in names:
        raise table.error(name_of == names.index(""), "name", "a row without a kernel name")
    return FeatureRows(
        path=file.path,
        format="parquet" if is_parquet else "csv",
        line=table.line,
        features=Features(metrics=metrics),
        id=identifiers.get("id"),
        names=names,
        name=name_of,
        grid=table.sizes("grid", DIMENSIONS["grid"]),
        block=table.sizes("block", DIMENSIONS["block"]),
        process=identifiers.get("process"),
        device=identifiers.get("device"),
        occurrence=identifiers.get("occurrence"),
    )


def _read_array(file: InputFile) -> FeatureRows:
    """Return the rows of an array, one a launch of the whole profile; nothing in it is run or unpickled."""
    with file.on_disk() as location, file.damage_reported(), np.errstate(all="ignore"):
        try:
            values = np.load(location, mmap_mode="r", allow_pickle=False)
            if values.dtype.kind not in "iufb" or values.ndim not in (1, 2) or 0 in values.shape:
                raise ValueError(f"{values.dtype} {values.shape}")
        except Exception as error:
            # numpy reads a header as Python, so that a damaged one raises almost anything.
            message = f"an array that is damaged or is no rows of numbers ({str(error)[:80]})"
            raise ProfileError(message, path=file.path, remedy=_NUMPY) from error
        # The file may have another width or byte order of its numbers.
        columns = [column.astype(np.float64) for column in values.reshape(len(values), -1).T]
    return FeatureRows(
        path=file.path,
        format="npy",
        line=np.arange(1, len(values) + 1),
        features=Features(
            metrics={f"{VECTOR_PREFIX}{place}": column for place, column in enumerate(columns)}
        ),
        id=np.arange(len(values)),
        whole_profile=True,
    )
