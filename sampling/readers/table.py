"""The one reader of tables: CSV, the same with semicolons or tabs, and Parquet, piece by piece through Arrow.

A format gives a `Layout`, the columns that it knows and their kinds, and takes `Rows`: here columns become
numbers, times, sizes and names, and here is said which row and column are wrong. A column of text is its
distinct texts and a code for every row, so that each text is looked at once.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import (
    AnyIntArray,
    BoolArray,
    FloatArray,
    IntArray,
    arrow_file,
    first_true,
    nulls_as,
    to_arrow,
    to_arrow_texts,
    to_numpy,
)
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import NO_NAME, RowsLeftOut
from sampling.profile.profile import KernelTable
from sampling.readers import NumberLocale
from sampling.readers.cells import NULLS, WRITTEN, float_values, masked, parse_numbers, parse_sizes
from sampling.readers.columns import NO_METRIC
from sampling.readers.input_file import WHOLE, InputFile, pieces
from sampling.readers.text_lines import lines_before, newlines, row_places

if TYPE_CHECKING:
    import pyarrow as pa

#: "integer" is read exactly, "number" as float64, "text" as dictionary-encoded bytes, "any" as the last two
Kind = Literal["integer", "number", "text", "any"]

PARQUET = b"PAR1"
#: A total of many launches must fit in 64 bits
MOST_NS = 1 << 62

_LARGEST_NUMBER, _ROUNDED_FROM = 2.0**62, 2.0**53
_OTHER_NUMBER = re.compile(rb"[+-]?\d[\d.,' ]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is written, and which of its columns are read."""

    header: tuple[str, ...]
    #: position and kind of each, by what the format calls it; "any" becomes "text" where a row does
    columns: dict[str, tuple[int, Kind]]
    separator: str = ","  #: of a Parquet file any
    locale: NumberLocale | None = "C"  #: how numbers are written; None where nothing parts their thousands
    #: what to do about a wrong cell
    remedy: str = "write the report again: it is cut short, damaged or changed"


def header_cells(line: bytes, separator: str = ",") -> tuple[str, ...]:
    """Return the cells of a line, without the byte-order mark, empty lines before it and the line's end."""
    text = line.decode("utf-8-sig", "replace").rstrip("\r\n").rpartition("\n")[2]
    try:
        return tuple(next(csv.reader([text], delimiter=separator), ()))
    except csv.Error:
        return ()


def first_line(text: bytes) -> bytes:
    """Return the first line that is not empty, with the empty ones before it and with its end."""
    content = len(text) - len(text.removeprefix(b"\xef\xbb\xbf").lstrip())
    end = text.find(b"\n", content)
    return text if end < 0 else text[: end + 1]


def separated_header(head: bytes, titles: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return a table's header, by the separator that finds most of the wanted columns and most at all."""
    line = first_line(head)
    headers = [(tuple(cell.strip() for cell in header_cells(line, mark)), mark) for mark in (",", "\t", ";")]
    # Of equals, max takes the first: the comma.
    return max(headers, key=lambda header: (len({*titles} & set(header[0])), len(header[0])))


def table_header(file: InputFile, titles: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return the header and the separator of a table of either kind.

    A column of a Parquet file has an empty name if it is neither wanted, in small letters, nor of numbers.

    Raises ProfileError: the file is damaged.
    """
    if not file.head.startswith(PARQUET):
        return separated_header(file.head, titles)
    with file.on_disk() as location:
        _, schema = parquet_footer(file.path, location)
    names = {*titles, *metric_columns(schema)}
    return tuple(name if {name, name.strip().casefold()} & names else "" for name in schema.names), ""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a table."""

    path: str
    layout: Layout
    table: Any  #: the Arrow table of the layout's columns
    find_lines: Callable[[], IntArray]  #: finds (n,) the 1-based line, or row of a Parquet file, of each
    is_chosen: bool = False  #: whether these are some rows of the table that was read

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __contains__(self, column: str) -> bool:
        return column in self.layout.columns

    @property
    def lines(self) -> IntArray:
        """(n,) the 1-based line of each row in the file."""
        return self.find_lines()

    def where(self, mask: BoolArray) -> Rows:
        """Return those of the rows that are wanted, (n,)."""
        if mask.all():
            return self
        places = np.flatnonzero(mask)
        table = self.table.take(to_arrow(places))
        return replace(self, table=table, find_lines=lambda: self.lines[places], is_chosen=True)

    def error(self, row: int, message: str, column: str | None = None) -> ProfileError:
        """Return the error that points at a row, and at a column by its title in the file."""
        lines = self.lines
        return ProfileError(
            message,
            path=self.path,
            row=int(lines[row]) if row < len(lines) else None,
            column=None if column is None else self.title(column),
            remedy=self.layout.remedy,
        )

    def title(self, column: str) -> str:
        """Return what a column is called in the file."""
        return self.layout.header[self.layout.columns[column][0]]

    def refuse(self, wrong: BoolArray, column: str, message: Callable[[int], str] | str) -> None:
        """Raise ProfileError for the first row that is wrong, (n,); ``message`` may say of it what is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(row, message if isinstance(message, str) else message(row), column)

    def without(
        self, wrong: BoolArray, column: str, message: Callable[[int], str] | str, left_out: RowsLeftOut
    ) -> Rows:
        """Return the rows that are not wrong, (n,); the others are counted, the first as a message says."""
        if not wrong.any():
            return self
        first, lines = int(np.argmax(wrong)), self.lines
        message = message if isinstance(message, str) else message(first)
        line = int(lines[first]) if first < len(lines) else None
        left_out.add(int(np.count_nonzero(wrong)), message, row=line, column=self.title(column))
        return self.where(~wrong)

    def codes(self, column: str) -> tuple[Any, NDArray[np.int32]]:
        """Return the distinct texts of a column, an Arrow binary array, and (n,) the index of each row's."""
        import pyarrow as pa

        values = self.table.column(column)
        if values.num_chunks == 0:
            return pa.nulls(0, pa.binary()), np.zeros(0, dtype=np.int32)
        values = values.combine_chunks() if values.num_chunks > 1 else values.chunk(0)
        distinct, codes = values.dictionary, to_numpy(values.indices).astype(np.int32, copy=False)
        if self.is_chosen:
            used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
            place = np.zeros(len(distinct), dtype=np.int32)
            place[used] = np.arange(len(used))
            distinct, codes = distinct.take(to_arrow(used)), place[codes]
        return distinct, codes

    def texts(self, column: str) -> tuple[list[str], NDArray[np.int32]]:
        """Return the distinct texts of a column, and (n,) the index of each row's."""
        distinct, codes = self.codes(column)
        return [(cell or b"").decode("utf-8", "replace") for cell in distinct.to_pylist()], codes

    def names(
        self, column: str, kernels: KernelTable, spelt_as: Callable[[str], str] = str
    ) -> NDArray[np.int32]:
        """Return (n,) codes of the kernel names in a column, each spelt as a function says of its cell."""
        cells, codes = self.texts(column)
        spelt = [spelt_as(cell) or NO_NAME for cell in cells]
        return kernels.names.intern(spelt).take(codes)

    def has_value(self, column: str) -> BoolArray:
        """Return (n,) whether a column of numbers has one."""
        valid: BoolArray = to_numpy(self.table.column(column).is_valid())
        return valid

    def numbers(self, column: str, *, empty: int | None = None) -> NDArray[Any]:
        """Return (n,) int64 or float64 of a column; an empty cell is ``empty``, and an error for None."""
        values = self.table.column(column)
        if empty is not None:
            return to_numpy(nulls_as(values, empty))
        if values.null_count:
            raise self.error(first_true(values.is_null()), "a launch has no value here", column)
        return to_numpy(values)

    def narrow(self, column: str) -> AnyIntArray:
        """Return (n,) integers, in 32 bits where they fit."""
        numbers = self.numbers(column)
        fits = numbers.min(initial=0) >= -(1 << 31) and numbers.max(initial=0) < 1 << 31
        return numbers.astype(np.int32) if fits else numbers

    def if_complete(self, column: str) -> AnyIntArray | None:
        """Return (n,) integers as `narrow` does; None where the column or a value of it is missing."""
        if column not in self or self.table.column(column).null_count:
            return None
        return self.narrow(column)

    def times(self, column: str, unit_ns: int = 1, *, empty: int | None = None) -> IntArray:
        """Return (n,) nanoseconds of a column in some unit, rounded; an empty cell as in `numbers`."""
        raw = self.numbers(column, empty=None if empty is None else 0)
        limit = MOST_NS // unit_ns
        if len(raw) and not -limit < raw.min() <= raw.max() < limit:
            self.refuse(
                ~((raw > -limit) & (raw < limit)), column, lambda row: f"{raw[row]} is too long a time"
            )
        if raw.dtype.kind == "f":
            time_ns = np.asarray(np.rint(raw * unit_ns).astype(np.int64))
        else:
            integers = raw.astype(np.int64, copy=False)
            time_ns = integers if unit_ns == 1 else integers * unit_ns
        if empty is None or not self.table.column(column).null_count:
            return time_ns
        return np.where(self.has_value(column), time_ns, empty)

    def sizes(self, column: str) -> list[IntArray]:
        """Return x, y and z, (n,) each, of a column with a grid or block in a cell."""
        if self.layout.columns[column][1] != "text":
            length = self.numbers(column, empty=0)
            self.refuse(length < 0, column, f"is not {WRITTEN}")
            return [length, np.minimum(length, 1), np.minimum(length, 1)]
        cells, codes = self.texts(column)
        axes, bad = parse_sizes(cells)
        if bad >= 0:
            self.refuse(codes == bad, column, f"{cells[bad]!r} is not {WRITTEN}")
        return [axis[codes] for axis in np.ascontiguousarray(axes.T)]


def read_rows(
    file: InputFile, layout: Layout, progress: Progress | None = None, left_out: RowsLeftOut | None = None
) -> Iterator[Rows]:
    """Yield the rows of a table: below its header, which is the first line that is not empty, or all.

    Raises ProfileError: see `parse` and `parquet_rows`.
    """
    if file.head.startswith(PARQUET):
        with file.on_disk() as location:
            parquet, schema = parquet_footer(file.path, location)
            # A format may spell the titles in its own way.
            layout = replace(layout, header=tuple(schema.names))
            titles = [layout.header[position] for position, _ in layout.columns.values()]
            for group in range(parquet.num_row_groups):
                table = stored_row_group(parquet, group, titles, file.path)
                first = sum(parquet.metadata.row_group(before).num_rows for before in range(group))
                yield parquet_rows(file.path, layout, table, first)
                if progress is not None:
                    progress(group + 1, parquet.num_row_groups, f"reading {file.path}")
        return
    line = 1
    for offset, text in pieces(file, progress):
        start = len(first_line(text)) if offset == 0 else 0
        line += text.count(b"\n", 0, start)
        body = text[start:]
        if body.strip():
            yield parse(file, layout, offset + start, body, line, left_out)
        line += newlines(body)


def parse_plain(file: InputFile, layout: Layout, offset: int, text: bytes, line: int = 0) -> Rows | None:
    """Return the rows of whole lines, None where a row or cell is not what Arrow expects; see `parse`."""
    import pyarrow as pa

    try:
        table = _arrow_table(text, layout, dict(layout.columns.values()))
    except pa.ArrowInvalid:
        return None
    if _swallowed_a_line(text, table):
        return None
    return Rows(file.path, layout, table, lambda: row_places(text) + (line or lines_before(file, offset) + 1))


def parse(
    file: InputFile,
    layout: Layout,
    offset: int,
    text: bytes,
    line: int = 0,
    left_out: RowsLeftOut | None = None,
) -> Rows:
    """Return the rows of whole lines; numbers may have thousands separators and fractions.

    ``offset`` is that of the text in the decompressed file, ``line`` that of its first line if it is known.
    A line whose cells do not fit the header, or that has a text in place of a number, is counted among those
    that are left out, where there are such.

    Raises ProfileError: a row has too few or too many cells, or a number's cell holds something else, in all
    rows or where none is left out.
    """
    rows = parse_plain(file, layout, offset, text, line)
    if rows is not None:
        return rows
    as_text: dict[str, tuple[int, Kind]] = {
        name: (position, "text") for name, (position, _) in layout.columns.items()
    }
    rows = parse_plain(file, replace(layout, columns=as_text), offset, text, line)
    if rows is None:
        line = line or lines_before(file, offset) + 1
        text = _fitting_lines(file, layout, offset, text, line, left_out)
        rows = parse_plain(file, replace(layout, columns=as_text), offset, text, line)
    if rows is None:
        message = "the rows from here on do not parse"
        raise ProfileError(message, path=file.path, row=line, remedy=layout.remedy)
    rows = replace(rows, layout=layout)
    for name, (position, kind) in list(layout.columns.items()):
        if kind == "any" and parse_numbers(rows.codes(name)[0], None)[1].any():
            # A column that is not of plain numbers is not tried as one again.
            layout.columns[name] = position, "text"
        elif kind in {"integer", "number"}:
            rows = _with_numbers(rows, name, kind, left_out)
    return rows


def _arrow_table(text: bytes, layout: Layout, kinds: Mapping[int, Kind]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    types = {"integer": pa.int64(), "text": pa.dictionary(pa.int32(), pa.binary())}
    types_of_places = {str(position): types.get(kind, pa.float64()) for position, kind in kinds.items()}
    table = arrow_csv.read_csv(
        pa.BufferReader(text),
        read_options=arrow_csv.ReadOptions(
            column_names=[str(position) for position in range(len(layout.header))],
            block_size=len(text) + 1,
            use_threads=False,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=layout.separator),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(types_of_places),
            column_types=types_of_places,
            null_values=list(NULLS),
            check_utf8=False,
        ),
    )
    columns = [str(position) for position, _ in layout.columns.values()]
    return table.select(columns).rename_columns(list(layout.columns)).combine_chunks()


def _swallowed_a_line(text: bytes, table: Any) -> bool:
    """Return whether an unclosed quote has made one cell of two lines."""
    import pyarrow as pa
    from pyarrow import compute

    end = len(text)
    while end and text[end - 1] in b"\r\n":
        end -= 1
    is_open = text.count(b'"', text.rfind(b"\n", 0, end) + 1, end) % 2 == 1
    chunks = (chunk for column in table.columns for chunk in column.chunks)
    texts = (chunk.dictionary for chunk in chunks if pa.types.is_dictionary(chunk.type))
    return is_open or any(compute.any(compute.match_substring(text, b"\n")).as_py() for text in texts)


def _nothing_follows(file: InputFile, offset: int) -> bool:
    return not any(text[max(offset - start, 0) :].strip() for start, text in pieces(file))


def _fitting_lines(
    file: InputFile, layout: Layout, offset: int, text: bytes, line: int, left_out: RowsLeftOut | None
) -> bytes:
    """Return a text with an empty line in place of each whose cells do not fit the header.

    Where it is the last of the file, that is cut short, and who knows how much of it is lost.

    Raises ProfileError: there is such a line, and nothing that counts what is left out, or it is the last.
    """
    expected, lines = len(layout.header), text.split(b"\n")
    last = max(place for place, bare in enumerate(lines) if bare.strip())
    for place, bare in enumerate(lines):
        try:
            cell = bare.removesuffix(b"\r").decode("utf-8", "replace")
            cells = len(next(csv.reader([cell], delimiter=layout.separator), ""))
        except csv.Error:
            cells = -1
        is_open = bare.count(b'"') % 2
        if not is_open and cells in {0, expected}:
            continue
        message = "a quote is not closed" if is_open else f"{cells} cells where the header names {expected}"
        column = next(iter(layout.header[max(min(cells, expected) - is_open, 0) :]), None)
        is_cut = place == last and not file.partial and _nothing_follows(file, offset + len(text))
        if left_out is None or is_cut:
            remedy = WHOLE if is_cut and file.is_profile else layout.remedy
            raise ProfileError(message, path=file.path, row=line + place, column=column, remedy=remedy)
        left_out.add(1, message, row=line + place, column=column)
        lines[place] = b""
    return b"\n".join(lines)


def _with_numbers(rows: Rows, column: str, kind: Kind, left_out: RowsLeftOut | None) -> Rows:
    """Return the rows with a column of texts as the numbers that Arrow would have read.

    Those with another text in it are left out and counted.

    Raises ProfileError: there is one, and nothing that counts it; all of several are so; one is the title.
    """
    from decimal import Decimal

    distinct, codes = rows.codes(column)
    numbers, is_text = parse_numbers(distinct, rows.layout.locale)
    wrong = is_text | np.isinf(numbers) | ((kind == "integer") & (np.abs(numbers) > _LARGEST_NUMBER))

    def message(row: int) -> str:
        cell = distinct[int(codes[row])].as_py().decode("utf-8", "replace")
        return f"{cell.strip()!r} is not a number that fits here"

    # A line alone may be odd. Where all are, the column is another. Rows below a second header are another
    # table's, and of numbers that are written in another way the large ones would be missing.
    is_odd = left_out is not None and (len(rows) == 1 or not wrong.all())
    cells = [(distinct[place].as_py() or b"").strip() for place in np.flatnonzero(wrong).tolist()]
    if not is_odd or rows.title(column).encode() in cells or any(map(_OTHER_NUMBER.fullmatch, cells)):
        rows.refuse(wrong[codes], column, message)
    values = numbers
    if kind == "integer":
        values = np.rint(np.where(wrong, 0, np.nan_to_num(numbers))).astype(np.int64)
        for place in np.flatnonzero(~wrong & (np.abs(numbers) >= _ROUNDED_FROM)).tolist():
            values[place] = round(Decimal(distinct[place].as_py().decode().replace(",", "").strip()))
    place = rows.table.column_names.index(column)
    table = rows.table.set_column(place, column, masked(values[codes], np.isnan(numbers)[codes]))
    replaced = replace(rows, table=table)
    return replaced if left_out is None else replaced.without(wrong[codes], column, message, left_out)


def floats(rows: Rows, column: str, locale: NumberLocale | None) -> tuple[FloatArray, BoolArray]:
    """Return (n,) the numbers of a column that may be of any kind, and which of its cells are text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(rows.table.column(column).type):
        return float_values(rows.table.column(column)), np.zeros(len(rows), dtype=np.bool_)
    distinct, codes = rows.codes(column)
    numbers, is_text = parse_numbers(distinct, locale)
    return numbers[codes], is_text[codes]


@contextmanager
def _parquet_errors(path: str, action: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        message, remedy = f"{action} is damaged or cut short ({reason})", "copy or write the file again"
        raise ProfileError(message, path=path, remedy=remedy) from error


def parquet_footer(path: str, location: Any) -> tuple[Any, pa.Schema]:
    """Return an open Parquet file and its schema; ProfileError where it is damaged."""
    import pyarrow.parquet as pq

    with _parquet_errors(path, "a Parquet file that"):
        parquet = pq.ParquetFile(arrow_file(location))
        schema = parquet.schema_arrow
        _ = schema.names
    return parquet, schema


def stored_row_group(parquet: Any, group: int, titles: Sequence[str], path: str) -> pa.Table:
    """Return columns of a row group as the file has them; ProfileError where it is damaged."""
    with _parquet_errors(path, f"row group {group}"):
        return parquet.read_row_group(group, columns=list(dict.fromkeys(titles)), use_threads=False)


def parquet_rows(path: str, layout: Layout, stored: pa.Table, first: int) -> Rows:
    """Return rows of a Parquet file, before which ``first`` others stand.

    Raises ProfileError: a column is of a type that its kind cannot be, or a number does not fit.
    """
    import pyarrow as pa

    rows = Rows(path, layout, stored, lambda: np.arange(first + 1, first + 1 + stored.num_rows))
    arrays = {}
    for name, (position, kind) in layout.columns.items():
        # Of several columns of one name the first counts.
        place = stored.schema.get_all_field_indices(layout.header[position])[0]
        arrays[name] = _convert_column(rows, name, kind, stored.column(place))
    return replace(rows, table=pa.table(arrays))


def _convert_column(rows: Rows, name: str, kind: Kind, column: Any) -> Any:
    """Return a column of a Parquet file as numbers without NaN, or as dictionary-encoded bytes."""
    import pyarrow as pa
    from pyarrow import compute

    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if kind in {"text", "any"} and (pa.types.is_string(plain) or pa.types.is_large_string(plain)):
        if column.null_count or plain == column.type:
            no_text = to_arrow_texts([""])[0]
            column = column.cast(pa.string()).fill_null(no_text).dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        texts = encoded.dictionary.cast(pa.string()).cast(pa.binary())
        return pa.DictionaryArray.from_arrays(encoded.indices, texts, safe=False)
    if kind == "any" and any(is_kind(plain) for is_kind in _metric_kinds()):
        return column
    if pa.types.is_null(plain) and kind != "text":
        return column.cast(pa.int64())
    is_floating = pa.types.is_floating(plain)
    if kind == "text" or not (is_floating or pa.types.is_integer(plain)):
        expected, stored = ("text", "strings") if kind == "text" else ("numbers", "whole numbers")
        message, remedy = f"holds {plain}, not {expected}", f"write the column again as {stored}"
        raise ProfileError(message, path=rows.path, column=rows.title(name), remedy=remedy)
    if is_floating:
        column = column.cast(pa.float64())
        column = compute.if_else(compute.is_nan(column), pa.nulls(1, pa.float64())[0], column)
    if is_floating or pa.types.is_uint64(plain):
        numbers = to_numpy(nulls_as(column, 0))
        wrong = ~(np.abs(numbers) < _LARGEST_NUMBER)
        rows.refuse(wrong, name, lambda row: f"{numbers[row]} is not a number that fits here")
        if kind == "integer":
            rounded = np.rint(numbers) if is_floating else numbers
            return masked(rounded.astype(np.int64), to_numpy(column.is_null()))
    return column


def unified(parts: Sequence[Any]) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct texts of Arrow arrays of them, and (n,) the index of each row's."""
    import pyarrow as pa

    chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
    if not chunks:
        return (), np.zeros(0, dtype=np.int64)
    encoded = pa.chunked_array(chunks)
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    texts = [text or "" for text in encoded.dictionary.to_pylist()]
    distinct = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in texts)
    return tuple(distinct), to_numpy(encoded.indices).astype(np.int64)


def metric_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of a table that are metrics: of numbers, and none that identifies a launch."""
    # The column in which pandas keeps row labels is no metric either.
    return tuple(
        field.name
        for field in schema
        if field.name not in NO_METRIC
        and not field.name.startswith("__index_level_")
        and any(is_kind(field.type) for is_kind in _metric_kinds())
    )


def _metric_kinds() -> tuple[Callable[[Any], bool], ...]:
    import pyarrow as pa

    return pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean
