"""Where the cells of a table become numbers, times, sizes and names; an error names their row and column.

A column of text is its distinct texts and a code for every row, so that each text is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from sampling.arrow import first_true, nulls_as, to_arrow, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.readers.csv_cells import NULLS, NumberLocale, Part, Table, numbers_of, texts, values
from sampling.readers.tables.column_map import NO_METRIC
from sampling.text import Wording

if TYPE_CHECKING:
    import pyarrow as pa

#: How a grid or block is written in one cell, for messages.
WRITTEN = "one to three whole numbers, such as 8, 8x1 or (8, 1, 1)"

_NUMBER_ELSEWHERE = re.compile(r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,]\d*)?")
# A total of many launches must fit in 64 bits.
MOST_NS = 1 << 62

_SIZE = r"^\s*[(\[{<]?\s*\d{1,10}(?:(?:\s*[xX*,;]\s*|\s+)\d{1,10}){0,2}\s*[)\]}>]?\s*$"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a part of a file, their columns by position.

    Attributes
    ----------
    table : what was parsed of the part, cut to these rows.
    chosen : (n,) which row of the part each is; None where they are all of it.
    remedy : what to do about a wrong cell.
    """

    part: Part
    table: Table
    remedy: str
    chosen: IntArray | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def where(self, wanted: BoolArray) -> Rows:
        """Return those of the rows that are wanted, (n,)."""
        if wanted.all():
            return self
        places = np.flatnonzero(wanted)
        chosen = places if self.chosen is None else self.chosen[places]
        return Rows(self.part, self.table.take(to_arrow(places)), self.remedy, chosen)

    def refuse(self, wrong: BoolArray, position: int, message: Callable[[int], str] | str) -> None:
        """Raise ProfileError for the first row that is wrong, (n,); ``message`` may say of it what is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            said = message if isinstance(message, str) else message(row)
            of_part = row if self.chosen is None else int(self.chosen[row])
            raise self.part.error(of_part, said, position=position, remedy=self.remedy)

    def texts(self, position: int) -> tuple[list[str], NDArray[np.int32]]:
        """Return the distinct texts that rows have in a column, and (n,) the index of each row's."""
        distinct, codes = texts(self.table, position)
        if self.chosen is not None:
            used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
            place = np.zeros(len(distinct), dtype=np.int32)
            place[used] = np.arange(len(used))
            distinct, codes = distinct.take(to_arrow(used)), place[codes]
        return [cell.decode("utf-8", "replace") for cell in distinct.to_pylist()], codes

    def names(
        self, position: int, kernels: KernelTable, spelt_as: Callable[[str], str] = str
    ) -> NDArray[np.int32]:
        """Return (n,) codes of the kernel names in a column, each spelt as a function says of its cell."""
        cells, codes = self.texts(position)
        spelt = [spelt_as(cell) for cell in cells]
        if "" in spelt:
            self.refuse(codes == spelt.index(""), position, "a launch has no kernel name")
        return kernels.names.intern(spelt)[codes]

    def whole_if_complete(self, position: int | None) -> AnyIntArray | None:
        """Return (n,) integers, in 32 bits where they fit; None without the column or any value in it."""
        if position is None or self.table.column(str(position)).null_count:
            return None
        return self.narrow(position)

    def narrow(self, position: int) -> AnyIntArray:
        """Return (n,) integers, in 32 bits where they fit; n > 0."""
        numbers = self.whole(position)
        fits = numbers.min() >= -(1 << 31) and numbers.max() < 1 << 31
        return numbers.astype(np.int32) if fits else numbers

    def whole(self, position: int, *, empty: int | None = None) -> AnyIntArray:
        """Return (n,) the numbers of a column; an empty cell is ``empty``, and a ProfileError for None."""
        if empty is None:
            return values(self.part, self.table, position, self.chosen)
        return to_numpy(nulls_as(self.table.column(str(position)), empty))

    def times(self, position: int, unit_ns: int = 1) -> IntArray:
        """Return (n,) nanoseconds of a column in some unit, rounded."""
        raw = self.whole(position)
        if raw.dtype.kind == "i" and unit_ns == 1:
            return raw.astype(np.int64, copy=False)
        most = MOST_NS // unit_ns
        if len(raw) and not -most < raw.min() <= raw.max() < most:
            beyond = ~(np.abs(raw) < most)
            self.refuse(beyond, position, lambda row: f"{raw[row]} is too long a time")
        return np.rint(raw * unit_ns).astype(np.int64)

    def sizes(self, position: int) -> list[IntArray]:
        """Return x, y and z, (n,) each, of a column with a grid or block in a cell."""
        cells, codes = self.texts(position)
        axes, bad = _sizes_of_texts(tuple(cells))
        if bad >= 0:
            self.refuse(codes == bad, position, f"{cells[bad]!r} is not {WRITTEN}")
        return [axis[codes] for axis in np.ascontiguousarray(axes.T)]


@lru_cache(maxsize=16)
def _sizes_of_texts(cells: tuple[str, ...]) -> tuple[IntArray, int]:
    """Return the same as `sizes_of`; the parts of a file mostly have the same few cells."""
    return sizes_of(to_arrow_texts(cells))


def sizes_of(cells: Any) -> tuple[IntArray, int]:
    """Return (n, 3) x, y and z of some cells, and the index of the first cell that is none, -1 if all are.

    Axes that a cell leaves out are 1. An empty cell is a size that is not known: zeros.

    Parameters
    ----------
    cells : (n,) an Arrow array of texts without nulls.
    """
    import pyarrow as pa
    from pyarrow import compute

    empty = compute.is_in(compute.utf8_trim_whitespace(cells), value_set=to_arrow_texts(NULLS))
    cells = compute.if_else(empty, to_arrow_texts(["0 0 0"])[0], cells)
    bad = first_true(compute.invert(compute.match_substring_regex(cells, _SIZE)))
    if bad >= 0:
        return np.zeros((0, 3), dtype=np.int64), bad
    bare = compute.utf8_trim_whitespace(compute.replace_substring_regex(cells, r"[^0-9]+", " "))
    given = compute.split_pattern(compute.binary_join_element_wise(bare, "1 1", " "), " ")
    # Each list has one to three numbers of the cell and two ones: the first three of them are meant.
    ends = to_numpy(given.offsets)[:-1, np.newaxis] + np.arange(3)
    numbers = to_numpy(given.values.cast(pa.int64()))
    return numbers[ends].astype(np.int64, copy=False), -1


class NumberColumn:
    """A column of a file that arrives in parts, and may hold numbers or text.

    Attributes
    ----------
    is_plain : whether no cell so far is text.
    has_infinite : whether a cell so far is infinite; such a cell has no value.
    """

    def __init__(self, path: str, name: str, position: int, locale: NumberLocale = "C") -> None:
        self.name = name
        self.is_plain = True
        self.has_infinite = False
        self._path = path
        self._position = position
        self._locale: NumberLocale = locale
        self._parts: list[FloatArray] = []
        self._first_text = ("", 0)

    def read(self, table: Table, line: IntArray) -> tuple[FloatArray, BoolArray]:
        """Return (n,) the numbers of a table's rows, NaN where there is none, and which cells are text.

        Parameters
        ----------
        line : (n,) 1-based line of the file of each row.

        Raises
        ------
        ProfileError : a cell is a number in another way of writing than the locale's.
        """
        numbers, is_text = floats(table, self._position, self._locale)
        if is_text.any():
            column = table.column(str(self._position)).combine_chunks()
            for code in np.unique(to_numpy(column.indices)[is_text]).tolist():
                text = column.dictionary[code].as_py().decode("utf-8", "replace")
                row = int(line[np.argmax(to_numpy(column.indices) == code)])
                if self.is_plain:
                    self.is_plain, self._first_text = False, (text, row)
                if _NUMBER_ELSEWHERE.fullmatch(text.strip()):
                    raise self._error(text, f" under the locale {self._locale}", row)
        return numbers, is_text

    def take(self, table: Table, line: IntArray) -> None:
        """Add the rows of a table; see `read`."""
        numbers, _ = self.read(table, line)
        infinite = np.isinf(numbers)
        if infinite.any():
            self.has_infinite = True
            numbers = np.where(infinite, np.nan, numbers)
        self._parts.append(numbers)

    def values(self) -> FloatArray | None:
        """Return (n,) the numbers; None for a column of text.

        Raises
        ------
        ProfileError : some cells are numbers and others are text.
        """
        numbers = np.concatenate([np.zeros(0), *self._parts])
        if self.is_plain:
            return numbers
        if np.isnan(numbers).all() and not self.has_infinite:
            return None
        text, line = self._first_text
        raise self._error(text, ", and other cells of the column are", line)

    def _error(self, text: str, said: str, line: int) -> ProfileError:
        return ProfileError(
            f"'{text}' is not a number{said}",
            path=self._path,
            row=line,
            column=self.name,
            remedy=Wording(
                "correct the cell, or leave `number_locale` out"
                if self._locale == "de_DE"
                else "correct the cell, or say how the file writes numbers: `number_locale=de_DE`"
            ),
        )


def unified(parts: Sequence[Any]) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct texts of a column that came in parts, and (n,) the index of each row's.

    Parameters
    ----------
    parts : Arrow arrays of texts or dictionaries of them.
    """
    import pyarrow as pa

    chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
    if not chunks:
        return (), np.zeros(0, dtype=np.int64)
    encoded = pa.chunked_array(chunks)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    distinct = [text.decode("utf-8", "replace") if isinstance(text, bytes) else text
                for text in encoded.dictionary.to_pylist()]  # fmt: skip
    return tuple(distinct), to_numpy(encoded.indices).astype(np.int64)


def metric_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of a table that are metrics: of numbers, and none that identifies a launch."""
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    # The column in which pandas keeps row labels is no metric either.
    return tuple(
        field.name
        for field in schema
        if field.name not in NO_METRIC
        and not field.name.startswith("__index_level_")
        and any(is_kind(field.type) for is_kind in kinds)
    )


def floats(table: Table, position: int, locale: NumberLocale | None = "C") -> tuple[FloatArray, BoolArray]:
    """Return (n,) the numbers of a column of CSV that may be of any kind, and which of its cells are text."""
    import pyarrow as pa

    column = table.column(str(position))
    if not pa.types.is_dictionary(column.type):
        return _floats(column), np.zeros(len(column), dtype=np.bool_)
    distinct, codes = texts(table, position)
    numbers, is_text = numbers_of(distinct, locale)
    return numbers[codes], is_text[codes]


def float_values(column: Any) -> FloatArray:
    """Return (n,) the numbers of an Arrow column as float64; NaN where there is none or an infinite one."""
    numbers = _floats(column)
    finite = np.isfinite(numbers)
    return numbers if finite.all() else np.where(finite, numbers, np.nan)


def _floats(column: Any) -> FloatArray:
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    return to_numpy(compute.fill_null(column, float("nan")))
