"""CSV as columns: Arrow parses pieces of whole lines; a piece it refuses is parsed again with more patience.

Ten million rows take seconds because the common case is parsed without a look at single cells. A piece that
does not parse is parsed again with its numbers as text, which allows separators of thousands and tells the
line and column of a wrong value.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray
from sampling.arrow import first_true, to_arrow, to_arrow_texts, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, place_on_disk

#: "integer" is read exactly, "number" as float64, "text" as dictionary-encoded bytes.
Kind = Literal["integer", "number", "text"]
Table: TypeAlias = Any  # a pyarrow.Table whose columns are named by their position: "0", "1", ...

NULLS = ("", "None", "-", "nan", "NaN", "N/A", "n/a", "NULL", "null")

# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
LONGEST_LINE_BYTES = 4 << 20
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_WHOLE_NUMBER = r"^-?([0-8]\d{18}|\d{1,18})$"
_LARGEST_NUMBER = float(1 << 62)
_WITH_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$"


@dataclass(frozen=True, slots=True)
class Layout:
    """The header's cells, and the positions to read with their kinds.

    Attributes
    ----------
    separator : what stands between cells.
    has_thousands : whether commas may part the thousands of a number.
    remedy : what to do about a wrong cell; None: write the report again.
    """

    header: tuple[str, ...]
    kinds: Mapping[int, Kind]
    separator: str = ","
    has_thousands: bool = True
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of a file under one header, with the offset of the first in the decompressed bytes."""

    file: InputFile
    layout: Layout
    offset: int
    text: bytes

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
            row=lines_before(self.file, self.offset) + line + 1,
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


def parse(part: Part) -> Table:
    """Return the columns asked for; numbers may have blanks around them, thousands separators, fractions.

    Raises
    ------
    ProfileError : a row has too few or too many cells, or a number's cell holds something else.
    """
    table = parse_plain(part)
    return parse_closely(part) if table is None else table


def parse_plain(part: Part) -> Table | None:
    """Return the columns asked for, None where a row or cell is not what Arrow expects."""
    import pyarrow as pa

    types: dict[Kind, Any] = {
        "integer": pa.int64(),
        "number": pa.float64(),
        "text": pa.dictionary(pa.int32(), pa.binary()),
    }
    try:
        table = _arrow_table(part, types)
    except pa.ArrowInvalid:
        return None
    return None if _swallowed_a_line(part, table) else table


def parse_closely(part: Part) -> Table:
    """Return what `parse` returns, for a part that is known not to be plain."""
    import pyarrow as pa

    types: dict[Kind, Any] = {
        "integer": pa.string(),
        "number": pa.string(),
        "text": pa.dictionary(pa.int32(), pa.binary()),
    }
    try:
        table = _arrow_table(part, types)
    except pa.ArrowInvalid as error:
        raise _damage(part, str(error)) from error
    if _swallowed_a_line(part, table):
        raise _damage(part, "a quoted cell runs over the end of its line")
    for place, (position, kind) in enumerate(part.layout.kinds.items()):
        if kind != "text":
            table = table.set_column(place, str(position), _numbers(part, table, position, kind))
    return table


def _arrow_table(part: Part, types: Mapping[Kind, Any]) -> Table:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    layout = part.layout
    wanted = {str(position): types[kind] for position, kind in layout.kinds.items()}
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
    from pyarrow import compute

    if _last_line(part.text).count(b'"') % 2:
        return True
    return any(
        compute.any(compute.match_substring(values, b"\n")).as_py()
        for position, kind in part.layout.kinds.items()
        if kind == "text" and len(values := texts(table, position)[0])
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
    import pyarrow as pa
    from pyarrow import compute

    cells = compute.ascii_trim_whitespace(table.column(str(position)))
    empty = compute.is_in(cells, value_set=to_arrow_texts(NULLS))
    cells = compute.if_else(empty, pa.nulls(1, pa.string())[0], cells)
    try:
        return cells.cast(pa.int64() if kind == "integer" else pa.float64())
    except pa.ArrowInvalid:
        return _odd_numbers(part, position, cells, kind)


def _odd_numbers(part: Part, position: int, cells: Any, kind: Kind) -> Any:
    """Return the numbers of a column that does not convert as it is."""
    import pyarrow as pa
    from pyarrow import compute

    if part.layout.has_thousands:
        grouped = compute.match_substring_regex(cells, _WITH_THOUSANDS)
        cells = compute.if_else(grouped, compute.replace_substring(cells, ",", ""), cells)
    _refuse_first(part, position, cells, compute.invert(compute.match_substring_regex(cells, _NUMBER)))
    numbers = cells.cast(pa.float64())
    if kind == "number":
        return numbers
    cells = compute.replace_substring_regex(cells, r"^([+-]?\d+)\.0*$", r"\1")
    if compute.all(compute.match_substring_regex(cells, _WHOLE_NUMBER)).as_py() is not False:
        return cells.cast(pa.int64())
    largest = to_arrow(np.array([_LARGEST_NUMBER]))[0]
    _refuse_first(part, position, cells, compute.greater(compute.abs(numbers), largest))
    return compute.round(numbers).cast(pa.int64())


def _refuse_first(part: Part, position: int, cells: Any, bad: Any) -> None:
    """Raise for the first bad row, if there is one; an empty cell is never bad."""
    import pyarrow as pa

    row = first_true(bad)
    if row >= 0:
        cell = cells[row].cast(pa.binary()).as_py().decode("utf-8", "replace")
        raise part.error(
            row,
            f"{cell!r} is not a number that fits here",
            position=position,
            remedy=part.layout.remedy or "write the report again, without changing its cells",
        )


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


def nanoseconds(part: Part, table: Table, position: int, rows: IntArray | None, *, unit: int) -> IntArray:
    """Return (n,) times, rounded to nanoseconds.

    Raises
    ------
    ProfileError : a cell is empty, or not a time that fits.
    """
    raw = values(part, table, position, rows)
    if raw.dtype.kind == "i":
        return raw.astype(np.int64, copy=False) * unit if unit > 1 else raw.astype(np.int64, copy=False)
    scaled = np.rint(raw.astype(np.float64) * unit)
    fits = np.abs(scaled) < float(1 << 62)
    if not fits.all():
        row = int(np.argmin(fits))
        raise part.error(
            row if rows is None else int(rows[row]),
            f"{raw[row]} is not a time",
            position=position,
            remedy=part.layout.remedy or "write the report again",
        )
    return scaled.astype(np.int64)


def names(
    part: Part,
    table: Table,
    position: int,
    rows: IntArray | None,
    kernels: KernelTable,
    *,
    spelt_as: Callable[[str], str] = str,
) -> NDArray[np.int32]:
    """Return (n,) codes of the kernel names in a column.

    Parameters
    ----------
    spelt_as : gives the name of a kernel from what stands in the cell.

    Raises
    ------
    ProfileError : a launch has no name.
    """
    distinct, codes = texts(table, position)
    used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    spelt = [spelt_as(name.decode("utf-8", "replace")) for name in distinct.take(to_arrow(used)).to_pylist()]
    if "" in spelt:
        row = int(np.argmax(codes == used[spelt.index("")]))
        raise part.error(
            row if rows is None else int(rows[row]),
            "a launch has no kernel name",
            position=position,
            remedy=part.layout.remedy or "write the report again",
        )
    interned = np.zeros(len(distinct), dtype=np.int32)
    interned[used] = kernels.names.intern(spelt)
    return interned[codes]
