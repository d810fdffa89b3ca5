"""Where the text of a table's cell becomes a number or a size; what is none is said by who has the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray, to_arrow, to_arrow_texts, to_numpy
from sampling.readers import NumberLocale

#: How a grid or block is written in one cell, for messages
WRITTEN = "one to three whole numbers, such as 8, 8x1 or (8, 1, 1)"
#: What tools print where there is no value.
NULLS = ("", "None", "-", "nan", "NaN", "N/A", "n/a", "(n/a)", "NA", "<NA>", "NULL", "null", "no data")
#: In a column of integers: there is none
NULL = int(np.iinfo(np.int64).min)
_PLAIN = r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity)"
_ENGLISH = rf"^[+-]?({_PLAIN}|[1-9]\d{{0,2}}(,\d{{3}})+(\.\d*)?)$"
# Under de_DE a dot stands between thousands, so that 31.87 is no number there.
_GERMAN = r"^[+-]?((\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?|(?i:inf|infinity))$"
_PATTERN = {None: rf"^[+-]?({_PLAIN})$", "C": _ENGLISH, "en_US": _ENGLISH, "de_DE": _GERMAN}
_SIZE = re.compile(r"\s*[(\[{<]?\s*[0-9]{1,10}(?:(?:\s*[xX*,;]\s*|\s+)[0-9]{1,10}){0,2}\s*[)\]}>]?\s*")


def parse_numbers(cells: Any, locale: NumberLocale | None = "C") -> tuple[FloatArray, BoolArray]:
    """Return (k,) the numbers of an Arrow array of texts, and which of these are text and no number.

    A number is NaN where a cell has none, infinite where it says so or is beyond float64. The locale is None
    where nothing stands between thousands.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_string(cells.type):
        # Bytes that are no UTF-8 belong to no number.
        cells = to_arrow_texts([(cell or b"").decode("utf-8", "replace") for cell in cells.to_pylist()])
    nothing = pa.nulls(1, pa.string())[0]
    cells = compute.utf8_trim_whitespace(cells)
    cells = compute.if_else(compute.is_in(cells, value_set=to_arrow_texts(NULLS)), nothing, cells)
    is_number = compute.match_substring_regex(cells, _PATTERN[locale])
    cells = compute.if_else(is_number, cells, nothing)
    if locale == "de_DE":
        cells = compute.replace_substring(compute.replace_substring(cells, ".", ""), ",", ".")
    else:
        cells = compute.replace_substring(cells, ",", "")
    is_text = to_numpy(compute.fill_null(compute.invert(is_number), False))
    return float_values(cells.cast(pa.float64())), is_text


class NoWholeNumberError(Exception):
    """A cell of some rows, by its places from 0, that is no whole number."""

    def __init__(self, row: int, column: int, value: object) -> None:
        super().__init__(f"{value!r:.40}")
        self.row, self.column = row, column


def whole_numbers(rows: Sequence[Sequence[object]]) -> IntArray:
    """Return (columns, n) the integers of n rows, at least one, ``NULL`` for None.

    A database keeps any value in any column. A float that is whole is its integer; one with a fraction is
    refused by `NoWholeNumberError`: as a time it was not counted in nanoseconds.
    """
    values = np.array(rows)
    if values.dtype != np.int64:
        cells = [
            _whole(cell, row, column)
            for row, row_cells in enumerate(rows)
            for column, cell in enumerate(row_cells)
        ]
        values = np.array(cells, dtype=np.int64).reshape(len(rows), -1)
    return np.ascontiguousarray(values.T)


def _whole(cell: object, row: int, column: int) -> int:
    if isinstance(cell, int):
        return cell
    if cell is None:
        return NULL
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 63:
        return int(cell)
    raise NoWholeNumberError(row, column, cell)


def float_values(column: Any) -> FloatArray:
    """Return (n,) the numbers of an Arrow column as float64; NaN where there is none."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return to_numpy(compute.fill_null(column.cast(pa.float64(), safe=False), float("nan")))


def masked(values: NDArray[Any], is_null: BoolArray) -> Any:
    """Return an Arrow array with nulls; `pyarrow.array` would import pandas."""
    import pyarrow as pa
    from pyarrow import compute

    array = to_arrow(values)
    valid = to_arrow((~is_null).view(np.uint8)).cast(pa.bool_())
    return compute.if_else(valid, array, pa.nulls(1, array.type)[0]) if is_null.any() else array


def is_size(cell: str) -> bool:
    """Return whether `parse_sizes` reads a cell."""
    return cell.strip() in NULLS or _SIZE.fullmatch(cell) is not None


def parse_sizes(cells: Sequence[str]) -> tuple[IntArray, int]:
    """Return (n, 3) x, y and z of some cells, and the index of the first cell that is none, -1 if all are.

    Axes that a cell leaves out are 1. An empty cell is a size that is not known: zeros.
    """
    sizes = np.zeros((len(cells), 3), dtype=np.int64)
    for place, cell in enumerate(cells):
        if cell.strip() in NULLS:
            continue
        if not is_size(cell):
            return sizes, place
        sizes[place] = [*map(int, re.findall("[0-9]+", cell)), 1, 1][:3]
    return sizes, -1
