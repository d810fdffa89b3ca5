"""Traces as CSV: a row an access, with a column ``address`` and, if there is one, ``size``.

An address is decimal, or hexadecimal after ``0x``. A size is in bytes, 1 where the column is missing; an
access counts once for each line it touches. All other columns are left alone.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import numpy as np

from scalemodel.arrays import BoolArray
from scalemodel.errors import InputError, Place
from scalemodel.traces.accesses import AddressArray, AddressTrace, lines_of, lines_touched
from scalemodel.traces.trace_file import TraceFile, damage_reported
from scalemodel.traces.words import Words, address_numbers, decimal_numbers

if TYPE_CHECKING:
    import pyarrow as pa

_ADDRESS, _SIZE = "address", "size"
# What Arrow says: of a file that ends with its header, and of a row with too few or too many cells.
_HEADER_ALONE = "Could not skip initial"
_ROW = re.compile(r"Row #(\d+): (Expected \d+ columns, got \d+)")


def recognises(head: bytes) -> bool:
    """Return whether the first line names a column ``address``."""
    return _ADDRESS in _header(head)


def read(file: TraceFile, line_bytes: int) -> AddressTrace:
    """Read the accesses.

    Raises
    ------
    InputError : there is no column address, a row has too few or too many cells, a cell is no number or one
        that cannot be.
    """
    from pyarrow import ArrowInvalid
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    header = _header(file.head)
    if _ADDRESS not in header:
        raise InputError("no column address", Place(file.path, 1))
    wanted = [str(header.index(name)) for name in (_ADDRESS, _SIZE) if name in header]
    lines: list[AddressArray] = []
    row = 2
    with damage_reported(file.path):
        try:
            batches = open_csv(
                file.stream,
                # Rows are numbered only where they are parsed one after the other.
                ReadOptions(
                    use_threads=False, skip_rows=1, column_names=[str(n) for n in range(len(header))]
                ),
                ParseOptions(ignore_empty_lines=False),
                ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, "string"),
                    strings_can_be_null=False,
                ),
            )
            for batch in batches:
                lines.append(_lines(file.path, row, batch, line_bytes))
                row += batch.num_rows
        except ArrowInvalid as error:
            if _HEADER_ALONE in str(error):
                return AddressTrace(np.zeros(0, dtype=np.uint64), line_bytes)
            found = _ROW.search(str(error))
            number, what = (int(found[1]), found[2]) if found else (None, str(error))
            raise InputError(f"is no row of the table ({what})", Place(file.path, number)) from error
    return AddressTrace(np.concatenate([np.zeros(0, dtype=np.uint64), *lines]), line_bytes)


def _header(head: bytes) -> list[str]:
    """Return the names in the first line, in small letters, without blanks around them."""
    line = head.partition(b"\n")[0].decode("utf-8-sig", "replace")
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:  # a carriage return amid the line, or a cell beyond what csv takes: no header
        cells = []
    return [cell.strip().lower() for cell in cells]


def _lines(path: str, first_row: int, batch: pa.RecordBatch, line_bytes: int) -> AddressArray:
    """Return the lines that the rows of a batch touch."""
    words = _cells(batch.column(0))
    address, is_address = address_numbers(words)
    _refuse(path, first_row, ~is_address, _ADDRESS, words, "is not an address of at most 64 bits")
    if batch.num_columns == 1:
        return lines_of(address, line_bytes)
    words = _cells(batch.column(1))
    size, is_size = decimal_numbers(words)
    _refuse(path, first_row, ~is_size | (size == 0), _SIZE, words, "is not a number of bytes above 0")
    ends = address + (size - np.uint64(1))
    _refuse(path, first_row, ends < address, _SIZE, words, "reaches beyond the last address of 64 bits")
    return lines_touched(address, size, line_bytes)[0]


def _cells(column: pa.StringArray) -> Words:
    """Return the cells as words, without blanks around them."""
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(column)
    _, offsets, content = trimmed.buffers()
    edges = np.frombuffer(offsets, dtype=np.int32).astype(np.int64)
    edges = edges[trimmed.offset : trimmed.offset + len(trimmed) + 1]
    # One byte more, so that an empty cell at the end has a place to be looked at.
    text = np.frombuffer((b"" if content is None else content.to_pybytes()) + b"\n", dtype=np.uint8)
    return Words(text, edges[:-1], edges[1:])


def _refuse(path: str, first_row: int, wrong: BoolArray, column: str, words: Words, what: str) -> None:
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(f"{words.word(at)!r} {what}", Place(path, first_row + at, column=column))
