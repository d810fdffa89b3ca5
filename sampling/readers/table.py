"""The one reader of tables of text: CSV, or the same with semicolons or tabs, parsed by Arrow in pieces.

Here cells become numbers, times, sizes and names, and here is said which row and column are wrong. A format
gives a `Layout`, the columns that it knows and their kinds, and takes `Rows`. A column of text is its
distinct texts and a code for every row, so that each text is looked at once; a column of numbers that Arrow
refuses is read in the same way, which tells the line of a wrong value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import (
    AnyIntArray,
    BoolArray,
    FloatArray,
    IntArray,
    first_true,
    nulls_as,
    to_arrow,
    to_arrow_texts,
    to_numpy,
)
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, joined_columns
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.readers.columns import NO_METRIC
from sampling.readers.input_file import HEAD_BYTES, InputFile, pieces

if TYPE_CHECKING:
    import pyarrow as pa

#: "integer" is read exactly, "number" as float64, "text" as dictionary-encoded bytes, "any" as the last two
Kind = Literal["integer", "number", "text", "any"]
#: How a file writes its numbers: 1,234.5 is read under C too, 1.234,5 under de_DE alone
NumberLocale = Literal["C", "en_US", "de_DE"]

#: How a grid or block is written in one cell, for messages
WRITTEN = "one to three whole numbers, such as 8, 8x1 or (8, 1, 1)"
#: A total of many launches must fit in 64 bits
MOST_NS = 1 << 62

_NULLS = ("", "None", "-", "nan", "NaN", "N/A", "n/a", "NULL", "null")
# What tools print where a launch has no value.
_NO_VALUE = (*_NULLS, "(n/a)", "NA", "<NA>", "no data")
_PLAIN = r"^[+-]?(?:(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
_GROUPED = {
    "C": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
    "de_DE": r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?$",
}
_SIZE = r"^\s*[(\[{<]?\s*\d{1,10}(?:(?:\s*[xX*,;]\s*|\s+)\d{1,10}){0,2}\s*[)\]}>]?\s*$"
_LARGEST_NUMBER = float(1 << 62)
_ROUNDED_FROM = float(1 << 53)
_NEWLINE, _RETURN = 10, 13
# Signatures are found by hashing, which pays from about this many rows at a time.
_ROWS_AT_ONCE = 1 << 19
_ODD_COLUMN = re.compile(r"In CSV column #(\d+)")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is written, and which of its columns are read."""

    header: tuple[str, ...]
    #: position and kind of each, by what the format calls it; "any" becomes "text" where a row does
    columns: dict[str, tuple[int, Kind]]
    separator: str = ","
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


def separated_header(head: bytes, wanted: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return a table's header, by the separator that finds most of the wanted columns and most at all."""
    line = first_line(head)
    headers = [(tuple(cell.strip() for cell in header_cells(line, mark)), mark) for mark in (",", "\t", ";")]
    # Of equals, max takes the first: the comma.
    return max(headers, key=lambda each: (len({*wanted} & set(each[0])), len(each[0])))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a table, parsed from whole lines of its file."""

    file: InputFile
    layout: Layout
    #: of the first byte of ``text`` in the decompressed file; lines from 1, 0 if not counted
    offset: int
    text: bytes
    line: int
    table: Any  #: the pyarrow table of the layout's columns
    #: (n,) which of the text's rows these are; None where they are all of them
    chosen: IntArray | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __contains__(self, column: str) -> bool:
        return column in self.layout.columns

    @property
    def lines(self) -> IntArray:
        """(n,) the 1-based line of each row in the file."""
        lines = row_places(self.text) + (self.line or lines_before(self.file, self.offset) + 1)
        return lines if self.chosen is None else lines[self.chosen]

    def where(self, wanted: BoolArray) -> Rows:
        """Return those of the rows that are wanted, (n,)."""
        if wanted.all():
            return self
        places = np.flatnonzero(wanted)
        chosen = places if self.chosen is None else self.chosen[places]
        return replace(self, table=self.table.take(to_arrow(places)), chosen=chosen)

    def error(
        self, row: int, message: str, column: str | None = None, *, title: str | None = None
    ) -> ProfileError:
        """Return the error that points at a row, and at a column by its title in the file."""
        lines = self.lines
        return ProfileError(
            message,
            path=self.file.path,
            row=int(lines[row]) if row < len(lines) else None,
            column=title if column is None else self.layout.header[self.layout.columns[column][0]],
            remedy=self.layout.remedy,
        )

    def refuse(self, wrong: BoolArray, column: str, message: Callable[[int], str] | str) -> None:
        """Raise ProfileError for the first row that is wrong, (n,); ``message`` may say of it what is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(row, message if isinstance(message, str) else message(row), column)

    def codes(self, column: str) -> tuple[Any, NDArray[np.int32]]:
        """Return the distinct texts of a column, an Arrow binary array, and (n,) the index of each row's."""
        import pyarrow as pa

        values = self.table.column(column)
        if values.num_chunks == 0:
            return pa.nulls(0, pa.binary()), np.zeros(0, dtype=np.int32)
        encoded = values.combine_chunks()
        distinct, codes = encoded.dictionary, to_numpy(encoded.indices).astype(np.int32, copy=False)
        if self.chosen is not None:
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
        spelt = [spelt_as(cell) for cell in cells]
        if "" in spelt:
            self.refuse(codes == spelt.index(""), column, "a launch has no kernel name")
        return kernels.names.intern(spelt)[codes]

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
        """Return (n,) integers, in 32 bits where they fit; n > 0."""
        numbers = self.numbers(column)
        fits = numbers.min() >= -(1 << 31) and numbers.max() < 1 << 31
        return numbers.astype(np.int32) if fits else numbers

    def if_complete(self, column: str) -> AnyIntArray | None:
        """Return (n,) integers as `narrow` does; None where the column or a value of it is missing."""
        if column not in self or self.table.column(column).null_count:
            return None
        return self.narrow(column)

    def times(self, column: str, unit_ns: int = 1) -> IntArray:
        """Return (n,) nanoseconds of a column in some unit, rounded."""
        raw = self.numbers(column)
        if raw.dtype.kind == "i" and unit_ns == 1:
            return raw.astype(np.int64, copy=False)
        most = MOST_NS // unit_ns
        if len(raw) and not -most < raw.min() <= raw.max() < most:
            self.refuse(~(np.abs(raw) < most), column, lambda row: f"{raw[row]} is too long a time")
        rounded: IntArray = np.rint(raw * unit_ns).astype(np.int64)
        return rounded

    def sizes(self, column: str) -> list[IntArray]:
        """Return x, y and z, (n,) each, of a column with a grid or block in a cell."""
        cells, codes = self.texts(column)
        axes, bad = _cached_sizes(tuple(cells))
        if bad >= 0:
            self.refuse(codes == bad, column, f"{cells[bad]!r} is not {WRITTEN}")
        return [axis[codes] for axis in np.ascontiguousarray(axes.T)]


def row_places(text: bytes) -> IntArray:
    """Return the 0-based places of the lines that are not empty."""
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters == _NEWLINE)
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    is_return = characters[np.minimum(starts, len(text) - 1)] == _RETURN if text else 0
    return np.flatnonzero(ends - starts > is_return)


def lines_before(file: InputFile, offset: int) -> int:
    """Return how many lines end before ``offset``. It reads the file again, so it is for messages only."""
    count = 0
    for start, text in pieces(file):
        count += text.count(b"\n", 0, max(offset - start, 0))
        if start + len(text) >= offset:
            break
    return count


def read_rows(file: InputFile, layout: Layout, progress: Progress | None = None) -> Iterator[Rows]:
    """Yield the rows below the header, which is the first line that is not empty, piece by piece.

    Raises ProfileError: see `parse`.
    """
    line = 1
    for offset, text in pieces(file, progress):
        start = len(first_line(text)) if offset == 0 else 0
        if offset == 0:
            line += text.count(b"\n", 0, start)
            sample = text[start : start + HEAD_BYTES].rpartition(b"\n")[0]
            if any(kind == "any" for _, kind in layout.columns.values()) and sample.strip():
                # Most columns of text are found in the first lines, in a hundredth of the time.
                parse(file, layout, start, sample)
        body = text[start:]
        if body.strip():
            yield parse(file, layout, offset + start, body, line)
        line += int(np.count_nonzero(np.frombuffer(body, dtype=np.uint8) == _NEWLINE))


def parse(file: InputFile, layout: Layout, offset: int, text: bytes, line: int = 0) -> Rows:
    """Return the rows of whole lines; numbers may have thousands separators and fractions.

    Raises ProfileError: a row has too few or too many cells, or a number's cell holds something else.
    """
    import pyarrow as pa

    kinds = dict(layout.columns.values())
    while True:
        try:
            table = _arrow_table(text, layout, kinds)
            break
        except pa.ArrowInvalid as error:
            found = _ODD_COLUMN.match(str(error))
            odd = int(found[1]) if found else -1
            kind = kinds.get(odd, "text")
            if kind == "text":
                raise _damage(Rows(file, layout, offset, text, line, None), str(error)) from error
            if kind == "any":
                kinds[odd] = "text"
                layout.columns.update({name: (odd, "text") for name, (place, _) in layout.columns.items()
                                       if place == odd})  # fmt: skip
            else:
                kinds = {place: kind if kind == "any" else "text" for place, kind in kinds.items()}
    rows = Rows(file, layout, offset, text, line, table)
    if _swallowed_a_line(text, table):
        raise _damage(rows, "a quoted cell runs over the end of its line")
    for place, (name, (position, kind)) in enumerate(layout.columns.items()):
        if kind != kinds[position]:
            table = table.set_column(place, name, _numbers(rows, name, kind))
    return replace(rows, table=table)


def parse_plain(file: InputFile, layout: Layout, offset: int, text: bytes) -> Rows | None:
    """Return the rows of whole lines, None where a row or cell is not what Arrow expects."""
    import pyarrow as pa

    try:
        table = _arrow_table(text, layout, dict(layout.columns.values()))
    except pa.ArrowInvalid:
        return None
    return None if _swallowed_a_line(text, table) else Rows(file, layout, offset, text, 0, table)


def _arrow_table(text: bytes, layout: Layout, kinds: dict[int, Kind]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    types = {"integer": pa.int64(), "text": pa.dictionary(pa.int32(), pa.binary())}
    wanted = {str(position): types.get(kind, pa.float64()) for position, kind in kinds.items()}
    table = arrow_csv.read_csv(
        pa.BufferReader(text),
        read_options=arrow_csv.ReadOptions(
            column_names=[str(position) for position in range(len(layout.header))],
            block_size=len(text) + 1,
            use_threads=False,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=layout.separator),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(wanted), column_types=wanted, null_values=list(_NULLS), check_utf8=False
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
    return text.count(b'"', text.rfind(b"\n", 0, end) + 1, end) % 2 == 1 or any(
        compute.any(compute.match_substring(chunk.dictionary, b"\n")).as_py()
        for column in table.columns
        if pa.types.is_dictionary(column.type)
        for chunk in column.chunks
    )


def _damage(rows: Rows, reason: str) -> ProfileError:
    """Return the error for the first row whose cells do not fit the header."""
    expected = len(rows.layout.header)
    lines = [line.rstrip(b"\r") for line in rows.text.split(b"\n")]
    for row, line in enumerate(line for line in lines if line):
        if b"\r" in line:
            return rows.error(row, "a carriage return stands within the line")
        try:
            cells = len(next(csv.reader([line.decode("utf-8", "replace")], delimiter=rows.layout.separator)))
        except csv.Error as error:
            return rows.error(row, f"the line does not parse ({error})")
        if line.count(b'"') % 2 or cells != expected:
            is_open = line.count(b'"') % 2
            message = (
                "a quote is not closed" if is_open else f"{cells} cells where the header names {expected}"
            )
            title = rows.layout.header[min(cells, expected) - 1 if is_open else cells : expected][:1]
            return rows.error(row, message, title=title[0] if title else None)
    return rows.error(0, f"the rows from here on do not parse ({reason})")


def _numbers(rows: Rows, column: str, kind: Kind) -> Any:
    """Return the numbers of a column of texts, as Arrow would have read them."""
    from decimal import Decimal

    import pyarrow as pa

    distinct, codes = rows.codes(column)
    numbers, is_text = numbers_of(distinct, rows.layout.locale)
    wrong = is_text | np.isinf(numbers)
    if kind == "integer":
        wrong |= np.abs(numbers) > _LARGEST_NUMBER
    if wrong[codes].any():
        cell = distinct[int(codes[np.argmax(wrong[codes])])].as_py().decode("utf-8", "replace")
        rows.refuse(wrong[codes], column, f"{cell.strip()!r} is not a number that fits here")
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
    return _floats(compute.if_else(is_plain, cells, no_text).cast(pa.float64())), is_text


def floats(rows: Rows, column: str, locale: NumberLocale | None) -> tuple[FloatArray, BoolArray]:
    """Return (n,) the numbers of a column that may be of any kind, and which of its cells are text."""
    if rows.layout.columns[column][1] != "text":
        return _floats(rows.table.column(column)), np.zeros(len(rows), dtype=np.bool_)
    distinct, codes = rows.codes(column)
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


@lru_cache(maxsize=16)
def _cached_sizes(cells: tuple[str, ...]) -> tuple[IntArray, int]:
    """Return the same as `sizes_of`; the pieces of a file mostly have the same few cells."""
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

    empty = compute.is_in(compute.utf8_trim_whitespace(cells), value_set=to_arrow_texts(_NULLS))
    cells = compute.if_else(empty, to_arrow_texts(["0 0 0"])[0], cells)
    bad = first_true(compute.invert(compute.match_substring_regex(cells, _SIZE)))
    if bad >= 0:
        return np.zeros((0, 3), dtype=np.int64), bad
    bare = compute.utf8_trim_whitespace(compute.replace_substring_regex(cells, r"[^0-9]+", " "))
    given = compute.split_pattern(compute.binary_join_element_wise(bare, "1 1", " "), " ")
    # Each list has one to three numbers of the cell and two ones: the first three of them are meant.
    ends = to_numpy(given.offsets)[:-1, np.newaxis] + np.arange(3)
    return to_numpy(given.values.cast(pa.int64()))[ends].astype(np.int64, copy=False), -1


class Launches:
    """The launches of a table, which arrive piece by piece.

    Attributes
    ----------
    count : how many there are so far.
    """

    def __init__(self, file: InputFile, kernels: KernelTable) -> None:
        self.count = 0
        self._file = file
        self._builder = LaunchTableBuilder(file.path, kernels)
        self._waiting: list[LaunchColumns] = []

    def add(self, columns: LaunchColumns) -> None:
        """Add some launches."""
        self._waiting.append(columns)
        self.count += len(columns.duration_ns)
        if sum(len(each.duration_ns) for each in self._waiting) >= _ROWS_AT_ONCE:
            self._put_in()

    def _put_in(self) -> None:
        self._builder.append(joined_columns(self._waiting))
        self._waiting.clear()

    def finish(
        self,
        format_name: str,
        facts: RecordingFacts,
        nothing: tuple[str, str],
        metrics: Mapping[str, FloatArray] | None = None,
    ) -> Profile:
        """Return them in API order; ``nothing`` is message and remedy where there is none."""
        if self.count == 0:
            raise ProfileError(nothing[0], path=self._file.path, remedy=nothing[1])
        if self._waiting:
            self._put_in()
        file = ProfileFile(self._file.path, self._file.location, self.count)
        return self._builder.finish(format_name=format_name, file=file, facts=facts, metrics=metrics)


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
    texts = (each or "" for each in encoded.dictionary.to_pylist())
    distinct = tuple(each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in texts)
    return distinct, to_numpy(encoded.indices).astype(np.int64)


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


def lines_of(text: bytes) -> Any:
    """Return the lines of a text as an Arrow binary array, without their ends: to test them all at once."""
    import pyarrow as pa
    from pyarrow import compute

    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE) + 1
    if not text.endswith(b"\n") and text:
        ends = np.append(ends, len(text))
    offsets = np.append(0, ends).astype(np.int32)
    lines = pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )
    return compute.replace_substring_regex(lines, pattern=r"\r*\n?$", replacement="", max_replacements=1)


def joined_lines(lines: Any) -> bytes:
    """Return the text of some lines, an Arrow binary array."""
    import pyarrow as pa
    from pyarrow import compute

    offsets = pa.py_buffer(np.array([0, len(lines)], dtype=np.int32))
    one_list = pa.ListArray.from_buffers(pa.list_(lines.type), 1, [None, offsets], children=[lines])
    return bytes(compute.binary_join(one_list, b"\n")[0].as_py()) + b"\n"
