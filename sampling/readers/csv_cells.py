"""CSV as columns: Arrow parses pieces of whole lines, without a look at single cells.

A column that it refuses is read as its distinct texts, which tells the line and column of a wrong value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.arrow import first_true, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.progress import Progress
from sampling.readers.input_file import HEAD_BYTES, InputFile, place_on_disk

#: "integer" is read exactly, "number" as float64, "text" as dictionary-encoded bytes, "any" as the last two.
Kind = Literal["integer", "number", "text", "any"]
#: How a file writes its numbers: 1,234.5 is read under C too, 1.234,5 under de_DE alone.
NumberLocale = Literal["C", "en_US", "de_DE"]
Table: TypeAlias = Any  # a pyarrow.Table whose columns are named by their position: "0", "1", ...

NULLS = ("", "None", "-", "nan", "NaN", "N/A", "n/a", "NULL", "null")

# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
LONGEST_LINE_BYTES = 4 << 20
# What tools print where a launch has no value.
_NO_VALUE = (*NULLS, "(n/a)", "NA", "<NA>", "no data")
_PLAIN = r"^[+-]?(?:(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
_GROUPED = {
    "C": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
    "de_DE": r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?$",
}
_LARGEST_NUMBER = float(1 << 62)
_ROUNDED_FROM = float(1 << 53)
_NEWLINE = 10
_ODD_COLUMN = re.compile(r"In CSV column #(\d+)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The header's cells, and the positions to read with their kinds.

    Attributes
    ----------
    kinds : those of columns that may be of any kind change as the rows show it.
    separator : what stands between cells.
    locale : how numbers are written; None where nothing parts their thousands.
    remedy : what to do about a wrong cell; None: write the report again.
    """

    header: tuple[str, ...]
    kinds: dict[int, Kind]
    separator: str = ","
    locale: NumberLocale | None = "C"
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of a file under one header.

    Attributes
    ----------
    offset, line : of the first line, in the decompressed bytes; 1-based, 0 where it is not known.
    """

    file: InputFile
    layout: Layout
    offset: int
    text: bytes
    line: int = 0

    def rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield (0-based line within this part, bytes) of every row; an empty line is no row."""
        for line, text in enumerate(self.text.split(b"\n")):
            if text.rstrip(b"\r"):
                yield line, text.rstrip(b"\r")

    def error(self, row: int, message: str, *, position: int | None, remedy: str) -> ProfileError:
        """Return the error that points at a row of this part, by its line in the file, and a column."""
        line = next((line for index, (line, _) in enumerate(self.rows()) if index == row), 0)
        return ProfileError(
            message,
            path=self.file.path,
            row=(self.line or lines_before(self.file, self.offset) + 1) + line,
            column=None if position is None else self.layout.header[position],
            remedy=remedy,
        )


def lines_before(file: InputFile, offset: int) -> int:
    """Return how many lines end before ``offset``. It reads the file again, so it is for messages only."""
    count = 0
    with file.open() as stream:
        while offset > 0 and (chunk := stream.read(min(offset, PIECE_BYTES))):
            count += chunk.count(b"\n")
            offset -= len(chunk)
    return count


def header_cells(line: bytes, separator: str = ",") -> tuple[str, ...]:
    """Return the cells of one line, without the byte-order mark and the line's end."""
    text = line.decode("utf-8-sig", "replace").strip("\r\n")
    try:
        return tuple(next(csv.reader([text], delimiter=separator), ()))
    except csv.Error:
        return ()


def first_line(text: bytes) -> bytes:
    """Return the first line that is not empty, with the empty ones before it and with its end."""
    content = len(text) - len(text.lstrip(b"\r\n"))
    end = text.find(b"\n", content)
    return text if end < 0 else text[: end + 1]


def pieces(file: InputFile, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the file as (offset, whole lines); the next piece is read while one is worked on.

    Parameters
    ----------
    progress : told how many bytes are done, whenever a piece has been worked on.

    Raises
    ------
    ProfileError : a line has no end, or the file cannot be read.
    """
    total = file.location.stat().st_size
    with file.open() as stream, ThreadPoolExecutor(1) as ahead:
        offset = 0
        coming = ahead.submit(_next_piece, stream, file.path)
        while piece := coming.result():
            coming = ahead.submit(_next_piece, stream, file.path)
            yield offset, piece
            offset += len(piece)
            if progress is not None:
                # Of gzip data the next piece is decompressed by now.
                done = place_on_disk(stream) if file.compressed else offset
                progress(done, total, f"reading {file.path}")


def _next_piece(stream: IO[bytes], path: str) -> bytes:
    start = stream.read(PIECE_BYTES)
    rest = b"" if start.endswith(b"\n") else stream.readline(LONGEST_LINE_BYTES)
    if len(rest) == LONGEST_LINE_BYTES:
        raise ProfileError(
            f"holds a line of more than {LONGEST_LINE_BYTES >> 20} MiB",
            path=path,
            remedy="write the report again",
        )
    return start + rest


def parts(
    file: InputFile, layout: Layout, progress: Progress | None = None, *, header_stop: int | None = None
) -> Iterator[Part]:
    """Yield the rows of a table under one header, in parts that have a row each and know their first line.

    Parameters
    ----------
    header_stop : where the line after the header starts; None: after the first line that is not empty.
    """
    line = 1
    for offset, text in pieces(file, progress):
        start = 0
        if offset == 0:
            start = len(first_line(text)) if header_stop is None else header_stop
            head = text[start : start + HEAD_BYTES].rpartition(b"\n")[0]
            if "any" in layout.kinds.values() and head.strip():
                # Most columns of text are found in the first lines, in a hundredth of the time.
                parse(Part(file, layout, start, head))
            line += text.count(b"\n", 0, start)
        if (rows := text[start:]).strip():
            yield Part(file, layout, offset + start, rows, line)
        line += int(np.count_nonzero(np.frombuffer(rows, dtype=np.uint8) == _NEWLINE))


def parse(part: Part) -> Table:
    """Return the columns asked for; numbers may have thousands separators and fractions.

    A column that may be of any kind comes as texts as soon as a cell of it is no number to Arrow, and the
    layout has it as text from then on.

    Raises
    ------
    ProfileError : a row has too few or too many cells, or a number's cell holds something else.
    """
    import pyarrow as pa

    kinds = dict(part.layout.kinds)
    while True:
        try:
            table = _arrow_table(part, kinds)
            break
        except pa.ArrowInvalid as error:
            found = _ODD_COLUMN.match(str(error))
            kind = kinds[int(found[1])] if found else "text"
            if found is None or kind == "text":
                raise _damage(part, str(error)) from error
            if kind == "any":
                kinds[int(found[1])] = part.layout.kinds[int(found[1])] = "text"
            else:
                kinds = {place: kind if kind == "any" else "text" for place, kind in kinds.items()}
    if _swallowed_a_line(part, table):
        raise _damage(part, "a quoted cell runs over the end of its line")
    for place, (position, kind) in enumerate(part.layout.kinds.items()):
        if kind != kinds[position]:
            table = table.set_column(place, str(position), _numbers(part, table, position, kind))
    return table


def parse_plain(part: Part) -> Table | None:
    """Return the columns asked for, None where a row or cell is not what Arrow expects."""
    import pyarrow as pa

    try:
        table = _arrow_table(part, part.layout.kinds)
    except pa.ArrowInvalid:
        return None
    return None if _swallowed_a_line(part, table) else table


def _arrow_table(part: Part, kinds: Mapping[int, Kind]) -> Table:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    layout = part.layout
    types = {"integer": pa.int64(), "text": pa.dictionary(pa.int32(), pa.binary())}
    wanted = {str(position): types.get(kind, pa.float64()) for position, kind in kinds.items()}
    return arrow_csv.read_csv(
        pa.BufferReader(part.text),
        read_options=arrow_csv.ReadOptions(
            column_names=[str(position) for position in range(len(layout.header))],
            block_size=len(part.text) + 1,
            use_threads=False,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=layout.separator),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(wanted), column_types=wanted, null_values=list(NULLS), check_utf8=False
        ),
    ).combine_chunks()


def _swallowed_a_line(part: Part, table: Table) -> bool:
    """Return whether an unclosed quote has made one cell of two lines."""
    import pyarrow as pa
    from pyarrow import compute

    if _last_line(part.text).count(b'"') % 2:
        return True
    return any(
        compute.any(compute.match_substring(values, b"\n")).as_py()
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_dictionary(column.type) and len(values := texts(table, int(name))[0])
    )


def _last_line(text: bytes) -> bytes:
    end = len(text)
    while end and text[end - 1] in b"\r\n":
        end -= 1
    return text[text.rfind(b"\n", 0, end) + 1 : end]


def _damage(part: Part, reason: str) -> ProfileError:
    """Return the error for the first row whose cells do not fit the header."""
    remedy = part.layout.remedy or "write the report again: it is cut short or damaged"
    for row, (_, text) in enumerate(part.rows()):
        found = _misfit(text, len(part.layout.header), part.layout.separator)
        if found is not None:
            message, position = found
            return part.error(row, message, position=position, remedy=remedy)
    return part.error(0, f"the rows from here on do not parse ({reason})", position=None, remedy=remedy)


def _misfit(line: bytes, expected: int, separator: str) -> tuple[str, int | None] | None:
    """Return what is wrong with a line, and the position of the wrong cell; None if the line is right."""
    if b"\r" in line:
        return "a carriage return stands within the line", None
    try:
        cells = len(next(csv.reader([line.decode("utf-8", "replace")], delimiter=separator)))
    except csv.Error as error:
        return f"the line does not parse ({error})", None
    if line.count(b'"') % 2:
        return "a quote is not closed", min(cells, expected) - 1
    if cells != expected:
        message = f"{cells} cells where the header names {expected}"
        return message, cells if cells < expected else None
    return None


def _numbers(part: Part, table: Table, position: int, kind: Kind) -> Any:
    """Return the numbers of a column of texts."""
    from decimal import Decimal

    import pyarrow as pa

    distinct, codes = texts(table, position)
    numbers, is_text = numbers_of(distinct, part.layout.locale)
    wrong = is_text | np.isinf(numbers)
    if kind == "integer":
        wrong |= np.abs(numbers) > _LARGEST_NUMBER
    if wrong[codes].any():
        row = int(np.argmax(wrong[codes]))
        cell = distinct[int(codes[row])].as_py().decode("utf-8", "replace")
        raise part.error(
            row,
            f"{cell.strip()!r} is not a number that fits here",
            position=position,
            remedy=part.layout.remedy or "write the report again, without changing its cells",
        )
    if kind == "integer":
        whole = np.rint(np.nan_to_num(numbers)).astype(np.int64)
        for place in np.flatnonzero(np.abs(numbers) >= _ROUNDED_FROM).tolist():
            whole[place] = round(Decimal(distinct[place].as_py().decode().replace(",", "").strip()))
        return pa.array(whole[codes], mask=np.isnan(numbers)[codes])
    return pa.array(numbers[codes], mask=np.isnan(numbers)[codes])


def numbers_of(cells: Any, locale: NumberLocale | None = "C") -> tuple[FloatArray, BoolArray]:
    """Return (k,) the numbers of texts, and which of them are text rather than a number or nothing.

    A number is NaN where a cell has none, infinite where it says so or is beyond float64.

    Parameters
    ----------
    cells : (k,) Arrow string or binary array; best the distinct ones of a column.
    locale : None where nothing stands between thousands.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_string(cells.type):
        # Bytes that are no UTF-8 belong to no number.
        cells = to_arrow_texts([(cell or b"").decode("utf-8", "replace") for cell in cells.to_pylist()])
    no_text = pa.nulls(1, pa.string())[0]
    cells = compute.utf8_trim_whitespace(cells)
    cells = compute.if_else(compute.is_in(cells, value_set=to_arrow_texts(_NO_VALUE)), no_text, cells)
    is_plain = compute.match_substring_regex(cells, _PLAIN)
    if locale == "de_DE" or (locale and compute.any(compute.match_substring(cells, ",")).as_py()):
        # Under de_DE a dot stands between thousands, so that 31.87 is no number there.
        grouped = compute.match_substring_regex(cells, _GROUPED["de_DE" if locale == "de_DE" else "C"])
        if locale == "de_DE":
            is_plain = compute.and_(is_plain, compute.match_substring_regex(cells, r"^[^.]*$"))
            plain = compute.replace_substring(compute.replace_substring(cells, ".", ""), ",", ".")
        else:
            plain = compute.replace_substring(cells, ",", "")
        cells = compute.if_else(grouped, plain, cells)
        is_plain = compute.or_(grouped, is_plain)
    is_text = to_numpy(compute.fill_null(compute.invert(is_plain), False))
    numbers = compute.if_else(is_plain, cells, no_text).cast(pa.float64())
    return to_numpy(compute.fill_null(numbers, float("nan"))), is_text


def texts(table: Table, position: int) -> tuple[Any, NDArray[np.int32]]:
    """Return the distinct texts of a column, an Arrow binary array, and (n,) the index of each row's."""
    import pyarrow as pa

    column = table.column(str(position))
    if column.num_chunks == 0:
        return pa.nulls(0, pa.binary()), np.zeros(0, dtype=np.int32)
    encoded = column.combine_chunks()
    return encoded.dictionary, to_numpy(encoded.indices).astype(np.int32, copy=False)


def values(part: Part, table: Table, position: int, rows: IntArray | None) -> NDArray[Any]:
    """Return a number column as (n,) int64 or float64.

    Parameters
    ----------
    rows : (n,) which row of ``part`` each row of ``table`` is; None where the table has all of them.

    Raises
    ------
    ProfileError : a cell is empty.
    """
    column = table.column(str(position))
    if column.null_count:
        row = first_true(column.is_null())
        raise part.error(
            row if rows is None else int(rows[row]),
            "a launch has no value here",
            position=position,
            remedy=part.layout.remedy or "write the report again",
        )
    return to_numpy(column)
