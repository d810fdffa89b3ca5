"""A CSV of features: a column id or name, and a column for each metric; semicolons and tabs do as well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import IntArray
from sampling.features.rows import FeatureRows
from sampling.features.tables.columns import NumberColumn, TextColumn, infinite_notes
from sampling.features.tables.feature_table import TableColumns, rows_of_table
from sampling.features.tables.identity import (
    TEXTS,
    WHOLE_NUMBERS,
    repeated_notes,
    require_identity,
    sizes_of,
)
from sampling.features.tables.number_cells import NumberCells, NumberLocale
from sampling.features.tables.separators import (
    TableHeader,
    comma_separated,
    find_table_header,
    looks_like_table,
)
from sampling.progress import Progress
from sampling.readers.csv_cells import Kind, Layout, Part, Table, parse, parse_plain, pieces
from sampling.readers.file_content import is_table
from sampling.readers.input_file import InputFile
from sampling.readers.not_a_profile import is_plain_text, sort_of
from sampling.readers.tables.column_map import NO_METRIC
from sampling.readers.text_lines import row_lines

FORMAT = "csv"


def recognise(file: InputFile) -> bool:
    """Return whether this is text in columns; which columns it needs is said on reading."""
    # Reports of other tools are CSV too, with a column Name that is no kernel's.
    sort = sort_of(file)
    if sort.fits is not is_plain_text:
        return sort.fits is is_table
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    columns = find_table_header(file.head).columns
    return (len(columns) > 1 and bool({"id", "name"} & set(columns))) or looks_like_table(file.head)


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the table.

    Raises
    ------
    ProfileError : it has neither a column id nor a column name, or a cell is wrong.
    """
    header = find_table_header(file.head)
    require_identity(header.columns, file.path)
    columns = _Columns(file.path, header, locale)
    lines_past = 0
    for offset, text in pieces(file, progress):
        skipped = header.stop if offset == 0 else 0
        first_line = lines_past + text.count(b"\n", 0, skipped) + 1
        body = comma_separated(text[skipped:], header.separator, path=file.path, first_line=first_line)
        part = Part(file, columns.layout(), offset + skipped, body)
        lines_past += text.count(b"\n")
        if part.text.strip():
            columns.take(_parsed(part), row_lines(part.text) + first_line)
    return rows_of_table(file.path, FORMAT, columns.finish())


def _parsed(part: Part) -> Table:
    """Return the columns of a part: numbers where they are plain ones throughout, else texts."""
    table = parse_plain(part)
    if table is not None:
        return table
    texts = Part(
        part.file,
        Layout(part.layout.header, dict.fromkeys(part.layout.kinds, "text")),
        part.offset,
        part.text,
    )
    return parse(texts)


class _Columns:
    """Collects the columns of the table."""

    def __init__(self, path: str, table: TableHeader, locale: NumberLocale) -> None:
        self._path = path
        self._header = header = table.columns
        self._locale: NumberLocale = locale
        self._numbers = NumberCells(locale)
        first = {name: header.index(name) for name in header if name}
        self._texts = {name: TextColumn(first[name]) for name in TEXTS if name in first}
        self._columns = {
            name: NumberColumn(path, position, name, self._numbers)
            for name, position in first.items()
            if name in WHOLE_NUMBERS or name not in NO_METRIC
        }
        self._lines: list[IntArray] = []

    def layout(self) -> Layout:
        """Return how the next part is to be read: columns that were numbers so far as numbers at once."""
        kinds: dict[int, Kind] = dict.fromkeys(map(self._header.index, self._texts), "text")
        plain = bool(self._lines) and self._locale == "C"
        for name, column in self._columns.items():
            kinds[self._header.index(name)] = "number" if plain and column.is_plain else "text"
        return Layout(self._header, kinds)

    def take(self, table: Table, line: IntArray) -> None:
        self._lines.append(line)
        for text in self._texts.values():
            text.take(table)
        for column in self._columns.values():
            column.take(table, line)

    def finish(self) -> TableColumns:
        line = np.concatenate([np.zeros(0, dtype=np.int64), *self._lines])
        values = {name: column.values() for name, column in self._columns.items()}
        name = self._texts.get("name")
        sizes: Mapping[str, IntArray] = {
            what: sizes_of(column.distinct(), column.codes(), path=self._path, line=line, name=what)
            for what, column in self._texts.items()
            if what != "name"
        }
        return TableColumns(
            line=line,
            numbers={
                name: np.full(len(line), np.nan) if column is None else column
                for name, column in values.items()
                if name in WHOLE_NUMBERS
            },
            metrics={
                name: column
                for name, column in values.items()
                if name not in WHOLE_NUMBERS and column is not None
            },
            names=() if name is None else name.distinct(),
            name=None if name is None else name.codes(),
            sizes=sizes,
            left_out=[name for name, column in values.items() if column is None],
            notes=(
                *self._numbers.notes(doubt_dots=False),
                *repeated_notes(self._header),
                *infinite_notes(name for name, column in self._columns.items() if column.has_infinite),
            ),
        )
