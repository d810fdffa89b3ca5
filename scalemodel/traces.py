"""Address traces: which cache lines a program touches, in order, and over how many instructions.

Text: one address a line, decimal, or hexadecimal after ``0x``; ``#`` starts a comment. CSV: a row an
access, with a column ``address`` and, if there is one, ``size`` in bytes. Binary: little-endian unsigned
integers of 64 bits or of 32. Accel-Sim's: `accel_sim`; a folder of them, or the list that Accel-Sim is
given, stands for its kernels.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scalemodel import accel_sim
from scalemodel.errors import InputError, OptionError, Place
from scalemodel.trace_file import (
    AddressArray,
    AddressTrace,
    TraceFile,
    Words,
    address_numbers,
    damage_reported,
    decimal_numbers,
    lines_of,
    lines_touched,
    open_trace,
    split_lines,
)

if TYPE_CHECKING:
    import pyarrow as pa


class TraceFormat(StrEnum):
    """The formats that are read; all but the binary ones are recognised by content."""

    TEXT = "text"
    BINARY = "binary"
    BINARY_32 = "binary32"
    CSV = "csv"
    ACCEL_SIM = "traceg"


_ADDRESS, _SIZE = "address", "size"
_REMEDY = (
    "give one address a line, a CSV with a column address, a .traceg of Accel-Sim, or name the format: "
    "binary or binary32"
)
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LIST_STARTS = (b"kernel-", b"Memcpy")
_KERNEL = re.compile(r"kernel-(\d+).*\.traceg(\.xz|\.gz)?$")
_COMMENT = re.compile(rb"#[^\n]*")
_ADDRESS_LINE = re.compile(rb"\s*(0[xX][0-9a-fA-F]+|[0-9]+)\s*")
# What Arrow says: of a file that ends with its header, and of a row with too few or too many cells.
_HEADER_ALONE = "Could not skip initial"
_ROW = re.compile(r"Row #(\d+): (Expected \d+ columns, got \d+)")


def read_address_trace(
    paths: Sequence[str],
    *,
    trace_format: TraceFormat | None = None,
    line_bytes: int = 128,
) -> AddressTrace:
    """Read one trace from files, one after the other in the order given.

    Parameters
    ----------
    paths : "-" for standard input; a folder or a list of kernels stands for its traces.
    trace_format : of all files; None recognises each by its content. Binary must be named.
    line_bytes : a power of two. An access to several lines counts once for each.

    Raises InputError: a file cannot be read, is of no known format, or breaks its format's grammar; no file
    has an access; OptionError: there is no path, or the line size is no power of two.
    """
    if not paths:
        raise OptionError("no trace is given")
    if line_bytes < 1 or line_bytes & (line_bytes - 1):
        raise OptionError(f"the bytes of a cache line are a power of two, not {line_bytes}")
    parts: list[AddressTrace] = []
    waiting = list(paths)
    while waiting:
        path = waiting.pop(0)
        if Path(path).is_dir():
            waiting = [*_traces_in(path), *waiting]
            continue
        with open_trace(path) as file:
            if trace_format is None and file.head.startswith(_LIST_STARTS):
                waiting = [*_traces_listed(file), *waiting]
            else:
                parts.append(_READERS[trace_format or _recognised(file)](file, line_bytes))
    line = np.concatenate([part.line for part in parts])
    if not line.size:
        raise InputError("has no access to memory", Place(", ".join(paths)))
    # Instructions are known where every part says them.
    threads = [part.thread_instructions for part in parts if part.thread_instructions is not None]
    warps = [part.warp_instructions for part in parts if part.warp_instructions is not None]
    if len(threads) < len(parts):
        return AddressTrace(line, line_bytes)
    return AddressTrace(line, line_bytes, sum(threads), sum(warps))


def _traces_in(folder: str) -> list[str]:
    """Return the traces of a folder: its list of kernels where there is one, else its kernels by number."""
    if (Path(folder) / "kernelslist.g").is_file():
        return [str(Path(folder) / "kernelslist.g")]
    named = ((_KERNEL.fullmatch(path.name), path) for path in Path(folder).iterdir())
    found = sorted((int(match[1]), str(path)) for match, path in named if match)
    if not found:
        remedy = "give one with kernelslist.g or kernel-1.traceg in it, or the files, in order"
        raise InputError("is a folder without traces of Accel-Sim", Place(folder), remedy=remedy)
    return [path for _, path in found]


def _traces_listed(file: TraceFile) -> list[str]:
    """Return the traces that a list of kernels names, beside it; copies to the GPU are left out."""
    text = b"".join(file.line_pieces()).decode("utf-8", "replace")
    found = []
    for row, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if not name or name.startswith(("#", "Memcpy")):
            continue
        beside = Path(file.path).parent / name
        there = next((path for end in ("", ".xz", ".gz") if (path := Path(f"{beside}{end}")).is_file()), None)
        if there is None or file.path == "-":
            what = f"lists {name!r}, which is no file beside it"
            remedy = "give the list where its traces lie, grouped by Accel-Sim's post-traces-processing"
            raise InputError(what, Place(file.path, row), remedy=remedy)
        found.append(str(there))
    return found


def _recognised(file: TraceFile) -> TraceFormat:
    """Return the format the file's first bytes are of."""
    head = file.head
    if head.startswith(_ZSTD_MAGIC):
        remedy = "decompress it; for a .tracez write the trace as --text"
        raise InputError("is compressed by zstd", Place(file.path), remedy=remedy)
    if accel_sim.recognises(head):
        return TraceFormat.ACCEL_SIM
    if _ADDRESS in _header(head):
        return TraceFormat.CSV
    first = next((bare for line in head.split(b"\n") if (bare := _COMMENT.sub(b"", line).strip())), b"")
    if _ADDRESS_LINE.fullmatch(first):
        return TraceFormat.TEXT
    what = "is not a trace in a known format" if head else "is empty"
    raise InputError(what, Place(file.path), remedy=_REMEDY)


def _of_binary(file: TraceFile, line_bytes: int, width: int) -> AddressTrace:
    content = b"".join(file.line_pieces())
    if len(content) % width:
        what = f"its bytes, {len(content):,}, are no whole number of {width}-byte addresses"
        remedy = f"write little-endian unsigned {8 * width}-bit integers, nothing else"
        raise InputError(what, Place(file.path), remedy=remedy)
    address = np.frombuffer(content, dtype=f"<u{width}").astype(np.uint64, copy=False)
    return AddressTrace(lines_of(address, line_bytes), line_bytes)


def _of_text(file: TraceFile, line_bytes: int) -> AddressTrace:
    """Read the lines of addresses, one a row; raise InputError where a line is not one of at most 64 bits."""
    lines = [np.zeros(0, dtype=np.uint64)]
    rows_before = 0
    for piece in file.line_pieces():
        found = split_lines(_COMMENT.sub(b"", piece) if b"#" in piece else piece)
        words = found.words[found.first[:-1]]
        address, is_address = address_numbers(words)
        is_address &= np.diff(found.first) == 1
        if not is_address.all():
            wrong = int(np.argmin(is_address))
            raise InputError(
                f"a line that begins with {words.word(wrong)!r} is no address of at most 64 bits",
                Place(file.path, rows_before + int(found.row[wrong]) + 1),
                remedy="write one address a line, decimal (at most 19 digits) or hexadecimal after 0x",
            )
        lines.append(lines_of(address, line_bytes))
        rows_before += found.rows
    return AddressTrace(np.concatenate(lines), line_bytes)


def _header(head: bytes) -> list[str]:
    """Return the names in the first line, in small letters, without blanks around them."""
    line = head.partition(b"\n")[0].decode("utf-8-sig", "replace")
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:  # a carriage return amid the line, or a cell beyond what csv takes: no header
        cells = []
    return [cell.strip().lower() for cell in cells]


def _of_csv(file: TraceFile, line_bytes: int) -> AddressTrace:
    from pyarrow import ArrowInvalid
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    header = _header(file.head)
    if _ADDRESS not in header:
        raise InputError("no column address", Place(file.path, 1))
    wanted = [str(header.index(name)) for name in (_ADDRESS, _SIZE) if name in header]
    strings = dict.fromkeys(wanted, "string")
    lines, row = [np.zeros(0, dtype=np.uint64)], 2
    with damage_reported(file.path):
        try:
            batches = open_csv(
                file.stream,
                # Rows are numbered only where they are parsed one after the other.
                ReadOptions(use_threads=False, skip_rows=1, column_names=list(map(str, range(len(header))))),
                ParseOptions(ignore_empty_lines=False),
                ConvertOptions(include_columns=wanted, column_types=strings, strings_can_be_null=False),
            )
            for batch in batches:
                lines.append(_of_batch(file.path, row, batch, line_bytes))
                row += batch.num_rows
        except ArrowInvalid as error:
            if _HEADER_ALONE not in str(error):
                found = _ROW.search(str(error))
                number, what = (int(found[1]), found[2]) if found else (None, str(error))
                raise InputError(f"is no row of the table ({what})", Place(file.path, number)) from error
    return AddressTrace(np.concatenate(lines), line_bytes)


def _of_batch(path: str, first_row: int, batch: pa.RecordBatch, line_bytes: int) -> AddressArray:
    """Return the lines that the rows of a batch touch."""
    words = [_cells(column) for column in batch.columns]
    address, is_address = address_numbers(words[0])
    size, is_size = np.ones_like(address), np.ones(address.size, dtype=np.bool_)
    if len(words) > 1:
        size, is_size = decimal_numbers(words[1])
    wraps = address + (size - np.uint64(1)) < address
    for wrong, column, what in (
        (~is_address, 0, "is not an address of at most 64 bits"),
        (~is_size | (size == 0), 1, "is not a number of bytes above 0"),
        (wraps, 1, "reaches beyond the last address of 64 bits"),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            place = Place(path, first_row + at, column=(_ADDRESS, _SIZE)[column])
            raise InputError(f"{words[column].word(at)!r} {what}", place)
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


_READERS: dict[TraceFormat, Callable[[TraceFile, int], AddressTrace]] = {
    TraceFormat.ACCEL_SIM: accel_sim.read,
    TraceFormat.CSV: _of_csv,
    TraceFormat.TEXT: _of_text,
    TraceFormat.BINARY: partial(_of_binary, width=8),
    TraceFormat.BINARY_32: partial(_of_binary, width=4),
}
