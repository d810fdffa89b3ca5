"""Cells of numbers as programs write them under different locales, turned into float64.

Plain numbers as in the C locale are the rule. Nsight Compute follows the user's locale: ``30,221`` under
en_US, ``30.221`` and ``31,87`` under de_DE. What can only be en_US is read as such; de_DE has to be named by
the user, because ``30.221`` alone may be either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, FloatArray
from sampling.arrow import to_arrow_texts, to_numpy
from sampling.readers.csv_cells import NULLS
from sampling.text import Wording

NumberLocale = Literal["C", "en_US", "de_DE"]


#: What tools print where a launch has no value.
_NO_VALUE = (*NULLS, "(n/a)", "NA", "<NA>", "null", "no data")

_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_ENGLISH_GROUPS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
_GERMAN = r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?$"
# A comma that groups no thousands, or several dots.
_ONLY_GERMAN = r"^[+-]?(\d+,\d*|[1-9]\d{0,2}(\.\d{3})+,\d*|[1-9]\d{0,2}(\.\d{3}){2,})$"
# Under de_DE: commas between thousands and then a dot, or several such commas.
_ONLY_ENGLISH = r"^[+-]?[1-9]\d{0,2}((,\d{3})+\.\d*|(,\d{3}){2,})$"
_EITHER_COMMA = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_EITHER_DOT = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"


class NumberCells:
    """Reads the number cells of one file and keeps what they show of its locale."""

    def __init__(self, locale: NumberLocale) -> None:
        self._locale: NumberLocale = locale
        self._either: str | None = None
        self._either_dot: str | None = None
        self._proven = False

    def read(self, cells: Any) -> tuple[FloatArray, BoolArray]:
        """Return the numbers of texts, and which of them are text rather than a number or nothing.

        Parameters
        ----------
        cells : (k,) Arrow string or binary array; best the distinct ones of a column.

        Returns
        -------
        numbers : (k,) NaN where a cell has no number; infinite where it says so or is beyond float64.
        texts : (k,) whether a cell holds something else.
        """
        import pyarrow as pa
        from pyarrow import compute

        if len(cells) == 0:
            return np.zeros(0), np.zeros(0, dtype=np.bool_)
        cells = compute.utf8_trim_whitespace(_as_text(cells))
        nothing = compute.is_in(cells, value_set=to_arrow_texts(_NO_VALUE))
        nothing = compute.or_(nothing, compute.is_null(cells))
        cells = compute.if_else(nothing, to_arrow_texts([""])[0], cells)
        plain = self._plain(cells)
        number = compute.or_(_matches(plain, _PLAIN), _matches(plain, _INFINITE))
        plain = compute.if_else(number, plain, pa.nulls(1, pa.string())[0])
        numbers = compute.fill_null(plain.cast(pa.float64()), float("nan"))
        texts = compute.invert(compute.or_(number, nothing))
        return to_numpy(numbers), to_numpy(texts)

    def german(self, cells: Any) -> int:
        """Return the index of the first cell that can only be de_DE; -1 if none, or if that is the locale."""
        from pyarrow import compute

        if self._locale == "de_DE" or len(cells) == 0:
            return -1
        cells = compute.utf8_trim_whitespace(_as_text(cells))
        german = to_numpy(_matches(cells, _ONLY_GERMAN)) & ~to_numpy(_matches(cells, _ENGLISH_GROUPS))
        return int(np.argmax(german)) if german.any() else -1

    def english(self, cells: Any) -> int:
        """Return the index of the first cell that cannot be de_DE; -1 if none, or under another locale."""
        from pyarrow import compute

        if self._locale != "de_DE" or len(cells) == 0:
            return -1
        cells = compute.utf8_trim_whitespace(_as_text(cells))
        english = to_numpy(_matches(cells, _ONLY_ENGLISH))
        return int(np.argmax(english)) if english.any() else -1

    def notes(self, *, doubt_dots: bool) -> tuple[str, ...]:
        """Return what to tell the user of how numbers were read.

        Parameters
        ----------
        doubt_dots : whether a number with exactly three decimals is unusual for the writer.
        """
        if self._locale != "C" or self._proven:
            return ()
        if self._either is not None:
            meant = self._either.replace(",", "")
            return (_doubt(self._either, f"read as {meant}", "the comma is a decimal comma"),)
        if doubt_dots and self._either_dot is not None:
            return (_doubt(self._either_dot, "read as a decimal", "the dot stands between thousands"),)
        return ()

    def _plain(self, cells: Any) -> Any:
        """Return the cells with their numbers as the C locale writes them."""
        from pyarrow import compute

        if self._locale == "de_DE":
            german = _matches(cells, _GERMAN)
            plain = compute.replace_substring(compute.replace_substring(cells, ".", ""), ",", ".")
            # A cell that is no number under de_DE but one under C, such as 31.87, must be refused.
            return compute.if_else(german, plain, compute.if_else(_matches(cells, _PLAIN), "?", cells))
        if not compute.any(compute.match_substring_regex(cells, "[.,]")).as_py():
            return cells
        grouped = _matches(cells, _ENGLISH_GROUPS)
        either, either_dot = _matches(cells, _EITHER_COMMA), _matches(cells, _EITHER_DOT)
        self._either = self._either or _first(cells, either)
        self._either_dot = self._either_dot or _first(cells, either_dot)
        dotted = compute.and_(_matches(cells, _PLAIN), compute.match_substring(cells, "."))
        english = compute.and_not(grouped, either)
        proof = compute.or_(compute.and_not(dotted, either_dot), english)
        self._proven = self._proven or bool(compute.any(proof).as_py())
        return compute.if_else(grouped, compute.replace_substring(cells, ",", ""), cells)


def distinct_numbers(numbers: NumberCells, distinct: Any, codes: AnyIntArray) -> tuple[FloatArray, BoolArray]:
    """Return (n,) the numbers, and which cells are text, of a column given as distinct texts and codes.

    A code of -1, as well as a null among the distinct texts, is a cell without a value.
    """
    values, texts = numbers.read(distinct)
    # The last entry stands for -1.
    values, texts = np.append(values, np.nan), np.append(texts, np.False_)
    return values[codes], texts[codes]


def _doubt(cell: str, reading: str, other: str) -> str:
    return Wording("{} was {}; if {}, give `number_locale=de_DE`", cell, reading, other)


def _as_text(cells: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_string(cells.type):
        return cells
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        # Bytes that are no UTF-8 belong to no number.
        decoded: Sequence[str] = [
            "" if cell is None else cell.decode("utf-8", "replace") for cell in cells.to_pylist()
        ]
        return to_arrow_texts(decoded)


def _matches(cells: Any, pattern: str) -> Any:
    from pyarrow import compute

    return compute.fill_null(compute.match_substring_regex(cells, pattern), False)


def _first(cells: Any, chosen: Any) -> str | None:
    from pyarrow import compute

    places = compute.indices_nonzero(chosen)
    return str(cells[places[0].as_py()].as_py()) if len(places) else None
