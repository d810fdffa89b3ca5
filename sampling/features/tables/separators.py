"""What separates the cells of a table of text: a comma, or the semicolon or tab that its header shows.

Spreadsheets write semicolons where the comma is the decimal sign. Other separators are replaced by commas on
reading, so that one parser serves all tables.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from sampling.errors import ProfileError
from sampling.features.tables.identity import column_names

_COMMA = ","
_SEPARATORS = (_COMMA, ";", "\t")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_LOOKED_AT = 5


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The first line of a table that is not empty.

    Attributes
    ----------
    columns : the names of its columns, see `column_names`.
    separator : what separates them.
    stop : where the line after it starts, in bytes.
    """

    columns: tuple[str, ...]
    separator: str
    stop: int


def find_table_header(head: bytes) -> TableHeader:
    """Return the header of a table; its separator is a comma unless another one finds more in it.

    The best separator gives a column id or name, the next best the most columns.
    """
    mark = len(head) - len(head.removeprefix(_BYTE_ORDER_MARK))
    stop = mark
    for line in head[mark:].splitlines(keepends=True):
        stop += len(line)
        if line.strip():
            break
    else:
        return TableHeader((), _COMMA, stop)
    found = {separator: column_names(_cells(line, separator)) for separator in _SEPARATORS}
    # Of equals, max takes the first: the comma.
    separator = max(found, key=lambda one: (bool({"id", "name"} & set(found[one])), len(found[one])))
    return TableHeader(found[separator], separator, stop)


def looks_like_table(head: bytes) -> bool:
    """Return whether the first lines have equally many cells, two or more, or are one column of numbers."""
    separator = find_table_header(head).separator
    lines = [line for line in head.removeprefix(_BYTE_ORDER_MARK).splitlines(keepends=True) if line.strip()]
    if not head.endswith(b"\n"):
        lines = lines[:-1] or lines
    cells = [_cells(line, separator) for line in lines[:_LINES_LOOKED_AT]]
    widths = {len(each) for each in cells}
    if len(cells) < 2 or len(widths) != 1:
        return False
    if widths != {1}:
        return True
    return not _is_number(cells[0][0]) and all(_is_number(each[0]) for each in cells[1:])


def comma_separated(text: bytes, separator: str, *, path: str, first_line: int) -> bytes:
    """Return whole lines with commas between their cells, line for line.

    Parameters
    ----------
    first_line : the 1-based line of the file that the text starts with, for messages.

    Raises
    ------
    ProfileError : a quote is not closed, or a line does not parse.
    """
    if separator == _COMMA:
        return text
    if b'"' not in text and b"," not in text:
        return text.replace(separator.encode(), b",")
    # Latin 1 keeps every byte as it is, whatever the encoding.
    source = csv.reader(io.StringIO(text.decode("latin-1"), newline=""), delimiter=separator, strict=True)
    target = io.StringIO(newline="")
    try:
        csv.writer(target, lineterminator="\n").writerows(source)
    except csv.Error as error:
        # The parser stops lines after the one with the open quote.
        unclosed = (place for place, line in enumerate(text.splitlines()) if line.count(b'"') % 2)
        place = next(unclosed, None)
        raise ProfileError(
            f"the line does not parse ({error})" if place is None else "a quote is not closed",
            path=path,
            row=first_line + (max(source.line_num - 1, 0) if place is None else place),
            remedy="write the table again: it is cut short or damaged",
        ) from error
    return target.getvalue().encode("latin-1")


def _cells(line: bytes, separator: str) -> tuple[str, ...]:
    try:
        return tuple(
            next(csv.reader([line.decode("utf-8", "replace").strip("\r\n")], delimiter=separator), ())
        )
    except csv.Error:
        return ()


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number of any locale."""
    digits = cell.strip().replace(",", "").replace(".", "")
    try:
        float(digits)
    except ValueError:
        return False
    return True
