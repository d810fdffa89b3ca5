"""Columns of a table that arrives in parts: texts, kept as distinct ones and codes, and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.features.tables.number_cells import NumberCells, distinct_numbers
from sampling.readers.csv_cells import Table, texts
from sampling.readers.tables.cells import float_values
from sampling.text import Wording, listed


class TextCodes:
    """Codes for texts, in the order of their first use; one Python step for each distinct text."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}

    def take(self, texts: Any) -> IntArray:
        """Return (k,) the codes of an Arrow binary array without nulls."""
        encoded = texts.dictionary_encode()
        known = self.codes_of(encoded.dictionary.to_pylist())
        codes: IntArray = known[to_numpy(encoded.indices)]
        return codes

    def codes_of(self, texts: list[bytes]) -> IntArray:
        """Return the codes of distinct texts."""
        return np.array(
            [self._code_of.setdefault(text.decode("utf-8", "replace"), len(self._code_of)) for text in texts],
            dtype=np.int64,
        )

    def distinct(self) -> tuple[str, ...]:
        """Return the distinct texts so far, in the order of their codes."""
        return tuple(self._code_of)


class TextColumn:
    """Collects a column of texts; an empty cell is the text ""."""

    def __init__(self, position: int) -> None:
        self._position = position
        self._texts = TextCodes()
        self._parts: list[IntArray] = [np.zeros(0, dtype=np.int64)]

    def take(self, table: Table) -> None:
        """Add the rows of a table; one Python step for each distinct text of it."""
        distinct, codes = texts(table, self._position)
        self._parts.append(self._texts.codes_of(distinct.to_pylist())[codes])

    def distinct(self) -> tuple[str, ...]:
        """Return the distinct texts so far, in the order of their codes."""
        return self._texts.distinct()

    def codes(self) -> IntArray:
        """Return (n,) the code of every row so far."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]


class NumberColumn:
    """Collects a column that may be a metric: numbers throughout, else text, which is left out."""

    def __init__(self, path: str, position: int, name: str, numbers: NumberCells) -> None:
        self.name = name
        self._path = path
        self._position = position
        self._numbers = numbers
        self._parts: list[FloatArray] = []
        self._has_number = False
        self._has_infinite = False
        self._text: tuple[str, int] | None = None

    def take(self, table: Table, line: IntArray) -> None:
        """Add the rows of a table, read as numbers or as text; ``line`` are their 1-based lines in the file.

        Raises
        ------
        ProfileError : a number is written as in de_DE under another locale, or as in another under de_DE.
        """
        column = table.column(str(self._position))
        if is_numeric(column):
            self._has_number |= column.null_count < len(column)
            self._has_infinite |= has_infinite(column)
            self._parts.append(float_values(column))
            return
        distinct, codes = texts(table, self._position)
        refuse_other_locale(self._numbers, (distinct, codes), self._path, line, self.name)
        values, is_text = distinct_numbers(self._numbers, distinct, codes)
        self._has_number |= bool((~np.isnan(values)).any())
        infinite = np.isinf(values)
        if infinite.any():
            self._has_infinite = True
            values[infinite] = np.nan
        if self._text is None and is_text.any():
            row = int(np.argmax(is_text))
            self._text = (distinct[int(codes[row])].as_py().decode("utf-8", "replace"), int(line[row]))
        self._parts.append(values)

    @property
    def is_plain(self) -> bool:
        """Whether no cell so far is text."""
        return self._text is None

    @property
    def has_infinite(self) -> bool:
        """Whether a cell was infinite; such a cell has no value."""
        return self._has_infinite

    def values(self) -> FloatArray | None:
        """Return (n,) the numbers, NaN where a row has none; None for a column of text.

        Raises
        ------
        ProfileError : some cells are numbers and others are text.
        """
        if self._text is None:
            return np.concatenate([np.zeros(0), *self._parts])
        if not self._has_number:
            return None
        text, line = self._text
        raise ProfileError(
            f"'{text}' is not a number, and other cells of the column are",
            path=self._path,
            row=line,
            column=self.name,
            remedy=Wording("correct the cell, or name the numbers' locale with `number_locale`"),
        )


def is_numeric(column: Any) -> bool:
    """Return whether an Arrow column holds numbers."""
    import pyarrow as pa

    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def has_infinite(column: Any) -> bool:
    """Return whether an Arrow column of numbers has an infinite one."""
    import pyarrow as pa
    from pyarrow import compute

    return pa.types.is_floating(column.type) and bool(compute.any(compute.is_inf(column)).as_py())


def infinite_notes(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return what to tell the user of metrics with infinite values."""
    names = list(metrics)
    return (f"infinite values count as none: {listed(names)}",) if names else ()


def refuse_other_locale(
    numbers: NumberCells, cells: tuple[Any, AnyIntArray], path: str, line: IntArray, column: str
) -> None:
    """Refuse numbers written in a way that shows another locale than the one named.

    Parameters
    ----------
    cells : the distinct texts of a column, and (n,) the text of each row.
    line : (n,) 1-based lines of the rows in the file.

    Raises
    ------
    ProfileError : there is one; says which locale to name.
    """
    distinct, codes = cells
    german, english = numbers.german(distinct), numbers.english(distinct)
    place = max(german, english)
    if place < 0:
        return
    cell = distinct[place].as_py()
    text = cell if isinstance(cell, str) else cell.decode("utf-8", "replace")
    if german >= 0:
        shown_by = "a decimal comma" if "," in text else "dots between groups of thousands"
        remedy = Wording("if the file was written under such a locale, give `number_locale=de_DE`")
    else:
        shown_by = "commas between groups of thousands"
        remedy = Wording("the file was not written under de_DE: leave `number_locale` out, or give en_US")
    raise ProfileError(
        f"'{text}' is a number with {shown_by}",
        path=path,
        row=int(line[int(np.argmax(codes == place))]),
        column=column,
        remedy=remedy,
    )
